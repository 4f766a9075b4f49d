#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The seatbelt backend from the command line to the result. There is no Seatbelt here: a
# stand-in for sandbox-exec, which only the test build takes, writes down how it was called
# and executes the command, so nothing below says that anything is enforced.

load helper

setup() {
	cordon_setup
	TESTING=$(dirname "$CORDON")/cordon-testing
	[ -x "$TESTING" ] || fail "no cordon-testing at $TESTING; run make"
	export CORDON_SANDBOX_EXEC=$SCRATCH/sandbox-exec
	cat >"$CORDON_SANDBOX_EXEC" <<-'EOF'
		#!/bin/bash
		printf '%s\0' "$@" >"${0%/*}/called"
		while [ $# -gt 0 ]; do
			case $1 in
			-D*) shift ;;
			-p) shift 2 ;;
			*) break ;;
			esac
		done
		exec "$@"
	EOF
	chmod +x "$CORDON_SANDBOX_EXEC"
}

# seatbelt ARG ...: a run on that backend; what it cannot hold is accepted.
seatbelt() {
	run --separate-stderr "$TESTING" run --backend seatbelt --fallback degrade "$@"
}

called() {
	mapfile -d '' -t words <"$SCRATCH/called"
}

@test "the parameters, the profile and the command reach sandbox-exec, and its end comes back" {
	seatbelt -- sh -c 'echo from inside; exit 7'
	assert_status 7
	assert_contains "from inside"
	called
	[ "${words[0]}" = "-DWORKDIR=$WORKDIR" ]
	[ "${words[1]}" = "-DHOME=$HOME" ]
	[[ ${words[2]} == -DTMPDIR=/* ]]
	[ "${words[3]}" = -p ]
	[[ ${words[4]} == *"(version 1)"*"(deny default)"* ]]
	[[ ${words[5]} == /*/sh ]]
	[ "${words[6]}" = -c ]
	[ "${words[7]}" = 'echo from inside; exit 7' ]
	[ ${#words[@]} -eq 8 ]
}

@test "the profile is the one that policy render prints, with its parameters" {
	seatbelt -p shell -- true
	assert_status 0
	called
	"$TESTING" policy render --format sbpl -p shell >"$SCRATCH/text"
	diff "$SCRATCH/text" <(printf '%s' "${words[4]}")
}

@test "what Seatbelt does not hold is named in the result, and refused without leave" {
	seatbelt --json -- true
	assert_status 0
	assert_json '.backend == "seatbelt" and (.degraded | index("processes"))'
	rm "$SCRATCH/called"
	run "$TESTING" run --backend seatbelt -- true
	assert_status 125
	assert_contains processes
	refute_file "$SCRATCH/called"
}

@test "its private directory is named by TMPDIR and gone afterwards" {
	# shellcheck disable=SC2016
	seatbelt -- sh -c 'touch "$TMPDIR/x"; echo "$TMPDIR"'
	assert_status 0
	called
	assert_equal "${words[2]}" "-DTMPDIR=$output"
	refute_file "$output"
}

@test "time and output limits hold, and what the command leaves is ended" {
	seatbelt --timeout 200ms --json -- sleep 60
	assert_json '.cause == "timeout"'
	seatbelt --json -- sh -c 'sleep 60 & exit 3'
	assert_json '.exit_code == 3 and .survivors == 1'
}

@test "a sandbox-exec that cannot be executed is a failed start, never a run without it" {
	chmod -x "$CORDON_SANDBOX_EXEC"
	seatbelt -- touch ran
	assert_status 126
	refute_file ran
}

@test "without sandbox-exec the fallback decides" {
	unset CORDON_SANDBOX_EXEC
	run "$TESTING" run --backend seatbelt --fallback degrade -- true
	assert_status 125
	assert_contains "needs sandbox-exec"
	run "$TESTING" run --backend seatbelt --fallback passthrough -- true
	assert_status 0
	assert_contains "WITHOUT confinement"
}

@test "what ships takes no stand-in" {
	run "$CORDON" run --backend seatbelt --fallback degrade -- true
	assert_status 125
	assert_contains "needs sandbox-exec"
}
