#!/usr/bin/env python3
"""System calls of two threads that sleep in ibv_get_cq_event() until a message has come, and answer it.
What is counted is work, by strace. With --print it tells the figures."""

import os
import subprocess
import sys
import unittest

import counted_calls

PROGRAM = os.environ["BLOCKING_EXCHANGE"]
ROUNDS = 2000


def run(rounds):
    with counted_calls.traced([PROGRAM, rounds]) as (program, calls):
        if program.wait(timeout=counted_calls.PATIENCE) != 0:
            raise RuntimeError(f"the exchange ended with status {program.returncode}")
    return calls


def calls_per_message():
    return counted_calls.each(run(ROUNDS), run(0), 2 * ROUNDS)


class Calls(unittest.TestCase):
    """The thread sleeps at the socket, reads and answers; the engine is not woken, and no event is
    written and read. Twice the engine is told which of the two has the socket, and signals are kept
    from the thread but while it sleeps."""

    def test_of_a_message(self):
        calls = calls_per_message()
        for name, count in (("recvfrom", 1), ("sendmsg", 1), ("fcntl", 1), ("epoll_pwait", 1),
                            ("epoll_ctl", 2), ("rt_sigprocmask", 2)):
            self.assertLessEqual(calls.pop(name), count + 0.1, name)
        for lock in ("futex", "sched_yield"):  # both ends are in one process here, and meet at the engine's
            calls.pop(lock, 0)
        for look in ("pread64", "clock_nanosleep"):  # whether the other sleeps yet
            calls.pop(look, 0)
        self.assertLessEqual(sum(calls.values()), 0.1, calls)


def print_all():
    calls = calls_per_message()
    print(f"{sum(calls.values()):.2f} {({name: each for name, each in calls.items() if each >= 0.01})}")


if __name__ == "__main__":
    if subprocess.run([PROGRAM, "0"], check=False).returncode == counted_calls.SKIPPED:
        sys.exit(counted_calls.SKIPPED)
    counted_calls.main(print_all)
