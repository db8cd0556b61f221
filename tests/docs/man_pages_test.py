#!/usr/bin/env python3
"""The manual pages say what --help says, and formatters take them without a word.

The program's path comes in the environment variable IWARP, the folder of the pages in IWARP_MAN."""

import gzip
import os
import pathlib
import re
import subprocess
import unittest

IWARP = os.environ.get("IWARP", "iwarp")
PAGES = pathlib.Path(os.environ.get("IWARP_MAN", "man1"))
SECTIONS = ["NAME", "SYNOPSIS", "DESCRIPTION", "OPTIONS", "EXIT STATUS", "EXAMPLES", "SEE ALSO"]


def help_of(*command):
    return subprocess.run([IWARP, *command, "--help"], check=True, capture_output=True, text=True,
                          timeout=60).stdout


def names_below(heading, text):
    """The first words of the lines below a heading of --help."""
    _, _, rest = text.partition(f"\n{heading}:\n")
    return [line.split()[0] for line in rest.partition("\n\n")[0].splitlines() if re.match(r"  \S", line)]


def commands():
    """All commands that --help leads to, as tuples of words; the program itself is the empty one."""
    found = [()]
    for command in found:  # grows meanwhile
        found += [(*command, name) for name in names_below("Subcommands", help_of(*command))]
    return found


def page_of(command):
    return PAGES / ("-".join(("iwarp", *command[:1])) + ".1")


def rendered(page):
    """The page as plain text, with what the formatter had to say."""
    done = subprocess.run(["groff", "-man", "-Tutf8", "-ww", "-P-c", "-P-b", "-P-u", page], check=True,
                          capture_output=True, text=True, timeout=60,
                          env={**os.environ, "GROFF_NO_SGR": "1", "LC_ALL": "C.UTF-8"})
    return done.stdout, done.stderr


class ManPages(unittest.TestCase):
    def test_every_subcommand_has_a_page_and_every_page_a_subcommand(self):
        expected = {page_of(command).name for command in commands()}
        self.assertGreater(len(expected), 5)
        self.assertEqual({page.name for page in PAGES.glob("*.1")}, expected)

    def test_every_option_and_argument_of_the_help_is_in_the_page(self):
        for command in commands():
            text, _ = rendered(page_of(command))
            help_text = help_of(*command)
            wanted = names_below("Positionals", help_text)
            options = names_below("Options", help_text)
            self.assertIn("-h,--help", options)
            wanted += [name for names in options for name in names.split(",")]
            for name in wanted:
                with self.subTest(command=command, name=name):
                    self.assertRegex(text, rf"(?m)^ +(\S+, )*{re.escape(name)}\b")

    def test_every_page_has_its_sections(self):
        for page in PAGES.glob("*.1"):
            headings = re.findall(r"^([A-Z][A-Z ]+)$", rendered(page)[0], re.MULTILINE)
            with self.subTest(page=page.name):
                self.assertEqual([name for name in headings if name in SECTIONS], SECTIONS)

    def test_formatters_have_nothing_to_say(self):
        for page in PAGES.glob("*.1"):
            with self.subTest(page=page.name):
                self.assertEqual(rendered(page)[1], "")

    def test_examples_can_be_copied(self):
        text, _ = rendered(PAGES / "iwarp-put.1")
        self.assertIn("iwarp put big.img iwarp://10.0.0.2/big.img --hash none", text)

    def test_whatis_finds_a_line(self):
        for page in PAGES.glob("*.1"):
            with self.subTest(page=page.name):
                said = subprocess.run(["lexgrog", page], capture_output=True, text=True, timeout=60)
                self.assertEqual(said.returncode, 0, said.stdout)
                self.assertIn(f'"{page.stem} - ', said.stdout)

    def test_compressed_pages_are_the_same_whoever_makes_them(self):
        for page in PAGES.glob("*.1"):
            packed = page.with_suffix(".1.gz").read_bytes()
            with self.subTest(page=page.name):
                self.assertEqual(gzip.decompress(packed), page.read_bytes())
                self.assertEqual(packed[3:8], bytes(5), "a name or a time is inside")


if __name__ == "__main__":
    unittest.main()
