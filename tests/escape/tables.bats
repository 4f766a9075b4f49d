#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The truth tables against the kernel, backend by backend: whatever the policy says of an
# object, a probe inside must find.

load helper

# agree BACKEND TABLE ROWS: at least so many rows must have been compared, or the table
# has stopped saying anything.
agree() {
	run "$BATS_TEST_DIRNAME/../table/live" --backend "$1" --at-least "$3" --ground "$(ground)" \
		"$CORDON" attack "$BATS_TEST_DIRNAME/../table/$2.t"
	assert_success
}

bwrap_agrees() {
	command -v bwrap >/dev/null || must_or_skip "no bubblewrap"
	agree bwrap "$@"
}

@test "native: live.t" { agree native live 85; }
@test "native: profiles.t" { agree native profiles 70; }
@test "native: rules.t" { agree native rules 20; }
@test "native: paths.t" { agree native paths 15; }
@test "native: secrets.t" { agree native secrets 30; }
@test "native: layers.t" { agree native layers 12; }
@test "native: hidden.t" { agree native hidden 20; }
@test "bwrap: live.t" { bwrap_agrees live 50; }
@test "bwrap: profiles.t" { bwrap_agrees profiles 60; }
@test "bwrap: layers.t" { bwrap_agrees layers 12; }
@test "bwrap: hidden.t" { bwrap_agrees hidden 15; }
