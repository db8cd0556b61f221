#!/usr/bin/env python3
"""Measures the stack beside raw TCP and beside what one would take instead, all in turn in the same
minutes, and prints the ratios.

usage: scripts/bench [options]
  --only RE         rows whose name matches; may be given several times
  --congestion WHICH  bbr, cubic or both (both): of TCP, in network namespaces of this run's own
  --rounds N        so many turns of everything (9)
  --slice S         seconds of one measurement (0.3)
  --json FILE       all figures
  --build DIR       what is measured (build/release)
  --beside DIR      another build of the stack, measured in turn with the first
  --list            print the rows
  -h, --help        this text

Each end keeps to a processor of its own. How far apart these are (distance 0: they share a cache;
each step twice as far) is found out before and after each measurement: the host of a virtual machine
moves them, and raw TCP alone is four times as fast at 0 as at 3. Each distance has a line of its own.

Needs root, for the namespaces. What is not installed (ucx_perftest, fi_pingpong) is left out.

Exit status: 0, 1 if a row could not be measured, 2 for wrong usage. No row fails for being slow."""

import argparse
import json
import os
import re
import sys

from distance import Distance
from measure import measure
from rows import ROWS

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parse_arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--congestion", choices=("bbr", "cubic", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=9)
    parser.add_argument("--slice", type=float, default=0.3)
    parser.add_argument("--json")
    parser.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    parser.add_argument("--beside")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("-h", "--help", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        sys.exit(0)
    if arguments.list:
        for row in ROWS:
            print(row.name)
        sys.exit(0)
    return arguments


UNITS = {"octets": (1e9, "GB/s"), "messages": (1e6, "M/s"), "latency": (1, "us")}


def line(result, seen):
    """What was seen at one distance."""
    divisor, unit = UNITS[result["figure"]]
    ours = seen["flows"][0]
    text = (f"{result['row']:28}{result['congestion']:6}distance {seen['step']} "
            f"{ours['median'] / divisor:8.2f} {unit:5}")
    if "ratio" in seen:
        first, third = seen["ratio_quartiles"]
        text += f"{seen['ratio']:6.2f} ({first:.2f}-{third:.2f}) of {seen['raw']}"
        if seen["cpu_ratio"] and result["figure"] == "octets":
            text += f", cpu {seen['cpu_ratio']:.2f}"
        if result["figure"] == "latency":
            text += f", {seen['above_raw']:+.2f} us"
    for name, share in seen["ahead"].items():
        text += f"; {share:.2f} of {name}"
    return text + ("  NOISY" if seen["noisy"] else "")


def lines(result):
    if not result["at"]:
        return [f"{result['row']:28}{result['congestion']:6}too few samples at any one distance"]
    return [line(result, seen) for seen in result["at"]]


def main():
    arguments = parse_arguments()
    rows = [row for row in ROWS
            if not arguments.only or any(re.search(one, row.name) for one in arguments.only)]
    controls = ("bbr", "cubic") if arguments.congestion == "both" else (arguments.congestion,)
    builds = {"ours": arguments.build} | ({"beside": arguments.beside} if arguments.beside else {})
    distance = Distance(arguments.build)
    results, well = [], True
    for control in controls:
        for kind in dict.fromkeys(row.place for row in rows):
            with kind(control) as place:
                for row in (one for one in rows if one.place is kind):
                    try:
                        results.append(measure(row, place, builds, arguments, distance))
                        print("\n".join(lines(results[-1])), flush=True)
                    except (RuntimeError, OSError) as error:
                        print(f"{row.name}: {error}", flush=True)
                        well = False
                    if arguments.json:
                        with open(arguments.json, "w", encoding="utf-8") as file:
                            json.dump(results, file, indent=1)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
