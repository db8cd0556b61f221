#!/usr/bin/env python3
"""The siege can fail: a server that is easy to hurt is reported, one that is not passes.

The directory of the build comes in the environment variable BUILD."""

import concurrent.futures
import os
import subprocess
import sys
import unittest

import verdict
from procfs import MIB

HERE = os.path.dirname(os.path.abspath(__file__))


def besiege(*arguments):
    return subprocess.run(
        [sys.executable, os.path.join(HERE, "siege.py"), "--build", os.environ["BUILD"], *arguments],
        capture_output=True, text=True, timeout=240, check=False)


class NaiveServers(unittest.TestCase):
    """The sieges wait more than they work: all go on at the same time."""

    SIEGES = {
        "silent": ("--short", "--server", "naive-blocking", "--attack", "silent"),
        "flood": ("--short", "--server", "naive-leaking", "--attack", "flood", "--patience", "30"),
        "sound": ("--short", "--server", "naive-sound"),
        "long": ("--server", "naive-blocking", "--attack", "silent", "--attackers", "50",
                 "--seconds", "1", "--rounds", "1", "--settle", "0"),
    }

    @classmethod
    def setUpClass(cls):
        pool = concurrent.futures.ThreadPoolExecutor(len(cls.SIEGES))
        cls.addClassCleanup(pool.shutdown)
        cls.begun = {name: pool.submit(besiege, *words) for name, words in cls.SIEGES.items()}

    def assert_status(self, status, found):
        self.assertEqual(found.returncode, status, found.stdout + found.stderr)

    def said(self, siege, status):
        """What one of them has printed, which ended with this status."""
        found = self.begun[siege].result()
        self.assert_status(status, found)
        return found.stdout

    def test_one_that_waits_for_each_peer_is_stopped_by_silent_ones(self):
        self.assertIn("a good operation failed", self.said("silent", 1))

    def test_one_that_keeps_descriptors_is_seen(self):
        self.assertRegex(self.said("flood", 1), r"\d+ descriptors are left over")

    def test_one_that_does_neither_passes(self):
        self.said("sound", 0)

    def test_the_long_form_reports_one_that_is_stopped(self):
        self.assertRegex(self.said("long", 1), r"good clients keep 0% of their rate")

    def test_what_is_not_there_is_wrong_usage(self):
        self.assert_status(2, besiege("--attack", "charm"))
        self.assert_status(2, besiege("--build", "/nonexistent"))


class Verdicts(unittest.TestCase):
    def row(self, **changed):
        memory = {"rss": 10 * MIB}
        return {"attackers": 1000, "alive": True, "sink_rate": 20, "share": 0.95, "failed": 0,
                "problem": "", "before": memory, "after": memory, **changed}

    def test_of_a_server_that_stands_it(self):
        self.assertEqual(verdict.problems(self.row()), [])

    def test_of_what_it_fails_in(self):
        for changed, word in (({"share": 0.89}, "rate"), ({"failed": 1, "problem": "why"}, "why"),
                              ({"alive": False}, "ended"), ({"after": {"rss": 12 * MIB}}, "MiB")):
            self.assertRegex("".join(verdict.problems(self.row(**changed))), word)

    def test_of_nothing_to_compare_with(self):
        found = verdict.problems(self.row(sink_rate=0, share=0))
        self.assertEqual(found, ["no good operation was done beside the sink: there is no share"])
        # A server that has ended is not compared with anything.
        found = verdict.problems(self.row(sink_rate=0, share=0, alive=False))
        self.assertEqual(found, ["the server has ended"])

    def test_that_more_attackers_may_take_more(self):
        self.assertEqual(verdict.problems(self.row(share=0.76, attackers=10_000)), [])
        self.assertNotEqual(verdict.problems(self.row(share=0.74, attackers=10_000)), [])


if __name__ == "__main__":
    unittest.main()
