#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Lets each allocation of `cordon run` fail, alone and with all later ones.

    alloc.py CORDON-FAILING MARKER [MOST]

With MOST no more than about so many for each backend and way: those of the start, and
some of the many that telling about a refusal takes.
"""
import os
import subprocess
import sys

from scene import Scene, Tap, backend_args, wrong_end

SECONDS = 20


def count(scene, args):
    read, write = os.pipe()
    p = scene.start(args, {"CORDON_COUNT_ALLOC": str(write)}, pass_fds=[write],
                    stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    os.close(write)
    p.communicate()
    with os.fdopen(read) as f:
        return int(f.read()), p.returncode


def one(scene, args, n, later):
    env = {"CORDON_FAIL_ALLOC": str(n), **({"CORDON_FAIL_LATER": "1"} if later else {})}
    p = scene.start(args, env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    try:
        out, err = p.communicate(timeout=SECONDS)
    except subprocess.TimeoutExpired:
        p.kill()
        p.communicate()
        return f"allocation {n}: hangs"
    wrong = wrong_end(p.returncode, out, err)
    return f"allocation {n}{' and later' if later else ''}: {wrong}\n{err}" if wrong else None


def chosen(total, most):
    """The first two thirds of MOST, and as many as are left, evenly, of the others."""
    start = min(total, 2 * most // 3)
    stride = max(1, (total - start) // max(1, most - start))
    return [*range(1, start + 1), *range(start + 1, total + 1, stride)]


def sweep(tap, scene, backend, most):
    args = ["run", "-p", "strict", *backend_args(backend), "--", *scene.marker_args(backend)]
    total, status = count(scene, args)
    tap.result(status == 0 and total > 20, f"{backend}: a run makes {total} allocations")
    for later in (False, True):
        wrong = [w for n in chosen(total, most or total) if (w := one(scene, args, n, later))]
        tap.result(not wrong, f"{backend}: each allocation fails"
                   + (", and all later ones" if later else ""), wrong)


def main():
    scene, tap = Scene(sys.argv[1], sys.argv[2]), Tap()
    before = scene.files()
    for backend in ("native", "bwrap"):
        sweep(tap, scene, backend, int(sys.argv[3]) if len(sys.argv) > 3 else None)
    tap.result(scene.files() == before, "no file is left", set(scene.files()) ^ set(before))
    scene.close()
    tap.end()


main()
