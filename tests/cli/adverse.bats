#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
#
# A caller with little to give: limits, closed streams, a full disk, a bare root. cordon
# works, or says in one line why not; it never crashes and leaves nothing behind.
load helper

# works_or_says: the last run printed "works", or failed with a message of a stage.
works_or_says() {
	if [ "$status" -eq 0 ]; then
		assert_contains works
	else
		assert_status 125
		assert_matches '(^|'$'\n'')cordon: [a-z-]+: .+'
	fi
}

@test "few descriptors" {
	is_static || skip "the loader itself needs descriptors"
	local n
	for n in 4 5 6 7 8 10 12 14 16 20 24 32; do
		run prlimit --nofile=$n:$n "$CORDON" -q run -- echo works
		works_or_says
	done
	run -0 prlimit --nofile=64:64 "$CORDON" -q run -- echo works
}

@test "few processes" {
	is_root && skip "the limit does not count for root"
	local n
	for n in 1 2 3 4 8; do
		run prlimit --nproc=$n:$n "$CORDON" -q run -- /bin/echo works
		works_or_says
	done
}

@test "little address space" {
	readelf -sW "$CORDON" | grep -q __asan_init && skip "sanitizers need terabytes"
	local kib=1200 least said=0
	# Below that the kernel itself cannot start the program.
	until prlimit --as=$((kib * 1024)) "$CORDON" version >/dev/null 2>&1; do
		((kib += 40, kib < 100000)) || fail "it never starts"
	done
	least=$kib
	for ((; kib < least + 1000; kib += 40)); do
		run prlimit --as=$((kib * 1024)) "$CORDON" -q run --dry-run -- true
		[ "$status" -eq 0 ] || works_or_says
		[[ $output != *"out of memory"* ]] || said=1
	done
	[ $said = 1 ] || fail "memory never ran out"
}

@test "no file may grow: the command runs, the result is an error and no half file" {
	run -0 bash -c 'prlimit --fsize=0 "$1" -q run -- echo works | cat' - "$CORDON"
	assert_output works
	prlimit --fsize=0 "$CORDON" run --result "$SCRATCH/result" -- true 2>&1 | cat >"$SCRATCH/said" || true
	run -0 cat "$SCRATCH/said"
	assert_contains "cordon: result: --result"
	assert_contains "File too large"
	run -0 ls -A "$SCRATCH"
	refute_contains result
}

@test "the limit of file size still ends the command" {
	run bash -c 'prlimit --fsize=0 "$1" -q run -- dd if=/dev/zero of=file bs=1 count=1 2>&1 | cat; exit "${PIPESTATUS[0]}"' - "$CORDON"
	assert_status 153
}

@test "streams that are closed, in every combination" {
	local i
	for i in 0 1 2 3 4 5 6 7; do
		run bash -c '
			[ $(($2 & 1)) = 0 ] || exec <&-
			[ $(($2 & 2)) = 0 ] || exec >&-
			[ $(($2 & 4)) = 0 ] || exec 2>&-
			exec "$1" -q run -- sh -c "ls /proc/self/fd | wc -l >fds; exit 7"' - "$CORDON" $i
		assert_status 7
		run -0 cat fds
		# 0, 1, 2 and the directory that ls reads.
		assert_equal "$((output))" 4
	done
}

@test "a hundred descriptors of the caller stay outside" {
	cat >open.py <<-'END'
		import os, sys
		fds = [os.open("/", os.O_RDONLY), os.pidfd_open(os.getpid()), *os.pipe()]
		fds += [os.open("/etc/passwd", os.O_RDONLY) for _ in range(100)]
		for fd in fds:
		    os.set_inheritable(fd, True)
		os.dup2(fds[0], 900, inheritable=True)
		os.execv(sys.argv[1], sys.argv[1:])
	END
	local backend
	for backend in native bwrap; do
		run -0 python3 open.py "$CORDON" -q run --backend $backend -- sh -c 'ls /proc/self/fd'
		assert_output "$(printf '0\n1\n2\n3')"
		run -0 python3 open.py "$CORDON" -q run --backend $backend -- sh -c 'ls /proc/$$/fd'
		assert_output "$(printf '0\n1\n2')"
	done
}

refute_line() {
	! printf '%s\n' "${lines[@]}" | grep -qx "$1" || fail "not wanted as a line: $1" "$(outcome)"
}

# in_private_mounts SCRIPT ARG...: in a mount namespace of its own.
in_private_mounts() {
	unshare -m --propagation private bash -euc "$@"
}

@test "a full disk as workdir: the command runs, the result is an error and no half file" {
	is_root || skip "needs to mount"
	# shellcheck disable=SC2016 # for the inner shell
	run in_private_mounts '
		mount -t tmpfs -o size=64k tmpfs "$2"
		cd "$2"
		dd if=/dev/zero of=fill bs=4k 2>/dev/null || true
		"$1" -q run -- sh -c "echo works; ! echo x >more"
		"$1" -q run --result "$2/result" -- echo ran || echo "status $?"
		ls -A "$2"' - "$CORDON" "$WORKDIR"
	assert_success
	assert_contains works
	assert_contains "cordon: result: --result"
	assert_contains "No space left on device"
	assert_contains "status 125"
	refute_contains .cordon-result
	refute_line result
}

@test "a home that is full or read-only: the command runs, what is lost is said, nothing is half" {
	is_root || skip "needs to mount"
	local how
	mkdir "$SCRATCH/own"
	for how in size=64k,mode=700 ro,mode=700; do
		# shellcheck disable=SC2016
		run in_private_mounts '
			mount -t tmpfs -o "$3" tmpfs "$2"
			dd if=/dev/zero of="$2/fill" bs=4k 2>/dev/null || true
			ls -A "$2" >before
			export CORDON_HOME=$2
			"$1" run --tmp shared -- sh -c "echo works; echo x >/etc/cordon-test"  || echo "status $?"
			"$1" explain --last
			"$1" cache list
			"$1" cache clear
			"$1" quarantine list
			ls -A "$2" | diff before -' - "$CORDON" "$SCRATCH/own" "$how"
		assert_success
		assert_contains works
		assert_contains "status 2"
		assert_contains "not on record for 'cordon explain --last': "
		assert_contains "no run with a refused action is on record"
		assert_contains "no project has private caches"
		assert_contains "nothing is in quarantine"
	done
}

@test "without HOME, or with one that is not there, the command runs" {
	run -0 env -u HOME CORDON_HOME="$SCRATCH/own" "$CORDON" run -q -- echo works
	assert_output works
	run -0 env HOME="$SCRATCH/absent" CORDON_HOME="$SCRATCH/own" "$CORDON" run -q -- echo works
	assert_output works
	# Nor is that home made for what cordon would keep in it.
	run -0 env HOME="$SCRATCH/absent" "$CORDON" run -q --tmp shared -- echo works
	assert_output works
	refute_file "$SCRATCH/absent"
}

@test "a root without /proc, /dev or /tmp" {
	is_static || skip "needs the static program"
	is_root || skip "needs to mount"
	local have
	for have in '' proc 'proc dev' 'dev tmp'; do
		# shellcheck disable=SC2016
		run in_private_mounts '
			mount -t tmpfs tmpfs "$2"
			mkdir "$2/bin" "$2/w" "$2/old"
			cp "$1" "$2/bin/cordon"
			for place in $3; do
				mkdir "$2/$place"
				mount --rbind "/$place" "$2/$place"
			done
			cd "$2"
			pivot_root . old
			exec /bin/cordon -q run --workdir /w -- /bin/cordon version 2>&1' \
			- "$CORDON" "$WORKDIR" "$have"
		[ "$status" -ne 0 ] || assert_contains "cordon "
		[ "$status" -eq 0 ] || assert_matches 'cordon: [a-z-]+: .+'
		[ "$status" -eq 0 ] || assert_status 125
	done
}

@test "in a chroot the reason is given" {
	is_root || skip "needs chroot"
	mkdir -p root/bin root/w root/proc
	cp "$CORDON" root/bin/cordon
	is_static || skip "needs the static program"
	# Without /proc it cannot be told what is mounted, and so not what is closed.
	run -125 env HOME=/w chroot root /bin/cordon -q run --workdir /w --backend native -- /bin/cordon version
	assert_contains "cannot read /proc/self/mountinfo"
	run -125 unshare -m sh -c 'mount -t proc proc root/proc && exec env HOME=/w chroot root \
		/bin/cordon -q run --workdir /w --backend native -- /bin/cordon version'
	assert_contains "cannot create a process for"
	assert_contains chroot
}

@test "bubblewrap: what cannot be executed, with a pipe and without" {
	is_static || skip "needs the static program"
	cordon run -q --backend bwrap true || must_or_skip "bubblewrap does not work here"
	printf '#!/no/such/interpreter\n' >script
	echo 'echo "runs: $#"' >text
	chmod +x script text
	run -127 cordon run -q --backend bwrap ./script < <(:)
	assert_contains "cannot execute $WORKDIR/script: No such file or directory"
	assert_contains "hint: the file is there: the interpreter in its #! line"
	run -127 bash -c '"$0" run -q --backend bwrap ./script </dev/null >said' "$CORDON"
	assert_contains "hint: the file is there: the interpreter in its #! line"
	run -0 cordon run -q --backend bwrap ./text a b < <(:)
	assert_output "runs: 2"
	run -0 bash -c '"$0" run -q --backend bwrap ./text a b <&- >said; cat said' "$CORDON"
	assert_output "runs: 2"
	run -125 cordon --inside 0
	assert_contains "cannot put the command's pipes in place"
}
