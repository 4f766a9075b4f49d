# SPDX-License-Identifier: Apache-2.0
"""The servers of tests/cli/netlab: names, web with and without TLS, echo, reset, proxy.

Names that were asked for are appended to DIR/asked; DIR/ready gets a line when all of
them listen; DIR/cert.pem is what the TLS server shows, for ok.test.
Files below $NETLAB_FILES, where that is set, are served as /files/...
The web is nginx's where that is installed; what it has no file for comes from a server here.
Where tinyproxy is installed it is at 203.0.113.11:3128, for the user "me" with the
password "passw0rd", and connects to the ports 80, 443 and 7002; DIR/proxy is its log.
"""
import contextlib
import http.server
import os
import shutil
import socket
import socketserver
import ssl
import struct
import subprocess
import sys
import threading

DIR = sys.argv[1]
A, AAAA = 1, 28
ZONE = {
    "ok.test": {A: ["203.0.113.10"]},
    "other.test": {A: ["203.0.113.11"]},
    "a.wild.test": {A: ["203.0.113.10"]},
    "a.b.wild.test": {A: ["203.0.113.10"]},
    "wild.test": {A: ["203.0.113.10"]},
    "six.test": {AAAA: ["2001:db8::10"]},
    # The first address is no good, the second is.
    "mixed.test": {A: ["127.0.0.1", "203.0.113.99", "203.0.113.10"]},
    # What no name may lead to.
    "loop.test": {A: ["127.0.0.1"]},
    "private.test": {A: ["10.9.9.9"]},
    "metadata.test": {A: ["169.254.169.254"]},
    "own.test": {A: ["203.0.113.1"]},
    "zero.test": {A: ["0.0.0.0"]},
    "mapped.test": {AAAA: ["::ffff:127.0.0.1", "::ffff:203.0.113.1"]},
    "loop6.test": {AAAA: ["::1"]},
    "nat64.test": {AAAA: ["64:ff9b::7f00:1"]},
    "own6.test": {AAAA: ["2001:db8::1"]},
    "closed.test": {A: ["203.0.113.11"]},
    # An alias of an alias, and what the answer says of it.
    "alias.test": {A: ["203.0.113.10"]},
    "alias-private.test": {A: ["10.9.9.9"]},
    # More than a datagram has room for, or than the server likes to put into one.
    "large.test": {A: ["203.0.113.10"]},
    "cut.test": {A: ["203.0.113.10"]},
    # The server does not know extensions; nor how to repeat a question.
    "old.test": {A: ["203.0.113.10"]},
    "older.test": {A: ["203.0.113.10"]},
}
ALIASES = {"alias.test": 2, "alias-private.test": 20, "large.test": 20}
OVER_TCP = {"large.test", "cut.test"}
# Without a length that is true, or an end.
BROKEN_TCP = {"cut.test": True}
FILL_BYTES = 200000000
# Answers each question differently: first a good address, then the loopback.
FLIPS = {"flip.test": ["203.0.113.10", "127.0.0.1"]}


def addresses(name, kind):
    if name in FLIPS and kind == A:
        FLIPS[name].append(FLIPS[name].pop(0))
        return [FLIPS[name][-1]]
    return ZONE.get(name, {}).get(kind, [])


def packed(kind, address):
    return socket.inet_pton(socket.AF_INET if kind == A else socket.AF_INET6, address)


def named(packet):
    """The name that is asked for, the kind, and where the question ends."""
    at, labels = 12, []
    while packet[at]:
        labels.append(packet[at + 1:at + 1 + packet[at]].decode())
        at += 1 + packet[at]
    return ".".join(labels), struct.unpack(">H", packet[at + 1:at + 3])[0], at + 5


def record(owner, kind, data):
    return owner + struct.pack(">HHIH", kind, 1, 0, len(data)) + data


def chain(name):
    """The names that a name leads to before it has an address."""
    owner, records = b"\xc0\x0c", b""
    for i in range(ALIASES.get(name, 0)):
        to = b"\x3f" + b"%063d" % i + b"\5alias\0"
        records += record(owner, 5, to)
        owner = to
    return owner, records


def answer(packet, room):
    name, kind, end = named(packet)
    extended = packet[11]
    if name == "older.test" and extended:
        return packet[:2] + struct.pack(">5H", 0x8181, 0, 0, 0, 0)
    if name == "old.test" and extended:
        return packet[:2] + struct.pack(">5H", 0x8184, 1, 0, 0, 0) + packet[12:end]
    found = addresses(name, kind)
    owner, records = chain(name)
    records += b"".join(record(owner, kind, packed(kind, a)) for a in found)
    count = ALIASES.get(name, 0) + len(found)
    bits = 0x8180 | (0 if name in ZONE or name in FLIPS else 3)
    if end + len(records) > room or (name in OVER_TCP and room < 65535):
        bits, count, records = bits | 0x200, 0, b""
    return packet[:2] + struct.pack(">5H", bits, 1, count, 0, 0) + packet[12:end] + records


def serve_names(sock, log):
    while True:
        packet, peer = sock.recvfrom(4096)
        log.write(named(packet)[0] + "\n")
        log.flush()
        if named(packet)[0] != "silent.test":
            sock.sendto(answer(packet, 1232 if packet[11] else 512), peer)


def serve_names_by_tcp(peer):
    with peer:
        packet = peer.recv(struct.unpack(">H", peer.recv(2))[0])
        said = answer(packet, 65535)
        # In pieces, as it may come; the first time not all of it.
        whole = struct.pack(">H", len(said)) + said
        if BROKEN_TCP.pop(named(packet)[0], False):
            whole = whole[:-1]
        for i in range(0, len(whole), 100):
            peer.sendall(whole[i:i + 100])


def file_below(path):
    """None: there is no such file."""
    top = os.environ.get("NETLAB_FILES")
    if not top or not path.startswith("/files/") or ".." in path:
        return None
    try:
        with open(os.path.join(top, path[7:].partition("?")[0]), "rb") as f:
            return f.read()
    except OSError:
        return None


class Web(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_GET(self):
        size = self.path[5:] if self.path.startswith("/big/") else ""
        body = b"x" * int(size) if size else b"hello\n"
        if self.path.startswith("/files/"):
            body = file_below(self.path)
        self.send_response(404 if body is None else 200)
        body = body or b""
        self.send_header("content-length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *args):
        pass


class Server(http.server.ThreadingHTTPServer):
    address_family = socket.AF_INET6
    request_queue_size = 1024

    def server_bind(self):
        # HTTPServer's looks this machine's own name up, which would be among those asked for.
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = "netlab", self.server_address[1]

    def handle_error(self, *args):
        pass


NGINX = """user root;
worker_processes 1;
pid {dir}/nginx.pid;
error_log {dir}/nginx.errors;
events {{ worker_connections 4096; }}
http {{
    access_log {dir}/nginx.log;
    client_body_temp_path {dir}/nginx.body;
    proxy_temp_path {dir}/nginx.proxy;
    fastcgi_temp_path {dir}/nginx.other;
    uwsgi_temp_path {dir}/nginx.other;
    scgi_temp_path {dir}/nginx.other;
    proxy_max_temp_file_size 0;
    ssl_certificate {dir}/cert.pem;
    ssl_certificate_key {dir}/key.pem;
    server {{
        listen [::]:80 ipv6only=off backlog=1024;
        listen [::]:8080 ipv6only=off backlog=1024;
        listen [::]:443 ipv6only=off backlog=1024 ssl http2;
        root {dir}/web;
        location / {{ rewrite .* /index.html break; }}
        location /big/ {{ proxy_pass http://127.0.0.1:{behind}; }}
        {files}
    }}
}}
"""


def find_nginx():
    return shutil.which("nginx", path=os.environ["PATH"] + ":/usr/sbin:/usr/local/sbin")


def nginx(program, behind):
    os.mkdir(f"{DIR}/web")
    with open(f"{DIR}/web/index.html", "w") as page:
        page.write("hello\n")
    top = os.environ.get("NETLAB_FILES")
    files = f"location /files/ {{ alias {os.path.realpath(top)}/; }}" if top else ""
    with open(f"{DIR}/nginx.conf", "w") as conf:
        conf.write(NGINX.format(dir=DIR, behind=behind, files=files))
    # It listens when this returns.
    subprocess.run([program, "-c", f"{DIR}/nginx.conf", "-e", f"{DIR}/nginx.errors"],
                   check=True, stderr=subprocess.DEVNULL)


def web(port, context=None):
    server = Server(("::", port), Web)
    if context:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()


def each_connection(port, handle, host=""):
    server = socket.create_server((host, port), backlog=1024)

    def loop():
        while True:
            peer, _ = server.accept()
            threading.Thread(target=handle, args=(peer,), daemon=True).start()
    threading.Thread(target=loop, daemon=True).start()


def echo_at_end(peer):
    """Answers only when the other side has said that it is done."""
    data = b""
    with peer:
        while part := peer.recv(65536):
            data += part
        peer.sendall(b"%d:" % len(data) + data[-10:])


def reset(peer):
    peer.recv(1)
    peer.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    peer.close()


def fill(peer):
    """Sends until nothing more is taken for a while, says how much in DIR/filled, and the rest."""
    left, sent, piece = FILL_BYTES, 0, b"z" * (1 << 20)
    peer.settimeout(1)
    with peer:
        while left > sent:
            try:
                sent += peer.send(piece[:left - sent])
            except TimeoutError:
                with open(f"{DIR}/filled.new", "w") as filled:
                    filled.write(str(sent))
                os.rename(f"{DIR}/filled.new", f"{DIR}/filled")


def speak_first(peer):
    with peer:
        peer.sendall(b"first\n")
        peer.recv(1)


def repeat(peer):
    with peer, contextlib.suppress(ConnectionResetError):
        while part := peer.recv(65536):
            peer.sendall(part)


def greet(peer):
    """Speaks first, and then repeats what it is told."""
    peer.sendall(b"first\n")
    repeat(peer)


def proxy():
    with open(f"{DIR}/proxy.conf", "w") as conf:
        conf.write(f"""Port 3128
Listen 203.0.113.11
Timeout 60
MaxClients 100
LogFile "{DIR}/proxy"
LogLevel Connect
BasicAuth me passw0rd
ConnectPort 80
ConnectPort 443
ConnectPort 7002
""")
    subprocess.run(["tinyproxy", "-c", f"{DIR}/proxy.conf"], check=True)


def certificate():
    subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                    "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                    "-subj", "/CN=ok.test", "-addext", "subjectAltName=DNS:ok.test",
                    "-keyout", f"{DIR}/key.pem", "-out", f"{DIR}/cert.pem"],
                   check=True, capture_output=True)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{DIR}/cert.pem", f"{DIR}/key.pem")
    return context


def main():
    log = open(f"{DIR}/asked", "w")
    # The second is one of the cable alone.
    for family, at in ((socket.AF_INET, ("203.0.113.53", 53)),
                       (socket.AF_INET6, ("fe80::53", 53, 0, socket.if_nametoindex("v1")))):
        names = socket.socket(family, socket.SOCK_DGRAM)
        names.bind(at)
        threading.Thread(target=serve_names, args=(names, log), daemon=True).start()
    each_connection(53, serve_names_by_tcp, "203.0.113.53")
    context = certificate()
    if find_nginx():
        web(8090)
        nginx(find_nginx(), 8090)
    else:
        web(80)
        web(8080)
        web(443, context)
    each_connection(7000, echo_at_end)
    each_connection(7001, reset)
    each_connection(7002, speak_first)
    each_connection(7003, fill)
    each_connection(7004, greet)
    each_connection(7005, repeat)
    if shutil.which("tinyproxy"):
        proxy()
    say("ready")
    threading.Event().wait()


def say(word):
    with open(f"{DIR}/ready", "w") as ready:
        ready.write(word + "\n")


try:
    main()
except BaseException:
    # Nobody shall wait for what does not come.
    say("failed")
    raise
