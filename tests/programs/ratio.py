"""How much of the stack's own bandwidth a verbs program gets: ib_write_bw beside `iwarp perf`."""

import contextlib
import json
import re
import statistics
import subprocess

from cases import perftest
from exchange import Exchange

SIZE = 1 << 20
LEAST = 0.95
# A machine's speed may double from one second to the next, for raw TCP too: many short rounds, each of
# the program between two of our own, and the median of their ratios counts.
ROUNDS = 21
SECONDS = 1
ITERATIONS = 2500
MIB = 1 << 20


def own_bandwidth(iwarp):
    """Octets per second of `iwarp perf --op write`."""
    with subprocess.Popen([iwarp, "perf", "server", "--listen", "127.0.0.1:0"],
                          stdout=subprocess.PIPE, text=True) as server:
        try:
            address = server.stdout.readline().split()[-1]
            client = subprocess.run([iwarp, "perf", address, "--op", "write", "--size", str(SIZE),
                                     "--duration", str(SECONDS), "--json"],
                                    capture_output=True, text=True, timeout=60, check=True)
            return json.loads(client.stdout)["ours"]["bytes_per_second"]
        finally:
            server.terminate()
            with contextlib.suppress(subprocess.TimeoutExpired):
                server.wait(10)
            server.kill()


def programs_bandwidth(place, number):
    """Octets per second of ib_write_bw, or the sentence that says why there are none."""
    case = perftest("ib_write_bw", f"-s {SIZE}", sizes=(SIZE,), iterations=ITERATIONS)
    exchange = Exchange(case, place, place.directory(f"ratio-{number}"))
    result = exchange.run()
    if result.problem:
        return None, result.problem
    return float(re.match(r"[\d.]+", result.figure)[0]) * MIB, None


def compare(place):
    """(the ratio, what is wrong)"""
    rounds = []
    before = own_bandwidth(place.iwarp)
    for number in range(ROUNDS):
        programs, problem = programs_bandwidth(place, number)
        if problem:
            return 0.0, problem
        after = own_bandwidth(place.iwarp)
        rounds.append(programs / statistics.mean((before, after)))
        before = after
    ratio = statistics.median(rounds)
    if ratio >= LEAST:
        return ratio, None
    return ratio, f"less than {LEAST}; the rounds had " + ", ".join(f"{each:.2f}" for each in sorted(rounds))
