#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Many runs, many at a time, of several profiles and backends.

    many.py CORDON MARKER COUNT PARALLEL [UID]
"""
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import scene

SECONDS = 120
# Streams, loop, signals, process, status and hand-over, the listener, the cache's lock, and
# until it is read the start's outcome. More than these would be a leak.
SUPERVISOR_FDS = 16

# Nothing is writable, so that landlock can promise the file rules.
ALONE = ["--allow-read", "/", "--allow-exec", "/", "--deny", "~/.ssh"]


def arguments(here, n):
    profile = ("strict", "moderate", "permissive", "shell", "agent")[n % 5]
    backend = ("native", "hosts", "landlock", "native", "native", "native", "bwrap")[n % 7]
    # bubblewrap cannot promise the exec rules of `shell`, and cordon refuses.
    if backend == "bwrap" and profile == "shell":
        backend = "native"
    # A file of the workdir may not be executed in the one, and ~/.ssh is read in the other.
    command = ["/bin/sh", "-c", "echo ran; echo done"] if profile in ("shell", "agent") else \
        here.marker_args(backend, network=profile != "permissive" or backend == "hosts")
    # Which of the refusals that the marker asks about are there depends on the network.
    if backend == "landlock":
        profile = "custom"
    return ["run", "-p", profile, *scene.backend_args(backend),
            *([*ALONE, "--allow-read", here.work] if backend == "landlock" else []), "--", *command]


def one(here, n):
    args = arguments(here, n)
    p = here.start(args, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = p.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return f"run {n} hangs: {args}"
    if p.returncode or not out.endswith("done\n") or scene.undeclared(out, err):
        return f"run {n}: status {p.returncode}\n{out}{err}"
    return None


def open_descriptors(here):
    """Of a supervisor, and of its command, while the command runs."""
    p = here.start(["--quiet", "run", "--", "/bin/sh", "-c", "ls /proc/self/fd; read end"],
                   stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    # 0, 1, 2 and the directory that ls itself has open.
    inside = [p.stdout.readline() for _ in range(4)]
    count = len(os.listdir(f"/proc/{p.pid}/fd"))
    p.communicate(b"\n")
    return count, inside


def zombies(word):
    """Dead processes that nobody took in, by name."""
    found = []
    for name in os.listdir("/proc"):
        try:
            with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as f:
                text = f.read()
        except OSError:
            continue
        comm, state = text[text.find("(") + 1:text.rfind(")")], text[text.rfind(")") + 2:][:1]
        if state == "Z" and comm == word:
            found.append(text.split()[0])
    return found


def main():
    here, tap, count, parallel = scene.many_at_once()
    # A name of their own tells these from others' on the same machine.
    here.cordon = here.renamed(here.cordon, f"c{os.getpid()}")
    here.marker = here.renamed(here.marker, f"m{os.getpid()}")
    before, files, mounts = open_descriptors(here), here.files(), scene.mounts()
    with ThreadPoolExecutor(parallel) as pool:
        wrong = [w for w in pool.map(lambda n: one(here, n), range(count)) if w]
    tap.result(not wrong, f"{count} runs, {parallel} at a time", wrong)
    left = scene.wait_gone(here.root)
    tap.result(not left, "no process is left", map(str, left))
    dead = zombies(f"c{os.getpid()}") + zombies(f"m{os.getpid()}")
    tap.result(not dead, "no zombie is left", dead)
    after = open_descriptors(here)
    for name, (count, inside) in (("first", before), ("last", after)):
        tap.result(count <= SUPERVISOR_FDS and inside == [b"0\n", b"1\n", b"2\n", b"3\n"],
                   f"the {name} supervisor holds {count} descriptors, its command three",
                   map(repr, inside))
    tap.result(here.files() == files, "no file is left", set(here.files()) ^ set(files))
    left = scene.mounts() - mounts
    tap.result(not left, "no mount is left", left)
    here.close()
    tap.end()


if __name__ == "__main__":
    main()
