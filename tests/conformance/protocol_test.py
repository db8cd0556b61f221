#!/usr/bin/env python3
"""PROTOCOL.md says what the table of the agent's protocol, verbs_agent/protocol.h, says."""

import pathlib
import re
import unittest

AGENT = pathlib.Path(__file__).resolve().parents[2] / "conformance" / "agent"
DOCUMENT = (AGENT / "PROTOCOL.md").read_text(encoding="utf-8")
TABLE = (AGENT / "verbs_agent" / "protocol.h").read_text(encoding="utf-8").replace("\\\n", " ")


def lines_of(name):
    """The lines of a list of the table, each a list of its arguments; pairs are lists of words."""
    body = re.search(rf"^#define PROTOCOL_{name}\(X\)(.*)$", TABLE, re.M).group(1)
    return [[each[1:-1].split() if each.startswith('"') else each for each in re.findall(r'"[^"]*"|\w+', line)]
            for line in re.findall(r"X\(([^)]*)\)", body)]


def number(name):
    return int(re.search(rf"^#define PROTOCOL_{name} (\d+)", TABLE, re.M).group(1))


def words(text):
    return re.findall(r"`(\w+)`", text)


def rows(first_column):
    """The words in the cells of the document's table that begins with this column."""
    table = re.search(rf"^\| {re.escape(first_column)} \|.*\n\|[-|]+\n((?:\|.*\n)+)", DOCUMENT, re.M).group(1)
    return [[words(cell) for cell in row.strip("|").split("|")] for row in table.splitlines()]


def paragraph(begin):
    return next(each for each in DOCUMENT.split("\n\n") if each.startswith(begin))


def feature(word):
    return [] if word == "none" else [word]


class Document(unittest.TestCase):
    def test_has_the_commands(self):
        expected = [[[word], must, may, answer + more]
                    for word, must, may, _, answer, more in lines_of("COMMANDS")]
        self.assertEqual([row[:4] for row in rows("command")], expected)

    def test_has_the_operations(self):
        self.assertEqual(rows("`op`"), [[[word], pairs, feature(need)] for word, pairs, need in lines_of("OPERATIONS")])

    def test_has_the_rights(self):
        self.assertEqual(rows("right"), [[[word], [], feature(need)] for word, _, need in lines_of("ACCESS")])
        for (right, _, _), (_, to, _) in zip(rows("right"), lines_of("ACCESS")):
            cell = re.search(rf"^\| `{right[0]}` \| ([^|]*) \|", DOCUMENT, re.M).group(1)
            self.assertEqual(cell, {"REGION": "a region", "REGION_OR_WINDOW": "a region or a window"}[to])

    def test_has_the_lists_of_words(self):
        for name, begin, others in (("EVENTS", "`event` is", ["event", "private", "ird", "ord"]),
                                    ("STATUSES", "`status` is", ["status"]),
                                    ("FEATURES", "`features` of", ["features", "hello", "none"])):
            with self.subTest(name):
                found = [word for word in words(paragraph(begin)) if word not in others]
                self.assertEqual(found, [word for (word,) in lines_of(name)])
        self.assertEqual([row[0] for row in rows("code")], lines_of("ERRORS"))

    def test_has_the_numbers(self):
        self.assertIn(f"version {number('VERSION')}\n", DOCUMENT)
        self.assertIn(f"port {number('PORT')} unless", DOCUMENT)
        self.assertIn(f"at most {number('LONGEST_LINE'):,} octets", DOCUMENT)
        self.assertIn(f"returns {number('MOST_OCTETS'):,} octets", DOCUMENT)
        self.assertEqual(number("LONGEST_WAIT"), 3600 * 1000)


class Table(unittest.TestCase):
    def test_needs_features_that_it_has(self):
        known = ["none"] + [word for (word,) in lines_of("FEATURES")]
        for name, column in (("COMMANDS", 3), ("OPERATIONS", 2), ("ACCESS", 2)):
            for line in lines_of(name):
                self.assertIn(line[column], known, line)

    def test_has_operations_of_pairs_that_a_post_may_have(self):
        may = next(line[2] for line in lines_of("COMMANDS") if line[0] == "post")
        for word, pairs, _ in lines_of("OPERATIONS"):
            self.assertLessEqual(set(pairs), set(may), word)


if __name__ == "__main__":
    unittest.main()
