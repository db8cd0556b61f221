"""Shows that check-requirements accepts a whole accounting and names each kind of offence."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-requirements"
HEADER = "id\tlevel\trequirement\tkind\tcode\tcases\ttests\tnote\n"
UNIT = "9-1-01\tMUST\tobey\tunit\tmpa/a.cpp:obey\t\tSuite.Obeys, Typed.Obeys, tool.obeys\t\n"
WIRE = "9-1-01\tMUST\tobey\twire\tmpa/a.cpp:obey\tmpa.a.obeys\t\t\n"
OTHER = "9-1-02\tMAY\tdare\tn/a\t\t\t\tno use for it\n"


class Accounting(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        self.write("docs/requirements/ids.txt", "9-1-01\tMUST\n9-1-02\tMAY\n")
        self.write("mpa/a.cpp", "void obey();\n")
        self.write("tests/a_test.cpp", "TEST_F(Suite,\n       Obeys) {}\nTYPED_TEST(Typed, Obeys) {}\n"
                                       "// TEST(Suite, Gone)\nTEST(Suite, DISABLED_Asleep) {}\n")
        self.write("tests/CMakeLists.txt", "add_test(NAME tool.obeys COMMAND tool)\n")

    def write(self, name, text):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")

    def check(self, table, *options):
        if table is not None:
            self.write("docs/requirements/rfc9.tsv", table)
        return subprocess.run([sys.executable, CHECK, "--top", self.top, *options], capture_output=True, text=True)

    def assert_offends(self, rows, *offences):
        result = self.check(HEADER + rows)
        self.assertEqual(result.returncode, 1)
        found = [line.partition(": ")[2] for line in result.stderr.splitlines()]
        self.assertEqual(found, list(offences))

    def test_accepts_a_whole_accounting(self):
        result = self.check(HEADER + UNIT + OTHER)
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertRegex(result.stdout, r"RFC 9 +all +0 +1 +0 +1 +0 +0\n")

    def test_a_missing_table_is_an_offence_unless_another_rfc_is_asked_for(self):
        self.write("docs/requirements/ids.txt", "9-1-01\tMUST\n9-1-02\tMAY\n10-1-01\tMUST\n")
        self.assertIn("rfc10.tsv: no such table", self.check(HEADER + UNIT + OTHER).stderr)
        self.assertEqual(self.check(None, "--rfc", "9").returncode, 0)

    def test_ids(self):
        self.assert_offends(UNIT, "9-1-02 is missing")
        self.assert_offends(UNIT + OTHER + OTHER, "9-1-02: is listed twice")
        self.assert_offends(UNIT + OTHER + OTHER.replace("-02", "-03"), "9-1-03: is no id of RFC 9")

    def test_cells(self):
        self.assert_offends(UNIT.replace("MUST", "MAY") + OTHER, "9-1-01: the level is MUST, not 'MAY'")
        self.assert_offends(UNIT.replace("\tobey\t", "\t\t") + OTHER, "9-1-01: no requirement")
        self.assert_offends(UNIT.replace("unit", "fine") + OTHER,
                            "9-1-01: the kind 'fine' is none of wire, unit, ulp, n/a, not met")
        self.assert_offends(UNIT + OTHER.replace("no use for it", ""), "9-1-02: n/a, but no note")
        self.assert_offends(UNIT + OTHER.replace("\tno use for it", ""), "7 columns instead of 8", "9-1-02 is missing")

    def test_code(self):
        self.assert_offends(UNIT.replace("mpa/a.cpp:obey", "") + OTHER, "9-1-01: unit, but no code")
        self.assert_offends(UNIT.replace("a.cpp", "b.cpp") + OTHER, "9-1-01: there is no file mpa/b.cpp")
        self.assert_offends(UNIT.replace(":obey", ":obe") + OTHER, "9-1-01: mpa/a.cpp holds no obe")

    def test_tests(self):
        self.assert_offends(UNIT.replace("Suite.Obeys, Typed.Obeys, tool.obeys", "") + OTHER,
                            "9-1-01: unit, but no tests")
        for name in ("Suite.Gone", "Suite.DISABLED_Asleep", "tool.gone"):
            self.assert_offends(UNIT.replace("Suite.Obeys", name) + OTHER, f"9-1-01: no test is called {name}")

    def test_cases(self):
        self.write("conformance/cases/a.cpp", '{"mpa.a.obeys", "It obeys", obeys},\n')
        self.assertEqual(self.check(HEADER + WIRE + OTHER).returncode, 0)
        self.assert_offends(UNIT + OTHER, "mpa.a.obeys tests no requirement")
        self.assert_offends(WIRE.replace("mpa.a.obeys", "") + OTHER, "9-1-01: wire, but no cases",
                            "mpa.a.obeys tests no requirement")
        self.assert_offends(WIRE.replace("mpa.a.obeys", "mpa.a.obeys, mpa.a.gone") + OTHER,
                            "9-1-01: no case is called mpa.a.gone")
        self.assert_offends(WIRE.replace("wire", "ulp") + OTHER, "9-1-01: ulp, but no note",
                            "9-1-01: ulp, but it names cases")

    def test_departures(self):
        self.write("conformance/cases/a.cpp", '{"mpa.a.obeys", "It obeys", obeys},\n')
        header, row = "case\trequirement\tdeparture\n", "mpa.a.obeys\t9-1-01\tdoes not\n"
        for table, *offences in (
            (header + row,),
            (row + row, "the header is not: case | requirement | departure"),
            (header + row + row, "mpa.a.obeys is listed twice"),
            (header + row.replace("obeys", "gone"), "no case is called mpa.a.gone"),
            (header + row.replace("-01", "-03"), "9-1-03 is no id of an RFC"),
            (header + row.replace("does not", ""), "mpa.a.obeys, but no departure"),
            (header + row.replace("\tdoes not", ""), "2 columns instead of 3"),
        ):
            self.write("docs/departures/other.tsv", table)
            if offences:
                self.assert_offends(WIRE + OTHER, *offences)
            else:
                self.assertEqual(self.check(HEADER + WIRE + OTHER).returncode, 0)


if __name__ == "__main__":
    unittest.main()
