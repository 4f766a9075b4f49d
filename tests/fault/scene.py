# SPDX-License-Identifier: Apache-2.0
"""What the endurance tests share: a home with secrets, a work directory, the marker's
arguments, the verdict on a run, and a look at what is left behind."""
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time

ROOT_CAPS = "1b"
STAGE = re.compile(r"^cordon: [a-z-]+: .", re.M)


def own_mounts():
    """Begins again in a mount namespace where nobody else mounts anything. Root only."""
    if os.geteuid() == 0 and "CORDON_OWN_MOUNTS" not in os.environ:
        os.environ["CORDON_OWN_MOUNTS"] = "1"
        os.execvp("unshare", ["unshare", "-m", "--propagation", "private", sys.executable,
                              *sys.argv])


def backend_args(backend):
    """bubblewrap has no broker, so a profile that asks for one is refused there. "hosts" is native
    with a list of hosts."""
    if backend == "hosts":
        return ["--backend", "native", "--allow-network=host.test"]
    more = {"bwrap": ["--protect", "guard"], "landlock": ["--fallback", "degrade"]}
    return ["--backend", backend, *more.get(backend, [])]


class Scene:
    """Made by root for uid (0: root itself), or by a plain user for himself."""

    def __init__(self, cordon, marker, uid=0):
        self.uid = uid if os.geteuid() == 0 else 0
        # Not /tmp, which profiles replace by a private one.
        self.root = tempfile.mkdtemp(prefix="cordon-fault.", dir="/var/tmp")
        os.chmod(self.root, 0o755)
        self.home = os.path.join(self.root, "home")
        self.work = os.path.join(self.root, "work")
        self.tmp = os.path.join(self.root, "tmp")
        self.cordon = shutil.copy(cordon, self.root)
        relay = os.path.join(os.path.dirname(cordon), "cordon-relay")
        if os.path.exists(relay):
            shutil.copy(relay, self.root)
        for path in (self.home, self.work, self.tmp, self.home + "/.ssh", self.home + "/.cordon"):
            os.mkdir(path)
        self.marker = shutil.copy(marker, self.work)
        self.secrets = [self.home + "/.ssh/id", self.work + "/project-says-no"]
        for path in self.secrets:
            self.write(path, "secret\n")
        self.write(self.work + "/.cordon.toml", '[sandbox]\ndeny = ["project-says-no"]\n')
        if self.uid:
            for base, dirs, files in os.walk(self.root):
                for name in [base] + [os.path.join(base, f) for f in files]:
                    os.chown(name, self.uid, self.uid)
        self.places = [self.root]
        self.env = {"HOME": self.home, "PATH": "/usr/bin:/bin", "LANG": "C.UTF-8",
                    "TMPDIR": self.tmp}

    @staticmethod
    def write(path, text):
        with open(path, "w", encoding="ascii") as f:
            f.write(text)

    def close(self):
        shutil.rmtree(self.root, ignore_errors=True)

    def user(self):
        return {"user": self.uid, "group": self.uid, "extra_groups": []} if self.uid else {}

    def start(self, args, env=None, **options):
        options = {"stdin": subprocess.DEVNULL, **self.user(), **options}
        return subprocess.Popen([self.cordon, *args], env={**self.env, **(env or {})},
                                cwd=self.work, **options)

    def marker_args(self, backend="native", network=True):
        names = ["mnt", "user", "pid", "ipc", "uts"] + (["net"] if network else [])
        inodes = ",".join(f"{n}={os.stat('/proc/self/ns/' + n).st_ino}" for n in names)
        root = os.geteuid() == 0 and not self.uid
        caps = ROOT_CAPS if root and backend in ("native", "hosts") else "0"
        if backend == "landlock":
            inodes = "refuses-inet,refuses-unix,refuses-ipc"
            caps += "" if root else ",bounding"
        return [self.marker, caps, inodes, *self.secrets]

    def files(self):
        """But not what cordon keeps in its own home about the last run."""
        seen = []
        for place in self.places:
            for base, dirs, files in os.walk(place):
                seen += [os.path.join(base, name) for name in dirs + files]
        return sorted(path for path in seen if not path.startswith(self.home + "/.cordon/"))

    def own_tmp(self):
        """After own_mounts: an empty /tmp, watched too."""
        if "CORDON_OWN_MOUNTS" in os.environ:
            subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/tmp"], check=True)
            self.places.append("/tmp")

    @staticmethod
    def renamed(path, name):
        new = os.path.join(os.path.dirname(path), name)
        os.rename(path, new)
        return new


def mounts():
    """Each with its number: one that was there before the tests, somebody else's, goes from here
    when the directory that it is on is removed."""
    with open("/proc/self/mountinfo", encoding="utf-8") as f:
        return {" ".join(line.removesuffix("\n").replace("//deleted", "").split()[:5])
                for line in f}


def undeclared(out, err):
    """The losses the marker saw and cordon did not announce."""
    notes = " ".join(re.findall(r"not enforced by .*", err))
    return [line for line in out.splitlines()
            if line.startswith("lost ") and line.split()[1] not in notes]


def wrong_end(status, out, err):
    """None, or what is wrong with a run in which something failed."""
    if status < 0:
        return f"killed by signal {-status}"
    losses = undeclared(out, err)
    if losses:
        return "; ".join(losses)
    if status == 0 and out.endswith("done\n"):
        return None
    if status not in (125, 126, 127):
        return f"status {status}"
    return None if STAGE.search(err) else "no message that names a stage"


def processes(word):
    """Pids of the processes with this word in their arguments, zombies not included."""
    found = []
    for name in os.listdir("/proc"):
        if not name.isdigit() or int(name) == os.getpid():
            continue
        try:
            with open(f"/proc/{name}/cmdline", "rb") as f:
                if word.encode() in f.read():
                    found.append(int(name))
        except OSError:
            pass
    return found


def wait_gone(word, seconds=10):
    """Waits for the end of all processes with that word; returns those that stay."""
    deadline = time.monotonic() + seconds
    while True:
        left = processes(word)
        if not left:
            return []
        for pid in left:
            wait_pid(pid, max(0, deadline - time.monotonic()))
        if time.monotonic() >= deadline:
            return processes(word)


def wait_pid(pid, seconds=10):
    """False when it is still there; a zombie is not."""
    try:
        fd = os.pidfd_open(pid)
    except OSError:
        return True
    poll = select.poll()
    poll.register(fd, select.POLLIN)
    gone = bool(poll.poll(seconds * 1000))
    os.close(fd)
    return gone


class Tap:
    def __init__(self):
        self.n = self.failed = 0

    def result(self, good, name, notes=()):
        self.n += 1
        self.failed += not good
        for note in list(notes)[:40]:
            print("#", note.replace("\n", "\n#   "))
        print(f"{'ok' if good else 'not ok'} {self.n} - {name}", flush=True)

    def end(self):
        print(f"1..{self.n}")
        sys.exit(1 if self.failed else 0)


def many_at_once():
    """For a test called with CORDON MARKER COUNT PARALLEL [UID]: its scene and the rest."""
    cordon, marker, count, parallel = *sys.argv[1:3], int(sys.argv[3]), int(sys.argv[4])
    own_mounts()
    here = Scene(cordon, marker, int(sys.argv[5]) if len(sys.argv) > 5 else 0)
    here.own_tmp()
    return here, Tap(), count, parallel
