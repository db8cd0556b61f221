#!/usr/bin/env python3
"""What `iwarp serve` gives up before it listens, and that it serves where the kernel cannot have it confined."""

import ctypes
import errno
import glob
import os
import struct
import unittest

from service import SANITIZED, ServiceTest, random_file, wait_until

CREATE_RULESET = 444  # Landlock's, the same on every processor
PR_SET_NO_NEW_PRIVS, PR_SET_SECCOMP, SECCOMP_MODE_FILTER = 38, 22, 2


def landlock_version():
    """0 without Landlock."""
    return max(0, ctypes.CDLL(None).syscall(CREATE_RULESET, None, 0, 1))


def without_landlock():
    """For preexec_fn: the call fails as in a kernel that has none."""
    deny = 0x00050000 | errno.ENOSYS
    code = [(0x20, 0, 0, 0), (0x15, 0, 1, CREATE_RULESET), (0x06, 0, 0, deny), (0x06, 0, 0, 0x7FFF0000)]
    text = ctypes.create_string_buffer(b"".join(struct.pack("=HBBI", *step) for step in code))
    program = ctypes.create_string_buffer(struct.pack("@HP", len(code), ctypes.addressof(text)))
    libc = ctypes.CDLL(None)
    libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0)
    if libc.prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program, 0, 0) != 0:
        raise OSError("no seccomp")


class Confinement(ServiceTest):
    def test_no_thread_can_gain_privileges(self):
        tasks = glob.glob(f"/proc/{self.server.process.pid}/task/*/status")
        self.assertGreater(len(tasks), 1)
        for task in tasks:
            with open(task, encoding="ascii") as status:
                self.assertIn("NoNewPrivs:\t1\n", status.read())

    @unittest.skipUnless(landlock_version(), "this kernel does not offer Landlock")
    def test_it_is_confined_and_serves(self):
        self.assertIn(f"confined to the directory by Landlock, version {landlock_version()}", self.server.logged())
        self.assert_serves()

    def test_large_files_and_lists_are_served(self):
        content = random_file(self.path("large"), 20_000_000)
        os.mkdir(os.path.join(self.served, "below"))
        for _ in range(2):  # the second one replaces
            self.done("put", self.path("large"), self.server.url + "below/large")
        with open(os.path.join(self.served, "below", "large"), "rb") as file:
            self.assertEqual(file.read(), content)
        self.done("get", self.server.url + "below/large", self.path("back"))
        self.assert_same(self.path("large"), self.path("back"))
        self.assertIn("large", self.done("ls", self.server.url + "below/").stdout)

    def test_captures_are_made_beside_the_directory(self):
        captures = self.path("captures")
        os.mkdir(captures)
        self.server = self.start_server("--capture", captures)
        self.assert_serves()
        self.assertTrue(wait_until(lambda: os.listdir(captures)))

    def test_without_landlock_one_line_says_so_and_it_serves(self):
        self.server = self.start_server(preexec_fn=without_landlock)
        self.assert_serves()
        lines = [line for line in self.server.logged().splitlines() if "Landlock" in line]
        self.assertEqual(len(lines), 1, lines)
        self.assertIn(f"errno {errno.ENOSYS}", lines[0])
        self.assertIn("not confined", lines[0])

    @unittest.skipUnless(SANITIZED, "built without a sanitizer")
    def test_leak_checking_works(self):
        self.assert_serves()
        self.assertEqual(self.server.stop(), 0, self.server.logged())
        self.assertNotIn("LeakSanitizer has encountered a fatal error", self.server.logged())


if __name__ == "__main__":
    unittest.main()
