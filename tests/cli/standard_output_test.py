#!/usr/bin/env python3
"""What cannot be printed on standard output is an error, of every subcommand: the script that reads it has to know."""

import os
import signal
import subprocess
import unittest

from devices_test import perf_server
from service import IWARP, PATIENCE, ServiceTest, random_file

# What makes printing fail, how a shell says it, and the reason that the system gives.
TARGETS = ((">/dev/full", "No space left on device"), (">&-", "Bad file descriptor"))


def printing_to(redirection, *arguments):
    """Runs the program with standard output redirected as a shell does it."""
    return subprocess.run(["sh", "-c", f'exec "$@" {redirection}', "sh", IWARP, *arguments], check=False,
                          stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE,
                          text=True, timeout=PATIENCE)


class StandardOutput(ServiceTest):
    def assert_told(self, *arguments):
        for redirection, reason in TARGETS:
            with self.subTest(arguments=arguments, redirection=redirection):
                result = printing_to(redirection, *arguments)
                self.assertEqual(result.stderr, f"iwarp: cannot write to standard output: {reason}\n")
                self.assertEqual(result.returncode, 1)

    def test_that_fails_is_told_by_what_informs(self):
        for arguments in (["--help"], ["--version"], ["help"], ["help", "put"], ["put", "--help"], ["run", "--help"],
                          ["devices"], ["devices", "--json"], ["complete", "iwarp", ""],
                          ["conform", "--list"], ["conform", "--list", "--json"]):
            self.assert_told(*arguments)

    def test_that_fails_is_told_by_clients(self):
        random_file(self.path("file"), 1000)
        self.done("put", self.path("file"), self.server.url + "file")
        for option in ([], ["--json"]):
            self.assert_told("ls", self.server.url, *option)
            self.assert_told("put", self.path("file"), self.server.url + "file", *option)
            self.assert_told("get", self.server.url + "file", self.path("copy"), *option)

    def test_that_fails_is_told_by_measurements_and_conformance_tests(self):
        server = perf_server(self)
        first = self.done("conform", "--list").stdout.split()[0]
        for option in ([], ["--json"]):
            self.assert_told("perf", server, "--duration", "0.05", *option)
            self.assert_told("conform", "--self", "--case", first, *option)

    def test_that_fails_is_told_by_servers_at_their_first_line(self):
        for command in (["serve", self.served], ["agent"], ["perf", "server"]):
            for option in ([], ["--json"]):
                self.assert_told(*command, "--listen", "127.0.0.1:0", *option)

    def test_that_is_closed_is_no_place_for_a_file(self):
        content = random_file(os.path.join(self.served, "file"), 100_000)
        printing_to(">&-", "get", self.server.url + "file", self.path("copy"))
        with open(self.path("copy"), "rb") as file:
            self.assertEqual(file.read(), content)

    def test_other_closed_descriptors_are_no_place_for_a_file_either(self):
        content = random_file(os.path.join(self.served, "file"), 100_000)
        self.assertEqual(printing_to("2>&- <&-", "get", self.server.url + "file", self.path("copy")).returncode, 0)
        with open(self.path("copy"), "rb") as file:
            self.assertEqual(file.read(), content)

    def test_that_is_closed_is_closed_for_a_program_that_is_run(self):
        libraries = self.path("libraries")
        os.mkdir(libraries)
        for name in ("libibverbs.so.1", "librdmacm.so.1"):
            open(os.path.join(libraries, name), "wb").close()
        script = "test -e /proc/self/fd/1; echo $? >&2"
        result = subprocess.run(["sh", "-c", 'exec "$@" >&-', "sh", IWARP, "run", "sh", "-c", script],
                                check=False, stderr=subprocess.PIPE, text=True, timeout=PATIENCE,
                                env={**os.environ, "IWARP_LIBRARY_DIR": libraries})
        self.assertEqual(result.stderr.split()[-1:], ["1"], result.stderr)

    def test_whose_reader_has_gone_ends_the_program_without_a_word(self):
        for arguments in (["conform", "--list", "--json"], ["ls", self.server.url, "--json"], ["--help"]):
            with self.subTest(arguments=arguments):
                reader, writer = os.pipe()
                os.close(reader)
                ended = subprocess.run([IWARP, *arguments], stdout=writer, stderr=subprocess.PIPE, check=False,
                                       timeout=PATIENCE)
                os.close(writer)
                self.assertEqual((ended.returncode, ended.stderr), (-signal.SIGPIPE, b""))

    def test_whose_reader_has_gone_is_told_where_that_signal_is_ignored(self):
        reader, writer = os.pipe()
        os.close(reader)
        ended = subprocess.run(["sh", "-c", 'trap "" PIPE; exec "$@"', "sh", IWARP, "devices"], stdout=writer,
                               stderr=subprocess.PIPE, check=False, timeout=PATIENCE, text=True)
        os.close(writer)
        self.assertEqual((ended.returncode, ended.stderr),
                         (1, "iwarp: cannot write to standard output: Broken pipe\n"))


if __name__ == "__main__":
    unittest.main()
