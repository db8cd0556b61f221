#!/usr/bin/env python3
"""Measures the stack beside raw TCP and beside what one would take instead, all in turn in the same
minutes, and prints the ratios.

usage: scripts/bench [options]
  --only RE         rows whose name matches; may be given several times
  --congestion WHICH  bbr, cubic or both (both): of TCP, in network namespaces of this run's own
  --rounds N        so many turns of everything (9)
  --slice S         seconds of one measurement (0.3); rates of perftest take three
  --json FILE       all figures
  --report DIR      a table in DIR/performance.md, between two markers, and plots in
                    DIR/performance, of the rows that are measured now (the committed report
                    is in docs)
  --from FILE       measure nothing: take what --json has written
  --build DIR       what is measured (build/release)
  --beside DIR      another build of the stack, measured in turn with the first
  --list            print the rows
  -h, --help        this text

Each end keeps to a processor of its own. How far apart these are (distance 0: they share a cache;
each step twice as far) is found out before and after each measurement: the host of a virtual machine
moves them, and raw TCP alone is four times as fast at 0 as at 3. Each distance has a line of its own.

Needs root, for the namespaces. What is not installed (ucx_perftest, fi_pingpong) is left out;
scripts/install-deps --bench installs it, and MPI, before the preset release is built.
docs/performance.md says how to read what comes of it.

Exit status: 0, 1 if a row could not be measured, 2 for wrong usage. No row fails for being slow."""

import argparse
import json
import os
import re
import signal
import subprocess
import sys

import machine
import report
from distance import Distance
from measure import measure
from report import UNITS
from rows import ROWS

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
BOUNDS = {"least": "at least {:.2f}", "most_ratio": "at most {:.2f}",
          "most_above": "at most {:+.2f} us", "most_cpu": "cpu at most {:.2f}",
          "least_rate": "at least {:.0f} M/s"}
SAVED = {"machine", "options", "results", "problems"}


class Parser(argparse.ArgumentParser):
    """Says what is wrong in one line."""

    def error(self, message):
        print(f"bench: {message} (-h explains)", file=sys.stderr)
        sys.exit(2)


def pattern(text):
    try:
        return re.compile(text)
    except re.error as error:
        raise argparse.ArgumentTypeError(f"{text} is no regular expression: {error}") from None


def positive(kind):
    def parse(text):
        if not 0 < kind(text) < float("inf"):
            raise ValueError
        return kind(text)
    parse.__name__ = "positive number"
    return parse


def make_parser():
    parser = Parser(add_help=False)
    parser.add_argument("--only", action="append", default=[], type=pattern)
    parser.add_argument("--congestion", choices=("bbr", "cubic", "both"), default="both")
    parser.add_argument("--rounds", type=positive(int), default=9)
    parser.add_argument("--slice", type=positive(float), default=0.3)
    parser.add_argument("--json")
    parser.add_argument("--report")
    parser.add_argument("--from", dest="saved")
    parser.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    parser.add_argument("--beside")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    return parser


def parse_arguments():
    parser = make_parser()
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        sys.exit(0)
    arguments.rows = [row for row in ROWS
                      if not arguments.only or any(one.search(row.name) for one in arguments.only)]
    if arguments.list:
        for row in arguments.rows:
            print(row.name)
        sys.exit(0)
    if not arguments.rows:
        parser.error("no row has such a name: --list prints them")
    if arguments.saved and (arguments.json or arguments.only):
        parser.error("--from takes all rows of its file, and writes no other")
    try:
        if arguments.report:
            report.check(arguments.report)
    except report.Unusable as error:
        parser.error(error)
    arguments.saved = arguments.saved and load(arguments.saved, parser)
    return arguments


def load(path, parser):
    """What --json has written."""
    try:
        with open(path, encoding="utf-8") as file:
            data = json.load(file)
    except (OSError, ValueError) as error:
        parser.error(f"{path}: {error}")
    if not isinstance(data, dict) or not SAVED <= data.keys():
        parser.error(f"{path} was not written by --json")
    return data


def target_text(result):
    if not result["targets"]:
        return ""
    bounds = ", ".join(BOUNDS[name].format(bound) for name, bound in result["targets"].items())
    return f"; {bounds}: " + {True: "met", False: "missed", None: "no raw TCP"}[result["met"]]


def line(result):
    """What was seen at one distance."""
    divisor, unit = UNITS[result["figure"]]
    ours = result["flows"][0]
    text = f"{result['row']:32}{result['congestion']:6}at {result['distance']}{ours['median'] / divisor:8.2f} {unit:5}"
    if "ratio" in result:
        first, third = result["ratio_quartiles"]
        text += f"{result['ratio']:6.2f} ({first:.2f}-{third:.2f}) of {result['raw']}"
        if result["cpu_ratio"] and result["figure"] == "octets":
            text += f", cpu {result['cpu_ratio']:.2f}"
        if result["figure"] == "latency":
            text += f", {result['above_raw']:+.2f} us"
    for name, share in result["ahead"].items():
        text += f"; {share:.2f} of {name}"
    return text + target_text(result) + ("  NOISY" if result["noisy"] else "")


def save(path, data):
    with open(path, "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1)


def measure_row(row, place, builds, arguments, data):
    try:
        results = measure(row, place, builds, arguments, Distance(arguments.build))
        data["results"].extend(results)
        print("\n".join(map(line, results)), flush=True)
    except (RuntimeError, OSError, subprocess.SubprocessError) as error:
        data["problems"].append({"row": row.name, "congestion": place.congestion,
                                 "error": str(error)})
        print(f"{row.name}: {error}", flush=True)
    if arguments.json:
        save(arguments.json, data)


def measure_all(arguments):
    """What --json writes: it grows row by row."""
    controls = ("bbr", "cubic") if arguments.congestion == "both" else (arguments.congestion,)
    builds = {"ours": arguments.build} | ({"beside": arguments.beside} if arguments.beside else {})
    data = {"machine": machine.facts(),
            "options": {"rounds": arguments.rounds, "slice": arguments.slice,
                        "congestion": controls},
            "results": [], "problems": []}
    for control in controls:
        for kind in dict.fromkeys(row.place for row in arguments.rows):
            with kind(control) as place:
                for row in (one for one in arguments.rows if one.place is kind):
                    measure_row(row, place, builds, arguments, data)
    return data


def main():
    # So that the namespaces are removed, whoever ends this.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    arguments = parse_arguments()
    if arguments.saved:
        data = arguments.saved
        print("\n".join(map(line, data["results"])))
    else:
        data = measure_all(arguments)
    if arguments.report:
        report.write(arguments.report, data)
    sys.exit(1 if data["problems"] else 0)


if __name__ == "__main__":
    main()
