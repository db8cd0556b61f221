#!/usr/bin/env python3
"""Measures the stack beside raw TCP and beside what one would take instead, all in turn in the same
minutes, and prints the ratios.

usage: scripts/bench [options]
  --only RE         rows whose name matches; may be given several times
  --congestion WHICH  bbr, cubic or both (both): of TCP, in network namespaces of this run's own
  --rounds N        so many turns of everything (5)
  --slice S         seconds of one measurement (0.5)
  --json FILE       all figures
  --build DIR       what is measured (build/release)
  --beside DIR      another build of the stack, measured in turn with the first
  --list            print the rows
  -h, --help        this text

Needs root, for the namespaces. What is not installed (ucx_perftest, fi_pingpong) is left out.

Exit status: 0, 1 if a row could not be measured, 2 for wrong usage. No row fails for being slow."""

import argparse
import json
import os
import re
import sys

from measure import measure
from rows import ROWS

TOP = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def parse_arguments():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--only", action="append", default=[])
    parser.add_argument("--congestion", choices=("bbr", "cubic", "both"), default="both")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--slice", type=float, default=0.5)
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


def line(result):
    divisor, unit = UNITS[result["figure"]]
    ours = result["flows"][0]
    text = (f"{result['row']:32}{result['congestion']:6}{ours['median'] / divisor:8.2f} {unit:5}")
    if "ratio" in result:
        first, third = result["ratio_quartiles"]
        text += f"{result['ratio']:6.2f} ({first:.2f}-{third:.2f}) of {result['raw']}"
        if result["cpu_ratio"] and result["figure"] == "octets":
            text += f", cpu {result['cpu_ratio']:.2f}"
        if result["figure"] == "latency":
            text += f", {result['above_raw']:+.2f} us"
    for name, share in result["ahead"].items():
        text += f"; {share:.2f} of {name}"
    return text + ("  NOISY" if result["noisy"] else "")


def main():
    arguments = parse_arguments()
    rows = [row for row in ROWS
            if not arguments.only or any(re.search(one, row.name) for one in arguments.only)]
    controls = ("bbr", "cubic") if arguments.congestion == "both" else (arguments.congestion,)
    builds = {"ours": arguments.build} | ({"beside": arguments.beside} if arguments.beside else {})
    results, well = [], True
    for control in controls:
        for kind in dict.fromkeys(row.place for row in rows):
            with kind(control) as place:
                for row in (one for one in rows if one.place is kind):
                    try:
                        results.append(measure(row, place, builds, arguments))
                        print(line(results[-1]), flush=True)
                    except (RuntimeError, OSError) as error:
                        print(f"{row.name}: {error}", flush=True)
                        well = False
                    if arguments.json:
                        with open(arguments.json, "w", encoding="utf-8") as file:
                            json.dump(results, file, indent=1)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
