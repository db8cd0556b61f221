#!/usr/bin/env python3
"""Shows that extract.py takes out what is to be compiled and names each kind of offence."""

import pathlib
import subprocess
import sys
import tempfile
import unittest

EXTRACT = pathlib.Path(__file__).resolve().parent / "extract.py"
PROGRAM = "```cpp\nint main() {}\n```\n"
FRAGMENT = "```cpp\nuse(it);\n```\n"


class Extract(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        (self.top / "preludes").mkdir()
        self.prelude("#include <it>\nvoid f() {\n  // FRAGMENT\n}\n")

    def prelude(self, text):
        (self.top / "preludes" / "plain.cpp").write_text(text, encoding="utf-8")

    def run_on(self, text):
        self.document = self.top / "guide.md"
        self.document.write_text(text, encoding="utf-8")
        return subprocess.run([sys.executable, EXTRACT, "--out", self.top / "out", "--preludes", self.top / "preludes",
                               self.document], capture_output=True, text=True)

    def extracted(self, text):
        """The source of the first block, and the calls."""
        done = self.run_on(text)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        calls = (self.top / "out" / "blocks.cmake").read_text(encoding="utf-8")
        first = self.top / "out" / "guide_1.cpp"
        return first.read_text(encoding="utf-8") if first.exists() else "", calls

    def assert_offends(self, text, line, sentence):
        done = self.run_on(text)
        self.assertEqual(done.returncode, 1)
        self.assertIn(f"guide.md:{line}: ", done.stderr)
        self.assertIn(sentence, done.stderr)

    def test_a_program_is_taken_as_it_stands(self):
        source, calls = self.extracted("# Text\n\n" + PROGRAM)
        self.assertEqual(source, f'#line 4 "{self.document}"\nint main() {{}}\n')
        self.assertEqual(calls, f"document_program(guide_1 [==[{self.top}/out/guide_1.cpp]==] [==[]==])\n")

    def test_a_program_may_say_what_it_prints(self):
        _, calls = self.extracted("<!-- run: ^a [0-9]+ \"b\"$ -->\n" + PROGRAM)
        self.assertIn("[==[^a [0-9]+ \"b\"$]==])", calls)

    def test_a_fragment_stands_in_its_prelude(self):
        source, calls = self.extracted("<!-- fragment: plain -->\n```cpp\n#include <own>\nuse(it);\n```\n")
        prelude = self.top / "preludes" / "plain.cpp"
        self.assertEqual(source.splitlines(), [
            "#include <own>", f'#line 1 "{prelude}"', "#include <it>", "void f() {",
            f'#line 3 "{self.document}"', "", "use(it);", f'#line 4 "{prelude}"', "}"])
        self.assertEqual(calls, f"document_fragment([==[{self.top}/out/guide_1.cpp]==])\n")

    def test_blocks_in_lists_lose_their_indentation(self):
        source, _ = self.extracted("* item\n\n  ```cpp\n  int main() {\n    run();\n  }\n  ```\n")
        self.assertIn("\nint main() {\n  run();\n}\n", source)

    def test_other_languages_are_left_alone(self):
        source, calls = self.extracted("```sh\nint main()\n```\n\n````text\n```cpp\n```\n````\n")
        self.assertEqual((source, calls), ("", ""))

    def test_what_did_not_change_is_not_written_again(self):
        self.extracted(PROGRAM)
        source = self.top / "out" / "guide_1.cpp"
        before = source.stat().st_mtime_ns
        self.extracted(PROGRAM)
        self.assertEqual(source.stat().st_mtime_ns, before)

    def test_a_block_that_is_neither_is_an_offence(self):
        self.assert_offends("text\n" + FRAGMENT, 2, "is no program")
        self.assert_offends("<!-- run: x -->\n" + FRAGMENT, 2, "is no program")
        self.assert_offends("<!-- fragment: plain -->\n\n" + FRAGMENT, 1, "no C++ block follows")

    def test_comments_that_do_not_fit_are_offences(self):
        self.assert_offends("<!-- fragment: plain -->\n" + PROGRAM, 2, "is a program, not a fragment")
        self.assert_offends("<!-- fragment: other -->\n" + FRAGMENT, 2, "no prelude other.cpp")
        self.assert_offends("<!-- run: x -->\ntext\n" + PROGRAM, 1, "no C++ block follows")
        self.assert_offends(PROGRAM + "<!-- run: x -->\n", 4, "no C++ block follows")

    def test_blocks_that_escape_notice_are_offences(self):
        self.assert_offends("```c++\nint main() {}\n```\n", 1, "not with ```c++")
        self.assert_offends("```cpp\nint main() {}\n", 1, "does not end")

    def test_a_prelude_without_a_place_is_an_offence(self):
        self.prelude("void f() {}\n")
        done = self.run_on("<!-- fragment: plain -->\n" + FRAGMENT)
        self.assertEqual(done.returncode, 1)
        self.assertIn("has one line // FRAGMENT", done.stderr)


if __name__ == "__main__":
    unittest.main()
