#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
load helper

@test "cordon version prints name and version" {
	run -0 cordon version
	assert_matches '^cordon [0-9]+\.[0-9]+\.[0-9]+'
}

@test "--version prints the same line" {
	run -0 cordon version
	local first=${lines[0]}
	run -0 cordon --version
	assert_equal "${lines[0]}" "$first"
}

@test "the binary is fully static" {
	if readelf -sW "$CORDON" | grep -q __asan_init; then
		skip "sanitizer builds are dynamic"
	fi
	run -0 readelf -lW "$CORDON"
	assert_contains LOAD
	refute_contains INTERP
}
