#!/usr/bin/env python3
"""The report: what stands around the table is kept, and it is made of saved figures alone."""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

import of_bench  # first: it says where the others are
import bench
import machine
import plots
import report

BENCH = pathlib.Path(bench.__file__)
PERCENTILES = {"min": 4, "median": 5, "p90": 6, "p99": 20, "p99.9": 50, "max": 900}


def flow(name, median, cpu=None, percentiles=None):
    return {"name": name, "family": name.split()[0], "median": median,
            "quartiles": [median * 0.9, median * 1.1], "cpu": cpu, "values": [median],
            "percentiles": percentiles or {}}


def result(row="loopback-write-64k", size=65536, congestion="bbr", **rest):
    told = {"row": row, "title": "Write of 64 KiB", "place": "loopback", "figure": "octets",
            "congestion": congestion, "distance": 1, "size": size, "curve": True, "stolen": 0, "noisy": False,
            "flows": [flow("ours", 3.2e9, 0.5), flow("raw spin 65536", 4e9, 0.4),
                      flow("raw spin packet", 3.9e9, 0.4), flow("ucx tag_bw", 2e9)],
            "raw": "raw spin 65536", "ratio": 0.8, "ratio_quartiles": [0.75, 0.85],
            "above_raw": -8e8, "cpu_ratio": 1.25, "ahead": {"ucx tag_bw": 1.6},
            "targets": {"least": 0.78}, "met": True, "seconds": 9}
    return told | rest


def latency(**rest):
    return result("ping-pong-64", 64, title="Send ping-pong of 64 B", figure="latency", curve=False,
                  flows=[flow("ours", 5, 10, PERCENTILES), flow("raw spin 64", 4, 9, PERCENTILES)],
                  raw="raw spin 64", ratio=1.25, above_raw=1.0, ahead={},
                  targets={"most_above": 0.25}, met=False, **rest)


def messages():
    told = result("messages-64", 64, figure="messages", flows=[flow("ours", 4e6, 0.6)], targets={},
                  met=None, ahead={})
    for name in ("raw", "ratio", "ratio_quartiles", "above_raw", "cpu_ratio"):
        del told[name]
    return told


def data_of(*results, problems=()):
    return {"machine": {"date": "2030-01-02", "cpu": "A processor", "processors": 2, "kernel": "6.1",
                        "pinned": {"client": 0, "server": 1}, "ucx": "1.13.1", "libfabric": None},
            "options": {"rounds": 5, "slice": 0.5, "congestion": ["bbr", "cubic"]},
            "results": list(results), "problems": list(problems)}


def line_of(one):
    return report.table([one]).splitlines()[-1]


class Table(unittest.TestCase):
    def test_a_rate(self):
        self.assertEqual(
            line_of(result()),
            "| Write of 64 KiB | loopback | bbr | 1 | 3.20 GB/s (2.88–3.52) | 4.00 GB/s, spin, 64 KiB | "
            "0.80 (0.75–0.85) | ≥ 0.78 | met | ucx tag_bw 1.60 | 1.25 |")

    def test_a_latency(self):
        self.assertEqual(
            line_of(latency()),
            "| Send ping-pong of 64 B | loopback | bbr | 1 | 5.00 us (4.50–5.50) | 4.00 us, spin, 64 B | "
            "1.25 (0.75–0.85), +1.00 us | ≤ +0.25 us | missed |  | 1.25 |")

    def test_a_row_without_raw_tcp(self):
        self.assertEqual(line_of(messages()), "| Write of 64 KiB | loopback | bbr | 1 | 4.00 M/s (3.60–4.40)"
                                              " |  |  |  |  |  |  |")

    def test_whole_packets_are_named(self):
        self.assertIn("3.90 GB/s, spin, whole packets |", line_of(result(raw="raw spin packet")))

    def test_noise_leaves_no_verdict(self):
        for met in (True, False, None):
            self.assertEqual(report.verdict(result(noisy=True, met=met)), "noisy")

    def test_congestion_controls_of_a_row_stand_together(self):
        results = [result(row, congestion=control) for control in ("bbr", "cubic") for row in "ab"]
        self.assertEqual([(one["row"], one["congestion"]) for one in report.in_order(results)],
                         [("a", "bbr"), ("a", "cubic"), ("b", "bbr"), ("b", "cubic")])

    def test_every_line_has_every_cell(self):
        lines = report.table([result(), latency(), messages()]).splitlines()
        self.assertEqual({line.count(" | ") for line in lines}, {len(report.HEADER) - 1})


class Top(unittest.TestCase):
    def test_says_what_was_measured_on_and_how(self):
        said = report.conditions(data_of(result()))
        for words in ("2030-01-02", "A processor, 2 processors, Linux 6.1", "UCX 1.13.1", "no libfabric",
                      "the client to processor 0, the server to processor 1", "bbr and cubic", "5 rounds",
                      "slice of 0.5 s"):
            self.assertIn(words, said)

    def test_counts_verdicts_and_names_what_is_missing(self):
        problem = {"row": "ping-pong-64", "congestion": "cubic", "error": "gone"}
        said = report.summary(data_of(result(), latency(), result("loopback-write-1m", noisy=True),
                                      messages(), problems=[problem]))
        self.assertEqual(said, "3 lines with a target: 1 met, 1 missed, 1 noisy. "
                               "Not measured: ping-pong-64 under cubic.")


    def test_counts_what_was_seen_at_the_least_distance(self):
        said = report.summary(data_of(result(distance=3, met=False), result(), result(distance=2, met=False)))
        self.assertEqual(said, "1 line with a target: 1 met, 0 missed, 0 noisy.")


class Markers(unittest.TestCase):
    TEXT = f"# By hand\n\nbefore\n\n{report.BEGIN}\nold | table\n{report.END}\n\nbehind\n"

    def test_keep_what_stands_around_them(self):
        self.assertEqual(report.replaced(self.TEXT, "new"),
                         f"# By hand\n\nbefore\n\n{report.BEGIN}\nnew\n{report.END}\n\nbehind\n")

    def test_stay_for_the_next_report(self):
        once = report.replaced(self.TEXT, "new")
        self.assertEqual(report.replaced(once, "new"), once)

    def test_must_be_there(self):
        for text in ("", "text", report.BEGIN, report.END, f"{report.END}\n{report.BEGIN}"):
            with self.assertRaises(report.Unusable):
                report.replaced(text, "new")

    def test_are_in_the_committed_report(self):
        committed = BENCH.parents[1] / "docs" / report.FILE
        report.split(committed.read_text(encoding="utf-8"), committed)


class Plots(unittest.TestCase):
    def plots(self):
        return {plot.name: plot for plot in plots.plots_of([result(), messages(), latency()])}

    def test_one_of_each_kind_for_a_place_and_a_congestion_control(self):
        self.assertEqual(list(self.plots()), ["rate-loopback-bbr", "cpu-loopback-bbr", "latency-loopback-bbr"])

    def test_rates_by_size_of_the_best_of_each_family(self):
        curves = self.plots()["rate-loopback-bbr"].panels[0].curves
        self.assertEqual(list(curves), ["ours", "raw", "ucx"])
        self.assertEqual([[round(number, 3) for number in point] for point in curves["ours"]],
                         [[64, 0.256, 0.23, 0.282], [65536, 3.2, 2.88, 3.52]])
        self.assertEqual(curves["raw"][0][:2], [65536, 4.0])

    def test_processor_time_only_where_it_is_known(self):
        curves = self.plots()["cpu-loopback-bbr"].panels[0].curves
        self.assertEqual(list(curves), ["ours", "raw"])
        self.assertEqual([[size, round(cpu, 3)] for size, cpu in curves["ours"]],
                         [[64, 9.375], [65536, 0.5]])

    def test_percentiles_without_the_maximum(self):
        panel, = self.plots()["latency-loopback-bbr"].panels
        self.assertEqual(panel.curves["raw"], [[0, 4], [1, 5], [2, 6], [3, 20], [4, 50]])

    def test_latencies_without_percentiles_draw_nothing(self):
        of_perftest = result("perftest-send-lat", 64, figure="latency", curve=False,
                             flows=[flow("ours", 5), flow("reference", 4, 9, PERCENTILES)])
        self.assertEqual(plots.plots_of([of_perftest]), [])
        drawn, = plots.plots_of([of_perftest, latency()])
        self.assertEqual(len(drawn.panels), 1)

    def test_rows_of_other_kinds_draw_nothing(self):
        self.assertEqual(plots.plots_of([result(curve=False)]), [])

    def test_a_script_has_all_data_in_itself(self):
        script = plots.script(self.plots()["rate-loopback-bbr"])
        self.assertIn("65536 4 3.6 4.4", script)
        self.assertIn('set output "rate-loopback-bbr.svg"', script)
        self.assertEqual(script.count("\nEND\n"), 3)


class Lines(unittest.TestCase):
    def test_say_whether_the_target_is_met(self):
        self.assertTrue(bench.line(result()).endswith("; at least 0.78: met"))
        self.assertTrue(bench.line(latency()).endswith("; at most +0.25 us: missed"))
        self.assertTrue(bench.line(result(noisy=True)).endswith(": met  NOISY"))
        self.assertNotIn("at least", bench.line(messages()))


class FromSavedFigures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        self.saved = self.top / "figures.json"
        self.saved.write_text(json.dumps(data_of(result(), latency())), encoding="utf-8")

    def run_bench(self, *options):
        return subprocess.run([sys.executable, BENCH, *options], capture_output=True, text=True,
                              timeout=60, check=False)

    def assert_wrong(self, sentence, *options):
        done = self.run_bench(*options)
        self.assertEqual(done.returncode, 2)
        self.assertIn(sentence, done.stderr)
        self.assertEqual(done.stdout, "")

    def test_prints_the_lines_again(self):
        done = self.run_bench("--from", self.saved)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(len(done.stdout.splitlines()), 2)

    @unittest.skipUnless(plots.available(), "gnuplot is not installed")
    def test_writes_the_report(self):
        path = self.top / "performance.md"
        path.write_text(f"by hand\n{report.BEGIN}\n{report.END}\nby hand too\n", encoding="utf-8")
        (self.top / "performance").mkdir()
        (self.top / "performance" / "rate-gone-bbr.svg").write_text("old", encoding="utf-8")
        self.assertEqual(self.run_bench("--from", self.saved, "--report", self.top).returncode, 0)
        text = path.read_text(encoding="utf-8")
        self.assertTrue(text.startswith("by hand\n") and text.endswith("by hand too\n"))
        drawn = sorted(file.name for file in (self.top / "performance").iterdir())
        self.assertEqual(drawn, ["cpu-loopback-bbr.svg", "latency-loopback-bbr.svg", "rate-loopback-bbr.svg"])
        for name in drawn:
            self.assertIn(f"(performance/{name})", text)
            self.assertIn("</svg>", (self.top / "performance" / name).read_text(encoding="utf-8"))

    @unittest.skipUnless(plots.available(), "gnuplot is not installed")
    def test_makes_a_file_where_there_is_none(self):
        self.assertEqual(self.run_bench("--from", self.saved, "--report", self.top / "new").returncode, 0)
        self.assertIn("| Write of 64 KiB |", (self.top / "new" / "performance.md").read_text(encoding="utf-8"))

    def test_refuses_a_file_without_markers_before_it_measures(self):
        (self.top / "performance.md").write_text("by hand", encoding="utf-8")
        sentence = "has no lines" if shutil.which("gnuplot") else "gnuplot is not installed"
        self.assert_wrong(sentence, "--report", self.top)

    def test_refuses_what_is_no_saved_run(self):
        self.assert_wrong("No such file", "--from", self.top / "nothing")
        self.saved.write_text("[]", encoding="utf-8")
        self.assert_wrong("was not written by --json", "--from", self.saved)
        self.saved.write_text("{", encoding="utf-8")
        self.assert_wrong("figures.json: ", "--from", self.saved)

    def test_refuses_wrong_numbers_and_names(self):
        for options in (("--rounds", "0"), ("--slice", "nan"), ("--only", "["), ("--only", "no such row"),
                        ("--from", self.saved, "--json", "x")):
            self.assert_wrong("bench: ", *options)


class MachineFacts(unittest.TestCase):
    def test_versions(self):
        self.assertEqual(machine.version_in("# Version 1.13.1\n# Git branch"), "1.13.1")
        self.assertEqual(machine.version_in("# Library version: 1.17.0\n"), "1.17.0")
        self.assertEqual(machine.version_in("fi_info: 1.17.1\nlibfabric: 1.17.0\n"), "1.17.0")
        self.assertIsNone(machine.version_in("nothing"))

    def test_are_complete(self):
        facts = machine.facts()
        self.assertEqual(facts.keys(), data_of()["machine"].keys())
        self.assertTrue(facts["cpu"])


if __name__ == "__main__":
    unittest.main()
