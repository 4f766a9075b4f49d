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

# The same with a broker, which holds what is not there, what is hidden and what moves.
exact_agrees() {
	broker_agrees native "$@"
}

broker_agrees() {
	needs_enforced exact "no broker on this machine" -p strict --report writes --backend "$1" \
		--fallback degrade
	run "$BATS_TEST_DIRNAME/../table/live" --backend "$1" --exact --at-least "$3" \
		--ground "$(ground)" "$CORDON" attack "$BATS_TEST_DIRNAME/../table/$2.t"
	assert_success
}

bwrap_agrees() {
	command -v bwrap >/dev/null || must_or_skip "no bubblewrap"
	agree bwrap "$@"
}

@test "native: live.t" { agree native live 95; }
@test "native: profiles.t" { agree native profiles 90; }
@test "native: rules.t" { agree native rules 22; }
@test "native: paths.t" { agree native paths 22; }
@test "native: secrets.t" { agree native secrets 40; }
@test "native: layers.t" { agree native layers 22; }
@test "native: hidden.t" { agree native hidden 24; }
@test "exact: live.t" { exact_agrees live 110; }
@test "exact: profiles.t" { exact_agrees profiles 95; }
@test "exact: rules.t" { exact_agrees rules 45; }
@test "exact: paths.t" { exact_agrees paths 32; }
@test "exact: secrets.t" { exact_agrees secrets 40; }
@test "exact: layers.t" { exact_agrees layers 42; }
@test "exact: hidden.t" { exact_agrees hidden 35; }
@test "exact: rename.t" { exact_agrees rename 45; }
@test "bwrap: live.t" { bwrap_agrees live 90; }
@test "bwrap: profiles.t" { bwrap_agrees profiles 85; }
@test "bwrap: rules.t" { bwrap_agrees rules 18; }
@test "bwrap: paths.t" { bwrap_agrees paths 22; }
@test "bwrap: secrets.t" { bwrap_agrees secrets 38; }
@test "bwrap: layers.t" { bwrap_agrees layers 22; }
@test "bwrap: hidden.t" { bwrap_agrees hidden 24; }
@test "landlock: live.t" { agree landlock live 60; }
@test "landlock: profiles.t" { agree landlock profiles 60; }
@test "landlock: rules.t" { agree landlock rules 10; }
@test "landlock: paths.t" { agree landlock paths 20; }
@test "landlock: secrets.t" { agree landlock secrets 35; }
@test "landlock: layers.t" { agree landlock layers 14; }
@test "landlock: hidden.t" { agree landlock hidden 15; }
@test "landlock, exact: live.t" { broker_agrees landlock live 90; }
@test "landlock, exact: profiles.t" { broker_agrees landlock profiles 85; }
@test "landlock, exact: rules.t" { broker_agrees landlock rules 40; }
@test "landlock, exact: paths.t" { broker_agrees landlock paths 30; }
@test "landlock, exact: secrets.t" { broker_agrees landlock secrets 38; }
@test "landlock, exact: layers.t" { broker_agrees landlock layers 42; }
@test "landlock, exact: hidden.t" { broker_agrees landlock hidden 33; }
@test "landlock, exact: rename.t" { broker_agrees landlock rename 45; }
