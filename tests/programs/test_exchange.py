#!/usr/bin/env python3
"""That scripts/test-programs can fail: stand-ins for programs that do not do what they should, and
what the checks say of output that is wrong."""

import contextlib
import os
import stat
import sys
import tempfile
import time
import unittest

import checks
import rdma_core
from case import Case
from cases import CASES, perftest
from checks import Outcome, Rows, SameFile, Shows
from exchange import Exchange
from places import Hosts, Loopback

SERVER = os.path.join(os.path.dirname(os.path.abspath(__file__)), "stand_in.py")


def state_of(pid):
    """The letter that says what a process does, or nothing if there is none."""
    with contextlib.suppress(OSError), open(f"/proc/{pid}/stat", encoding="ascii") as file:
        return file.read().rpartition(")")[2].split()[0]
    return None


# Patience: on a machine that compiles, with what hangs on purpose, and with what never comes.
AMPLE, SHORT, NONE = 3, 0.3, 0.02


def has_ended(pid):
    """Whether a process ends that has been killed: it does so when it gets a processor."""
    limit = time.monotonic() + 60
    while state_of(pid) in ("R", "S", "D"):
        if time.monotonic() > limit:
            return False
        time.sleep(0.01)
    return True


class ExchangeTest(unittest.TestCase):
    """`iwarp run` is a script here that only executes what it is given."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-exchange-")
        self.addCleanup(scratch.cleanup)
        self.scratch = scratch.name
        iwarp = os.path.join(self.scratch, "iwarp")
        with open(iwarp, "w", encoding="ascii") as file:
            file.write('#!/bin/sh\nwhile [ "$1" != -- ]; do shift; done\nshift\nexec "$@"\n')
        os.chmod(iwarp, os.stat(iwarp).st_mode | stat.S_IXUSR)
        self.place = Loopback(iwarp, self.scratch)

    def run_(self, client, server="serve", patience=AMPLE, **more):
        stand_in = f"{sys.executable} {SERVER}"
        case = Case(f"{stand_in} {client} {{host}} {{port}}",
                    f"{stand_in} {server} {{host}} {{port}}" if server else "",
                    **{"seconds": 10, "checks": (Shows("client", "^hello$", 1),), **more})
        directory = self.place.directory(client + server)
        exchange = Exchange(case, self.place, directory, patience=patience)
        result = exchange.run()
        for end in (*exchange.clients, exchange.server):
            if end:
                self.assertIsNotNone(end.status(), f"the {end.name} was left running")
        return result

    def test_passes_if_all_is_well(self):
        result = self.run_("ask", figure="^rate (.*)$", unit="MB/s")
        self.assertEqual((result.problem, result.figure), (None, "12.5 MB/s"))

    def test_counts_what_every_client_printed(self):
        self.assertIn("2 times, not 1", self.run_("ask", "serve-on", clients=2, stopped=True).problem)

    def test_spaced_clients_come_one_after_the_other(self):
        three = {"clients": 3, "stopped": True, "checks": (Shows("client", "^hello$", 3),)}
        self.assertIsNone(self.run_("ask-and-wait", "serve-apart", spaced="^hello$", **three).problem)
        self.assertIsNotNone(self.run_("ask", "serve-apart", **three).problem)

    def test_a_spaced_client_that_says_nothing_is_not_waited_for_for_ever(self):
        self.assertIn("did not end", self.run_("sleep", "serve-on", SHORT, clients=2,
                                                   spaced="^hello$").problem)

    def test_a_silent_client_fails(self):
        self.assertIn("hello", self.run_("silent").problem)

    def test_a_clients_status_counts(self):
        self.assertEqual(self.run_("fail").problem, "the client ended with status 3")

    def test_a_client_may_have_to_fail(self):
        self.assertIsNone(self.run_("ask-and-fail", status=3).problem)
        self.assertEqual(self.run_("ask", status=3).problem, "the client ended with status 0, not 3")

    def test_a_preparation_runs_first_and_counts(self):
        checks_ = (SameFile("made", "made"),)
        self.assertIsNone(self.run_("ask", prepare="touch made", checks=checks_).problem)
        self.assertIn("no-such-file", self.run_("silent", prepare="ls no-such-file").problem)
        self.assertIn("sleep 60 did not end",
                      self.run_("fail", patience=NONE, prepare="sleep 60").problem)

    def test_a_server_is_asked_when_it_is_ready(self):
        self.assertIsNone(self.run_("ask", "say-and-serve", ready="^come$").problem)
        # In the time of SHORT this one listens, and is not ready all the same.
        self.assertIn("does not listen", self.run_("ask", "serve-on", SHORT, ready="^come$").problem)

    def test_a_word_stands_for_what_leads_to_the_other_end(self):
        hosts = Hosts("", self.scratch)
        hosts.spaces = {"client": "one", "server": "other"}
        words = Exchange(Case("true"), hosts, "/here").words("run {beside} '{beside} it' {dir} {host}")
        self.assertEqual(words, ["run", "ip", "netns", "exec", "other", "ip netns exec other it",
                                 "/here", hosts.host])

    def test_a_program_that_is_not_there_is_named(self):
        self.assertIsNone(Case("true", "true", uses=("true",)).missing())
        self.assertEqual(Case("true", uses=("no-such-program",)).missing(), "no-such-program")

    def test_a_servers_status_counts(self):
        self.assertEqual(self.run_("ask", "serve-and-fail").problem, "the server ended with status 3")

    def test_a_server_that_does_not_listen_is_told(self):
        self.assertIn("does not listen", self.run_("ask", "sleep", NONE).problem)
        self.assertIn("before it listened", self.run_("ask", "fail").problem)

    def test_a_client_that_hangs_is_ended(self):
        began = time.monotonic()
        self.assertIn("did not end within 3 s", self.run_("sleep", patience=SHORT).problem)
        self.assertLess(time.monotonic() - began, 60)

    def test_a_client_whose_server_failed_is_not_waited_for(self):
        began = time.monotonic()
        problem = self.run_("ask-and-sleep", "serve-and-fail", 1, seconds=600).problem
        self.assertEqual(problem, "the server ended with status 3")
        self.assertLess(time.monotonic() - began, 60)

    def test_a_server_that_hangs_is_ended(self):
        self.assertIn("did not end", self.run_("ask", "serve-on", SHORT).problem)

    def test_a_server_that_should_serve_on_has_to(self):
        self.assertIsNone(self.run_("ask", "serve-on", stopped=True).problem)
        self.assertIn("should serve on", self.run_("ask-and-wait", "serve", stopped=True).problem)

    def test_what_a_program_forks_is_ended_with_it(self):
        self.assertIn("did not end", self.run_("fork", patience=SHORT).problem)
        with open(os.path.join(self.scratch, "loopback-forkserve", "child"), encoding="ascii") as file:
            child = int(file.read())
        self.assertTrue(has_ended(child))


class ChecksTest(unittest.TestCase):
    TABLE = " #bytes     #iterations    BW peak[MB/sec]    BW average[MB/sec]   MsgRate[Mpps]\n" \
            " 65536      1000             2730.67            2700.10\t\t     0.043202\n"

    def problem(self, said, *wanted):
        return checks.problem(Outcome(client_said=said), wanted)

    def test_a_row_needs_its_size_its_iterations_and_figures(self):
        rows = Rows("client", (65536,), 1000, 2)
        self.assertIsNone(self.problem(self.TABLE, rows))
        self.assertIn("no figures", self.problem("", rows))
        self.assertIn("no figures", self.problem(self.TABLE.replace("65536", "6553"), rows))
        self.assertIn("999 iterations", self.problem(self.TABLE.replace("1000 ", " 999 "), rows))
        self.assertIn("zero", self.problem(self.TABLE.replace("2700.10", "0.00"), rows))

    def test_the_figure_of_the_table_is_the_average(self):
        case = perftest("ib_write_bw")
        outcome = Outcome(client_said=self.TABLE)
        self.assertEqual(checks.figure(outcome, case.figure, case.unit), "2700.10 MB/s")

    def test_a_sanitizers_report_fails_whatever_else_was_said(self):
        said = "==1==ERROR: AddressSanitizer: heap-use-after-free\n"
        self.assertIn("AddressSanitizer", self.problem(said))
        self.assertIn("AddressSanitizer", checks.problem(Outcome(server_said=said), ()))

    def test_files_are_compared(self):
        with tempfile.TemporaryDirectory() as directory:
            for name, text in (("one", "same"), ("two", "same"), ("three", "samE")):
                with open(os.path.join(directory, name), "w", encoding="ascii") as file:
                    file.write(text)
            outcome = Outcome(directory=directory)
            self.assertIsNone(checks.problem(outcome, (SameFile("one", "two"),)))
            self.assertIn("differs", checks.problem(outcome, (SameFile("one", "three"),)))
            self.assertIn("not there", checks.problem(outcome, (SameFile("one", "four"),)))

    def test_no_case_passes_by_silence(self):
        for case in CASES:
            with self.subTest(case=case.name):
                self.assertIsNotNone(checks.problem(Outcome(directory="/nonexistent"), case.checks))

    def test_names_tell_cases_apart(self):
        names = [case.name for case in CASES]
        self.assertEqual(len(names), len(set(names)))


class KnownOutcomesTest(unittest.TestCase):
    """A stand-in for each pattern of the tables, and so many that pass."""

    def setUp(self):
        self.lines = {f"test_other.Test.test_{i}": "pass" for i in range(rdma_core.LEAST_PASSES)}
        for table, result in ((rdma_core.SKIPS, "skip"), (rdma_core.FAILS, "fail"),
                              (rdma_core.DEPENDS, "skip")):
            for pattern in (each for patterns in table.values() for each in patterns):
                self.lines[pattern.replace("*", "any")] = result
        self.failing = next(name for name, result in self.lines.items() if result == "fail")
        self.skipped = next(name for name, result in self.lines.items() if result == "skip")

    def problem(self, count=None):
        passed = sum(result == "pass" for result in self.lines.values())
        said = "".join(f"{result} tests.{name}: a reason\n" for name, result in self.lines.items())
        said += f"{passed} passed, of {count or len(self.lines)} on iwarp1\n"
        return checks.problem(Outcome(client_said=said), (rdma_core.KnownOutcomes(),))

    def test_what_is_known_passes(self):
        self.assertIsNone(self.problem())

    def test_what_depends_on_the_machine_may_pass(self):
        self.lines["test_parent_domain.ParentDomainTrafficTest.test_huge_page_traffic"] = "pass"
        self.assertIsNone(self.problem())

    def test_another_outcome_fails(self):
        for name, result in (("test_other.Test.test_0", "fail"), ("test_other.Test.test_1", "skip"),
                             (self.failing, "pass"), (self.skipped, "pass"),
                             (self.skipped, "fail")):
            with self.subTest(name=name, result=result):
                self.setUp()
                self.lines[name] = result
                self.assertIn(f"{name} is no", self.problem())

    def test_a_test_that_is_gone_fails(self):
        del self.lines[self.failing]
        self.assertIn("no test is called", self.problem())
        self.setUp()
        del self.lines["test_other.Test.test_0"]
        self.assertIn("passed, not", self.problem())

    def test_an_end_too_early_fails(self):
        self.assertIn("did not come to their end", self.problem(len(self.lines) + 1))


if __name__ == "__main__":
    unittest.main()
