#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Set-up and trust: H78 to H80. What is missing must stop the run, not weaken it.

load helper

# without LIMIT: cordon where the kernel gives no more namespaces of a kind. A user
# namespace around it lets a plain user set that.
without() {
	run unshare --user --map-root-user --mount sh -c '
		echo 0 >/proc/sys/user/$1 || exit 99
		shift; exec "$@"' sh "$@"
}

refused() {
	unshare --user --map-root-user true 2>/dev/null || must_or_skip "no user namespaces"
	without max_net_namespaces ./attack nothing
	assert_status 42
	for profile in $PROFILES; do
		without "$1" "$CORDON" run -q -p "$profile" --backend native -- \
			./attack write-created "$WORKDIR/ran"
		assert_status 125
		[ -n "$output" ] || fail "refused without a word"
		refute_file ran
		# Whatever auto makes of it, the secret stays closed.
		without "$1" "$CORDON" run -q -p "$profile" -- ./attack read "$HOME/.netrc"
		[ "$status" -ne 0 ] || fail "$profile ran unconfined" "$(outcome)"
		refute_contains "$SECRET"
	done
}

@test "H78 no user namespaces" { refused max_user_namespaces; }
@test "H78 no mount namespaces" { refused max_mnt_namespaces; }
@test "H78 no pid namespaces" { refused max_pid_namespaces; }
@test "H78 no network namespaces" { refused max_net_namespaces; }

@test "H78 no memory for the set-up, no descriptors: no exec" {
	for files in 3 4 5 6 8 10 12; do
		run sh -c "ulimit -n $files; exec '$CORDON' run -q -- ./attack write-created ran"
		[ "$status" -ne 0 ] || continue
		refute_file ran
		rm -f ran
	done
	run cordon run -q -- ./attack write-created ran
	assert_success
}

@test "H78 a command that is not there, a workdir that is not there" {
	run -127 cordon run -q -- ./absent
	run cordon run -q -C "$WORKDIR/absent" -- ./attack write-created "$WORKDIR/ran"
	assert_status 125
	refute_file ran
}

@test "H79 the program is neither setuid nor has it file capabilities" {
	[ ! -u "$CORDON" ]
	[ ! -g "$CORDON" ]
	command -v getcap >/dev/null || PATH=$PATH:/sbin:/usr/sbin
	assert_equal "$(getcap "$CORDON" 2>/dev/null)" ""
}

@test "H79 a setuid copy of cordon does not lend its rights" {
	is_root || skip "needs two users"
	# Started by somebody else, with our rights: what it does must be theirs.
	cp "$CORDON" setuid
	chmod 4755 setuid
	chmod 755 "$SCRATCH" "$WORKDIR"
	echo "$SECRET" >"$SCRATCH/root-only"
	chmod 600 "$SCRATCH/root-only"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent \
		./setuid run -q -C "$WORKDIR" -- /bin/cat "$SCRATCH/root-only"
	[ "$status" -ne 0 ] || fail "read" "$(outcome)"
	refute_contains "$SECRET"
	run setpriv --reuid 65534 --regid 65534 --clear-groups env HOME=/nonexistent \
		./setuid run -q --no-sandbox -C "$WORKDIR" -- /bin/cat "$SCRATCH/root-only"
	[ "$status" -ne 0 ] || fail "read without a sandbox" "$(outcome)"
	refute_contains "$SECRET"
}

# A project file that wants more than to narrow is an error before anything runs.
@test "H80 a project file sets neither environment, sockets, fallback nor the switch" {
	for line in 'enabled = false' 'fallback_on_unavailable = "passthrough"' \
		'env = { set = { LD_PRELOAD = "/x.so" } }' 'env = { pass = ["*"] }' \
		'unix = ["/run/docker.sock"]' 'bind = [80]' 'report = "none"' 'mode = "rwx"'; do
		printf '[sandbox]\n%s\n' "$line" >.cordon.toml
		run cordon run -q -- ./attack write-created ran
		[ "$status" -eq 125 ] || fail "$line" "$(outcome)"
		refute_file ran
	done
}

@test "H80 nothing of the repository is executed by cordon itself" {
	mkdir -p .git/hooks bin
	echo 'ref: refs/heads/main' >.git/HEAD
	cat >.git/config <<-END
		[core]
			fsmonitor = touch $OUTSIDE/ran
			hooksPath = $WORKDIR/bin
			sshCommand = touch $OUTSIDE/ran
		[include]
			path = $HOME/.netrc
	END
	printf '#!/bin/sh\ntouch %s/ran\n' "$OUTSIDE" | tee bin/git bin/sh bin/env >/dev/null
	chmod +x bin/*
	PATH=$WORKDIR/bin:$PATH run cordon run -q -- ./attack nothing
	assert_status 42
	PATH=$WORKDIR/bin:.:$PATH run cordon explain "$WORKDIR"
	refute_file "$OUTSIDE/ran"
}

@test "neighbour: a project file that is a link, a device or endless is no way in" {
	for target in /dev/zero "$HOME/.netrc" /proc/self/environ; do
		ln -sf "$target" .cordon.toml
		run timeout 20 "$CORDON" run -q -- ./attack nothing
		[ "$status" -ne 124 ] || fail "cordon read for ever: $target"
		refute_contains "$SECRET"
	done
	rm .cordon.toml
	mkfifo .cordon.toml
	run timeout 20 "$CORDON" run -q -- ./attack nothing
	[ "$status" -ne 124 ] || fail "cordon waits for a FIFO of the repository"
}
