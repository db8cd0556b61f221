#!/usr/bin/env python3
"""System calls that a server makes for an exchange: fifty clients, a completion channel for each in an
epoll set (bench/channel). What is counted is work, by strace; how fast it is done does not matter.

With --print it tells the figures, of the same server over TCP as well."""

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ["CHANNEL_BENCH"]
PATIENCE = 60
CLIENTS = 50
SKIPPED = 77


def command(*words):
    return [PROGRAM, *map(str, words)]


@contextlib.contextmanager
def traced_server(log):
    """Its port. The summary is in `log` afterwards. With -D the server is our child, and the tracer
    is not in its way."""
    tracer = ["strace", "-D", "-qq", "-f", "-c", "-U", "name,calls", "-o", log]
    with subprocess.Popen([*tracer, *command("server")], stdout=subprocess.PIPE, text=True) as server:
        try:
            yield int(server.stdout.readline())
        finally:
            server.terminate()
    until = time.monotonic() + PATIENCE
    while not os.path.getsize(log) and time.monotonic() < until:
        time.sleep(0.05)


def exchange(port, transport, outstanding, seconds):
    told = subprocess.run(
        command("client", "127.0.0.1", port, "--transport", transport, "--clients", CLIENTS,
                "--outstanding", outstanding, "--seconds", seconds),
        stdout=subprocess.PIPE, timeout=PATIENCE, check=True)
    return json.loads(told.stdout)["exchanges"]


def run(transport, outstanding, seconds):
    """Exchanges, and the server's calls by name."""
    with tempfile.TemporaryDirectory() as directory:
        log = os.path.join(directory, "calls")
        with traced_server(log) as port:
            exchanges = exchange(port, transport, outstanding, seconds)
        with open(log, encoding="ascii") as file:
            lines = [line.split() for line in file]
    return exchanges, {words[0]: int(words[1]) for words in lines
                       if len(words) == 2 and words[1].isdigit() and words[0] != "total"}


def calls_per_exchange(transport, outstanding, seconds=1):
    """By name, without those for connections and for the program's start."""
    _, idle = run(transport, outstanding, 0)
    exchanges, calls = run(transport, outstanding, seconds)
    return {name: round((count - idle.get(name, 0)) / exchanges, 3)
            for name, count in calls.items()}


class Calls(unittest.TestCase):
    """The bounds are what has been reached, and room for what threads cost that meet at a lock or
    at a socket. How many clients one epoll_wait finds ready is a matter of time, and so is how many
    requests of a client come together."""

    def test_of_one_request_at_a_time(self):
        """The engine reads the request and raises the event, the program takes it and answers."""
        calls = calls_per_exchange("verbs", 1)
        waits = calls.pop("epoll_wait", 0)
        for name in ("recvfrom", "write", "read", "sendmsg"):
            self.assertLessEqual(calls.pop(name), 1.2, name)
        self.assertLessEqual(sum(calls.values()), 0.6, calls)
        self.assertLessEqual(waits, 2)

    def test_of_many_requests_at_a_time(self):
        calls = calls_per_exchange("verbs", 16)
        self.assertLessEqual(sum(calls.values()), 1, calls)


def print_all():
    for transport in ("tcp", "verbs"):
        for outstanding in (1, 16):
            calls = calls_per_exchange(transport, outstanding)
            most = {name: count for name, count in calls.items() if count >= 0.01}
            print(f"{transport} {outstanding:2}: {sum(calls.values()):.2f} {most}", flush=True)


def can_trace():
    return shutil.which("strace") and subprocess.run(
        ["strace", "-qq", "-o", os.devnull, "true"], stderr=subprocess.DEVNULL, check=False).returncode == 0


if __name__ == "__main__":
    if not can_trace():
        print("strace is not installed, or may trace nothing here")
        sys.exit(SKIPPED)
    if sys.argv[1:] == ["--print"]:
        print_all()
    else:
        unittest.main()
