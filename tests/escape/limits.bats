#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Using up what the machine has: H74 and H76. Every run has a generous timeout, so that a
# limit that does not hold fails a test instead of hanging it.

load helper

# The shared memory of the whole machine is looked at: one test must not free what
# another takes. (The variable is for bats.)
# shellcheck disable=SC2034
setup_file() {
	BATS_NO_PARALLELIZE_WITHIN_FILE=true
}

# ended CAUSE FLAGS... -- ATTACK...: the limit ends the run, nothing of it is left, and
# what was used is told.
ended() {
	local cause=$1 args
	shift
	args=("$@")

	run --separate-stderr cordon run -q --json --timeout 50s "${FLAGS[@]}" "${args[@]}"
	assert_status 137
	assert_json ".cause == \"$cause\""
	assert_json '.left == null'
	assert_json '.usage.user_ms >= 0 and .usage.max_rss_kb > 0'
	! pgrep -f "$ATTACK_PATH" || fail "processes are left" "$(pgrep -af "$ATTACK_PATH")"
}

# The attack gets what it wants without cordon, and with more than it needs.
free() {
	run env HOLD_MS=0 "$ATTACK_PATH" "$@"
	assert_success
}

allowed() {
	run --separate-stderr cordon run -q --json --timeout 50s --env HOLD_MS=0 "${FLAGS[@]}" "$@"
	assert_success
	assert_json '.cause == "exited"'
}

on_each_backend() {
	local backend

	for backend in native landlock bwrap; do
		cordon run -q --backend $backend --fallback degrade true ||
			must_or_skip "$backend does not work here"
		FLAGS=(--backend $backend --fallback degrade)
		"$@"
	done
}

@test "H74 a fork bomb is ended, as root and as a user" {
	free fork-bomb 300
	on_each_backend ended procs --procs 60 -- "$ATTACK_PATH" fork-bomb 300
	FLAGS=()
	allowed --procs 400 -- "$ATTACK_PATH" fork-bomb 300
}

@test "H74 behind the samples the kernel holds a bound of its own" {
	[ "$(printf '6.14\n%s\n' "$(uname -r)" | sort -V | head -n 1)" = 6.14 ] ||
		must_or_skip "before Linux 6.14 pid_max is the host's"
	local before
	before=$(cat /proc/sys/kernel/pid_max)
	run -0 --separate-stderr cordon run -q --procs 500 cat /proc/sys/kernel/pid_max
	assert_output 832
	run -0 --separate-stderr cordon run -q --procs 20 cat /proc/sys/kernel/pid_max
	[ "$output" -ge 352 ] && [ "$output" -lt 4096 ] || fail "pid_max is $output"
	# Numbers are used again, and the reserved ones are not missing then.
	run -0 --separate-stderr cordon run -q --procs 20 bash -c '
		for ((i = 0; i < 1000; i++)); do (:); done; echo x | cat | cat | cat'
	assert_output x
	assert_equal "$(cat /proc/sys/kernel/pid_max)" "$before"
	# One that doubles would have the machine between two samples.
	ended procs --procs 20 -- bash -c 'f() { f | f & }; f; sleep 100'
}

@test "H74 where the user's other processes count, the kernel holds a bound, too" {
	! is_root || skip "the kernel does not count root's"
	local backend others most
	for backend in landlock bwrap; do
		FLAGS=(--backend $backend --fallback degrade)
		run -0 cordon run -q "${FLAGS[@]}" true
		others=$(ps -u "$(id -u)" -o nlwp= | awk '{ n += $1 } END { print n }')
		run -0 --separate-stderr cordon run -q "${FLAGS[@]}" --procs 60 bash -c 'ulimit -u'
		most=$output
		[[ $most == [0-9]* ]] && [ "$most" -ge 188 ] && [ "$most" -le $((others + 400)) ] ||
			fail "$backend: $most, with $others others"
		run -0 --separate-stderr cordon run -q "${FLAGS[@]}" bash -c 'ulimit -u'
		assert_equal "$output" "$(ulimit -u)"
		ended procs --procs 20 -- bash -c 'f() { f | f & }; f; sleep 100'
	done
}

@test "H74 threads are processes to the limit" {
	free thread-bomb 300
	ended procs --procs 60 -- "$ATTACK_PATH" thread-bomb 300
}

@test "H74 memory of many processes" {
	free balloon 160 20
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" balloon 160 20
	FLAGS=()
	allowed --memory 400M -- "$ATTACK_PATH" balloon 160 20
}

@test "H74 what processes share counts once" {
	free share 60 10
	allowed --memory 120M -- "$ATTACK_PATH" share 60 10
	ended memory --memory 50M -- "$ATTACK_PATH" share 60 10
}

@test "H74 a memfd, open or mapped" {
	free fill-memfd 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" fill-memfd 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" map-memfd 160
	FLAGS=()
	allowed --memory 400M -- "$ATTACK_PATH" map-memfd 160
}

@test "H74 a memfd of a thread that has descriptors of its own" {
	free fill-memfd-thread 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" fill-memfd-thread 160
	FLAGS=()
	allowed --memory 400M -- "$ATTACK_PATH" fill-memfd-thread 160
}

@test "H74 a memfd of a process that cannot be looked into" {
	free fill-memfd-unseen 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" fill-memfd-unseen 160
	# The other way: a program that may be run but not read.
	cp attack unreadable
	chmod 0111 unreadable
	on_each_backend ended memory --memory 80M -- "$WORKDIR/unreadable" fill-memfd 160
	# A little of it is no reason, nor is what others had before.
	FLAGS=()
	background env HOLD_MS=20000 "$ATTACK_PATH" fill-memfd 160
	sleep 1
	allowed --memory 120M --env HOLD_MS=1500 -- "$ATTACK_PATH" fill-memfd-unseen 40
	allowed --memory 400M -- "$WORKDIR/unreadable" fill-memfd 160
}

# behind LEVEL COMMAND...: where /proc shows a plain user only what it may look into. The
# namespace's capabilities are dropped before the command.
behind() {
	# shellcheck disable=SC2016 # the inner shell's arguments
	unshare -U --map-current-user --keep-caps -m -p -f --kill-child --mount-proc sh -c '
		mount -o "remount,hidepid=$1" /proc && shift &&
			exec setpriv --ambient-caps -all --inh-caps -all -- "$@"' sh "$@"
}

# ended_behind CAUSE FLAGS... -- ATTACK...
ended_behind() {
	local cause=$1 level
	shift

	for level in 1 2; do
		run --separate-stderr behind $level "$CORDON" run -q --json --timeout 50s \
			"${FLAGS[@]}" "$@"
		assert_status 137
		assert_json ".cause == \"$cause\" and .left == null"
	done
}

@test "H74 a /proc with hidepid hides nothing from the limits" {
	! is_root || skip "root sees every process"
	behind 2 true || must_or_skip "/proc cannot be mounted here"
	run -0 behind 2 grep -q " - proc .*hidepid=" /proc/self/mountinfo
	on_each_backend ended_behind procs --procs 60 -- "$ATTACK_PATH" fork-bomb 300
	on_each_backend ended_behind memory --memory 80M -- "$ATTACK_PATH" balloon 160 20
	on_each_backend ended_behind memory --memory 80M -- "$ATTACK_PATH" fill-memfd-unseen 160
	# Where nothing else sees it, that is the reason, and said.
	FLAGS=(--backend landlock --fallback degrade)
	ended_behind memory --memory 80M -- "$ATTACK_PATH" fill-memfd-unseen 1
	assert_json .hidden
	# Nor does one that hides stay when the run is over.
	run --separate-stderr behind 2 "$CORDON" run -q --json --timeout 1s "${FLAGS[@]}" -- \
		"$ATTACK_PATH" fill-memfd-unseen 1
	assert_status 124
	assert_json '.left == null'
	! pgrep -f "$ATTACK_PATH" || fail "processes are left" "$(pgrep -af "$ATTACK_PATH")"
	for backend in native landlock bwrap; do
		run -0 --separate-stderr behind 2 "$CORDON" run -q --json --memory 80M --procs 20 \
			--cpu 50s --backend $backend --fallback degrade -- sh -c 'sleep 0.5; exec true'
		assert_json '.cause == "exited"'
	done
}

@test "H74 shared memory that no process shows" {
	free forget-shared 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" forget-shared 160
}

@test "H74 a process whose first thread has ended" {
	free leaderless 160
	on_each_backend ended memory --memory 80M -- "$ATTACK_PATH" leaderless 160
}

@test "H74 files in the private /tmp are memory" {
	ended memory --memory 80M --tmp-size 60M -- \
		"$ATTACK_PATH" balloon-after-file 50 /tmp/file
	run cordon run -q --memory 80M --tmp-size 1G -- "$ATTACK_PATH" fill-file 160 /tmp/file
	[ "$status" -eq 137 ] || [ "$status" -eq 10 ] || fail "not held" "$(outcome)"
	run cordon run -q --memory 80M -- "$ATTACK_PATH" fill-file 160 /dev/shm/file
	[ "$status" -eq 137 ] || [ "$status" -eq 10 ] || fail "not held" "$(outcome)"
}

@test "H74 System V shared memory stays below the limit" {
	free sysv 64
	run cordon run -q --memory 40M -- "$ATTACK_PATH" sysv 64
	assert_status 10
	# For others there is none at all: the kernel lets only root limit it.
	is_root || return 0
	run cordon run -q --memory 200M --env HOLD_MS=0 -- "$ATTACK_PATH" sysv 64
	assert_success
}

@test "H76 the private /tmp fills up, not the machine" {
	run cordon run -q --tmp-size 8M -- "$ATTACK_PATH" fill-file 64 /tmp/file
	assert_status 10
	assert_contains "No space left"
	run cordon run -q --tmp-size 8M -- "$ATTACK_PATH" many-files /tmp
	assert_status 10
	assert_contains "No space left"
}

@test "H76 a file that grows too large" {
	on_each_backend ended file_size --file-size 1M -- "$ATTACK_PATH" fill-file 8 file
	[ "$(stat -c %s file)" -le $((1 << 20)) ] || fail "$(stat file)"
}

@test "H76 a flood of output" {
	ended output --output 1M -- "$ATTACK_PATH" flood-output 200
	run --separate-stderr cordon run -q --json --output 4M -- "$ATTACK_PATH" flood-output 2
	assert_success
}

@test "H74 processor time of all processes" {
	ended cpu --cpu 1s -- sh -c 'while :; do :; done & while :; do :; done'
}

@test "H74 processor time of children that nobody waits for" {
	"$ATTACK_PATH" has-clock || lacking clock "the machine does not let the clock be used"
	free burn-unseen 200 30
	on_each_backend ended cpu --cpu 1s -- "$ATTACK_PATH" burn-unseen 40000 30
	FLAGS=()
	allowed --cpu 10s -- "$ATTACK_PATH" burn-unseen 200 30
}

# It is passed before the command is executed, by the sandbox's own set-up or just after.
@test "a limit that nothing can keep is named as the cause" {
	on_each_backend ended memory --memory 10 -- sleep 60
	on_each_backend ended procs --procs 1 -- sh -c 'sleep 60 & sleep 60 & sleep 60'
}
