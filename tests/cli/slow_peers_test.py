#!/usr/bin/env python3
"""Links that are slow and peers that are stopped lose no transfer: only silence does."""

import concurrent.futures
import os
import re
import signal
import subprocess
import time
import unittest

from relay import Relay
from service import IWARP, MIB, PATIENCE, Server, ServiceTest, huge_file, random_file, sparse_file
from service import wait_until


class SlowLinks(ServiceTest):
    """A chunk takes longer than either end waits for a sign of life."""

    server_arguments = ("--timeout", "3", "--idle", "3")
    size = 768 * 1024
    rate = 150 * 1000  # Octets a second: more than five seconds for the file.

    def test_put_and_get_get_through(self):
        relay = Relay(self.server.host, self.server.port, self.rate)
        self.addCleanup(relay.close)
        random_file(self.path("original"), self.size)
        random_file(os.path.join(self.served, "there"), self.size)
        with concurrent.futures.ThreadPoolExecutor() as pool:
            for done in [pool.submit(self.done, *command, "--timeout", "3") for command in (
                    ("put", self.path("original"), relay.url + "here"),
                    ("get", relay.url + "there", self.path("copy")))]:
                done.result()
        self.assert_same(self.path("original"), os.path.join(self.served, "here"))
        self.assert_same(os.path.join(self.served, "there"), self.path("copy"))


class Suspensions(ServiceTest):
    """What a machine does that sleeps: both ends stand still, and one wakes before the other."""

    server_arguments = ("--timeout", "3", "--idle", "3")

    def start(self, *command):
        return subprocess.Popen([IWARP, *command, "--timeout", "3"], stderr=subprocess.PIPE,
                                stdout=subprocess.DEVNULL, text=True)

    def test_of_both_ends_lose_no_transfer(self):
        relay = Relay(self.server.host, self.server.port, 3 * MIB)
        self.addCleanup(relay.close)
        sparse_file(self.path("original"), 4 * MIB)
        sparse_file(os.path.join(self.served, "there"), 4 * MIB)
        clients = [self.start("put", self.path("original"), relay.url + "here"),
                   self.start("get", relay.url + "there", self.path("copy"))]
        put, get = clients
        self.assertTrue(wait_until(lambda: relay.passed > 2 * MIB))
        for process in (put, get, self.server.process):
            process.send_signal(signal.SIGSTOP)
        time.sleep(4)  # Longer than either waits.
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

    def test_of_one_end_for_too_long_is_given_up(self):
        huge_file(self.path("huge"))
        client = self.start("put", self.path("huge"), self.server.url + "huge")
        self.assertTrue(wait_until(lambda: "connected" in self.server.logged()))
        client.send_signal(signal.SIGSTOP)
        # It may be stopped before it has asked.
        self.assertTrue(wait_until(lambda: re.search(r"(gone|interrupted): no(thing| request)",
                                                     self.server.logged())))
        client.send_signal(signal.SIGCONT)
        client.communicate(timeout=PATIENCE)
        self.assertEqual(client.returncode, 1)
        self.assertEqual(os.listdir(self.served), [])


class Endings(ServiceTest):
    """A server that is told to end while its client has taken but a part of what was answered."""

    def end_during(self, server, *command):
        """Starts a client and tells its server to end in the middle of the transfer."""
        relay = Relay(server.host, server.port, 64 * MIB, hold_after=200_000)
        self.addCleanup(relay.close)
        arguments = [relay.url + argument[1:] if argument.startswith("@") else argument
                     for argument in command]
        client = subprocess.Popen([IWARP, *arguments], stdout=subprocess.DEVNULL,
                                  stderr=subprocess.PIPE, text=True)
        self.assertTrue(relay.holding.wait(PATIENCE))
        server.process.send_signal(signal.SIGTERM)
        self.assertTrue(wait_until(lambda: "ending" in server.logged()))
        self.assertIsNone(server.process.poll())
        return relay, client

    def outcome_of(self, *command):
        """The client's status and what it says."""
        relay, client = self.end_during(self.server, *command)
        relay.release()
        said = client.communicate(timeout=PATIENCE)[1]
        self.assertEqual(self.server.process.wait(PATIENCE), 0)
        return client.returncode, said

    def test_what_was_answered_arrives_and_is_finished(self):
        random_file(os.path.join(self.served, "there"), MIB)
        self.assertEqual(self.outcome_of("get", "@there", self.path("copy")), (0, ""))
        self.assert_same(os.path.join(self.served, "there"), self.path("copy"))

    def test_more_is_refused_and_leaves_nothing(self):
        random_file(os.path.join(self.served, "there"), 16 * MIB)
        random_file(self.path("copy"), 10)
        status, said = self.outcome_of("get", "@there", self.path("copy"))
        self.assertEqual(status, 1)
        self.assertRegex(said, r"\Aiwarp: [^\n]*/there: the server ended\n\Z")
        self.assertEqual(os.listdir(self.mine), ["copy"])
        self.assertEqual(os.path.getsize(self.path("copy")), 10)

    def test_a_listing_is_not_cut(self):
        for number in range(2500):
            open(os.path.join(self.served, f"{number:05}-{'x' * 100}"), "wb").close()
        status, said = self.outcome_of("ls", "@")
        self.assertEqual(status, 1)
        self.assertIn("the server ended", said)

    def test_the_same_signal_once_more_ends_it_at_once(self):
        random_file(os.path.join(self.served, "there"), 16 * MIB)
        server = Server(self.served)
        _, client = self.end_during(server, "get", "@there", self.path("copy"))
        server.process.send_signal(signal.SIGTERM)
        self.assertEqual(server.process.wait(PATIENCE), -signal.SIGTERM)
        server.stop()
        server.log.close()
        client.kill()
        client.communicate()

    def test_a_put_that_is_refused_leaves_nothing(self):
        huge_file(self.path("huge"))
        client = subprocess.Popen([IWARP, "put", self.path("huge"), self.server.url + "huge"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.assertTrue(wait_until(lambda: "connected" in self.server.logged()))
        self.assertEqual(self.server.stop(), 0)
        self.assertRegex(client.communicate(timeout=PATIENCE)[1], "the server ended")
        self.assertEqual(client.returncode, 1)
        self.assertEqual(os.listdir(self.served), [])


if __name__ == "__main__":
    unittest.main()
