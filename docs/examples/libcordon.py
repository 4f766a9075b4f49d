#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""run_shell for an agent, with libcordon through ctypes: libcordon.py COMMAND

A small binding of what an agent needs. LIBCORDON names the library where it is not
installed in a place that the loader knows.
"""
import ctypes
import json
import os
import sys

LIB = ctypes.CDLL(os.environ.get("LIBCORDON", "libcordon.so.0"))


class Error(ctypes.Structure):
    """struct cordon_error"""
    _fields_ = [("code", ctypes.c_int), ("sys_errno", ctypes.c_int),
                ("stage", ctypes.c_char * 24), ("message", ctypes.c_char * 312),
                ("hint", ctypes.c_char * 168)]


def declare(name, result, *arguments):
    function = getattr(LIB, name)
    function.restype = result
    function.argtypes = arguments
    return function


POINTER, TEXT = ctypes.c_void_p, ctypes.c_char_p
abi = declare("cordon_abi", ctypes.c_int)
policy_new = declare("cordon_policy_new", POINTER, TEXT)
policy_free = declare("cordon_policy_free", None, POINTER)
policy_set = declare("cordon_policy_set", None, POINTER, TEXT, TEXT)
execute_shell = declare("cordon_execute_shell", ctypes.c_int, POINTER, TEXT, TEXT,
                        ctypes.c_uint64, ctypes.POINTER(POINTER), ctypes.POINTER(Error))
result_stdout = declare("cordon_result_stdout", POINTER, POINTER, ctypes.POINTER(ctypes.c_size_t))
result_stderr = declare("cordon_result_stderr", POINTER, POINTER, ctypes.POINTER(ctypes.c_size_t))
result_json = declare("cordon_result_json", TEXT, POINTER)
result_free = declare("cordon_result_free", None, POINTER)


def output(function, result):
    """All bytes, a NUL among them too."""
    size = ctypes.c_size_t()
    return ctypes.string_at(function(result, ctypes.byref(size)), size.value)


def run_shell(command, profile="moderate", workdir=".", timeout=120.0, settings=()):
    """(stdout, stderr, result): the result as docs/result.schema.json says."""
    policy, result, error = policy_new(profile.encode()), POINTER(), Error()
    try:
        for key, value in settings:
            policy_set(policy, key.encode(), value.encode())
        execute_shell(policy, command.encode(), workdir.encode(), int(timeout * 1000),
                      ctypes.byref(result), ctypes.byref(error))
        if not result:
            raise RuntimeError(b"; ".join(filter(None, (error.message, error.hint))).decode(
                errors="replace"))
        return (output(result_stdout, result), output(result_stderr, result),
                json.loads(result_json(result)))
    finally:
        result_free(result)
        policy_free(policy)


def main():
    if len(sys.argv) != 2 or abi() < 1:
        sys.exit("usage: libcordon.py COMMAND")
    try:
        out, err, result = run_shell(sys.argv[1])
    except RuntimeError as problem:
        sys.exit(str(problem))
    sys.stdout.buffer.write(out + err)
    sys.stdout.buffer.flush()
    print(result["cause"], result["exit_code"])
    if "error" in result:
        print(result["error"]["message"])
    for v in result["violations"]:
        print("refused:", v["op"], v["object"], "-", v["fix"] and v["fix"]["flags"])
    sys.exit(result["exit_code"] != 0)


if __name__ == "__main__":
    main()
