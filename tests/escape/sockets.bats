#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Unix sockets that no full path leads to, that come during the run, that are named, handed
# over or changed while they are looked at: H31, H48, H58. The plain cases are in reach.bats.

load helper

# There the host's network is the command's, and seccomp and Landlock keep it away.
@test "H55 H56 H57 H61 H73 without namespaces there is no network either, and all of it when it is on" {
	local kind
	FLAGS=(--backend landlock --fallback degrade)
	PROFILES='moderate strict'
	start_server udp 0
	inside connect udp "$PORT"
	inside sendto udp "$PORT"
	start_server tcp 0
	for kind in tcp mptcp; do
		inside connect $kind "$PORT"
	done
	inside fastopen "$PORT"
	inside fastopen-connect
	inside route
	for kind in "2 1 0" "2 2 0" "10 1 0" "10 2 0" "2 3 1" "2 2 1" "2 1 132" "2 6 33" "2 1 262" "17 3 0" "2 10 768" \
		"16 3 0" "16 3 4" "16 3 9" "40 1 0" "44 3 0" "38 5 0" "43 1 0" "21 5 0" "30 2 0"; do
		# shellcheck disable=SC2086 # three words
		inside family $kind
	done
	assert_equal "$(cat "$SCRATCH/hits")" ""
	run cordon run -q "${FLAGS[@]}" --allow-network=127.0.0.1:"$PORT" -- ./attack connect tcp "$PORT"
	assert_status 10
	assert_equal "$(cat "$SCRATCH/hits")" ""
	run -0 cordon run -q "${FLAGS[@]}" --allow-network -- ./attack connect tcp "$PORT"
}

@test "H58 a socket without a full path: who does not look at connects does not claim unix-sockets" {
	local flags
	short_dir
	cd "$SOCKETS"
	start_server unix s
	cd "$WORKDIR"
	for flags in "--backend bwrap" "--protect off"; do
		# shellcheck disable=SC2086
		run -0 --separate-stderr cordon run --json --fallback degrade $flags -- \
			./attack connect unix "$SOCKETS/s"
		assert_json '(.enforced | index("unix-sockets") | not) and (.degraded | index("unix-sockets"))'
		# shellcheck disable=SC2086
		run -0 --separate-stderr cordon explain $flags "$SOCKETS/s"
		assert_contains "cannot promise 'unix-sockets'"
	done
}

@test "H58 a socket without a full path is guarded where there is nothing else to guard" {
	short_dir
	cd "$SOCKETS"
	start_server unix s
	cd "$WORKDIR"
	run --separate-stderr cordon run --json -p custom --report none --backend native \
		--allow-read / --allow-exec / -- ./attack connect unix "$SOCKETS/s"
	assert_json '.exit_code == 10 and (.enforced | index("unix-sockets"))'
}

# Where the command may write, a socket can be its own: who made it is told by its age, and
# with exact by who has bound it.
@test "H58 a unix socket in the workdir that no full path in our network leads to" {
	local protect made
	cat >serve.py <<-'EOF'
	import os, socket, sys
	s = socket.socket(socket.AF_UNIX)
	s.bind("asked" if sys.argv[1] == "moved" else sys.argv[1])
	s.listen()
	if sys.argv[1] == "moved":
	    os.rename("asked", "moved")
	open(sys.argv[1] + ".up", "w").close()
	while True:
	    s.accept()[0].sendall(b"the host")
	EOF
	cat >try.py <<-'EOF'
	import ctypes, socket, sys, threading
	for name in "relative", "moved", "other":
	    try:
	        s = socket.socket(socket.AF_UNIX)
	        s.connect(name)
	        sys.exit(f"{name}: {s.recv(100)}")
	    except PermissionError:
	        pass
	own = socket.socket(socket.AF_UNIX)
	own.bind("own")
	own.listen(1000)
	s = socket.socket(socket.AF_UNIX)
	s.connect("own")
	s.sendall(b"x")
	assert own.accept()[0].recv(1) == b"x"
	if sys.argv[1] == "exact":
	    # The address changes while it is looked at.
	    address = ctypes.create_string_buffer(b"\1\0own\0\0\0\0\0\0", 12)
	    def swap():
	        while True:
	            ctypes.memmove(ctypes.addressof(address) + 2, b"relative", 9)
	            ctypes.memmove(ctypes.addressof(address) + 2, b"own\0\0\0\0\0\0", 9)
	    threading.Thread(target=swap, daemon=True).start()
	    libc = ctypes.CDLL(None)
	    for _ in range(500):
	        s = socket.socket(socket.AF_UNIX)
	        s.setblocking(False)
	        if libc.connect(s.fileno(), address, 12) == 0:
	            assert s.getpeername() == "own", s.getpeername()
	EOF
	python3 serve.py relative 3>&- &
	BACKGROUND+=("$!")
	python3 serve.py moved 3>&- &
	BACKGROUND+=("$!")
	unshare --user --map-root-user --net python3 serve.py other 3>&- &
	BACKGROUND+=("$!")
	until [ -e relative.up ] && [ -e moved.up ] && [ -e other.up ]; do
		kill -0 "${BACKGROUND[@]}"
		sleep 0.02
	done
	for protect in guard exact; do
		run -0 --separate-stderr "$CORDON" run --json --backend native --protect $protect -- \
			python3 try.py $protect
		assert_json '[.violations[] | select(.op == "connect") | .object | split("/")[-1]] |
			contains(["relative", "moved", "other"])'
		assert_json '.violations[] | select(.object | endswith("/other")) |
			.fix.flags | startswith("--allow-unix")'
		rm own
	done
	run -0 "$CORDON" run -q --backend native --protect exact --allow-unix "$PWD/other" -- python3 -c '
import socket
s = socket.socket(socket.AF_UNIX)
s.connect("other")
assert s.recv(100) == b"the host"
try:
    socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
    raise SystemExit("a datagram could go anywhere")
except PermissionError:
    pass'
}

@test "H48 a socket is bound where its name was judged, whoever changes the directory meanwhile" {
	mkdir sub
	# A name alone, and one that is looked up once more.
	for name in .mcp.json ./.mcp.json; do
		binds_while_moving $name
	done
}

binds_while_moving() {
	run -0 cordon run -q --protect exact --backend native --env "NAME=$1" \
		--env "RACE_MS=${CORDON_RACE_MS:-0}" -- /usr/bin/python3 -c '
import itertools, os, socket, threading, time
end = time.monotonic() + int(os.environ["RACE_MS"]) / 1000
top, sub = os.open(".", os.O_PATH), os.open("sub", os.O_PATH)
def flip():
    while True:
        os.fchdir(sub)
        os.fchdir(top)
threading.Thread(target=flip, daemon=True).start()
bound = 0
for i in itertools.count():
    if i >= 4000 and time.monotonic() >= end:
        break
    try:
        socket.socket(socket.AF_UNIX).bind(os.environ["NAME"])
        bound += 1
        os.unlink(".mcp.json", dir_fd=sub)
    except OSError:
        pass
    assert not os.access(".mcp.json", os.F_OK, dir_fd=top, follow_symlinks=False), i
assert bound > 10, bound
os._exit(0)'
	[ ! -e .mcp.json ]
}

@test "H58 an older socket that another run moves onto a name that is bound is not the command's own" {
	cat >host.py <<-'EOF'
	import socket
	s = socket.socket(socket.AF_UNIX)
	s.bind("host")
	s.listen()
	open("up", "w").close()
	while True:
	    s.accept()[0].sendall(b"the host")
	EOF
	python3 host.py 3>&- &
	BACKGROUND+=("$!")
	until [ -e up ]; do
		kill -0 $!
		sleep 0.02
	done
	local hosts
	hosts=$(stat -c %i host)
	"$CORDON" run -q --protect exact --backend native -- /usr/bin/python3 -c '
import os
def rename(old, new):
    try:
        os.rename(old, new)
    except OSError:
        pass
while True:
    rename("host", "name")
    if not os.path.exists("host"):
        rename("name", "host")' 3>&- >/dev/null 2>&1 &
	BACKGROUND+=("$!")
	run -0 "$CORDON" run -q --protect exact --backend native --env "HOSTS=$hosts" -- /usr/bin/python3 -c '
import os, socket
hosts = int(os.environ["HOSTS"])
for i in range(4000):
    with socket.socket(socket.AF_UNIX) as own:
        try:
            own.bind("name")
        except OSError:
            pass
        for name in "name", "host":
            with socket.socket(socket.AF_UNIX) as s:
                try:
                    s.connect(name)
                    raise SystemExit("reached by " + name)
                except OSError:
                    pass
        try:
            if os.stat("name").st_ino != hosts:
                os.unlink("name")
        except OSError:
            pass'
}

@test "a signal in the middle of a connect does not let it fail" {
	run -0 "$CORDON" run -q --protect exact --backend native -- /usr/bin/python3 -c '
import os, signal, socket, threading, time
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.siginterrupt(signal.SIGUSR1, False)
server = socket.socket(socket.AF_UNIX)
server.bind("/tmp/s")
server.listen(4000)
def accept():
    while True:
        server.accept()[0].close()
def connect():
    while True:
        with socket.socket(socket.AF_UNIX) as s:
            s.connect("/tmp/s")
def kick(main):
    while True:
        signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.0002)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
for run, args in (accept, ()), (connect, ()), (kick, (threading.main_thread().ident,)):
    threading.Thread(target=run, args=args, daemon=True).start()
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
for _ in range(1500):
    with socket.socket(socket.AF_UNIX) as s:
        s.connect("/tmp/s")
os._exit(0)'
}

# Who is connected already shows not whether it was done, who does not block is not yet.
@test "a signal in the middle of a connect leaves no socket connected elsewhere" {
	run -0 "$CORDON" run -q --protect exact --backend native -- /usr/bin/python3 -c '
import errno, os, signal, socket, threading, time
signal.signal(signal.SIGUSR1, lambda *_: None)
signal.siginterrupt(signal.SIGUSR1, False)
server = socket.create_server(("127.0.0.1", 0), backlog=0)
def refused(s):
    s.setblocking(False)
    return s.connect_ex(server.getsockname())
full = [socket.socket() for _ in range(4)]
for s in full:
    refused(s)
def connect():
    while True:
        with socket.socket(type=socket.SOCK_DGRAM) as s:
            s.connect(("127.0.0.1", 9))
def kick(main):
    while True:
        signal.pthread_kill(main, signal.SIGUSR1)
        time.sleep(0.0002)
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
for run, args in (connect, ()), (kick, (threading.main_thread().ident,)):
    threading.Thread(target=run, args=args, daemon=True).start()
signal.pthread_sigmask(signal.SIG_UNBLOCK, [signal.SIGUSR1])
own = socket.socket(type=socket.SOCK_DGRAM)
for i in range(1000):
    to = ("127.0.0.1", 1000 + i)
    own.connect(to)
    assert own.getpeername() == to, (i, own.getpeername())
    with socket.socket() as s:
        got = refused(s)
        assert got == errno.EINPROGRESS, (i, errno.errorcode[got])
os._exit(0)'
}

# Its path is one that only sandboxes have a directory for.
@test "H58 a socket in the host's /tmp that a named one hands over is not connected to" {
	SOCKETS=$(mktemp -d /tmp/s.XXXXXX)
	cat >give.py <<-'EOF'
	import os, socket, sys
	host, s = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
	host.bind(sys.argv[1] + "/host")
	host.listen()
	s.bind("give")
	s.listen()
	open("up", "w").close()
	while True:
	    socket.send_fds(s.accept()[0], [b"x"], [os.open(sys.argv[1] + "/host", os.O_PATH)])
	EOF
	python3 give.py "$SOCKETS" 3>&- &
	BACKGROUND+=("$!")
	until [ -e up ]; do
		kill -0 $!
		sleep 0.02
	done
	run -0 "$CORDON" run -q --protect exact --backend native --allow-unix "$PWD/give" -- /usr/bin/python3 -c '
import socket
s, t = socket.socket(socket.AF_UNIX), socket.socket(socket.AF_UNIX)
s.connect("give")
fd = socket.recv_fds(s, 1, 1)[1][0]
try:
    t.connect(f"/proc/self/fd/{fd}")
    raise SystemExit("reached")
except PermissionError:
    pass'
}

# Its path is one that the command may write, but it is not reached through the sandbox's mounts.
@test "H31 in a directory of the host that a named socket hands over nothing is made or moved" {
	mkdir handed
	echo x >handed/a
	cat >give.py <<-'EOF'
	import os, socket
	s = socket.socket(socket.AF_UNIX)
	s.bind("give")
	s.listen()
	open("up", "w").close()
	while True:
	    socket.send_fds(s.accept()[0], [b"x"], [os.open("handed", os.O_RDONLY)])
	EOF
	python3 give.py 3>&- &
	BACKGROUND+=("$!")
	until [ -e up ]; do
		kill -0 $!
		sleep 0.02
	done
	run -0 "$CORDON" run -q --protect exact --backend native --allow-unix "$PWD/give" -- /usr/bin/python3 -c '
import errno, os, socket
s = socket.socket(socket.AF_UNIX)
s.connect("give")
fd = socket.recv_fds(s, 1, 1)[1][0]
at = {"src_dir_fd": fd, "dst_dir_fd": fd}
for what in (lambda: os.rename("a", "b", **at), lambda: os.link("a", "b", **at),
             lambda: os.rename("a", "b", src_dir_fd=fd), lambda: os.rename("up", "b", dst_dir_fd=fd),
             lambda: os.mkdir("b", dir_fd=fd), lambda: os.unlink("a", dir_fd=fd),
             lambda: os.symlink("a", "b", dir_fd=fd), lambda: os.chmod("a", 0o777, dir_fd=fd),
             lambda: os.open("a", os.O_WRONLY, dir_fd=fd), lambda: os.fchmod(fd, 0o777)):
    try:
        what()
        raise SystemExit("done")
    except OSError as error:
        assert error.errno in (errno.EACCES, errno.EROFS), error'
	assert_equal "$(ls handed)" a
}

@test "H58 a unix socket that the host makes during the run" {
	short_dir
	mkfifo entered changed
	cordon run -q -- /bin/sh -c 'echo in >entered; read -r x <changed
		./attack connect unix "$1"; echo "outcome $?"' sh "$SOCKETS/s" >"$SCRATCH/output" 2>&1 3>&- &
	BACKGROUND+=("$!")
	local run=$!
	read -r line <entered
	start_server unix "$SOCKETS/s"
	echo go >changed
	wait "$run"
	output=$(cat "$SCRATCH/output")
	assert_contains "outcome 10"
	assert_equal "$(cat "$SCRATCH/hits")" ""
}

@test "H58 a socket named with --allow-unix is reached, and only that one" {
	short_dir
	start_server unix "$SOCKETS/s"
	run cordon run -q --allow-unix "$SOCKETS/s" -- ./attack connect unix "$SOCKETS/s"
	assert_success
	start_server unix "$SOCKETS/t"
	FLAGS=(--allow-unix "$SOCKETS/s")
	inside connect unix "$SOCKETS/t"
}

@test "neighbour: localhost inside is usable and private" {
	run cordon run -q -- /bin/sh -c 'mkfifo r; ./attack serve tcp 0 r hits & read -r p <r
		./attack connect tcp "$p"; s=$?; kill $!; exit $s'
	assert_success
}

# handed KIND COMMAND...: runs the command with such a socket as standard input, and prints its
# output. $PORT: where a connected one leads to.
handed() {
	python3 - "$@" <<'EOF'
import os, socket, subprocess, sys
kind, port = sys.argv[1], int(os.environ.get("PORT") or 0)
unix, datagram = socket.AF_UNIX, socket.SOCK_DGRAM
make = {
    "datagram": lambda: socket.socket(unix, datagram),
    "datagram-pair": lambda: socket.socketpair(unix, datagram)[0],
    "stream": lambda: socket.socket(unix),
    "udp": lambda: socket.socket(type=datagram),
    "tcp": lambda: socket.socket(),
    "connected": lambda: socket.create_connection(("127.0.0.1", port)),
    "netlink": lambda: socket.socket(socket.AF_NETLINK, socket.SOCK_RAW),
}
if kind in make:
    own = make[kind]()
else:
    own, other = socket.socketpair(type=getattr(socket, kind))
    other.send(b"said\n")
    other.shutdown(socket.SHUT_WR)
sys.exit(subprocess.run(sys.argv[2:], stdin=own).returncode)
EOF
}

@test "a socket that is a standard stream leads nowhere but to its other end" {
	start_server tcp 0
	export PORT
	for backend in native landlock bwrap; do
		flags=(--backend $backend --fallback degrade)
		[ $backend != landlock ] || flags+=(--share-pid)
		for kind in datagram datagram-pair stream udp tcp connected netlink; do
			run handed $kind "$CORDON" run "${flags[@]}" -- true
			assert_equal "$status" 125
			assert_contains "standard stream 0 is a socket of the host's"
			assert_contains 'cat | cordon run'
		done
		# What is bound to its other end for good is what node and others hand over.
		for kind in SOCK_STREAM SOCK_SEQPACKET; do
			run -0 --separate-stderr handed $kind "$CORDON" run -q "${flags[@]}" -- head -n 1
			assert_output said
		done
	done
	run -0 handed connected "$CORDON" run -q --allow-network -- true
	run -125 handed datagram "$CORDON" run -q --allow-network -- true
}
