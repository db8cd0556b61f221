#!/usr/bin/env python3
"""Runs an example as a server and a client: both have to end well, the server at an interrupt.

usage: two_processes.py PROGRAM [--server WORDS] [--client WORDS]    (words as CMake lists: a;b)
The word FOLDER stands for an empty folder. The client runs twice: a server outlives its clients."""

import argparse
import re
import signal
import subprocess
import sys
import tempfile

TIMEOUT = 60


def words_of(text, folder):
    return [folder if word == "FOLDER" else word for word in text.split(";") if word]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--server", default="")
    parser.add_argument("--client", default="")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        server = subprocess.Popen([given.program, "server", "0", *words_of(given.server, folder)],
                                  stdout=subprocess.PIPE, text=True)
        try:
            port = re.search(r":(\d+)$", server.stdout.readline())[1]
            for _ in range(2):
                subprocess.run([given.program, "client", "127.0.0.1", port,
                                *words_of(given.client, folder)], timeout=TIMEOUT, check=True)
            server.send_signal(signal.SIGINT)
            return server.wait(TIMEOUT)
        finally:
            server.kill()
            server.wait()


if __name__ == "__main__":
    sys.exit(main())
