"""The short form: some attackers for a moment each, one attack after the other against the same
server. It counts what came of it and judges no times, so that a slow machine changes nothing."""

import time

from assault import Assault
from good_clients import run
from procfs import MIB, Peaks, use_of, wait_until

LEAST_OPERATIONS = 2
LEAST_SECONDS = 0.5
WARM_OPERATIONS = 6
MOST_MEMORY = 256 * MIB  # beyond what the server has without attackers


def good_operations(server, count, patience, seconds=0.0):
    """So many operations at least, and as many as there is time for; the problems."""
    began, number, found = time.monotonic(), 0, []
    while number < count or time.monotonic() - began < seconds:
        done = run(server.good(0, number), server.environment, patience)
        number += 1
        if done.problem:
            found.append(f"a good operation failed: {done.problem}")
            break
    return found


def left_over(server, before, patience):
    """What the server still has some time after its attackers have gone."""
    def gone(what):
        return wait_until(lambda: getattr(use_of(server.process.pid), what)
                          <= getattr(before, what), patience)

    kept = [what for what in ("descriptors", "threads") if not gone(what)]
    now = use_of(server.process.pid)
    return [f"{getattr(now, what) - getattr(before, what)} {what} are left over" for what in kept]


def one_attack(server, attack, program, options, before):
    peaks = Peaks(server.process.pid, interval=0.1)
    peaks.start()
    assault = Assault(program, attack, server.speaks, server.port, options)
    # They have all come when each has had its turn, and not all of them need be let in.
    if not wait_until(lambda: assault.tally()["connects"] >= options.attackers, options.patience):
        assault.stop()
        return ["not all attackers could connect"]
    found = good_operations(server, LEAST_OPERATIONS, options.patience, LEAST_SECONDS)
    assault.stop()
    peaks.stop()
    if not server.alive():
        return [*found, f"the server has ended: {server.logged()[-400:]}"]
    grown = peaks.rss - before.rss
    if grown > MOST_MEMORY:
        found.append(f"its memory grew by {grown / MIB:.0f} MiB")
    return found + left_over(server, before, options.patience)


def rehearse(server, program, options):
    """What the server uses once it has all that it makes for its first peers, and for the first time
    that there are many; and the problems."""
    found = good_operations(server, WARM_OPERATIONS, options.patience)
    assault = Assault(program, server.rehearsal, server.speaks, server.port, options)
    wait_until(lambda: assault.tally()["connects"] >= options.attackers, options.patience)
    found += good_operations(server, WARM_OPERATIONS, options.patience)
    assault.stop()
    # What has just been left may be on its way out: the figures have to stand still.
    figures = list(range(5))

    def still():
        figures.append(server.use()[2:4])
        time.sleep(0.2)
        return len(set(figures[-5:])) == 1

    wait_until(still, options.patience)
    return server.use(), found


def besiege_shortly(kind, attacks, build, directory, program, options, report):
    """Whether all went well; `report` is called with each attack and its problems."""
    server = kind(build, directory)
    try:
        before, found = rehearse(server, program, options)
        report("(rehearsal)", found, 0.0)
        if found:
            return False
        well = True
        for attack in attacks:
            if attack in server.not_in_short:
                continue
            began = time.monotonic()
            found = one_attack(server, attack, program, options, before)
            report(attack, found, time.monotonic() - began)
            well = well and not found
            if not server.alive():
                return False
        return well
    finally:
        server.stop()
