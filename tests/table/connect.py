# SPDX-License-Identifier: Apache-2.0
"""Rows of `connect`, against what happens inside on native.

The run is in a network of its own that has no device but a loopback that is down: nothing
leaves the machine, whatever is asked for. A name is only looked up: the name server of the
run answers one that is listed, and says of others that there is none. An address is connected
to: it is refused at once, or else its connection is accepted and ends when the relay, which the
result says it was handed on to, has reached nobody.

Left out: what cannot be named, the loopback, which is the command's own, the host's network,
which is not cordon's to judge, policies under which Python does not start, and a name that is listed with other ports, because that shows
only to who connects to it.
"""
import ipaddress
import json
import re

NO_WAY_OUT = ["unshare", "--user", "--map-root-user", "--net"]
PROGRAM = "/usr/bin/python3"
# A port of no row, for an address that is given without one.
ANY_PORT = 9
INSIDE = """
import json, socket, sys
def found(host, port):
    socket.getaddrinfo(host, None)
def accepted(host, port):
    try:
        with socket.create_connection((host, port), 20) as s:
            s.recv(1)
    except ConnectionResetError:
        pass
def tried(host, port, is_name):
    try:
        (found if is_name else accepted)(host, port)
        return True
    except OSError:
        return False
print(json.dumps([tried(*row) for row in json.loads(sys.argv[1])]))
"""


def split(host):
    """The name or address in HOST[:PORT], and the port or None."""
    bracketed = re.fullmatch(r"\[(.*)\](?::(\d+))?", host)
    plain = bracketed or re.fullmatch(r"([^:]*)(?::(\d+))?", host)
    if not plain:
        return host, None
    return plain.group(1), int(plain.group(2)) if plain.group(2) else None


def address(host):
    """As an address, an embedded one as what it is; None: a name."""
    try:
        found = ipaddress.ip_address(host)
    except ValueError:
        return None
    return getattr(found, "ipv4_mapped", None) or found


def is_loopback(host):
    found = address(host)
    return found.is_loopback if found else host.rstrip(".").lower() == "localhost"


def with_ports(host, text):
    """A name with every port that TEXT, the policy's, speaks of."""
    return [f"{host}:{port}" for port in sorted(set(re.findall(r":(\d+)", text)))]


def arguments(rows):
    """The program for inside and what it is to try: (host, port, is it a name) of each row."""
    what = []
    for host in rows:
        host, port = split(host)
        what.append((host, ANY_PORT if port is None else port, address(host) is None))
    return [PROGRAM, "-c", INSIDE, json.dumps(what)]


def verdicts(rows, result):
    """`allow` or `deny` for each row, from the JSON of the run."""
    result = json.loads(result)
    handed_on = {(address(h["host"]), h["port"]) for h in result["hosts"] or []}
    answers = []
    for host, found in zip(rows, json.loads(result["stdout"])):
        host, port = split(host)
        port = ANY_PORT if port is None else port
        if address(host) is not None:
            found = found and (address(host), port) in handed_on
        answers.append("allow" if found else "deny")
    return answers
