"""The servers that are besieged, each with a client that does one operation."""

import os
import random
import re
import signal
import subprocess
import sys

from ports import free_port, is_listening
from procfs import use_of, wait_until

HERE = os.path.dirname(os.path.abspath(__file__))
START_SECONDS = 30
END_SECONDS = 20


class Server:
    """A running server. `speaks` is the protocol that the attackers use."""

    name = speaks = ""
    says = r"(\d+)\s*$"  # what it prints when it is ready, with its port
    environment = None  # of the good clients
    rehearsal = "no-first-message"  # the attack that the short form begins with, unjudged
    not_in_short = ()

    def __init__(self, build, directory, trims=False):
        self.build, self.directory = build, directory
        self.iwarp = os.path.join(build, "cli", "iwarp")
        self.port = 0
        self.log = os.path.join(directory, "server.log")
        environment = None
        if trims:  # not with a sanitizer, whose library has to be the first one
            self.orders = os.path.join(directory, "trim")
            os.mkfifo(self.orders)
            environment = dict(os.environ, SIEGE_TRIM=self.orders,
                               GLIBC_TUNABLES="glibc.malloc.tcache_count=0:"
                                              "glibc.malloc.arena_max=1",
                               LD_PRELOAD=self.built("tests", "siege", "libsiege_trim.so"))
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(self.command(), stdin=subprocess.DEVNULL,
                                            stdout=subprocess.PIPE, stderr=log, text=True,
                                            env=environment)
        try:
            self.wait_until_ready()
        except BaseException:
            self.stop()
            raise

    def command(self):
        raise NotImplementedError

    def good(self, worker, number):
        """The command of one operation: the worker's one with this number."""
        raise NotImplementedError

    def wait_until_ready(self):
        line = self.process.stdout.readline()
        found = re.search(self.says, line)
        if not found:
            raise RuntimeError(f"{self.name} did not start, but said: {line}{self.logged()}")
        self.port = int(found[1])

    def built(self, *path):
        return os.path.join(self.build, *path)

    def alive(self):
        return self.process.poll() is None

    def trim(self):
        """Has its allocator give back what is free (trim.cpp)."""
        orders = os.open(self.orders, os.O_WRONLY | os.O_NONBLOCK)
        os.write(orders, b"t")
        os.close(orders)

    def use(self):
        return use_of(self.process.pid)

    def logged(self):
        with open(self.log, encoding="utf-8", errors="replace") as log:
            return log.read()

    def stop(self):
        if self.alive():
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(END_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()


class Serve(Server):
    """`iwarp serve`; a client puts a file, and gets it."""

    name = speaks = "serve"
    says = r"iwarp://127\.0\.0\.1:(\d+)/"

    def command(self):
        served = os.path.join(self.directory, "served")
        os.mkdir(served)
        for path, size in ((os.path.join(self.directory, "file"), 64 << 10),
                           (os.path.join(served, "large"), 16 << 20)):
            with open(path, "wb") as file:
                file.write(random.Random(size).randbytes(size))
        return [self.iwarp, "serve", served, "--listen", "127.0.0.1:0"]

    def good(self, worker, number):
        url = f"iwarp://127.0.0.1:{self.port}/of-{worker}"
        if number % 2 == 0:
            return [self.iwarp, "put", os.path.join(self.directory, "file"), url]
        return [self.iwarp, "get", url, os.path.join(self.directory, f"back-{worker}")]


class Asio(Server):
    """The example key_value_store; a client puts a value, and gets it."""

    name = speaks = "asio"

    def command(self):
        return [self.built("examples", "key_value_store"), "server", "0"]

    def good(self, worker, number):
        words = ["put", f"key {worker}", f"value {number}"] if number % 2 == 0 else [
            "get", f"key {worker}"]
        return [self.built("examples", "key_value_store"), "client", "127.0.0.1", str(self.port),
                *words]


class Rping(Server):
    """rping of Debian's rdmacm-utils under `iwarp run`; a client does some rounds.

    It ended when many requests came at once, which README.md says more about. So the short form has
    none of the attacks that send whole Requests."""

    name = speaks = "rping"
    rehearsal = "silent"
    not_in_short = ("no-first-message", "half-fpdu", "drip", "never-read", "fin-unread", "no-receive",
                    "terminates", "abandoned")

    def command(self):
        self.port = free_port()
        return [self.iwarp, "run", "rping", "-s", "-P", "-a", "127.0.0.1", "-p", str(self.port)]

    def wait_until_ready(self):
        if not wait_until(lambda: is_listening(self.port) or not self.alive(), START_SECONDS):
            raise RuntimeError("rping does not listen")

    def good(self, worker, number):
        return [self.iwarp, "run", "rping", "-c", "-a", "127.0.0.1", "-p", str(self.port), "-C", "3"]


class Verbs(Server):
    """A verbs program with a shared receive queue under `iwarp run`."""

    name = speaks = "verbs"

    def command(self):
        return [self.iwarp, "run", self.built("tests", "siege", "siege_verbs_server"), "0"]

    def good(self, worker, number):
        return [self.iwarp, "run", self.built("tests", "siege", "siege_verbs_client"),
                str(self.port)]


class Naive(Server):
    """A plain TCP server that is known to be easy to hurt, or not: the siege's own tests."""

    speaks = "serve"
    rehearsal = "flood"
    kind = ""

    def command(self):
        return [sys.executable, os.path.join(HERE, "naive_server.py"), self.kind]

    def good(self, worker, number):
        return [sys.executable, os.path.join(HERE, "naive_server.py"), "ask", str(self.port)]


def naive(of_kind):
    return type("Naive", (Naive,), {"name": f"naive-{of_kind}", "kind": of_kind})


SERVERS = {one.name: one for one in (Serve, Asio, Rping, Verbs)}
NAIVE = {one.name: one for one in map(naive, ("blocking", "leaking", "sound"))}
