#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Opens each kind of object with each combination of flags and prints what came of it.

    opens.py DIR [all]

DIR is an empty directory. Of the flags that decide which file it is every combination is tried,
each of the others with at most one of those. With "all", which takes ten times as long, each of
the others is tried with every combination. The output is the same whoever carries the calls out.
"""
import ctypes
import errno
import fcntl
import itertools
import os
import stat
import sys

libc = ctypes.CDLL(None, use_errno=True)
CREAT, EXCL, TRUNC, NONBLOCK = os.O_CREAT, os.O_EXCL, os.O_TRUNC, os.O_NONBLOCK
WHICH = (CREAT, EXCL, TRUNC, os.O_DIRECTORY, os.O_NOFOLLOW)
UNNAMED = os.O_TMPFILE & ~os.O_DIRECTORY
HOW = (os.O_APPEND, os.O_PATH, NONBLOCK, os.O_SYNC, os.O_DIRECT, os.O_CLOEXEC, os.O_NOATIME,
       os.O_NOCTTY)
MADE = ("missing", "nowhere", "shut/missing", "wide/missing")


def write(path, text="contents"):
    with open(path, "w", encoding="ascii") as out:
        out.write(text)


def sums(flags):
    return [sum(some) for n in range(len(flags) + 1) for some in itertools.combinations(flags, n)]


def prepare():
    """The objects by their paths, and the files of which the content is looked at."""
    files = ["file", "secret", "readable", "writable", "script", "held"]
    for name in files:
        write(name)
    for name in "dir", "shut", "blind", "wide":
        os.mkdir(name)
    for target, name in (("file", "link"), ("dir", "dirlink"), ("nowhere", "dangling"),
                         ("loop", "loop"), ("fifo", "fifolink"), ("secret", "secretlink")):
        os.symlink(target, name)
    write("blind/file")
    os.mkfifo("fifo")
    os.mknod("socket", 0o644 | stat.S_IFSOCK)
    held, directory = os.open("held", os.O_RDONLY), os.open("dir", os.O_RDONLY)
    memory = os.memfd_create("m", 2)
    os.write(memory, b"contents")
    held, directory, memory = os.dup2(held, 70), os.dup2(directory, 71), os.dup2(memory, 72)
    fcntl.fcntl(memory, 1033, 0x2)  # F_ADD_SEALS, F_SEAL_SHRINK
    for name, mode in (("secret", 0), ("readable", 0o444), ("writable", 0o222), ("shut", 0o555),
                       ("blind", 0), ("wide", 0o1777)):
        os.chmod(name, mode)
    return files, [
        "file", "dir", "link", "dirlink", "dangling", "loop", "fifo", "fifolink", "socket",
        "missing", "secret", "secretlink", "readable", "writable", "shut/missing", "blind/file",
        "wide/missing", "", ".", "..", "/", "dir/", "file/", "link/", "dirlink/", "missing/",
        "dangling/", "dir/.", "dir/..", "dirlink/..", "file/.", "file/x", "gone/x", "/dev/null",
        "/dev/tty", f"/proc/self/fd/{held}", f"/dev/fd/{held}", f"/proc/self/fd/{directory}",
        f"/proc/self/fd/{memory}", "/proc/self/fd/77", "/proc/self/cwd", "/proc/self/comm",
        "n" * 255, "n" * 256]


def restore(files):
    """Says what the call left, and undoes it."""
    left = []
    for name in MADE + ("n" * 255,):
        try:
            left.append(f"{name[:12]} {os.stat(name).st_mode:o}")
            os.unlink(name)
        except OSError:
            pass
    for name in files:
        st = os.stat(name)
        if st.st_size != 8:
            left.append(f"{name} {st.st_mode:o} {st.st_size}")
            os.chmod(name, 0o600)
            write(name)
            os.chmod(name, stat.S_IMODE(st.st_mode))
    return left


def attempt(path, flags):
    ctypes.set_errno(0)
    fd = libc.open(path, flags, 0o6751)
    if fd < 0:
        return errno.errorcode[ctypes.get_errno()]
    st = os.fstat(fd)
    size = st.st_size if stat.S_ISREG(st.st_mode) else "-"
    seen = f"{fcntl.fcntl(fd, fcntl.F_GETFL):o} {fcntl.fcntl(fd, fcntl.F_GETFD)} {st.st_mode:o} {size}"
    os.close(fd)
    return seen


def main():
    os.chdir(sys.argv[1])
    os.umask(0o022)
    files, paths = prepare()
    if "all" in sys.argv:
        every = [which | how for which in sums(WHICH + (UNNAMED,)) for how in (0,) + HOW]
    else:
        every = sums(WHICH) + [which | how for which in (0,) + WHICH
                               for how in HOW + (UNNAMED, os.O_TMPFILE)]
    for path in paths:
        # A pipe would wait for its other end.
        always = NONBLOCK if path.startswith("fifo") else 0
        text = path.encode()
        for access in range(4 if "all" in sys.argv else 3):
            for flags in every:
                got = attempt(text, access | flags | always)
                left = restore(files) if flags & (CREAT | TRUNC) else []
                print(f"{path[:40]} {access} {flags:o}: {got}", *left)


main()
