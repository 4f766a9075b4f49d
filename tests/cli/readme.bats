#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# What README.md and the manual show, typed by whoever runs the tests.

load helper

setup() {
	cordon_setup
	cordon run -q true 2>/dev/null || must_or_skip "no backend works here"
	TOP=$(cd "$BATS_TEST_DIRNAME/../.." && pwd)
}

@test "every example of README, docs and manual pages works as it is written" {
	run "$TOP/tools/check-docs" --examples --cordon "$CORDON"
	assert_success
	[ "$(sed -n 's/^examples: //p' <<<"$output")" -gt 40 ] || fail "too few" "$(outcome)"
}

@test "README has its examples where they are looked for" {
	[ "$(grep -c '^\$ cordon ' "$TOP/README.md")" -ge 15 ] || fail "too few examples"
}
