#!/usr/bin/env python3
"""Links that are slow and peers that are stopped lose no transfer: only silence does."""

import concurrent.futures
import os
import signal
import subprocess
import time
import unittest

from relay import Relay
from service import IWARP, MIB, PATIENCE, ServiceTest, random_file, sparse_file


class SlowLinks(ServiceTest):
    """A chunk takes longer than either end waits for a sign of life."""

    server_arguments = ("--timeout", "2", "--idle-timeout", "2")
    size = 768 * 1024
    rate = 200 * 1000  # Octets a second: four seconds for the file.

    def test_put_and_get_get_through(self):
        relay = Relay(self.server.host, self.server.port, self.rate)
        self.addCleanup(relay.close)
        random_file(self.path("original"), self.size)
        random_file(os.path.join(self.served, "there"), self.size)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in [pool.submit(self.done, *command, "--timeout", "2") for command in (
                    ("put", self.path("original"), relay.url + "here"),
                    ("get", relay.url + "there", self.path("copy")))]:
                done.result()
        self.assert_same(self.path("original"), os.path.join(self.served, "here"))
        self.assert_same(os.path.join(self.served, "there"), self.path("copy"))


class Suspensions(ServiceTest):
    """What a machine does that sleeps: both ends stand still, and one wakes before the other."""

    server_arguments = ("--timeout", "2", "--idle-timeout", "2")

    def start(self, *command):
        return subprocess.Popen([IWARP, *command, "--timeout", "2"], stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True)

    def test_of_both_ends_lose_no_transfer(self):
        relay = Relay(self.server.host, self.server.port, 4 * MIB)
        self.addCleanup(relay.close)
        sparse_file(self.path("original"), 8 * MIB)
        sparse_file(os.path.join(self.served, "there"), 8 * MIB)
        clients = [self.start("put", self.path("original"), relay.url + "here"),
                   self.start("get", relay.url + "there", self.path("copy"))]
        time.sleep(0.5)
        put, get = clients
        for process in (put, get, self.server.process):
            process.send_signal(signal.SIGSTOP)
        time.sleep(3)  # Longer than either waits.
        put.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        self.server.process.send_signal(signal.SIGCONT)
        time.sleep(0.5)
        get.send_signal(signal.SIGCONT)
        for client in clients:
            said = client.communicate(timeout=PATIENCE)[1]
            self.assertEqual(client.returncode, 0, said + self.server.logged())
        self.assert_same(self.path("original"), os.path.join(self.served, "here"))
        self.assert_same(os.path.join(self.served, "there"), self.path("copy"))


if __name__ == "__main__":
    unittest.main()
