#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# A list of hosts, with real servers in a network without a way out (netlab). What is tried
# from inside the sandbox is tried for good: names, addresses, other ports, other protocols.
load helper
load lab

@test "a listed name works, another and the address itself do not, and this is said" {
	in_python ok.test '
assert get("ok.test").endswith(b"hello\n")
assert refused("other.test") and refused("203.0.113.10")'
	assert_json '[.violations[] | select(.op == "resolve") | .object] == ["other.test"]'
	assert_json '[.violations[] | select(.op == "connect") | .object] | index("203.0.113.10:80")'
	assert_json '.violations[] | select(.object == "203.0.113.10:80") |
		.fix.flags == "--allow-network=203.0.113.10:80"'
	assert_json '.enforced | index("network")'
	assert_json '.hosts == [.hosts[0]] and (.hosts[0] | .host == "ok.test" and .port == 80 and
		.count == 1 and .sent == 18 and .received > 6)'
}

@test "curl, with TLS that names the host" {
	FLAGS=(--allow-read "$LAB")
	listed ok.test curl -sS --cacert "$LAB/cert.pem" https://ok.test/
	curl_works
	listed ok.test curl -sS http://ok.test/
	curl_works
	listed ok.test curl -sS http://203.0.113.10/
	assert_json '.exit_code == 7'
}

@test "H69 TLS that asks for another name than was connected to is refused, in any number of pieces" {
	in_python ok.test '
import ssl
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
def hello(name):
    into, out = ssl.MemoryBIO(), ssl.MemoryBIO()
    try:
        context.wrap_bio(into, out, server_hostname=name).do_handshake()
    except ssl.SSLWantReadError:
        return out.read()
def records(data, size):
    body = data[5:]
    parts = [body[i:i + size] for i in range(0, len(body), size)]
    return b"".join(data[:3] + struct.pack(">H", len(p)) + p for p in parts)
def answered(*pieces):
    s = socket.create_connection(("ok.test", 443), 30)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        for piece in pieces:
            s.send(piece)
        return s.recv(1) == b"\x16"
    except ConnectionError:
        return False
with context.wrap_socket(socket.create_connection(("ok.test", 443), 30), server_hostname="OK.test") as s:
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert s.makefile("rb").read().endswith(b"hello\n")
right, wrong, none = hello("ok.test"), hello("fr.test"), hello(None)
assert answered(right) and answered(none) and not answered(wrong)
assert not answered(b"\x15\x03\x01\x00\x02\x01\x5a" + wrong)
assert answered(*[right[i:i + 1] for i in range(len(right))])
assert not answered(*[wrong[i:i + 1] for i in range(len(wrong))])
assert answered(records(right, 50)) and not answered(records(wrong, 50))
# An urgent byte cannot hide something from the one and show it to the other.
s = socket.create_connection(("ok.test", 443), 30)
try:
    s.send(wrong[:100])
    s.send(wrong[100:101], socket.MSG_OOB)
    s.send(wrong[101:])
    assert s.recv(1) != b"\x16"
except ConnectionError:
    pass'
	# The latter where no name could be read.
	assert_json '[.violations[].object] == ["fr.test:443", "ok.test:443"]'
	# What is not TLS, and where the server speaks first, goes on as it is.
	in_python ok.test 'assert get("ok.test")'
}

@test "where the server speaks first what the client says is not taken for TLS, otherwise it is" {
	in_python ok.test '
looks = [bytes([kind, major, 1, 0, 2, 1, 90]) for kind in range(0x14, 0x18) for major in (0, 3)]
# The last one is the beginning of a hello, and more is waited for.
looks.remove(b"\x16\3\1\0\2\1\x5a")
def answered(port, said):
    s = socket.create_connection(("ok.test", port), 20)
    if port == 7004:
        assert s.recv(6, socket.MSG_WAITALL) == b"first\n"
    s.sendall(said)
    try:
        return s.recv(len(said), socket.MSG_WAITALL) == said
    except ConnectionResetError:
        return False
for said in looks:
    assert answered(7004, said) and not answered(7005, said), said
for said in b"\x13\3\1", b"\x18\3\1", b"GET /":
    assert answered(7004, said) and answered(7005, said), said'
	assert_json '[.violations[].object] == ["ok.test:7005"]'
}

# A TLS server that asks every client for a second hello, and the command.
asks_again() {
	openssl s_server -accept 203.0.113.1:8443 -cert "$LAB/cert.pem" -key "$LAB/key.pem" \
		-groups P-384 -www >"$LAB/again" 2>&1 &
	local server=$! status=0
	until (exec 3<>/dev/tcp/203.0.113.1/8443) 2>/dev/null; do
		kill -0 "$server" || return 1
		sleep 0.05
	done
	"$@" || status=$?
	kill "$server"
	return "$status"
}

@test "H69 TLS that asks for another name in a second hello is refused, whenever it is sent" {
	command -v openssl >/dev/null || must_or_skip "openssl is not installed"
	export -f asks_again
	run --separate-stderr lab bash -c 'asks_again "$@"' bash "$CORDON" run --json --backend native \
		--allow-network=own.test,203.0.113.1:8443 -- /usr/bin/python3 -c '
import os, socket, ssl, struct
random, session = os.urandom(32), os.urandom(32)
def extension(kind, data):
    return struct.pack(">HH", kind, len(data)) + data
def hello(name, share):
    n = name.encode()
    e = (extension(0, struct.pack(">HBH", len(n) + 3, 0, len(n)) + n) if n else b"") + extension(43, b"\2\3\4")
    e += extension(10, b"\0\4\0\x1d\0\x18") + extension(13, b"\0\x08\4\3\x08\4\5\3\4\1")
    e += extension(51, share)
    b = b"\3\3" + random + b"\x20" + session + b"\0\2\x13\1\1\0" + struct.pack(">H", len(e)) + e
    return b"\1" + struct.pack(">I", len(b))[1:] + b
def record(message, kind=b"\x16"):
    return kind + b"\3\3" + struct.pack(">H", len(message)) + message
def first(name):
    return record(hello(name, b"\0\0"))
# The generator of P-384: a point that is on the curve.
POINT = bytes.fromhex("04aa87ca22be8b05378eb1c71ef320ad746e1d3b628ba79b9859f741e082542a385502f25dbf55296c3a545e3872760ab7"
    "3617de4a96262c6f5d9e98bf9292dc29f8f41dbd289a147ce9da3113b5f0b8c00a60b1ce1d7e819d7a431d7c90ea0e5f")
def second(name):
    return hello(name, struct.pack(">HHH", 4 + len(POINT), 0x18, len(POINT)) + POINT)
change, early = record(b"\1", b"\x14"), record(b"e" * 9000, b"\x17")
def received(s, n):
    data = b""
    while len(data) < n:
        more = s.recv(n - len(data))
        if not more:
            raise ConnectionError
        data += more
    return data
def read(s):
    head = received(s, 5)
    return head[:1], received(s, struct.unpack(">H", head[3:])[0])
def taken(name, then, waits=True):
    """Does the server answer what is sent second?"""
    s = socket.create_connection(("own.test", 8443), 30)
    s.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    try:
        s.sendall(first(name) + (b"" if waits else then))
        kind, message = read(s)
        assert kind == b"\x16" and message[6:10] == b"\xcf\x21\xad\x74", message
        if waits:
            s.sendall(then)
        kind, message = read(s)
        while kind == b"\x14":
            kind, message = read(s)
        return kind == b"\x16" and message[6:10] != b"\xcf\x21\xad\x74"
    except ConnectionError:
        return False
right, wrong = second("own.test"), second("fr.test")
for waits in True, False:
    assert taken("own.test", record(right), waits), waits
    assert taken("own.test", change + record(right), waits), waits
    assert taken("own.test", record(right[:50]) + record(right[50:]), waits), waits
    assert taken("", record(second("")), waits), waits
    assert not taken("own.test", record(wrong), waits), waits
    assert not taken("own.test", change + record(wrong), waits), waits
    assert not taken("own.test", early + change + record(wrong), waits), waits
    assert not taken("own.test", record(wrong[:50]) + record(wrong[50:]), waits), waits
    assert not taken("", record(wrong), waits), waits
# Two messages in one record.
s = socket.create_connection(("own.test", 8443), 30)
try:
    s.sendall(record(hello("own.test", b"\0\0") + wrong))
    assert s.recv(1) == b""
except ConnectionError:
    pass
# A client as there are many.
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
with context.wrap_socket(socket.create_connection(("own.test", 8443), 30), server_hostname="own.test") as s:
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    assert b"HTTP/1.0 200" in s.makefile("rb").read()'
	valid
	assert_json '.exit_code == 0'
	assert_json '[.violations[] | [.object, .count]] == [["fr.test:8443", 10], ["own.test:8443", 1]]'
}

@test "wget, git, node" {
	command -v wget >/dev/null && {
		listed ok.test wget -qO- http://ok.test/
		curl_works
	}
	listed ok.test git ls-remote http://ok.test/x.git
	assert_json '.stderr | contains("ok.test") and (contains("resolve") | not)'
	assert_json '.hosts[0].received > 0'
	command -v node >/dev/null || must_or_skip "node is not installed"
	listed ok.test node -e 'fetch("http://ok.test/").then(r => r.text()).then(t => process.stdout.write(t))'
	curl_works
	listed ok.test node -e 'fetch("http://other.test/").then(() => process.exit(3), () => process.exit(4))'
	assert_json '.exit_code == 4'
}

@test "git clone over HTTP and HTTPS" {
	export NETLAB_FILES=$SCRATCH/files
	mkdir "$NETLAB_FILES"
	git init -q "$SCRATCH/origin"
	seq 20000 >"$SCRATCH/origin/numbers"
	git -C "$SCRATCH/origin" add numbers
	git -C "$SCRATCH/origin" -c user.name=u -c user.email=u@u commit -qm one
	git clone -q --bare "$SCRATCH/origin" "$NETLAB_FILES/r.git"
	git -C "$NETLAB_FILES/r.git" update-server-info
	FLAGS=(--allow-read "$LAB")
	listed ok.test git clone -q http://ok.test/files/r.git plain
	assert_json '.exit_code == 0'
	cmp plain/numbers "$SCRATCH/origin/numbers"
	FLAGS+=(--env "GIT_SSL_CAINFO=$LAB/cert.pem")
	listed ok.test git clone -q https://ok.test/files/r.git secure
	assert_json '.exit_code == 0 and ([.hosts[].port] == [443])'
	cmp secure/numbers "$SCRATCH/origin/numbers"
	listed other.test git clone -q http://ok.test/files/r.git no
	assert_json '.exit_code == 128 and [.violations[].object] == ["ok.test"]'
}

ports() {
	in_python ok.test:8080 '
assert get("ok.test", 8080).endswith(b"hello\n")
assert refused("ok.test", 80) and refused("ok.test", 7000)'
	assert_json '[.violations[].object] - ["ok.test:80", "ok.test:7000"] == []'
	assert_json '.violations | length == 2'
	in_python ok.test '
assert get("ok.test", 8080).endswith(b"hello\n")
assert refused("other.test", 8080)'
}

@test "only the port that is listed, and any port where none is" { ports; }

@test "the same where a broker is asked about connections" {
	FLAGS=(--protect exact)
	ports
	assert_json '.enforced | index("exact")'
}

@test "a wildcard means what is below it" {
	in_python '*.wild.test' '
assert get("a.wild.test") and get("a.b.wild.test") and get("A.Wild.TEST.")
assert refused("wild.test") and refused("ok.test")'
	assert_json '[.violations[].object] == ["wild.test", "ok.test"]'
}

@test "an address and a net that are listed" {
	in_python 203.0.113.10 '
assert get("203.0.113.10") and refused("203.0.113.11") and refused("ok.test")'
	in_python 203.0.113.0/24:80 '
assert get("203.0.113.10") and get("203.0.113.11") and refused("203.0.113.10", 8080)'
	in_python '[2001:db8::10]:80' '
assert get("2001:db8::10") and refused("2001:db8::1") and refused("2001:db8::10", 8080)'
}

@test "a name with an IPv6 address alone, and one whose first addresses are no good" {
	in_python six.test,mixed.test '
assert get("six.test").endswith(b"hello\n") and get("mixed.test").endswith(b"hello\n")'
}

@test "H67 H68 no name leads to the host, its network or what stands for them" {
	local names=loop.test,private.test,metadata.test,own.test,zero.test,mapped.test,loop6.test,nat64.test,own6.test
	in_python "$names" '
for name in "'"$names"'".split(","):
    assert refused(name), name'
	assert_json '[.violations[].object] - ["127.0.0.1:80", "10.9.9.9:80", "169.254.169.254:80",
		"203.0.113.1:80", "0.0.0.0:80", "[::1]:80", "[64:ff9b::7f00:1]:80",
		"[2001:db8::1]:80"] == []'
	assert_json '.violations | length == 8'
	assert_json '[.hosts[] | select(.received > 0)] == []'
}

@test "unless the policy gives that address, and nothing larger" {
	in_python private.test,10.9.9.9 'assert get("private.test") and get("10.9.9.9")'
	in_python private.test,10.0.0.0/8 'assert get("private.test") and get("10.9.9.9")'
	in_python private.test,0.0.0.0/0 '
assert get("203.0.113.11") and refused("private.test") and refused("10.9.9.9")'
	assert_json '[.violations[].object] == ["10.9.9.9:80"]'
}

@test "what is denied is not reached although it is listed: a name, a port, an address" {
	FLAGS=(--deny-host a.wild.test,ok.test:8080 --deny-host 203.0.113.11)
	in_python '*.wild.test,ok.test,other.test,203.0.113.0/24' '
assert get("a.b.wild.test") and get("ok.test") and get("203.0.113.10")
assert refused("a.wild.test") and refused("A.Wild.Test.") and refused("ok.test", 8080)
assert refused("203.0.113.11") and refused("other.test")'
	assert_json '[.violations[].object] ==
		["a.wild.test", "ok.test:8080", "203.0.113.11:80"]'
	assert_json '[.violations[].fix.flags | select(. != null)] == []'
	run -0 sort -u "$LAB/asked"
	assert_output "$(printf '%s\n' a.b.wild.test ok.test other.test)"
}

@test "every spelling of the loopback is denied by each, and a project file may deny" {
	local spelling
	for spelling in localhost 127.0.0.1:7777 '[::1]' 127.0.0.0/8; do
		run -0 cordon explain --allow-network=localhost:7777 --deny-host "$spelling" localhost:7777
		assert_contains "connect denied   deny_hosts"
	done
	printf '[sandbox]\ndeny_hosts = ["ok.test"]\n' >.cordon.toml
	in_python ok.test,other.test 'assert refused("ok.test") and get("other.test")'
	run -0 cordon explain --allow-network=ok.test ok.test
	assert_contains "a project file refuses it"
	run -125 --separate-stderr cordon run --allow-network true
	[[ $stderr == *"deny_hosts takes from a list"* ]] || fail "not refused" "$(outcome)"
}

@test "what a host is not is said with what to write" {
	run -125 --separate-stderr cordon run --allow-network=https://api.test:8443/v1?x=y true
	[[ $stderr == *"a URL, where a host is wanted: write api.test:8443"* ]] || fail "no host" "$(outcome)"
	run -125 --separate-stderr cordon run --allow-network=https://u:p@api.test/ true
	[[ $stderr == *"a URL, where a host is wanted"* && $stderr != *": write"* ]] ||
		fail "guessed" "$(outcome)"
	run -0 cordon explain localhost
	assert_contains "by their port: --allow-network=localhost:8080"
	run -0 cordon explain --allow-network=localhost:80 127.0.0.1
	assert_contains "by their port: --allow-network=localhost:8080"
}

@test "why a listed host was not reached is said" {
	run --separate-stderr lab "$CORDON" run --backend native \
		--allow-network=ok.test,none.test,own.test -- sh -c \
		'curl -s http://ok.test:81/; curl -s http://none.test/; curl -s http://own.test/; true'
	assert_success
	output=$stderr
	assert_contains "cordon: ok.test:81 was not reached: nothing answered"
	assert_contains "cordon: none.test:80 was not reached: the name has no address"
	assert_contains "cordon: own.test:80 was not reached: the name leads to an address"
	assert_contains "--allow-network=203.0.113.1:80"
}

@test "whom a run reached is told with its changes: connections, bytes, time" {
	run -0 --separate-stderr lab "$CORDON" run --backend native --changes \
		--allow-network=ok.test,none.test -- sh -c \
		'curl -s http://ok.test/ http://ok.test:8080/; curl -s http://ok.test:8080/; curl -s http://none.test/; true'
	output=$stderr
	[[ $stderr =~ "cordon: reached ok.test:80: 1 connection, "[0-9]+" bytes sent, "[0-9]+" received, "[0-9]+m?s ]] ||
		fail "not told" "$(outcome)"
	[[ $stderr =~ "cordon: reached ok.test:8080: 2 connections, "[1-9][0-9]+" bytes sent, "[1-9][0-9]+" received" ]] ||
		fail "not told" "$(outcome)"
	refute_contains "reached none.test"
	assert_contains "none.test:80 was not reached"
	# Nobody asked.
	run -0 --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test -- curl -s http://ok.test/
	assert_equal "$stderr" ""
	# At most ten of them.
	run -0 --separate-stderr lab "$CORDON" run --backend native --changes \
		--allow-network=ok.test,other.test,203.0.113.0/24 -- /usr/bin/python3 -c '
import contextlib, socket
for host in "ok.test", "other.test", "203.0.113.10", "203.0.113.11":
    for port in 80, 443, 8080:
        s = socket.create_connection((host, port))
        s.shutdown(socket.SHUT_WR)
        # It ends when the server has seen that, so the relay has reached it by then.
        with contextlib.suppress(ConnectionResetError):
            s.recv(1)'
	assert_equal "$(grep -c "^cordon: reached .*: 1 connection" <<<"$stderr")" 10
	[[ $stderr == *"cordon: reached 2 more, which 'hosts' of the result has"* ]] || fail "how many" "$(outcome)"
}

@test "H68 a name that answers differently each time is dialled where it was looked at" {
	# Not by the name, which has a second address to try when the first is refused.
	in_python flip.test '
address = socket.gethostbyname("flip.test")
assert [refused(address) for _ in range(6)] == [False, True] * 3'
	assert_json '[.violations[].object] == ["127.0.0.1:80"]'
}

# Servers on the machine of the lab itself.
on_host() {
	python3 -c '
import os, socket, sys
six = os.environ.get("HOST_FAMILY") == "six"
s = socket.create_server(("::1" if six else "127.0.0.1", 7777),
                         family=socket.AF_INET6 if six else socket.AF_INET)
open(sys.argv[1], "w").close()
while True:
    c, _ = s.accept()
    c.recv(100)
    c.sendall(b"of the host")
    c.close()' "$LAB/up" &
	until [ -e "$LAB/up" ]; do sleep 0.01; done
	"$@"
}

@test "H73 a service of the host is reached when it is listed, and only then" {
	export -f on_host
	run --separate-stderr lab bash -c 'on_host "$@"' bash "$CORDON" run --json --backend native \
		--allow-network=localhost:7777 -- /usr/bin/python3 -c '
import socket
s = socket.create_connection(("localhost", 7777)); s.sendall(b"x")
assert s.recv(100) == b"of the host"'
	assert_json '.exit_code == 0 and .hosts[0].host == "localhost"'
	run --separate-stderr lab bash -c 'on_host "$@"' bash "$CORDON" run --json --backend native \
		--allow-network=ok.test,localhost:7778 -- /usr/bin/python3 -c '
import socket
for a in "localhost", "127.0.0.1", "203.0.113.1":
    try:
        socket.create_connection((a, 7777))
    except OSError:
        continue
    raise SystemExit(a)'
	assert_json '.exit_code == 0'
	export HOST_FAMILY=six
	run --separate-stderr lab bash -c 'on_host "$@"' bash "$CORDON" run --json --backend native \
		--allow-network='[::1]:7777' -- /usr/bin/python3 -c '
import socket
s = socket.create_connection(("::1", 7777)); s.sendall(b"x")
assert s.recv(100) == b"of the host"
assert socket.socket().connect_ex(("127.0.0.1", 7777)) != 0'
	assert_json '.exit_code == 0 and .hosts[0].host == "::1"'
	run -125 --separate-stderr cordon run --allow-network=localhost true
	[[ $stderr == *"name the port: localhost:8080"* ]] || fail "no hint" "$(outcome)"
}

@test "H72 a name that is not listed reaches no name server" {
	in_python 'ok.test,*.wild.test' '
import subprocess
for name in "secret.other.test", "wild.test.evil.test", "wild.test", "okxtest", "x.ok.test":
    assert refused(name), name
assert get("ok.test")'
	run -0 sort -u "$LAB/asked"
	assert_output ok.test
}

@test "H65 H66 names that only look like a listed one" {
	in_python 'ok.test,*.wild.test' '
def code(*labels):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.settimeout(20)
    u.sendto(struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) +
             b"".join(bytes([len(l)]) + l for l in labels) + b"\0\0\1\0\1", ("127.0.0.1", 53))
    a = u.recv(4096)
    return a[3] & 15, a[7]
assert code(b"OK", b"tEsT") == (0, 1) and code(b"x", b"wild", b"test") == (0, 1)
for labels in ([b"ok.test"], [b"ok\0", b"test"], [b"ok", b"test\0"], [b"ok", b"test", b"evil"],
               [b"evil\0", b"wild", b"test"], [b"a.b", b"wild", b"test"], [b"a b", b"wild", b"test"],
               [b"u@h", b"wild", b"test"], [b"%61", b"wild", b"test"], [b"\xc3\xa9", b"wild", b"test"],
               [b"-a", b"wild", b"test"], [b"*", b"wild", b"test"], [b"evilwild", b"test"],
               [b"wild", b"test"], [b"x.wild", b"test"], [b"198.18.0.1"], [b"127", b"1"]):
    assert code(*labels) == (3, 0), labels'
	run -0 cat "$LAB/asked"
	assert_output ""
}

@test "H67 an address is refused in every spelling that programs understand, and told as what it is" {
	in_python ok.test '
for spelling in ("203.0.113.10", "3405803786", "0xcb00710a", "0313.0.0161.012", "203.28938", "0xcb.0x710a",
                 "::ffff:203.0.113.10", "::ffff:cb00:710a", "0:0:0:0:0:ffff:203.0.113.10"):
    assert refused(spelling), spelling'
	assert_json '[.violations[].object] | unique == ["203.0.113.10:80"]'
	assert_json '.hosts == []'
	run -0 cat "$LAB/asked"
	assert_output ""
	# And none of them can be listed but the usual one.
	local spelling
	for spelling in 3405803786 0xcb00710a 0313.0.0161.012 203.28938 '[::ffff:203.0.113.10%25lo]' 203.0.113.10.; do
		run -125 --separate-stderr cordon run --allow-network="$spelling" true
		[[ $stderr == *"host '$spelling'"* ]] || fail "$spelling" "$(outcome)"
	done
}

@test "H64 an empty list allows nothing" {
	printf '[sandbox]\nnetwork = []\n' >config.toml
	mkdir -p "$HOME/.cordon"
	cp config.toml "$HOME/.cordon/config.toml"
	run --separate-stderr lab "$CORDON" run --json --backend native -- curl -sS http://ok.test/
	assert_json '.exit_code == 6 and .hosts == []'
	run --separate-stderr lab "$CORDON" run --json --backend native -- curl -sS http://203.0.113.10/
	assert_json '.exit_code == 7'
}

@test "answers: one address of each kind, no other record, names of addresses, over UDP and TCP" {
	in_python ok.test '
def question(name, kind):
    labels = b"".join(bytes([len(l)]) + l for l in name.split(b"."))
    return struct.pack(">6H", 7, 0x100, 1, 0, 0, 0) + labels + b"\0" + struct.pack(">2H", kind, 1)
def ask(name, kind):
    q = question(name, kind)
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    u.settimeout(20)
    u.sendto(q, ("127.0.0.1", 53))
    a = u.recv(4096)
    t = socket.create_connection(("127.0.0.1", 53), 20)
    t.sendall(struct.pack(">H", len(q)) + q)
    n = struct.unpack(">H", t.recv(2, socket.MSG_WAITALL))[0]
    assert t.recv(n, socket.MSG_WAITALL) == a
    code, count = a[3] & 15, struct.unpack(">H", a[6:8])[0]
    return code, count, a[len(q):]
code, count, data = ask(b"ok.test", 1)
assert (code, count) == (0, 1) and data[-4:-2] == bytes([198, 18]), data
code, count, six = ask(b"ok.test", 28)
assert (code, count) == (0, 1) and six[-16:-4] == bytes.fromhex("fd636f72646f6e00") + bytes(4)
assert six[-4:] == data[-4:]
for kind in 65, 64, 16, 15:
    assert ask(b"ok.test", kind) == (0, 0, b""), kind
address = data[-4:]
assert socket.inet_ntoa(address) == socket.gethostbyname("OK.test.")
back = b".".join(b"%d" % b for b in reversed(address)) + b".in-addr.arpa"
code, count, data = ask(back, 12)
assert (code, count) == (0, 1) and data.endswith(b"\2ok\4test\0"), data
assert socket.gethostbyaddr(socket.inet_ntoa(address))[0] == "ok.test"
assert ask(b"99.0.18.198.in-addr.arpa", 12)[0] == 3
back = b".".join(b"%x" % n for b in reversed(six[-16:]) for n in (b & 15, b >> 4)) + b".ip6.arpa"
code, count, data = ask(back, 12)
assert (code, count) == (0, 1) and data.endswith(b"\2ok\4test\0"), data
assert ask(b"0" + back[1:], 12)[0] == 3
socket.gethostbyname(socket.gethostname())'
	assert_json '.violations == []'
}

@test "UDP to a listed name is refused at once, so that QUIC falls back, and this is said" {
	in_python ok.test '
def refused_udp(family):
    u = socket.socket(family, socket.SOCK_DGRAM)
    u.settimeout(20)
    u.connect(socket.getaddrinfo("ok.test", 443, family, socket.SOCK_DGRAM)[0][4])
    u.send(b"x")
    try:
        u.recv(1)
    except ConnectionRefusedError:
        return True
assert refused_udp(socket.AF_INET) and refused_udp(socket.AF_INET6)
# Nobody waits for an answer, and the command ends.
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("ok.test", 8443))'
	assert_json '.violations | map([.op, .object, .count]) ==
		[["send", "ok.test:443", 2], ["send", "ok.test:8443", 1]]'
	listed ok.test sh -c 'python3 -c "
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b\"x\", (\"127.0.0.1\", 9))"'
	assert_json '.violations == []'
	run --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test -- python3 -c '
import socket
socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("ok.test", 443))'
	[[ $stderr == *"sending UDP to ok.test:443"*"only TCP does"* ]] || fail "no reason" "$(outcome)"
}

@test "UDP to a listed name does not count for --on-violation, other UDP does" {
	local how once='u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.settimeout(20)
def refused_udp(to):
    u.connect(to)
    u.send(b"x")
    try:
        u.recv(1)
    except ConnectionRefusedError:
        return True
'

	for how in fail kill; do
		FLAGS=(--on-violation $how)
		# More of them than are kept leave room for what counts.
		in_python ok.test "$once"'
for port in range(300):
    assert refused_udp(("ok.test", 1000 + port))
assert get("ok.test").endswith(b"hello\n")'
		assert_json '.cause == "exited" and .violations[0].op == "send"'
		listed ok.test /usr/bin/python3 -c "import socket, time
$once"'
for port in range(300):
    assert refused_udp(("ok.test", 1000 + port))
u.connect(("192.0.2.1", 53))
u.send(b"x")
'"$([ $how = fail ] || echo 'time.sleep(60)')"
		assert_json '.cause == "policy" and .violations[-1].object == "192.0.2.1:53"'
	done
}

refused_datagrams() {
	in_python ok.test '
import threading
def ask(family, to):
    u = socket.socket(family, socket.SOCK_DGRAM)
    assert u.connect_ex(to) == errno.ENETUNREACH, to
ask(socket.AF_INET, ("192.0.2.1", 53))
ask(socket.AF_INET6, ("2001:db8::99", 53))
t = threading.Thread(target=ask, args=(socket.AF_INET, ("192.0.2.2", 53)))
t.start(); t.join()
assert refused("192.0.2.1", 53)'
	assert_json '.violations | map([.op, .object]) == [["send", "192.0.2.1:53"],
		["send", "[2001:db8::99]:53"], ["send", "192.0.2.2:53"], ["connect", "192.0.2.1:53"]]'
	# No flag for the one host would let it out.
	assert_json '.violations[0] | .fix == null and (.reason | contains("only TCP does"))'
}

@test "UDP to an address that is not listed is told as UDP" {
	refused_datagrams
	FLAGS=(--protect exact)
	refused_datagrams
}

# Without connecting first, where connecting would be told, too.
stray_datagrams() {
	in_python "$1" '
def stray(family, to):
    u = socket.socket(family, socket.SOCK_DGRAM)
    u.setsockopt(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)
    for send in u.sendto, lambda data, to: u.sendmsg([data], [], 0, to):
        try:
            send(b"x", to)
            assert False, to
        except OSError as e:
            assert e.errno == errno.ENETUNREACH, e
stray(socket.AF_INET, ("192.0.2.1", 53))
stray(socket.AF_INET, ("255.255.255.255", 53))
stray(socket.AF_INET6, ("2001:db8::99", 53))
stray(socket.AF_INET6, ("::ffff:192.0.2.1", 53))
# What connects is told by its address, or not at all, and is no datagram.
for to in ("192.0.2.1", 53), ("192.0.2.1", 0), ("192.0.2.3", 0):
    u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    assert u.connect_ex(to) == errno.ENETUNREACH, to
assert refused("192.0.2.1", 53)'
	assert_json '.violations | map([.op, .object, .count]) == [["send", "192.0.2.1:53", 1],
		["connect", "192.0.2.1:53", 1], ["send", "unlisted addresses", 8]]'
	assert_json '.violations[2] | .source == "kernel" and .fix == null and
		(.reason | contains("only TCP does"))'
}

@test "UDP to an address that is not listed, sent without connecting first, is counted and told" {
	stray_datagrams ok.test
	stray_datagrams off
	FLAGS=(--protect exact)
	stray_datagrams ok.test
	stray_datagrams off
}

@test "UDP sent without connecting first counts for --on-violation" {
	local list how one='import socket
try:
    socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("192.0.2.1", 53))
except OSError:
    pass'

	for list in ok.test off; do
		for how in fail kill; do
			FLAGS=(--on-violation $how)
			listed $list /usr/bin/python3 -c "$one"
			assert_json '.cause == "policy" and .exit_code == 0'
		done
	done
}

@test "what connects and is refused makes no datagrams of it" {
	local how

	for how in guard exact; do
		FLAGS=(--protect $how)
		in_python 192.0.2.7:443 '
for i in range(50):
    assert refused("192.0.2.1", 1000 + i)
    assert refused("2001:db8::99", 1000 + i)
    socket.socket().connect_ex(("192.0.2.7", 80))
socket.getaddrinfo("localhost", None)'
		assert_json 'all(.violations[]; .op == "connect" and .object != "unlisted addresses")'
	done
}

@test "UDP on its own loopback is not told, and leaves nothing else untold" {
	in_python ok.test '
for family, here in (socket.AF_INET, "127.0.0.1"), (socket.AF_INET6, "::1"):
    for i in range(1500):
        with socket.socket(family, socket.SOCK_DGRAM) as u:
            u.sendto(b"x", (here, 9))
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.sendto(b"x", ("ok.test", 443))
socket.socket(socket.AF_INET6, socket.SOCK_DGRAM).sendto(b"x", ("ok.test", 444))
# Where no name is.
u.sendto(b"x", ("198.18.77.7", 445))'
	assert_json '[.violations[].object] | sort == ["198.18.77.7:445", "ok.test:443", "ok.test:444"]'
}

@test "much UDP that is refused does not hold the run up" {
	in_python ok.test '
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
to = (socket.gethostbyname("ok.test"), 443)
for i in range(50000):
    u.sendto(b"x", to)
assert get("ok.test").endswith(b"hello\n")'
	assert_json '.violations[0].op == "send" and .violations[0].count <= 1024'
}

own_servers() {
	in_python ok.test:8080,other.test:8081 '
own = socket.create_server(("127.0.0.1", 8080))
six = socket.create_server(("::1", 8080), family=socket.AF_INET6)
# Of another one and not yet connected to: on all addresses.
every = socket.create_server(("0.0.0.0", 8081))
for host, server in ("127.0.0.1", own), ("::1", six), ("127.0.0.1", every):
    c = socket.create_connection((host, server.getsockname()[1]), 20)
    server.accept()[0].send(b"own")
    assert c.recv(3) == b"own", host
    assert get("ok.test", 8080).endswith(b"hello\n")
# And afterwards, too.
socket.create_server(("127.0.0.2", 8080))'
}

@test "a server of the command can have a port that the list names" {
	own_servers
	FLAGS=(--protect exact)
	own_servers
}

@test "half-close, reset, urgent data, many bytes" {
	in_python ok.test '
s = socket.create_connection(("ok.test", 7000), 30)
s.sendall(b"y" * 5000000 + b"0123456789")
s.shutdown(socket.SHUT_WR)
assert s.makefile("rb").read() == b"5000010:0123456789"
s = socket.create_connection(("ok.test", 7001), 30)
s.sendall(b"x")
try:
    assert s.recv(1) != b"", "an end, not a reset"
except ConnectionResetError:
    pass
s = socket.create_connection(("ok.test", 7000), 30)
s.send(b"before")
s.send(b"!", socket.MSG_OOB)
s.send(b"after")
s.shutdown(socket.SHUT_WR)
assert s.makefile("rb").read() == b"12:fore!after"
s = socket.create_connection(("ok.test", 80), 30)
s.sendall(b"GET /big/200000000 HTTP/1.0\r\n\r\n")
n = 0
while True:
    part = s.recv(1 << 20)
    if not part: break
    n += len(part)
assert n > 200000000, n'
	assert_json '.hosts | map(select(.port == 80))[0].received > 200000000'
	assert_json '.hosts | map(select(.port == 7000))[0] | .sent == 5000022 and .received == 31'
}

@test "what nobody reads stays with who sends it, and comes when it is read" {
	FLAGS=(--allow-read "$LAB")
	in_python ok.test '
import time
s = socket.create_connection(("ok.test", 7003), 60)
filled = "'"$LAB"'/filled"
while not os.path.exists(filled):
    time.sleep(0.01)
taken = int(open(filled).read())
assert taken < 50000000, taken
n = 0
while part := s.recv(1 << 20):
    assert part.count(b"z") == len(part)
    n += len(part)
assert n == 200000000, n'
	assert_json '.hosts[0].received == 200000000'
}

@test "who goes while much is sent to him ends his connection only" {
	in_python ok.test '
for i in range(200):
    s = socket.create_connection(("ok.test", 80), 30)
    s.sendall(b"GET /big/3000000 HTTP/1.0\r\n\r\n")
    if i % 2:
        s.recv(1)
    s.close()
assert get("ok.test").endswith(b"hello\n")'
	[[ $stderr != *"ended before"* ]] || fail "the relay died" "$(outcome)"
	assert_json '.hosts[0].count == 201'
}

@test "a thousand connections at once" {
	in_python ok.test '
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
every = [socket.create_connection(("ok.test", 7000), 60) for _ in range(1000)]
for i, s in enumerate(every):
    s.sendall(b"%d" % i)
    s.shutdown(socket.SHUT_WR)
for i, s in enumerate(every):
    want = b"%d:%d" % (len(str(i)), i)
    assert s.recv(100, socket.MSG_WAITALL) == want, i'
	assert_json '.hosts[0].count == 1000'
}

@test "ten thousand names" {
	in_python '*.wild.test' '
u = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
u.settimeout(60)
u.connect(("127.0.0.1", 53))
seen = set()
for i in range(10000):
    label = b"n%d" % i
    u.send(struct.pack(">6H", i, 0x100, 1, 0, 0, 0) + bytes([len(label)]) + label +
           b"\4wild\4test\0" + struct.pack(">2H", 1, 1))
    seen.add(u.recv(512)[-4:])
assert len(seen) == 10000
assert get("a.wild.test")'
}

# cpu_with N RUNS: milliseconds of processor time to start so many runs whose list has N names.
cpu_with() {
	mkdir -p -m 700 "$HOME/.cordon"
	{ echo '[sandbox]'; echo 'network = ['; seq -f '"n%g.wild.test",' "$1"; echo ']'; } >"$HOME/.cordon/config.toml"
	/usr/bin/python3 -c '
import resource, subprocess, sys
for i in range(int(sys.argv[1])):
    subprocess.run(sys.argv[2:], check=True)
used = resource.getrusage(resource.RUSAGE_CHILDREN)
print(int(1000 * (used.ru_utime + used.ru_stime)))' "$2" "$CORDON" run -q --backend native true
}

@test "a list of ten thousand names takes no longer to read than five of two thousand" {
	local few many
	few=$(cpu_with 2000 5)
	many=$(cpu_with 10000 1)
	[ "$many" -le "$few" ] || fail "five of two thousand take $few ms, one of ten thousand $many ms"
	run -0 --separate-stderr cordon run --json --backend native -- /usr/bin/python3 -c '
import socket
for i in 1, 5000, 10000:
    assert socket.gethostbyname("n%d.wild.test" % i).startswith("198.18.0.")
for name in "n0.wild.test", "n10001.wild.test", "wild.test", "x.n1.wild.test":
    try:
        socket.gethostbyname(name)
        raise SystemExit(name)
    except socket.gaierror:
        pass'
	assert_json '[.violations[].object] == ["n0.wild.test", "n10001.wild.test", "wild.test", "x.n1.wild.test"]'
}

@test "as a user who is not root in his own eyes" {
	run --separate-stderr lab unshare --user --map-user=1000 --map-group=1000 \
		"$CORDON" run --json --backend native --allow-network=ok.test -- curl -sS http://ok.test:8080/
	curl_works
}

@test "every profile can have a list" {
	local profile
	for profile in strict moderate permissive shell agent; do
		FLAGS=(-p "$profile")
		in_python ok.test 'assert get("ok.test").endswith(b"hello\n") and refused("other.test")'
	done
}

@test "without notification the listed and the usual ports work" {
	testing=$(dirname "$CORDON")/cordon-testing
	[ -x "$testing" ] || must_or_skip "no build for tests"
	export CORDON_CAPS_MASK=seccomp-notify
	CORDON=$testing in_python ok.test,other.test:8080 '
assert get("ok.test") and get("ok.test", 8080) and refused("ok.test", 7000)'
}

@test "the other backends refuse a list, and degraded to one of them there is no network" {
	local backend
	for backend in landlock bwrap; do
		run --separate-stderr cordon run --backend "$backend" --share-pid --no-new-session \
			--allow-network=ok.test true
		assert_status 125
		[[ $stderr == *"the $backend backend cannot promise"* ]] || fail "why" "$(outcome)"
		run --separate-stderr lab "$CORDON" run --json --backend "$backend" --fallback degrade \
			--allow-network=ok.test,203.0.113.10 -- curl -sS http://203.0.113.10/
		[ "$status" -ne 125 ] || continue
		assert_json '(.degraded | index("network")) and .exit_code != 0 and .stdout == ""'
	done
}

# --- limits ------------------------------------------------------------------------------

@test "an address that a listed net does not open is told with the flag that does" {
	in_python 203.0.113.0/24,0.0.0.0/0 '
assert refused("203.0.113.1", 8000) and refused("10.9.9.9", 8000)'
	assert_json '.violations | map([.object, .fix.flags]) == [
		["203.0.113.1:8000", "--allow-network=203.0.113.1:8000"],
		["10.9.9.9:8000", "--allow-network=10.9.9.9:8000"]]'
	assert_json '.violations[0].rule | contains("a net does not stand for")'
	assert_json '.hosts[0].failure | contains("name leads") | not'
}

@test "after more hosts than are told apart a refusal still has its port" {
	in_python ok.test,own.test '
at = socket.gethostbyname("ok.test")
for port in range(9000, 9300):
    assert refused(at, port)
assert refused("own.test", 8000)'
	assert_json '.hosts | length == 256'
	assert_json '[.violations[].object] == ["203.0.113.1:8000"]'
}

@test "what TLS asks for and is no name is refused and told, and counts, with no flag" {
	FLAGS=(--on-violation fail)
	in_python ok.test,203.0.113.10 '
def ask(*names):
    e = b"".join(struct.pack(">HHHBH", 0, len(n) + 5, len(n) + 3, 0, len(n)) + n for n in names)
    b = b"\3\3" + os.urandom(32) + b"\0\0\2\x13\1\1\0" + struct.pack(">H", len(e)) + e
    m = b"\1" + struct.pack(">I", len(b))[1:] + b
    s = socket.create_connection(("ok.test", 443), 20)
    s.sendall(b"\x16\3\1" + struct.pack(">H", len(m)) + m)
    try:
        assert s.recv(1) == b"", names
    except ConnectionError:
        pass
ask(b"ok.test", b"ok.test")
ask(b"evil.test:99")
ask(b"[::1]")'
	[ "$status" -eq 125 ] || fail "does not count" "$(outcome)"
	assert_json '.violations | map([.object, .count, .rule, .fix]) == [["ok.test:443", 3, null, null]]'
	assert_json '.violations[0].reason | contains("the host is listed; what TLS asked for")'
}

@test "more connections at a time than the limit are refused, and this is said" {
	FLAGS=(--connections 3)
	in_python ok.test '
every = [socket.create_connection(("ok.test", 7000), 30) for _ in range(3)]
for s in every:
    s.sendall(b"x")
assert refused("ok.test", 80)
for s in every:
    s.shutdown(socket.SHUT_WR)
    assert s.recv(10) == b"1:x"
    s.close()
# One that ended makes room, as soon as that is known.
while refused("ok.test", 80):
    pass'
	assert_json '.hosts | map(select(.port == 7000))[0] | .count == 3 and .failure == null'
	# That there was none is told all the same.
	assert_json '.hosts | map(select(.port == 80))[0] | .received > 0 and
		(.failure | startswith("too many connections at a time"))'
	run --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test \
		--connections 1 -- /usr/bin/python3 -c '
import socket
s = socket.create_connection(("ok.test", 7000)); s.sendall(b"x")
try:
    socket.create_connection(("ok.test", 80)).recv(1)
except OSError:
    pass'
	[[ $stderr == *"ok.test:80 was not reached: too many connections at a time (limits.connections)"* ]] ||
		fail "not said" "$(outcome)"
	run --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test \
		--connections 1 -- /usr/bin/python3 -c '
import socket
one = socket.create_connection(("ok.test", 7002)); one.recv(1)
try:
    socket.create_connection(("ok.test", 7002)).recv(1)
except OSError:
    pass'
	[[ $stderr == *"ok.test:7002 was not always reached: too many connections at a time"* ]] ||
		fail "not said" "$(outcome)"
}

@test "more bytes than the limit end the command, and not one more is moved" {
	FLAGS=(--traffic 1M)
	listed ok.test curl -sS -o /dev/null http://ok.test/big/900000
	assert_json '.cause == "exited" and .exit_code == 0'
	listed ok.test curl -sS -o /dev/null http://ok.test/big/2000000
	assert_json '.cause == "traffic" and (.hosts[0] | .sent + .received == 1048576)'
	[ "$status" -eq 137 ] || fail "status" "$(outcome)"
	# What is sent counts as well, and all connections together.
	listed ok.test /usr/bin/python3 -c '
import socket
for i in range(10):
    s = socket.create_connection(("ok.test", 7000))
    s.sendall(b"x" * 300000); s.shutdown(socket.SHUT_WR); s.recv(100)'
	assert_json '.cause == "traffic" and (.hosts[0] | .sent + .received == 1048576)'
	run -137 --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test \
		--traffic 10K -- curl -sS -o /dev/null http://ok.test/big/20000
	[[ $stderr == *"exchanged too much with hosts"* ]] || fail "not said" "$(outcome)"
	run -125 --separate-stderr cordon run --traffic 1M --allow-network -- true
	[[ $stderr == *"limits.traffic counts"*"--traffic none"* ]] || fail "not said" "$(outcome)"
}

# --- the caller's proxy --------------------------------------------------------------------

@test "with the caller's proxy a listed name is reached by it, and it looks the name up" {
	proxied
	FLAGS=(--allow-read "$LAB")
	in_python ok.test,six.test '
assert get("ok.test").endswith(b"hello\n") and get("six.test").endswith(b"hello\n")
s = socket.create_connection(("ok.test", 7002), 30)
assert s.recv(100) == b"first\n"
s.close()
assert refused("other.test")'
	assert_json '[.hosts[].proxy] == [true, true, true]'
	assert_json '[.violations[].object] == ["other.test"]'
	run -0 grep -c 'CONNECT ok.test:80 ' "$LAB/proxy"
	run -0 grep 'CONNECT six.test:80 ' "$LAB/proxy"
	run -0 cat "$LAB/asked"
	refute_contains other.test
	listed ok.test curl -sS --cacert "$LAB/cert.pem" https://ok.test/
	curl_works
	run --separate-stderr lab "$CORDON" run --backend native --allow-network=ok.test -- \
		curl -sS http://ok.test/
	assert_success
	[[ $stderr == *"looked up by the proxy"* ]] || fail "not said" "$(outcome)"
}

@test "neither the variables nor the credentials are seen inside, nor on a command line" {
	proxied
	export NO_PROXY=x.test
	listed ok.test sh -c 'env; cat /proc/*/cmdline /proc/*/environ 2>/dev/null | tr "\0" "\n"'
	assert_json '.stdout | ascii_downcase | (contains("proxy") or contains("passw0rd") or
		contains("pass%770rd") or contains("bwu6cgfzc3cwcmq")) | not'
	run -0 --separate-stderr lab bash -c '
"$0" run -q --backend native --allow-network=ok.test -- sh -c "getent hosts ok.test; exec sleep 1000" >/dev/null &
until pid=$(pidof cordon-relay) && grep -q "^Seccomp:.2" /proc/$pid/status; do sleep 0.01; done
tr "\0" "\n" </proc/$pid/cmdline' "$CORDON"
	[[ ${output,,} != *passw0rd* && $output != *bWU6cGFzc3cwcmQ* ]] || fail "seen" "$(outcome)"
	# Off is the empty list.
	run -0 cordon run -q --backend native -- env
	refute_contains proxy
	refute_contains PROXY
	run -0 cordon run -q --backend native --env https_proxy -- sh -c 'echo "$https_proxy"'
	assert_contains 203.0.113.11
}

@test "a proxy that wants other credentials, refuses, cannot reach it, or is not there" {
	proxied
	HTTP_PROXY=http://me:wrong@203.0.113.11:3128 https_proxy=http://203.0.113.11:3128 \
		listed ok.test sh -c 'curl -s http://ok.test/; curl -s http://ok.test:443/; true'
	# tinyproxy tells wrong ones from none.
	assert_json '[.hosts[].failure | .[index("("):index(")")]] == ["(401", "(407"]'
	listed ok.test,none.test sh -c 'curl -s http://ok.test:7000/; curl -s http://none.test/; true'
	assert_json '.hosts[0].failure | contains("(403)")'
	assert_json '.hosts[1].failure | contains("could not reach it (50")'
	HTTP_PROXY=203.0.113.11:3129 https_proxy=http://none.test:3128 \
		listed ok.test sh -c 'curl -s http://ok.test/; curl -s http://ok.test:443/; true'
	assert_json '[.hosts[].failure | contains("the proxy was not reached")] == [true, true]'
	assert_json '[.hosts[] | select(.received > 0)] == []'
	# Not a proxy: what it says is not taken for an answer.
	HTTP_PROXY=203.0.113.10:7002 listed ok.test sh -c 'curl -s http://ok.test/; true'
	assert_json '.hosts[0] | .received == 0 and .failure == "the proxy refused it"'
}

@test "NO_PROXY is honoured, services of the host need none, and addresses are checked" {
	proxied
	NO_PROXY=x.test,.ok.test,203.0.113.0/24 in_python ok.test,other.test,203.0.113.10 '
assert get("ok.test") and get("203.0.113.10") and get("other.test")'
	assert_json '[.hosts[] | select(.proxy) | .host] == ["other.test"]'
	NO_PROXY='*' in_python ok.test 'assert get("ok.test")'
	assert_json '.hosts[0].proxy == false'
	in_python 203.0.113.10,0.0.0.0/0 '
assert get("203.0.113.10") and get("203.0.113.11")
assert refused("10.9.9.9") and refused("169.254.169.254") and refused("203.0.113.1")'
	assert_json '[.violations[].object] | sort == ["10.9.9.9:80", "169.254.169.254:80", "203.0.113.1:80"]'
	export -f on_host
	run --separate-stderr lab bash -c 'on_host "$@"' bash "$CORDON" run --json --backend native \
		--allow-network=localhost:7777 -- /usr/bin/python3 -c '
import socket
s = socket.create_connection(("localhost", 7777)); s.sendall(b"x")
assert s.recv(100) == b"of the host"'
	assert_json '.exit_code == 0 and .hosts[0].proxy == false'
}

@test "H69 TLS by a proxy that asks for another name is refused" {
	proxied
	in_python ok.test '
import ssl
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
context.wrap_socket(socket.create_connection(("ok.test", 443), 30), server_hostname="ok.test")
try:
    context.wrap_socket(socket.create_connection(("ok.test", 443), 30), server_hostname="fr.test")
    sys.exit(3)
except OSError:
    pass'
	assert_json '[.violations[].object] == ["fr.test:443"]'
}

@test "a proxy of another kind is an error that does not tell the password" {
	unset http_proxy https_proxy HTTP_PROXY HTTPS_PROXY all_proxy
	export ALL_PROXY=socks5://me:passw0rd@203.0.113.11:1080
	run -125 --separate-stderr cordon run --backend native --allow-network=ok.test -- true
	[[ $stderr == *"the proxy of ALL_PROXY cannot be used"*"env -u ALL_PROXY"* ]] || fail "why" "$(outcome)"
	[[ $stderr != *passw0rd* ]] || fail "told" "$(outcome)"
	# Where it does not count, it is nobody's business.
	run -0 cordon run -q --backend native --allow-network=localhost:7 -- true
	run -0 cordon run -q --backend native -- true
	HTTP_PROXY=x.test:1 HTTPS_PROXY=x.test:1 run -0 cordon run -q --backend native \
		--allow-network=ok.test -- true
}

@test "a relay that the command puts in the place of cordon's is never started" {
	is_static || skip "the build for sanitizers is not to be copied"
	mkdir bin
	cp "$CORDON" "$(dirname "$CORDON")/cordon-relay" bin
	printf '#!/bin/sh\n: >"%s/escaped"\n' "$SCRATCH" >evil
	chmod +x evil
	run ./bin/cordon run -q --allow-network=example.test -- sh -c '
		cp evil bin/new && mv -f bin/new bin/cordon-relay && cmp evil bin/cordon-relay &&
			getent hosts example.test'
	assert_status 0
	refute_file "$SCRATCH/escaped"
	# Nor where it is a link that the command can replace, to what it cannot.
	ln -sf "$(dirname "$CORDON")/cordon-relay" bin/cordon-relay
	run ./bin/cordon run -q --allow-network=example.test -- sh -c '
		cp evil bin/new && mv -f bin/new bin/cordon-relay && cmp evil bin/cordon-relay &&
			getent hosts example.test'
	assert_status 0
	refute_file "$SCRATCH/escaped"
}
