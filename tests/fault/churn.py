#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs that start while sockets, files and directories of the host come and go around them:
none may fail over that, and none may see what is hidden.

    churn.py CORDON MARKER COUNT PARALLEL [UID]
"""
import os
import shutil
import socket
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import many
import scene


def make_socket(path):
    s = socket.socket(socket.AF_UNIX)
    s.bind(path)
    s.listen()
    return s.close


def make_file(path):
    with open(path, "w", encoding="ascii") as f:
        f.write("x\n")
    return lambda: None


def make_dir(path):
    os.mkdir(path)
    make_file(path + "/x")
    return lambda: None


def replace(path):
    """As an editor does it."""
    make_file(path + "~")
    os.rename(path + "~", path)
    return lambda: None


def remove(path):
    if os.path.isdir(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.unlink(path)
    except FileNotFoundError:
        pass


class Churn(threading.Thread):
    """Makes and removes one thing again and again."""

    def __init__(self, path, make, stop):
        super().__init__()
        self.path, self.make, self.stop, self.rounds = path, make, stop, 0

    def run(self):
        while not self.stop.wait(0.0005):
            # bubblewrap may make a mount point there at any moment: docs/backends.md.
            remove(self.path)
            try:
                close = self.make(self.path)
            except OSError:
                continue
            self.stop.wait(0.0005)
            # A socket is still listed, or not any more, when its name goes.
            if self.rounds % 2:
                close()
            remove(self.path)
            close()
            self.rounds += 1


def main():
    here, tap, count, parallel = scene.many_at_once()
    stop = threading.Event()
    made = ((here.work, "socket", make_socket), (here.home, "socket", make_socket),
            (here.root, "socket", make_socket), ("/home", f"churn.{os.getpid()}", make_socket),
            (here.work, ".hidden", make_file), (here.work, ".directory", make_dir),
            (here.work, ".replaced", replace), (here.work, "plain", make_file),
            (here.home, ".netrc", make_file), (here.home + "/.ssh", "key", replace))
    churns = [Churn(os.path.join(place, name), make, stop) for place, name, make in made
              if os.access(place, os.W_OK)]
    for churn in churns:
        churn.start()
    try:
        with ThreadPoolExecutor(parallel) as pool:
            wrong = [w for w in pool.map(lambda n: many.one(here, n), range(count)) if w]
    finally:
        stop.set()
        for churn in churns:
            churn.join()
    tap.result(not wrong, f"{count} runs, {parallel} at a time, {len(churns)} things come and go",
               wrong)
    idle = [churn.path for churn in churns if churn.rounds < 10]
    tap.result(not idle, "all of them did", idle)
    left = scene.wait_gone(here.root)
    tap.result(not left, "no process is left", map(str, left))
    here.close()
    tap.end()


if __name__ == "__main__":
    main()
