#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The broker without namespaces (landlock, protect = exact): it is among the processes that the
# command sees and in the host's directories, with no mount between. What broker.bats has, which
# runs there as broker-landlock.bats, is not repeated.

load helper

setup() {
	escape_setup
	FLAGS=(--backend landlock --share-pid --protect exact)
	needs_enforced exact "no broker without namespaces" "${FLAGS[@]}"
}

teardown() {
	[ -z "${SHORT:-}" ] || rm -rf "$SHORT"
	escape_teardown
}

# strict_run FLAGS... -- COMMAND...
strict_run() {
	run --separate-stderr cordon run -q -p strict "${FLAGS[@]}" "$@"
}

# Not the times of what others use at the same moment.
state() {
	local file
	for file; do
		case $file in
		/tmp | /dev/* | /proc*) stat -c '%n %a %u %g' "$file" ;;
		*) stat -c '%n %a %u %g %Y %Z' "$file" ;;
		esac
	done
}

@test "what is claimed: files with rules inside what is writable, and metadata" {
	mkdir shut open
	run --separate-stderr cordon run -q --json "${FLAGS[@]}" --deny shut -- true
	assert_json '.backend == "landlock" and .protect == "exact" and .cause == "exited"'
	assert_json '.enforced | index("files") and index("metadata") and index("guard") and index("exact")'
	run --separate-stderr cordon run -q --json "${FLAGS[@]}" --protect guard --fallback degrade \
		--deny shut -- true
	assert_json '.degraded | index("files") and index("metadata")'
}

@test "H33 mode, owner, times and attributes outside what is writable stay as they are" {
	victim=$(mktemp /tmp/cordon-victim.XXXXXX)
	other=$(mktemp -d /var/tmp/cordon-victim.XXXXXX)
	files=("$OUTSIDE/file" "$HOME/.bashrc" "$victim" "$other" /tmp /dev/null /dev/tty "$OUTSIDE"
		/proc /proc/version)
	before=$(state "${files[@]}")
	# Programs elsewhere are not executed, which Landlock alone does not promise.
	strict_run --fallback degrade --allow-read "$OUTSIDE" --allow-read "$HOME/.bashrc" \
		--allow-read @runtime --allow-exec @system-exec -- /usr/bin/python3 - "${files[@]}" <<-'END'
		import os, sys
		done = []
		def attempt(what, *args, **more):
		    try:
		        what(*args, **more)
		        done.append((what.__name__, args))
		    except OSError:
		        pass
		for path in sys.argv[1:]:
		    # What it has already: the machine is not to suffer if it works.
		    st = os.stat(path)
		    mode, owner, times = st.st_mode & 0o7777, (st.st_uid, st.st_gid), (st.st_atime_ns, st.st_mtime_ns)
		    name = os.path.dirname(path) + "/./" + os.path.basename(path)
		    for p in (path, name, "/proc/self/root" + path):
		        attempt(os.chmod, p, mode)
		        attempt(os.chown, p, *owner)
		        attempt(os.utime, p, ns=times)
		        if "cordon-" in path:
		            attempt(os.setxattr, p, "user.cordon", b"x")
		    for flags in (os.O_PATH, os.O_RDONLY):
		        try:
		            fd = os.open(path, flags)
		        except OSError:
		            continue
		        attempt(os.fchmod, fd, mode)
		        attempt(os.fchown, fd, *owner)
		        attempt(os.utime, fd, ns=times)
		        attempt(os.chmod, f"/proc/self/fd/{fd}", mode)
		        os.close(fd)
		print(done)
	END
	after=$(state "${files[@]}")
	rm -rf "$victim" "$other"
	assert_equal "$after" "$before"
	assert_output "[]"
}

@test "a stream that is handed in for reading is not changed either" {
	echo x >"$OUTSIDE/in"
	chmod 644 "$OUTSIDE/in"
	echo x >in
	strict_run -- /usr/bin/python3 -c 'import os; os.fchmod(0, 0o777)' <"$OUTSIDE/in"
	[ "$status" -ne 0 ] || fail "changed" "$(outcome)"
	assert_equal "$(stat -c %a "$OUTSIDE/in")" 644
	strict_run -- /usr/bin/python3 -c 'import os; os.fchmod(0, 0o777)' <in
	assert_success
	assert_equal "$(stat -c %a in)" 777
}

@test "in the workdir and in TMPDIR all of that works" {
	strict_run -- sh -ec 'for dir in . "$TMPDIR"; do
		cd "$dir"; mkdir d; echo x >d/f; chmod 600 d/f; touch -d @5 d/f; mv d e; stat -c "%a %Y" e/f; rm -r e
		done; mktemp >/dev/null; ln -s a b'
	assert_success
	assert_output "600 5
600 5"
}

@test "what is denied inside what is writable is not read, listed, executed, moved or changed" {
	mkdir -p shut/below work
	echo "$SECRET" >shut/below/file
	echo "$SECRET" >secret.txt
	cp attack shut/attack
	cp attack shown
	FLAGS+=(--deny shut --deny secret.txt)
	for file in secret.txt shut/below/file ./work/../secret.txt /proc/self/cwd/secret.txt; do
		inside read-file "$file"
		bare read-file "$file"
	done
	for how in 'ls shut' 'shut/attack victim' 'sh -c shut/attack' \
		'mv shut moved' 'mv secret.txt work/x' 'ln secret.txt work/x' 'cp secret.txt work/x' \
		'chmod 777 secret.txt' 'touch shut' 'rm -f secret.txt' 'rm -rf shut' 'mv work shut/work'; do
		# shellcheck disable=SC2086
		strict_run -- $how
		[ "$status" -ne 0 ] || fail "not held: $how" "$(outcome)"
		refute_contains "$SECRET"
	done
	assert_equal "$(cat secret.txt shut/below/file)" "$SECRET
$SECRET"
	# What is beside it goes on as ever.
	strict_run -- sh -ec 'echo new >work/new; cat work/new; echo top >top; cat top; ls work; ./shown limits >/dev/null 2>&1 || true'
	assert_output "new
top
new"
}

@test "what is denied in a cache of the project's own is hidden, or that is not promised" {
	local cache try
	try='cat "$1/secret"; "$1/prog" "$2"; "$1/other" beside; echo made >"$1/new"'
	cache=$(cordon run -q -- sh -c 'mkdir -p "$XDG_CACHE_HOME"; echo "$XDG_CACHE_HOME"')
	cp /bin/echo "$cache/prog"
	cp /bin/echo "$cache/other"
	echo "$SECRET" >"$cache/secret"
	FLAGS=(--backend landlock --fallback degrade --deny "$cache/secret" --deny "$cache/prog")
	run --separate-stderr cordon run -q --json "${FLAGS[@]}" --protect exact -- \
		sh -c "$try" sh "$cache" "$SECRET"
	assert_json '.enforced | index("files")'
	assert_json '.stdout == "beside\n"'
	assert_file "$cache/new"
	run --separate-stderr cordon run -q --json "${FLAGS[@]}" --protect guard -- true
	assert_json '.degraded | index("files")'
}

@test "what is denied stays so when the host replaces it" {
	echo old >secret.txt
	FLAGS+=(--deny secret.txt)
	mkfifo go
	background "$CORDON" run -q -p strict "${FLAGS[@]}" -- sh -c 'read -r x <go; cat secret.txt >seen 2>/dev/null; echo done >end'
	echo "$SECRET" >"$SCRATCH/new"
	mv "$SCRATCH/new" secret.txt
	echo go >go
	wait "$STARTED" || true
	assert_file end
	assert_equal "$(cat seen)" ""
}

@test "what is only readable inside what is writable is not changed" {
	mkdir -p lib
	echo x >lib/file
	FLAGS+=(--allow-read lib)
	for how in 'touch lib/new' 'rm lib/file' 'mv lib other' 'mv lib/file file' 'chmod 777 lib/file' 'ln lib/file file'; do
		# shellcheck disable=SC2086
		run cordon run -q -p strict "${FLAGS[@]}" -- $how
		[ "$status" -ne 0 ] || fail "not held: $how" "$(outcome)"
	done
	run cordon run -q -p strict "${FLAGS[@]}" -- cat lib/file
	assert_output x
}

# Every open is the broker's here, which may look at itself.
@test "H35 the broker shows nothing of itself" {
	export CANARY_TOKEN=$SECRET
	strict_run --deny '**/*.key' -- sh -c 'for p in /proc/[0-9]*; do
		cat "$p/environ" "$p"/task/*/environ "$p/maps" "$p/mem"; ls -l "$p/fd"; cat "$p/root/proc/self/environ"
		done 2>/dev/null | grep -ac "$0"; true' CANARY_TOKEN
	assert_output 0
}

@test "H38 the command does not reach the broker" {
	mkfifo up who
	background "$CORDON" run -q -p strict "${FLAGS[@]}" -- sh -c 'echo up >up; read -r pid <who
		kill -9 "$pid" 2>/dev/null; kill -STOP "$pid" 2>/dev/null
		mkdir made; echo "$?" >outcome'
	exec 8<>up 9<>who
	read -r -t 30 line <&8
	for child in $(pgrep -P "$STARTED"); do
		[ "$(cat "/proc/$child/comm")" != cordon ] || broker=$child
	done
	assert_equal "$(awk '/^Seccomp:/ { print $2 }' "/proc/$broker/status")" 2
	echo "$broker" >&9
	wait "$STARTED" || true
	assert_equal "$(cat outcome)" 0
}

@test "shared directories: not exact, and said so" {
	run --separate-stderr cordon run -q -p strict "${FLAGS[@]}" --fallback degrade --share-tmp shared --json -- \
		true
	assert_json '.protect == "guard" and .exit_code == 0 and (.degraded | index("exact"))'
}

# Servers listen on s, which is named, and on t, which is not.
short_sockets() {
	SHORT=$(mktemp -d "$(ground)/s.XXXX")
	for name in s t; do
		start_server unix "$SHORT/$name"
	done
	FLAGS+=(--allow-unix "$SHORT/s")
	PROFILES=strict
}

@test "H58 a unix socket that is named is reached, and no other of the host" {
	short_sockets
	strict_run --json -- ./attack connect unix "$SHORT/s"
	assert_json '.exit_code == 0 and (.enforced | index("unix-sockets"))'
	strict_run --json -- ./attack connect unix "$SHORT/t"
	assert_json '.exit_code == 10'
	assert_json '[.violations[] | [.op, .source, .object]] == [["connect", "broker", "'"$SHORT"'/t"]]'
	ln -s "$SHORT/t" link
	inside connect unix link
	inside connect unix "/proc/self/cwd/link"
	bare connect unix link
	inside sendto unix-dgram "$SHORT/t"
	start_server abstract "cordon-escape-$SECRET"
	inside connect abstract "cordon-escape-$SECRET"
	bare connect abstract "cordon-escape-$SECRET"
}

@test "H58 a socket of the host in the workdir is not reached by any name it is given" {
	short_sockets
	mkdir "$SHORT/w"
	cp attack "$SHORT/w"
	cd "$SHORT/w"
	start_server unix "$SHORT/w/u"
	inside connect unix u
	strict_run -- sh -c 'mv u v; ln v x; ./attack connect unix v || ./attack connect unix x'
	assert_equal "$status" 10
	assert_equal "$(cat "$SCRATCH/hits")" ""
}

@test "H58 another socket that is given the name of the one that is let in is not reached" {
	short_sockets
	mkdir "$SHORT/w"
	cp attack "$SHORT/w"
	cd "$SHORT/w"
	start_server unix "$SHORT/w/named"
	start_server unix "$SHORT/w/other"
	FLAGS+=(--allow-unix "$SHORT/w/named")
	strict_run -- ./attack connect unix named
	assert_equal "$status" 0
	strict_run -- sh -c 'mv named old && mv other named && ./attack connect unix named'
	assert_equal "$status" 10
}

@test "H14 H48 the socket changes while it is looked at" {
	short_sockets
	for how in memory link; do
		inside swap-socket "${CORDON_RACE_MS:-700}" $how "$SHORT/s" "$SHORT/t"
		bare swap-socket 20000 $how "$SHORT/s" "$SHORT/t"
	done
}

@test "sockets of the command's own, with a queue that is full, and the network work beside a named one" {
	short_sockets
	strict_run -- /usr/bin/python3 - <<-'END'
		import socket, threading
		server = socket.socket(socket.AF_UNIX)
		server.bind("own")
		server.listen(1)
		taken = []
		def take():
		    for i in range(6):
		        taken.append(server.accept())
		clients = [socket.socket(socket.AF_UNIX) for i in range(6)]
		clients[0].connect("own")
		clients[1].setblocking(False)
		clients[1].connect("own")
		clients[2].setblocking(False)
		try:
		    clients[2].connect("own")
		except BlockingIOError:
		    clients[2].setblocking(True)
		waits = threading.Thread(target=lambda: [c.connect("own") for c in clients[2:]])
		waits.start()
		take()
		waits.join()
		assert len(taken) == 6 and all(c.getblocking() for c in clients[2:])
		for where, wanted in (("none", FileNotFoundError), ("attack", ConnectionRefusedError)):
		    try:
		        socket.socket(socket.AF_UNIX).connect(where)
		    except wanted:
		        continue
		    raise SystemExit(where)
	END
	assert_status 0
	start_server tcp 0
	strict_run --allow-network -- ./attack connect tcp "$PORT"
	assert_status 0
	strict_run --allow-network -- ./attack connect tcp 1
	assert_status 10
	assert_contains refused
}

# Who shares the open socket would be told EAGAIN while it is switched.
@test "connecting never makes the caller's socket one that does not block" {
	short_sockets
	strict_run -- /usr/bin/python3 - <<-'END'
		import fcntl, os, socket, threading, time
		server = socket.socket(socket.AF_UNIX)
		server.bind("own")
		server.listen(64)
		current, over, seen = [socket.socket(socket.AF_UNIX)], [], []
		def watch():
		    while not over:
		        try:
		            if fcntl.fcntl(current[0].fileno(), fcntl.F_GETFL) & os.O_NONBLOCK:
		                seen.append(1)
		        except OSError:
		            pass
		watcher = threading.Thread(target=watch)
		watcher.start()
		end = time.monotonic() + 2
		while time.monotonic() < end and not seen:
		    current[0] = socket.socket(socket.AF_UNIX)
		    current[0].connect("own")
		    server.accept()
		over.append(1)
		watcher.join()
		assert not seen
	END
	assert_status 0
}
