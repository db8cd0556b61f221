"""The memory that a process with the interposer shares with us (interposer/region.hpp)."""

import mmap
import os
import struct

HEADER = struct.Struct("=II")
COUNTED = struct.Struct("=24sQ")
MOST_CALLS = 128
PLACE_SIZE = 4096
PLACE_AT = HEADER.size + MOST_CALLS * COUNTED.size + 8
SIZE = PLACE_AT + PLACE_SIZE


class Region:
    """A file; `environment` makes a process map it, and fail as the injection says."""

    def __init__(self, directory, armed=True):
        self.path = os.path.join(directory, "region")
        with open(self.path, "wb") as file:
            file.truncate(SIZE)
        with open(self.path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), SIZE)
        if armed:
            self.arm()

    def arm(self, on=True):
        self.memory[0:4] = struct.pack("=I", on)

    @property
    def fired(self):
        """How many calls were made to fail."""
        return HEADER.unpack_from(self.memory)[1]

    def counts(self):
        """The calls that were made while armed, by name."""
        found = {}
        for index in range(MOST_CALLS):
            name, made = COUNTED.unpack_from(self.memory, HEADER.size + index * COUNTED.size)
            if name := name.rstrip(b"\0").decode():
                found[name] = made
        return found

    def place(self):
        """The stack of the first call that failed, a line for each frame."""
        text = self.memory[PLACE_AT:PLACE_AT + PLACE_SIZE]
        return text.split(b"\0", 1)[0].decode(errors="replace").splitlines()

    def environment(self, interposer, injection=None, program=None):
        """What to add to a process's environment."""
        added = {"LD_PRELOAD": interposer, "IWARP_FAULTS_REGION": self.path}
        if injection:
            added["IWARP_FAULTS"] = injection.plan()
        if program:
            added["IWARP_FAULTS_PROGRAM"] = program
        return added
