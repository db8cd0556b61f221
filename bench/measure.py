"""One row of the table: all flows in turn, round after round, each at a known distance between the
processors of the two ends."""

import dataclasses
import statistics
import time

from distance import step

RAW_KEPT = 2  # variants of raw TCP that are measured in each round
LEAST_PAIRS = 3  # that a distance has to have been seen with to count
NOISY = 0.25  # of the middle half of what raw TCP does, through its median
STOLEN = 0.05  # of the processors' time


def quartiles(values):
    if len(values) < 2:
        return values[0], values[0]
    first, _, third = statistics.quantiles(values, n=4, method="inclusive")
    return first, third


def stolen_time():
    """Of all processors: what the host took, and all, in ticks."""
    with open("/proc/stat", encoding="ascii") as file:
        ticks = [int(word) for word in file.readline().split()[1:]]
    return ticks[7], sum(ticks[:8])


@dataclasses.dataclass
class Measured:
    """One sample, and at which step of distance; None if that changed meanwhile."""
    value: float
    cpu: float
    at: int | None


@dataclasses.dataclass
class Figures:
    """Of one flow, a sample for each round."""
    name: str
    samples: list = dataclasses.field(default_factory=list)

    def at(self, distance):
        return [one for one in self.samples if one.at == distance]

    def median(self, distance):
        return statistics.median(one.value for one in self.at(distance))

    def cpu(self, distance):
        return statistics.median(one.cpu for one in self.at(distance))

    def pairs(self, other, distance):
        """Values of the same round at the same distance, this flow's and the other's."""
        return [(mine.value, theirs.value) for mine, theirs in zip(self.samples, other.samples)
                if mine.at == theirs.at == distance]


def distances_seen(flows):
    """Those at which every flow was measured often enough, the nearest first."""
    steps = {one.at for one in flows[0].samples} - {None}
    return sorted(distance for distance in steps
                  if all(len(flow.at(distance)) >= LEAST_PAIRS
                         and len(flows[0].pairs(flow, distance)) >= LEAST_PAIRS
                         for flow in flows))


class Measurement:
    """Of one row in one place."""

    def __init__(self, row, place, builds, options, distance):
        self.row, self.options, self.distance = row, options, distance
        self.ours, self.raw, self.others = row.flows(place, builds)
        self.others = [one for one in self.others if not one.missing]
        self.better = min if row.figure == "latency" else max

    def sample(self, flow, before):
        """Measures once; returns what there was and the distance afterwards."""
        got = flow.run(self.options.slice)
        after = self.distance.now()
        steady = step(before) == step(after)
        return Measured(got.value, got.cpu, step(after) if steady else None), after

    def choose_raw(self):
        """The variants that do best, beside each other; the others are seen no more."""
        if len(self.raw) <= RAW_KEPT:
            return
        seen = {flow: [] for flow in self.raw}
        for _ in range(3):
            for flow in self.raw:
                seen[flow].append(flow.run(self.options.slice).value)
        best = self.better(seen, key=lambda flow: statistics.median(seen[flow]))
        left = [flow for flow in self.raw if flow is not best]
        kept = [best, self.better(left, key=lambda flow: statistics.median(seen[flow]))]
        for flow in self.raw:
            if flow not in kept:
                flow.stop()
        self.raw = kept

    def run(self):
        running = []
        try:
            for flow in (*self.ours, *self.raw, *self.others):
                flow.start()
                running.append(flow)
            self.choose_raw()
            flows = [*self.ours, *self.raw, *self.others]
            figures = {flow: Figures(flow.name) for flow in flows}
            stolen, ticks = stolen_time()
            now = self.distance.now()
            for _ in range(self.options.rounds):
                for flow in flows:
                    measured, now = self.sample(flow, now)
                    figures[flow].samples.append(measured)
            stolen_now, ticks_now = stolen_time()
            share = (stolen_now - stolen) / max(ticks_now - ticks, 1)
            return self.result(figures, share)
        finally:
            for flow in running:
                flow.stop()

    def result(self, figures, stolen):
        ours = [figures[flow] for flow in self.ours]
        raw = [figures[flow] for flow in self.raw]
        others = [figures[flow] for flow in self.others]
        distances = distances_seen([*ours, *raw, *others])
        result = {"row": self.row.name, "title": self.row.title, "place": self.row.place.name,
                  "figure": self.row.figure, "stolen": stolen,
                  "samples": {one.name: [dataclasses.astuple(sample) for sample in one.samples]
                              for one in (*ours, *raw, *others)},
                  "at": [self.at_distance(distance, ours, raw, others) for distance in distances]}
        result["noisy"] = stolen > STOLEN or not distances or result["at"][0]["noisy"]
        return result

    def at_distance(self, distance, ours, raw, others):
        """What was seen at one distance, where the first of ours is compared with the rest."""
        told = {"step": distance,
                "flows": [{"name": one.name, "median": one.median(distance),
                           "quartiles": quartiles([sample.value for sample in one.at(distance)]),
                           "cpu": one.cpu(distance)} for one in (*ours, *raw, *others)]}
        noisy = False
        if raw:
            best = self.better(raw, key=lambda one: one.median(distance))
            pairs = ours[0].pairs(best, distance)
            ratios = [mine / theirs for mine, theirs in pairs]
            first, third = quartiles([sample.value for sample in best.at(distance)])
            noisy = (third - first) / best.median(distance) > NOISY
            cpu = best.cpu(distance)
            told |= {"raw": best.name, "ratio": statistics.median(ratios),
                     "ratio_quartiles": quartiles(ratios),
                     "above_raw": statistics.median(mine - theirs for mine, theirs in pairs),
                     "cpu_ratio": ours[0].cpu(distance) / cpu if cpu else None}
        sign = 1 if self.better is max else -1
        told["ahead"] = {one.name: statistics.median(
            (mine / theirs) ** sign for mine, theirs in ours[0].pairs(one, distance))
            for one in (*ours[1:], *others)}
        told["noisy"] = noisy
        return told


def measure(row, place, builds, options, distance):
    began = time.monotonic()
    result = Measurement(row, place, builds, options, distance).run()
    result["congestion"] = place.congestion
    result["seconds"] = time.monotonic() - began
    return result
