#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Kills a caller while the broker works on its call: midway.py CORDON [FLAGS...], by root.

The broker is traced. Each operation is done once to see which calls the broker makes for it,
and then again and again, with the caller killed when the broker is about to make the first of
them, the second, and so on, up to the one by which it asks whether the call still waits, which
has to be the last one before the deed. What was found by the number of a caller that is gone
must not be acted upon. A file is emptied once its descriptor is in place, which takes a caller
that lives. A plain user may not trace the broker, and connecting is the deed of a job."""
import ctypes
import os
import signal
import subprocess
import sys

CONT, SEIZE, INTERRUPT, SYSCALL, SYSCALL_INFO, DETACH = 7, 0x4206, 0x4207, 24, 0x420E, 17
SYSGOOD = 1
RECV, ID_VALID, ADDFD = 0xC0502100, 0x40082102, 0x40182103
IOCTL = {"x86_64": 16, "aarch64": 29}[os.uname().machine]
# Between the two: its own umask and directory, and the size of the file that it holds.
OWN = {"x86_64": (95, 81, 262), "aarch64": (166, 50, 79)}[os.uname().machine]
# What the broker does in the end.
DEEDS = {
    "x86_64": {"mkdir": 258, "create": 437, "symlink": 266, "link": 265, "rename": 316,
               "unlink": 263, "chmod": 90, "truncate": 76, "grow": 76, "fchmod": 91,
               "setxattr": 188, "fsetxattr": 190, "utimensat": 280, "futimens": 280, "bind": 49,
               "empty": 77},
    "aarch64": {"mkdir": 34, "create": 437, "symlink": 36, "link": 37, "rename": 276,
                "unlink": 35, "chmod": 53, "truncate": 45, "grow": 45, "fchmod": 52,
                "setxattr": 5, "fsetxattr": 7, "utimensat": 88, "futimens": 88, "bind": 200,
                "empty": 46},
}[os.uname().machine]

INSIDE = r"""
import os, signal, socket, sys
held = None
calls = {
    "mkdir": lambda: os.mkdir("made"),
    "create": lambda: os.open("made", os.O_WRONLY | os.O_CREAT),
    "symlink": lambda: os.symlink("there", "made"),
    "link": lambda: os.link("file", "made"),
    "rename": lambda: os.rename("file", "made"),
    "unlink": lambda: os.unlink("file"),
    "chmod": lambda: os.chmod("file", 0o777),
    "truncate": lambda: os.truncate("file", 0),
    "grow": lambda: os.truncate("file", 100),
    "fchmod": lambda: os.fchmod(held, 0o777),
    "setxattr": lambda: os.setxattr("file", "user.x", b"y"),
    "fsetxattr": lambda: os.setxattr(held, "user.x", b"y"),
    "utimensat": lambda: os.utime("file", (1, 2)),
    "futimens": lambda: os.utime(held, (1, 2)),
    "bind": lambda: socket.socket(socket.AF_UNIX).bind("made"),
    "empty": lambda: os.open("file", os.O_WRONLY | os.O_TRUNC),
}
try:
    print(socket.socket(socket.AF_UNIX) and "ready", flush=True)
except OSError:
    print("ready without sockets", flush=True)
for line in sys.stdin:
    if line == "hold\n":  # whether anybody is asked about that or not
        held is None or os.close(held)
        held = os.open("file", os.O_RDONLY)
        print("held", flush=True)
        continue
    child = os.fork()
    if not child:
        calls[line.strip()]()
        os._exit(0)
    sys.stdin.readline() == "kill\n" and os.kill(child, signal.SIGKILL)
    os.waitpid(child, 0)
    print("over", flush=True)
"""

libc = ctypes.CDLL(None, use_errno=True)
libc.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]


def ptrace(what, pid, address=0, data=0):
    got = libc.ptrace(what, pid, address, data)
    if got < 0:
        sys.exit(f"ptrace {what:#x}: {os.strerror(ctypes.get_errno())}")
    return got


class Broker:
    """Its system calls, one at a time: (entered, number, second argument or result)."""

    def __init__(self, pid):
        self.pid = pid
        ptrace(SEIZE, pid, 0, SYSGOOD)
        ptrace(INTERRUPT, pid)
        os.waitpid(pid, 0)

    def while_it_runs(self, work):
        ptrace(CONT, self.pid)
        work()
        ptrace(INTERRUPT, self.pid)
        os.waitpid(self.pid, 0)

    def step(self):
        info = (ctypes.c_uint64 * 16)()
        while True:
            ptrace(SYSCALL, self.pid, 0, 0)
            _, status = os.waitpid(self.pid, 0)
            if not os.WIFSTOPPED(status):
                sys.exit("the broker has ended")
            if os.WSTOPSIG(status) == signal.SIGTRAP | 0x80:
                break
        ptrace(SYSCALL_INFO, self.pid, ctypes.sizeof(info), ctypes.addressof(info))
        return info[0] & 0xFF == 1, info[3], info[5] & 0xFFFFFFFF


def find_broker(supervisor):
    for pid in subprocess.run(["pgrep", "-P", str(supervisor)], capture_output=True, text=True,
                              check=True).stdout.split():
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            text = status.read()
        inside = len(text.split("\nNSpid:")[1].split("\n")[0].split()) > 1
        if "Name:\tcordon\n" in text and not inside:
            return int(pid)
    sys.exit("no broker")


def reset():
    for name in ("made", "file"):
        try:
            os.rmdir(name) if os.path.isdir(name) and not os.path.islink(name) else os.unlink(name)
        except FileNotFoundError:
            pass
    with open("file", "w", encoding="ascii") as file:
        file.write("text")
    os.chmod("file", 0o644)


def is_done():
    if os.path.lexists("made") or not os.path.exists("file"):
        return True
    st = os.stat("file")
    return (st.st_size, st.st_mode & 0o777) != (4, 0o644) or st.st_mtime == 2 or bool(
        os.listxattr("file"))


class Run:
    def __init__(self, command):
        self.process = subprocess.Popen([*command, "/usr/bin/python3", "-c", INSIDE],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, line):
        self.process.stdin.write(line + "\n")
        self.process.stdin.flush()

    def hold(self):
        self.say("hold")
        assert self.hear() == "held"

    def hear(self):
        return self.process.stdout.readline().strip()


def attempt(run, broker, name, kill_at):
    """The broker's calls from the first after it has received this one; whether it was done."""
    reset()
    broker.while_it_runs(run.hold)
    run.say(name)
    seen, told = [], False
    while True:
        entered, number, argument = broker.step()
        is_receive = number == IOCTL and argument == RECV
        if seen and entered and is_receive:
            break
        if is_receive or not entered:
            continue
        seen.append((number, argument))
        if len(seen) == kill_at:
            run.say("kill")
            assert run.hear() == "over"
            told = True
    if not told:
        # It waits to receive the next one: nothing is under way.
        run.say("wait")
        assert run.hear() == "over"
    return seen, is_done()


def asked(seen, name):
    """Which call asked whether somebody waits, right before the deed, as far as it came to it."""
    deed = DEEDS[name]
    numbers = [number for number, _ in seen]
    if deed not in numbers:
        return len(seen)
    at = numbers.index(deed) - 1
    if name == "empty":
        return max(i for i in range(at + 1) if seen[i] == (IOCTL, ADDFD))
    at -= numbers[at] in OWN
    assert seen[at] == (IOCTL, ID_VALID), f"not asked right before {deed}: {seen}"
    return at


def main():
    command = sys.argv[1:]
    reset()
    run = Run(command)
    ready = run.hear()
    assert ready.startswith("ready")
    broker = Broker(find_broker(run.process.pid))
    killed = 0
    for name in DEEDS:
        if name == "bind" and ready != "ready":
            continue
        k, seen = 0, []
        while asked(seen, name) >= k - 1:
            seen, done = attempt(run, broker, name, k)
            if k == 0:
                assert done, f"{name}: not done"
            elif asked(seen, name) >= k - 1:
                assert not done, f"{name}: done for who was killed before call {k} of {seen}"
                killed += 1
            k += 1
        assert k > 5, f"{name}: only {k}"
    ptrace(DETACH, broker.pid)
    run.process.stdin.close()
    assert run.process.wait(30) == 0
    print(f"killed {killed} times")


main()
