# SPDX-License-Identifier: Apache-2.0
# shellcheck shell=bash
#
# For bats files whose sandboxes reach real servers in a network without a way out
# (netlab): `load lab` after `load helper`.

# The setup of these files.
lab_setup() {
	cordon_setup
	export LAB=$SCRATCH/lab
	mkdir "$LAB"
	run cordon run -q --backend native --allow-network=ok.test true
	[ "$status" -eq 0 ] || must_or_skip "a list of hosts does not work here"
	run unshare --user --map-root-user --net ip link add v0 type veth peer name v1
	[ "$status" -eq 0 ] || must_or_skip "no network of one's own can be made here"
}

# lab COMMAND ...: on the machine of the lab.
lab() {
	rm -rf "$LAB"
	mkdir "$LAB"
	"$BATS_TEST_DIRNAME/netlab" "$LAB" "$@"
}

# listed HOSTS COMMAND ...: the command in a sandbox with the list; output and stderr.
listed() {
	local hosts=$1
	shift
	run --separate-stderr lab "$CORDON" run --json --backend native --allow-network="$hosts" \
		"${FLAGS[@]}" -- "$@"
	valid
}

# in_python HOSTS SCRIPT: it succeeds.
in_python() {
	listed "$1" /usr/bin/python3 -c 'import errno, os, socket, struct, sys
def get(host, port=80):
    s = socket.create_connection((host, port), 20)
    s.sendall(b"GET / HTTP/1.0\r\n\r\n")
    return s.makefile("rb").read()
def refused(host, port=80):
    try:
        return get(host, port) == b""
    except OSError:
        return True
'"$2"
	assert_json '.exit_code == 0'
}

curl_works() {
	assert_json '.exit_code == 0 and .stdout == "hello\n"'
}

proxied() {
	command -v tinyproxy >/dev/null || must_or_skip "tinyproxy is not installed"
	export https_proxy=http://me:pass%770rd@203.0.113.11:3128/
	export HTTP_PROXY=me:passw0rd@203.0.113.11:3128
	unset ALL_PROXY all_proxy NO_PROXY no_proxy HTTPS_PROXY http_proxy
}

# A server that says which file it made when it was up, and ends when asked for /end.
server='
import http.server, os, socket, sys
class Web(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        body = b"inside\n"
        self.send_response(200)
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()
        if self.path == "/end": os._exit(0)
    def log_message(self, *args): pass
class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6 if ":" in sys.argv[1] else socket.AF_INET
    request_queue_size = 1024
s = Server((sys.argv[1], 3000), Web)
open("up", "w").close()
s.serve_forever()'

# published ADDRESS FLAGS SCRIPT: runs the script on the lab's machine while the server
# listens inside, on the address; it is told to end afterwards.
published() {
	rm -f up
	export server
	run -0 --separate-stderr lab bash -c '
address=$1 script=$3
"$0" run --json --backend native --publish 8080:3000 $2 -- \
	/usr/bin/python3 -c "$server" "$address" >result &
cordon=$!
until [ -e up ]; do kill -0 $cordon || exit 9; sleep 0.01; done
/usr/bin/python3 -c "
import socket
def get(host, path=\"/\", port=8080):
    s = socket.create_connection((host, port), 30)
    s.sendall(b\"GET \" + path.encode() + b\" HTTP/1.0\r\n\r\n\")
    return s.makefile(\"rb\").read().endswith(b\"inside\n\")
def refused(host, port):
    try:
        socket.create_connection((host, port), 30)
    except ConnectionRefusedError:
        return True
$script
assert get(\"127.0.0.1\", \"/end\")" || kill $cordon
wait $cordon || exit 8
/usr/bin/python3 -c "
import socket
for family, host in (socket.AF_INET, \"127.0.0.1\"), (socket.AF_INET6, \"::1\"):
    assert socket.socket(family).connect_ex((host, 8080)) != 0"' \
		"$CORDON" "$1" "$2" "$3"
}

setup() {
	lab_setup
}
