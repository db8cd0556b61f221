#!/usr/bin/env python3
"""System calls that a server makes for an exchange: fifty clients, a completion channel for each in an
epoll set (bench/channel). What is counted is work, by strace; how fast it is done does not matter.

With --print it tells the figures, of the same server over TCP as well."""

import json
import os
import subprocess
import unittest

import counted_calls

PROGRAM = os.environ["CHANNEL_BENCH"]
CLIENTS = 50


def exchange(port, transport, outstanding, seconds):
    told = subprocess.run(
        [PROGRAM, "client", "127.0.0.1", port, "--transport", transport, "--clients", str(CLIENTS),
         "--outstanding", str(outstanding), "--seconds", str(seconds)],
        stdout=subprocess.PIPE, timeout=counted_calls.PATIENCE, check=True)
    return json.loads(told.stdout)["exchanges"]


def run(transport, outstanding, seconds):
    """Exchanges, and the server's calls by name."""
    with counted_calls.traced([PROGRAM, "server"]) as (server, calls):
        try:
            exchanges = exchange(server.stdout.readline().strip(), transport, outstanding, seconds)
        finally:
            server.terminate()
    return exchanges, calls


def calls_per_exchange(transport, outstanding, seconds=1):
    """By name, without those for connections and for the program's start."""
    _, idle = run(transport, outstanding, 0)
    exchanges, calls = run(transport, outstanding, seconds)
    return counted_calls.each(calls, idle, exchanges)


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


if __name__ == "__main__":
    counted_calls.main(print_all)
