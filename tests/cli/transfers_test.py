#!/usr/bin/env python3
"""Files that cross between real processes: contents, names, options, reports."""

import concurrent.futures
import hashlib
import json
import os
import pty
import select
import signal
import stat
import subprocess
import time
import unittest

from service import IWARP, MIB, PATIENCE, SANITIZED, Server, ServiceTest, memory_of, random_file
from service import run, sparse_file


class Transfers(ServiceTest):
    def round_trip(self, size, *options):
        content = random_file(self.path("original"), size)
        put = self.reported("put", self.path("original"), self.server.url + "file", *options)
        get = self.reported("get", self.server.url + "file", self.path("copy"), *options)
        self.assert_same(self.path("original"), os.path.join(self.served, "file"))
        self.assert_same(self.path("original"), self.path("copy"))
        for report in (put, get):
            self.assertEqual(report["bytes"], size)
            if report["sha256"] is not None:
                self.assertEqual(report["sha256"], hashlib.sha256(content).hexdigest())
        return put, get

    def test_every_size_arrives_whole(self):
        for size in (0, 1, 3, 4095, 4096, MIB - 1, MIB, MIB + 1, 9 * MIB + 5, 64 * MIB):
            with self.subTest(size=size):
                put, get = self.round_trip(size)
                self.assertIsNotNone(put["sha256"])
                self.assertEqual(put["operation"], "put")
                self.assertEqual(get["operation"], "get")
                self.assertGreater(get["seconds"], 0)

    def test_hash_none_sends_no_digest(self):
        put, get = self.round_trip(5 * MIB, "--hash", "none")
        self.assertIsNone(put["sha256"])
        self.assertIsNone(get["sha256"])

    def test_mpa_options_take_effect(self):
        for options, facts in (
                (["--mpa-revision", "1"], {"mpa_revision": 1, "crc": True}),
                (["--mpa-revision", "2"], {"mpa_revision": 2}),
                (["--markers"], {"markers_received": True, "markers_sent": False}),
                (["--markers", "--mpa-revision", "1"], {"markers_received": True})):
            with self.subTest(options=options):
                for report in self.round_trip(3 * MIB + 1, *options):
                    for name, value in facts.items():
                        self.assertEqual(report[name], value, name)

    def test_crc_is_off_only_if_both_ends_say_so(self):
        put, _ = self.round_trip(MIB, "--no-crc")
        self.assertTrue(put["crc"])
        self.server = self.start_server("--no-crc", "--markers")
        put, _ = self.round_trip(3 * MIB, "--no-crc")
        self.assertFalse(put["crc"])
        self.assertTrue(put["markers_sent"])
        put, get = self.round_trip(3 * MIB, "--markers")
        self.assertTrue(put["crc"])
        self.assertTrue(get["markers_sent"] and get["markers_received"])

    def test_put_replaces_a_file(self):
        self.round_trip(2 * MIB)
        self.round_trip(1000)
        self.assertEqual(os.listdir(self.served), ["file"])

    def test_a_replaced_file_keeps_its_mode_and_a_new_one_has_the_umask_s(self):
        def mode_of(path):
            return stat.S_IMODE(os.stat(path).st_mode)

        random_file(self.path("original"), 1000)
        for replaced in (os.path.join(self.served, "file"), self.path("copy")):
            random_file(replaced, 10)
            os.chmod(replaced, 0o600)
        self.done("put", self.path("original"), self.server.url + "file", umask=0o022)
        self.done("get", self.server.url + "file", self.path("copy"), umask=0o022)
        self.done("get", self.server.url + "file", self.path("new"), umask=0o027)
        self.assertEqual(mode_of(os.path.join(self.served, "file")), 0o600)
        self.assertEqual(mode_of(self.path("copy")), 0o600)
        self.assertEqual(mode_of(self.path("new")), 0o640)

    def test_names_keep_their_directory_and_their_spaces(self):
        os.mkdir(os.path.join(self.served, "sub dir"))
        random_file(self.path("ä b.txt"), 1000)
        self.done("put", self.path("ä b.txt"), self.server.url + "sub%20dir/")
        self.assertEqual(os.listdir(os.path.join(self.served, "sub dir")), ["ä b.txt"])
        self.done("get", self.server.url + "sub dir/ä b.txt", self.mine + "/copy")
        self.assert_same(self.path("ä b.txt"), self.path("copy"))
        os.remove(self.path("ä b.txt"))
        self.done("get", self.server.url + "sub%20dir/%c3%a4 b.txt", self.mine)
        self.assert_same(self.path("ä b.txt"), self.path("copy"))

    def test_get_follows_a_link_of_the_client_and_spares_devices(self):
        random_file(os.path.join(self.served, "file"), 1000)
        random_file(self.path("target"), 10)
        os.symlink("target", self.path("link"))
        self.done("get", self.server.url + "file", self.path("link"))
        self.assertTrue(os.path.islink(self.path("link")))
        self.assert_same(self.path("target"), os.path.join(self.served, "file"))
        self.fails(1, "get", self.server.url + "file", "/dev/null", names=["/dev/null"])

    def test_ls_lists_what_can_be_got(self):
        os.mkdir(os.path.join(self.served, "sub"))
        for name, size in (("b", 10), ("a", 3 * MIB), ("sub/inner", 7), (".hidden", 1)):
            random_file(os.path.join(self.served, name), size)
        random_file(os.path.join(self.served, ".iwarp-partial-xyz"), 1)
        os.symlink("a", os.path.join(self.served, "link"))
        os.mkfifo(os.path.join(self.served, "fifo"))
        listing = self.reported("ls", self.server.url)
        self.assertEqual([(e["name"], e["kind"], e["size"]) for e in listing["entries"]],
                         [(".hidden", "file", 1), ("a", "file", 3 * MIB), ("b", "file", 10),
                          ("sub", "directory", 0)])
        self.assertLess(abs(listing["entries"][1]["modified"] - time.time()), 3600)
        for prefix, names in (("sub/", ["sub/inner"]), ("sub/x", []), ("su", ["sub"]),
                              ("a", ["a"])):
            entries = self.reported("ls", self.server.url + prefix)["entries"]
            self.assertEqual([entry["name"] for entry in entries], names)
        self.assertRegex(self.done("ls", self.server.url + "b").stdout,
                         r"\A +10  \d{4}-\d\d-\d\d \d\d:\d\d:\d\d  b\n\Z")

    def test_ls_pages_through_large_directories(self):
        names = [f"{number:05}-{'x' * 100}" for number in range(3000)]
        for name in names:
            open(os.path.join(self.served, name), "wb").close()
        entries = self.reported("ls", self.server.url)["entries"]
        self.assertEqual([entry["name"] for entry in entries], names)

    def test_ipv6_works(self):
        self.server = self.start_server("--listen", "[::1]:0")
        self.round_trip(2 * MIB)

    def test_progress_is_shown_on_a_terminal_only(self):
        sparse_file(self.path("zeros"), 512 * MIB)
        arguments = [IWARP, "put", self.path("zeros"), self.server.url + "zeros", "--hash", "none"]
        self.assertIn("#", self.on_terminal(arguments))
        self.assertEqual(self.on_terminal([*arguments, "--quiet"]), "")
        self.assertEqual(run(*arguments[1:]).stderr, "")

    def on_terminal(self, arguments):
        """What the program writes to a terminal that is its standard error."""
        ours, theirs = pty.openpty()
        shown = b""
        with subprocess.Popen(arguments, stdout=subprocess.DEVNULL, stderr=theirs) as process:
            os.close(theirs)
            while select.select([ours], [], [], PATIENCE)[0]:
                try:
                    shown += os.read(ours, 4096)
                except OSError:
                    break
        os.close(ours)
        self.assertEqual(process.returncode, 0, shown)
        return shown.decode()


class ManyClients(ServiceTest):
    def test_all_are_served_at_once(self):
        random_file(self.path("original"), 8 * MIB)

        def client(number):
            name = f"file{number}"
            self.done("put", self.path("original"), self.server.url + name)
            self.done("get", self.server.url + name, self.path(name))
            self.assert_same(self.path("original"), self.path(name))

        with concurrent.futures.ThreadPoolExecutor(12) as pool:
            for result in [pool.submit(client, number) for number in range(24)]:
                result.result()
        self.assertEqual(len(os.listdir(self.served)), 24)

    @unittest.skipIf(SANITIZED, "a sanitizer's memory figures mean nothing")
    def test_memory_of_the_server_stays_bounded(self):
        size = 256 * MIB
        sparse_file(os.path.join(self.served, "zeros"), size)
        clients = [
            subprocess.Popen([IWARP, "get", self.server.url + "zeros", self.path(f"{number}"),
                              "--hash", "none"], stdout=subprocess.DEVNULL)
            for number in range(8)
        ]
        peak = 0
        while any(client.poll() is None for client in clients):
            peak = max(peak, memory_of(self.server.process.pid))
            time.sleep(0.01)
        self.assertEqual([client.wait() for client in clients], [0] * 8)
        self.assertLess(peak, 256 * MIB)


class Program(unittest.TestCase):
    def test_help_shows_examples(self):
        for command in ([], ["devices"], ["serve"], ["put"], ["get"], ["ls"], ["perf"]):
            result = run(*command, "--help")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertIn("xample", result.stdout, command)

    def test_a_signal_ends_the_server_with_status_0(self):
        for number in (signal.SIGINT, signal.SIGTERM):
            server = Server(".")
            server.process.send_signal(number)
            self.assertEqual(server.process.wait(PATIENCE), 0)
            server.stop()
            server.log.close()


if __name__ == "__main__":
    unittest.main()
