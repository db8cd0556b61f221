"""Measures `iwarp perf` on an adapter, Linux siw in a guest, beside perftest on the same one, in turns; and the software
stack beside both in that guest.

usage: scripts/bench --rnic [options]
  --build BUILD    our programs (build/release)
  --rounds N       measurements of each of the two and row (5)
  --seconds S      of each measurement (3)
  --only WORDS     only rows whose names have all of these words, such as "send 64K"
  --json FILE      also write all figures to FILE
  -h, --help       this text

Each row is a ratio of the first to the second: of octets a second, above 1 is better, or of the latency, below 1 is
better. It is the median of the ratios of the rounds; the range is that of their middle half. `perf` and perftest share
the adapter and its kernel, and both post one request at a time, which siw likes best; the software stack gets as many as
there is room for. What differs is what this stack puts on a message's way to them. The guest's processors are emulated:
only what is measured there may be compared with it.

Exit status: 0 measured, 1 a measurement failed, 2 wrong usage. A slow row is not a failure."""

import argparse
import dataclasses
import json
import pathlib
import re
import statistics
import sys
import tempfile

TOP = pathlib.Path(__file__).resolve().parents[1]
sys.path.insert(0, str(TOP / "tests" / "interop"))

from guest import LIBRARIES, Guest, GuestError, UserNetwork, bring, find_program  # noqa: E402  (not a package)

ADAPTER = "rnic:siw0"
SOFTWARE = "soft"
PERFTEST = "perftest"
PORT = 7471
DEPTH = 16
POSTING = {ADAPTER: " --list 1", SOFTWARE: ""}


class Failed(Exception):
    pass


OPS = ("write", "send", "read")


@dataclasses.dataclass(frozen=True)
class Row:
    """What is measured, and on which device `iwarp perf` is held against what."""

    op: str
    latency: bool
    device: str
    against: str

    @property
    def name(self):
        return f"{self.op} {'64, latency' if self.latency else '64K'}, {self.device} to {self.against}"


def all_rows():
    for device, against in ((ADAPTER, PERFTEST), (SOFTWARE, ADAPTER)):
        for latency in (False, True):
            yield from (Row(op, latency, device, against) for op in OPS)


def served(server, ready, client):
    """A shell line: the client's output, and the server's if the client fails."""
    return (f"{server} >served.log 2>&1 & server=$!; for i in {{1..100}}; do ss -Htln | grep -q ':{ready} ' && break; "
            f"sleep 0.05; done; {client}; status=$?; kill $server 2>/dev/null; wait $server; "
            "[[ $status = 0 ]] || cat served.log; exit $status")


class Measurer:
    """Runs measurements in the guest."""

    def __init__(self, guest, seconds):
        self.guest = guest
        self.seconds = seconds
        self.address = guest.network.guest_address

    def run(self, name, line):
        status, output = self.guest.start(name, line, seconds=60 + 4 * self.seconds).wait(90 + 4 * self.seconds)
        if status != 0:
            raise Failed(f"{name} ended with {status}: {output.strip()[-400:]}")
        return output

    def figure(self, row, contestant):
        """Octets a second, or the latency in microseconds: of both programs the median, one way."""
        return self.perftest(row) if contestant == PERFTEST else self.perf(row, contestant)

    def perf(self, row, device):
        perf = f"LD_LIBRARY_PATH=/host/{LIBRARIES} ./iwarp perf"
        options = "--size 64 --latency" if row.latency else f"--size 64K --depth {DEPTH}{POSTING[device]}"
        output = self.run("perf", served(f"{perf} server --device {device} --listen {self.address}:{PORT}", PORT,
                                         f"{perf} {self.address}:{PORT} --device {device} --op {row.op} {options} "
                                         f"--duration {self.seconds} --json"))
        figures = json.loads(output)["ours"]
        return figures["latency_us"]["median"] if row.latency else figures["bytes_per_second"]

    def perftest(self, row):
        """It has 2^20 octets in a MB, and a median only where it counts."""
        program = (f"ib_{row.op}_lat -s 64 -n {1000 * self.seconds}" if row.latency
                   else f"ib_{row.op}_bw -s 65536 -t {DEPTH} -D {self.seconds}")
        common = f"{program} -R -F -d {ADAPTER.removeprefix('rnic:')} -p {PORT}"
        output = self.run("perftest", served(common, PORT, f"{common} {self.address}"))
        figures = re.search(r"^\s*(?:64|65536)\s+\d+\s+([\d.]+)\s+([\d.]+)\s+([\d.]+)", output, re.MULTILINE)
        if figures is None:
            raise Failed(f"{program}: {output.strip()[-400:]}")
        return float(figures[3]) if row.latency else float(figures[2]) * (1 << 20)


def compare(row, measurer, rounds):
    """The figures of both, round by round; which one begins alternates."""
    ours, theirs = [], []
    for turn in range(rounds):
        steps = [(ours, row.device), (theirs, row.against)]
        for figures, contestant in steps if turn % 2 == 0 else reversed(steps):
            figures.append(measurer.figure(row, contestant))
    return ours, theirs


def line_of(row, ours, theirs):
    ratios = sorted(mine / other for mine, other in zip(ours, theirs))
    quarter = len(ratios) // 4
    unit, scale = ("us", 1.0) if row.latency else ("MB/s", 1e6)
    return (f"{row.name:36} {statistics.median(ours) / scale:10.1f} {statistics.median(theirs) / scale:10.1f} {unit:5}"
            f"{statistics.median(ratios):7.2f}   {ratios[quarter]:.2f} to {ratios[-1 - quarter]:.2f}")


def parse_arguments(words):
    if "-h" in words or "--help" in words:
        print(__doc__)
        sys.exit(0)
    parser = argparse.ArgumentParser(prog="bench --rnic", add_help=False, usage="scripts/bench --rnic --help explains")
    parser.add_argument("--rnic", action="store_true")
    parser.add_argument("--build", type=pathlib.Path, default=TOP / "build" / "release")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=int, default=3)
    parser.add_argument("--only", default="")
    parser.add_argument("--json", type=pathlib.Path)
    arguments = parser.parse_args(words)
    if arguments.rounds < 1 or arguments.seconds < 1:
        parser.error("--rounds and --seconds are at least 1")
    return arguments


def measure_all(chosen, arguments, share):
    """All figures by row; prints a line for each as it comes."""
    found = {}
    bring([find_program(arguments.build, "iwarp")], share)
    limit = 120 + len(chosen) * arguments.rounds * (180 + 8 * arguments.seconds)
    with Guest(share, "", UserNetwork(), limit) as guest:
        measurer = Measurer(guest, arguments.seconds)
        print(f"{'row':36} {'first':>10} {'second':>10} {'':5}{'ratio':>7}   middle half", flush=True)
        for row in chosen:
            ours, theirs = compare(row, measurer, arguments.rounds)
            print(line_of(row, ours, theirs), flush=True)
            found[row.name] = {"ours": ours, "theirs": theirs, "unit": "us" if row.latency else "octets_per_second"}
    return found


def main():
    arguments = parse_arguments(sys.argv[1:])
    chosen = [row for row in all_rows() if all(word in row.name for word in arguments.only.split())]
    if not chosen:
        print(f"bench --rnic: no row has all of the words '{arguments.only}'", file=sys.stderr)
        return 2
    try:
        with tempfile.TemporaryDirectory(prefix="iwarp-bench.") as share:
            found = measure_all(chosen, arguments, pathlib.Path(share))
    except (Failed, GuestError) as failure:
        print(f"bench --rnic: {failure}", file=sys.stderr)
        return 1
    if arguments.json:
        arguments.json.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
