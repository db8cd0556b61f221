#!/usr/bin/env python3
"""Runs the example of producers with some that end well, one that is killed and one that is at work when the consumer
is interrupted: the consumer tells them apart, and ends well.

usage: lost_producers.py PROGRAM"""

import re
import signal
import subprocess
import sys

TIMEOUT = 60
RECORDS = 5000
FOR_EVER = 10**15
WELL = 3


def expect(pattern, text):
    if not (found := re.fullmatch(pattern, text)):
        sys.exit(f"{text!r} does not match {pattern!r}")
    return found


def main():
    program = sys.argv[1]
    consumer = subprocess.Popen([program, "server", "0"], stdout=subprocess.PIPE, text=True)
    started = [consumer]

    def heard():
        return consumer.stdout.readline().rstrip("\n")

    try:
        port = expect(r"listens at .*:(\d+)", heard())[1]

        def produce(records, **how):
            started.append(subprocess.Popen([program, "client", "127.0.0.1", port, str(records)], **how))
            return started[-1]

        killed = produce(FOR_EVER)
        expect("a producer has come", heard())
        well = [produce(RECORDS) for _ in range(WELL)]
        for one in well:
            if one.wait(TIMEOUT) != 0:
                sys.exit(f"a producer ended with {one.returncode}")
        told = [heard() for _ in range(2 * WELL)]
        for line in ("a producer has come", f"a producer ended well: {RECORDS} records"):
            if told.count(line) != WELL:
                sys.exit(f"not {WELL} times {line!r} in {told}")
        killed.kill()
        expect(r"a producer was lost after \d+ records: .+", heard())

        at_work = produce(FOR_EVER, stderr=subprocess.PIPE, text=True)
        expect("a producer has come", heard())
        consumer.send_signal(signal.SIGINT)
        expect(rf"\d+ records; producers: {WELL} ended well, 1 lost, 1 at work", heard())
        if consumer.wait(TIMEOUT) != 0:
            sys.exit(f"the consumer ended with {consumer.returncode}")
        if at_work.wait(TIMEOUT) != 1:
            sys.exit(f"the producer that was left alone ended with {at_work.returncode}")
        told = at_work.stderr.read()  # the library warns of a reset as well
        if not re.search(r"^\S*producers: .+$", told, re.MULTILINE):
            sys.exit(f"the producer that was left alone does not say why it has ended: {told!r}")
        return 0
    finally:
        for one in started:
            one.kill()
            one.wait()


if __name__ == "__main__":
    sys.exit(main())
