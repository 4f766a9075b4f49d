#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# shellcheck disable=SC2154
#
# The landlock backend, and how cordon comes to it where namespaces are not to be had.
load helper

setup() {
	cordon_setup
	mkdir "$SCRATCH/bin" "$SCRATCH/open"
	cp "$CORDON" "$SCRATCH/bin/cordon"
	NESTED=$SCRATCH/bin/cordon
	# The scratch directory is in one that profiles make private; inside, a home is
	# named that is there.
	SEE=(--allow-read "$SCRATCH/bin" --allow-exec "$SCRATCH/bin" --allow-read "$SCRATCH/open")
	LANDLOCK=(run -q --backend landlock --fallback degrade "${SEE[@]}")
}

@test "what it loses is named, and refused unless accepted" {
	run cordon run --backend landlock -- true
	assert_status 125
	assert_contains "cannot promise 'processes'"
	run -0 cordon run --json --backend landlock --fallback degrade -- true
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.backend == "landlock"'
	assert_json '.degraded | contains(["processes", "metadata", "survivors"])'
	assert_json '.enforced | contains(["files", "network", "privileges", "unix-sockets", "ipc"])'
}

@test "reads and writes follow the policy" {
	mkdir "$SCRATCH/denied"
	echo secret >"$SCRATCH/denied/file"
	echo public >"$SCRATCH/open/file"
	run -0 cordon "${LANDLOCK[@]}" --deny "$SCRATCH/denied" -- sh -c '
		cat "$1/open/file"; cat "$1/denied/file"; ls "$1/denied"; echo x >"$1/open/new"
		echo mine >here; cat here' - "$SCRATCH"
	assert_contains public
	assert_contains mine
	refute_contains secret
	refute_file "$SCRATCH/open/new"
	assert_equal "$(<here)" mine
}

@test "a denied file that is replaced by rename on the host stays closed" {
	mkfifo "$SCRATCH/work/go" "$SCRATCH/work/ready"
	echo old >"$SCRATCH/open/secret"
	cordon "${LANDLOCK[@]}" --deny "$SCRATCH/open/secret" -- sh -c '
		echo >ready; read -r _ <go; cat "$1/open/secret"' - "$SCRATCH" >out 2>&1 3>&- &
	read -r _ <ready
	echo replaced >"$SCRATCH/open/next"
	mv "$SCRATCH/open/next" "$SCRATCH/open/secret"
	echo >go
	run wait $!
	run cat out
	assert_contains "Permission denied"
	refute_contains replaced
}

@test "a rule inside a writable tree cannot be kept, so it is not claimed" {
	mkdir private
	run cordon run --json --backend landlock --fallback degrade --deny "$WORKDIR/private" -- true
	assert_success
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.degraded | index("files")'
	assert_json '.enforced | index("files") | not'
}

@test "without a broker naming one unix socket opens all, so that is not claimed" {
	python3 -c 'import socket, sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])' s
	run -0 cordon run --json --backend landlock --fallback degrade --allow-unix "$WORKDIR/s" -- true
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.degraded | index("unix-sockets")'
}

@test "a private /tmp is a directory of the run in TMPDIR, and gone afterwards" {
	run -0 cordon "${LANDLOCK[@]}" -- sh -c '
		ls /tmp; echo x >/tmp/cordon-landlock-test
		mkdir -p "$TMPDIR/a/b/c"; echo x >"$TMPDIR/a/b/c/d"; chmod 0 "$TMPDIR/a/b"
		stat -c %a "$TMPDIR"; echo "$TMPDIR"'
	assert_contains "Permission denied"
	assert_contains 700
	refute_file /tmp/cordon-landlock-test
	[[ ${lines[-1]} == */cordon-?????? ]] || fail "no directory of the run: ${lines[-1]}"
	refute_file "${lines[-1]}"
}

@test "what is written in a TMPDIR of one's own is not told as refused, wherever that lies" {
	mkdir "$SCRATCH/open/t"
	for flags in "" "--on-violation kill" "--report all --on-violation kill" "--protect exact"; do
		# shellcheck disable=SC2086 # words
		TMPDIR=$SCRATCH/open/t run cordon "${LANDLOCK[@]}" $flags -- sh -c 'cd "$TMPDIR" && echo x >x &&
			mkdir -p d/e .claude .git/hooks && mv x d && cat d/x && rmdir d/e'
		assert_status 0
		refute_contains "refused:"
	done
	TMPDIR=$SCRATCH/open/t run cordon run --backend landlock --fallback degrade -- sh -c 'echo x >"$TMPDIR/../x"'
	assert_contains "refused: writing $SCRATCH/open/t/x (sh, seen at the system call)"
	refute_file "$SCRATCH/open/t/x"
}

@test "what is too deep to recurse into is removed, too" {
	run -0 cordon "${LANDLOCK[@]}" -- python3 -c '
import os
os.chdir(os.environ["TMPDIR"])
for i in range(3000):
    os.mkdir("d")
    os.chdir("d")
    open("f", "w").close()
print(os.environ["TMPDIR"])'
	refute_file "${lines[-1]}"
}

@test "no capability is left, and none can be had" {
	run -0 cordon "${LANDLOCK[@]}" -- grep -E 'Cap(Prm|Eff|Amb)|NoNewPrivs' /proc/self/status
	assert_matches 'CapPrm:.0+.CapEff:.0+.CapAmb:.0+.NoNewPrivs:.1'
}

@test "cordon inside cordon: landlock, declared" {
	run -0 cordon run -q "${SEE[@]}" -- env HOME=/usr "$NESTED" run --json --fallback degrade -- echo inner
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.backend == "landlock" and .stdout == "inner\n"'
	assert_json '.degraded | index("processes")'
}

@test "cordon inside cordon is refused when nothing may be lost" {
	run cordon run -q "${SEE[@]}" -- env HOME=/usr "$NESTED" run -- true
	assert_status 125
	assert_contains "forbids namespaces"
	assert_contains "already inside cordon; --fallback degrade"
}

@test "16 sandboxes inside each other, and a clear end" {
	cat >"$SCRATCH/bin/deep" <<-'SCRIPT'
		[ "$2" -gt 0 ] || { echo bottom; exit; }
		exec "$1" run -q --backend landlock --fallback degrade --allow-read "${0%/*}" \
			--allow-exec "${0%/*}" -- /bin/sh "$0" "$1" $(($2 - 1))
	SCRIPT
	run -0 --separate-stderr sh "$SCRATCH/bin/deep" "$NESTED" 16
	assert_output bottom
	run sh "$SCRATCH/bin/deep" "$NESTED" 17
	assert_status 125
	assert_contains "too many sandboxes inside each other"
}

# A user namespace in which no other can be made.
no_more_namespaces() {
	unshare -Ur sh -c 'echo 0 >/proc/sys/user/max_user_namespaces && exec "$@"' - "$@"
}

@test "no user namespaces: the next backend is chosen, and the result says which" {
	unshare -Ur true || must_or_skip "no user namespaces to begin with"
	run -0 no_more_namespaces "$NESTED" run --json --fallback degrade -- echo ran
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.backend == "landlock" and .stdout == "ran\n"'
	run no_more_namespaces "$NESTED" run -- true
	assert_status 125
	assert_contains "needs userns"
	assert_contains "No space left on device"
}

@test "in a chroot: the same" {
	is_root || skip "needs root"
	mkdir "$SCRATCH/root"
	run unshare -m sh -c 'mount --rbind / "$1/root" &&
		exec chroot "$1/root" sh -c "cd \"$1/work\" && exec \"$1/bin/cordon\" run --json \
			--fallback degrade -- echo ran"' - "$SCRATCH"
	assert_success
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.backend == "landlock" and .stdout == "ran\n"'
}

@test "a backend asked for by name is not replaced" {
	unshare -Ur true || must_or_skip "no user namespaces to begin with"
	run no_more_namespaces "$NESTED" run --backend native --fallback degrade -- true
	assert_status 125
	assert_contains "the native backend needs userns"
}

@test "processes shared by policy are not a loss" {
	run -0 cordon run --json --share-pid -- test -d "/proc/$$"
	output=$(sed -n '/^{/,$p' <<<"$output")
	assert_json '.backend == "native"'
}

@test "a size for /tmp is not claimed where there is no /tmp of its own" {
	run --separate-stderr cordon run --backend landlock --fallback degrade --tmp-size 8M true
	[[ $stderr == *"not enforced by landlock:"*"limits of tmp_size (REQUIRED)"* ]] || fail "$(outcome)"
	run --separate-stderr cordon run --backend landlock --fallback degrade true
	[[ $stderr != *limits* ]] || fail "$(outcome)"
	run --separate-stderr cordon run --backend landlock --fallback degrade --tmp-size 8M \
		--dry-run true
	assert_contains "MISSING: limits of tmp_size (no limit)"
}

@test "a write to the /tmp that is closed is told, and explain says the same" {
	local strength
	for strength in guard exact; do
		run cordon run --backend landlock --fallback degrade --protect $strength -- \
			sh -c 'echo x >/tmp/cordon-landlock-test'
		assert_contains "refused: writing /tmp/cordon-landlock-test (sh, seen at the system call): /tmp is the host's here, and closed: TMPDIR names"
		assert_contains "to allow it: --tmp shared"
		refute_file /tmp/cordon-landlock-test
		run cordon run --backend landlock --fallback degrade --protect $strength -- \
			sh -c 'echo x >"$TMPDIR/x"'
		assert_status 0
		refute_contains "refused:"
	done
	run -0 cordon explain --backend landlock --fallback degrade --write /tmp/cordon-landlock-test
	assert_contains "write   denied   /tmp is the host's here, and closed"
	assert_contains "enforced by landlock"
	run -0 cordon explain --backend landlock --fallback degrade --tmp shared --write /tmp/cordon-landlock-test
	assert_contains "write   allowed"
}

@test "a network that is off is told where not even a socket can be made" {
	local strength family
	for strength in guard exact; do
		for family in AF_INET AF_INET6; do
			run cordon run --backend landlock --fallback degrade --protect $strength -- python3 -c "
import socket
try: socket.socket(socket.$family, socket.SOCK_DGRAM)
except PermissionError as e: print('errno', e.errno)"
			assert_contains "errno 13"
			assert_contains "refused: connecting to the network (python3, seen at the system call): network off, and on this backend localhost, too [profile moderate:"
			assert_contains "to allow it: --allow-network=on"
		done
	done
	run cordon run -q --backend landlock --fallback degrade --on-violation kill -- \
		python3 -c 'import socket; socket.socket(); print("went on")'
	assert_status 125
	refute_contains "went on"
}

@test "without a listener there is no socket either" {
	run cordon run -q --backend landlock --fallback degrade --report none --protect off -- \
		python3 -c 'import socket; socket.socket()'
	assert_status 1
	assert_contains "PermissionError"
}

@test "control files that exist are guarded, although they cannot be promised" {
	git init -q .
	git config user.email a@b.invalid && git config user.name n
	cp .git/config before
	run cordon run --backend landlock --fallback degrade -- sh -c '
		echo >.git/hooks/pre-commit; (cd .git/hooks && echo >post-commit); echo >>.git/config
		rm -f .git/config; mv .git g2; echo x >a; git add a; git commit -qm a && echo committed'
	assert_contains "refused: writing $WORKDIR/.git/hooks/pre-commit (sh, seen by the guard)"
	assert_contains "refused: writing $WORKDIR/.git/hooks/post-commit (sh, seen by the guard)"
	assert_contains "refused: writing $WORKDIR/.git/config (sh, seen by the guard"
	assert_contains committed
	assert_contains "files (REQUIRED)"
	refute_file .git/hooks/pre-commit
	refute_file .git/hooks/post-commit
	cmp before .git/config
	run -0 cordon "${LANDLOCK[@]}" --protect off -- sh -c 'echo >.git/hooks/pre-commit'
	assert_file .git/hooks/pre-commit
}

# Without its capabilities it cannot come to what lies beside the socket, and need not.
@test "root beside a socket of somebody else's in a closed directory" {
	is_root || skip "for root"
	mkdir -p "$SCRATCH/theirs/work" "$SCRATCH/theirs/beside"
	coproc server {
		exec python3 -uc 'import socket, sys
s = socket.socket(socket.AF_UNIX)
s.bind(sys.argv[1])
s.listen()
print("listens")
sys.stdin.read()' "$SCRATCH/theirs/work/socket"
	}
	read -r _ <&"${server[0]}"
	chown -R 12345 "$SCRATCH/theirs"
	chmod 700 "$SCRATCH/theirs"
	run cordon "${LANDLOCK[@]}" --allow-read "$SCRATCH/theirs" -- sh -c 'echo ran; ls "$1"' sh "$SCRATCH/theirs"
	assert_contains ran
	refute_contains beside
	kill "$server_PID"
	wait
}
