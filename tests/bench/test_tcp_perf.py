#!/usr/bin/env python3
"""tcp_perf measures in every shape and way of waiting, refuses what it cannot do, and serves on after
clients that vanish or that speak nonsense.

The program comes in the environment variable TCP_PERF."""

import json
import os
import socket
import struct
import subprocess
import time
import unittest

PROGRAM = os.environ.get("TCP_PERF", "tcp_perf")
TASK = "=BBxxI"  # shape, how the ends wait, size
STREAM, PING_PONG = 0, 1


def client(*arguments):
    return subprocess.run([PROGRAM, "client", *arguments], capture_output=True, text=True, timeout=60,
                          check=False)


class WithServer(unittest.TestCase):
    def setUp(self):
        self.server = subprocess.Popen([PROGRAM, "server"], stdout=subprocess.PIPE,
                                       stderr=subprocess.DEVNULL, text=True)
        self.addCleanup(self.stop)
        self.port = self.server.stdout.readline().strip()

    def stop(self):
        self.server.kill()
        self.server.wait()
        self.server.stdout.close()

    def measure(self, *options):
        done = client("127.0.0.1", self.port, "--seconds", "0.05", *options)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return json.loads(done.stdout)

    def connection(self):
        connected = socket.create_connection(("127.0.0.1", int(self.port)), timeout=30)
        self.addCleanup(connected.close)
        return connected


class Measures(WithServer):
    def test_a_stream_however_the_ends_wait(self):
        for wait in ("block", "spin", "epoll"):
            for size in ("1", "4096", "1048576"):
                with self.subTest(wait=wait, size=size):
                    told = self.measure("--wait", wait, "--size", size)
                    self.assertEqual(told["size"], int(size))
                    self.assertGreaterEqual(told["octets"], int(size))
                    self.assertEqual(told["octets"] % int(size), 0)
                    self.assertAlmostEqual(told["octets_per_second"],
                                           told["octets"] / told["seconds"], delta=1)
                    self.assertEqual(set(told["cpu_seconds"]), {"client", "server"})
                    self.assertNotIn("latency_us", told)

    def test_a_ping_pong_however_the_ends_wait(self):
        for wait in ("block", "spin", "epoll"):
            with self.subTest(wait=wait):
                told = self.measure("--wait", wait, "--shape", "ping-pong", "--size", "64")
                names = ("min", "median", "p90", "p99", "p99.9", "max")
                latencies = [told["latency_us"][name] for name in names]
                self.assertEqual(latencies, sorted(latencies))
                self.assertGreater(latencies[0], 0)

    def test_a_packet_is_whole_segments_up_to_64_kib(self):
        size = self.measure("--size", "packet")["size"]
        self.assertGreater(size, 32768)
        self.assertLessEqual(size, 65536)
        self.assertEqual(size, self.measure()["size"])


class Survives(WithServer):
    def after(self, octets):
        """A client says this and goes; the next one is served."""
        connection = self.connection()
        connection.sendall(octets)
        connection.close()
        self.measure("--size", "64")

    def test_clients_that_vanish(self):
        ping_pong = struct.pack(TASK, PING_PONG, 1, 65536)
        for octets in (b"", b"\0", struct.pack(TASK, STREAM, 0, 64), ping_pong, ping_pong + b"x" * 70000):
            with self.subTest(octets=octets[:9]):
                self.after(octets)

    def test_nonsense(self):
        for task in ((2, 0, 64), (STREAM, 3, 64), (PING_PONG, 0, 0), (STREAM, 1, 0xffffffff),
                     (STREAM, 0, (64 << 20) + 1)):
            with self.subTest(task=task):
                connection = self.connection()
                connection.sendall(struct.pack(TASK, *task))
                try:
                    self.assertEqual(connection.recv(1), b"")
                except ConnectionResetError:
                    pass
                self.measure("--size", "64")

    def test_a_silent_client_is_in_no_ones_way_and_is_given_up(self):
        silent = self.connection()
        began = time.monotonic()
        self.measure("--size", "64")
        self.assertLess(time.monotonic() - began, 5)
        self.assertEqual(silent.recv(1), b"")


class Refuses(unittest.TestCase):
    def assert_refused(self, arguments, sentence):
        done = client(*arguments)
        with self.subTest(arguments=arguments):
            self.assertNotEqual(done.returncode, 0)
            self.assertGreater(done.returncode, 0, "by a signal")
            self.assertIn(sentence, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_sizes(self):
        for size in ("0", "-5", "text", "12k", "1.5", "", "67108865", "99999999999999999999"):
            self.assert_refused(["127.0.0.1", "1", "--size", size], "--size: neither a number of octets")

    def test_times(self):
        for seconds in ("0", "-1", "nan", "inf", "601", "text"):
            self.assert_refused(["127.0.0.1", "1", "--seconds", seconds], "--seconds: no number of seconds")

    def test_words(self):
        self.assert_refused(["127.0.0.1", "1", "--wait", "never"], "never not in {block,epoll,spin}")
        self.assert_refused(["127.0.0.1", "1", "--shape", "round"], "round not in {ping-pong,stream}")

    def test_addresses_and_ports(self):
        self.assert_refused(["localhost", "1"], "no IPv4 address: localhost")
        self.assert_refused(["127.0.0.1", "0"], "port: Value 0 not in range")
        self.assert_refused(["127.0.0.1", "65536"], "port: Value 65536 not in range")
        self.assert_refused(["127.0.0.1"], "port is required")

    def test_a_server_that_is_not_there(self):
        with socket.socket() as reserved:
            reserved.bind(("127.0.0.1", 0))
            self.assert_refused(["127.0.0.1", str(reserved.getsockname()[1])], "Connection refused")

    def test_a_server_that_goes_away(self):
        for shape in ("stream", "ping-pong"):
            for wait in ("block", "spin", "epoll"):
                self.leave(shape, wait)

    def leave(self, shape, wait):
        """A server that accepts and hangs up."""
        with socket.create_server(("127.0.0.1", 0)) as listener:
            process = subprocess.Popen(
                [PROGRAM, "client", "127.0.0.1", str(listener.getsockname()[1]), "--shape", shape,
                 "--wait", wait, "--seconds", "5"],
                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
            accepted, _ = listener.accept()
            accepted.recv(4)
            accepted.close()
            _, said = process.communicate(timeout=30)
            with self.subTest(shape=shape, wait=wait):
                self.assertEqual(process.returncode, 1)
                self.assertRegex(said, "^tcp_perf: (the server has gone|send: |recv: )")

    def test_an_address_that_is_not_here(self):
        done = subprocess.run([PROGRAM, "server", "--address", "192.0.2.1"], capture_output=True,
                              text=True, timeout=60, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertIn("bind: Cannot assign requested address", done.stderr)


if __name__ == "__main__":
    unittest.main()
