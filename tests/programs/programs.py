#!/usr/bin/env python3
"""Runs verbs programs as they come from Debian's packages, both ends under `iwarp run`, and prints
a table: the program and what it was run with, whether it passed, a figure where it prints one, and
the seconds that it took. To pass, both ends must end with status 0 and print what they print when all
went well; programs that can verify their data do.

usage: scripts/test-programs [options]
  --short           a choice of them, over loopback and between network namespaces
  --only PATTERN    those whose line in the table matches this regular expression
  --place NAME      only at loopback, user (unprivileged), namespaces (two of them over a veth
                    pair with MTU 1500) or hosts (the same, with a loopback interface each); may
                    be given several times. All but loopback need root.
  --asan            rping, perftest and fio with the libraries of the preset dev, which are built
                    with AddressSanitizer and UndefinedBehaviorSanitizer
  --iwarp PROGRAM   the iwarp program (build/release/cli/iwarp; with --asan build/dev/cli/iwarp)
  --keep-logs DIR   keep what the programs printed, a directory for each line
  --list            print the lines of the table and run nothing
  -h, --help        this text

IWARP_MPICH=DIR names an MPICH that is made for libfabric, which Debian's is not; without it the
lines of MPICH are left out.

Exit status: 0 all passed, 1 not, 2 wrong usage."""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time

import cases
from command_line import CommandLine
from exchange import Exchange
from places import PLACES, Unavailable

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WIDTH = 66
ASAN_PATIENCE = 4.0


COMMAND_LINE = CommandLine("test-programs", __doc__)
fail = COMMAND_LINE.fail


def parse_arguments():
    parser = COMMAND_LINE
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--only", type=re.compile, default=re.compile(""))
    parser.add_argument("--place", action="append", choices=[place.name for place in PLACES])
    parser.add_argument("--asan", action="store_true")
    parser.add_argument("--iwarp")
    parser.add_argument("--keep-logs")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse()
    return arguments


def libraries_of(iwarp):
    return os.path.join(os.path.dirname(os.path.dirname(iwarp)), "lib", "iwarp-verbs")


def sanitizers(iwarp):
    """What stands before a program so that it can load sanitized libraries, which their run-time
    has to precede. Leaks are the programs' own: most exit without giving anything back."""
    listed = subprocess.run(["ldd", os.path.join(libraries_of(iwarp), "libibverbs.so.1")],
                            capture_output=True, text=True, check=True).stdout
    found = re.search(r"libasan\S+ => (\S+)", listed)
    if not found:
        fail(f"the libraries of {iwarp} are not built with AddressSanitizer", 1)
    return ["env", f"LD_PRELOAD={found[1]}",
            "ASAN_OPTIONS=detect_leaks=0:strict_string_checks=1:use_sigaltstack=0:exitcode=99",
            "UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1"]


def chosen(arguments):
    return [case for case in cases.CASES
            if arguments.only.search(case.name) and (case.short or not arguments.short)
            and (case.asan or not arguments.asan)]


def chosen_places(arguments):
    names = arguments.place or (["loopback", "namespaces", "hosts"] if arguments.short
                                else ["loopback"] if arguments.asan
                                else [place.name for place in PLACES])
    return [place for place in PLACES if place.name in names]


class Table:
    """Prints the lines as they come, and counts them."""

    def __init__(self):
        self.counts = collections.Counter()
        self.failed = []

    def heading(self, text):
        print(f"\n{text}", flush=True)

    def line(self, name, problem, figure, seconds):
        verdict = "FAIL" if problem else "pass"
        self.counts[verdict] += 1
        print(f"  {name:{WIDTH}} {verdict}  {figure:>16} {seconds:7.1f} s", flush=True)
        if problem:
            print(f"      {problem}", flush=True)

    def line_left_out(self, name, reason):
        print(f"  {name:{WIDTH}} -     left out: {reason}", flush=True)

    def tail(self, end, lines):
        for line in lines:
            print(f"      {end}: {line}")

    def skipped(self, reason):
        self.counts["skip"] += 1
        print(f"  left out: {reason}", flush=True)

    def summary(self, seconds):
        print(f"\n{self.counts['pass']} passed, {self.counts['FAIL']} failed"
              + (f", {self.counts['skip']} places left out" if self.counts["skip"] else "")
              + f", {seconds:.0f} s")


class Run:
    """All lines of the table."""

    def __init__(self, arguments, iwarp):
        self.arguments, self.iwarp = arguments, iwarp
        self.table = Table()
        self.launcher = sanitizers(iwarp) if arguments.asan else []

    def keep(self, place, number, case, directory):
        if not self.arguments.keep_logs:
            return
        name = re.sub(r"[^\w.-]+", "-", case.name)
        target = os.path.join(self.arguments.keep_logs, place.name, f"{number:02}-{name}")
        os.makedirs(target, exist_ok=True)
        for log in os.listdir(directory):
            if log.endswith((".out", ".err")):
                shutil.copy(os.path.join(directory, log), target)

    def one(self, place, number, case):
        if case.needs and not os.environ.get(case.needs):
            return self.table.line_left_out(case.name, f"{case.needs} is not set")
        if missing := case.missing():
            reason = f"{missing} is not there: scripts/install-deps --programs installs it"
            return self.table.line(case.name, reason, "", 0)
        directory = place.directory(number)
        if "source" in case.client:
            with open(os.path.join(directory, "source"), "wb") as source:
                source.write(os.urandom((32 << 20) + 1234))
            os.chmod(source.name, 0o644)
        exchange = Exchange(case, place, directory, ASAN_PATIENCE if self.arguments.asan else 1.0,
                            self.launcher)
        result = exchange.run()
        self.table.line(case.name, result.problem, result.figure, result.seconds)
        if result.problem:
            for end, lines in exchange.tails(6):
                self.table.tail(end, lines)
        self.keep(place, number, case, directory)
        shutil.rmtree(directory)

    def at(self, place, lines):
        for number, case in enumerate(lines):
            if place.name in case.places:
                self.one(place, number, case)

    def all(self):
        began = time.monotonic()
        lines = chosen(self.arguments)
        for kind in chosen_places(self.arguments):
            if not any(kind.name in case.places for case in lines):
                continue
            self.table.heading(kind.title)
            with tempfile.TemporaryDirectory(prefix="iwarp-programs-") as scratch:
                os.chmod(scratch, 0o755)
                try:
                    with kind(self.iwarp, scratch) as place:
                        self.at(place, lines)
                except Unavailable as reason:
                    self.table.skipped(reason)
        self.table.summary(time.monotonic() - began)
        return 1 if self.table.counts["FAIL"] or not self.table.counts["pass"] else 0


def main():
    arguments = parse_arguments()
    if arguments.list:
        print("\n".join(case.name for case in chosen(arguments)))
        return 0
    preset = "dev" if arguments.asan else "release"
    iwarp = os.path.abspath(arguments.iwarp or os.path.join(TOP, "build", preset, "cli", "iwarp"))
    if not os.path.exists(os.path.join(libraries_of(iwarp), "libibverbs.so.1")):
        build = f"cmake --preset {preset} && cmake --build --preset {preset}"
        fail(f"{iwarp} has no libraries: {build}", 1)
    return Run(arguments, iwarp).all()


if __name__ == "__main__":
    sys.exit(main())
