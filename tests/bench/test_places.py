#!/usr/bin/env python3
"""What a place promises of its namespaces. Needs root, as they do."""

import os
import subprocess
import unittest
import unittest.mock

import of_bench  # for the path of the benchmarks
import places

AVAILABLE = "/proc/sys/net/ipv4/tcp_available_congestion_control"


def read(path):
    with open(path, encoding="ascii") as file:
        return file.read().strip()


def output_in(end, *command):
    return subprocess.run([*end, *command], check=True, capture_output=True, text=True).stdout.strip()


def can_make_namespaces():
    """Where this is not the first namespace, others do not have what is set here."""
    if os.geteuid() != 0:
        return False
    try:
        with places.congestion_control("reno"):
            made = subprocess.run(["unshare", "--net", "cat", places.CONGESTION], check=False,
                                  capture_output=True, text=True)
    except OSError:
        return False
    return made.stdout.strip() == "reno"


@unittest.skipUnless(can_make_namespaces(), "makes network namespaces")
class OfPlaces(unittest.TestCase):
    def test_both_ends_have_the_congestion_control_that_was_asked_for(self):
        before = read(places.CONGESTION)
        for control in read(AVAILABLE).split():
            for place in (places.Loopback, places.Standard):
                with self.subTest(control=control, place=place.name), place(control) as made:
                    for end in (made.client, made.server):
                        self.assertEqual(output_in(end, "cat", places.CONGESTION), control)
                self.assertEqual(read(places.CONGESTION), before)

    def test_the_mtu_is_that_of_the_place(self):
        for place in (places.Standard, places.Jumbo):
            with place(read(places.CONGESTION)) as made:
                for end in (made.client, made.server):
                    path = f"/sys/class/net/{place.device}/mtu"
                    self.assertEqual(output_in(end, "cat", path), str(place.mtu))

    def test_a_congestion_control_that_does_not_come_about_is_an_error(self):
        other = next(name for name in ("reno", "cubic") if name != read(places.CONGESTION))
        with unittest.mock.patch.object(places, "set_congestion_control", lambda name: None):
            with self.assertRaisesRegex(RuntimeError, other), places.Loopback(other):
                pass

    def test_nothing_is_left_of_it(self):
        with places.Standard(read(places.CONGESTION)) as made:
            self.assertLessEqual(set(made.namespaces), set(self.namespaces()))
        self.assertFalse(set(made.namespaces) & set(self.namespaces()))

    @staticmethod
    def namespaces():
        listed = subprocess.run(["ip", "netns", "list"], check=True, capture_output=True, text=True)
        return [line.split()[0] for line in listed.stdout.splitlines()]


if __name__ == "__main__":
    unittest.main()
