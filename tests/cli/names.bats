#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Without a network the sandbox has a name server that knows no name and notes the
# questions, so that the report says what the command wanted.
load helper

setup() {
	cordon_setup
	run cordon run -q --backend native true
	[ "$status" -eq 0 ] || must_or_skip "the native backend does not work here"
}

# inside PYTHON: its output and the result; `lookup` asks as programs do.
inside() {
	run -0 --separate-stderr cordon run --json --backend native "${FLAGS[@]}" -- \
		/usr/bin/python3 -c 'import socket, struct, sys
def lookup(name):
    try:
        return socket.getaddrinfo(name, 80)
    except socket.gaierror as e:
        return e.errno
def question(name, kind=1):
    labels = b"".join(bytes([len(l)]) + l for l in name.split(b"."))
    return struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)
'"$1"
	assert_json '.exit_code == 0'
}

@test "a name that is looked up is noted, once" {
	local profile
	for profile in moderate strict; do
		FLAGS=(-p "$profile")
		inside 'assert lookup("wanted.example") == socket.EAI_NONAME'
		assert_json '[.violations[] | select(.op == "resolve")] | length == 1'
		assert_json '.violations[] | select(.op == "resolve") |
			.object == "wanted.example" and .source == "dns" and .fix.flags != null'
		assert_json '.enforced | index("names")'
	done
}

@test "one clear sentence says so" {
	run --separate-stderr cordon run --backend native -- \
		/usr/bin/python3 -c 'import socket; socket.getaddrinfo("wanted.example", 443)'
	assert_status 1
	output=$stderr
	assert_contains "wanted.example"
	assert_contains "network off"
	assert_contains "--allow-network"
}

# beside PYTHON: the same while `port` is one that a server of the host listens on, and
# `free` one that nobody does.
beside() {
	local port free
	exec {served}< <(exec /usr/bin/python3 -c '
import socket, sys
s, free = socket.create_server(("127.0.0.1", 0)), socket.socket()
free.bind(("127.0.0.1", 0))
print(s.getsockname()[1], free.getsockname()[1], flush=True)
while True:
    s.accept()[0].close()')
	server=$!
	read -r port free <&"$served"
	PORT=$port
	inside "port, free = $port, $free
def connect(*where):
    s = socket.socket(socket.AF_INET6 if ':' in where[0] else socket.AF_INET)
    return s.connect_ex(where)
$1"
	kill "$server"
}

@test "a service of the host that was meant is named, with the flag that allows it" {
	local mode
	for mode in guard exact; do
		FLAGS=(--protect "$mode")
		beside 'assert connect("127.0.0.1", port) and connect("::1", port) and connect("127.0.0.1", free)'
		assert_json '[.violations[] | [.op, .object]] == [["connect", "localhost:'"$PORT"'"]]'
		assert_json '.violations[0].fix.flags == "--allow-network=localhost:'"$PORT"'"'
		# As the C library does to put addresses in order.
		beside 'socket.socket(socket.AF_INET, socket.SOCK_DGRAM).connect(("127.0.0.1", port))'
		assert_json '.violations == []'
		# What the command does on its own loopback is its own affair.
		beside 's = socket.create_server(("127.0.0.1", port)); assert connect("127.0.0.1", port) == 0'
		assert_json '.violations == []'
	done
}

@test "curl ends in one sentence" {
	command -v curl >/dev/null || must_or_skip "curl is not installed"
	run --separate-stderr cordon run --json --backend native -- curl -sS https://example.com
	assert_json '.exit_code == 6'
	assert_json '.violations | length == 1 and .[0].object == "example.com"'
}

@test "over TCP, several questions on one connection" {
	FLAGS=()
	inside '
s = socket.create_connection(("127.0.0.1", 53))
for name in b"one.example", b"two.example":
    q = question(name)
    s.sendall(struct.pack(">H", len(q)) + q)
for _ in range(2):
    n = struct.unpack(">H", s.recv(2, socket.MSG_WAITALL))[0]
    a = s.recv(n, socket.MSG_WAITALL)
    assert a[3] & 15 == 3, a
s.sendall(b"\xff\xff")
assert s.recv(1) == b""'
	assert_json '[.violations[].object] == ["one.example", "two.example"]'
}

@test "what a program looks up of its own machine is not noted" {
	inside '
lookup("localhost"); lookup(socket.gethostname()); socket.getfqdn()
try:
    socket.gethostbyaddr("192.0.2.1")
except OSError:
    pass'
	assert_json '.violations == []'
}

@test "rubbish and floods do no harm" {
	FLAGS=(--timeout 120s)
	inside '
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.connect(("127.0.0.1", 53))
for i in range(3000):
    try:
        u.send(question(b"n%d.example" % i) if i % 3 else b"\xc0" * (i % 700))
    except OSError:
        pass
held = []
for i in range(100):
    t = socket.create_connection(("127.0.0.1", 53))
    t.send(b"\0")
    held.append(t)
del held
assert lookup("after.example") == socket.EAI_NONAME'
	assert_json '.cause == "exited" and (.violations | length) <= 256'
}

@test "text from inside is escaped" {
	inside '
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendto(question(b"a\x1b[2J.example"), ("127.0.0.1", 53))
u.recv(512)'
	assert_json '.violations[0].object == "a\\027\\0912j.example"'
}

@test "the file that names the server is the sandbox's own and cannot be changed" {
	[ -f /etc/resolv.conf ] || must_or_skip "no /etc/resolv.conf here"
	local before
	before=$(cat /etc/resolv.conf)
	run -0 cordon run -q --backend native -- cat /etc/resolv.conf
	assert_output "nameserver 127.0.0.1
options attempts:1"
	run cordon run -q --backend native -- sh -c 'echo x >>/etc/resolv.conf'
	[ "$status" -ne 0 ] || fail "written" "$(outcome)"
	assert_equal "$(cat /etc/resolv.conf)" "$before"
}

@test "no name server where the network is open or nothing is observed" {
	run -0 cordon run --dry-run --backend native -- true
	assert_contains "resolver"
	run -0 cordon run --dry-run --backend native --allow-network -- true
	refute_contains "resolver"
	run -0 cordon run --dry-run --backend native --report none -- true
	refute_contains "resolver"
}

