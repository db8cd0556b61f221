#!/usr/bin/env python3
"""The arithmetic of a row: medians, quartiles, ratios of neighbours, targets, noise."""

import types
import unittest

from of_bench import Nowhere
import measure
from distance import step
from flows import Flow, Sample
from rows import Row

OPTIONS = types.SimpleNamespace(rounds=4, slice=0.1)


class Played(Flow):
    """Does what is written down."""

    def __init__(self, name, values, cpu=None, percentiles=None, alike=True):
        super().__init__(Nowhere(), {})
        self.name, self.family, self.alike = name, name.split()[0], alike
        self.values, self.cpu, self.percentiles = iter(values), cpu, percentiles
        self.running = False

    def start(self):
        self.running = True

    def stop(self):
        self.running = False

    def run(self, seconds):
        assert self.running
        value = next(self.values)
        if isinstance(value, Exception):
            raise value
        percentiles = self.percentiles and {name: share * value for name, share in self.percentiles.items()}
        return Sample(value, self.cpu, percentiles)


def row_of(ours, raw=(), others=(), figure="octets", **rest):
    row = Row("row", "A row", Nowhere, figure, [], **rest)
    row.flows = lambda place, builds: (ours, list(raw), list(others))
    return row


def result_of(*flows, stolen=0, **rest):
    before = measure.stolen_time
    times = iter([(0, 0), (stolen, 100)])
    measure.stolen_time = lambda: next(times)
    try:
        return measure.measure(row_of(*flows, **rest), Nowhere(), {}, OPTIONS)[0]
    finally:
        measure.stolen_time = before


class Quartiles(unittest.TestCase):
    def test_include_the_ends(self):
        self.assertEqual(measure.quartiles([4, 1, 3, 2, 5]), (2, 4))

    def test_of_one_value_are_that_value(self):
        self.assertEqual(measure.quartiles([7]), (7, 7))


class Rates(unittest.TestCase):
    def test_ratios_are_those_of_neighbouring_slices(self):
        ours, raw = [1, 2, 3, 4], [2, 4, 6, 8]  # a machine that grows faster
        result = result_of([Played("ours", ours)], [Played("raw spin 1", raw)])
        self.assertEqual((result["ratio"], result["ratio_quartiles"]), (0.5, (0.5, 0.5)))

    def test_the_best_raw_counts(self):
        result = result_of([Played("ours", [8] * 4)],
                           [Played("raw spin 1", [4] * 4), Played("raw spin 2", [16] * 4)])
        self.assertEqual((result["raw"], result["ratio"]), ("raw spin 2", 0.5))

    def test_of_many_raw_variants_the_two_best_are_kept_and_the_others_are_stopped(self):
        raw = [Played(f"raw spin {value}", [value] * 6) for value in (1, 3, 4, 2)]
        result = result_of([Played("ours", [2] * 4)], raw)
        self.assertEqual([flow["name"] for flow in result["flows"]], ["ours", "raw spin 4", "raw spin 3"])
        self.assertFalse(any(flow.running for flow in raw))

    def test_processor_time(self):
        result = result_of([Played("ours", [1] * 4, cpu=3)], [Played("raw spin 1", [1] * 4, cpu=2)],
                           [Played("ucx tag_bw", [2] * 4)])
        self.assertEqual(result["cpu_ratio"], 1.5)
        self.assertEqual([flow["cpu"] for flow in result["flows"]], [3, 2, None])

    def test_unknown_processor_time_has_no_ratio(self):
        result = result_of([Played("ours", [1] * 4, cpu=3)], [Played("raw spin 1", [1] * 4, cpu=0)])
        self.assertIsNone(result["cpu_ratio"])

    def test_ahead_is_of_what_does_the_same(self):
        result = result_of([Played("ours", [4] * 4)], [], [Played("ucx tag_bw", [2] * 4),
                                                           Played("libfabric", [1] * 4, alike=False)])
        self.assertEqual(result["ahead"], {"ucx tag_bw": 2})
        self.assertNotIn("ratio", result)

    def test_all_flows_end_when_one_fails(self):
        flows = [Played("ours", [1] * 4), Played("raw spin 1", [1, RuntimeError("gone")])]
        with self.assertRaises(RuntimeError):
            result_of([flows[0]], [flows[1]])
        self.assertFalse(any(flow.running for flow in flows))


class Latencies(unittest.TestCase):
    def result(self, **rest):
        percentiles = {"median": 1, "p99": 10}
        return result_of([Played("ours", [5, 6, 7, 8], percentiles=percentiles)],
                         [Played("raw spin 64", [4, 5, 6, 7]), Played("raw spin 9", [9] * 4)],
                         [Played("ucx tag_lat", [13] * 4)], figure="latency", **rest)

    def test_less_is_better(self):
        result = self.result()
        self.assertEqual((result["raw"], result["above_raw"]), ("raw spin 64", 1))
        self.assertEqual(result["ahead"], {"ucx tag_lat": 2})

    def test_percentiles_are_medians_over_the_rounds(self):
        self.assertEqual(self.result()["flows"][0]["percentiles"], {"median": 6.5, "p99": 65})
        self.assertEqual(self.result()["flows"][1]["percentiles"], {})

    def test_targets(self):
        for targets, met in (({"most_above": 1.0}, True), ({"most_above": 0.9}, False),
                             ({"most_ratio": {"cubic": 1.3}}, True),
                             ({"most_ratio": {"cubic": 1.1}}, False),
                             ({"most_ratio": {"cubic": 1.3}, "most_above": 0.9}, False),
                             ({"most_ratio": {"bbr": 1.1}}, None)):
            with self.subTest(targets=targets):
                self.assertIs(self.result(**targets)["met"], met)


class Targets(unittest.TestCase):
    def test_of_rates_are_lower_bounds(self):
        for least, met in ((0.5, True), (0.51, False)):
            result = result_of([Played("ours", [1] * 4)], [Played("raw spin 1", [2] * 4)],
                               least={"cubic": least})
            self.assertEqual((result["targets"], result["met"]), ({"least": least}, met))

    def test_of_processor_times(self):
        for most, met in ((1.5, True), (1.4, False)):
            result = result_of([Played("ours", [1] * 4, cpu=3)], [Played("raw spin 1", [2] * 4, cpu=2)],
                               most_cpu=most)
            self.assertEqual((result["targets"], result["met"]), ({"most_cpu": most}, met))

    def test_of_processor_times_that_are_not_known(self):
        result = result_of([Played("ours", [1] * 4, cpu=3)], [Played("raw spin 1", [2] * 4)], most_cpu=9)
        self.assertIs(result["met"], False)

    def test_of_rates_themselves_need_no_raw(self):
        for least, met in ((4, True), (5, False)):
            result = result_of([Played("ours", [4.5e6] * 4)], least_rate=least)
            self.assertEqual((result["targets"], result["met"]), ({"least_rate": least}, met))

    def test_cannot_be_met_without_raw(self):
        self.assertIsNone(result_of([Played("ours", [1] * 4)], least={"cubic": 0.5})["met"])


class Moved(measure.Unknown):
    """Distances that are written down."""

    def __init__(self, *nanoseconds):
        self.nanoseconds = iter(nanoseconds)

    def now(self):
        return next(self.nanoseconds)


class Distances(unittest.TestCase):
    def results(self, ours, raw, *nanoseconds, rounds=4):
        row = row_of([Played("ours", ours)], [Played("raw spin 1", raw)])
        options = types.SimpleNamespace(rounds=rounds, slice=0.1)
        return measure.measure(row, Nowhere(), {}, options, Moved(*nanoseconds))

    def test_each_has_a_result_of_its_own_the_nearest_first(self):
        far, near = [350] * 9, [60] * 9
        results = self.results([1, 1, 1, 4, 4, 4], [2, 2, 2, 5, 5, 5], *far, *near, rounds=6)
        self.assertEqual([(one["distance"], one["ratio"]) for one in results], [(0, 0.8), (3, 0.5)])

    def test_what_was_measured_while_it_changed_does_not_count(self):
        rounds = [60, 60, 350, 60, 60, 60, 60, 60, 60, 60, 60, 60]
        (result,) = self.results([1, 1, 1, 1], [9, 2, 2, 2], *rounds)
        self.assertEqual((result["ratio"], result["flows"][1]["values"]), (0.5, [2, 2, 2]))

    def test_goes_on_until_one_was_seen_often_enough(self):
        changing = [60, 350, 60] * 4
        (result,) = self.results([1] * 7, [4] * 4 + [2] * 3, *changing, *[60] * 9)
        self.assertEqual(result["ratio"], 0.5)

    def test_gives_up_in_the_end(self):
        with self.assertRaisesRegex(RuntimeError, "moved all the time"):
            self.results([1] * 12, [1] * 12, *[60, 350, 60] * 12)

    def test_steps_are_twice_as_far_each(self):
        for nanoseconds, at in ((0, 0), (40, 0), (63, 0), (95, 1), (130, 1), (200, 2), (350, 3)):
            self.assertEqual(step(nanoseconds), at)


class Noise(unittest.TestCase):
    def noisy(self, raw, stolen=0):
        return result_of([Played("ours", [1] * 4)], [Played("raw spin 1", raw)], stolen=stolen)["noisy"]

    def test_a_quiet_machine(self):
        self.assertFalse(self.noisy([10, 11, 10, 11], stolen=5))

    def test_raw_tcp_that_wanders(self):
        self.assertTrue(self.noisy([10, 14, 10, 14]))

    def test_time_that_the_host_took(self):
        self.assertTrue(self.noisy([10] * 4, stolen=6))


if __name__ == "__main__":
    unittest.main()
