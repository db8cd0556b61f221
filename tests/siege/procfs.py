"""What a process uses, as the kernel tells it."""

import os
import threading
import time
import typing

TICK = os.sysconf("SC_CLK_TCK")
MIB = 1 << 20


class Use(typing.NamedTuple):
    """Octets of memory (all that is resident, and what no file backs), threads, descriptors, and
    seconds of a processor so far."""
    rss: int
    anonymous: int
    threads: int
    descriptors: int
    cpu: float


def use_of(pid):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        fields = dict(line.split(":", 1) for line in file)
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        times = file.read().rsplit(")", 1)[1].split()[11:13]

    def octets(*names):
        return sum(int(fields[name].split()[0]) * 1024 for name in names)

    return Use(octets("VmRSS"), octets("RssAnon", "RssShmem"), int(fields["Threads"]),
               len(os.listdir(f"/proc/{pid}/fd")), sum(map(int, times)) / TICK)


class Peaks(threading.Thread):
    """Looks at a process a few times a second; keeps the largest of each figure."""

    def __init__(self, pid, interval=0.25):
        super().__init__(daemon=True)
        self.pid, self.interval = pid, interval
        self.rss = self.threads = self.descriptors = 0
        self.ended = threading.Event()

    def run(self):
        while not self.ended.is_set():
            try:
                now = use_of(self.pid)
            except (OSError, KeyError):
                return  # It has died, which others see.
            self.rss = max(self.rss, now.rss)
            self.threads = max(self.threads, now.threads)
            self.descriptors = max(self.descriptors, now.descriptors)
            self.ended.wait(self.interval)

    def stop(self):
        self.ended.set()
        self.join()


def wait_until(condition, seconds):
    """Polls until the condition holds; whether it did."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(0.05)
    return True
