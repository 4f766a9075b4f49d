#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kills the supervisor with SIGKILL, at random moments of the start and while a tree of
processes runs; nothing of the run may be left. On landlock that is said of cordon's own
processes and of the command's first one; its directory for TMPDIR may stay (docs/backends.md).

    kill.py CORDON MARKER COUNT [UID]
"""
import json
import os
import random
import re
import signal
import subprocess
import sys
import time

import scene

START_SECONDS = 0.008
# A sleep with a number of its own can be told from everybody else's.
TREE = """
echo $$
sleep {word} &
setsid sleep {word} &
(setsid sh -c 'sleep {word} & sleep {word}' &)
(trap '' HUP TERM INT; sleep {word} &)
echo ready
sleep {word}
"""


class Killer:
    def __init__(self, here, seed):
        self.scene = here
        self.random = random.Random(seed)
        self.result = os.path.join(here.tmp, "result.json")
        self.files = here.files()
        self.mounts = scene.mounts()

    def start(self, n, script, backend="native", **options):
        profile = ("strict", "moderate", "permissive")[n % 3]
        return self.scene.start(["--quiet", "run", "-p", profile, *scene.backend_args(backend),
                                 "--result", self.result, "--", "/bin/sh", "-c", script],
                                stderr=subprocess.DEVNULL, **options)

    def undeclared_processes(self, word, first, backend):
        """Ends all that are left, and tells those that were to have ended by themselves."""
        wrong = [f"process {pid} of cordon is left" for pid in scene.wait_gone(self.scene.root)]
        if backend == "landlock":
            if first in scene.processes(word) and not scene.wait_pid(first):
                wrong.append(f"the first process {first} is left")
            left = scene.processes(word)
        else:
            left = scene.wait_gone(word)
            wrong += [f"process {pid} is left" for pid in left]
        for pid in left:
            os.kill(pid, signal.SIGKILL)
        scene.wait_gone(word)
        return wrong

    def undeclared_files(self, backend):
        changed = set(self.scene.files()) ^ set(self.files)
        own = [path for path in changed if backend == "landlock" and
               os.path.dirname(path) == self.scene.tmp and
               re.fullmatch(r"cordon-\w{6}", os.path.basename(path))]
        for path in own[:1]:
            os.rmdir(path)
        return [f"{path} is left or gone" for path in changed - set(own[:1])]

    def left(self, word, first, backend):
        wrong = self.undeclared_processes(word, first, backend)
        # A run that was over before the signal has delivered its result, whole.
        if os.path.exists(self.result):
            with open(self.result, encoding="utf-8") as f:
                json.load(f)
            os.unlink(self.result)
        wrong += self.undeclared_files(backend)
        if scene.mounts() - self.mounts:
            wrong.append("a mount is left")
        return [f"{backend}: {w}" for w in wrong]

    # Not with bubblewrap, whose own start has a gap: what it forks is tied to its life
    # only after the fork.
    def at_start(self, n):
        backend = ("native", "landlock", "native", "hosts")[n % 4]
        word = f"31{self.random.randrange(10**6, 10**7)}.{n}"
        p = self.start(n, f"echo $$; sleep {word} & sleep {word}", backend, stdout=subprocess.PIPE)
        time.sleep(self.random.uniform(0, START_SECONDS))
        p.send_signal(signal.SIGKILL)
        p.wait()
        # It comes from the first process, or all are gone that could have sent it.
        first = p.stdout.readline()
        p.stdout.close()
        return self.left(word, int(first or 0), backend)

    def in_run(self, n):
        backend = ("native", "landlock", "hosts", "bwrap")[n % 4]
        word = f"32{self.random.randrange(10**6, 10**7)}.{n}"
        p = self.start(n, TREE.format(word=word), backend, stdout=subprocess.PIPE)
        first, ready = p.stdout.readline(), p.stdout.readline()
        seen = len(scene.processes(word))
        p.send_signal(signal.SIGKILL)
        p.wait()
        p.stdout.close()
        wrong = self.left(word, int(first or 0), backend)
        if ready != b"ready\n" or seen < 5:
            wrong.append(f"{backend}: the tree did not come up: {ready!r}, {seen} processes")
        return wrong


def main():
    cordon, marker, count = sys.argv[1], sys.argv[2], int(sys.argv[3])
    uid = int(sys.argv[4]) if len(sys.argv) > 4 else 0
    scene.own_mounts()
    here, tap = scene.Scene(cordon, marker, uid), scene.Tap()
    here.own_tmp()
    seed = int(os.environ.get("CORDON_SEED", time.time_ns() % 10**6))
    print(f"# CORDON_SEED={seed}")
    killer = Killer(here, seed)
    for name, kill, share in (("at the start", killer.at_start, 2 * count // 3),
                              ("while it runs", killer.in_run, count // 3)):
        wrong = []
        for n in range(share):
            wrong += [f"run {n}: {w}" for w in kill(n)]
        tap.result(share and not wrong, f"killed {name}, {share} times: nothing is left", wrong)
    here.close()
    tap.end()


main()
