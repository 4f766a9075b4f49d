#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_shell for an agent, in Python: harness.py [--approve] COMMAND

Runs a shell command under cordon and prints what the model gets to see. Everything in
it comes from the JSON of `cordon run --json`. With --approve what was refused is allowed
and the command run again, as if a person had said yes; what has a warning (secrets, files
that decide what runs later, a whole home directory) is never allowed so.
"""
import json
import os
import re
import shlex
import subprocess
import sys

CORDON = os.environ.get("CORDON", "cordon")


def text(obj, key):
    """obj[key]; where obj says "escaped", \\xNN stands for a byte that is not UTF-8."""
    value = obj.get(key) or ""
    if obj.get("escaped"):
        value = re.sub(r"\\(\\|x[0-9a-f]{2})",
                       lambda m: "\\" if m[1] == "\\" else chr(int(m[1][1:], 16)), value)
    return value


def run_shell(command, workdir=".", timeout="2m", flags=()):
    """One run; the result as docs/result.schema.json says, or an exception."""
    argv = [CORDON, "run", "--quiet", "--json", "--workdir", workdir, "--timeout", timeout,
            *flags, "--", "sh", "-c", command]
    try:
        done = subprocess.run(argv, stdin=subprocess.DEVNULL, capture_output=True, check=False)
        result = json.loads(done.stdout)
    except (OSError, ValueError) as error:
        raise RuntimeError(f"{CORDON} did not answer: {error}") from error
    if "cause" not in result:  # not even a run: a mistake in flags or configuration
        raise RuntimeError(result["error"]["message"])
    return result


def how_it_ended(result):
    if result["cause"] == "exited":
        return f"exit code {result['exit_code']}"
    if result["cause"] == "signal":
        return f"ended by signal {result['signal']}"
    if result["cause"] == "setup" or "error" in result:
        return f"not started: {text(result['error'], 'message')}"
    return f"ended by the sandbox: {result['cause']}"


def refusals(result):
    """A line for each thing that was refused, and what to ask the user for."""
    for v in result["violations"]:
        sure = "seemingly refused" if v["source"] == "inferred" else "refused"
        line = f"{sure}: {v['op']} {text(v, 'object')} (rule: {text(v, 'rule') or 'none'})"
        if v["fix"]:
            line += "; ask the user for "
            if "first" in v["fix"]:
                line += f"{text(v['fix'], 'first')}, outside, then "
            line += text(v["fix"], "flags")
            if "note" in v["fix"]:
                line += f" ({text(v['fix'], 'note')})"
            if "warning" in v["fix"]:
                line += f" (warning: {text(v['fix'], 'warning')})"
        elif "reason" in v:
            line += f"; {text(v, 'reason')}"
        yield line


def tool_result(result):
    """What the model is told."""
    parts = [text(result, "stdout"), text(result, "stderr"), how_it_ended(result)]
    return "\n".join(part.rstrip("\n") for part in [*parts, *refusals(result)] if part)


def approved(result):
    """The flags for a second try; here all is granted that has no warning and needs nothing
    to be made first. Of the rest a person is to be asked, with the warning."""
    return [word for v in result["violations"]
            if v["fix"] and "warning" not in v["fix"] and "first" not in v["fix"]
            for word in shlex.split(text(v["fix"], "flags"))]


def main(arguments):
    approve = arguments[:1] == ["--approve"]
    if len(arguments) != 1 + approve:
        sys.exit("usage: harness.py [--approve] COMMAND")
    command = arguments[-1]
    result = run_shell(command)
    flags = approved(result) if approve else []
    if flags:
        result = run_shell(command, flags=flags)
    print(tool_result(result))
    return 0 if result["cause"] == "exited" and result["exit_code"] == 0 else 1


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except RuntimeError as problem:
        sys.exit(f"harness: {problem}")
