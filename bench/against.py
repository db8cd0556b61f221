"""Compares two builds of this stack: the same verbs program with the libraries of each, in turns.

usage: scripts/bench --against BUILD [options]
  --against BUILD  a build directory, of another commit perhaps, with which this one is compared
  --build BUILD    this one (build/release)
  --rounds N       measurements of each build and row (5)
  --seconds S      of each measurement (1)
  --only WORDS     only rows whose names have all of these words, such as "read 64K"
  --json FILE      also write all figures to FILE
  -h, --help       this text

Each row is a ratio, this build to the other one, of messages a second, of connections a second, or of
the memory that an idle queue pair takes (there the other one to this one): above 1 is better. It is the
median of the ratios of the rounds; the range is that of their middle half. Rows below 0.97 are marked.

Exit status: 0 no row is below 0.97, 1 one is, 2 wrong usage or a measurement failed."""

import argparse
import dataclasses
import itertools
import json
import os
import pathlib
import statistics
import subprocess
import sys

LEAST = 0.97
SIZES = {"64": 64, "4K": 4 << 10, "64K": 64 << 10, "1M": 1 << 20}
IDLE_PAIRS = 1000


@dataclasses.dataclass(frozen=True)
class Row:
    name: str
    options: tuple
    figure: str = "messages_per_second"
    less_is_better: bool = False


def traffic_row(op, size, pairs, waiting):
    depth = 2 * pairs if pairs > 1 else 64 if SIZES[size] <= SIZES["4K"] else 16
    options = ("--op", op, "--size", str(SIZES[size]), "--pairs", str(pairs), "--depth", str(depth))
    events = ("--events",) if waiting == "events" else ()
    return Row(f"{op} {size}, {pairs} queue pair{'s' if pairs > 1 else ''}, {waiting}", options + events)


def all_rows():
    idle = ("--pairs", str(IDLE_PAIRS), "--depth", "16000", "--seconds", "0")
    yield from (traffic_row(*choice) for choice in
                itertools.product(("write", "read", "send"), SIZES, (1, 100), ("polled", "events")))
    yield Row("connection set-up", idle, "connections_per_second")
    yield Row("idle queue pair, octets", idle, "octets_per_pair", less_is_better=True)


class Failed(Exception):
    pass


def measure(program, build, options, seconds):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(build / "lib/iwarp-verbs"))
    if "--seconds" not in options:
        options = (*options, "--seconds", str(seconds))
    done = subprocess.run([program, *options], env=environment, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode != 0:
        raise Failed(f"{build}: {' '.join(options)}: {done.stderr.strip()}")
    return json.loads(done.stdout)


def ratio_of(row, mine, other):
    return other / mine if row.less_is_better else mine / other


def compare(row, program, builds, arguments):
    """The figures of both builds, round by round; which one begins alternates."""
    figures = ([], [])
    for turn in range(arguments.rounds):
        for which in ((0, 1), (1, 0))[turn % 2]:
            found = measure(program, builds[which], row.options, arguments.seconds)
            figures[which].append(found[row.figure])
    ratios = sorted(ratio_of(row, mine, other) for mine, other in zip(*figures))
    quarter = len(ratios) // 4
    return {"row": row.name, "figure": row.figure, "this": statistics.median(figures[0]),
            "other": statistics.median(figures[1]), "ratio": statistics.median(ratios),
            "range": [ratios[quarter], ratios[-1 - quarter]]}


def print_row(result):
    low, high = result["range"]
    mark = "  below" if result["ratio"] < LEAST else ""
    print(f"{result['row']:36} {result['this']:12.0f} {result['other']:12.0f} {result['ratio']:7.2f}"
          f"   {low:.2f} to {high:.2f}{mark}", flush=True)


def parse_arguments():
    parser = argparse.ArgumentParser(add_help=False, usage="scripts/bench --against BUILD [options]; -h says more")
    parser.add_argument("--against", type=pathlib.Path, nargs="?")
    parser.add_argument("--build", type=pathlib.Path, default=pathlib.Path("build/release"))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=1)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    parser.add_argument("-h", "--help", action="store_true")
    arguments = parser.parse_args()
    if arguments.help:
        print(__doc__)
        sys.exit(0)
    if arguments.against is None or arguments.rounds < 1:
        parser.error("--against BUILD is needed, and at least one round")
    return arguments


def main():
    arguments = parse_arguments()
    builds = (arguments.build.resolve(), arguments.against.resolve())
    for build in builds:
        if not (build / "lib/iwarp-verbs/libibverbs.so.1").exists():
            sys.exit(f"bench: {build} has no libraries for verbs programs: cmake --build it")
    program = builds[0] / "bench/verbs/verbs_bench"
    rows = [row for row in all_rows() if all(word in row.name.replace(",", "").split() for word in arguments.only.split())]
    print(f"{'':36} {'this':>12} {'other':>12} {'ratio':>7}   middle half")
    results = []
    try:
        for row in rows:
            results.append(compare(row, program, builds, arguments))
            print_row(results[-1])
    except (Failed, subprocess.TimeoutExpired, OSError) as why:
        print(f"bench: {why}", file=sys.stderr)
        sys.exit(2)
    if arguments.json:
        arguments.json.write_text(json.dumps(results, indent=2) + "\n", encoding="utf-8")
    sys.exit(any(result["ratio"] < LEAST for result in results))


if __name__ == "__main__":
    main()
