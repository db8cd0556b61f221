#!/usr/bin/env python3
"""The report of a run that never was: other programs must be able to read all of it, and nothing that a target says may
become markup. What tshark and a browser think of it is asked if they are installed."""

import html.parser
import json
import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree

FAKE_REPORT = os.environ.get("FAKE_REPORT", "fake-report")
PATIENCE = 120  # Seconds for anything that should take a moment.
MARKUP = ("</script><script>document.title='taken'</script><img src=x onerror=\"document.title='taken'\">"
          "'\"&amp;]]>{{data}}\\x1b[31m")  # As it is shown, with its escape character named.
CHROMIUM = shutil.which("chromium") or shutil.which("google-chrome")


class ReportTest(unittest.TestCase):
    kind = "small"

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="conform-report-")
        cls.addClassCleanup(scratch.cleanup)
        cls.folder = pathlib.Path(scratch.name) / "new" / "report"
        subprocess.run([FAKE_REPORT, cls.folder, cls.kind], check=True, timeout=PATIENCE)

    def text(self, name):
        return (self.folder / name).read_text(encoding="utf-8")

    def report(self):
        return json.loads(self.text("report.json"))

    def case(self, identity):
        return next(one for one in self.report()["cases"] if one["id"] == identity)


class JUnit(ReportTest):
    def setUp(self):
        self.root = xml.etree.ElementTree.fromstring(self.text("junit.xml"))

    def test_has_a_suite_per_layer_with_the_right_sums(self):
        self.assertEqual(self.root.tag, "testsuites")
        suites = {suite.get("name"): suite for suite in self.root}
        self.assertEqual(list(suites), ["rdmap", "ddp", "mpa"])
        for suite in suites.values():
            cases = suite.findall("testcase")
            self.assertEqual(int(suite.get("tests")), len(cases))
            for tag, attribute in (("failure", "failures"), ("error", "errors"), ("skipped", "skipped")):
                self.assertEqual(int(suite.get(attribute)), sum(one.find(tag) is not None for one in cases))
        self.assertEqual([self.root.get(name) for name in ("tests", "failures", "errors", "skipped")],
                         ["8", "3", "1", "2"])

    def test_tells_why_each_case_did_not_pass(self):
        cases = {one.get("name"): one for one in self.root.iter("testcase")}
        self.assertEqual(len(cases["rdmap.send.delivered"]), 0)
        self.assertEqual(cases["rdmap.atomic.add"].find("skipped").get("message"), "the target's agent has no atomic")
        self.assertEqual(cases["rdmap.terminate.code"].find("skipped").get("message"),
                         "known departure: sends another code")
        self.assertEqual(cases["mpa.crc.wrong"].find("error").get("message"), "cannot connect to the target")
        failure = cases["ddp.tagged.bounds"].find("failure")
        self.assertEqual(failure.get("type"), "fail")
        self.assertIn("; got the CRC is 0x12345678", failure.get("message"))
        self.assertIn("fpdu-received: Terminate (QN 2", cases["ddp.tagged.bounds"].find("system-out").text)

    def test_keeps_what_a_target_says_a_text(self):
        hostile = next(one for one in self.root.iter("testcase") if one.get("name") == "mpa.startup.hostile")
        self.assertIn(MARKUP, hostile.find("failure").get("message"))
        self.assertIn(MARKUP + "\\xff\\xc0", hostile.find("system-out").text)


class Json(ReportTest):
    def test_tells_the_run(self):
        report = self.report()
        self.assertEqual(report["tester"], "iwarp conform")
        self.assertEqual(report["version"], "1.2.3")
        self.assertEqual(report["target"], "the peer at 192.0.2.7:7471")
        self.assertEqual(report["started"], "2026-02-02T02:40:00.000Z")
        self.assertEqual(report["options"], {"revision": "2", "markers": "no"})
        self.assertEqual(report["counts"]["cases"], {"pass": 2, "fail": 3, "skip": 1, "departure": 1, "error": 1})
        self.assertEqual(report["counts"]["requirements"],
                         {"fail": 2, "pass": 1, "not run": 1, "unit": 1, "ulp": 1, "not met": 1})

    def test_tells_each_requirement_with_its_result(self):
        one = self.report()["requirements"][0]
        self.assertEqual((one["id"], one["rfc"], one["section"], one["level"], one["kind"], one["result"]),
                         ("5044-4.4-01", "5044", "4.4", "MUST", "wire", "fail"))
        self.assertEqual(one["cases"], ["ddp.tagged.bounds", "rdmap.send.delivered"])

    def test_tells_each_case_with_its_events(self):
        case = self.case("ddp.tagged.bounds")
        self.assertEqual(case["expected"], "an FPDU as RFC 5044 frames it")
        self.assertEqual(case["capture"], "ddp.tagged.bounds.pcapng")
        self.assertEqual(case["connections"], [{"tester": "192.0.2.1:40000", "target": "192.0.2.7:7471",
                                                "tester_connected": True}])
        write = next(event for event in case["events"] if event["kind"] == "fpdu-sent")
        self.assertEqual(write["summary"], "RDMA Write (STag 0x00001100, TO 0x00000000000020ff, 900 octets, last)")
        self.assertEqual(bytes.fromhex(write["octets"])[:8], bytes.fromhex("000000000392c140"))
        raw = next(event for event in case["events"] if event["kind"] == "raw-sent")
        self.assertNotIn("octets", raw)
        self.assertEqual(case["events"][-1]["kind"], "failure")


class PageParser(html.parser.HTMLParser):
    """The elements of the page, the content of its scripts, and whatever could load something."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.scripts, self.loads, self.title = [], [], [], ""
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        attributes = dict(attrs)
        if tag == "script":
            self.scripts.append([attributes.get("id"), ""])
        self.loads += [attributes[name] for name in ("src", "href", "data", "action") if name in attributes]

    def handle_data(self, data):
        if self.tags and self.tags[-1] == "script":
            self.scripts[-1][1] += data
        if self.tags and self.tags[-1] == "title":
            self.title += data


class Page(ReportTest):
    def setUp(self):
        self.page = PageParser(self.text("index.html"))

    def test_loads_nothing(self):
        self.assertEqual(self.page.loads, ["data:,"])
        self.assertNotIn("@import", self.text("index.html"))
        self.assertNotIn("url(", self.text("index.html"))

    def test_holds_its_data_in_one_element_whatever_the_target_says(self):
        self.assertEqual(self.page.tags, ["html", "head", "meta", "meta", "meta", "meta", "meta", "link", "title",
                                          "style", "body", "noscript", "div", "script", "script"])
        (name, content), (none, script) = self.page.scripts
        self.assertEqual((name, none), ("data", None))
        self.assertNotIn("<", content)
        self.assertIn("JSON.parse", script)
        data = json.loads(content)
        hostile = next(one for one in data["cases"] if one["id"] == "mpa.startup.hostile")
        self.assertEqual(hostile["got"], MARKUP + "\\u202e")
        self.assertIn("error EIO " + MARKUP + "\\xff\\xc0", data["texts"])

    def test_leaves_out_the_middle_of_long_frames_only(self):
        data = json.loads(self.page.scripts[0][1])
        shown = [(size, len(octets)) for _, size, octets, _, _ in data["frames"]]
        self.assertIn((60020, 2), shown)
        self.assertIn((928, 1), shown)


class LargePage(ReportTest):
    kind = "large"

    def test_of_300_cases_with_40_events_is_small_enough_to_be_mailed(self):
        self.assertEqual(len(self.report()["cases"]), 300)
        self.assertLess((self.folder / "index.html").stat().st_size, 3_000_000)


@unittest.skipUnless(shutil.which("tshark"), "tshark is not installed")
class Captures(ReportTest):
    def tshark(self, name, *arguments):
        done = subprocess.run(["tshark", "-n", "-r", self.folder / name, "--enable-heuristic", "iwarp_mpa_tcp",
                               "-o", "tcp.try_heuristic_first:TRUE", "-o", "ip.check_checksum:TRUE",
                               "-o", "tcp.check_checksum:TRUE", *arguments],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        return [line.split("\t") for line in done.stdout.splitlines()]

    def captures(self):
        return [one for one in self.report()["cases"] if "capture" in one]

    def test_exist_for_each_case_with_a_connection(self):
        self.assertEqual(sorted(path.name for path in self.folder.glob("*.pcapng")),
                         sorted(one["capture"] for one in self.captures()))
        self.assertEqual(len(self.captures()), 7)
        self.assertNotIn("capture", self.case("rdmap.atomic.add"))

    def test_have_sound_headers(self):
        for case in self.captures():
            with self.subTest(case["id"]):
                self.assertEqual(self.tshark(case["capture"], "-Y", "ip.checksum.status == 0 or tcp.checksum.status "
                                             "== 0 or tcp.analysis.flags"), [])

    def test_are_decoded_as_iwarp(self):
        opcodes = self.tshark("ddp.tagged.bounds.pcapng", "-Y", "iwarp_mpa", "-T", "fields",
                              "-e", "iwarp_rdma.opcode")
        self.assertEqual(opcodes, [[""], [""], ["0x00"], ["0x07"]])

    def test_hold_the_octets_of_the_frames_in_segments_of_at_most_32_kib(self):
        for name, sender, kinds in (("rdmap.write.large", "2001:db8::1", ("startup-sent", "fpdu-sent")),
                                    ("rdmap.write.large", "2001:db8::7", ("startup-received",)),
                                    ("ddp.tagged.bounds", "192.0.2.7", ("startup-received", "fpdu-received"))):
            with self.subTest(name, sender=sender):
                family = "ipv6" if ":" in sender else "ip"
                payloads = [bytes.fromhex(payload) for (payload,) in self.tshark(
                    name + ".pcapng", "-Y", f"{family}.src == {sender} and tcp.len > 0", "-T", "fields",
                    "-e", "tcp.payload")]
                stream, at = b"".join(payloads), 0
                for event in self.case(name)["events"]:
                    if event["kind"] in kinds:
                        told = bytes.fromhex(event["octets"])  # the first 1024 of them
                        self.assertEqual(len(told), min(event["size"], 1024))
                        self.assertEqual(stream[at:at + len(told)], told)
                        at += event["size"]
                self.assertEqual(at, len(stream))
                self.assertLessEqual(max(map(len, payloads)), 32768)

    def test_tell_who_opened_and_how_it_ended(self):
        flags = self.tshark("rdmap.write.large.pcapng", "-T", "fields", "-e", "ipv6.src", "-e", "tcp.flags")
        self.assertEqual(flags[:3], [["2001:db8::7", "0x0002"], ["2001:db8::1", "0x0012"], ["2001:db8::7", "0x0010"]])
        self.assertEqual(flags[-4:], [["2001:db8::1", "0x0011"], ["2001:db8::7", "0x0010"],
                                      ["2001:db8::7", "0x0011"], ["2001:db8::1", "0x0010"]])

    def test_have_the_times_of_the_events(self):
        case = self.case("ddp.tagged.bounds")
        times = [float(time) for (time,) in self.tshark(case["capture"], "-T", "fields", "-e", "frame.time_relative")]
        opened = next(event["at_us"] for event in case["events"] if event["kind"] == "connected")
        ended = next(event["at_us"] for event in case["events"] if event["kind"] == "fin-received")
        self.assertEqual(times, sorted(times))
        self.assertAlmostEqual(times[-1] * 1e6, ended - opened, delta=2)


@unittest.skipUnless(CHROMIUM, "chromium is not installed")
class Browser(ReportTest):
    def show(self, fragment):
        """The elements of the page after its scripts have run."""
        with tempfile.TemporaryDirectory(prefix="conform-browser-") as profile:
            done = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
                 "--disable-background-networking", "--disable-component-update", "--disable-sync",
                 f"--user-data-dir={profile}", "--virtual-time-budget=5000", "--dump-dom",
                 f"file://{self.folder}/index.html{fragment}"],
                capture_output=True, text=True, timeout=PATIENCE, check=True)
        return done.stdout

    def test_shows_the_lists(self):
        page = self.show("#requirements?kind=wire")
        self.assertIn("4 of 7 shown", page)
        self.assertIn("a CRC that is wrong is found", page)
        self.assertIn("4 cases do not pass", page)

    def test_shows_a_case_byte_by_byte(self):
        page = self.show("#case/ddp.tagged.bounds")
        self.assertIn("Terminated DDP Header", page)
        self.assertIn("computed 0x", page)
        self.assertIn('data-at="47"', page)

    def test_runs_nothing_that_a_target_says(self):
        for fragment in ("#cases", "#case/mpa.startup.hostile", "#requirements"):
            page = PageParser(self.show(fragment))
            self.assertEqual(page.title.strip(), "iWARP conformance: the peer at 192.0.2.7:7471")
            self.assertNotIn("img", page.tags)
            self.assertEqual(page.tags.count("script"), 2)


if __name__ == "__main__":
    unittest.main()
