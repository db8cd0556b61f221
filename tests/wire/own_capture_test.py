#!/usr/bin/env python3
"""Two processes of the iwarp program move a file over loopback and record their connections themselves; tshark must
find the recordings sound, and those of both ends must hold the same octets. Needs no rights."""

import os
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

import pcap_streams

HERE = os.path.dirname(os.path.realpath(__file__))
IWARP = os.environ.get("IWARP", "iwarp")
PATIENCE = 120  # Seconds for anything that should take a moment.
FILE_SIZE = 3_000_001


def streams(path):
    """The one connection in a recording: {endpoint that sends: octets}."""
    (connection,) = pcap_streams.read_connections(path)
    return {end: connection.stream(end) for end in (connection.initiator, connection.responder)}


class OwnCaptures(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-capture-")
        self.addCleanup(scratch.cleanup)
        self.scratch = pathlib.Path(scratch.name)
        for name in ("served", "of-server", "of-client"):
            (self.scratch / name).mkdir()
        (self.scratch / "original").write_bytes(os.urandom(FILE_SIZE))

    def recordings(self, name):
        return sorted((self.scratch / name).iterdir())

    def transfer(self, server_options=(), client_options=(), by_option=False):
        """Puts a file and gets it back; both ends record, told so by the environment or by an option."""
        def told(name):
            where = str(self.scratch / name)
            return (["--capture", where], None) if by_option else ([], {**os.environ, "IWARP_CAPTURE": where})

        option, environment = told("of-server")
        with subprocess.Popen([IWARP, "serve", self.scratch / "served", "--listen", "127.0.0.1:0", *server_options,
                               *option], stdout=subprocess.PIPE, text=True, env=environment) as server:
            try:
                url = re.search(r"iwarp://\S+:\d+/", server.stdout.readline()).group(0)
                option, environment = told("of-client")
                for arguments in (["put", self.scratch / "original", url + "file"],
                                  ["get", url + "file", self.scratch / "copy"]):
                    subprocess.run([IWARP, *arguments, *client_options, *option], check=True, timeout=PATIENCE,
                                   capture_output=True, env=environment)
            finally:
                server.terminate()
                server.wait(PATIENCE)
        self.assertEqual((self.scratch / "original").read_bytes(), (self.scratch / "copy").read_bytes())
        for name in ("of-server", "of-client"):
            self.assertEqual(len(self.recordings(name)), 2, "a recording for each connection")

    def assert_sound(self, path, *expectations):
        check = subprocess.run([sys.executable, os.path.join(HERE, "check_pcap.py"), path, "--connections", "1",
                                "--min-fpdus", "20", *expectations], capture_output=True, text=True,
                               timeout=PATIENCE * 2, check=False)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def assert_seen(self, connection, seen):
        """One of the connections in `seen` is the same, octet by octet."""
        (same,) = [other for other in seen if other.keys() == connection.keys()]
        for end, octets in connection.items():
            common = len(os.path.commonprefix([octets, same[end]]))
            self.assertTrue(octets == same[end], f"what {end} sent differs behind {common} octets: the client recorded "
                            f"{len(octets)}, the server {len(same[end])}")

    def assert_no_complaints(self, path):
        """tshark finds no bad checksum, gap or other fault in the made-up TCP. What it takes the payload for is not
        asked: it guesses by the ports, which the system chose."""
        done = subprocess.run(["tshark", "-n", "-r", path, "-o", "ip.check_checksum:TRUE", "-o",
                               "tcp.check_checksum:TRUE", "-Y", "not tcp or ip.checksum.status == 0 or "
                               "tcp.checksum.status == 0 or tcp.analysis.flags", "-T", "fields", "-e", "frame.number"],
                              capture_output=True, text=True, timeout=PATIENCE, check=True)
        self.assertEqual(done.stdout, "")

    def test_both_ends_record_the_same_sound_connection(self):
        for markers, server_options, client_options in (
                ("none", (), ()),
                ("responder", (), ("--markers",)),
                ("initiator", ("--markers",), ()),
                ("both", ("--markers",), ("--markers",))):
            with self.subTest(markers=markers):
                self.setUp()
                self.transfer(server_options, client_options)
                seen = [streams(path) for path in self.recordings("of-server")]
                for path in self.recordings("of-client"):
                    self.assert_seen(streams(path), seen)
                    self.assert_no_complaints(path)
                    self.assert_sound(path, "--markers", markers)
                for path in self.recordings("of-server"):
                    self.assert_no_complaints(path)

    def test_tshark_decodes_it_as_it_is(self):
        self.transfer(by_option=True)
        put, get = sorted(self.recordings("of-client"), key=lambda path: path.stat().st_mtime_ns)
        self.assert_sound(put, "--as-captured", "--opcode", "Read Request", "--opcode", "Read Response")
        self.assert_sound(get, "--as-captured", "--opcode", "Write", "--opcode", "Send")
        for path in self.recordings("of-server"):
            self.assert_sound(path, "--as-captured")


if __name__ == "__main__":
    unittest.main()
