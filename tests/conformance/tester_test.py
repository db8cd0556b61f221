#!/usr/bin/env python3
"""The conformance tester and targets that are no iWARP peers at all: it says what is wrong, and never hangs."""

import contextlib
import json
import os
import socket
import subprocess
import tempfile
import threading
import time
import unittest

IWARP = os.environ["IWARP"]
PATIENCE = 60  # seconds after which a tester counts as hanging


def conform(*arguments):
    return subprocess.run([IWARP, "conform", *arguments], capture_output=True, text=True, timeout=PATIENCE, check=False)


class Listener:
    """A TCP server on loopback that treats each connection as `serve` does, on a thread of its own."""

    def __init__(self, serve):
        self.serve = serve
        self.socket = socket.create_server(("127.0.0.1", 0))
        self.address = "127.0.0.1:%d" % self.socket.getsockname()[1]
        threading.Thread(target=self.run, daemon=True).start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.socket.accept()
                threading.Thread(target=self.one, args=(connection,), daemon=True).start()

    def one(self, connection):
        with connection, contextlib.suppress(OSError):
            self.serve(connection)

    def close(self):
        self.socket.close()

    def end(self):
        """Takes no more connections from now on, though `accept` waits for one."""
        self.socket.shutdown(socket.SHUT_RDWR)
        self.socket.close()


def silent(connection):
    while connection.recv(4096):
        pass


def closing(_connection):
    pass


def babbling(connection):
    connection.sendall(bytes(range(256)) * 40)
    silent(connection)


def endless(connection):
    while True:
        connection.sendall(b"\xa5" * 65536)


def half_a_reply(connection):
    connection.recv(4096)
    connection.sendall(b"MPA ID Rep Frame\x40")
    silent(connection)


def http(connection):
    connection.recv(4096)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nConnection: close\r\n\r\n")


STRANGE = (silent, closing, babbling, endless, half_a_reply, http)


class StrangeTargets(unittest.TestCase):
    def listener(self, serve):
        listener = Listener(serve)
        self.addCleanup(listener.close)
        return listener.address

    def test_fail_case_by_case(self):
        for serve in STRANGE:
            with self.subTest(serve.__name__):
                run = conform("--target", self.listener(serve), "--timeout", "200", "--case", "mpa.startup.reply",
                              "--case", "mpa.startup.wrong-key")
                self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
                self.assertIn("mpa.startup.reply", run.stdout)
                self.assertIn("mpa.startup.wrong-key", run.stdout)

    def test_no_listener_is_said(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
        run = conform("--target", address, "--case", "mpa.startup.reply", "--case", "mpa.startup.wrong-key")
        self.assertEqual(run.returncode, 1)
        self.assertEqual(run.stdout.count("Connection refused"), 1, run.stdout + run.stderr)
        self.assertIn("1 case did not run", run.stdout)

    def test_a_listener_that_goes_with_its_first_connection_has_failed(self):
        listener = Listener(lambda connection: listener.end())
        run = conform("--target", listener.address, "--case", "mpa.startup.fin-at-once")
        self.assertEqual(run.returncode, 1)
        self.assertRegex(run.stdout, "FAIL +mpa.startup.fin-at-once: expected a listener that still takes connections")

    def test_segment_sizes_are_not_judged_through_a_relay(self):
        run = conform("--self", "--relayed", "--case", "mpa.fpdu.mulpdu-536", "--case", "mpa.startup.reply")
        self.assertEqual(run.returncode, 0, run.stdout)
        self.assertIn("1  the tester's segment size does not reach the target", run.stdout)

    def test_a_whole_run_against_silence_ends(self):
        began = time.monotonic()
        run = conform("--target", self.listener(silent), "--timeout", "100", "--layer", "mpa")
        self.assertEqual(run.returncode, 1)
        self.assertLess(time.monotonic() - began, PATIENCE)


class StrangeAgents(unittest.TestCase):
    def refused(self, serve, words, timeout="10000"):
        listener = Listener(serve)
        self.addCleanup(listener.close)
        run = conform("--agent", listener.address, "--timeout", timeout)
        self.assertEqual(run.returncode, 1, run.stdout)
        lines = run.stderr.splitlines()
        self.assertEqual(len(lines), 1, run.stderr)
        self.assertIn(listener.address, lines[0])
        self.assertIn(words, lines[0])

    def test_silence(self):
        self.refused(silent, "no answer", timeout="300")

    def test_the_end_of_the_connection(self):
        self.refused(closing, "control connection")

    def test_something_else_listens(self):
        self.refused(http, "is no agent")
        self.refused(lambda c: c.sendall(b"SSH-2.0-OpenSSH_9.2\r\n") or silent(c), "is no agent")

    def test_endless_octets(self):
        self.refused(endless, "no end")

    def test_another_version(self):
        self.refused(lambda c: c.recv(100) and c.sendall(b"error EPROTONOSUPPORT this agent speaks version 2\n"),
                     "another version")
        self.refused(lambda c: c.recv(100) and c.sendall(b"ok version=2 name=later features=none\n"), "version 2")

    def test_what_it_prints_cannot_steer_the_terminal(self):
        self.refused(lambda c: c.recv(100) and c.sendall(b"\x1b[2Jhello\x07\n"), ".[2Jhello.")


def breaking(connection):
    connection.recv(4096)
    connection.sendall(b"ok version=1 name=fragile features=none\n")
    connection.recv(4096)


class BreakingAgents(unittest.TestCase):
    CASES = ("--case", "mpa.startup.reply", "--case", "mpa.startup.wrong-key", "--timeout", "500")

    def setUp(self):
        self.listener = Listener(breaking)
        self.addCleanup(self.listener.close)
        directory = tempfile.TemporaryDirectory()
        self.addCleanup(directory.cleanup)
        self.revivals = os.path.join(directory.name, "revivals")

    def test_fail_each_case_in_which_they_break(self):
        run = conform("--agent", self.listener.address, *self.CASES)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stdout.count("the target broke"), 2, run.stdout)

    def test_are_started_anew_before_the_next_case(self):
        run = conform("--agent", self.listener.address, *self.CASES, "--revive", "echo again >>" + self.revivals)
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stdout.count("the target broke"), 2, run.stdout)
        with open(self.revivals, encoding="ascii") as revivals:
            self.assertEqual(revivals.read(), "again\n")

    def test_that_do_not_come_back_are_errors(self):
        run = conform("--agent", self.listener.address, *self.CASES, "--revive", "false")
        self.assertEqual(run.returncode, 1, run.stderr)
        self.assertEqual(run.stdout.count("the target broke"), 1, run.stdout)
        self.assertIn("the agent is gone", run.stdout)


class LimitedAgents(unittest.TestCase):
    def test_with_malformed_answers_are_told_in_each_case(self):
        def malformed(connection):
            for line in connection.makefile("rb"):
                connection.sendall(b"ok version=1 name=odd features=none\n" if line.startswith(b"hello") else b"ok odd\n")

        listener = Listener(malformed)
        self.addCleanup(listener.close)
        run = conform("--agent", listener.address, "--case", "mpa.startup.reply", "--case", "mpa.startup.wrong-key")
        self.assertEqual(run.returncode, 1, run.stdout + run.stderr)
        for case in ("reply", "wrong-key"):
            self.assertIn(f"mpa.startup.{case}: the agent's answer is malformed", run.stdout)

    def test_skip_the_cases_that_they_cannot_do(self):
        def limited(connection):
            for line in connection.makefile("rb"):
                word = line.split()[0]
                connection.sendall({b"hello": b"ok version=1 name=limited features=none\n", b"reset": b"ok\n"}.get(
                    word, b"error EOPNOTSUPP not here\n"))

        listener = Listener(limited)
        self.addCleanup(listener.close)
        run = conform("--agent", listener.address, "--case", "mpa.startup.reply")
        self.assertEqual(run.returncode, 0, run.stdout + run.stderr)
        self.assertIn("not here", run.stdout)


class WrongUsage(unittest.TestCase):
    def test_is_one_sentence_and_status_2(self):
        for arguments in ([], ["--self", "--target", "127.0.0.1:1"], ["--target", "nonsense:port"],
                          ["--self", "--layer", "tcp"], ["--self", "--case", "mpa.none"], ["--self", "--rev", "3"],
                          ["--self", "--timeout", "0"], ["--target", "127.0.0.1:1", "--agent-program", "x"],
                          ["--target", "127.0.0.1:1", "--private-data", "0"],
                          ["--self", "--revive", "true"]):
            with self.subTest(arguments):
                run = conform(*arguments)
                self.assertEqual(run.returncode, 2, run.stderr)
                self.assertEqual(len(run.stderr.splitlines()), 1, run.stderr)

    def test_a_program_that_is_no_agent(self):
        run = conform("--self", "--agent-program", "/bin/true")
        self.assertEqual(run.returncode, 1)
        self.assertIn("/bin/true", run.stderr)


class Listing(unittest.TestCase):
    def test_holds_every_requirement(self):
        listing = json.loads(conform("--list", "--json").stdout)
        kinds = {}
        for requirement in listing["requirements"]:
            kinds.setdefault(requirement["kind"], []).append(requirement)
        self.assertEqual(len(listing["requirements"]), 573)
        self.assertEqual(set(kinds), {"wire", "unit", "ulp", "n/a", "not met"})
        shown = [r for r in kinds["wire"] + kinds["unit"] if r["level"] == "MUST"]
        self.assertGreaterEqual(len(shown), 350)
        for kind in ("ulp", "n/a", "not met"):
            self.assertTrue(all(requirement["note"] for requirement in kinds[kind]))
        cases = {case["id"] for case in listing["cases"]}
        for requirement in kinds["wire"]:
            self.assertTrue(set(requirement["cases"]) <= cases, requirement)


if __name__ == "__main__":
    unittest.main()
