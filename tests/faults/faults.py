#!/usr/bin/env python3
"""Makes system calls and allocations of exchanges fail, one kind in each run, and judges what comes of
it. Each call that an exchange makes fails the first time, the tenth time, and every time, with each
errno that tests/faults/calls.json has for it. An end whose call fails has to do its work all the same,
or say what the cause was, within a bounded time: it must not crash, hang, leave a file that is not
whole or a temporary one, or take the other end or the next client along.

usage: scripts/faults [options]
  --case PATTERN    exchanges whose name matches this regular expression (put-client, rping-server ...)
  --only PATTERN    injections that match, such as 'malloc', 'EMFILE', 'epoll_ctl ENOSPC first'
  --sweep N         also N single allocations of each exchange, spread over all of them
  --short           a sample: a few injections of each exchange
  --jobs N          so many runs at once (2)
  --seconds N       an end that runs for longer hangs (30)
  --list            print the injections and run none; takes a run of each exchange to count calls
  --calls           only compare the table of calls with what strace sees
  --json FILE       write all outcomes there
  --keep-logs DIR   keep what was said in runs that are not as they should be, and where it happened
  --build DIR       the build directory (build/release)
  -h, --help        this text

Where strace is installed, exchanges that are not a sample are run under it once, to see that no
system call is missing from the table. What is known, and not this project's, is in
tests/faults/known.json.

Exit status: 0 all as it should be, 1 not, 2 wrong usage."""

import collections
import concurrent.futures
import json
import os
import re
import shutil
import sys
import tempfile
import threading
import time
import types
import zlib

import coverage
import exchanges
from command_line import CommandLine
from injection import HERE, of_counts
from judge import GOOD, Judge, keep_logs

TOP = os.path.dirname(os.path.dirname(HERE))
SHORT_PER_EXCHANGE = 5
STRETCH = 20


COMMAND_LINE = CommandLine("faults", __doc__)
fail = COMMAND_LINE.fail


def parse_arguments():
    parser = COMMAND_LINE
    parser.add_argument("--case", type=re.compile, default=re.compile(""))
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--sweep", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--seconds", type=float, default=30)
    parser.add_argument("--json")
    parser.add_argument("--keep-logs")
    parser.add_argument("--build", default=os.path.join(TOP, "build/release"))
    for flag in ("--short", "--list", "--calls"):
        parser.add_argument(flag, action="store_true")
    arguments = parser.parse()
    return arguments


def paths_of(build):
    build = os.path.abspath(build)
    paths = types.SimpleNamespace(
        iwarp=f"{build}/cli/iwarp", ping_pong=f"{build}/examples/ping_pong",
        event_loop=f"{build}/examples/event_loop",
        interposer=f"{build}/tests/faults/libiwarp_faults.so")
    for path in vars(paths).values():
        if not os.path.exists(path):
            fail(f"{path} is not there: build the preset first", 1)
    return paths


def sampled(injections, name):
    """Another few of them for each exchange. They are always the same, though the number of calls
    that an exchange makes is not: what is chosen does not depend on what else there is to choose."""
    lasting = [one for one in injections if one.at in ("first", "every")]
    return sorted(lasting, key=lambda one: zlib.crc32(f"{name}: {one}".encode()))[:SHORT_PER_EXCHANGE]


def stretches(injections):
    """Parts of them that are as long as is worth a server of its own, which all runs of one have."""
    return [injections[at:at + STRETCH] for at in range(0, len(injections), STRETCH)]


def known_outcomes():
    with open(os.path.join(HERE, "known.json"), encoding="utf-8") as file:
        return {(one["exchange"], one["injection"], one["outcome"]): one["reason"]
                for one in json.load(file)}


class Report:
    """Prints what is not as it should be, as it comes, and counts the rest."""

    def __init__(self):
        self.known, self.counts, self.results = known_outcomes(), collections.Counter(), []
        self.adding = threading.Lock()

    def knows(self, exchange, injection):
        """Whether what comes of it is known: a sample need not wait for that."""
        return any(key[:2] == (exchange, str(injection)) for key in self.known)

    def add(self, result):
        key = (result.exchange, result.injection, result.outcome)
        outcome = "known" if key in self.known else result.outcome
        with self.adding:
            self.counts[outcome] += 1
            self.results.append(result)
        if outcome in (*GOOD, "known"):
            return False
        print(f"{result.exchange}: {result.injection}: {result.outcome}: {result.detail}", flush=True)
        return True

    def failed(self):
        return any(self.counts[outcome] for outcome in self.counts if outcome not in (*GOOD, "known"))

    def summary(self, seconds):
        parts = ", ".join(f"{number} {outcome}" for outcome, number in self.counts.most_common())
        print(f"{sum(self.counts.values())} injections: {parts}; {seconds:.0f} s", flush=True)

    def write(self, path):
        with open(path, "w", encoding="utf-8") as file:
            json.dump([vars(result) for result in self.results], file, indent=1)


class Run:
    """All exchanges that were asked for."""

    def __init__(self, arguments, scratch):
        self.arguments, self.scratch, self.report = arguments, scratch, Report()
        self.paths = paths_of(arguments.build)
        self.incomplete = False

    def judge(self, exchange, purpose):
        directory = os.path.join(self.scratch, f"{exchange.name}.{purpose}")
        return Judge(exchange, self.paths.interposer, directory, self.arguments.seconds)

    def injections(self, exchange):
        judge = self.judge(exchange, "count")
        try:
            planned = list(of_counts(judge.counts(), self.arguments.sweep))
        finally:
            judge.close()
        chosen = [one for one in planned if self.arguments.only.search(str(one))]
        if not self.arguments.short:
            return chosen
        return sampled([one for one in chosen if not self.report.knows(exchange.name, one)],
                       exchange.name)

    def check_calls(self, exchange):
        judge = self.judge(exchange, "strace")
        return coverage.trace(exchange, self.paths.interposer, judge.directory,
                              self.arguments.seconds) or []

    def plan(self, exchange):
        """What is wrong with the table of calls, and the injections."""
        problems, injections = [], []
        if not self.arguments.list and not self.arguments.short:
            problems = self.check_calls(exchange)
        if not self.arguments.calls:
            injections = self.injections(exchange)
        return exchange, problems, injections

    def tell(self, exchange, problems, injections):
        """Prints a plan."""
        if self.arguments.list:
            print("".join(f"{exchange.name}: {one}\n" for one in injections), end="", flush=True)
        elif not self.arguments.short and not self.arguments.calls:
            print(f"-- {exchange.name}: {len(injections)} injections", flush=True)
        for problem in problems:
            print(f"{exchange.name}: {problem}", flush=True)
            self.incomplete = True

    def inject(self, exchange, number, injections):
        """One stretch."""
        judge = self.judge(exchange, f"runs{number}")
        try:
            for injection in injections:
                result = judge.run(injection)
                if self.report.add(result) and self.arguments.keep_logs:
                    keep_logs(judge, result, self.arguments.keep_logs)
        finally:
            judge.close()
            # Megabytes, of each of the many stretches; what is still there goes with the scratch directory.
            shutil.rmtree(judge.directory, ignore_errors=True)

    def all(self):
        began = time.monotonic()
        chosen = [one for one in exchanges.all_exchanges(self.paths)
                  if self.arguments.case.search(one.name)]
        # Some of what fails is noticed after a time-out of seconds: other runs go on meanwhile.
        with concurrent.futures.ThreadPoolExecutor(self.arguments.jobs) as pool:
            running = []
            for exchange, problems, injections in pool.map(self.plan, chosen):
                self.tell(exchange, problems, injections)
                if not self.arguments.list:
                    running += [pool.submit(self.inject, exchange, *stretch)
                                for stretch in enumerate(stretches(injections))]
            for stretch in running:
                stretch.result()
        if self.arguments.json:
            self.report.write(self.arguments.json)
        if self.arguments.list or self.arguments.calls:
            return 1 if self.incomplete else 0
        self.report.summary(time.monotonic() - began)
        return 1 if self.incomplete or self.report.failed() or not self.report.results else 0


def main():
    arguments = parse_arguments()
    with tempfile.TemporaryDirectory(prefix="iwarp-faults-") as scratch:
        return Run(arguments, scratch).all()


if __name__ == "__main__":
    sys.exit(main())
