#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The program as it is on macOS, on libraries of that system that are made of Linux's
# (tests/darwin), and with a stand-in for sandbox-exec that confines nothing: what is tried
# is finding, watching, measuring and ending processes, and what is said and refused.

load helper

setup() {
	cordon_setup
	DARWIN=$(dirname "$CORDON")/cordon-darwin
	[ -x "$DARWIN" ] || fail "no cordon-darwin at $DARWIN; run make"
	export CORDON_SANDBOX_EXEC=$SCRATCH/sandbox-exec
	cat >"$CORDON_SANDBOX_EXEC" <<-'EOF'
		#!/bin/bash
		while [[ $1 == -* ]]; do
			[ "$1" != -p ] || shift
			shift
		done
		exec "$@"
	EOF
	chmod +x "$CORDON_SANDBOX_EXEC"
}

# darwin ARG ...: a run, with what is not enforced accepted.
darwin() {
	run --separate-stderr "$DARWIN" run --fallback degrade "$@"
}

@test "seatbelt is what auto takes, and what it loses is refused by name" {
	run "$DARWIN" run -- touch ran
	assert_status 125
	assert_contains "seatbelt"
	assert_contains "processes"
	refute_file ran
	darwin --json -- true
	assert_status 0
	assert_json '.backend == "seatbelt" and (.degraded | index("survivors"))'
}

@test "backends of Linux are known by name and not in the build" {
	run "$DARWIN" run --backend native --fallback degrade -- true
	assert_status 125
	assert_contains "the backend 'native' is not in this build"
	run "$DARWIN" run --backend landlock --fallback degrade -- true
	assert_contains "not in this build"
	run "$DARWIN" run --backend bwrap --fallback degrade -- true
	assert_contains "this is macOS"
}

@test "doctor speaks of this system only" {
	run "$DARWIN" doctor
	assert_contains "sandbox-exec"
	refute_contains "landlock          file rules"
}

@test "output, exit status and signals come back" {
	darwin -- sh -c 'echo out; echo err >&2; exit 9'
	assert_status 9
	assert_equal "$output" out
	darwin --json -- sh -c 'kill -9 $$'
	assert_json '.signal == 9'
}

@test "what is left behind is found, in the command's session and below it, and ended" {
	darwin --json -- sh -c '(sleep 61.5 & sleep 61.6 & wait) & exit 3'
	assert_json '.exit_code == 3 and .survivors == 3'
	run pgrep -f 'sleep 61[.][56]'
	assert_status 1
}

@test "time is up for all of it, orphans too" {
	darwin --json --timeout 300ms -- sh -c '(sleep 62.5 &); exec sleep 62.6'
	assert_json '.cause == "timeout"'
	run pgrep -f 'sleep 62[.][56]'
	assert_status 1
}

@test "limits that reach all processes are not claimed, and tried all the same" {
	darwin --json --memory 50MB -- python3 -c 'x = bytearray(200 << 20); import time; time.sleep(60)'
	assert_json '.cause == "memory" and (.degraded | index("limits"))'
	darwin --json --procs 20 -- sh -c 'for i in $(seq 60); do sleep 63.5 & done; wait'
	assert_json '.cause == "procs"'
	darwin --json --cpu 1s -- sh -c 'while :; do :; done'
	assert_json '.cause == "cpu" and .usage.user_ms + .usage.sys_ms > 500'
}

@test "output to a file is carried there, and a limit of output holds" {
	"$DARWIN" run --fallback degrade -q -- sh -c 'echo one; echo two >&2' >>both 2>&1
	assert_equal "$(sort both | grep -v cordon | tr '\n' ' ')" "one two "
	darwin --json --output 1000 -- yes
	assert_json '.cause == "output"'
}

@test "a signal to cordon reaches the command, and all of it ends" {
	"$DARWIN" run --fallback degrade -q -- sh -c 'trap "echo got; exit 4" TERM; echo ready; sleep 64.5 & wait' \
		>"$SCRATCH/out" &
	for _ in $(seq 100); do
		grep -q ready "$SCRATCH/out" && break
		sleep 0.05
	done
	kill -TERM $!
	wait $! || true
	grep -q got "$SCRATCH/out"
	run pgrep -f 'sleep 64[.]5'
	assert_status 1
}

@test "with a terminal the command has one of its own" {
	run script -qec "'$DARWIN' run --fallback degrade -q -- sh -c 'tty; stty size'" /dev/null
	assert_status 0
	assert_contains "/dev/pts/"
}
