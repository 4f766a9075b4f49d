#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A secret is one in every home, whatever HOME is set to.
load helper

setup() {
	cordon_setup
	TESTING=$(dirname "$CORDON")/cordon-testing
	[ -x "$TESTING" ] || fail "no cordon-testing at $TESTING; run make"
	mkdir -p "$SCRATCH/real/.ssh" "$SCRATCH/other/.aws" "$SCRATCH/other/docs"
	echo key >"$SCRATCH/real/.ssh/id"
	echo key >"$SCRATCH/other/.aws/credentials"
	echo text >"$SCRATCH/other/docs/text"
	printf '%s\n' "me:x:$(id -u):0::$SCRATCH/real:/bin/sh" "other:x:54321:0::$SCRATCH/other:/bin/sh" \
		"gone:x:54322:0::$SCRATCH/gone:/bin/sh" "sys:x:54323:0::/usr/sbin:/bin/sh" \
		"odd:x:54324:0:relative:" "" ":::" "root:x:x:y" >"$SCRATCH/passwd"
	export CORDON_PASSWD=$SCRATCH/passwd
}

refuses() {
	if "$@"; then fail "succeeded: $*"; fi
}

# sees PATH: can a command read it, with all of the scratch open but for secrets?
sees() {
	"$TESTING" -q run --allow-read "$SCRATCH" -- cat "$1" >/dev/null 2>&1
}

@test "the secrets of the passwd file's home, with HOME somewhere else" {
	sees "$SCRATCH/other/docs/text"
	refuses sees "$SCRATCH/real/.ssh/id"
	export HOME=/var/empty CORDON_HOME=$SCRATCH/state
	refuses sees "$SCRATCH/real/.ssh/id"
	unset HOME
	refuses sees "$SCRATCH/real/.ssh/id"
	sees "$SCRATCH/other/docs/text"
}

@test "root keeps the secrets of every home" {
	is_root || skip "others' files are closed by their owners"
	refuses sees "$SCRATCH/other/.aws/credentials"
	sees "$SCRATCH/other/docs/text"
	run -0 "$TESTING" -q run --allow-read "$SCRATCH/other/.aws" -- cat "$SCRATCH/other/.aws/credentials"
	assert_contains key
}

@test "a home is found without a passwd file" {
	export CORDON_PASSWD=$SCRATCH/none
	run -0 "$TESTING" -q run -- echo works
	assert_contains works
	unset HOME
	run -125 "$TESTING" -q run -- echo works
	assert_contains "HOME is not set and the passwd file has no home for uid $(id -u)"
}

@test "settings that could be read and are not there are absent, not closed" {
	mkdir -p "$HOME/.config/gh"
	echo token >"$HOME/.config/gh/hosts.yml"
	run "$TESTING" -q run -- cat "$HOME/.config/git/ignore"
	[ "$status" -ne 0 ]
	[[ $output == *"No such file or directory"* ]] || fail "$output"
	refuses sees "$HOME/.config/gh/hosts.yml"
	run "$TESTING" -q run -- ls "$HOME/.config"
	[[ $output != *gh* ]] || fail "$output"
}
