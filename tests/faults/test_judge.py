#!/usr/bin/env python3
"""The judge of scripts/faults sees what programs do wrong when a call fails, and praises what is right.

usage: test_judge.py CULPRIT INTERPOSER"""

import contextlib
import io
import os
import re
import sys
import tempfile
import threading
import types
import unittest
from unittest import mock

import coverage
import faults
import judge
from exchanges import Exchange
from injection import CALLS, TABLE, Injection, of_counts
from region import Region

CULPRIT, INTERPOSER = (os.path.abspath(path) for path in sys.argv[1:3])
NO_FILES = Injection("open", "EMFILE", "first")
SECONDS = 30


class Copy(Exchange):
    """One process, which does something when it cannot open a file."""

    def __init__(self, mode):
        super().__init__(f"copy-{mode}", "both", None)
        self.mode = mode
        self.counted = threading.Event()

    def prepare(self, directory):
        for name in os.listdir(directory):
            if name.startswith("out"):
                os.remove(os.path.join(directory, name))
        with open(os.path.join(directory, "in"), "wb"):
            pass

    def client(self, directory, port):
        return [CULPRIT, self.mode]

    def wrong_result(self, directory, client):
        if client.status != 0:
            return None
        with open(os.path.join(directory, "out"), "rb") as file:
            return None if file.read() == b"whole" else "half a file"

    def left_over(self, directory):
        self.counted.set()  # at the end of each run
        return [name for name in os.listdir(directory) if name.endswith(".tmp")]


class Served(Exchange):
    """A server that ends when it cannot accept, and its client."""

    def __init__(self, injected="server", mode="server"):
        super().__init__("served", injected, None)
        self.mode = mode

    def server(self, directory, port):
        return [CULPRIT, self.mode, str(port)]

    def client(self, directory, port):
        return [CULPRIT, "client", str(port)]


class JudgeTest(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-faults-")
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name

    def outcome(self, exchange, injection, seconds=SECONDS):
        one = judge.Judge(exchange, INTERPOSER, self.directory, seconds)
        self.addCleanup(one.close)
        return one.run(injection).outcome

    def test_errors_that_name_the_cause_are_right(self):
        self.assertEqual(self.outcome(Copy("good"), NO_FILES), judge.REFUSED)

    def test_calls_that_do_not_fail_are_told(self):
        self.assertEqual(self.outcome(Copy("good"), Injection("bind", "EACCES", "first")),
                         judge.NOT_REACHED)
        self.assertEqual(self.outcome(Copy("crash"), Injection("close", "EIO", "every")), judge.DONE)

    def test_crashes_are_seen(self):
        self.assertEqual(self.outcome(Copy("crash"), NO_FILES), judge.CRASH)

    def test_hangs_are_seen(self):
        self.assertEqual(self.outcome(Copy("hang"), NO_FILES, 2), judge.HANG)

    def test_wrong_files_are_seen(self):
        self.assertEqual(self.outcome(Copy("wrong"), NO_FILES), judge.WRONG)

    def test_files_that_are_left_over_are_seen(self):
        self.assertEqual(self.outcome(Copy("leave"), NO_FILES), judge.LEFT_OVER)

    def test_errors_without_the_cause_are_seen(self):
        self.assertEqual(self.outcome(Copy("vague"), NO_FILES), judge.VAGUE)

    def test_servers_that_end_are_seen(self):
        self.assertEqual(self.outcome(Served(), Injection("accept", "EMFILE", "first")), judge.GONE)

    def test_servers_that_end_with_a_client_are_seen_unless_they_may(self):
        exchange, failing = Served("client", "touchy"), Injection("recv", "ECONNRESET", "every")
        exchange.also_names = ("",)
        self.assertEqual(self.outcome(exchange, failing), judge.GONE)
        exchange.ends_with_client = True
        self.assertEqual(self.outcome(exchange, failing), judge.REFUSED)

    def test_servers_that_go_on_are_right(self):
        self.assertIn(self.outcome(Served(), Injection("send", "ENOMEM", "first")),
                      (judge.DONE, judge.REFUSED))


class TableTest(unittest.TestCase):
    def test_the_interposer_has_all_calls_of_the_table(self):
        with tempfile.TemporaryDirectory(prefix="iwarp-faults-") as directory:
            one = judge.Judge(Copy("good"), INTERPOSER, directory, SECONDS)
            region = Region(directory)
            self.assertEqual(one.run(None, region).outcome, judge.DONE)
            self.assertEqual(set(region.counts()), set(CALLS))

    def test_a_system_call_that_is_not_in_the_table_is_told(self):
        known = {"openat", next(iter(TABLE["not_injected"]))}
        self.assertEqual(coverage.problems_of(known), [])
        self.assertEqual(len(coverage.problems_of({*known, "io_uring_setup"})), 1)

    def test_a_system_call_that_cannot_be_reached_is_told(self):
        self.assertEqual(len(coverage.problems_of({"accept4"}, {"accept": 0})), 1)
        self.assertEqual(coverage.problems_of({"accept4"}, {"accept": 1}), [])

    def test_each_errno_fails_first_tenth_and_every_time(self):
        made = [str(one) for one in of_counts({"listen": 12, "bind": 2, "accept": 0})]
        self.assertIn("listen ENOBUFS tenth", made)
        self.assertIn("bind EACCES every", made)
        self.assertNotIn("bind EACCES tenth", made)
        self.assertFalse(any(one.startswith("accept") for one in made))

    def test_the_sample_does_not_depend_on_how_many_calls_were_made(self):
        few, many = (faults.sampled(list(of_counts(dict.fromkeys(CALLS, made))), "put-client")
                     for made in (9, 10))
        self.assertEqual(few, many)
        self.assertEqual(len(few), faults.SHORT_PER_EXCHANGE)

    def test_single_allocations_are_spread(self):
        numbers = {one.at for one in of_counts({"malloc": 1000}, 4)}
        self.assertLessEqual({"1", "251", "501", "751"}, numbers)


class Later(Copy):
    """Is counted later than another."""

    def __init__(self, mode, other):
        super().__init__(mode)
        self.other = other

    def prepare(self, directory):
        if not self.other.counted.wait(SECONDS):
            raise RuntimeError("the other exchange was not counted meanwhile")
        super().prepare(directory)


class RunTest(unittest.TestCase):
    """Of several exchanges at once."""

    def printed(self, *chosen, **options):
        arguments = types.SimpleNamespace(
            **{"case": re.compile(""), "only": re.compile("open EMFILE"), "sweep": 0, "jobs": 2,
               "seconds": SECONDS, "json": None, "keep_logs": None, "build": "", "short": False,
               "list": False, "calls": False, **options})
        paths = types.SimpleNamespace(interposer=INTERPOSER)
        with tempfile.TemporaryDirectory(prefix="iwarp-faults-") as scratch, \
                mock.patch.object(faults, "paths_of", return_value=paths), \
                mock.patch.object(faults.exchanges, "all_exchanges", return_value=chosen), \
                mock.patch.object(faults.coverage, "trace", return_value=["io_uring: a call"]), \
                contextlib.redirect_stdout(io.StringIO()) as out:
            faults.Run(arguments, scratch).all()
        return out.getvalue().splitlines()

    def test_lists_in_order(self):
        vague = Copy("vague")
        names = [line.partition(":")[0] for line in self.printed(Later("good", vague), vague, list=True)]
        self.assertEqual(list(dict.fromkeys(names)), ["copy-good", "copy-vague"])
        self.assertEqual(names, sorted(names))

    def test_what_is_found_stands_below_its_exchange(self):
        leave = Copy("leave")
        lines = self.printed(Later("vague", leave), leave)
        for name in ("copy-vague", "copy-leave"):
            heading = next(at for at, line in enumerate(lines) if line.startswith(f"-- {name}: "))
            found = [at for at, line in enumerate(lines) if line.startswith(f"{name}: ")]
            self.assertGreater(min(found), heading, lines)
            self.assertGreater(len(found), 1, lines)

    def test_injections_come_in_stretches_without_loss(self):
        many = list(range(2 * faults.STRETCH + 1))
        parts = faults.stretches(many)
        self.assertEqual((len(parts), sum(parts, [])), (3, many))
        self.assertEqual(faults.stretches([]), [])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], "--verbose"])
