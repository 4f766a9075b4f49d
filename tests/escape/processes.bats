#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Descriptors, processes, the terminal and the environment: H01 to H11, H34.

load helper

teardown() {
	[ -z "${GROUP:-}" ] || rmdir "$GROUP"
	escape_teardown
}

# --- descriptors --------------------------------------------------------------------

@test "H04 no descriptor above 2 reaches the command" {
	exec 5</ 6>"$SCRATCH/file" 7<>"$SCRATCH/file" 200<"$HOME" 1000</proc
	bare descriptors
	inside descriptors
}

@test "H04 not through a shell inside, not with closed standard streams" {
	exec 9<"$HOME"
	for profile in $PROFILES; do
		run cordon run -q -p "$profile" -- /bin/sh -c './attack descriptors' <&-
		assert_status 10
	done
	run bash -c "exec 9<'$HOME' 0<&- 2>&-; '$CORDON' run -q -- ./attack descriptors"
	assert_status 10
}

@test "H04 a directory as a standard stream is not a way out" {
	run ./attack read-from-stream .netrc <"$HOME"
	assert_success
	for profile in moderate strict permissive; do
		run cordon run -q -p $profile -- ./attack read-from-stream .netrc <"$HOME"
		[ "$status" -ne 0 ] || fail "$profile" "$(outcome)"
		refute_contains "$SECRET"
		run cordon run -q -p $profile -- ./attack read-from-stream home/.ssh/id <"$SCRATCH"
		[ "$status" -ne 0 ] || fail "$profile" "$(outcome)"
		refute_contains "$SECRET"
	done
}

@test "H05 init has no descriptor that the command can take" {
	inside proc-read 1 fd/0
	inside proc-read 1 fd/3
	inside proc-read 1 fdinfo/0
	run --separate-stderr cordon run -q -- /bin/sh -c 'for f in /proc/1/fd/*; do readlink "$f"; done'
	assert_output ""
}

@test "H11 the cordon binary cannot be had or changed through /proc/1/exe" {
	cp "$CORDON" own
	local real=$CORDON
	CORDON=$WORKDIR/own
	inside proc-read 1 exe
	inside proc-write 1 exe
	cmp own "$real"
}

# --- looking into others ------------------------------------------------------------

@test "H06 H07 init is not traced, read or written" {
	inside ptrace 1
	inside vm-read 1
	for file in mem maps environ auxv stack syscall personality root/etc/passwd cwd/attack; do
		inside proc-read 1 $file
	done
	inside proc-write 1 mem
	start_victim
	bare vm-read "$VICTIM"
	bare proc-read "$VICTIM" environ
	bare ptrace "$VICTIM"
}

@test "H06 processes of the caller do not exist inside" {
	start_victim
	inside ptrace "$VICTIM"
	inside vm-read "$VICTIM"
	inside kill "$VICTIM" 0
	inside pidfd-kill "$VICTIM" 0
	inside proc-read "$VICTIM" environ
	bare kill "$VICTIM" 0
	bare pidfd-kill "$VICTIM" 0
}

@test "H06 with --share-pid processes of the caller are seen but not touched" {
	start_victim
	PROFILES='moderate strict'
	FLAGS=(--share-pid)
	inside ptrace "$VICTIM"
	inside vm-read "$VICTIM"
	inside kill "$VICTIM" 15
	inside kill "$VICTIM" 0
	inside pidfd-kill "$VICTIM" 15
	inside prlimit "$VICTIM"
	inside setns "$VICTIM"
	for file in environ mem maps root/etc/passwd cwd/attack fd/0; do
		inside proc-read "$VICTIM" $file
	done
	kill -0 "$VICTIM" || fail "the victim died"
	bare proc-read "$VICTIM" environ
	bare kill "$VICTIM" 15
}

# Each with what comes behind the process id; what stops and ends it is last.
on_a_process() {
	cat <<-END
		ptrace
		vm-read
		proc-read mem
		proc-read environ
		proc-read maps
		proc-read cwd/attack
		proc-read root/etc/passwd
		proc-read exe
		proc-read fd/0
		proc-write mem
		proc-write fd/0
		proc-write oom_score_adj
		prlimit
		pidfd-take
		pidfd-kill 19
		kill 19
		pidfd-kill 9
		kill 9
	END
}

# What not everybody may do to a process of his own.
on_a_process_as_root() {
	cat <<-END
		setns
		setns-pidfd
	END
}

@test "H05 H06 H07 H09 H11 the supervisor, where it is seen, is neither looked into nor touched" {
	local profile attack rest flags=()
	[ $BACKEND = landlock ] || flags=(--share-pid)
	{ on_a_process_as_root && echo proc-write exe && on_a_process; } >attacks
	for profile in $PROFILES; do
		# shellcheck disable=SC2016 # for the shells
		run timeout -k 5 100 bash -c 'echo $$ >supervisor; exec "$@"' bash "$CORDON" run -q \
			-p "$profile" "${flags[@]}" -- sh -c 'read -r pid <supervisor
			while read -r attack rest; do
				./attack $attack $pid $rest
				echo "outcome $? $attack $rest"
			done <attacks'
		assert_success
		[ "$(grep -c '^outcome 10 ' <<<"$output")" -eq "$(wc -l <attacks)" ] ||
			fail "$profile: not held" "$(outcome)"
		# It was there to be attacked.
		refute_contains 'No such'
	done
	{
		is_root && on_a_process_as_root
		on_a_process
	} >attacks
	# By a descriptor of its own, for a victim has the standard one.
	while read -r attack rest <&7; do
		start_victim
		# shellcheck disable=SC2086 # none or one
		bare $attack "$VICTIM" $rest
		rm "$SCRATCH/ready"
	done 7<attacks
}

@test "H09 kill(-1) reaches nobody outside, and init survives" {
	start_victim
	for flags in '' --share-pid; do
		# shellcheck disable=SC2086 # none or one
		run cordon run -q $flags -- /bin/sh -c 'trap "" TERM; ./attack kill-all; echo "over $?"'
		assert_contains over
		kill -0 "$VICTIM" || fail "the victim died"
	done
}

@test "H09 init is neither killed nor stopped from inside" {
	run cordon run -q -- /bin/sh -c 'kill -KILL 1; kill -STOP 1; kill -TERM 1; exit 7'
	assert_status 7
}

@test "H09 the process group of the caller is not signalled" {
	run cordon run -q -- /bin/sh -c 'trap "" TERM; kill -TERM 0; kill -TERM -- -$PPID; exit 7'
	assert_status 7
}

@test "H10 a double fork in a session of its own does not survive" {
	mkfifo alive
	cordon run -q -- ./attack survive "$WORKDIR/alive" 3>&- &
	BACKGROUND+=("$!")
	exec 8<alive
	read -r line <&8
	assert_equal "$line" alive
	# The end of the stream is the end of the last process that has it open.
	run cat <&8
	assert_output ""
	exec 8<&-
	wait "${BACKGROUND[-1]}"
}

@test "H10 kill -9 of the supervisor ends the tree" {
	claimed survivors || return 0
	mkfifo alive
	mkfifo wait
	# Not the function of this name: $! must be the supervisor.
	"$CORDON" run -q -- /bin/sh -c './attack survive alive; read -r x <wait' 3>&- &
	BACKGROUND+=("$!")
	exec 8<alive
	read -r line <&8
	assert_equal "$line" alive
	kill -KILL "${BACKGROUND[-1]}"
	run timeout 20 cat <&8
	assert_success
	exec 8<&-
}

@test "H10 nothing survives with --share-pid either" {
	mkfifo alive
	cordon run -q --share-pid -- ./attack survive "$WORKDIR/alive" 3>&- &
	BACKGROUND+=("$!")
	exec 8<alive
	read -r line <&8
	assert_equal "$line" alive
	run timeout 20 cat <&8
	assert_success
	exec 8<&-
	wait "${BACKGROUND[-1]}"
}

@test "H10 with --share-pid, kill -9 of the supervisor: ends the tree, or is declared" {
	run cordon run --share-pid --capture --result "$SCRATCH/result" -- true
	jq -e '.degraded | index("survivors")' "$SCRATCH/result" && return
	mkfifo alive
	mkfifo wait
	"$CORDON" run -q --share-pid -- /bin/sh -c './attack survive alive; read -r x <wait' 3>&- &
	BACKGROUND+=("$!")
	exec 8<alive
	read -r line <&8
	kill -KILL "${BACKGROUND[-1]}"
	run timeout 5 cat <&8
	assert_success
	exec 8<&-
}

# --- environment --------------------------------------------------------------------

@test "secrets in the environment are not visible inside" {
	export GITHUB_TOKEN=$SECRET AWS_SECRET_ACCESS_KEY=$SECRET MY_API_KEY=$SECRET
	export DB_PASSWORD=$SECRET SSH_AUTH_SOCK=/run/$SECRET
	for profile in moderate strict permissive shell; do
		run cordon run -q -p $profile -- env
		assert_success
		refute_contains "$SECRET"
	done
	holds environ "$SECRET"
	FLAGS=(--share-pid)
	inside environ "$SECRET"
}

@test "neighbour: command lines and memory of cordon itself are not visible" {
	export GITHUB_TOKEN=$SECRET
	run cordon run -q -- /bin/sh -c 'cat /proc/1/environ /proc/1/mem 2>/dev/null; cat /proc/[0-9]*/cmdline'
	refute_contains "$SECRET"
}

# --- terminal -----------------------------------------------------------------------

# typed NAME: in a terminal, without and with a session of its own.
typed() {
	run ./attack pty "$WORKDIR/attack" "$1"
	[ "$status" -eq 0 ] || [ "$2" = anyway ] || fail "no teeth" "$(outcome)"
	for profile in $PROFILES; do
		run ./attack pty "$CORDON" run -q -p "$profile" -- ./attack "$1"
		assert_status 10
	done
	configure 'new_session = false'
	run ./attack pty "$CORDON" run -q -- ./attack "$1"
	assert_status 10
}

# The kernel may refuse it to all but root by itself.
typing_possible() {
	is_root || [ "$(cat /proc/sys/dev/tty/legacy_tiocsti 2>/dev/null)" = 1 ] || echo anyway
}

@test "H01 TIOCSTI" { typed sti "$(typing_possible)"; }
@test "H01 TIOCSTI on /dev/tty" { typed sti-tty "$(typing_possible)"; }
@test "H01 TIOCSTI after stealing the terminal" { typed sti-steal anyway; }
@test "H02 TIOCLINUX" { typed linux; }
@test "H03 TIOCSTI with high bits" { typed sti-high "$(typing_possible)"; }
@test "H03 TIOCLINUX with high bits" { typed linux-high; }
@test "neighbour: the line discipline of the terminal" { typed setd; }

# --- shared memory ------------------------------------------------------------------

@test "H34 System V shared memory of the host is not there" {
	local key=$((RANDOM + 70000))
	run ./attack shm-make $key
	assert_success
	inside shm-find $key
	bare shm-find $key
	run ./attack shm-remove $key
	assert_success
}

@test "H34 semaphores and message queues of the host are not there" {
	local kind key
	for kind in sem msg mq; do
		key=$((RANDOM + 70000))
		[ $kind != mq ] || key=/cordon-escape.$key
		run -0 ./attack ipc-make $kind "$key"
		inside ipc-find $kind "$key"
		inside ipc-remove $kind "$key"
		bare ipc-find $kind "$key"
		bare ipc-remove $kind "$key"
	done
}

@test "H34 /dev/shm, /run and /run/user are not the host's" {
	local file
	file=$(mktemp /dev/shm/cordon-escape.XXXXXX)
	echo "$SECRET" >"$file"
	inside read "$file"
	run --separate-stderr cordon run -q -- /bin/sh -c 'ls -A /run /dev/shm 2>/dev/null; :'
	assert_success
	rm -f "$file"
	[ $BACKEND = landlock ] || assert_output "$(printf '/dev/shm:\n\n/run:')"
	[ $BACKEND = native ] || assert_output ""
}

@test "H35 /proc/sys, sysrq and the like are not written" {
	for file in sys/kernel/core_pattern sys/kernel/hostname sys/vm/drop_caches sysrq-trigger \
		sys/net/ipv4/ip_forward irq/default_smp_affinity; do
		[ -e /proc/$file ] || continue
		inside write /proc/$file
	done
}

@test "H75 cgroup files and /sys are not written" {
	PROFILES=moderate
	for file in /sys/fs/cgroup/*/release_agent /sys/fs/cgroup/*/cgroup.procs \
		/sys/fs/cgroup/cgroup.procs /sys/fs/cgroup/*/notify_on_release \
		/sys/kernel/uevent_helper /sys/power/state; do
		[ -e "$file" ] || continue
		inside write "$file"
	done
	run cordon run -q -- /bin/sh -c 'mkdir /sys/fs/cgroup/cordon-escape || mkdir /sys/fs/cgroup/*/cordon-escape'
	[ "$status" -ne 0 ] || fail "a cgroup was made" "$(outcome)"
}

@test "H75 no child is born in a control group of the host" {
	is_root || skip "for root: others may not make one"
	GROUP=$(awk '$3 == "cgroup2" { print $2; exit }' /proc/mounts)/cordon-escape.$$
	mkdir "$GROUP" || lacking cgroup2 "no control group can be made here"
	inside clone-into "$GROUP"
	PROFILES=moderate inside clone-into "$GROUP"
	assert_contains clone3
	bare clone-into "$GROUP"
}

@test "neighbour: another user id is not taken" {
	inside setuid 12345
	if is_root; then
		bare setuid 12345
	fi
}

@test "H75 what is the machine's in /proc is not written, not even by root" {
	local files
	files=$(cd /proc && find sys/kernel/core_pattern sysrq-trigger irq bus acpi asound driver \
		dynamic_debug fs mtrr scsi -maxdepth 2 -type f -perm -u=w 2>/dev/null || :)
	[ -n "$files" ] || fail "nothing to try"
	# Opened and not written: nothing happens where the test fails.
	for profile in moderate strict; do
		# shellcheck disable=SC2086,SC2016 # words, for the shell inside
		run --separate-stderr cordon run -q -p $profile -- sh -c 'for f; do (: >>"/proc/$f") 2>/dev/null && echo "$f"; done; :' sh $files
		assert_status 0
		assert_output ""
	done
}

@test "what only root reads in /proc is hidden from root" {
	is_root || skip "for root: others may not read it"
	[ $BACKEND = native ] || skip "for native, which has a /proc of its own"
	for file in kcore kmsg slabinfo timer_list vmallocinfo; do
		[ -e /proc/$file ] || continue
		assert_equal "$(cordon run -q -- head -c 1 /proc/$file 2>/dev/null)" ""
	done
}
