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
    name: str
    values: list = dataclasses.field(default_factory=list)
    cpu: list = dataclasses.field(default_factory=list)

    def add(self, sample):
        self.values.append(sample.value)
        self.cpu.append(sample.cpu)

    @property
    def median(self):
        return statistics.median(self.values)


class Measurement:
    """Of one row in one place."""

    def __init__(self, row, place, builds, options):
        self.row, self.options = row, options
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
            figures = {flow: Figures(flow.name) for flow in flows}
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
        ours = [figures[flow] for flow in self.ours]
        raw = [figures[flow] for flow in self.raw]
        others = [figures[flow] for flow in self.others]
        result = {"row": self.row.name, "title": self.row.title, "place": self.row.place.name,
                  "figure": self.row.figure, "stolen": stolen,
                  "flows": [{"name": one.name, "median": one.median,
                             "quartiles": quartiles(one.values),
                             "cpu": statistics.median(one.cpu), "values": one.values}
                            for one in (*ours, *raw, *others)]}
        noisy = stolen > STOLEN
        if raw:
            best = self.better(raw, key=lambda one: one.median)
            pairs = [mine / theirs for mine, theirs in zip(ours[0].values, best.values)]
            first, third = quartiles(best.values)
            noisy = noisy or (third - first) / best.median > NOISY
            result |= {"raw": best.name, "ratio": statistics.median(pairs),
                       "ratio_quartiles": quartiles(pairs),
                       "above_raw": statistics.median(
                           mine - theirs for mine, theirs in zip(ours[0].values, best.values)),
                       "cpu_ratio": (statistics.median(ours[0].cpu) / statistics.median(best.cpu)
                                     if statistics.median(best.cpu) else None)}
        result["ahead"] = {one.name: (ours[0].median / one.median) ** (1 if self.better is max else -1)
                           for one in (*ours[1:], *others)}
        result["noisy"] = noisy
        return result


def measure(row, place, builds, options):
    began = time.monotonic()
    result = Measurement(row, place, builds, options).run()
    result["congestion"] = place.congestion
    result["seconds"] = time.monotonic() - began
    return result
