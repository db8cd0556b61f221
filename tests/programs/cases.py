"""The verbs programs, what they are run with, and what they must show.

{host} and {port} are where the server listens, {dir} is the directory in which both ends run; the
file `source` is there. Every program is the one of its Debian package, unmodified.
"""

import os

import applications
from case import Case, IB, LOOPBACK
from checks import Never, Rows, SameFile, Shows
from rdma_core import KnownOutcomes


def single(command, *checks, **more):
    return Case(command, checks=checks, **more)


def rping(options, count, *checks, server="", **more):
    return Case(f"rping -c -a {{host}} -p {{port}} -C {count} {options}",
                server=f"rping -s -a {{host}} -p {{port}} {server or options}",
                checks=checks, label=f"rping {options} -C {count}" + (f" to {server}" if server else ""),
                **more)


def pings(count, clients=1):
    """What rping -v prints; it ends with 0 even if the peer leaves in the middle."""
    return (Shows("client", r"^ping data: rdma-ping-\d+: [A-Za-z\[\]\\^_`]+$", count * clients),
            Never("client", "data mismatch"))


def served(count):
    return (Shows("server", r"^server ping data: rdma-ping-\d+: ", count),)


def stats(end, *lines):
    """What --stats prints of one connection."""
    return tuple(Shows(end, rf"^iwarp: +{line}$", 1) for line in
                 (r"connection from \S+:\d+ to \S+:\d+ \(queue pair \d+\)",
                  r"sent +\d+ FPDUs, \d+ octets; received \d+ FPDUs, \d+ octets", *lines))


def ucmatose(options, **more):
    """Each end prints the first line before it moves data and the last one when all has come."""
    lines = (Shows(end, "^data transfers complete$", 1) for end in ("client", "server"))
    status = (Shows(end, "^return status 0$", 1) for end in ("client", "server"))
    return Case(f"ucmatose -s {{host}} -p {{port}} {options}",
                f"ucmatose -b {{host}} -p {{port}} {options}", checks=(*lines, *status), **more)


def streams(program, options, rows, **more):
    """A row for each size; with -T v both ends compare every octet."""
    checks = tuple(Shows(end, r"^\S+ +\S+ +\S+ +\S+ +\S+ +\d+\.\d+s +\d", rows)
                   for end in ("client", "server"))
    wrong = tuple(Never(end, "verification failed|rsend|rrecv|rconnect|raccept")
                  for end in ("client", "server"))
    return Case(f"{program} -s {{host}} -p {{port}} {options}",
                f"{program} -b {{host}} -p {{port}} {options}", checks=checks + wrong, figure=r"s +(\d+\.\d+) +\d+\.\d+$", unit="Gb/s", **more)


ALL_SIZES = tuple(2 ** power for power in range(1, 24))
# One row of perftest: size, iterations, then so many figures that cannot be zero; which of them the
# table shows.
BANDWIDTH = (2, r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[ \t]+([\d.]+)", "MB/s")
LATENCY = (4, r"^[ \t]*\d+[ \t]+\d+[ \t]+[\d.]+[ \t]+[\d.]+[ \t]+([\d.]+)", "us")


# Not with -e: perftest refuses Writes, as nothing arrives to wait for. Towards iWARP ib_send_bw has
# the other end grant credits by Writes, of which no completion tells. It sleeps until a completion
# comes, also when all it lacks is a credit, which it does at the last message at the latest, as it
# has no more receives than iterations: where the other end's program is slow to grant one it sleeps
# for ever.
NOT_WITH_EVENTS = ("write", "send")


def perftest(program, options="", connect="-R", sizes=None, iterations=1000, **more):
    columns, pattern, unit = LATENCY if program.endswith("_lat") else BANDWIDTH
    if sizes is None:
        sizes = (8,) if "atomic" in program else (65536,) if unit == "MB/s" else (2,)
    if "-a" in options.split():
        sizes = ALL_SIZES
    both = f"{program} {connect} -F -n {iterations} {options}".strip() + " -p {port}"
    # With -b or 16 queue pairs the iterations are counted together.
    counted = None if {"-b", "-q"} & set(options.split()) else iterations
    return Case(f"{both} {{host}}", both, checks=(Rows("client", sizes, counted, columns),),
                figure=pattern, unit=unit, label=f"{program} {connect} {options}".strip(), **more)


def fio(verb, *, server_verb="", size="64m", **more):
    """The client says what is done; what it moved is counted."""
    common = "--ioengine=rdma --port={port} --bs=64k --iodepth=8 --size=" + size
    return Case(f"fio --name=client {common} --hostname={{host}} --verb={verb} --rw=write",
                f"fio --name=server {common} --rw=read{server_verb and f' --verb={server_verb}'}",
                checks=(Shows("client", r"WRITE: bw=.*io=64\.0MiB"), Shows("client", r"err= 0"),
                        Shows("server", r"err= 0"), Never("client", "completion status")),
                figure=r"WRITE: bw=([\d.]+)([KMG]iB/s)",
                label=f"fio --ioengine=rdma --verb={verb}" + (server_verb and f", {server_verb}"), **more)


def qperf(*tests, **more):
    """Ends the server at the end. Each test prints its name and at least one figure."""
    named = tuple(Shows("client", rf"^{test}:\n +\w+ += +(?!0 )[\d.]+ \S+", 1) for test in tests)
    return Case("qperf {host} -lp {port} -cm1 -t 1 " + " ".join(tests) + " quit",
                "qperf -lp {port}",
                checks=named, figure=r"= +([\d.]+) (\S+)",
                label="qperf -cm1 " + " ".join(tests), **more)


def pingpong(program, options, octets, **more):
    """-c has both ends look at every octet that came; each prints how many there were."""
    both = f"{program} -g 0 -c {options} -p {{port}}"
    moved = tuple(Shows(end, rf"^{octets} bytes in [\d.]+ seconds", 1) for end in ("client", "server"))
    right = tuple(Never(end, "invalid data") for end in ("client", "server"))
    return Case(f"{both} {{host}}", both, checks=moved + right, figure=r"= ([\d.]+) (Mbit/sec)", **more)


def rdma_core(**more):
    """The tests of rdma-core itself, which connect both ends within a process or two of their own."""
    suite = os.path.join(os.path.dirname(os.path.abspath(__file__)), "rdma_core_suite.py")
    return Case(f"/usr/bin/python3 '{suite}' {{dir}}", checks=(KnownOutcomes(),),
                figure=r"^(\d+) passed, of \d+", unit="passed", label="rdma-core's own tests",
                places=(LOOPBACK,), **more)


CASES = (
    single("ibv_devices", Shows("client", r"^ +iwarp0\s+[0-9a-f]{16}$"), short=True),
    single("ibv_devinfo -v", Shows("client", r"transport:\s+iWARP \(1\)"),
           Shows("client", r"state:\s+PORT_ACTIVE \(4\)"),
           Shows("client", r"link_layer:\s+Ethernet"),
           Shows("client", r"GID\[\s*0\]:\s+\S+"), short=True),
    single("ibv_devinfo -v", Shows("client", r"transport:\s+InfiniBand \(0\)"), device_as=IB),

    rdma_core(seconds=120, short=True),

    rping("-v -V -S 4000", 100, *pings(100), *served(100), short=True, asan=True),
    rping("-v -V", 10, *pings(10),
          *stats("client", "did +20 Sends, 20 Receives; the peer 10 Writes, 10 Reads",
                 "Terminates +none", "end +.*ended by this side's program.*"),
          *stats("server", "did +20 Sends, 20 Receives, 10 Writes, 10 Reads; the peer nothing",
                 "Terminates +none", "end +.*ended by .*"), stats=True, short=True),
    rping("-v -V -d", 3, *pings(3), Shows("client", "rdma_connect successful", 1), asan=True),
    rping("-v -V -q", 20, *pings(20), *served(20), short=True, asan=True),
    # A persistent rping keeps the newest request only until its main thread has seen it: of two that
    # come together it would lose one and answer the other twice. So a client starts when the one
    # before is served; what it prints reaches us every 4,096 octets, hence the many pings.
    rping("-v -V", 500, *pings(500, clients=3), server="-P", clients=3, spaced="^ping data",
          stopped=True, short=True, asan=True),
    ucmatose("", short=True),
    ucmatose("-c 8 -C 100 -S 10000"),
    ucmatose("-c 2 -m"),
    Case("rdma_client -s {host} -p {port}", "rdma_server -s {host} -p {port}",
         checks=(Shows("client", "^rdma_client: end 0$", 1),
                 Shows("server", "^rdma_server: end 0$", 1)),
         short=True, asan=True),
    Case("rdma_xclient -s {host} -p {port} -c r", "rdma_xserver -p {port} -c r",
         checks=(Shows("client", "^rdma_xclient: end 0$", 1),
                 Shows("server", "^rdma_xserver: end 0$", 1))),

    # Without a size: eight of them, one with 100,000 exchanges.
    streams("rstream", "", 8, seconds=300),
    streams("rstream", "-T v -T b -S 60000 -C 200 -I 5", 1, short=True),
    streams("rstream", "-T v -T a -S 60000 -C 200 -I 5", 1),
    streams("rstream", "-T v -T n -S 60000 -C 200 -I 5", 1),
    streams("rstream", "-T r -S 4096 -C 200 -I 5", 1),
    streams("riostream", "", 8, seconds=300),
    streams("riostream", "-T v -S 60000 -C 200 -I 5", 1),
    Case("rcopy source {host}:copy -p {port}", "rcopy -p {port}", stopped=True,
         checks=(SameFile("source", "copy"), Shows("client", r"^\S*done$")),
         figure=r"= ([\d.]+) (Gb/sec)", short=True),

    *(perftest(f"ib_{verb}_bw", options,
               iterations=iterations,
               short=(verb, options) in (("write", ""), ("read", "-b"), ("send", "")),
               asan=options in ("", "-b", "-q 16"))
      for verb in ("write", "read", "send")
      for options, iterations in (("", 1000), ("-a", 200), ("-b", 1000), ("-e", 1000),
                                  ("-q 16", 200))
      if options != "-e" or verb not in NOT_WITH_EVENTS),
    *(perftest(f"ib_{verb}_lat", options, iterations=iterations, short=not options, asan=not options)
      for verb in ("write", "read", "send")
      for options, iterations in (("", 1000), ("-a", 200))),
    *(perftest(f"ib_{verb}_lat", "-e", short=verb == "send") for verb in ("read", "send")),
    *(perftest(program, options, short=(program, options) == ("ib_atomic_bw", ""), asan=True)
      for program in ("ib_atomic_bw", "ib_atomic_lat")
      for options in ("", "-A CMP_AND_SWAP")),
    perftest("ib_atomic_bw", "-q 16", iterations=200),

    *(fio(verb, short=verb == "write", asan=True) for verb in ("write", "read", "send")),
    fio("send", server_verb="recv"),

    qperf("rc_bw", "rc_lat", short=True),
    qperf("rc_bi_bw"),
    qperf("rc_rdma_read_bw", "rc_rdma_read_lat"),
    qperf("rc_rdma_write_bw", "rc_rdma_write_lat", "rc_rdma_write_poll_lat"),
    qperf("rc_compare_swap_mr", "rc_fetch_add_mr"),
    qperf("ver_rc_compare_swap", "ver_rc_fetch_add"),

    # Connected without rdma_cm: the programs exchange queue pair numbers and GIDs over a TCP connection of
    # their own. Each pingpong sends 4096 octets both ways, a thousand times.
    pingpong("ibv_rc_pingpong", "", 8192000, short=True),
    pingpong("ibv_rc_pingpong", "-e", 8192000),
    pingpong("ibv_rc_pingpong", "-N", 8192000),
    pingpong("ibv_rc_pingpong", "", 8192000, device_as=IB),
    pingpong("ibv_srq_pingpong", "", 8192000, short=True),
    pingpong("ibv_srq_pingpong", "-e", 8192000),
    *(perftest(f"ib_{verb}_{kind}", options, connect="-x 0", device_as=IB,
               short=(verb, kind) == ("write", "lat"))
      for verb in ("write", "read", "send")
      for kind, options in (("bw", ""), ("bw", "-q 16"), ("lat", ""))),
    perftest("ib_atomic_bw", connect="-x 0", device_as=IB),

    *applications.CASES,
)
