#!/usr/bin/env python3
"""The program that says how far apart two processors are."""

import json
import os
import subprocess
import unittest

PROGRAM = os.environ.get("CORE_DISTANCE", "build/release/bench/tcp/core_distance")


def run(*arguments):
    return subprocess.run([PROGRAM, *map(str, arguments)], capture_output=True, text=True, timeout=60,
                          check=False)


class CoreDistance(unittest.TestCase):
    allowed = sorted(os.sched_getaffinity(0))

    @unittest.skipIf(len(allowed) < 2, "one processor only")
    def test_is_told_in_nanoseconds(self):
        done = run(self.allowed[0], self.allowed[-1])
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertGreater(json.loads(done.stdout)["round_trip_ns"], 0)

    def test_of_one_processor_there_is_none(self):
        self.assertEqual(run(self.allowed[0], self.allowed[0]).returncode, 1)

    def test_of_a_processor_that_is_not_there_is_refused(self):
        for wrong in (100_000, 1_000_000_000, -1, "one", "0x", ""):
            with self.subTest(wrong=wrong):
                done = run(self.allowed[0], wrong)
                self.assertEqual(done.returncode, 1)
                self.assertIn("core_distance: ", done.stderr)

    def test_wants_two(self):
        for arguments in ((), (0,), (0, 1, 2)):
            with self.subTest(arguments=arguments):
                self.assertEqual(run(*arguments).returncode, 2)


if __name__ == "__main__":
    unittest.main()
