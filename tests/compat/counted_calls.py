"""The system calls of programs, counted by strace."""

import contextlib
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PATIENCE = 60
SKIPPED = 77


def can_trace():
    return shutil.which("strace") and subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


@contextlib.contextmanager
def traced(command):
    """The program, and its calls by name: those are there when it has ended, as it does behind the
    block. With -D it is our child, and the tracer is not in its way."""
    calls = {}
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "calls")
        tracer = ["strace", "-D", "-qq", "-f", "-c", "-U", "name,calls", "-o", log]
        with subprocess.Popen([*tracer, *map(str, command)], stdout=subprocess.PIPE, text=True) as program:
            yield program, calls
        until = time.monotonic() + PATIENCE
        while not os.path.getsize(log) and time.monotonic() < until:
            time.sleep(0.05)
        with open(log, encoding="ascii") as file:
            lines = [line.split() for line in file]
    calls.update((words[0], int(words[1])) for words in lines
                 if len(words) == 2 and words[1].isdigit() and words[0] != "total")


def each(calls, idle, count):
    """Calls for one of `count` things, without those of a program that does none."""
    return {name: round((made - idle.get(name, 0)) / count, 3) for name, made in calls.items()}


def main(print_all):
    """As unittest.main(); --print calls `print_all` instead."""
    if not can_trace():
        print("strace is not installed, or may trace nothing here")
        sys.exit(SKIPPED)
    if sys.argv[1:] == ["--print"]:
        print_all()
    else:
        unittest.main()
