"""The table: what is measured where, against what, and what is aimed at."""

import dataclasses
import typing

from flows import Channel, Fabric, Mpi, Ours, Perftest, Raw, Ucx
from places import Jumbo, Loopback, Standard
from sizes import K, M, words

SIZES = (64 * K, 100 * K, M, 7 * M)
CURVE = (64, K, 4 * K, 16 * K, 64 * K, 256 * K, M, 8 * M)  # of Writes: beside SIZES
RAW_SIZES = ("packet", 16 * K, 64 * K, 256 * K, M)
MANNERS = {"stable": ("stable buffers", "--stable-buffers"), "no-crc": ("without CRC", "--no-crc"),
           "markers": ("with Markers", "--markers"), "large": ("large FPDUs", "--max-fpdu 64K"),
           "large-no-crc": ("large FPDUs, without CRC", "--max-fpdu 64K --no-crc")}


@dataclasses.dataclass
class Row:
    """`ours` are options of `iwarp perf`; `raw` how raw TCP waits and its sizes, of which the best
    counts; `others` make what else is measured. What is aimed at: `least` is the ratio of rates
    under each congestion control, ours to raw; `most_ratio` the same of latencies, an upper bound;
    `most_above` what ours may be above raw, in microseconds one way; `most_cpu` the ratio
    of processor times; `least_rate` a rate of ours, in
    millions of messages a second. `size` is that of a message;
    `curve` tells whether the row is a point of the curves of sizes."""
    name: str
    title: str
    place: type
    figure: str
    ours: typing.Sequence[str]
    raw: typing.Sequence[tuple] = ()
    others: typing.Sequence[typing.Callable] = ()
    least: dict = dataclasses.field(default_factory=dict)
    most_ratio: dict = dataclasses.field(default_factory=dict)
    most_above: float | None = None
    most_cpu: float | None = None
    least_rate: float | None = None
    size: int = 0
    curve: bool = False

    def targets(self, congestion):
        """By name, those that there are under this congestion control."""
        all_targets = {"least": self.least.get(congestion),
                       "most_ratio": self.most_ratio.get(congestion),
                       "most_above": self.most_above, "most_cpu": self.most_cpu,
                       "least_rate": self.least_rate}
        return {name: bound for name, bound in all_targets.items() if bound is not None}

    def flows(self, place, builds):
        """Ours, raw, the others."""
        mine = [Ours(place, builds, self.figure, self.ours, build) for build in builds]
        raw = [Raw(place, builds, self.figure, wait, size) for wait, size in self.raw]
        return mine, raw, [make(place, builds) for make in self.others]


def spinning(sizes=RAW_SIZES):
    return [("spin", size) for size in sizes]


def ucx(figure, test, size):
    return lambda place, builds: Ucx(place, builds, figure, test, size)


def fabric(figure, size):
    return lambda place, builds: Fabric(place, builds, figure, size)


def depth_for(size):
    return str(max(2, min(64 if size >= K else 256, 16 * M // size)))


def name_of(size):
    return f"{size // K}k" if size >= K else f"{size}b"


def bulk(place, operation, sizes, least, others=(), manner=None, curve=False, most_cpu=None):
    """Rows of one operation, a size each. `least` is of SIZES; others only show what there is.
    `most_cpu` is of 1 MiB."""
    suffix, options = MANNERS[manner] if manner else ("", "")
    for size in sizes:
        yield Row(f"{place.name}-{operation}-{name_of(size)}" + (f"-{manner}" if manner else ""),
                  f"{operation.capitalize()} of {words(size)}" + (f", {suffix}" if manner else ""),
                  place, "octets",
                  ["--op", operation, "--size", str(size), "--depth", depth_for(size),
                   *options.split()],
                  spinning(), [make(size) for make in others], least if size in SIZES else {},
                  most_cpu=most_cpu if size == M else None, size=size, curve=curve)


def sizes_of_writes(place):
    """The smallest of the loopback is the row of messages."""
    return [size for size in sorted({*SIZES, *CURVE})
            if not (place is Loopback and size == CURVE[0])]


@dataclasses.dataclass
class OwnRow(Row):
    """Held against ours with other options."""
    reference: typing.Sequence[str] = ()
    reference_name: str = ""

    def references(self, place, builds):
        reference = Ours(place, builds, self.figure, self.reference)
        reference.name = self.reference_name
        reference.family = "reference"
        return [reference]

    def flows(self, place, builds):
        mine, _, others = super().flows(place, builds)
        return mine, self.references(place, builds), others


@dataclasses.dataclass
class PerftestRow(OwnRow):
    """`ours` is a program of perftest."""

    def flows(self, place, builds):
        mine = [Perftest(place, builds, self.figure, self.ours, self.size, build) for build in builds]
        return mine, self.references(place, builds), []


def own():
    """What ours is to ours."""
    write, promise = ("--op", "write"), "--stable-buffers"
    for name, title, least, ours, reference, against in (
            ("read-of-write", "Reads beside Writes", 0.97, ("--op", "read"), write, "Writes"),
            ("send-of-write", "Sends beside Writes", 0.97, ("--op", "send"), write, "Writes"),
            ("copied-of-stable", "Writes from memory that may change", 0.95, write,
             (*write, promise), "stable buffers"),
            ("markers-of-none", "Writes with Markers both ways", 0.90, (*write, "--markers"), write,
             "without Markers")):
        size = ["--size", str(M), "--depth", "16"]
        yield OwnRow(name, f"{title}, 1 MiB", Loopback, "octets", [*ours, *size],
                     least={"bbr": least, "cubic": least}, size=M, reference=[*reference, *size],
                     reference_name=against)


def perftests():
    """Verbs programs beside the stack's own interface."""
    for size in (64 * K, M):
        yield PerftestRow(f"perftest-write-bw-{name_of(size)}", f"ib_write_bw -R of {words(size)}",
                          Loopback, "octets", "ib_write_bw", least={"bbr": 0.97, "cubic": 0.97},
                          size=size, reference_name="iwarp perf",
                          reference=["--op", "write", "--size", str(size), "--depth", "128"])
    for operation in ("send", "write"):
        yield PerftestRow(f"perftest-{operation}-lat", f"ib_{operation}_lat -R of 64 B", Loopback,
                          "latency", f"ib_{operation}_lat", most_ratio={"bbr": 1.03, "cubic": 1.03},
                          size=64, reference=["--op", operation, "--size", "64"],
                          reference_name="iwarp perf")


def transfers():
    competitors = [lambda size: ucx("octets", "tag_bw", size),
                   lambda size: ucx("octets", "ucp_put_bw", size),
                   lambda size: fabric("octets", size)]
    for place, least in ((Loopback, {"bbr": 0.78, "cubic": 0.70}),
                         (Standard, {"bbr": 0.70, "cubic": 0.62}),
                         (Jumbo, {"bbr": 0.75, "cubic": 0.70})):
        others = competitors if place is not Jumbo else ()
        yield from bulk(place, "write", sizes_of_writes(place), least, others, curve=True,
                        most_cpu=1.35 if place is Loopback else None)
        yield from bulk(place, "send", SIZES, least)
    yield from bulk(Loopback, "read", (M,), {})
    yield from bulk(Loopback, "write", (M,), {}, manner="stable")
    yield from bulk(Loopback, "write", (M,), {"bbr": 0.93, "cubic": 0.85}, manner="no-crc")
    yield from bulk(Standard, "write", (M,), {"bbr": 0.78, "cubic": 0.68}, manner="no-crc")
    yield from bulk(Standard, "write", SIZES, {"bbr": 0.82, "cubic": 0.75}, manner="large")
    yield from bulk(Standard, "send", SIZES, {"bbr": 0.82, "cubic": 0.75}, manner="large")
    yield from bulk(Standard, "write", (M,), {"bbr": 0.90, "cubic": 0.85}, manner="large-no-crc")
    yield from bulk(Loopback, "write", (M,), {}, manner="markers")


def latencies():
    for size, most_above in ((64, 0.25), (4 * K, 0.9)):
        yield Row(f"ping-pong-{size}", f"Send ping-pong of {words(size)}", Loopback, "latency",
                  ["--op", "send", "--size", str(size)], [("spin", size)],
                  [ucx("latency", "tag_lat", size), fabric("latency", size)],
                  most_above=most_above, size=size)
    yield Row("ping-pong-64-events", "Send ping-pong of 64 B, with events", Loopback, "latency",
              ["--op", "send", "--size", "64", "--events"], [("epoll", 64)],
              most_ratio={"bbr": 1.10, "cubic": 1.10}, size=64)


def messages():
    yield Row("messages-64", "Writes of 64 B at depth 256", Loopback, "messages",
              ["--op", "write", "--size", "64", "--depth", "256"], (),
              [ucx("messages", "ucp_put_bw", 64)], size=64, curve=True)
    for length, title, least in ((1, "one by one", 4), (32, "lists of 32, a completion each", 16)):
        yield Row(f"messages-64-list-{length}", f"Writes of 64 B at depth 256, {title}", Loopback,
                  "messages", ["--op", "write", "--size", "64", "--depth", "256", "--list", str(length)],
                  (), [ucx("messages", "ucp_put_bw", 64)], least_rate=least, size=64)


@dataclasses.dataclass
class ChannelRow(Row):
    """`ours` is how many requests each client keeps unanswered."""

    def flows(self, place, builds):
        mine = [Channel(place, builds, "verbs", self.ours, build) for build in builds]
        return mine, [Channel(place, builds, "tcp", self.ours)], []


def channels():
    for outstanding, title in ((1, "one request"), (16, "16 requests")):
        yield ChannelRow(f"channels-{outstanding}", f"50 clients with a channel each, {title} at a time",
                         Loopback, "messages", outstanding, least={"bbr": 1.0, "cubic": 1.0})


@dataclasses.dataclass
class MpiRow(Row):
    """Held against Open MPI over libfabric's tcp provider. `ours` is the size of a message."""

    def flows(self, place, builds):
        def make(*how):
            return Mpi(place, builds, self.figure, self.ours, *how)

        return ([make("verbs", build) for build in builds], [make("libfabric tcp")],
                [make("MPI's own tcp")])


def mpi():
    for size in (8, 16 * K, 256 * K, 4 * M):
        yield MpiRow(f"mpi-ping-pong-{name_of(size)}", f"Open MPI, ping-pong of {words(size)}",
                     Standard, "latency", size, most_ratio={"bbr": 1.0, "cubic": 1.0}, size=size)
    yield MpiRow("mpi-stream-256k", "Open MPI, a stream of 256 KiB", Standard, "octets", 256 * K,
                 least={"bbr": 1.0, "cubic": 1.0}, size=256 * K)


ROWS = [*transfers(), *own(), *latencies(), *messages(), *channels(), *perftests(), *mpi()]
