#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Path tricks: H12 to H19, H33, H36, H38 to H40, and secrets replaced while a run goes on.

load helper

# --- reading what is denied ---------------------------------------------------------

@test "secrets are not read by open, openat2, O_PATH or mmap" {
	for way in read read-openat2 read-reopened read-mapped; do
		for file in .ssh/id .netrc .config/gh/hosts.yml; do
			holds $way "$HOME/$file"
		done
	done
}

@test "strict reads nothing of home, nothing beside the workdir" {
	PROFILES='strict shell'
	FLAGS=(--allow-exec "=$ATTACK_PATH")
	holds read "$HOME/notes/plain"
	holds read "$HOME/.bashrc"
	holds read "$OUTSIDE/file"
	PROFILES=custom
	FLAGS+=(--allow-read "=$ATTACK_PATH")
	holds read "$HOME/notes/plain"
}

@test "H12 /proc/self/root as another name of a secret" {
	holds read "/proc/self/root$HOME/.ssh/id"
	holds read "/proc/self/root$HOME/.netrc"
	holds read "/proc/thread-self/root$HOME/.netrc"
}

@test "H12 /proc/1/root leads nowhere" {
	inside read "/proc/1/root$HOME/.ssh/id"
	inside read /proc/1/root/etc/passwd
}

@test "H12 /proc/self/cwd and dots" {
	holds read /proc/self/cwd/../home/.netrc
	holds read ../work/../home/.ssh/id
	holds read "$WORKDIR/../home/.ssh/../.netrc"
}

@test "H12 /dev/fd and /proc/self/fd of a directory above" {
	exec 7<"$HOME"
	run ./attack read /dev/fd/7/.netrc
	assert_success
	inside read /dev/fd/7/.netrc
	inside read /proc/self/fd/7/.netrc
}

@test "H13 a symlink in the workdir to a secret" {
	ln -s "$HOME/.ssh" keys
	ln -s "$HOME/.netrc" rc
	holds read keys/id
	holds read rc
}

@test "H13 writing through a symlink to outside" {
	ln -s "$OUTSIDE" out
	ln -s "$OUTSIDE/file" outfile
	ln -s "$HOME/.bashrc" rc
	for way in write write-openat2 write-creat; do
		inside $way out/file
		inside $way outfile
		inside $way rc
	done
	inside write-created out/new
	refute_file "$OUTSIDE/new"
	assert_equal "$(cat "$OUTSIDE/file" "$HOME/.bashrc")" "$SECRET"$'\n'"$SECRET"
	bare write out/file
}

@test "H13 a dangling symlink does not create its target outside" {
	ln -s "$OUTSIDE/new" dangling
	inside write-created dangling
	refute_file "$OUTSIDE/new"
	bare write-created dangling
}

@test "H13 a control name that is a symlink opens nothing (repository from a stranger)" {
	# Profiles name .vscode, .claude ... in the workdir; where those lead is up to
	# whoever made the repository.
	PROFILES='strict shell'
	FLAGS=(--allow-exec "=$ATTACK_PATH")
	for name in .vscode .claude .idea; do
		ln -s "$HOME/notes" $name
		inside read "$HOME/notes/plain"
		inside read $name/plain
		rm $name
	done
	ln -s "$HOME" .git
	mkdir "$HOME/hooks"
	echo "$SECRET" >"$HOME/hooks/x"
	echo "$SECRET" >"$HOME/config"
	inside read "$HOME/hooks/x"
	inside read "$HOME/config"
}

@test "H13 a control name that is a symlink makes nothing writable" {
	PROFILES='moderate strict permissive'
	mkdir "$OUTSIDE/dir"
	echo x >"$OUTSIDE/dir/file"
	for name in .vscode .git .claude/settings.json; do
		[ $name = "${name%/*}" ] || mkdir -p "${name%/*}"
		ln -s "$OUTSIDE/dir" $name
		inside write "$OUTSIDE/dir/file"
		inside write $name/file
		rm $name
	done
	bare write "$OUTSIDE/dir/file"
}

@test "H13 a gitdir file of the repository opens nothing outside it" {
	# .git as a file names the real git directory: here, home.
	mkdir -p "$HOME/objects" "$HOME/refs"
	echo 'ref: refs/heads/main' >"$HOME/HEAD"
	echo "gitdir: $HOME" >.git
	inside write "$HOME/notes/plain"
	inside read "$HOME/.netrc"
	inside write-created "$HOME/new"
	bare write "$HOME/notes/plain"
}

# --- changing what is protected -----------------------------------------------------

repository() {
	mkdir -p .git/hooks .git/objects .git/refs
	echo 'ref: refs/heads/main' >.git/HEAD
	echo '[core]' >.git/config
	echo '#!/bin/sh' >.git/hooks/pre-commit
	echo '{}' >.mcp.json
	echo '' >.cordon.toml
}

@test "control files that exist are not changed, whatever the call" {
	repository
	with_broker files
	PROFILES='moderate permissive'
	for way in write write-openat2 write-creat write-reopened truncate unlink; do
		for file in .git/hooks/pre-commit .git/config .mcp.json .cordon.toml; do
			inside $way $file
		done
	done
	PROFILES=permissive
	inside write "$HOME/.bashrc"
	inside unlink "$HOME/.bashrc"
	bare write .git/config
}

@test "H18 every call that renames, onto a protected name and away from it; truncate, unlink, rmdir" {
	local call file
	repository
	with_broker files
	mkdir -p "$HOME/.ssh/empty"
	echo evil >mine
	for call in rename rename-at; do
		for file in .git/config .git/hooks/pre-commit .mcp.json "$HOME/.netrc" "$HOME/.bashrc"; do
			inside $call mine $file
			inside $call $file stolen
		done
	done
	for file in .git/config .mcp.json "$HOME/.netrc"; do
		inside rename-new $file stolen
		inside exchange mine $file
		inside exchange $file mine
		inside truncate $file
		inside unlink $file
	done
	inside rename-new mine "$HOME/.aws"
	inside rmdir "$HOME/.ssh/empty"
	refute_file stolen
	refute_file "$HOME/.aws"
	assert_equal "$(cat mine .git/config "$HOME/.netrc")" evil$'\n[core]\n'"$SECRET"
	bare rename-at .mcp.json stolen
	bare rename-new stolen .mcp.json
	bare exchange mine .mcp.json
	bare rmdir "$HOME/.ssh/empty"
}

@test "H15 an ancestor of a protected path is not moved away" {
	repository
	mkdir other other/hooks
	PROFILES='moderate permissive strict'
	inside rename .git moved
	inside rename .git/hooks .git/h2
	inside exchange .git other
	inside exchange .git/hooks other/hooks
	inside rename other/hooks .git/hooks
	assert_file .git/hooks/pre-commit
	bare rename .git moved
}

@test "H15 an ancestor of a denied path is not moved away" {
	with_broker files
	mkdir -p a/b/private
	echo "$SECRET" >a/b/private/key
	FLAGS+=(--deny a/b/private)
	inside read a/b/private/key
	inside rename a moved
	inside rename a/b a/moved
	inside rename a/b/private a/b/moved
	bare rename a moved
}

@test "H15 the workdir is not moved away, nor is home" {
	PROFILES='moderate permissive'
	inside rename "$WORKDIR" "$SCRATCH/moved"
	inside rename "$HOME" "$SCRATCH/moved"
}

@test "H15 in a writable home the parents of secrets stay where they are" {
	with_broker files
	PROFILES=permissive
	mkdir -p "$HOME/.cargo"
	echo "$SECRET" >"$HOME/.cargo/credentials"
	inside read "$HOME/.cargo/credentials"
	inside rename "$HOME/.cargo" "$HOME/moved"
	inside rename "$HOME/.ssh" "$HOME/moved"
	inside rename "$HOME/.netrc" "$HOME/moved"
	inside rename "$HOME/notes/plain" "$HOME/.netrc"
	inside exchange "$HOME/notes/plain" "$HOME/.bashrc"
	bare rename "$HOME/.cargo" "$HOME/moved"
}

@test "H17 no hard link of a secret or of a read-only file" {
	repository
	PROFILES='moderate permissive'
	for way in link link-fd; do
		inside $way "$HOME/.netrc" stolen
		inside $way "$HOME/.bashrc" stolen
		inside $way .git/config stolen
		inside $way "$HOME/.ssh/id" stolen
	done
	refute_file stolen
	bare link "$HOME/.netrc" stolen
}

@test "H33 mode, owner, attributes and times of what may only be read" {
	with_broker metadata
	repository
	for way in chmod fchmod chown setxattr utimes; do
		PROFILES=moderate
		inside $way "$HOME/notes/plain"
		inside $way "$HOME/.netrc"
		PROFILES='moderate permissive'
		inside $way .git/config
		inside $way "$HOME/.bashrc"
	done
	bare chmod "$HOME/notes/plain"
	bare utimes "$HOME/notes/plain"
}

@test "neighbour: the host's device nodes keep mode, owner and times" {
	# 0666 is what they have: nothing is lost should it succeed.
	for backend in native bwrap; do
		[ $backend = native ] || PROFILES=moderate
		FLAGS=(--backend $backend)
		for node in null zero full random urandom tty; do
			inside chmod /dev/$node
			inside chown /dev/$node
			# To write to it, as everybody may, sets the time as well.
			[ $backend = bwrap ] && ! is_root || inside utimes /dev/$node
		done
	done
	if is_root; then
		bare chmod /dev/null
	fi
}

@test "neighbour: /etc and /usr, by every call" {
	with_broker metadata
	for way in write truncate unlink chmod chown utimes setxattr write-reopened; do
		inside $way /etc/passwd
		inside $way /usr/bin/env
	done
	inside write-created /etc/cordon-escape
	inside write-created /usr/bin/cordon-escape
}

# --- replaced while the run goes on -------------------------------------------------

# While the command waits inside, the host replaces a secret by rename; afterwards the
# command tries to read it.
replaced_meanwhile() {
	local profile=$1 read_path=$2
	shift 2

	mkfifo entered changed
	cordon run -q -p "$profile" "${FLAGS[@]}" -- /bin/sh -c '
		echo in >entered
		read -r line <changed
		./attack read "$1"; one=$?
		./attack read-reopened "$1"; two=$?
		echo "outcomes $one $two"' sh "$read_path" >"$SCRATCH/output" 2>&1 3>&- &
	BACKGROUND+=("$!")
	read -r line <entered
	"$@"
	echo go >changed
	wait "${BACKGROUND[-1]}"
	output=$(cat "$SCRATCH/output")
	rm -f entered changed
	refute_contains "$SECRET"
	assert_contains "outcomes 10 10"
}

replace_file() {
	echo "$SECRET" >"$1.new"
	mv "$1.new" "$1"
}

replace_dir() {
	cp -R "$1" "$1.new"
	mv "$1" "$1.old"
	mv "$1.new" "$1"
}

@test "a secret file replaced by rename on the host stays unreadable" {
	replaced_meanwhile moderate "$HOME/.netrc" replace_file "$HOME/.netrc"
	replaced_meanwhile strict "$HOME/.netrc" replace_file "$HOME/.netrc"
	bare read "$HOME/.netrc"
}

@test "a secret directory replaced by rename on the host stays unreadable" {
	replaced_meanwhile moderate "$HOME/.ssh/id" replace_dir "$HOME/.ssh"
	rm -rf "$HOME/.ssh.old"
	replaced_meanwhile strict "$HOME/.ssh/id" replace_dir "$HOME/.ssh"
	bare read "$HOME/.ssh/id"
}

@test "a secret of the system replaced by rename on the host stays unreadable for root" {
	is_root || skip "a plain user cannot read it to begin with"
	mkdir "$SCRATCH/etc"
	# An /etc that has no other path, in a mount namespace with the run in it.
	# shellcheck disable=SC2317 # called by replaced_meanwhile, in a shell of its own
	cordon() {
		exec unshare -m sh -c '
			mount -t tmpfs none "$1"
			cp -a /etc/passwd /etc/group /etc/hosts /etc/ld.so.cache "$1/"
			echo old >"$1/shadow"
			mount --bind "$1" /etc && umount "$1" && shift && exec "$@"' \
			sh "$SCRATCH/etc" "$CORDON" "$@"
	}
	# shellcheck disable=SC2317
	replace_there() {
		nsenter -t "${BACKGROUND[-1]}" -m sh -c '
			echo "$1" >/etc/shadow.new
			mv /etc/shadow.new /etc/shadow
			cat /etc/shadow' sh "$SECRET" >"$SCRATCH/replaced"
	}
	replaced_meanwhile moderate /etc/shadow replace_there
	[ "$(cat "$SCRATCH/replaced")" = "$SECRET" ] || fail "nothing was replaced"
}

@test "a secret that the host makes only during the run stays unreadable" {
	rm -rf "$HOME/.netrc" "$HOME/.aws"
	replaced_meanwhile moderate "$HOME/.netrc" replace_file "$HOME/.netrc"
	make_dir() {
		mkdir "$HOME/.aws"
		echo "$SECRET" >"$HOME/.aws/credentials"
	}
	replaced_meanwhile moderate "$HOME/.aws/credentials" make_dir
	bare read "$HOME/.aws/credentials"
}

@test "a secret replaced a second time, and by a hard link, stays unreadable" {
	again() {
		replace_file "$HOME/.netrc"
		ln "$HOME/notes/plain" "$HOME/.netrc.new"
		mv -f "$HOME/.netrc.new" "$HOME/.netrc"
		replace_file "$HOME/.netrc"
	}
	replaced_meanwhile moderate "$HOME/.netrc" again
}

# --- races at the start --------------------------------------------------------------

@test "H14 a directory swapped for a symlink while cordon starts" {
	mkdir -p sub "$OUTSIDE/dir"
	echo "$SECRET" >"$OUTSIDE/dir/file"
	echo x >sub/file
	ln -s "$OUTSIDE/dir" link
	background ./attack swap sub link
	for i in {1..150}; do
		# 125 is cordon noticing it.
		run cordon run -q --allow-read sub -- ./attack write "$OUTSIDE/dir/file"
		[ "$status" -eq 10 ] || [ "$status" -eq 125 ] || fail "round $i" "$(outcome)"
	done
	assert_equal "$(cat "$OUTSIDE/dir/file")" "$SECRET"
	kill -0 "$STARTED" || fail "nothing was swapped"
}

@test "H14 the parent of a protected file swapped while cordon starts" {
	mkdir -p .git/hooks "$OUTSIDE/git/hooks"
	echo x >.git/hooks/pre-commit
	echo x >"$OUTSIDE/git/hooks/pre-commit"
	ln -s "$OUTSIDE/git" other
	background ./attack swap .git other
	for i in {1..150}; do
		run cordon run -q -- ./attack write "$OUTSIDE/git/hooks/pre-commit"
		[ "$status" -eq 10 ] || [ "$status" -eq 125 ] || fail "round $i" "$(outcome)"
	done
	assert_equal "$(cat "$OUTSIDE/git/hooks/pre-commit")" x
	kill -0 "$STARTED" || fail "nothing was swapped"
}

# --- executing ----------------------------------------------------------------------

@test "H36 shell executes nothing from the workdir, /tmp or /dev/shm" {
	claimed exec -p shell || return 0
	cp attack copy
	PROFILES=shell
	FLAGS=(--allow-exec "=$ATTACK_PATH")
	for way in exec exec-empty-path exec-mapped; do
		holds $way ./copy
	done
	run cordon run -q -p shell "${FLAGS[@]}" -- /bin/sh -c \
		'for d in /tmp /dev/shm /var/tmp; do cp attack $d/x && $d/x nothing; echo "$d $?"; done'
	refute_contains " 42"
	assert_contains "/tmp 126"
}

@test "H36 the loader does not execute what may not be executed" {
	claimed exec -p shell || return 0
	local loader
	loader=$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* 2>/dev/null | head -n 1)
	[ -n "$loader" ] || must_or_skip "no glibc loader"
	cp /bin/true program
	run "$loader" ./program
	assert_success
	run cordon run -q -p shell -- /bin/sh -c '"$1" ./program || exit 3' sh "$loader"
	[ "$status" -eq 3 ] || fail "the loader executed it" "$(outcome)"
}

# Through its own descriptor, which keeps the mount of the host.
@test "H36 the loader does not execute what the command wrote to its own output" {
	local loader attack redirect
	loader=$(ls /lib64/ld-linux-*.so.* /lib/ld-linux-*.so.* 2>/dev/null | head -n 1)
	[ -n "$loader" ] || must_or_skip "no glibc loader"
	cp /bin/true program
	# In what is carried there is nothing to read, and the loader would wait for it.
	# shellcheck disable=SC2016 # for the shell inside
	attack='cat program >&$2; timeout $3 "$1" /proc/self/fd/$2 && : >executed'
	for redirect in '1 >out' '2 2>out' '1 1<>out' '2 >out 2>&1' '1 >>out'; do
		rm -f out executed
		eval "/bin/sh -c '$attack' sh '$loader' ${redirect/ / 30 }"
		[ -e executed ] || fail "the attack does not work without cordon: $redirect"
		rm -f out executed
		eval "'$CORDON' run -q -p shell -- /bin/sh -c '$attack' sh '$loader' ${redirect/ / 2 }" || true
		[ ! -e executed ] || fail "the loader executed it: $redirect"
	done
	run -125 bash -c '"$0" run -q -p shell -- "$1" /proc/self/fd/0 0<>program' "$CORDON" "$loader"
	assert_contains "<FILE"
}

@test "H36 shell: LD_PRELOAD from the workdir is not mapped" {
	claimed exec -p shell || return 0
	command -v gcc >/dev/null || must_or_skip "no compiler"
	echo 'void __attribute__((constructor)) x(void) { __builtin_puts("preload runs"); }' >p.c
	gcc -shared -fPIC -o p.so p.c
	run env LD_PRELOAD="$WORKDIR/p.so" /bin/true
	assert_contains "preload runs"
	run cordon run -q -p shell --env LD_PRELOAD="$WORKDIR/p.so" -- /bin/true
	refute_contains "preload runs"
}

@test "H36 shell: LD_AUDIT from the workdir is not mapped" {
	claimed exec -p shell || return 0
	command -v gcc >/dev/null || must_or_skip "no compiler"
	# By a call: it has a C library of its own, whose buffers nobody writes out.
	cat >a.c <<-'END'
		#include <unistd.h>
		unsigned la_version(unsigned v) { return write(1, "audit runs\n", 11) == 11 ? v : 0; }
	END
	gcc -shared -fPIC -o a.so a.c
	run env LD_AUDIT="$WORKDIR/a.so" /bin/true
	assert_contains "audit runs"
	run cordon run -q -p shell --env LD_AUDIT="$WORKDIR/a.so" -- /bin/true
	refute_contains "audit runs"
}

@test "H47 shell: a program is not executed from memory" {
	cp attack copy
	PROFILES=shell
	FLAGS=(--allow-exec "=$ATTACK_PATH")
	holds exec-memory ./copy
}

@test "H35 a setuid program gains nothing" {
	if is_root; then
		cp attack setuid
		chown 65534:65534 setuid
		chmod 6755 setuid
		run ./setuid identity
		assert_output "0 65534 0 65534"
		for profile in $PROFILES; do
			run --separate-stderr cordon run -q -p "$profile" -- ./setuid identity
			assert_output "0 0 0 0"
		done
	else
		[ -u /usr/bin/passwd ] || must_or_skip "no setuid program to try"
		# The day of the last change is only in the shadow file.
		local day='[0-9]+[-/][0-9]+[-/][0-9]+'
		run passwd -S
		assert_matches "$day"
		run cordon run -q -- passwd -S
		[[ ! $output =~ $day ]] || fail "it read the shadow file" "$(outcome)"
	fi
}

@test "H35 capabilities of a file are not gained" {
	is_root || skip "only root gives a file capabilities"
	local as=(setpriv --reuid 12345 --regid 12345 --clear-groups --inh-caps=-all)
	# CAP_NET_RAW, which cordon keeps for nobody; the plain user has none.
	gains_nothing() {
		run "$@" run -q -p "$profile" -- ./capable has-capability 13
		# Without namespaces the kernel does not even execute it.
		[ "$status" -eq 10 ] || [ "$status" -eq 126 ] || fail "$profile" "$(outcome)"
	}
	cp attack capable
	setcap cap_net_raw+ep capable || must_or_skip "a file cannot be given capabilities here"
	for profile in $PROFILES; do
		gains_nothing "$CORDON"
	done
	cp "$CORDON" "$SCRATCH/cordon"
	chmod 755 "$SCRATCH" "$WORKDIR" "$SCRATCH/cordon"
	chown -R 12345:12345 "$HOME"
	for profile in $PROFILES; do
		gains_nothing "${as[@]}" "$SCRATCH/cordon"
	done
	run -0 "${as[@]}" ./capable has-capability 13
}

@test "H35 a setuid bit that the command sets has no effect inside" {
	is_root || skip "needs two users"
	[ $BACKEND = native ] || skip "for native: on landlock root gives no file away"
	run cordon run -q -- /bin/sh -c 'cp attack mine && chown 65534 mine && chmod 4755 mine &&
		./mine identity'
	assert_output "0 0 0 0"
}

# --- places -------------------------------------------------------------------------

@test "H38 the host's /tmp is neither read nor written" {
	local name
	for dir in /tmp /var/tmp /dev/shm; do
		name=$(mktemp $dir/cordon-escape.XXXXXX)
		echo "$SECRET" >"$name"
		inside read "$name"
		inside write "$name"
		run cordon run -q -- /bin/sh -c "echo x >$name.new"
		[ ! -e "$name.new" ] || { rm -f "$name" "$name.new"; fail "reached $dir"; }
		bare read "$name"
		rm -f "$name"
	done
}

@test "H38 cordon leaves nothing in the host's temporary directories" {
	export TMPDIR=$SCRATCH/tmp
	mkdir "$TMPDIR"
	run cordon run -q -- true
	assert_success
	assert_equal "$(ls -A "$TMPDIR" "$WORKDIR" | grep -v attack | tr -d '\n')" \
		"$TMPDIR:$WORKDIR:"
}

@test "H39 cordon's own settings are out of reach in a writable home" {
	mkdir -p -m 700 "$HOME/.cordon"
	echo '[sandbox]' >"$HOME/.cordon/config.toml"
	PROFILES='moderate permissive agent'
	inside write "$HOME/.cordon/config.toml"
	inside write-created "$HOME/.cordon/new"
	inside rename "$HOME/.cordon" "$HOME/moved"
	bare write "$HOME/.cordon/config.toml"
}

@test "H39 a project file does not loosen" {
	mkdir -p "$OUTSIDE/dir"
	cat >.cordon.toml <<-END
		[sandbox]
		write = ["$OUTSIDE", "$HOME"]
		read = ["/", "$HOME/.ssh", "$HOME/.netrc"]
		network = "on"
		hidden_writes = "allow"
	END
	for profile in moderate strict; do
		run cordon run -q -p $profile -- ./attack write "$OUTSIDE/file"
		[ "$status" -ne 0 ] || fail "written" "$(outcome)"
		run cordon run -q -p $profile -- ./attack read "$HOME/.ssh/id"
		[ "$status" -ne 0 ] || fail "read" "$(outcome)"
		run cordon run -q -p $profile -- ./attack route
		[ "$status" -ne 0 ] || fail "routed" "$(outcome)"
	done
}

@test "H39 CORDON_HOME from the repository is refused" {
	mkdir -p home/.cordon
	printf '[sandbox]\nenabled = false\n' >home/.cordon/config.toml
	CORDON_HOME=$WORKDIR/home/.cordon run cordon run -q -- ./attack read "$HOME/.netrc"
	[ "$status" -ne 0 ] || fail "the settings in the workdir were believed" "$(outcome)"
	refute_contains "$SECRET"
}

@test "H40 / and home do not become the writable directory by being the current one" {
	cd "$HOME"
	run cordon run -q -- "$ATTACK_PATH" write "$HOME/.bashrc"
	assert_status 125
	cd /
	run cordon run -q -- "$ATTACK_PATH" write "$HOME/.bashrc"
	assert_status 125
}

@test "H40 a workdir that leads through a link or a descriptor is what it is" {
	ln -s "$HOME" link
	run cordon run -q -C link -- "$ATTACK_PATH" read "$HOME/.netrc"
	[ "$status" -ne 0 ] || fail "read" "$(outcome)"
	exec 7</
	run cordon run -q -C /proc/self/fd/7 -- "$ATTACK_PATH" write "$HOME/.bashrc"
	[ "$status" -ne 0 ] || fail "written" "$(outcome)"
}

@test "neighbour: a nested mount in the workdir is nosuid and nodev" {
	is_root || skip "needs root"
	[ $BACKEND = native ] || skip "for native, which mounts it again"
	mkdir m
	run unshare -m sh -c "mount -t tmpfs none m && mknod m/null c 1 3 && chmod 666 m/null &&
		cp attack m/setuid && chown 65534 m/setuid && chmod 4755 m/setuid &&
		'$CORDON' run -q -- /bin/sh -c './m/setuid identity; cat m/null && echo opened'"
	assert_contains "0 0 0 0"
	refute_contains opened
}

@test "neighbour: writes to what is hidden do not succeed and vanish (H29)" {
	inside write-created "$HOME/.ssh/new"
	inside write-created "$HOME/.config/new"
	PROFILES=permissive
	inside write-created "$HOME/.ssh/new"
}

# --- a home that cannot be read to its end --------------------------------------------

@test "a home whose listing fails hides its secrets all the same, or nothing runs" {
	is_static || skip "sanitizers do not work under strace"
	command -v strace >/dev/null || must_or_skip "no strace"
	for backend in native bwrap landlock; do
		run strace -qq -f -o /dev/null -P "$HOME" -e inject=getdents64:error=EIO \
			"$CORDON" run -q --backend $backend --fallback degrade -- \
			sh -c './attack read "$HOME/.ssh/id"; ./attack read "$HOME/.netrc"'
		refute_contains "$SECRET"
	done
}

@test "a listing of the workdir that fails ends a run that would miss hidden names" {
	is_static || skip "sanitizers do not work under strace"
	command -v strace >/dev/null || must_or_skip "no strace"
	echo mine >.env
	run strace -qq -o /dev/null -P "$WORKDIR" -e inject=getdents64:error=EIO \
		"$CORDON" run -q -p strict --fallback degrade -- sh -c 'echo theirs >.env'
	assert_status 125
	assert_equal "$(cat .env)" mine
}

# --- standard streams ---------------------------------------------------------------

# unchanged FILE COMMAND: the file is what it was after the command had it as standard input.
unchanged() {
	local before profiles='moderate permissive strict'
	before=$(stat -c '%A %U %s %Y' "$1")

	# Without a mount for it, what may be written by its name may be written as a stream.
	[ $BACKEND = native ] || profiles='moderate strict'
	for profile in $profiles; do
		cordon run -q -p $profile "${FLAGS[@]}" -- sh -c "$2" <"$1" || true
		assert_equal "$(stat -c '%A %U %s %Y' "$1")" "$before"
	done
	runs_on_bwrap
	cordon run -q --backend bwrap -- sh -c "$2" <"$1" || true
	assert_equal "$(stat -c '%A %U %s %Y' "$1")" "$before"
}

# Otherwise what is not changed there proves nothing.
runs_on_bwrap() {
	assert_equal "$(cordon run -q --backend bwrap -- echo inside)" inside
}

@test "a file that is standard input is read and nothing else" {
	with_broker metadata
	git init -q .
	printf '#!/bin/sh\n' >.git/hooks/pre-commit
	chmod 644 .git/hooks/pre-commit
	cp /bin/true "$HOME/tool"
	for file in .git/hooks/pre-commit "$HOME/tool" "$OUTSIDE/file"; do
		unchanged "$file" 'chmod 6777 /dev/stdin; chmod 6777 /proc/self/fd/0; touch /dev/stdin
			echo evil 1<>/proc/self/fd/0; echo evil >>/dev/fd/0; : >/proc/self/fd/0
			truncate -s 0 /dev/stdin; chown 1:1 /proc/self/fd/0
			python3 -c "import os; os.fchmod(0, 0o6777)"'
		# It works without cordon.
		cp "$file" "$HOME/copy"
		chmod 600 "$HOME/copy"
		chmod 4777 /dev/stdin <"$HOME/copy"
		assert_equal "$(stat -c %a "$HOME/copy")" 4777
	done
}

@test "a device that is a standard stream stays as it is" {
	is_root || skip "for root"
	with_broker metadata
	mknod -m 666 "$HOME/null" c 1 3
	unchanged "$HOME/null" 'chmod 0 /proc/self/fd/0; chown 1 /dev/stdin'
	runs_on_bwrap
	for backend in native bwrap; do
		cordon run -q --backend $backend -- chmod 0 /proc/self/fd/1 >"$HOME/null" 2>&1 || true
		assert_equal "$(stat -c %a "$HOME/null")" 666
	done
}

@test "a stream that is read, or neither read nor written, is no way to write" {
	runs_on_bwrap
	echo before >file
	chmod 600 file
	for backend in native bwrap; do
		for open in '1<file' '2<file'; do
			run bash -c '"$0" run -q --backend "$1" -- sh -c "
				echo evil >/proc/self/fd/${2%%<*}; chmod 666 /proc/self/fd/${2%%<*}" '"$open" \
				"$CORDON" $backend "$open"
			assert_equal "$(cat file) $(stat -c %a file)" 'before 600'
		done
		run python3 -c '
import os, subprocess, sys
fd = os.open("file", os.O_PATH)
subprocess.run([sys.argv[1], "run", "-q", "--backend", sys.argv[2], "--", "sh", "-c",
	"echo evil >/proc/self/fd/0; chmod 666 /proc/self/fd/0"], stdin=fd)' "$CORDON" $backend
		assert_equal "$(cat file) $(stat -c %a file)" 'before 600'
	done
}

@test "a file that is read is left where the command left it, and one without a name is read" {
	printf 'one\ntwo\nthree\n' >in
	run -0 --separate-stderr bash -c '{ read -r x; "$0" run -q head -n 1; cat; } <in' "$CORDON"
	assert_output two$'\n'three
	# Through a pipe, which must not swallow more than is read. What bubblewrap says of a start that
	# is tried again is not looked at.
	run -0 --separate-stderr bash -c '{ read -r x; "$0" run -q --backend bwrap sh -c "read -r x; echo \$x"; cat; } <in' "$CORDON"
	assert_output two$'\n'three
	seq 200000 >many
	run -0 --separate-stderr bash -c '{ "$0" run -q --backend bwrap -- dd bs=1000 count=500 iflag=fullblock status=none |
		tail -c 4
		head -n 1; } <many' "$CORDON"
	assert_output "$(head -c 500000 many | tail -c 4; tail -c +500001 many | head -n 1)"
	# A command that puts something into its own pipe moves nothing back.
	run -0 --separate-stderr bash -c '{ read -r x; "$0" run -q --backend bwrap -- sh -c "
		read -r x; echo much more than was read >/proc/self/fd/0"; cat; } <in' "$CORDON"
	refute_contains one
	run -0 bash -c '"$0" run -q --backend bwrap -- cat <many | cmp - many' "$CORDON"
	run -0 --separate-stderr bash -c 'exec <in; rm in; "$0" run -q cat' "$CORDON"
	assert_output one$'\n'two$'\n'three
}
