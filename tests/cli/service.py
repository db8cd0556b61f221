"""What the end-to-end tests of the iwarp program share: real processes on free ports.

The program's path comes in the environment variable IWARP; IWARP_SANITIZED is 1 if it was built
with a sanitizer, whose memory figures mean nothing.
"""

import json
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

IWARP = os.environ.get("IWARP", "iwarp")
SANITIZED = os.environ.get("IWARP_SANITIZED") == "1"
PATIENCE = 120  # Seconds for anything that should take a moment.
MIB = 1 << 20


def random_file(path, size):
    """Fills a file with reproducible bytes and returns them."""
    content = random.Random(size).randbytes(size)
    with open(path, "wb") as file:
        file.write(content)
    return content


def sparse_file(path, size):
    """A file of zeros that takes no room."""
    with open(path, "wb") as file:
        file.truncate(size)


def huge_file(path):
    """A file of zeros that no machine moves before a test has done its worst. It takes no room, but a
    server refuses what would not fit beside it."""
    room = os.statvfs(os.path.dirname(path))
    size = min(64 << 30, room.f_bavail * room.f_frsize // 2)
    if size < 8 << 30:
        raise unittest.SkipTest(f"{path} has too little room for a transfer that goes on and on")
    sparse_file(path, size)


def run(*arguments, **options):
    """Runs the program to its end."""
    return subprocess.run([IWARP, *arguments], capture_output=True, text=True, timeout=PATIENCE,
                          stdin=subprocess.DEVNULL, check=False, **options)


def wait_until(condition, seconds=PATIENCE):
    """Polls until the condition holds; whether it did."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        if condition():
            return True
        time.sleep(0.02)
    return condition()


def memory_of(pid):
    """Anonymous and shared memory of a process, in octets."""
    with open(f"/proc/{pid}/status", encoding="ascii") as status:
        fields = dict(line.split(":", 1) for line in status)
    return sum(int(fields[name].split()[0]) * 1024 for name in ("RssAnon", "RssShmem"))


def limit_file_size(octets):
    """For preexec_fn: no file of the process grows beyond so many octets."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (octets, octets))


class Server:
    """A running `iwarp serve` on a free port."""

    def __init__(self, directory, *arguments, prefix=(), **options):
        self.log = tempfile.TemporaryFile(mode="w+")
        listen = () if "--listen" in arguments else ("--listen", "127.0.0.1:0")
        self.process = subprocess.Popen(
            [*prefix, IWARP, "serve", directory, *listen, "--log-level", "debug", *arguments],
            stdout=subprocess.PIPE, stderr=self.log, stdin=subprocess.DEVNULL, text=True, **options)
        line = self.process.stdout.readline()
        found = re.search(r"iwarp://(.+):(\d+)/", line)
        if not found:
            self.process.kill()
            self.process.wait()
            raise AssertionError(f"the server said {line!r} and logged {self.logged()!r}")
        self.host, self.port = found.group(1), int(found.group(2))
        self.url = found.group(0)

    def logged(self):
        self.log.seek(0)
        return self.log.read()

    def stop(self):
        """Ends the server the clean way and returns its status."""
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGCONT)
            self.process.send_signal(signal.SIGTERM)
        try:
            status = self.process.wait(PATIENCE)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        finally:
            self.process.stdout.close()
        return status

    def connect(self):
        """A plain TCP connection to the server."""
        return socket.create_connection((self.host, self.port), timeout=PATIENCE)


class ServiceTest(unittest.TestCase):
    """A directory that a server offers, and one beside it for the client's files."""

    server_arguments = ()

    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-test-")
        self.addCleanup(scratch.cleanup)
        self.served = os.path.join(scratch.name, "served")
        self.mine = os.path.join(scratch.name, "mine")
        os.mkdir(self.served)
        os.mkdir(self.mine)
        self.server = self.start_server(*self.server_arguments)

    def start_server(self, *arguments, **options):
        server = Server(self.served, *arguments, **options)
        self.addCleanup(self.finish, server)
        return server

    def finish(self, server):
        killed = server.process.poll() == -signal.SIGKILL
        status = server.stop()
        log = server.logged()
        server.log.close()
        if not killed:
            self.assertEqual(status, 0, log)

    def path(self, name):
        return os.path.join(self.mine, name)

    def done(self, *arguments, **options):
        """Runs the program, which has to succeed."""
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr + self.server.logged())
        return result

    def reported(self, *arguments):
        return json.loads(self.done(*arguments, "--json").stdout)

    def fails(self, status, *arguments, names=(), **options):
        """Runs the program, which has to fail with one sentence that names things."""
        result = run(*arguments, **options)
        self.assertEqual(result.returncode, status, result.stderr)
        self.assertRegex(result.stderr, r"\Aiwarp: [^\n]+\n\Z")
        for name in names:
            self.assertIn(name, result.stderr)
        return result.stderr

    def assert_serves(self):
        """The server is there and does its work."""
        content = random_file(self.path("probe"), 100_000)
        self.done("put", self.path("probe"), self.server.url + "probe")
        self.done("get", self.server.url + "probe", self.path("probe.back"))
        with open(self.path("probe.back"), "rb") as file:
            self.assertEqual(file.read(), content)
        os.remove(os.path.join(self.served, "probe"))

    def assert_same(self, path, other):
        subprocess.run(["cmp", path, other], check=True, timeout=PATIENCE)


def mpa_request(private_data=b"", flags=0x40, revision=1, length=None):
    """An MPA request frame (RFC 5044, section 7.1.1)."""
    stated = len(private_data) if length is None else length
    return b"MPA ID Req Frame" + struct.pack(">BBH", flags, revision, stated) + private_data


HELLO = b"IWFS\x01\x00\x00\x00"
