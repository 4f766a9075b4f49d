#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Names of listed hosts as different C libraries and resolvers see them, and IPv6: each
# resolves alike, and none finds another way.
load helper
load lab

# Connects to the name by IPv6 alone, or as it is told.
six='
def get6(host, port=80):
    for family, kind, proto, _, where in socket.getaddrinfo(host, port, socket.AF_INET6,
                                                            socket.SOCK_STREAM):
        s = socket.socket(family, kind, proto)
        s.settimeout(20)
        s.connect(where)
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return s.makefile("rb").read()
def refused6(*where):
    s = socket.socket(socket.AF_INET6)
    s.settimeout(20)
    try:
        s.connect(where)
        s.sendall(b"GET / HTTP/1.0\r\n\r\n")
        return s.makefile("rb").read() == b""
    except OSError:
        return True
'

@test "programs of IPv6 alone: a listed name works on any port, another and an address do not" {
	in_python ok.test "$six"'
assert get6("ok.test").endswith(b"hello\n") and get6("OK.Test.", 8080).endswith(b"hello\n")
assert refused6("2001:db8::10", 80)
try:
    socket.getaddrinfo("other.test", 80, socket.AF_INET6)
except socket.gaierror:
    sys.exit(0)
sys.exit(1)'
	assert_json '[.hosts[] | [.host, .port, .count]] == [["ok.test", 80, 1], ["ok.test", 8080, 1]]'
	assert_json '.violations | any(.op == "resolve" and .object == "other.test")'
	assert_json '.violations[] | select(.object == "[2001:db8::10]:80") |
		.fix.flags | contains("[2001:db8::10]:80")'
	FLAGS=(--protect exact)
	in_python ok.test "$six"'assert get6("ok.test", 8080).endswith(b"hello\n")'
	FLAGS=(--allow-read "$LAB")
	listed ok.test curl -6 -sS --cacert "$LAB/cert.pem" https://ok.test/
	curl_works
	listed ok.test wget -6 -q -O - http://ok.test:8080/
	curl_works
}

@test "H64 H67 H68 other spellings and prefixes lead nowhere by IPv6" {
	in_python ok.test,loop6.test,own6.test,mapped.test,nat64.test "$six"'
first = socket.getaddrinfo("ok.test", 80, socket.AF_INET6)[0][4][0]
assert first == "fd63:6f72:646f:6e00::c612:1", first
assert not refused6(first, 80) and not refused6("::ffff:198.18.0.1", 80)
for address in ("fd63:6f72:646f:6e00::", "fd63:6f72:646f:6e00::1", "fd63:6f72:646f:6e00::c612:0",
                "fd63:6f72:646f:6e00::c612:9", "fd63:6f72:646f:6e00:0:1:c612:1",
                "fd63:6f72:646f:6e00:1::c612:1", "fd63:6f72:646f:6e00::203.0.113.10",
                "fd63:6f72:646f:6e00::127.0.0.1", "fd63:6f72:646f:6e01::c612:1",
                "::198.18.0.1", "::ffff:0:198.18.0.1", "64:ff9b::198.18.0.1",
                "2002:c612:1::1", "::ffff:203.0.113.10", "64:ff9b::203.0.113.10",
                "::ffff:127.0.0.1", "::1", "::", "2001:db8::1", "ff02::1"):
    assert refused6(address, 80), address
for scope in 1, 2:
    assert refused6("fe80::1", 80, 0, scope)
for name in "loop6.test", "own6.test", "mapped.test", "nat64.test":
    assert refused6(socket.getaddrinfo(name, 80, socket.AF_INET6)[0][4][0], 80), name'
	assert_json '[.hosts[] | select(.received > 0) | .host] == ["ok.test"]'
	in_python '*.wild.test,::/0' "$six"'
assert get6("a.wild.test") and refused6("fd63:6f72:646f:6e00::c612:2", 80)
assert not refused6("2001:db8::10", 80) and refused6("2001:db8::1", 80)'
}

@test "UDP of IPv6 is refused at once, and TLS by it cannot ask for another name" {
	in_python ok.test '
import ssl
u = socket.socket(socket.AF_INET6, socket.SOCK_DGRAM)
u.settimeout(20)
u.connect(("ok.test", 443))
u.send(b"x")
try:
    u.recv(1)
    sys.exit(1)
except ConnectionRefusedError:
    pass
context = ssl.create_default_context()
context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
def tls(name):
    s = socket.socket(socket.AF_INET6)
    s.settimeout(20)
    s.connect(("ok.test", 443))
    return context.wrap_socket(s, server_hostname=name)
tls("ok.test")
try:
    tls("fr.test")
except OSError:
    sys.exit(0)
sys.exit(1)'
	assert_json '.violations | any(.object == "fr.test:443")'
}

@test "programs that ask only for kinds of addresses that their machine has" {
	in_python ok.test '
for family in socket.AF_UNSPEC, socket.AF_INET, socket.AF_INET6:
    found = socket.getaddrinfo("ok.test", 80, family, socket.SOCK_STREAM, 0, socket.AI_ADDRCONFIG)
    assert len(found) == (1 if family else 2), (family, found)'
}

@test "localhost by IPv6, for a service of the host, and beside a listed name with that port" {
	run --separate-stderr lab bash -c '
/usr/bin/python3 -c "
import socket
s = socket.create_server((\"127.0.0.1\", 8080))
open(\"up\", \"w\").close()
while True:
    with s.accept()[0] as peer: peer.recv(100); peer.sendall(b\"of the host\")" &
until [ -e up ]; do sleep 0.01; done
exec "$0" run --json --backend native --allow-network=localhost:8080,ok.test -- /usr/bin/python3 -c "
import socket
def ask(host, family):
    s = socket.socket(family)
    s.settimeout(20)
    s.connect((host, 8080))
    s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\")
    return s.makefile(\"rb\").read()
for i in range(2):
    assert ask(\"localhost\", socket.AF_INET6) == ask(\"localhost\", socket.AF_INET) == b\"of the host\"
    assert ask(\"::1\", socket.AF_INET6) == ask(\"127.0.0.1\", socket.AF_INET) == b\"of the host\"
    # From here on that port is reached everywhere.
    assert ask(\"ok.test\", socket.AF_INET6).endswith(b\"hello\\n\")
"' "$CORDON"
	assert_json '.exit_code == 0'
	assert_json '[.hosts[] | [.host, .count]] == [["localhost", 8], ["ok.test", 2]]'
}

@test "where there is no IPv6 names have one address, of IPv4" {
	run --separate-stderr lab /usr/bin/python3 -c '
import ctypes, os, platform, struct, sys
def step(code, true, false, value):
    return struct.pack("HBBI", code, true, false, value)
call = {"x86_64": 41, "aarch64": 198}[platform.machine()]
# socket(AF_INET6, ...) fails with EAFNOSUPPORT.
steps = [step(0x20, 0, 0, 0), step(0x15, 0, 3, call), step(0x20, 0, 0, 16),
         step(0x15, 0, 1, 10), step(6, 0, 0, 0x50000 | 97), step(6, 0, 0, 0x7fff0000)]
code = ctypes.create_string_buffer(b"".join(steps))
program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
libc = ctypes.CDLL(None)
assert libc.prctl(38, 1, 0, 0, 0) == 0 and libc.prctl(22, 2, program) == 0
os.execv(sys.argv[1], sys.argv[1:])' \
		"$CORDON" run --json --backend native --allow-network=ok.test -- /usr/bin/python3 -c '
import socket
assert [a[4][0] for a in socket.getaddrinfo("ok.test", 8080, 0, socket.SOCK_STREAM)] == ["198.18.0.1"]
s = socket.create_connection(("ok.test", 8080))
s.sendall(b"GET / HTTP/1.0\r\n\r\n")
assert s.makefile("rb").read().endswith(b"hello\n")'
	assert_json '.exit_code == 0'
}

# A program that says what each name resolves to, by getaddrinfo or by c-ares, and what
# the web server there answers.
@test "musl" {
	command -v musl-gcc >/dev/null || must_or_skip "no musl-gcc"
	musl-gcc -static -O1 -o ask "$BATS_TEST_DIRNAME/ask.c"
	listed ok.test ./ask ok.test OK.Test. other.test
	resolved_alike
}

@test "glibc, linked statically" {
	gcc -static -O1 -w -o ask "$BATS_TEST_DIRNAME/ask.c"
	listed ok.test ./ask ok.test OK.Test. other.test
	resolved_alike
}

@test "c-ares" {
	gcc -DWITH_CARES -O1 -o ask "$BATS_TEST_DIRNAME/ask.c" -lcares 2>error ||
		must_or_skip "no c-ares: $(<error)"
	listed ok.test ./ask ok.test OK.Test. other.test
	resolved_alike
}

resolved_alike() {
	assert_json '.exit_code == 0'
	run -0 jq -r .stdout <<<"$output"
	assert_output "$(printf '%s: 198.18.0.1 fd63:6f72:646f:6e00::c612:1 hello\n' ok.test OK.Test.
		echo 'other.test: nothing')"
}

# What the machine's own resolvers would answer: a cache, a service, a file.
resolvers='
import os, socket, threading
def serve(path):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    os.chmod(path, 0o666)
    s.listen()
    def loop():
        while True:
            s.accept()[0].close()
            print(path, file=open("used", "a"))
    threading.Thread(target=loop).start()
serve("/run/nscd/socket")
serve("/run/systemd/resolve/io.systemd.Resolve")
open("up", "w").close()'

@test "the machine's cache, resolver service and files for names are not asked" {
	local profile
	for profile in moderate permissive; do
		rm -f up used
		run --separate-stderr lab bash -c '
mount -t tmpfs tmpfs /run
echo "hosts: files resolve [!UNAVAIL=return] dns" >nsswitch
echo "203.0.113.11 known.test other.test" >hosts
mount --bind nsswitch /etc/nsswitch.conf
mount --bind hosts /etc/hosts
/usr/bin/python3 -c "$1" &
until [ -e up ]; do sleep 0.01; done
exec "$0" run --json --backend native -p "$2" --allow-network=ok.test,known.test -- /usr/bin/python3 -c "
import socket
for name in \"ok.test\", \"known.test\":
    assert socket.gethostbyname(name).startswith(\"198.18.\")
    s = socket.create_connection((name, 80), 20)
    s.sendall(b\"GET / HTTP/1.0\\r\\n\\r\\n\")
    assert s.makefile(\"rb\").read().endswith(b\"hello\\n\")
try:
    socket.gethostbyname(\"other.test\")
    raise SystemExit(3)
except socket.gaierror:
    pass
for path in \"/run/nscd/socket\", \"/run/systemd/resolve/io.systemd.Resolve\":
    assert socket.socket(socket.AF_UNIX).connect_ex(path) != 0, path
"' "$CORDON" "$resolvers" "$profile"
		assert_json '.exit_code == 0'
		refute_file used
		run -0 cat "$LAB/asked"
		refute_contains other.test
		refute_contains known.test
	done
}

@test "where resolv.conf is a link into /run, as the machine's resolver service has it" {
	local profile
	for profile in moderate strict permissive; do
		rm -rf etc
		run --separate-stderr lab bash -c '
mkdir etc
cp -a /etc/. etc 2>/dev/null
mount -t tmpfs tmpfs /run
mkdir -p /run/systemd/resolve
echo "nameserver 203.0.113.53" >/run/systemd/resolve/stub-resolv.conf
umount /etc/resolv.conf
ln -sf ../run/systemd/resolve/stub-resolv.conf etc/resolv.conf
mount --bind etc /etc
exec "$0" run --json --backend native -p "$1" --allow-network=ok.test -- sh -c "
curl -sS http://ok.test/ && ! curl -sS http://other.test/ 2>/dev/null && cat /etc/resolv.conf"' "$CORDON" "$profile"
		assert_json '.exit_code == 0 and (.stdout | startswith("hello\nnameserver 127.0.0.1\n"))'
		assert_json '[.violations[].object] == ["other.test"]'
		run -0 sort -u "$LAB/asked"
		assert_output ok.test
	done
}
