#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A control group for the run, where one is delegated: made, used and removed. Controllers
# are not needed for this; limits that the kernel holds are tests/unit/test_cgroup.c's.
load helper

setup() {
	cordon_setup
	cordon doctor --json | jq -e '.capabilities[] | select(.name == "cgroup2") | .value == 1' \
		>/dev/null || lacking cgroup2 "no cgroup v2 is delegated to this user"
	MOUNT=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)
	mkfifo up go
}

teardown() {
	[ -z "${RUN:-}" ] || kill -KILL "$RUN" 2>/dev/null || true
	cordon_teardown
}

# start PROGRAM FLAGS...: a run that waits; $RUN is its cordon.
start() {
	local program=$1
	shift
	"$program" run -q "$@" -- sh -c 'echo >up; read -r x <go' 3>&- &
	RUN=$!
	read -r _ <up
}

group() {
	find "$MOUNT" -type d -name "cordon.$1" 2>/dev/null
}

@test "a run with a limit has a group of its own, which is gone afterwards" {
	local backend
	for backend in native landlock bwrap; do
		cordon run -q --backend $backend --fallback degrade true ||
			must_or_skip "$backend does not work here"
		start "$CORDON" --backend $backend --fallback degrade --procs 100
		[ -n "$(group "$RUN")" ] || fail "$backend: no group"
		[ "$(wc -l <"$(group "$RUN")/cgroup.procs")" -gt 0 ] || fail "$backend: empty"
		! grep -qx "$RUN" "$(group "$RUN")/cgroup.procs" || fail "cordon is in it too"
		echo >go
		wait "$RUN"
		[ -z "$(group "$RUN")" ] || fail "left: $(group "$RUN")"
	done
}

@test "a run without a limit has none, nor has one where it is not wanted" {
	start "$CORDON"
	[ -z "$(group "$RUN")" ] || fail "made: $(group "$RUN")"
	echo >go
	wait "$RUN"
	CORDON_CAPS_MASK=cgroup2 start "$(dirname "$CORDON")/cordon-testing" --procs 100
	[ -z "$(group "$RUN")" ] || fail "made: $(group "$RUN")"
	echo >go
	wait "$RUN"
}

@test "what a killed cordon leaves is removed by the next" {
	start "$CORDON" --cpu 60s
	local left
	left=$(group "$RUN")
	[ -n "$left" ] || fail "no group"
	kill -KILL "$RUN"
	wait "$RUN" || true
	# The run dies with its cordon, a moment later.
	local end=$((SECONDS + 30))
	until [ -z "$(cat "$left/cgroup.procs")" ]; do
		[ $SECONDS -lt $end ] || fail "still populated"
		sleep 0.05
	done
	run -0 cordon run -q --cpu 60s true
	[ ! -e "$left" ] || fail "still there: $left"
}

@test "everything in the group ends at once, on a backend without namespaces" {
	cordon run -q --backend landlock --fallback degrade true || must_or_skip "no landlock"
	run --separate-stderr cordon run -q --json --backend landlock --fallback degrade \
		--cpu 500ms --timeout 50s -- sh -c 'setsid sleep 1000.'$$' & while :; do :; done'
	assert_status 137
	assert_json '.cause == "cpu" and .left == null'
	! pgrep -f "^sleep 1000.$$\$" || fail "a process is left"
}
