#!/usr/bin/env python3
"""Two processes of the iwarp program move a file over loopback while dumpcap listens; tshark must then find the
capture sound: every CRC good, nothing malformed, with and without Markers.

The processes have a network of their own. Without the right to make one or to capture the test is skipped (77)."""

import os
import pathlib
import re
import shutil
import socket
import subprocess
import sys
import tempfile
import time
import unittest

HERE = os.path.dirname(os.path.realpath(__file__))
IWARP = os.environ.get("IWARP", "iwarp")
PATIENCE = 120  # Seconds for anything that should take a moment.
SKIPPED = 77
FILE_SIZE = 3_000_001


def enter_own_network():
    """Runs this script again in a network namespace of its own."""
    if not shutil.which("dumpcap"):
        print("dumpcap is not installed, or only for some users", file=sys.stderr)
        sys.exit(SKIPPED)
    as_root = [] if os.geteuid() == 0 else ["--map-root-user"]
    inside = ["unshare", "--net", *as_root]
    if subprocess.run([*inside, "true"], capture_output=True, check=False).returncode:
        print("no right to make a network namespace", file=sys.stderr)
        sys.exit(SKIPPED)
    os.environ["IWARP_OWN_NETWORK"] = "1"
    os.execvp("unshare", [*inside, sys.executable, *sys.argv])


class Capture:
    """dumpcap on the loopback interface, from before the first packet to after the last."""

    END = ("127.0.0.1", 9)  # a datagram to there ends the capture

    def __init__(self, path):
        # Whole packets: loopback's are up to 64 KiB. tcpdump would change its user, which that of a namespace may not.
        self.path = path
        self.process = subprocess.Popen(
            ["dumpcap", "-q", "-i", "lo", "-s", "262144", "-B", "64", "-P", "-w", path,
             "-f", f"tcp or udp port {self.END[1]}"], stderr=subprocess.PIPE, text=True)
        said = ""
        while not (line := self.process.stderr.readline()).startswith("File: "):
            said += line
            if not line:
                raise AssertionError(f"dumpcap ended before it listened: {said}")

    def stop(self):
        last = os.urandom(16)
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
            sender.sendto(last, self.END)
        until = time.monotonic() + PATIENCE
        while last not in pathlib.Path(self.path).read_bytes():
            if time.monotonic() > until:
                raise AssertionError("the capture has no end")
            time.sleep(0.05)
        self.process.terminate()
        _, log = self.process.communicate(timeout=PATIENCE)
        dropped = re.search(r"Packets received/dropped on interface .*: \d+/(\d+)", log)
        if not dropped or int(dropped.group(1)) != 0:
            raise AssertionError(f"the capture is not whole: {log}")


class CapturedTransfers(unittest.TestCase):
    def transfer(self, scratch, server_options, client_options):
        """Puts a file and gets it back; the path of the capture and the server's port."""
        served = os.path.join(scratch, "served")
        os.mkdir(served)
        original, copy, pcap = (os.path.join(scratch, name) for name in ("original", "copy", "transfer.pcap"))
        with open(original, "wb") as file:
            file.write(os.urandom(FILE_SIZE))
        capture = Capture(pcap)
        with subprocess.Popen([IWARP, "serve", served, "--listen", "127.0.0.1:0", *server_options],
                              stdout=subprocess.PIPE, text=True) as server:
            try:
                url = re.search(r"iwarp://\S+:(\d+)/", server.stdout.readline())
                for arguments in (["put", original, url.group(0) + "file"], ["get", url.group(0) + "file", copy]):
                    subprocess.run([IWARP, *arguments, *client_options], check=True, timeout=PATIENCE,
                                   capture_output=True)
            finally:
                server.terminate()
                server.wait(PATIENCE)
                capture.stop()
        subprocess.run(["cmp", original, copy], check=True, timeout=PATIENCE)
        return pcap, url.group(1)

    def assert_sound(self, pcap, *expectations):
        check = subprocess.run([sys.executable, os.path.join(HERE, "check_pcap.py"), pcap, "--connections", "2",
                                "--min-fpdus", "50", *expectations], capture_output=True, text=True,
                               timeout=PATIENCE * 2, check=False)
        self.assertEqual(check.returncode, 0, check.stdout + check.stderr)

    def test_every_fpdu_is_sound(self):
        for markers, server_options, client_options in (
                ("none", (), ()),
                ("none", (), ("--mpa-revision", "1")),
                ("responder", (), ("--markers",)),
                ("initiator", ("--markers",), ()),
                ("both", ("--markers",), ("--markers",))):
            with self.subTest(markers=markers, client_options=client_options), \
                    tempfile.TemporaryDirectory(prefix="iwarp-wire-") as scratch:
                pcap, port = self.transfer(scratch, server_options, client_options)
                self.assert_sound(pcap, "--port", port, "--markers", markers, "--crc", "on", "--opcode", "Send",
                                  "--opcode", "Send with Invalidate", "--opcode", "Read Request",
                                  "--opcode", "Read Response", "--opcode", "Write")

    def test_fpdus_are_as_large_as_each_end_was_told(self):
        subprocess.run(["ip", "link", "set", "lo", "mtu", "1500"], check=True)
        self.addCleanup(subprocess.run, ["ip", "link", "set", "lo", "mtu", "65536"], check=True)
        for server_options, client_options, most in (
                ((), (), ("1460", "1460")),
                (("--max-fpdu", "16K"), (), ("1460", "16384")),
                ((), ("--max-fpdu", "64K"), ("64776", "1460")),
                (("--max-fpdu", "20000", "--markers"), ("--max-fpdu", "8K", "--markers"), ("8192", "20000"))):
            with self.subTest(most=most), tempfile.TemporaryDirectory(prefix="iwarp-wire-") as scratch:
                pcap, port = self.transfer(scratch, server_options, client_options)
                self.assert_sound(pcap, "--port", port, "--fpdus-up-to", *most)

    def test_unused_crcs_are_no_errors(self):
        with tempfile.TemporaryDirectory(prefix="iwarp-wire-") as scratch:
            pcap, port = self.transfer(scratch, ("--no-crc",), ("--no-crc",))
            self.assert_sound(pcap, "--port", port, "--crc", "off")


if __name__ == "__main__":
    if "IWARP_OWN_NETWORK" not in os.environ:
        enter_own_network()
    subprocess.run(["ip", "link", "set", "lo", "up"], check=True)
    unittest.main()
