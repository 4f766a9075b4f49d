#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The truth tables against the kernel, backend by backend: whatever the policy says of an
# object, a probe inside must find.

load helper

# agree BACKEND TABLE ROWS: at least so many rows must have been compared, or part of the table
# has stopped saying anything: two or three fewer than are compared for who compares fewer, root
# or a plain user. folding.t needs a file system of its own (folding.bats).
agree() {
	run "$BATS_TEST_DIRNAME/../table/live" --backend "$1" --at-least "$3" --ground "$(ground)" \
		"$CORDON" attack "$BATS_TEST_DIRNAME/../table/$2.t"
	assert_success
}

# The same with a broker, which needs no look beforehand for what is hidden or a pattern.
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

@test "native: live.t" { agree native live 112; }
@test "native: profiles.t" { agree native profiles 106; }
@test "native: rules.t" { agree native rules 24; }
@test "native: paths.t" { agree native paths 28; }
@test "native: secrets.t" { agree native secrets 45; }
@test "native: layers.t" { agree native layers 58; }
@test "native: hidden.t" { agree native hidden 38; }
@test "native: homes.t" { agree native homes 19; }
@test "native: runtime.t" { agree native runtime 21; }
@test "native: rename.t" { agree native rename 54; }
@test "native: hosts.t" { agree native hosts 55; }
@test "exact: live.t" { exact_agrees live 112; }
@test "exact: profiles.t" { exact_agrees profiles 106; }
@test "exact: rules.t" { exact_agrees rules 50; }
@test "exact: paths.t" { exact_agrees paths 35; }
@test "exact: secrets.t" { exact_agrees secrets 45; }
@test "exact: layers.t" { exact_agrees layers 63; }
@test "exact: hidden.t" { exact_agrees hidden 38; }
@test "exact: homes.t" { exact_agrees homes 19; }
@test "exact: runtime.t" { exact_agrees runtime 21; }
@test "exact: rename.t" { exact_agrees rename 54; }
@test "exact: hosts.t" { exact_agrees hosts 55; }
@test "bwrap: live.t" { bwrap_agrees live 106; }
@test "bwrap: profiles.t" { bwrap_agrees profiles 96; }
@test "bwrap: rules.t" { bwrap_agrees rules 21; }
@test "bwrap: paths.t" { bwrap_agrees paths 27; }
@test "bwrap: secrets.t" { bwrap_agrees secrets 42; }
@test "bwrap: layers.t" { bwrap_agrees layers 42; }
@test "bwrap: hidden.t" { bwrap_agrees hidden 27; }
@test "bwrap: homes.t" { bwrap_agrees homes 19; }
@test "bwrap: runtime.t" { bwrap_agrees runtime 20; }
@test "landlock: live.t" { agree landlock live 66; }
@test "landlock: profiles.t" { agree landlock profiles 83; }
@test "landlock: rules.t" { agree landlock rules 11; }
@test "landlock: paths.t" { agree landlock paths 24; }
@test "landlock: secrets.t" { agree landlock secrets 39; }
@test "landlock: layers.t" { agree landlock layers 32; }
@test "landlock: hidden.t" { agree landlock hidden 27; }
@test "landlock: homes.t" { agree landlock homes 19; }
@test "landlock: runtime.t" { agree landlock runtime 20; }
@test "landlock: rename.t" { agree landlock rename 53; }
@test "landlock, exact: live.t" { broker_agrees landlock live 96; }
@test "landlock, exact: profiles.t" { broker_agrees landlock profiles 93; }
@test "landlock, exact: rules.t" { broker_agrees landlock rules 43; }
@test "landlock, exact: paths.t" { broker_agrees landlock paths 35; }
@test "landlock, exact: secrets.t" { broker_agrees landlock secrets 42; }
@test "landlock, exact: layers.t" { broker_agrees landlock layers 52; }
@test "landlock, exact: hidden.t" { broker_agrees landlock hidden 35; }
@test "landlock, exact: homes.t" { broker_agrees landlock homes 19; }
@test "landlock, exact: runtime.t" { broker_agrees landlock runtime 20; }
@test "landlock, exact: rename.t" { broker_agrees landlock rename 53; }
