"""One row of the table: a server, an attack, and what good clients notice of it.

Phases in which the server is attacked take turns with phases in which the same attackers attack a
sink instead, while the good clients go on with the server. So the difference between the two is the
server's, not the attackers'."""

import argparse
import statistics
import time

from assault import Assault, Sink
from good_clients import GoodClients
from procfs import Peaks, wait_until
from verdict import problems

WARM_SECONDS = 3
REHEARSAL_ATTACKERS = 60
QUIET_SECONDS = 1
APPROACH_SECONDS = 1


def figures(use):
    return {"rss": use.rss, "anonymous": use.anonymous, "threads": use.threads,
            "descriptors": use.descriptors}


class Siege:
    """Of one server by one attack."""

    def __init__(self, server, attack, program, options):
        self.server, self.attack, self.program, self.options = server, attack, program, options
        self.good = GoodClients(server, options.clients, options.patience)
        self.peak = {"rss": 0, "threads": 0, "descriptors": 0}
        self.rates, self.sink_rates, self.cuts, self.cpu, self.tallies = [], [], [], [], []

    def quiet_use(self):
        """With nobody there."""
        self.good.rest()
        time.sleep(QUIET_SECONDS)
        if not self.server.alive():
            return {}
        self.server.trim()
        time.sleep(QUIET_SECONDS)
        return figures(self.server.use())

    def done_well(self, begin, end):
        """How many operations the good clients have ended, and well, in that time."""
        return sum(not one.problem for one in self.good.between(begin, end))

    def measured(self, assault, least=0):
        """The good clients' operations a second while the attackers have taken up their places, and
        the attackers' count at both ends of that time, which is longer if there have to be so many
        operations."""
        time.sleep(APPROACH_SECONDS + self.options.attackers / self.options.rate)
        first, begin = assault.tally(), time.monotonic()
        time.sleep(self.options.seconds)
        wait_until(lambda: self.done_well(begin, time.monotonic()) >= least, self.options.patience)
        last, end = assault.tally(), time.monotonic()
        return self.done_well(begin, end) / (end - begin), first, last

    def attack_server(self):
        """The connections that the server cut off, a second."""
        peaks = Peaks(self.server.process.pid)
        peaks.start()
        assault = Assault(self.program, self.attack, self.server.speaks, self.server.port,
                          self.options)
        before, began = self.server.use(), time.monotonic()
        rate, first, last = self.measured(assault)
        if self.server.alive():
            self.cpu.append((self.server.use().cpu - before.cpu) / (time.monotonic() - began))
        self.tallies.append(assault.stop())
        peaks.stop()
        for name in self.peak:
            self.peak[name] = max(self.peak[name], getattr(peaks, name))
        self.rates.append(rate)
        self.cuts.append((last["cut_off"] - first["cut_off"]) / (last["seconds"] - first["seconds"]))
        return self.cuts[-1]

    def attack_sink(self, cuts):
        sink = Sink(self.program, cuts)
        assault = Assault(self.program, self.attack, self.server.speaks, sink.port, self.options,
                          blind=True)
        # A rate of nothing would tell nothing: on a machine that is busy one operation may be longer.
        self.sink_rates.append(self.measured(assault, least=1)[0])
        assault.stop()
        sink.stop()

    def rehearse(self):
        """What is made for the first peers of a kind, and kept, is no growth."""
        few = argparse.Namespace(**vars(self.options))
        few.attackers = min(few.attackers, REHEARSAL_ATTACKERS)
        assault = Assault(self.program, self.attack, self.server.speaks, self.server.port, few)
        time.sleep(WARM_SECONDS)
        assault.stop()

    def run(self):
        self.good.go_on()
        time.sleep(WARM_SECONDS)
        self.rehearse()
        before = self.quiet_use()
        self.good.go_on()
        began = time.monotonic()
        for _ in range(self.options.rounds):
            cuts = self.attack_server()
            if not self.server.alive():
                break
            self.attack_sink(cuts)
        ended = time.monotonic()
        self.good.finish()
        if self.server.alive():
            time.sleep(self.options.settle)
        return self.row(before, self.quiet_use(), self.good.between(began, ended + 10**6))

    def row(self, before, after, operations):
        failed = [one.problem for one in operations if one.problem]
        rate = statistics.median(self.rates)
        sink_rate = statistics.median(self.sink_rates or [0])
        row = {"server": self.server.name, "attack": self.attack,
               "attackers": self.options.attackers, "addresses": self.options.addresses,
               "share": rate / sink_rate if sink_rate else 0, "rate": rate, "sink_rate": sink_rate,
               "rates": self.rates, "sink_rates": self.sink_rates, "failed": len(failed),
               "problem": failed[0] if failed else "",
               "slowest": max((one.seconds for one in operations), default=0),
               "cpu": statistics.median(self.cpu or [0]), "cuts": statistics.median(self.cuts),
               "before": before, "peak": self.peak, "after": after or before,
               "alive": self.server.alive(), "tallies": self.tallies}
        row["problems"] = problems(row)
        return row


def besiege(kind, attack, build, directory, program, options):
    """The row of one server, which is started for it."""
    server = kind(build, directory, trims=True)
    try:
        return Siege(server, attack, program, options).run()
    finally:
        server.stop()
