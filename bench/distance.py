"""How far apart the processors of the two ends are. The host of a virtual machine moves them about: a
cache line then takes six times as long from one to the other, and raw TCP moves a fifth. What was
measured at one distance cannot be compared with what was measured at another one."""

import json
import math
import os
import subprocess

from places import processors_of_ends

NEAREST_NS = 50  # or a little more, to and fro, between two cores that share a cache


class Unknown:
    """Where nobody asks."""

    def now(self):
        return NEAREST_NS


class Distance:
    """Asks the program core_distance of a build."""

    def __init__(self, build):
        self.program = os.path.join(build, "bench", "tcp", "core_distance")
        self.ends = [str(one) for one in processors_of_ends()]
        self.known = self.ends[0] != self.ends[1]  # with one processor there is none

    def now(self):
        """Nanoseconds to and fro."""
        if not self.known:
            return NEAREST_NS
        told = subprocess.run([self.program, *self.ends], capture_output=True, text=True, check=True,
                              timeout=60)
        return json.loads(told.stdout)["round_trip_ns"]


def step(nanoseconds):
    """Distances of the same step are the same for all purposes; each is twice as far as the one
    before."""
    return max(0, round(math.log2(max(nanoseconds, 1) / NEAREST_NS)))
