# SPDX-License-Identifier: Apache-2.0
"""What toml-corpus and toml-differential share: the corpus and the decoder."""
import json
import os
import shutil
import subprocess
import sys
import tempfile

MODULE = "github.com/toml-lang/toml-test"
VERSION = "v1.6.0"
SKIP = 77  # meson's exit status for a skipped test


# Where tools/deps looks as well: plain users often lack these directories.
MORE_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/go/bin"


def corpus_root():
    """The folder of test files and None, or None and the reason."""
    go = shutil.which("go", path=os.environ.get("PATH", os.defpath) + ":" + MORE_PATH)
    if not go:
        return None, "Go is not installed (tools/deps test)"
    with tempfile.TemporaryDirectory() as empty:
        done = subprocess.run([go, "mod", "download", "-json", f"{MODULE}@{VERSION}"],
                              cwd=empty, capture_output=True, text=True)
    try:
        return os.path.join(json.loads(done.stdout)["Dir"], "tests"), None
    except (ValueError, KeyError):
        why = " ".join((done.stderr or done.stdout).split())
        return None, f"cannot download {MODULE}@{VERSION}: {why}"


def must_work():
    return bool(os.environ.get("CORDON_MUST_WORK"))


def skip(reason):
    """Ends the test: as skipped, or as failed where everything must work."""
    print(f"skipped: {reason}")
    sys.exit(1 if must_work() else SKIP)


def corpus_files(root):
    """Names of the TOML 1.0 files: 'valid/x.toml' and 'invalid/y.toml'."""
    with open(os.path.join(root, "files-toml-1.0.0"), encoding="utf-8") as f:
        return [line.strip() for line in f if line.strip().endswith(".toml")]


def read(*path):
    with open(os.path.join(*path), "rb") as f:
        return f.read()


def decode_all(decoder, documents):
    """[(True, tree) or (False, message)] in the order of the documents."""
    stream = b"".join(b"%d\n%s" % (len(d), d) for d in documents)
    done = subprocess.run([decoder, "--batch"], input=stream, capture_output=True)
    if done.returncode:
        sys.exit(f"decoder failed ({done.returncode}): {done.stderr.decode()[:4000]}")
    answers = []
    for line in done.stdout.split(b"\n")[:-1]:
        word, _, rest = line.partition(b" ")
        text = rest.decode("utf-8")
        answers.append((True, json.loads(text)) if word == b"ok" else (False, text))
    if len(answers) != len(documents):
        sys.exit(f"decoder answered {len(answers)} of {len(documents)} documents")
    return answers
