"""One row of the table: all flows in turn, round after round."""

import dataclasses
import statistics
import time

RAW_KEPT = 2  # variants of raw TCP that are measured in each round
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
    """Of one flow."""
    flow: object
    samples: list = dataclasses.field(default_factory=list)

    def add(self, sample):
        self.samples.append(sample)

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


def beside_raw(ours, raw):
    """What ours is to raw TCP: each value to its neighbour of the same round."""
    ratios = [mine / theirs for mine, theirs in zip(ours.values, raw.values)]
    above = [mine - theirs for mine, theirs in zip(ours.values, raw.values)]
    return {"raw": raw.flow.name, "ratio": statistics.median(ratios),
            "ratio_quartiles": quartiles(ratios), "above_raw": statistics.median(above),
            "cpu_ratio": ours.cpu / raw.cpu if ours.cpu is not None and raw.cpu else None}


def is_met(targets, result):
    """None if there is no target, or nothing to hold it against."""
    if not targets or "ratio" not in result:
        return None
    held = {"least": lambda bound: result["ratio"] >= bound,
            "most_ratio": lambda bound: result["ratio"] <= bound,
            "most_above": lambda bound: result["above_raw"] <= bound}
    return all(held[name](bound) for name, bound in targets.items())


class Measurement:
    """Of one row in one place."""

    def __init__(self, row, place, builds, options):
        self.row, self.place, self.options = row, place, options
        self.ours, self.raw, self.others = row.flows(place, builds)
        self.others = [one for one in self.others if not one.missing]
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
            for _ in range(self.options.rounds):
                for flow in flows:
                    figures[flow].add(flow.run(self.options.slice))
            stolen_now, ticks_now = stolen_time()
            share = (stolen_now - stolen) / max(ticks_now - ticks, 1)
            return self.result(figures, share)
        finally:
            for flow in running:
                flow.stop()

    def result(self, figures, stolen):
        ours, *beside = [figures[flow] for flow in self.ours]
        raw = [figures[flow] for flow in self.raw]
        others = [figures[flow] for flow in self.others]
        targets = self.row.targets(self.place.congestion)
        result = {"row": self.row.name, "title": self.row.title, "place": self.row.place.name,
                  "congestion": self.place.congestion, "figure": self.row.figure,
                  "size": self.row.size, "curve": self.row.curve, "stolen": stolen,
                  "flows": [one.told() for one in (ours, *beside, *raw, *others)]}
        noisy = stolen > STOLEN
        if raw:
            best = self.better(raw, key=lambda one: one.median)
            first, third = quartiles(best.values)
            noisy = noisy or (third - first) / best.median > NOISY
            result |= beside_raw(ours, best)
        result["ahead"] = {one.flow.name: self.ahead(ours, one) for one in (*beside, *others)
                           if one.flow.alike}
        return result | {"targets": targets, "met": is_met(targets, result), "noisy": noisy}

    def ahead(self, ours, other):
        """Above 1 if ours is better."""
        ratio = ours.median / other.median
        return ratio if self.better is max else 1 / ratio


def measure(row, place, builds, options):
    began = time.monotonic()
    result = Measurement(row, place, builds, options).run()
    result["seconds"] = time.monotonic() - began
    return result
