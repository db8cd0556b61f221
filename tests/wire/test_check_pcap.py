#!/usr/bin/env python3
"""Shows that check_pcap.py accepts sound captures and rejects each kind of fault. Needs tshark."""

import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unittest

import pcap_streams
import synthetic_pcap
from synthetic_pcap import Stream, tagged_write, untagged_send

HERE = pathlib.Path(__file__).resolve().parent
SIW_CRC = HERE / "data" / "siw-rping-crc-p2p.pcap"
SIW_DEFAULT = HERE / "data" / "siw-rping-default.pcap"


def check(*arguments, environment=None):
    command = [sys.executable, str(HERE / "check_pcap.py"), *map(str, arguments)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    return done.returncode, done.stdout + done.stderr


def mixed_stream(markers, seed, count=40):
    """Writes and Sends of sizes from nothing to a large FPDU, one of which ends at a marker."""
    rng = random.Random(seed)
    stream = Stream(markers)
    for sequence in range(1, count + 1):
        size = rng.choice((0, 1, rng.randrange(64), rng.randrange(1500), rng.randrange(5000)))
        payload = rng.randbytes(size)
        stream.add(tagged_write(payload) if rng.random() < 0.5 else untagged_send(payload, sequence))
    stream.add_ending_at_marker()
    stream.add(tagged_write(rng.randbytes(64768 - 14)))
    stream.add(untagged_send(b"last", count + 1))
    return stream


class CheckPcap(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="test_check_pcap.")
        self.addCleanup(folder.cleanup)
        self.path = os.path.join(folder.name, "test.pcap")

    def expect(self, status, text, *arguments):
        actual, output = check(*arguments)
        self.assertEqual(actual, status, output)
        self.assertIn(text, output)

    def write(self, initiator=None, responder=None, **options):
        initiator = initiator or self.one_write()
        responder = responder or self.one_write()
        synthetic_pcap.write(self.path, initiator, responder, **options)

    @staticmethod
    def one_write(markers=False):
        stream = Stream(markers)
        stream.add(tagged_write(b"x" * 2000))
        return stream

    def test_accepts_siw_with_crc(self):
        self.expect(0, "18 FPDUs, 18 CRCs found good by tshark", SIW_CRC, "--min-fpdus", 18, "--connections", 2,
                    "--markers", "none", "--opcode", "Read Request")

    def test_accepts_siw_as_captured(self):
        self.expect(0, "18 FPDUs, 18 CRCs found good by tshark", SIW_CRC, "--as-captured")

    def test_accepts_siw_without_crc_only_if_told(self):
        self.expect(1, "CRC was negotiated off", SIW_DEFAULT)
        self.expect(0, "16 not used", SIW_DEFAULT, "--crc", "off")

    def test_accepts_every_combination_of_markers(self):
        for name, sides in {"none": (0, 0), "initiator": (1, 0), "responder": (0, 1), "both": (1, 1)}.items():
            with self.subTest(markers=name):
                self.write(mixed_stream(bool(sides[0]), 1), mixed_stream(bool(sides[1]), 2), seed=3)
                by_script = sum(sides)  # FPDUs that end at a marker
                self.expect(0, f"86 FPDUs, {86 - by_script} CRCs found good by tshark, {by_script} by this script",
                            self.path, "--min-fpdus", 86, "--markers", name)

    def test_accepts_ipv6(self):
        self.write(mixed_stream(True, 4), mixed_stream(True, 5), ipv6=True)
        self.expect(0, "[::1]:50000 -> [::1]:7471", self.path, "--markers", "both")

    def test_accepts_a_port_that_another_protocol_has_registered(self):
        irc = 57000  # tshark's dissector of IRC takes any text.
        capture = SIW_CRC.read_bytes()
        for connection in pcap_streams.read_connections(SIW_CRC):
            capture = capture.replace(connection.initiator[1].to_bytes(2, "big"), irc.to_bytes(2, "big"))
        pathlib.Path(self.path).write_bytes(capture)
        self.expect(0, "18 FPDUs, 18 CRCs found good by tshark", self.path, "--as-captured")

    def test_rejects_a_changed_byte_of_siw(self):
        capture = bytearray(SIW_CRC.read_bytes())
        capture[capture.index(b"rdma-ping-0") + 5] ^= 1
        pathlib.Path(self.path).write_bytes(capture)
        self.expect(1, "Bad CRC32", self.path)
        self.expect(1, "Bad CRC32", self.path, "--as-captured")

    def test_rejects_a_changed_byte_among_markers(self):
        stream = mixed_stream(True, 1)
        stream.data[-200] ^= 0x80
        self.write(stream)
        self.expect(1, "Bad CRC32", self.path)

    def test_rejects_a_changed_byte_where_tshark_miscounts_markers(self):
        stream = Stream(True)
        stream.add(tagged_write(b""))
        stream.add_ending_at_marker()
        stream.data[-100] ^= 4
        self.write(stream)
        self.expect(1, "bad CRC", self.path)

    def test_rejects_a_marker_that_points_elsewhere(self):
        stream = Stream(True)
        stream.add(tagged_write(b""))
        stream.pointer_error = 4
        stream.add(tagged_write(bytes(700)))
        self.write(stream)
        self.expect(1, "marker at offset 512", self.path)

    def test_rejects_a_wrong_ddp_version(self):
        stream = Stream(False)
        stream.add(tagged_write(b"payload", control=0xC2))
        self.write(stream)
        self.expect(1, "DDP version 2", self.path)

    def test_rejects_a_header_cut_short(self):
        stream = Stream(False)
        stream.add(untagged_send(b"", 1)[:12])
        self.write(stream)
        self.expect(1, "malformed IWARP_DDP_RDMAP", self.path)

    def test_rejects_a_stream_that_ends_within_an_fpdu(self):
        stream = self.one_write()
        del stream.data[-2:]
        self.write(stream)
        self.expect(1, "ends within the FPDU", self.path)

    def test_rejects_a_capture_with_a_gap(self):
        self.write(mixed_stream(False, 1), drop=5)
        self.expect(1, "lacks bytes sent by 127.0.0.1:50000", self.path)

    def test_rejects_a_missing_reply(self):
        self.write(drop=3)
        self.expect(1, "lacks bytes sent by 127.0.0.1:7471", self.path)

    def test_rejects_unmet_expectations(self):
        self.write()
        self.expect(1, "2 FPDUs, fewer than 3", self.path, "--min-fpdus", 3)
        self.expect(1, "1 MPA connections, not 2", self.path, "--connections", 2)
        self.expect(1, "markers were negotiated for none", self.path, "--markers", "both")
        self.expect(1, "no RDMAP message 'Terminate'", self.path, "--opcode", "Terminate")
        self.expect(1, "no MPA connection", self.path, "--port", 9)
        self.expect(1, "the longest FPDU of an initiator", self.path, "--fpdus-up-to", 16384, 1460)
        self.expect(1, "the longest FPDU of an initiator", self.path, "--fpdus-up-to", 16, 16)

    def test_reports_unusable_input_as_status_2(self):
        self.expect(2, "No such file", self.path)
        pathlib.Path(self.path).write_bytes(b"not a capture, but long enough to be one")
        self.expect(2, "not a pcap file", self.path)

    def test_reports_a_missing_tshark_as_status_2(self):
        status, output = check(SIW_CRC, environment={"PATH": "/nonexistent"})
        self.assertEqual(status, 2, output)
        self.assertIn("scripts/install-deps", output)


if __name__ == "__main__":
    unittest.main()
