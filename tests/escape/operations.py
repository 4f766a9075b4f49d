#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does more than 300 operations on files and prints what came of each.

    operations.py DIR [no-sockets | outside=PATH]

DIR is an empty directory; a server of the host's listens on the unix socket PATH. The output,
which ends with the tree that is left, is the same whoever carries the operations out: broker.bats
runs this without cordon, without a broker and with one.
"""
import array
import ctypes
import errno
import fcntl
import os
import signal
import socket
import stat
import struct
import sys
import threading

libc = ctypes.CDLL(None, use_errno=True)
PATH = ctypes.c_char_p
NR = {"open": 2, "creat": 85, "mkdir": 83, "rmdir": 84, "link": 86, "unlink": 87, "symlink": 88,
      "rename": 82, "chmod": 90, "chown": 92, "lchown": 94, "mknod": 133, "utime": 132,
      "utimes": 235, "futimesat": 261, "renameat": 264, "fchmodat2": 452, "truncate": 76}
OLD_CALLS = os.uname().machine == "x86_64"
RENAME_NOREPLACE, RENAME_EXCHANGE = 1, 2
AT_FDCWD, AT_EMPTY_PATH, AT_SYMLINK_NOFOLLOW, AT_SYMLINK_FOLLOW = -100, 0x1000, 0x100, 0x400
count = 0


def check(result):
    if result < 0:
        raise OSError(ctypes.get_errno(), "")
    return result


def raw(name, *args):
    return check(libc.syscall(NR[name], *args))


def do(name, work, *args, **more):
    """One operation: its value, or its errno."""
    global count
    count += 1
    try:
        value = work(*args, **more)
        print(f"{name}: {'ok' if value is None else value}")
    except OSError as error:
        print(f"{name}: {errno.errorcode.get(error.errno, error.errno)}")


def show_fd(fd):
    """What can be seen of a descriptor, which is closed."""
    flags, close = fcntl.fcntl(fd, fcntl.F_GETFL), fcntl.fcntl(fd, fcntl.F_GETFD)
    st = os.fstat(fd)
    os.close(fd)
    return f"flags {flags:o} {close} mode {st.st_mode:o} size {st.st_size} links {st.st_nlink}"


def opened(path, flags, mode=0o777, **more):
    return show_fd(os.open(path, flags, mode, **more))


def write(path, text="x"):
    with open(path, "w") as out:
        out.write(text)


def mode_of(path):
    return f"{os.lstat(path).st_mode:o}"


def opens():
    for flags in ("RDONLY", "WRONLY", "RDWR"):
        base = getattr(os, "O_" + flags)
        do(f"open missing {flags}", opened, "missing", base)
        do(f"create {flags}", opened, f"new-{flags}", base | os.O_CREAT, 0o640)
        do(f"create again {flags}", opened, f"new-{flags}", base | os.O_CREAT, 0o600)
        do(f"create excl {flags}", opened, f"new-{flags}", base | os.O_CREAT | os.O_EXCL)
        do(f"append {flags}", opened, f"new-{flags}", base | os.O_APPEND)
        do(f"truncate {flags}", opened, f"new-{flags}", base | os.O_TRUNC)
        do(f"nofollow {flags}", opened, f"new-{flags}", base | os.O_NOFOLLOW)
        do(f"nonblock sync {flags}", opened, f"new-{flags}", base | os.O_NONBLOCK | os.O_SYNC)
        do(f"directory {flags}", opened, "dir", base)
        do(f"directory excl {flags}", opened, "dir", base | os.O_CREAT | os.O_EXCL)
        do(f"directory create {flags}", opened, "dir", base | os.O_CREAT)
        do(f"O_DIRECTORY of a file {flags}", opened, "file", base | os.O_DIRECTORY)
        do(f"slash {flags}", opened, "file/", base)
        do(f"slash create {flags}", opened, "none/", base | os.O_CREAT)
        do(f"through a file {flags}", opened, "file/x", base | os.O_CREAT)
        do(f"in a missing directory {flags}", opened, "gone/x", base | os.O_CREAT)
        do(f"through a link {flags}", opened, "link", base)
        do(f"link nofollow {flags}", opened, "link", base | os.O_NOFOLLOW)
        do(f"link excl {flags}", opened, "link", base | os.O_CREAT | os.O_EXCL)
        do(f"loop {flags}", opened, "loop", base | os.O_CREAT)
        do(f"empty {flags}", opened, "", base)
        do(f"unnamed {flags}", opened, "dir", base | os.O_TMPFILE)
    do("dangling create", opened, "dangling", os.O_WRONLY | os.O_CREAT)
    do("dangling made", mode_of, "made-by-link")
    do("no cloexec", lambda: show_fd(check(libc.open(b"file", os.O_RDWR))))
    do("unknown flags", lambda: show_fd(check(libc.open(b"file", os.O_RDWR | 1 << 30))))
    do("mode without create", lambda: show_fd(check(libc.open(b"file", os.O_RDWR, 0o7777777))))
    do("setuid create", opened, "setuid", os.O_WRONLY | os.O_CREAT, 0o6755)
    do("name of 255", opened, "n" * 255, os.O_WRONLY | os.O_CREAT)
    do("name of 256", opened, "n" * 256, os.O_WRONLY | os.O_CREAT)
    do("long path", opened, "dir/" * 1100 + "x", os.O_WRONLY | os.O_CREAT)
    do("dots", opened, "dir/../dir/./../dotted", os.O_WRONLY | os.O_CREAT)
    do("absolute", opened, os.path.abspath("absolute"), os.O_WRONLY | os.O_CREAT)
    do("bad address", lambda: check(libc.syscall(257, AT_FDCWD, ctypes.c_void_p(8), 1)))
    if OLD_CALLS:
        do("open(2)", lambda: show_fd(raw("open", PATH(b"by-open"), os.O_RDWR | os.O_CREAT, 0o666)))
        do("creat(2)", lambda: show_fd(raw("creat", PATH(b"by-creat"), 0o666)))


def descriptors():
    fd = os.open("dir", os.O_RDONLY)
    do("openat", opened, "in-dir", os.O_WRONLY | os.O_CREAT, dir_fd=fd)
    do("openat up", opened, "../up", os.O_WRONLY | os.O_CREAT, dir_fd=fd)
    do("mkdirat", os.mkdir, "sub", 0o755, dir_fd=fd)
    do("renameat", lambda: os.rename("in-dir", "moved", src_dir_fd=fd, dst_dir_fd=fd))
    do("unlinkat", lambda: os.unlink("moved", dir_fd=fd))
    do("unlinkat a directory", lambda: os.unlink("sub", dir_fd=fd))
    do("rmdirat", lambda: os.rmdir("sub", dir_fd=fd))
    do("utimensat dirfd", lambda: os.utime("../file", (5, 6), dir_fd=fd))
    os.close(fd)
    for bad in -1, -5:
        do("negative dirfd", opened, "x", os.O_WRONLY | os.O_CREAT, dir_fd=bad)
    do("closed dirfd", opened, "x", os.O_WRONLY | os.O_CREAT, dir_fd=fd)
    fd = os.open("file", os.O_RDONLY)
    do("dirfd is a file", opened, "x", os.O_WRONLY | os.O_CREAT, dir_fd=fd)
    do("/proc/self/fd for writing", opened, f"/proc/self/fd/{fd}", os.O_WRONLY)
    do("/dev/fd appending", opened, f"/dev/fd/{fd}", os.O_WRONLY | os.O_APPEND)
    do("/proc/self/fd nofollow", opened, f"/proc/self/fd/{fd}", os.O_WRONLY | os.O_NOFOLLOW)
    do("/proc/thread-self/fd", opened, f"/proc/thread-self/fd/{fd}", os.O_RDWR)
    do("/proc/self/cwd", opened, "/proc/self/cwd/through-cwd", os.O_WRONLY | os.O_CREAT)
    do("/proc/self/cwd create", opened, "/proc/self/cwd", os.O_RDONLY | os.O_CREAT)
    do("/proc/self/cwd excl", opened, "/proc/self/cwd", os.O_RDONLY | os.O_CREAT | os.O_EXCL)
    do("dot create", opened, ".", os.O_RDONLY | os.O_CREAT)
    do("root create", opened, "/", os.O_RDONLY | os.O_CREAT)
    do("/proc/self/root", opened, f"/proc/self/root{os.getcwd()}/file", os.O_WRONLY)
    os.close(fd)
    do("/proc/self/fd closed", opened, f"/proc/self/fd/{fd}", os.O_WRONLY)
    for side in os.pipe():
        do("pipe for writing", lambda: mode_of_fd(os.open(f"/proc/self/fd/{side}", os.O_WRONLY
                                                           | os.O_NONBLOCK)))
    fd = os.memfd_create("m", 8)
    do("memfd for writing", lambda: mode_of_fd(os.open(f"/proc/self/fd/{fd}", os.O_RDWR)))
    fd = os.open("dir", os.O_WRONLY | os.O_TMPFILE, 0o600)
    do("link an unnamed file", lambda: check(libc.linkat(
        AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, b"was-unnamed", AT_SYMLINK_FOLLOW)))
    do("its mode", mode_of, "was-unnamed")
    fd = os.open("file", os.O_PATH)
    do("O_PATH fchmod", lambda: check(libc.fchmod(fd, 0o600)))
    do("O_PATH reopened", opened, f"/proc/self/fd/{fd}", os.O_WRONLY)


def mode_of_fd(fd):
    st = os.fstat(fd)
    os.close(fd)
    return f"{st.st_mode:o}"


def makes():
    do("mkdir", os.mkdir, "d1", 0o777)
    do("mkdir again", os.mkdir, "d1")
    do("mkdir slash", os.mkdir, "d2/")
    do("mkdir on a file", os.mkdir, "file")
    do("mkdir below a file", os.mkdir, "file/d")
    do("mkdir on a link", os.mkdir, "dangling2")
    do("mkdir dot", os.mkdir, ".")
    do("mkdir root", os.mkdir, "/")
    do("mkdir sticky", os.mkdir, "sticky", 0o1777)
    do("its mode", mode_of, "sticky")
    do("mkfifo", os.mkfifo, "fifo", 0o666)
    do("its mode", mode_of, "fifo")
    do("mknod file", os.mknod, "node", 0o644 | stat.S_IFREG)
    do("mknod typeless", os.mknod, "node2", 0o644)
    do("mknod socket", os.mknod, "sock", 0o644 | stat.S_IFSOCK)
    do("mknod directory", os.mknod, "nodedir", 0o644 | stat.S_IFDIR)
    do("mknod exists", os.mknod, "node", 0o644 | stat.S_IFREG)
    do("symlink", os.symlink, "anything", "s1")
    do("symlink exists", os.symlink, "anything", "s1")
    do("symlink empty", os.symlink, "", "s2")
    do("symlink slash", os.symlink, "anything", "s3/")
    do("symlink long", os.symlink, "a" * 4095, "s4")
    do("symlink too long", os.symlink, "a" * 4096, "s5")
    do("link", os.link, "file", "hard")
    do("link exists", os.link, "file", "hard")
    do("link missing", os.link, "missing", "hard2")
    do("link a directory", os.link, "dir", "hard3")
    do("link a link", lambda: os.link("s1", "hard4", follow_symlinks=False))
    do("link followed", lambda: check(libc.linkat(AT_FDCWD, b"link", AT_FDCWD, b"hard5",
                                                   AT_SYMLINK_FOLLOW)))
    do("link bad flags", lambda: check(libc.linkat(AT_FDCWD, b"file", AT_FDCWD, b"hard6", 1)))
    do("link counts", lambda: os.stat("file").st_nlink)
    if OLD_CALLS:
        do("mkdir(2)", lambda: raw("mkdir", PATH(b"by-mkdir"), 0o700))
        do("rmdir(2)", lambda: raw("rmdir", PATH(b"by-mkdir")))
        do("mknod(2)", lambda: raw("mknod", PATH(b"by-mknod"), 0o100600, 0))
        do("symlink(2)", lambda: raw("symlink", PATH(b"to"), PATH(b"by-symlink")))
        do("link(2)", lambda: raw("link", PATH(b"by-mknod"), PATH(b"by-link")))
        do("rename(2)", lambda: raw("rename", PATH(b"by-link"), PATH(b"by-rename")))
        do("unlink(2)", lambda: raw("unlink", PATH(b"by-rename")))


def rename2(old, new, flags):
    return check(libc.renameat2(AT_FDCWD, old.encode(), AT_FDCWD, new.encode(), flags))


def moves():
    for name in ("m1", "m2", "m3"):
        write(name, name)
    os.makedirs("md/full")
    do("rename", os.rename, "m1", "m1b")
    do("rename over", os.rename, "m1b", "m2")
    do("what is there", lambda: open("m2").read())
    do("rename missing", os.rename, "m1", "x")
    do("rename itself", os.rename, "m2", "m2")
    do("rename file over directory", os.rename, "m2", "md")
    do("rename directory over file", os.rename, "md", "m2")
    do("rename over a full directory", os.rename, "dir", "md")
    do("rename into itself", os.rename, "md", "md/full/x")
    do("rename dot", os.rename, "md/.", "x")
    do("rename to dotdot", os.rename, "m2", "md/..")
    do("rename file slash", os.rename, "m2", "x/")
    do("rename directory slash", os.rename, "md/full", "md2/")
    do("rename a link", os.rename, "s1", "s1b")
    do("noreplace", rename2, "m2", "m3", RENAME_NOREPLACE)
    do("noreplace new", rename2, "m2", "m4", RENAME_NOREPLACE)
    do("exchange", rename2, "m3", "m4", RENAME_EXCHANGE)
    do("what is there", lambda: open("m3").read())
    do("exchange missing", rename2, "m3", "missing", RENAME_EXCHANGE)
    do("exchange with a directory", rename2, "m3", "md", RENAME_EXCHANGE)
    do("both flags", rename2, "m3", "md", 3)
    do("bad flags", rename2, "m3", "md", 64)
    do("unlink", os.unlink, "m4")
    do("unlink missing", os.unlink, "m4")
    do("unlink directory", os.unlink, "m3")
    do("unlink dot", os.unlink, ".")
    do("unlink slash", os.unlink, "file/")
    do("unlink link", os.unlink, "s1b")
    do("rmdir full", os.rmdir, "dir")
    do("rmdir file", os.rmdir, "file")
    do("rmdir dot", os.rmdir, "md/.")
    do("rmdir dotdot", os.rmdir, "m3/..")
    do("rmdir link slash", os.rmdir, "dirlink/")
    do("rmdir", os.rmdir, "md2")
    do("unlinkat bad flags", lambda: check(libc.unlinkat(AT_FDCWD, b"file", 1)))


def metadata():
    write("meta", "0123456789")
    os.symlink("meta", "metalink")
    do("chmod", os.chmod, "meta", 0o4751)
    do("its mode", mode_of, "meta")
    do("chmod through a link", os.chmod, "metalink", 0o600)
    do("its mode", mode_of, "meta")
    do("chmod missing", os.chmod, "missing", 0o600)
    do("fchmodat2 nofollow", lambda: raw("fchmodat2", AT_FDCWD, PATH(b"metalink"), 0o644,
                                         AT_SYMLINK_NOFOLLOW))
    do("fchmodat2 empty", lambda: raw("fchmodat2", os.open("meta", os.O_RDONLY), PATH(b""), 0o640,
                                      AT_EMPTY_PATH))
    do("fchmodat2 empty, writable",
       lambda: raw("fchmodat2", os.open("meta", os.O_RDWR), PATH(b""), 0o642, AT_EMPTY_PATH))
    do("fchmodat2 bad flags", lambda: raw("fchmodat2", AT_FDCWD, PATH(b"meta"), 0o644, 1))
    fd = os.open("meta", os.O_RDONLY)
    do("fchmod", os.fchmod, fd, 0o644)
    do("its mode", mode_of, "meta")
    do("fchown", os.fchown, fd, os.getuid(), os.getgid())
    do("chown", os.chown, "meta", -1, os.getgid())
    do("lchown", os.lchown, "metalink", os.getuid(), -1)
    do("chown to another", os.chown, "meta", 12345, -1)
    do("fchownat empty", lambda: check(libc.fchownat(fd, b"", -1, -1, AT_EMPTY_PATH)))
    do("utime", os.utime, "meta", (1000, 2000))
    do("its times", lambda: (os.stat("meta").st_atime, os.stat("meta").st_mtime))
    do("utime ns", lambda: os.utime("meta", ns=(1234567890, 9876543210)))
    do("its times", lambda: (os.stat("meta").st_atime_ns, os.stat("meta").st_mtime_ns))
    do("utime of a link", lambda: os.utime("metalink", (7, 8), follow_symlinks=False))
    do("its times", lambda: os.lstat("metalink").st_mtime)
    do("futimens", lambda: os.utime(fd, (3, 4)))
    do("its times", lambda: os.stat("meta").st_mtime)
    do("utime now", lambda: os.utime("meta") or os.stat("meta").st_mtime > 1e9)
    do("utime missing", os.utime, "missing")
    if OLD_CALLS:
        two = array.array("q", [11, 0, 12, 5])
        at = ctypes.c_void_p(two.buffer_info()[0])
        do("utime(2)", lambda: raw("utime", PATH(b"meta"), at))
        do("utimes(2)", lambda: raw("utimes", PATH(b"meta"), at))
        do("futimesat(2)", lambda: raw("futimesat", AT_FDCWD, PATH(b"meta"), at))
        do("its times", lambda: os.stat("meta").st_mtime_ns)
        do("chmod(2)", lambda: raw("chmod", PATH(b"meta"), 0o604))
        do("chown(2)", lambda: raw("chown", PATH(b"meta"), -1, -1))
        do("lchown(2)", lambda: raw("lchown", PATH(b"metalink"), -1, -1))
    do("truncate", os.truncate, "meta", 3)
    do("truncate longer", os.truncate, "meta", 100)
    do("its size", lambda: os.stat("meta").st_size)
    do("truncate a directory", os.truncate, "dir", 0)
    do("truncate negative", os.truncate, "meta", -1)
    do("truncate a fifo", os.truncate, "fifo", 0)
    do("truncate missing", os.truncate, "missing", 0)
    attributes(fd)


def attributes(fd):
    do("setxattr", os.setxattr, "meta", "user.a", b"1")
    do("setxattr exists", os.setxattr, "meta", "user.a", b"1", os.XATTR_CREATE)
    do("setxattr missing", os.setxattr, "meta", "user.b", b"1", os.XATTR_REPLACE)
    do("setxattr empty", os.setxattr, "meta", "user.e", b"")
    do("fsetxattr", os.setxattr, fd, "user.f", b"by descriptor")
    do("getxattr", os.getxattr, "meta", "user.f")
    do("setxattr link", lambda: os.setxattr("metalink", "user.l", b"1", follow_symlinks=False))
    do("setxattr trusted", os.setxattr, "meta", "trusted.x", b"1")
    do("setxattr no prefix", os.setxattr, "meta", "x", b"1")
    do("setxattr long name", os.setxattr, "meta", "user." + "n" * 300, b"1")
    do("setxattr long value", os.setxattr, "meta", "user.v", b"v" * 70000)
    do("removexattr", os.removexattr, "meta", "user.a")
    do("removexattr again", os.removexattr, "meta", "user.a")
    do("fremovexattr", os.removexattr, fd, "user.f")
    do("lremovexattr", lambda: os.removexattr("metalink", "user.x", follow_symlinks=False))
    do("listxattr", lambda: sorted(os.listxattr("meta")))
    value = array.array("i", [0])
    do("FS_IOC_GETFLAGS", lambda: fcntl.ioctl(fd, 0x80086601, value))
    do("FS_IOC_SETFLAGS", lambda: fcntl.ioctl(fd, 0x40086602, value))
    do("FS_IOC_SETFLAGS of a pipe", lambda: fcntl.ioctl(os.pipe()[0], 0x40086602, value))


def umasks():
    for mask in 0o077, 0o002:  # nothing else has taken it before
        before = os.umask(mask)
        do(f"mkdir, umask {mask:o}", os.mkdir, f"masked-{mask:o}")
        os.umask(before)
        do("its mode", mode_of, f"masked-{mask:o}")
    for mask in (0o000, 0o077, 0o777, 0o027):
        os.umask(mask)
        do(f"umask {mask:o} file", lambda: opened(f"u{mask}", os.O_WRONLY | os.O_CREAT, 0o666))
        do(f"umask {mask:o} directory", lambda: os.mkdir(f"ud{mask}") or mode_of(f"ud{mask}"))
        do(f"umask {mask:o} fifo", lambda: os.mkfifo(f"uf{mask}") or mode_of(f"uf{mask}"))
    # A directory's own list of rights counts instead of the umask, which says nothing then.
    os.mkdir("acl")
    rights = b"".join(struct.pack("<HHI", tag, allowed, 2**32 - 1)
                      for tag, allowed in ((1, 7), (4, 7), (32, 5)))
    do("default acl", lambda: os.setxattr("acl", "system.posix_acl_default",
                                          struct.pack("<I", 2) + rights))
    os.umask(0o077)
    do("acl file", lambda: opened("acl/file", os.O_WRONLY | os.O_CREAT, 0o666))
    do("acl directory", lambda: os.mkdir("acl/dir") or mode_of("acl/dir"))
    do("acl fifo", lambda: os.mkfifo("acl/fifo") or mode_of("acl/fifo"))
    os.umask(0o022)


def sockets():
    server = socket.socket(socket.AF_UNIX)
    do("bind", server.bind, "listen")
    do("its name", server.getsockname)
    do("its mode", mode_of, "listen")
    do("bind twice", server.bind, "listen2")
    do("bind exists", socket.socket(socket.AF_UNIX).bind, "listen")
    do("bind missing directory", socket.socket(socket.AF_UNIX).bind, "gone/listen")
    do("bind abstract", socket.socket(socket.AF_UNIX).bind, f"\0cordon-{os.getpid()}")
    through = socket.socket(socket.AF_UNIX)
    do("bind through a link", through.bind, "dirlink/s")
    do("bind autobind", lambda: bool(socket.socket(socket.AF_UNIX).bind("")))
    tcp = socket.socket()
    do("bind tcp", tcp.bind, ("127.0.0.1", 0))
    do("its name", lambda: tcp.getsockname()[0])
    do("bind not a socket", lambda: check(libc.bind(os.open("file", os.O_RDONLY), b"\1\0x", 3)))
    server.listen(1)
    client = socket.socket(socket.AF_UNIX)
    do("connect", client.connect, "listen")
    do("peer", client.getpeername)
    do("connect again", client.connect, "listen")
    for name in "slash/", "dir/slash/", "file/", "dir/", "/", "/etc/passwd", "n" * 108, "dir/" + "n" * 104:
        do(f"bind {name}", lambda: address("bind", socket.AF_UNIX, name))
        do(f"connect {name}", lambda: address("connect", socket.AF_UNIX, name))
    for size in 2, 110, 111, 128, 129:
        for family in socket.AF_UNIX, socket.AF_INET:
            do(f"connect {size} {family}", lambda: address("connect", family, "listen", size))
            do(f"bind {size} {family}", lambda: address("bind", family, f"of-{size}", size))
    limited = socket.socket(socket.AF_UNIX)
    limited.setsockopt(socket.SOL_SOCKET, socket.SO_SNDTIMEO, struct.pack("ll", 20, 0))
    signal.signal(signal.SIGALRM, lambda *_: None)
    signal.siginterrupt(signal.SIGALRM, False)
    for _ in range(2):  # no more find room in the queue
        others = socket.socket(socket.AF_UNIX)
        others.setblocking(False)
        others.connect_ex("listen")
    signal.setitimer(signal.ITIMER_REAL, 0.05, 0.05)
    do("a limit of time and a signal", lambda: check(libc.connect(
        limited.fileno(), b"\1\0listen", 8)))
    signal.setitimer(signal.ITIMER_REAL, 0)


def watched():
    """What inotify tells, and in which order."""
    os.mkdir("watched")
    write("watched/there", "abc")
    fd = check(libc.inotify_init1(os.O_NONBLOCK))
    check(libc.inotify_add_watch(fd, b"watched", 0xFFF))

    def events(work):
        work()
        data, at, seen = os.read(fd, 65536), 0, []
        while at < len(data):
            _, mask, _, n = struct.unpack_from("iIII", data, at)
            at += 16 + n
            seen.append(f"{data[at - n:at].rstrip(bytes(1)).decode()} {mask:x}")
        return seen

    new, there = "watched/new", "watched/there"
    do("watched create", events, lambda: opened(new, os.O_WRONLY | os.O_CREAT))
    do("watched excl", events, lambda: opened(new + "2", os.O_WRONLY | os.O_CREAT | os.O_EXCL))
    for more in 0, os.O_CREAT, os.O_APPEND:
        write(there, "abc")
        os.read(fd, 65536)
        do(f"watched truncate {more:o}", events, lambda: opened(there, os.O_RDWR | os.O_TRUNC | more))
    do("watched mkdir", events, lambda: os.mkdir("watched/dir"))
    do("watched symlink", events, lambda: os.symlink("a", "watched/link"))
    do("watched link", events, lambda: os.link(new, "watched/hard"))
    do("watched rename", events, lambda: os.rename(new, "watched/moved"))
    do("watched replace", events, lambda: os.rename(new + "2", "watched/moved"))
    do("watched unlink", events, lambda: os.unlink("watched/hard"))
    do("watched chmod", events, lambda: os.chmod(there, 0o600))
    do("watched utime", events, lambda: os.utime(there, (1, 2)))
    do("watched size", events, lambda: os.truncate(there, 5))
    do("watched attribute", events, lambda: os.setxattr(there, "user.a", b"1"))
    do("watched rmdir", events, lambda: os.rmdir("watched/dir"))


def in_thread(work):
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()


def threads():
    """What a thread has for itself, and what it has not."""
    in_thread(lambda: os.umask(0o077))
    do("umask of a thread", opened, "umask1", os.O_WRONLY | os.O_CREAT, 0o666)
    os.umask(0o022)
    os.mkdir("own")

    def apart():
        check(libc.unshare(0x200))  # CLONE_FS
        os.umask(0o007)
        os.chdir("own")
        do("umask of its own", opened, "umask2", os.O_WRONLY | os.O_CREAT, 0o666)
    in_thread(apart)
    do("umask as before", opened, "umask3", os.O_WRONLY | os.O_CREAT, 0o666)
    at = os.open("own", os.O_RDONLY)

    def other_table():
        check(libc.unshare(0x400))  # CLONE_FILES
        os.close(at)
        here = os.open(".", os.O_RDONLY)
        do("the same number", lambda: here == at)
        do("beside", opened, "beside-own", os.O_WRONLY | os.O_CREAT, dir_fd=here)
    do("in it", opened, "in-own", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    in_thread(other_table)
    do("in it still", opened, "in-own2", os.O_WRONLY | os.O_CREAT, dir_fd=at)
    os.close(at)


def removed():
    """Files and directories without a name."""
    fd = os.open("gone", os.O_CREAT | os.O_RDWR)
    os.write(fd, b"abc")
    os.unlink("gone")
    link = f"/proc/self/fd/{fd}"
    do("removed chmod", os.chmod, link, 0o640)
    do("removed truncate", os.truncate, link, 2)
    do("removed emptied", opened, link, os.O_WRONLY | os.O_TRUNC)
    do("removed link", lambda: check(libc.linkat(AT_FDCWD, link.encode(), AT_FDCWD, b"again",
                                                 AT_SYMLINK_FOLLOW)))
    os.mkdir("gone")
    at, top = os.open("gone", os.O_RDONLY), os.getcwd()
    os.chdir("gone")
    os.rmdir("../gone")
    for name, change in (("mode", lambda: os.fchmod(at, 0o700)), ("times", lambda: os.utime(at, (1, 2))),
                         ("attribute", lambda: os.setxattr(at, "user.a", b"1")),
                         ("owner", lambda: os.fchown(at, os.getuid(), -1)),
                         ("chmod .", lambda: os.chmod(".", 0o755)), ("rmdir .", lambda: os.rmdir(".")),
                         ("utime .", lambda: os.utime(".", (1, 2))),
                         ("open .", lambda: opened(".", os.O_WRONLY)),
                         ("create", lambda: opened("x", os.O_WRONLY | os.O_CREAT)),
                         ("unnamed", lambda: opened(".", os.O_WRONLY | os.O_TMPFILE)),
                         ("mkdir", lambda: os.mkdir("x")), ("symlink", lambda: os.symlink("a", "b")),
                         ("rename", lambda: os.rename("a", "b")),
                         ("up", lambda: opened("../up2", os.O_WRONLY | os.O_CREAT))):
        do(f"removed directory {name}", change)
    os.chdir(top)
    fd = os.open("dir", os.O_WRONLY | os.O_TMPFILE, 0o640)
    do("link by descriptor", lambda: check(libc.linkat(fd, b"", AT_FDCWD, b"by-fd", AT_EMPTY_PATH)))
    fd = os.open("dir", os.O_WRONLY | os.O_TMPFILE | os.O_EXCL, 0o640)
    do("link of what has no name for good", lambda: check(libc.linkat(
        AT_FDCWD, f"/proc/self/fd/{fd}".encode(), AT_FDCWD, b"never", AT_SYMLINK_FOLLOW)))


def held():
    """Locks, places and numbers of what is open."""
    fd = os.open("lock", os.O_CREAT | os.O_RDWR)
    fcntl.flock(fd, fcntl.LOCK_EX)
    other = os.open("lock", os.O_CREAT | os.O_RDWR | os.O_TRUNC)
    do("lock of another", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    os.close(fd)
    do("lock let go", fcntl.flock, other, fcntl.LOCK_EX | fcntl.LOCK_NB)
    fcntl.lockf(other, fcntl.LOCK_EX)
    os.fchmod(other, 0o600), os.chmod("lock", 0o644), os.truncate("lock", 3), os.utime(other, (1, 2))
    pid = os.fork()
    if pid == 0:
        try:
            fcntl.lockf(os.open("lock", os.O_RDWR), fcntl.LOCK_EX | fcntl.LOCK_NB)
            os._exit(1)
        except OSError:
            os._exit(0)
    do("lock of a process", lambda: os.waitpid(pid, 0)[1])
    low, high = os.pipe()
    os.close(low)
    do("the lowest number", lambda: os.open("lock", os.O_RDWR) - low)
    os.close(high), os.close(low)
    fd = os.open("large", os.O_CREAT | os.O_RDWR, 0o000)
    do("written without the right to", os.write, fd, b"x")
    do("size of a large file", lambda: os.ftruncate(fd, 5 << 30) or os.fstat(fd).st_size)
    os.fchmod(fd, 0o600)
    do("truncate by descriptor's link", os.truncate, f"/proc/self/fd/{fd}", 6 << 30)
    do("next hole", os.lseek, fd, 0, os.SEEK_HOLE)
    os.ftruncate(fd, 0)


def outside(path):
    """The other end is the host's, which has bound the name before."""
    client = socket.socket(socket.AF_UNIX)
    do("connect outside", client.connect, path)
    do("its peer", lambda: client.getpeername() == path)
    do("its own name", client.getsockname)
    do("connect again", client.connect, path)
    os.symlink(path, "outside")
    os.symlink(os.path.dirname(path), "beside")
    for name in "outside", "./outside", f"beside/{os.path.basename(path)}", path + "/", "beside/gone":
        do(f"connect {name.replace(path, '')}", lambda: address("connect", socket.AF_UNIX, name))
    waits = socket.socket(socket.AF_UNIX)
    waits.setblocking(False)
    do("connect without waiting", waits.connect, path)
    do("flags", lambda: f"{fcntl.fcntl(waits, fcntl.F_GETFL):o}")
    packets = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET)
    do("connect another type", packets.connect, path)
    do("bind outside", socket.socket(socket.AF_UNIX).bind, path)


def address(call, family, name, size=None):
    """Binds or connects a socket of any family by a path."""
    text = struct.pack("H", socket.AF_UNIX) + name.encode()
    with socket.socket(family) as own:
        check(getattr(libc, call)(own.fileno(), text.ljust(256, b"\0"), size or len(text)))


def fifos():
    got = []
    reader = threading.Thread(target=lambda: got.append(open("fifo").read()))
    reader.start()
    do("fifo written", write, "fifo", "through the pipe")
    reader.join()
    do("fifo read", lambda: got)
    do("fifo nobody reads", opened, "fifo", os.O_WRONLY | os.O_NONBLOCK)
    do("fifo both", lambda: mode_of_fd(os.open("fifo", os.O_RDWR)))
    do("fifo excl", opened, "fifo", os.O_WRONLY | os.O_CREAT | os.O_EXCL)
    signal.signal(signal.SIGALRM, interrupt)
    signal.setitimer(signal.ITIMER_REAL, 0.05)
    try:
        os.open("fifo", os.O_WRONLY)
    except InterruptedError:
        print("fifo interrupted")
    except KeyboardInterrupt:
        print("fifo left by the handler")


def interrupt(_signal, _frame):
    raise KeyboardInterrupt


def limits():
    # Through a pipe: the limit would hold for the output, too.
    out, back = os.pipe()
    pid = os.fork()
    if pid == 0:
        import resource
        os.dup2(back, 1)
        signal.signal(signal.SIGXFSZ, lambda *_: print("SIGXFSZ", flush=True))
        resource.setrlimit(resource.RLIMIT_FSIZE, (50, 50))
        do("truncate to more than the limit", os.truncate, "meta", 60)
        do("truncate to the limit", os.truncate, "meta", 50)
        do("truncate beyond the limit", os.truncate, "meta", 51)
        sys.stdout.flush()
        os._exit(0)
    os.close(back)
    with os.fdopen(out) as lines:
        print(lines.read(), end="")
    os.waitpid(pid, 0)


def tree():
    for top, dirs, files in sorted(os.walk(".")):
        for name in sorted(dirs + files):
            path = os.path.join(top, name)
            st = os.lstat(path)
            target = os.readlink(path) if stat.S_ISLNK(st.st_mode) else ""
            size = 0 if stat.S_ISDIR(st.st_mode) else st.st_size
            print(f"{path} {st.st_mode:o} {st.st_nlink} {st.st_uid}:{st.st_gid} {size} {target}")


def main():
    sys.stdout.reconfigure(line_buffering=True)
    os.chdir(sys.argv[1])
    os.umask(0o022)
    os.mkdir("dir")
    write("dir/inner")
    write("file", "contents")
    for target, name in (("file", "link"), ("loop", "loop"), ("made-by-link", "dangling"),
                         ("nowhere", "dangling2"), ("dir", "dirlink")):
        os.symlink(target, name)
    for part in (opens, descriptors, makes, moves, metadata, umasks, watched, threads, removed, held,
                 sockets, fifos, limits):
        if part is sockets and "no-sockets" in sys.argv:
            continue
        print(f"# {part.__name__}")
        part()
    for word in sys.argv[2:]:
        if word.startswith("outside="):
            outside(word.partition("=")[2])
    tree()
    print(f"# {count} operations")


if __name__ == "__main__":
    main()
