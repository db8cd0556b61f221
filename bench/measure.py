"""One row of the table: all flows in turn, round after round, each at a known distance between the
processors of the two ends."""

import dataclasses
import statistics
import time

from distance import Unknown, step

RAW_KEPT = 2  # variants of raw TCP that are measured in each round
LEAST_PAIRS = 3  # neighbours that a distance has to have been seen with to count
MORE = 3  # times as many rounds at most, if none was
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
class Figures:
    """Of one flow: a sample of each round, or None if the distance changed meanwhile."""
    flow: object
    samples: list = dataclasses.field(default_factory=list)
    steps: list = dataclasses.field(default_factory=list)

    def add(self, sample, at):
        self.samples.append(sample)
        self.steps.append(at)

    def at(self, distance):
        """Those of one distance."""
        chosen = [sample for sample, at in zip(self.samples, self.steps) if at == distance]
        return Figures(self.flow, chosen, [distance] * len(chosen))

    def pairs(self, other, distance):
        """Values of this flow and another one in the same round, at that distance both."""
        return [(mine.value, theirs.value)
                for mine, here, theirs, there in zip(self.samples, self.steps,
                                                     other.samples, other.steps)
                if here == there == distance]

    @property
    def values(self):
        return [sample.value for sample in self.samples]

    @property
    def median(self):
        return statistics.median(self.values)

    @property
    def cpu(self):
        """None if it is not known."""
        known = [sample.cpu for sample in self.samples if sample.cpu is not None]
        return statistics.median(known) if known else None

    @property
    def percentiles(self):
        """The median over the samples of each; none of what is no latency."""
        known = [sample.percentiles for sample in self.samples if sample.percentiles]
        names = known[0] if known else ()
        return {name: statistics.median(one[name] for one in known) for name in names}

    def told(self):
        return {"name": self.flow.name, "family": self.flow.family, "median": self.median,
                "quartiles": quartiles(self.values), "cpu": self.cpu, "values": self.values,
                "percentiles": self.percentiles}


def beside_raw(ours, raw, distance):
    """What ours is to raw TCP: each value to its neighbour of the same round."""
    pairs = ours.pairs(raw, distance)
    ratios = [mine / theirs for mine, theirs in pairs]
    above = [mine - theirs for mine, theirs in pairs]
    mine, theirs = ours.at(distance).cpu, raw.at(distance).cpu
    return {"raw": raw.flow.name, "ratio": statistics.median(ratios),
            "ratio_quartiles": quartiles(ratios), "above_raw": statistics.median(above),
            "cpu_ratio": mine / theirs if mine is not None and theirs else None}


def distances_seen(figures, least):
    """Those at which the first flow has been measured beside every other one, the nearest first."""
    first, *others = figures
    return sorted(distance for distance in set(first.steps) - {None}
                  if all(len(first.pairs(other, distance)) >= least for other in (first, *others)))


def is_met(targets, result):
    """None if there is no target, or nothing to hold it against."""
    if not targets or ("ratio" not in result and set(targets) != {"least_rate"}):
        return None
    held = {"least": lambda bound: result["ratio"] >= bound,
            "most_ratio": lambda bound: result["ratio"] <= bound,
            "most_above": lambda bound: result["above_raw"] <= bound,
            "most_cpu": lambda bound: (result["cpu_ratio"] or float("inf")) <= bound,
            "least_rate": lambda bound: result["flows"][0]["median"] >= bound * 1e6}
    return all(held[name](bound) for name, bound in targets.items())


class Measurement:
    """Of one row in one place."""

    def __init__(self, row, place, builds, options, distance):
        self.row, self.place, self.options, self.distance = row, place, options, distance
        self.ours, self.raw, self.others = row.flows(place, builds)
        self.others = [one for one in self.others if not one.missing]
        for one in self.ours:
            if one.missing:
                raise RuntimeError(f"{one.missing} is not installed")
        self.better = min if row.figure == "latency" else max

    def choose_raw(self):
        """The variants that do best; the others are seen no more."""
        if len(self.raw) <= RAW_KEPT:
            return
        seen = {}
        for flow in self.raw:
            seen[flow] = statistics.median(flow.run(self.options.slice).value for _ in range(2))
        kept = sorted(self.raw, key=seen.get, reverse=self.better is max)[:RAW_KEPT]
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
            figures = {flow: Figures(flow) for flow in flows}
            stolen, ticks = stolen_time()
            least = min(LEAST_PAIRS, self.options.rounds)
            for turn in range(MORE * self.options.rounds):
                if turn >= self.options.rounds and distances_seen(figures.values(), least):
                    break
                self.take_turn(figures)
            stolen_now, ticks_now = stolen_time()
            share = (stolen_now - stolen) / max(ticks_now - ticks, 1)
            distances = distances_seen(figures.values(), least)
            if not distances:
                raise RuntimeError("the processors were moved all the time: no distance was seen often")
            return [self.result(figures, share, distance) for distance in distances]
        finally:
            for flow in running:
                flow.stop()

    def take_turn(self, figures):
        now = step(self.distance.now())
        for flow, figure in figures.items():
            before, sample, now = now, flow.run(self.options.slice), step(self.distance.now())
            figure.add(sample, now if now == before else None)

    def result(self, figures, stolen, distance):
        """What was seen at one distance."""
        ours, *beside = [figures[flow] for flow in self.ours]
        raw = [figures[flow] for flow in self.raw]
        others = [figures[flow] for flow in self.others]
        targets = self.row.targets(self.place.congestion)
        result = {"row": self.row.name, "title": self.row.title, "place": self.row.place.name,
                  "congestion": self.place.congestion, "figure": self.row.figure,
                  "size": self.row.size, "curve": self.row.curve, "stolen": stolen,
                  "distance": distance,
                  "flows": [one.at(distance).told() for one in (ours, *beside, *raw, *others)]}
        noisy = stolen > STOLEN
        if raw:
            best = self.better(raw, key=lambda one: one.at(distance).median)
            here = best.at(distance)
            first, third = quartiles(here.values)
            noisy = noisy or (third - first) / here.median > NOISY
            result |= beside_raw(ours, best, distance)
        result["ahead"] = {one.flow.name: self.ahead(ours, one, distance)
                           for one in (*beside, *others) if one.flow.alike}
        return result | {"targets": targets, "met": is_met(targets, result), "noisy": noisy}

    def ahead(self, ours, other, distance):
        """Above 1 if ours is better."""
        ratio = statistics.median(mine / theirs for mine, theirs in ours.pairs(other, distance))
        return ratio if self.better is max else 1 / ratio


def measure(row, place, builds, options, distance=Unknown()):
    """A result for each distance at which the processors were long enough, the nearest first."""
    began = time.monotonic()
    results = Measurement(row, place, builds, options, distance).run()
    return [result | {"seconds": time.monotonic() - began} for result in results]
