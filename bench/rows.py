"""The table: what is measured where, against what, and what is aimed at."""

import dataclasses
import typing

from flows import Fabric, Ours, Raw, Ucx
from places import Jumbo, Loopback, Standard

K, M = 1 << 10, 1 << 20
SIZES = {"64 KiB": 64 * K, "100 KiB": 100 * K, "1 MiB": M, "7 MiB": 7 * M}
RAW_SIZES = ("packet", 16 * K, 64 * K, 256 * K, M)


@dataclasses.dataclass
class Row:
    """`ours` are options of `iwarp perf`; `raw` how raw TCP waits and its sizes, of which the best
    counts; `others` make what else is measured. `least` is the ratio aimed at under each congestion
    control, of rates; `most` what ours may be above raw, in microseconds one way."""
    name: str
    title: str
    place: type
    figure: str
    ours: typing.Sequence[str]
    raw: typing.Sequence[tuple] = ()
    others: typing.Sequence[typing.Callable] = ()
    least: dict = dataclasses.field(default_factory=dict)
    most: float | None = None

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
    return str(max(2, min(64, 16 * M // size)))


def bulk(place, operation, sizes, least, others=(), options=(), suffix=""):
    """Rows of one operation, a size each."""
    for title, size in sizes.items():
        yield Row(f"{place.name}-{operation}-{size // K}k{suffix}",
                  f"{operation.capitalize()} of {title}{suffix.replace('-', ', ')}", place, "octets",
                  ["--op", operation, "--size", str(size), "--depth", depth_for(size), *options],
                  spinning(), [make(size) for make in others], least)


def transfers():
    competitors = [lambda size: ucx("octets", "tag_bw", size),
                   lambda size: ucx("octets", "ucp_put_bw", size)]
    for place, least in ((Loopback, {"bbr": 0.78, "cubic": 0.70}),
                         (Standard, {"bbr": 0.70, "cubic": 0.62}),
                         (Jumbo, {"bbr": 0.75, "cubic": 0.70})):
        for operation in ("write", "send"):
            yield from bulk(place, operation, SIZES, least,
                            competitors if operation == "write" and place is not Jumbo else ())
    one = {"1 MiB": M}
    yield from bulk(Loopback, "read", one, {})
    yield from bulk(Loopback, "write", one, {}, options=["--stable-buffers"], suffix="-stable")
    yield from bulk(Loopback, "write", one, {"bbr": 0.93, "cubic": 0.85}, options=["--no-crc"],
                    suffix="-no-crc")
    yield from bulk(Standard, "write", one, {"bbr": 0.78, "cubic": 0.68}, options=["--no-crc"],
                    suffix="-no-crc")
    yield from bulk(Loopback, "write", one, {}, options=["--markers"], suffix="-markers")


def latencies():
    for title, size, most in (("64 B", 64, 0.25), ("4 KiB", 4 * K, 0.9)):
        yield Row(f"ping-pong-{size}", f"Send ping-pong of {title}", Loopback, "latency",
                  ["--op", "send", "--size", str(size)], [("spin", size)],
                  [ucx("latency", "tag_lat", size), fabric("latency", size)], most=most)
    yield Row("ping-pong-64-events", "Send ping-pong of 64 B, with events", Loopback, "latency",
              ["--op", "send", "--size", "64", "--events"], [("epoll", 64)],
              least={"bbr": 1.10, "cubic": 1.10})


def messages():
    yield Row("messages-64", "Writes of 64 B at depth 256", Loopback, "messages",
              ["--op", "write", "--size", "64", "--depth", "256"], (),
              [ucx("messages", "ucp_put_bw", 64)])


ROWS = [*transfers(), *latencies(), *messages()]
