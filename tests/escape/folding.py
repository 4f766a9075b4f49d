#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""A file system that takes names differing in case for the same, as those of other systems
do that are mounted on Linux: folding.py BACKING MOUNTPOINT READY. Every call goes to the
directory BACKING; it says a line in READY when it is there, and ends when it is unmounted."""
import os
import sys

import fusepy


class Folding(fusepy.Operations):
    def __init__(self, backing, ready):
        self.backing, self.ready = backing, ready

    def init(self, path):
        with open(self.ready, "w", encoding="ascii") as ready:
            ready.write("up\n")

    def at(self, path):
        """The spelling that is there, as far as there is one."""
        here = self.backing
        for part in path.strip("/").split("/"):
            try:
                same = [n for n in os.listdir(here) if n.casefold() == part.casefold()]
            except OSError:
                same = []
            here = os.path.join(here, same[0] if same else part)
        return here

    def getattr(self, path, fh=None):
        st = os.lstat(self.at(path))
        return {k: getattr(st, k) for k in ("st_atime", "st_ctime", "st_gid", "st_mode",
                                            "st_mtime", "st_nlink", "st_size", "st_uid")}

    def readdir(self, path, fh):
        return [".", "..", *os.listdir(self.at(path))]

    def open(self, path, flags):
        return os.open(self.at(path), flags & ~os.O_CREAT)

    def create(self, path, mode, fi=None):
        return os.open(self.at(path), os.O_RDWR | os.O_CREAT, mode)

    def read(self, path, size, offset, fh):
        return os.pread(fh, size, offset)

    def write(self, path, data, offset, fh):
        return os.pwrite(fh, data, offset)

    def truncate(self, path, length, fh=None):
        os.truncate(self.at(path), length)

    def release(self, path, fh):
        os.close(fh)

    def mkdir(self, path, mode):
        os.mkdir(self.at(path), mode)

    def mknod(self, path, mode, dev):
        os.mknod(self.at(path), mode, dev)

    def rmdir(self, path):
        os.rmdir(self.at(path))

    def unlink(self, path):
        os.unlink(self.at(path))

    def rename(self, old, new):
        os.rename(self.at(old), self.at(new))

    def symlink(self, target, source):
        os.symlink(source, self.at(target))

    def readlink(self, path):
        return os.readlink(self.at(path))

    def chmod(self, path, mode):
        os.chmod(self.at(path), mode)

    def chown(self, path, uid, gid):
        os.chown(self.at(path), uid, gid)

    def utimens(self, path, times=None):
        os.utime(self.at(path), times)


if __name__ == "__main__":
    fusepy.FUSE(Folding(sys.argv[1], sys.argv[3]), sys.argv[2], foreground=True, nothreads=True)
