#!/usr/bin/env python3
"""The table's rows."""

import collections
import re
import unittest

from of_bench import Nowhere
import places
from rows import CURVE, ROWS, ChannelRow, MpiRow, OwnRow, PerftestRow
from sizes import words

BUILDS = {"ours": "/build"}
OF_PERF = [row for row in ROWS if not isinstance(row, (ChannelRow, MpiRow, PerftestRow))]


class Rows(unittest.TestCase):
    def test_names_are_unique(self):
        counted = collections.Counter(row.name for row in ROWS)
        self.assertEqual([name for name, count in counted.items() if count > 1], [])

    def test_none_is_measured_twice(self):
        counted = collections.Counter((type(row), row.place, row.figure, row.size, str(row.ours)) for row in ROWS)
        self.assertEqual([what for what, count in counted.items() if count > 1], [])

    def test_every_place_is_known(self):
        self.assertEqual({row.place for row in ROWS} - set(places.PLACES.values()), set())

    def test_titles_are_unique_in_a_place(self):
        counted = collections.Counter((row.title, row.place) for row in ROWS)
        self.assertEqual([what for what, count in counted.items() if count > 1], [])

    def test_the_size_of_a_row_is_what_ours_is_told(self):
        for row in OF_PERF:
            self.assertEqual(row.ours[row.ours.index("--size") + 1], str(row.size), row.name)

    def test_every_place_has_the_whole_curve(self):
        for place in places.PLACES.values():
            sizes = {row.size for row in ROWS if row.curve and row.place is place}
            self.assertLessEqual(set(CURVE), sizes)

    def test_a_point_of_the_curve_is_there_once(self):
        counted = collections.Counter((row.place, row.size) for row in ROWS if row.curve)
        self.assertEqual(set(counted.values()), {1})

    def test_a_name_chooses_its_row_alone(self):
        for row in ROWS:
            found = [other.name for other in ROWS if re.search(f"^{row.name}$", other.name)]
            self.assertEqual(found, [row.name])

    def test_targets_have_a_raw_tcp_that_they_are_held_against(self):
        for row in ROWS:
            for congestion in ("bbr", "cubic"):
                if set(row.targets(congestion)) - {"least_rate"}:
                    _, raw, _ = row.flows(Nowhere(), BUILDS)
                    self.assertTrue(raw, row.name)

    def test_targets_point_the_right_way(self):
        for row in ROWS:
            names = set(row.targets("bbr")) | set(row.targets("cubic"))
            right = {"latency": {"most_ratio", "most_above"}, "octets": {"least", "most_cpu"},
                     "messages": {"least", "least_rate"}}
            self.assertLessEqual(names, right[row.figure])

    def test_all_flows_can_be_made(self):
        for row in ROWS:
            ours, raw, others = row.flows(Nowhere(), BUILDS)
            self.assertEqual(len(ours), 1)
            self.assertEqual(len(raw), 1 if isinstance(row, (ChannelRow, MpiRow, OwnRow)) else len(row.raw))
            self.assertEqual(len({flow.name for flow in (*ours, *raw, *others)}),
                             len(ours) + len(raw) + len(others), row.name)


class Sizes(unittest.TestCase):
    def test_in_words(self):
        self.assertEqual([words(size) for size in (64, 1000, 1024, 102400, 1 << 20, 7 << 20)],
                         ["64 B", "1000 B", "1 KiB", "100 KiB", "1 MiB", "7 MiB"])


if __name__ == "__main__":
    unittest.main()
