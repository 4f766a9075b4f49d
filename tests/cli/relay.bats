#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# The relay and the sockets that lead to it: who may use them, what is left when it is gone,
# and servers of the command that are published. hosts.bats has what a list allows.
load helper
load lab

@test "what is published is reached on the host's loopback, again and again, and nowhere else" {
	published 127.0.0.1 "" '
for i in range(150):
    assert get("127.0.0.1") and get("::1"), i
assert refused("203.0.113.1", 8080) and refused("2001:db8::1", 8080)
assert refused("127.0.0.1", 3000)
every = [socket.create_connection(("127.0.0.1", 8080), 30) for i in range(200)]
for s in every: s.sendall(b"GET / HTTP/1.0\r\n\r\n")
for i, s in enumerate(every):
    assert s.makefile("rb").read().endswith(b"inside\n"), i
    s.close()'
	published ::1 "" 'assert get("127.0.0.1") and get("::1")'
	published 0.0.0.0 --allow-network=ok.test 'assert get("127.0.0.1")'
}

@test "a port in use is said before the command starts" {
	run --separate-stderr lab bash -c '
/usr/bin/python3 -c "
import socket, time
s = socket.create_server((\"127.0.0.1\", 8080))
open(\"up\", \"w\").close()
time.sleep(1000)" &
until [ -e up ]; do sleep 0.01; done
exec "$0" run --backend native --publish 8080:3000 -- touch started' "$CORDON"
	assert_status 125
	[[ $stderr == *"cannot listen on port 8080 of the host's loopback (127.0.0.1)"* ]] ||
		fail "not said" "$(outcome)"
	[ ! -e started ] || fail "it was started"
	run -125 --separate-stderr cordon run --publish 8080:3000 --allow-network -- true
	[[ $stderr == *"the network is on"* ]] || fail "not refused" "$(outcome)"
	run -125 --separate-stderr cordon run --publish 8080:3000 --backend landlock --share-pid \
		--no-new-session -- true
	[[ $stderr == *"only --backend native can publish a port"* ]] || fail "why" "$(outcome)"
	run -125 --separate-stderr cordon run --publish 8080:80 -- true
	[[ $stderr == *"from 1024 on inside"* ]] || fail "why" "$(outcome)"
	run -125 --separate-stderr cordon run --publish 0.0.0.0:8080:3000 -- true
	[[ $stderr == *"without an address (it is the host's loopback)"*"as in 8080:3000 or 80:8080"* ]] ||
		fail "why" "$(outcome)"
}

@test "a published port that is listed as a service of the host, too, is an error" {
	local host

	for host in localhost 127.0.0.1 '[::1]'; do
		run -125 --separate-stderr cordon run --publish 8080:3000 --allow-network="$host:8080" -- touch started
		[[ $stderr == *"connections would go round"*"--publish OTHER:3000"* ]] || fail "why" "$(outcome)"
	done
	[ ! -e started ] || fail "it was started"
	run -0 cordon run -q --backend native --publish 8080:3000 --allow-network=localhost:8081,ok.test:8080 -- true
}

@test "published connections that stay do not keep others out" {
	published 127.0.0.1 "" '
every = [socket.create_connection(("127.0.0.1", 8080), 30) for i in range(300)]
for s in every: s.sendall(b"GET")
assert get("127.0.0.1") and get("::1")'
}

@test "a published port that is flooded, with nobody who accepts, leaves room for listed hosts" {
	run -0 --separate-stderr lab bash -c '
"$0" run --json --backend native --publish 8080:3000 --allow-network=ok.test -- \
	/usr/bin/python3 -c "
import os, socket, time
s = socket.create_server((\"127.0.0.1\", 3000), backlog=1)
open(\"up\", \"w\").close()
while not os.path.exists(\"flooded\"):
    time.sleep(0.01)
for i in range(50):
    c = socket.create_connection((\"ok.test\", 80), 30)
    c.sendall(b\"GET / HTTP/1.0\r\n\r\n\")
    assert c.makefile(\"rb\").read().endswith(b\"hello\n\"), i" >result &
cordon=$!
until [ -e up ]; do kill -0 $cordon || exit 9; sleep 0.01; done
/usr/bin/python3 -c "
import os, resource, select, socket, sys
most = resource.getrlimit(resource.RLIMIT_NOFILE)[1]
resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
n = min(3000, most - 100)
every, waiting = [], select.poll()
for i in range(n):
    s = socket.socket()
    s.setblocking(False)
    s.connect_ex((\"127.0.0.1\", 8080))
    waiting.register(s, select.POLLOUT)
    every.append(s)
there = 0
while there < min(2048, n - 1):
    for fd, what in waiting.poll():
        waiting.unregister(fd)
        there += 1
open(\"flooded\", \"w\").close()
# Until the run is over.
os.read(0, 1)" < <(tail --pid=$cordon -f /dev/null) &
flood=$!
wait $cordon || { cat result; kill $flood; exit 8; }
wait $flood' "$CORDON"
}

@test "as many ports as a program likes, and the first ones again" {
	in_python '*.wild.test,ok.test' '
for port in range(9000, 9300):
    assert refused("ok.test", port)
for i in range(2):
    assert get("ok.test", 8080).endswith(b"hello\n")
    assert get("a.wild.test", 8080).endswith(b"hello\n")
    for port in range(9300, 9600):
        assert refused("a.wild.test", port)'
	assert_json '.hosts | map(select(.port == 9150))[0].failure == "nothing answered"'
}

@test "sockets are made although the command takes every port that listens for a moment" {
	in_python ok.test '
import threading, time
stop = False
def disturb():
    while not stop:
        for line in open("/proc/net/tcp6").readlines()[1:] + open("/proc/net/tcp").readlines()[1:]:
            words = line.split()
            if words[3] == "0A":
                s = socket.socket()
                s.setblocking(False)
                s.connect_ex(("127.0.0.1", int(words[1].split(":")[1], 16)))
                s.close()
threads = [threading.Thread(target=disturb) for _ in range(3)]
for t in threads: t.start()
try:
    for port in list(range(9000, 9040)) + [8080]:
        good = refused("ok.test", port) == (port != 8080)
        assert good, port
finally:
    stop = True
    for t in threads: t.join()'
	assert_json '[.hosts[].host] | unique - ["ok.test"] == []'
}

# --- names, as the relay looks them up ------------------------------------------------------

@test "an answer that is too long for a datagram is asked for over TCP, again if it comes cut off" {
	in_python large.test,cut.test '
assert get("large.test").endswith(b"hello\n") and get("cut.test").endswith(b"hello\n")'
	assert_json '[.hosts[].failure] == [null, null]'
	run -0 cat "$LAB/asked"
	assert_output "$(printf '%s\n' large.test cut.test cut.test)"
}

@test "a name server that knows no extensions is asked without" {
	in_python old.test,older.test '
assert get("old.test").endswith(b"hello\n") and get("older.test").endswith(b"hello\n")'
	run -0 cat "$LAB/asked"
	assert_output "$(printf '%s\n' old.test old.test older.test older.test)"
}

@test "a name server that only a device leads to, and one after another that does not answer" {
	local servers
	for servers in 'nameserver fe80::53%v0' 'nameserver 203.0.113.10
nameserver fe80::53%v0'; do
		run -0 --separate-stderr lab bash -c '
echo "$1" >/etc/resolv.conf
exec "$0" run --json --backend native --allow-network=ok.test -- curl -sS http://ok.test/' "$CORDON" "$servers"
		curl_works
	done
}

@test "that no name server answers is not told as a name without address, nor what the end cut short" {
	run -0 --separate-stderr lab bash -c '
echo "nameserver 203.0.113.10" >/etc/resolv.conf
exec "$0" run --backend native --allow-network=ok.test -- sh -c "curl -s http://ok.test/ || true"' "$CORDON"
	[[ $stderr == *"ok.test:80 was not reached: this machine's name servers gave no answer"* ]] ||
		fail "not said" "$(outcome)"
	in_python silent.test,none.test '
assert refused("none.test")
s = socket.create_connection(("silent.test", 80), 20)'
	assert_json '[.hosts[] | [.host, .failure]] == [["none.test", "the name has no address"], ["silent.test", null]]'
}

@test "H68 aliases lead to an address of others, and to no private one, however long they are" {
	in_python alias.test,alias-private.test '
assert get("alias.test").endswith(b"hello\n") and refused("alias-private.test")'
	assert_json '[.violations[].object] == ["10.9.9.9:80"]'
	assert_json '[.hosts[] | select(.received > 0) | .host] == ["alias.test"]'
}

# --- attacks -------------------------------------------------------------------------------

@test "H61 with a list, too, there is no other kind of socket and no other network to see" {
	in_python ok.test '
for kind in ((40, 1, 0), (17, 3, 0), (2, 10, 768), (16, 3, 9), (16, 3, 4), (16, 3, 15), (38, 5, 0),
             (15, 3, 2), (44, 3, 0), (31, 3, 1), (29, 3, 1), (30, 2, 0), (42, 2, 0), (2, 3, 1),
             (10, 3, 58), (2, 3, 255)):
    try:
        socket.socket(*kind)
    except OSError:
        continue
    sys.exit("%d %d %d" % kind)
assert socket.if_nameindex() == [(1, "lo")]
for name in "tcp", "tcp6", "udp", "udp6", "unix", "route", "fib_trie", "if_inet6":
    text = open("/proc/net/" + name).read() if os.path.exists("/proc/net/" + name) else ""
    assert "203.0.113" not in text and "0171CB" not in text and "20010db8" not in text, name'
}

# What leaves the machine of the lab by its one cable, but for what IPv6 itself says to its
# neighbours, goes into the file.
watch_cable='
import socket, sys
s = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
s.bind(("v0", 0))
open("up", "w").close()
with open("left", "w") as left:
    while True:
        packet, (_, kind, direction, *_) = s.recvfrom(65536)
        if direction == 4 and (kind == 0x800 or (kind == 0x86dd and packet[20] in (6, 17))):
            print(packet[14:80].hex(), file=left, flush=True)'

# Each returns when it is refused, and otherwise says what it got.
ways_out='
import errno, os, socket, struct, sys
INET, SIX, UDP = socket.AF_INET, socket.AF_INET6, socket.SOCK_DGRAM
DEVICE, FREE, TRANSPARENT = (socket.SOL_SOCKET, 25, b"lo\0"), (0, 15, 1), (0, 19, 1)
out = "203.0.113.10"
def sent(to, family=INET, options=(), flags=0, source=None):
    s = socket.socket(family, UDP)
    s.settimeout(0.2)
    for o in options: s.setsockopt(*o)
    if source: s.bind(source)
    s.sendto(b"x" * 20, flags, to)
    return s.recv(100)
def connected(to, family=INET, options=(), source=None):
    s = socket.socket(family)
    s.settimeout(0.5)
    for o in options: s.setsockopt(*o)
    if source: s.bind(source)
    s.connect(to)
    return s.getpeername()
def page(host):
    s = socket.create_connection((host, 80), 20)
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return s.makefile("rb").read()
def bound(to, family=INET, kind=UDP, options=()):
    s = socket.socket(family, kind)
    for o in options: s.setsockopt(*o)
    s.bind(to)
    return s.getsockname()
def routed(kind, body):
    s = socket.socket(16, 3, 0)
    s.send(struct.pack("IHHII", 16 + len(body), kind, 0x405, 1, 0) + body)
    code = struct.unpack("i", s.recv(4096)[16:20])[0]
    if code: raise OSError(-code, "refused")
    return kind
ways = [
    lambda: sent(("203.0.113.53", 53)), lambda: connected(("203.0.113.53", 53)),
    lambda: connected((out, 80)), lambda: connected((out, 80), options=[DEVICE]),
    lambda: sent((out, 53), options=[DEVICE]),
    lambda: sent((out, 53), options=[(socket.SOL_SOCKET, socket.SO_DONTROUTE, 1)]),
    lambda: sent((out, 53), flags=socket.MSG_DONTROUTE),
    lambda: connected((out, 80), options=[FREE], source=("203.0.113.1", 0)),
    lambda: connected((out, 80), options=[TRANSPARENT]),
    lambda: connected((out, 80), source=("198.18.0.1", 0)),
    lambda: connected((out, 80), options=[(socket.SOL_SOCKET, 36, 7)]),
    # By way of what is reached.
    lambda: connected(("198.18.0.1", 80), options=[(0, 4, b"\x83\x0b\x04" + 2 * socket.inet_aton(out) + b"\0")]),
    lambda: sent(("224.0.0.251", 5353)), lambda: sent(("239.255.255.250", 1900)),
    lambda: sent(("224.0.0.251", 5353), options=[(0, socket.IP_MULTICAST_IF, socket.inet_aton("127.0.0.1"))]),
    lambda: sent(("255.255.255.255", 67), options=[(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)]),
    lambda: sent(("203.0.113.255", 67), options=[(socket.SOL_SOCKET, socket.SO_BROADCAST, 1)]),
    lambda: connected(("2001:db8::10", 80), SIX), lambda: connected(("::ffff:" + out, 80), SIX),
    lambda: connected(("2001:db8::10", 80, 0, 1), SIX, options=[DEVICE]),
    lambda: connected(("64:ff9b::" + out, 80), SIX), lambda: connected(("::" + out, 80), SIX),
] + [lambda n=n: connected(("fe80::1", 80, 0, n), SIX) for n in range(1, 6)] + [
    lambda n=n: sent((to, 5355, 0, n), SIX) for n in range(6) for to in ("ff02::1:3", "ff02::fb", "ff05::2")
] + [
    # Who answers for the name server would tell others where a name leads.
    lambda: bound(("127.0.0.1", 53)), lambda: bound(("127.0.0.53", 53)), lambda: bound(("::1", 53), SIX),
    lambda: bound(("0.0.0.0", 53), options=[(1, 15, 1), (1, 2, 1)]),
    lambda: bound(("127.0.0.1", 53), kind=socket.SOCK_STREAM, options=[(1, 15, 1), (1, 2, 1)]),
    lambda: bound(("198.18.0.1", 443), kind=socket.SOCK_STREAM),
    lambda: open("/proc/sys/net/ipv4/ip_unprivileged_port_start", "w").write("0"),
    lambda: open("/proc/sys/net/ipv4/ip_forward", "w").write("1"),
    lambda: open("/dev/net/tun", "r+b"),
    lambda: routed(24, struct.pack("8BI", 2, 0, 0, 0, 254, 4, 0, 1, 0) + struct.pack("HHI", 8, 4, 1)),
    lambda: routed(20, struct.pack("4BI", 2, 24, 0, 0, 1) + struct.pack("HH", 8, 2) + socket.inet_aton(out)),
    lambda: routed(16, struct.pack("BxHiII", 0, 0, 0, 1, 1) + struct.pack("HH", 8, 3) + b"v9\0\0"),
    lambda: page("ok.test") and socket.socket().sendto(b"x", 0x20000000, (out, 80)),
]
for i, way in enumerate(ways):
    try:
        got = way()
    except OSError:
        continue
    sys.exit("%d: %r" % (i, got))
'

# Whoever watches has seen all that left before this did.
all_seen='
echo the last one >/dev/udp/203.0.113.10/9
until grep -q 746865206c617374 left; do sleep 0.01; done
sed -i /746865206c617374/d left'

@test "H57 H61 H72 no other way leads out, and nothing of trying leaves the machine" {
	export watch_cable ways_out all_seen
	run -0 --separate-stderr lab bash -c '
/usr/bin/python3 -c "$watch_cable" &
until [ -e up ]; do kill -0 $! || exit 9; sleep 0.01; done
"$0" run --json --backend native --allow-network=localhost:9,own.test -- /usr/bin/python3 -c "$ways_out" && eval "$all_seen"' "$CORDON"
	assert_json '.exit_code == 0 and .hosts == []'
	assert_equal "$(cat left)" ""
	# With what is listed there is one way, to that host and the name server.
	rm up
	run -0 --separate-stderr lab bash -c '
/usr/bin/python3 -c "$watch_cable" &
until [ -e up ]; do kill -0 $! || exit 9; sleep 0.01; done
"$0" run --json --backend native --allow-network=ok.test -- /usr/bin/python3 -c "$ways_out" && eval "$all_seen"' "$CORDON"
	assert_json '.exit_code == 0 and [.hosts[].host] == ["ok.test"]'
	run -0 sort -u <(cut -c33-40 left)
	assert_output "$(printf '%s\n' cb00710a cb007135)"
}

@test "H63 nothing inside is a proxy, nor is what listed hosts are reached by" {
	in_python ok.test "$as_a_proxy"
	not_by_a_proxy
	proxied
	in_python ok.test "$as_a_proxy"
	not_by_a_proxy
	run cat "$LAB/proxy"
	refute_contains other.test
}

# Asks everything that listens for what is not listed, in each language of proxies.
as_a_proxy='
import re
address = socket.gethostbyname("ok.test")
words = (b"CONNECT other.test:80 HTTP/1.1\r\nHost: other.test:80\r\n\r\nGET / HTTP/1.0\r\n\r\n",
         b"CONNECT 203.0.113.11:80 HTTP/1.1\r\n\r\n",
         b"GET http://other.test/ HTTP/1.0\r\nHost: other.test\r\n\r\n",
         b"\5\1\0\5\1\0\3\12other.test\0\120GET / HTTP/1.0\r\n\r\n",
         b"\4\1\0\120\313\0\161\13\0GET / HTTP/1.0\r\n\r\n")
places = [(a, p) for a in ("127.0.0.1", address) for p in (22, 53, 80, 443, 1080, 3128, 8080)]
for place in places:
    for said in words:
        s = socket.socket()
        s.settimeout(5)
        try:
            s.connect(place)
            s.sendall(said)
            got = s.makefile("rb").read()
        except OSError:
            continue
        assert not re.match(rb"HTTP/1.[01] 2.. .*[Cc]onn|\x05\x00|\x00\x5a", got), (place, said, got)'

not_by_a_proxy() {
	assert_json '[.hosts[].host] - ["ok.test"] == []'
	run cat "$LAB/asked"
	refute_contains other.test
}

@test "H62 one run has nothing from the relay of another" {
	run --separate-stderr lab bash -c '
"$0" run -q --backend native --allow-network=ok.test -- sh -c "getent hosts ok.test; exec sleep 1000" >/dev/null &
until pidof cordon-relay >/dev/null; do sleep 0.01; done
"$0" run --json --backend native --allow-network=other.test -- /usr/bin/python3 -c "
import socket
socket.create_connection((\"other.test\", 80), 20)
for n in range(10):
    i = n // 2 + 1
    for port in 22, 80, 443, 8080:
        a = (\"198.18.0.%d\", \"fd63:6f72:646f:6e00::c612:%d\")[n % 2] % i
        s = socket.socket(socket.AF_INET6 if n % 2 else socket.AF_INET)
        s.settimeout(20)
        try:
            s.connect((a, port))
            s.sendall(b\"GET / HTTP/1.0\r\n\r\n\")
            got = s.recv(1)
        except OSError:
            got = b\"\"
        assert not got or (i == 1 and port in (80, 443, 8080)), (a, port)
"' "$CORDON"
	assert_json '.exit_code == 0 and ([.hosts[].host] | unique) == ["other.test"]'
}

@test "the relay is confined, and listens nowhere" {
	run --separate-stderr lab "$CORDON" run -q --backend native --allow-network=localhost:7 -- true
	assert_success
	run -0 --separate-stderr lab bash -c '
"$0" run -q --backend native --allow-network=ok.test -- sh -c "getent hosts ok.test; exec sleep 1000" >/dev/null 2>&1 &
until pid=$(pidof cordon-relay) && grep -q "^Seccomp:.2" /proc/$pid/status; do sleep 0.01; done
grep -E "^(NoNewPrivs|Seccomp|CapEff|CapBnd):" /proc/$pid/status
readlink /proc/$pid/fd/* | sed "s/^/fd /"
ss -Hlnptu' "$CORDON"
	[[ $output == *NoNewPrivs:?1* && $output == *CapEff:?0000000000000000* ]] || fail "loose" "$(outcome)"
	[[ $output == *CapBnd:?0000000000000000* ]] || fail "privileges to gain" "$(outcome)"
	refute_contains cordon-relay
	# No file: the supervisor's socket and its own, and what it waits with.
	assert_contains "fd socket:["
	run grep -vE '^fd (/dev/null|socket:\[[0-9]+\]|anon_inode:\[(eventpoll|signalfd)\])$' <(grep ^fd <<<"$output")
	assert_output ""
}

@test "with the relay killed connections end and none begins" {
	run -0 --separate-stderr lab bash -c '
exec 5> >(exec "$0" run --json --backend native --allow-network=ok.test -- /usr/bin/python3 -c "
import socket, sys
s = socket.create_connection((\"ok.test\", 7000), 30)
s.sendall(b\"x\")
print(\"connected\", file=open(sys.argv[1], \"w\"))
sys.stdin.readline()
try:
    assert s.recv(1) == b\"\"
except ConnectionResetError:
    pass
try:
    s = socket.create_connection((\"ok.test\", 80), 30)
    s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\")
    sys.exit(3 if s.recv(1) else 0)
except OSError:
    sys.exit(0)
" connected >"$1/result")
cordon=$!
until [ -s connected ]; do sleep 0.01; done
kill -KILL "$(pidof cordon-relay)"
echo >&5
exec 5>&-
wait $cordon
cat "$1/result"' "$CORDON" "$LAB"
	assert_json '.exit_code == 0'
	[[ $stderr == *"cordon-relay ended before the command did"* ]] || fail "not said" "$(outcome)"
}

@test "with the supervisor killed nothing is left" {
	run -0 --separate-stderr lab bash -c '
"$0" run -q --backend native --allow-network=ok.test -- sh -c "getent hosts ok.test; exec sleep 1000" >/dev/null &
until pidof cordon-relay && pidof sleep; do sleep 0.01; done >/dev/null
kill -KILL $!
wait $!
while pidof cordon-relay || pidof sleep; do sleep 0.01; done >/dev/null' "$CORDON"
}

@test "when the relay is gone its ports are nobody's: inside they lead inside, outside nowhere" {
	run -0 --separate-stderr lab bash -c '
exec 5> >(exec "$0" run --json --backend native --allow-network=ok.test --publish 8080:3000 -- \
	/usr/bin/python3 -c "
import socket, sys
s = socket.create_connection((\"ok.test\", 7002), 30)
assert s.recv(10) == b\"first\\n\"
print(\"connected\", file=open(\"connected\", \"w\"))
sys.stdin.readline()
try:
    assert s.recv(1) == b\"\"
except ConnectionResetError:
    pass
# As soon as that is known the port is free.
while True:
    try:
        own = socket.create_server((\"\", 7002))
        break
    except OSError:
        pass
inside = socket.create_server((\"\", 3000))
s = socket.create_connection((\"ok.test\", 7002), 30)
own.accept()[0].sendall(b\"own\")
assert s.recv(3) == b\"own\"
assert socket.socket(socket.AF_INET6).connect_ex((\"fd63:6f72:646f:6e00::c612:1\", 7002)) != 0
print(\"again\", file=open(\"again\", \"w\"))
sys.stdin.readline()
inside.setblocking(False)
try:
    inside.accept()
    sys.exit(4)
except BlockingIOError:
    pass
" >"$1/result")
cordon=$!
until [ -s connected ]; do kill -0 $cordon || exit 9; sleep 0.01; done
kill -KILL "$(pidof cordon-relay)"
echo >&5
until [ -s again ]; do kill -0 $cordon || exit 8; sleep 0.01; done
# Another sandbox has a relay of its own, and the port of the host is free.
"$0" run -q --backend native --allow-network=ok.test -- /usr/bin/python3 -c "
import socket
s = socket.create_connection((\"ok.test\", 7002), 30)
assert s.recv(10) == b\"first\\n\"" || exit 7
/usr/bin/python3 -c "
import socket
assert socket.socket().connect_ex((\"127.0.0.1\", 8080)) != 0
s = socket.create_server((\"127.0.0.1\", 8080))
c = socket.create_connection((\"127.0.0.1\", 8080))
s.accept()[0].sendall(b\"other\")
assert c.recv(5) == b\"other\"" || exit 6
echo >&5
exec 5>&-
wait $cordon
cat "$1/result"' "$CORDON" "$LAB"
	assert_json '.exit_code == 0'
}

@test "a relay that is no program is found before the command starts" {
	is_static || skip "the build for sanitizers is not to be copied"
	mkdir "$SCRATCH/bin"
	cp "$CORDON" "$SCRATCH/bin/cordon"
	head -c 5000 /dev/zero >"$SCRATCH/bin/cordon-relay"
	chmod +x "$SCRATCH/bin/cordon-relay"
	run --separate-stderr "$SCRATCH/bin/cordon" run --backend native --allow-network=ok.test -- touch started
	assert_status 125
	[[ $stderr == *"cordon-relay is no program that runs here"* ]] || fail "why" "$(outcome)"
	refute_file started
}

@test "what the relay uses of the processors is not the command's" {
	run --separate-stderr lab bash -c '
"$0" run --json --backend native --allow-network=ok.test --cpu 1s -- /usr/bin/python3 -c "
import os, socket
while not os.path.exists(\"stop\"):
    s = socket.create_connection((\"ok.test\", 80), 60)
    s.setsockopt(socket.SOL_SOCKET, socket.SO_RCVLOWAT, 1 << 20)
    s.sendall(b\"GET /big/100000000 HTTP/1.0\r\n\r\n\")
    # The kernel throws away what is not read.
    while s.recv(1 << 24, socket.MSG_TRUNC): pass" >"$1/result" &
cordon=$!
# Until the relay alone has used more than the limit, in hundredths of a second.
until [ "$(awk "{ print \$14 + \$15 }" "/proc/$(pidof cordon-relay)/stat")" -gt 120 ]; do
	kill -0 $cordon || exit 9
	sleep 0.05
done 2>/dev/null
touch stop
wait $cordon
cat "$1/result"' "$CORDON" "$LAB"
	assert_status 0
	assert_json '.exit_code == 0 and .usage.user_ms + .usage.sys_ms < 1000'
}

@test "while the relay is busy a connection to another port waits, too" {
	run -0 --separate-stderr lab bash -c '
mkfifo go
"$0" run --json --backend native --allow-network=ok.test -- /usr/bin/python3 -c "
import socket
def get(s):
    s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\")
    return s.makefile(\"rb\").read().endswith(b\"hello\\n\")
assert get(socket.create_connection((\"ok.test\", 80), 30))
print(\"up\", file=open(\"up\", \"w\"))
open(\"go\").read()
# More than fit into the socket that leads to the relay.
every = [socket.create_connection((\"ok.test\", 80), 30) for i in range(600)]
every.append(socket.create_connection((\"ok.test\", 8080), 30))
for s in every[-1], every[0]:
    s.setblocking(False)
    try:
        assert False, s.recv(1)
    except BlockingIOError:
        s.settimeout(30)
print(\"waits\", file=open(\"waits\", \"w\"))
open(\"go\").read()
assert all(get(s) for s in every)" >result &
cordon=$!
until [ -s up ]; do kill -0 $cordon || exit 9; sleep 0.01; done
relay=$(pidof cordon-relay)
kill -STOP $relay
echo >go
until [ -s waits ] || ! kill -0 $cordon; do sleep 0.01; done
kill -CONT $relay
[ -s waits ] && echo >go
wait $cordon
cat result' "$CORDON"
	assert_json '.exit_code == 0'
}
