#!/usr/bin/env bats
# SPDX-License-Identifier: Apache-2.0
# Programs that people use, and a list of hosts: each gets a page of a listed name from nginx,
# with and without TLS, and nothing from another name or from the same server's address.
# hosts.bats has the list itself.
load helper
load lab

setup() {
	lab_setup
	[ -x /usr/sbin/nginx ] || command -v nginx >/dev/null || must_or_skip "nginx is not installed"
	CA=$LAB/cert.pem
}

needs() {
	command -v "$1" >/dev/null || must_or_skip "$1 is not installed"
}

# program TEXT: what ./get URL does.
program() {
	printf '#!/bin/sh\n%s\n' "$1" >get
	chmod +x get
}

# tried [COMMAND]: the command first, then pages with ./get. The first two are there; of the
# others it is said what was wanted, and no name server hears of it.
tried() {
	FLAGS=(--allow-read "$LAB")
	listed ok.test sh -c "${1:-:} && "'
./get http://ok.test/ && ./get https://ok.test/ || exit 3
./get http://other.test/ 2>/dev/null && exit 4
./get https://other.test/ 2>/dev/null && exit 5
./get http://203.0.113.10/ 2>/dev/null && exit 6
./get https://203.0.113.10/ 2>/dev/null && exit 7
exit 0'
	assert_json '.exit_code == 0 and .stdout == "hello\nhello\n"'
	assert_json '[.violations[] | select(.op == "resolve") | [.object, .fix.flags]] ==
		[["other.test", "--allow-network=other.test"]]'
	assert_json '[.violations[] | select(.op == "connect") | [.object, .fix.flags]] | sort == [
		["203.0.113.10:443", "--allow-network=203.0.113.10:443"],
		["203.0.113.10:80", "--allow-network=203.0.113.10:80"]]'
	assert_json '[.violations[].op] - ["resolve", "connect"] == []'
	assert_json '[.hosts[] | [.host, .port]] | sort == [["ok.test", 80], ["ok.test", 443]]'
	assert_json 'all(.hosts[]; .count > 0 and .sent > 0 and .received > 0 and .failure == null)'
	[ "$(grep -c '" 200 ' "$LAB/nginx.log")" -ge 2 ] || fail "nginx was not asked" "$(cat "$LAB/nginx.log")"
	run -0 sort -u "$LAB/asked"
	assert_output ok.test
}

@test "curl" {
	needs curl
	program "curl -sSf --cacert $CA \"\$1\""
	tried
}

@test "wget" {
	needs wget
	program "wget -q -O- --tries=1 --ca-certificate=$CA \"\$1\""
	tried
}

@test "git over HTTP" {
	export NETLAB_FILES=$SCRATCH/files
	git init -q origin
	git -C origin -c user.name=u -c user.email=u@u commit -q --allow-empty -m hello
	git clone -q --bare origin "$NETLAB_FILES/r.git"
	git -C "$NETLAB_FILES/r.git" update-server-info
	program "export GIT_SSL_CAINFO=$CA
rm -rf cloned
git clone -q \"\$1files/r.git\" cloned && git -C cloned log --format=%s"
	tried
}

@test "node's fetch" {
	needs node
	program "export NODE_EXTRA_CA_CERTS=$CA
exec node -e 'fetch(process.argv[1]).then(r => r.text()).then(t => process.stdout.write(t),
	() => process.exit(1))' \"\$1\""
	tried
}

@test "Go with its own resolver" {
	PATH=$PATH:/usr/local/go/bin
	needs go
	cat >goget.go <<-'END'
	package main
	import ("fmt"; "io"; "net/http"; "os")
	func main() {
		r, err := http.Get(os.Args[1])
		if err != nil { os.Exit(1) }
		b, _ := io.ReadAll(r.Body)
		fmt.Print(string(b))
	}
	END
	CGO_ENABLED=0 GOCACHE=$SCRATCH/cache GOFLAGS=-mod=mod go build -o goget goget.go
	program "SSL_CERT_FILE=$CA exec ./goget \"\$1\""
	tried
}

@test "Java's HttpClient" {
	command -v javac >/dev/null || lacking java "java is not installed"
	cat >Get.java <<-'END'
	import java.net.*; import java.net.http.*;
	class Get { public static void main(String[] a) throws Exception {
		System.out.print(HttpClient.newHttpClient().send(
			HttpRequest.newBuilder(URI.create(a[0])).build(),
			HttpResponse.BodyHandlers.ofString()).body()); } }
	END
	javac Get.java
	program 'exec java -Djavax.net.ssl.trustStore=trust -Djavax.net.ssl.trustStorePassword=changeit Get "$1"'
	tried "keytool -importcert -noprompt -alias lab -file $CA -keystore trust -storepass changeit 2>keytool.log"
}

@test "Python's sockets" {
	cat >get.py <<-'END'
	import socket, ssl, sys
	scheme, _, host = sys.argv[2].rstrip("/").partition("://")
	s = socket.socket()
	s.connect((host, 443 if scheme == "https" else 80))
	if scheme == "https":
	    s = ssl.create_default_context(cafile=sys.argv[1]).wrap_socket(s, server_hostname=host)
	s.sendall(b"GET / HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n" % host.encode())
	answer = b""
	while part := s.recv(65536):
	    answer += part
	sys.stdout.write(answer.partition(b"\r\n\r\n")[2].decode())
	END
	program "exec python3 get.py $CA \"\$1\""
	tried
}

@test "a thousand connections to nginx at once" {
	in_python ok.test '
import resource
resource.setrlimit(resource.RLIMIT_NOFILE, (1100, resource.getrlimit(resource.RLIMIT_NOFILE)[1]))
every = [socket.create_connection(("ok.test", 80), 60) for _ in range(1000)]
for s in every:
    s.sendall(b"GET / HTTP/1.1\r\nHost: ok.test\r\nConnection: close\r\n\r\n")
for i, s in enumerate(every):
    assert s.makefile("rb").read().endswith(b"hello\n"), i'
	assert_json '.hosts[0].count == 1000 and .hosts[0].host == "ok.test"'
}
