#!/usr/bin/env python3
"""What the program shows on terminals of 80 and of 30 columns: lines that fit, broken between words."""

import contextlib
import fcntl
import os
import pty
import re
import socket
import struct
import subprocess
import termios
import threading
import unittest

from devices_test import perf_server
from service import IWARP, MIB, PATIENCE, ServiceTest, random_file, run, sparse_file

WIDTHS = (80, 30)


def shown(columns, *arguments, interrupted_at=None):
    """What the program writes to a terminal that is so wide, and how it ended. Types Ctrl-C when the output
    has `interrupted_at`."""
    ours, terminal = pty.openpty()
    fcntl.ioctl(terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    process = subprocess.Popen([IWARP, *arguments], stdin=terminal, stdout=terminal, stderr=terminal,
                               env={**os.environ, "TERM": "xterm"}, start_new_session=True,
                               preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0))
    os.close(terminal)
    output = b""
    try:
        while octets := os.read(ours, 65536):
            output += octets
            if interrupted_at and interrupted_at in output:
                interrupted_at = None
                os.write(ours, b"\x03")
    except OSError:  # so it ends when the program has
        pass
    os.close(ours)
    return output.decode().replace("\r\n", "\n"), process.wait(PATIENCE)


def subcommands():
    listed = run("help").stdout.partition("\nSubcommands:\n")[2].partition("\n\n")[0]
    return [[], *([name] for name in re.findall(r"(?m)^  (\w+)", listed)), ["perf", "server"]]


class Screens(ServiceTest):
    def assert_fits(self, text, columns):
        """But for a word that is longer."""
        for line in text.splitlines():
            if len(line.split()) > 1:
                self.assertLessEqual(len(line), columns, line)

    def test_of_help_fit(self):
        self.assertGreater(len(subcommands()), 10)
        for columns in WIDTHS:
            for words in subcommands():
                with self.subTest(columns=columns, words=words):
                    text, status = shown(columns, *words, "--help")
                    self.assertEqual(status, 0)
                    # Commands to copy stay whole, and so do names of options with what they take.
                    text = text.partition("\nExample")[0]
                    self.assert_fits(re.sub(r"(?m)^  -.*$", "", text), columns)

    def test_say_the_same_at_every_width(self):
        def words_of(columns, words):
            return shown(columns, *words, "--help")[0].split()
        for words in subcommands():
            self.assertEqual(words_of(30, words), words_of(80, words))

    def test_of_lists_fit(self):
        random_file(os.path.join(self.served, "movie.mp4"), 12_345_678)
        os.mkdir(os.path.join(self.served, "folder"))
        for columns in WIDTHS:
            text, _ = shown(columns, "ls", self.server.url)
            self.assert_fits(text, columns)
            self.assertRegex(text, r"(?m)^ *(12345678 |12\.3 MB) *\d{4}-\d\d-\d\d .*movie\.mp4$")
            self.assertRegex(text, r"(?m)^ *-  *\d{4}-\d\d-\d\d .*folder/$")
            for arguments in (["devices"], ["conform", "--list"]):
                self.assert_fits(shown(columns, *arguments)[0], columns)

    def test_of_conformance_runs_fit(self):
        for columns in WIDTHS:
            text, status = shown(columns, "conform", "--self", "--case", "mpa.fpdu", "--case", "rdmap.send")
            self.assertEqual(status, 0, text)
            lines = re.split(r"\r\x1b\[K|\n", re.sub(r"\x1b\[\d*m", "", text.partition("skipped:")[0]))
            self.assertGreater(len(lines), 10)
            for line in lines[1:]:
                self.assertLessEqual(len(line), columns, line)

    def test_of_transfers_have_one_line_of_progress(self):
        sparse_file(self.path("a-name-that-is-rather-long"), 512 * MIB)
        for columns in WIDTHS:
            text, status = shown(columns, "put", self.path("a-name-that-is-rather-long"), self.server.url)
            self.assertEqual(status, 0, text)
            drawn = text.split("\r\x1b[K")
            self.assertGreater(len(drawn), 2, text)
            for line in drawn[1:-1]:
                self.assertRegex(line, r"\Aa-name-that-.*%")
                self.assertLess(len(line), columns, line)
            self.assertTrue(drawn[-1].startswith("put a-name-that-is-rather-long: "), drawn[-1])

    @staticmethod
    def sentence(text):
        """In one line, and however long it took."""
        return re.sub(r", (at once|after [\d.]+ m?s)$", ", soon", " ".join(text.split()))

    def test_of_failures_are_one_sentence(self):
        for columns in WIDTHS:
            for arguments, status in ((["putt"], 2), (["put", "--jsn"], 2), (["ls", "iwarp://127.0.0.1:1/"], 1),
                                      (["get", self.server.url + "none", self.path("copy")], 1),
                                      (["perf", "127.0.0.1:1"], 1), (["serve", self.path("none")], 1),
                                      (["run", "--device", "rnic:x", "true"], 2), (["conform", "--agent", "127.0.0.1:1"], 1)):
                with self.subTest(columns=columns, arguments=arguments):
                    text, ended = shown(columns, *arguments)
                    self.assertRegex(text, r"(?s)\Aiwarp:\s.+\n\Z")
                    self.assertEqual(len(re.findall(r"iwarp:\s", text)), 1, text)
                    self.assert_fits(text, columns)
                    self.assertEqual(ended, status, text)
                    self.assertEqual(self.sentence(text), self.sentence(run(*arguments).stderr))

    def test_of_servers_without_a_port_name_it_once(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = "127.0.0.1:%d" % taken.getsockname()[1]
            for command in (["serve", self.served], ["perf", "server"], ["agent"]):
                text, status = shown(80, *command, "--listen", address)
                self.assertEqual(status, 1, text)
                self.assertIn("Address already in use", text)
                self.assertEqual(text.count(address), 1, text)

    def test_of_failures_are_one_line_in_a_file(self):
        self.assertRegex(run("conform").stderr, r"\Aiwarp: [^\n]{80,}\n\Z")

    def test_of_measurements_can_be_read(self):
        server = perf_server(self)
        for columns in WIDTHS:
            for figure, names in (([], ["rate", "messages/s"]),
                                  (["--latency"], ["min", "median", "p90", "p99", "p99.9", "max", "mean"])):
                with self.subTest(columns=columns, figure=figure):
                    text, status = shown(columns, "perf", server, "--duration", "0.1", "--baseline", *figure)
                    self.assertEqual(status, 0, text)
                    self.assert_fits(text, columns)
                    for name in [*names, "iWARP", "raw TCP", "ratio"]:
                        self.assertRegex(text, rf"(?m)(^|\s){re.escape(name)}(\s|$)")
        self.assertRegex(run("perf", server, "--duration", "0.1", "--latency").stdout,
                         r"\Awrite latency \(one-way, usec\), 65536 octets, [^\n]*\n +min +median [^\n]*\niWARP +[\d. ]+\n\Z")

    def test_of_interrupts_tell_of_nothing_else(self):
        # A terminal tells all processes of its foreground: the agent of --self must not end before the case.
        for columns in WIDTHS:
            with self.subTest(columns=columns):
                text, status = shown(columns, "conform", "--self", interrupted_at=b" passed")
                self.assertEqual(status, 1, text)
                self.assertNotIn("FAIL", text)
                self.assertRegex(" ".join(text.split()),
                                 r" \d+ cases did not run nothing failed of what ran in [\d.]+ s iwarp: interrupted\Z")

    def test_of_failing_cases_fit(self):
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)
        address = "127.0.0.1:%d" % listener.getsockname()[1]

        def close_each():
            with contextlib.suppress(OSError):
                while True:
                    listener.accept()[0].close()
        threading.Thread(target=close_each, daemon=True).start()
        for columns in WIDTHS:
            text, status = shown(columns, "conform", "--target", address, "--timeout", "100", "--case", "mpa.startup.reply",
                                 "--case", "mpa.fpdu")
            self.assertEqual(status, 1, text)
            self.assertIn("FAIL", text)
            self.assert_fits(re.sub(r"\x1b\[\d*m", "", re.sub(r"\r\x1b\[K", "\n", text)), columns)

    def test_of_unreachable_targets_tell_it_once(self):
        text, status = shown(30, "conform", "--target", "127.0.0.1:1")
        self.assertEqual(status, 1, text)
        self.assertEqual(text.count("refused"), 1, text)
        self.assertIn("did not run", text)
        text, status = shown(80, "conform", "--agent", "127.0.0.1:1")
        self.assertEqual(text.count("127.0.0.1:1"), 1, text)

    def test_of_conformance_runs_say_where_the_report_is(self):
        case = ("conform", "--self", "--case", "mpa.startup.reply", "--report")
        text, status = shown(80, *case, self.path("report"))
        self.assertEqual(status, 0, text)
        page = text.splitlines()[-1].removeprefix("report: ")
        self.assertTrue(os.path.isfile(page), text)
        # A run is not lost for want of a directory.
        text, status = shown(80, *case, "/proc/none")
        self.assertEqual(status, 1, text)
        self.assertRegex(text, r"\Aiwarp: cannot make the directory /proc/none")


if __name__ == "__main__":
    unittest.main()
