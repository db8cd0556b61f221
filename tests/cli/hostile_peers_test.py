#!/usr/bin/env python3
"""Peers that send garbage, halves or nothing cost their own connection and never the server."""

import os
import random
import struct
import unittest

from service import HELLO, SANITIZED, ServiceTest, memory_of, mpa_request
from service import random_file


def send_if_open(connection, octets):
    try:
        connection.sendall(octets)
    except (ConnectionResetError, BrokenPipeError):
        pass


def sockets_of(pid):
    """How many the process has open."""
    def is_socket(entry):
        try:
            return os.readlink(entry).startswith("socket:")
        except FileNotFoundError:  # closed meanwhile
            return False
    return sum(is_socket(entry.path) for entry in os.scandir(f"/proc/{pid}/fd"))


def receive_all(connection):
    """Everything until the server closes."""
    received = b""
    try:
        while piece := connection.recv(65536):
            received += piece
    except ConnectionResetError:
        pass
    return received


class GarbagePeers(ServiceTest):
    server_arguments = ("--idle-timeout", "3", "--timeout", "3")

    def said_to(self, octets):
        """A connection that has sent them, if the server let it."""
        connection = self.server.connect()
        self.addCleanup(connection.close)
        send_if_open(connection, octets)
        return connection

    def assert_dropped(self, *requests):
        """The server ends by itself the connection of each, all there at the same time; returns what
        it said."""
        return [receive_all(connection) for connection in [self.said_to(one) for one in requests]]

    def start_up(self, private_data=HELLO):
        """A connection in RDMA mode, MPA revision 1, and the frame that the server answered."""
        connection = self.server.connect()
        self.addCleanup(connection.close)
        connection.sendall(mpa_request(private_data))
        head = connection.recv(20, 0x100)  # MSG_WAITALL
        self.assertEqual(head[:16], b"MPA ID Rep Frame")
        flags, revision, length = struct.unpack(">BBH", head[16:])
        self.assertEqual(revision, 1)
        return connection, flags, connection.recv(length, 0x100) if length else b""

    def test_garbage_instead_of_a_request(self):
        generator = random.Random(7)
        self.assert_dropped(*(generator.randbytes(size) + b"x" * 20
                              for size in (1, 19, 20, 21, 1000, 100_000)),
                            b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n")
        self.assert_serves()

    def test_half_a_request(self):
        whole = mpa_request(HELLO)
        for size in range(0, len(whole), 5):
            self.said_to(whole[:size]).close()
        self.assert_dropped(whole[:10], mpa_request(b"x" * 100, length=200))
        self.assert_serves()

    def test_nothing_at_all(self):
        self.assertEqual(self.assert_dropped(b""), [b""])
        self.assert_serves()

    def test_more_private_data_than_allowed(self):
        self.assert_dropped(mpa_request(b"x" * 513), mpa_request(b"x" * 600, length=65535))
        self.assert_serves()

    def test_a_stranger_is_rejected(self):
        for private_data in (b"", b"IWFS", b"JWFS\x01\x00\x00\x00", b"x" * 512):
            _, flags, answer = self.start_up(private_data)
            self.assertTrue(flags & 0x20, "the reject bit")
            self.assertEqual(answer[:6], b"IWFS\x01\x02")
        _, flags, answer = self.start_up(b"IWFS\x09\x00\x00\x00")
        self.assertTrue(flags & 0x20)
        self.assertEqual(answer[:6], b"IWFS\x01\x03")
        self.assert_serves()

    def test_a_silent_client_is_dropped(self):
        connection, flags, welcome = self.start_up()
        self.assertFalse(flags & 0x20)
        self.assertEqual(welcome[:6], b"IWFS\x01\x00")
        receive_all(connection)
        self.assert_serves()

    def test_garbage_instead_of_a_frame(self):
        generator = random.Random(11)
        connections = []
        for size in (1, 7, 100, 10_000, 1_000_000):
            connection, _, _ = self.start_up()
            send_if_open(connection, generator.randbytes(size))
            connections.append(connection)
        for connection in connections:
            receive_all(connection)
        self.assert_serves()

    def test_half_a_frame(self):
        connection, _, _ = self.start_up()
        connection.sendall(struct.pack(">H", 60) + b"\x41")
        receive_all(connection)
        self.assert_serves()

    @unittest.skipIf(SANITIZED, "a sanitizer's memory figures mean nothing")
    def test_idle_connections_cost_little(self):
        # None of them may be dropped before the memory is looked at, however long that takes.
        self.server = self.start_server("--idle-timeout", "3600", "--timeout", "3600")
        pid = self.server.process.pid
        before, sockets = memory_of(pid), sockets_of(pid)
        idle = [self.said_to(mpa_request(HELLO)[:15]) for _ in range(100)]
        idle += [self.said_to(b"") for _ in range(50)]
        for _ in range(50):
            idle.append(self.said_to(mpa_request(HELLO)))
            self.assertEqual(idle[-1].recv(16, 0x100), b"MPA ID Rep Frame")
        grown = memory_of(pid) - before
        self.assertGreaterEqual(sockets_of(pid) - sockets, 200)
        self.assertLess(grown, 200 * 64 * 1024)
        self.assert_serves()
        for connection in idle:
            connection.close()


class FullServers(ServiceTest):
    server_arguments = ("--max-clients", "2")

    def test_have_room_in_the_place_of_clients_that_ask_nothing(self):
        silent = []
        for _ in range(5):
            connection = self.server.connect()
            connection.sendall(mpa_request(HELLO))
            self.assertEqual(connection.recv(16, 0x100), b"MPA ID Rep Frame")
            silent.append(connection)
        random_file(os.path.join(self.served, "file"), 10)
        self.assert_serves()
        for connection in silent:
            connection.close()


if __name__ == "__main__":
    unittest.main()
