"""Runs a case: a server, one or more clients, logs and time-outs. Ends only what it started."""

import contextlib
import dataclasses
import os
import re
import shlex
import signal
import subprocess
import time

import checks
from ports import free_port, is_listening

START_SECONDS = 15  # Until a server listens.
LONELY_SECONDS = 5  # Until a client has seen that its server has failed.
END_SECONDS = 15    # Until a server has seen that its client has gone.


class End:
    """A running program with its output in two files."""

    def __init__(self, name, command, directory, environment):
        self.name = name
        self.logs = [os.path.join(directory, f"{name}.{stream}") for stream in ("out", "err")]
        with open(self.logs[0], "wb") as out, open(self.logs[1], "wb") as err:
            # A session of its own, so that what it forks can be ended with it.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out,
                                            stderr=err, cwd=directory, env=environment,
                                            start_new_session=True)

    def status(self):
        return self.process.poll()

    def wait(self, deadline):
        """Its status, or None if it is still running at the deadline."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.01, deadline - time.monotonic()))
        return self.process.returncode

    def stop(self):
        """Asks it to end, and then makes it. Whether it was still running."""
        running = self.process.poll() is None
        for number in (signal.SIGTERM, signal.SIGKILL):
            with contextlib.suppress(ProcessLookupError):
                os.killpg(self.process.pid, number)
            if self.wait(time.monotonic() + 5) is not None and number == signal.SIGTERM:
                continue  # what it forked may be there still
        return running

    def said(self):
        text = ""
        for path in self.logs:
            with open(path, encoding="utf-8", errors="replace") as log:
                text += log.read().rstrip("\n") + "\n"
        return text.replace("\r", "\n")


@dataclasses.dataclass
class Result:
    problem: str | None  # what is wrong
    figure: str
    seconds: float
    logs: str            # the directory


class Failed(Exception):
    """An exchange did not come to its end; the sentence says how."""


class Exchange:
    """One case at one place. `launcher` is what stands between `iwarp run` and the program."""

    def __init__(self, case, place, directory, patience=1.0, launcher=()):
        self.case, self.place, self.directory = case, place, directory
        self.launcher = list(launcher)
        self.deadline = time.monotonic() + case.seconds * patience
        self.patience = patience
        self.port = case.port or free_port()
        self.clients, self.server = [], None

    def words(self, line):
        """A command line with what its names stand for."""
        beside = self.place.beside()
        values = {**os.environ, "host": self.place.host, "clients_host": self.place.clients_host,
                  "port": self.port, "dir": self.directory, "beside": shlex.join(beside)}
        words = []
        for word in shlex.split(line):
            words += beside if word == "{beside}" else [word.format(**values)]
        return words

    def options(self):
        """Of `iwarp run`."""
        flags = (("--stats", self.case.stats), ("--timewait-exit", self.case.timewait_exit))
        return ["--device-as", self.case.device_as, *(flag for flag, wanted in flags if wanted)]

    def environment(self):
        environment = {name: value for name, value in os.environ.items()
                       if not name.startswith(("IWARP_", "LD_"))}
        return {**environment, "HOME": self.directory}

    def start(self, name, end, line):
        command = [*self.place.prefix(end), self.place.iwarp, "run", *self.options(), "--",
                   *self.launcher, *self.words(line)]
        return End(name, command, self.directory, self.environment())

    def prepare(self):
        command = [*self.place.prefix("client"), *self.words(self.case.prepare)]
        seconds = START_SECONDS * self.patience
        try:
            done = subprocess.run(command, cwd=self.directory, env=self.environment(), check=False,
                                  capture_output=True, text=True, timeout=seconds)
        except subprocess.TimeoutExpired as late:
            raise Failed(f"{self.case.prepare} did not end within {seconds:.0f} s") from late
        if done.returncode != 0:
            raise Failed(f"{self.case.prepare}: {(done.stderr or done.stdout).strip()}")

    def is_ready(self):
        ready = re.search(self.case.ready, self.server.said(), re.MULTILINE)
        return ready and is_listening(self.port, self.server.process.pid)

    def start_server(self):
        self.server = self.start("server", "server", self.case.server)
        limit = time.monotonic() + START_SECONDS * self.patience
        while not self.is_ready():
            if self.server.status() is not None:
                raise Failed(f"the server ended with status {self.server.status()} "
                             "before it listened")
            if time.monotonic() > limit:
                raise Failed(f"the server does not listen on port {self.port}")
            time.sleep(0.02)

    def run_clients(self):
        for number in range(self.case.clients):
            if self.case.spaced and number:
                self.await_client(self.clients[-1], self.case.spaced)
            self.clients.append(self.start(f"client{number or ''}", "client", self.case.client))
        for client in self.clients:
            self.await_client(client)

    def await_client(self, client, pattern=None):
        """Waits for its end, or until it has printed the pattern. Without its server it may wait for
        ever, so then it gets a moment only."""
        lonely = None
        interval = 0.01 if pattern else 0.2
        while client.wait(time.monotonic() + interval) is None:
            if pattern and re.search(pattern, client.said(), re.MULTILINE):
                return
            now = time.monotonic()
            if self.server and self.server.status():
                lonely = lonely or now + LONELY_SECONDS * self.patience
                if now > lonely:
                    raise Failed(f"the server ended with status {self.server.status()}")
            if now > self.deadline:
                raise Failed(f"the {client.name} did not end within "
                             f"{self.case.seconds * self.patience:.0f} s")

    def end_server(self):
        """Its status; None if it served until it was stopped, as it should."""
        if self.case.stopped:
            if self.server.stop():
                return None
            raise Failed(f"the server ended with status {self.server.status()}, "
                         "but should serve on")
        failed = any(client.status() != self.case.status for client in self.clients)
        patience = 1 if failed else END_SECONDS * self.patience
        status = self.server.wait(time.monotonic() + patience)
        if status is None and not failed:
            raise Failed(f"the server did not end within {patience:.0f} s of its client")
        return status

    def outcome(self):
        status = 0
        if self.case.prepare:
            self.prepare()
        if self.case.server:
            self.start_server()
        self.run_clients()
        if self.case.server:
            status = self.end_server()
        return checks.Outcome("".join(client.said() for client in self.clients),
                              tuple(client.status() for client in self.clients),
                              self.server.said() if self.server else "", status, self.directory)

    def run(self):
        began = time.monotonic()
        figure = ""
        try:
            outcome = self.outcome()
            problem = checks.problem(outcome, self.case.checks, self.case.status)
            figure = checks.figure(outcome, self.case.figure, self.case.unit)
        except Failed as failure:
            problem = str(failure)
        finally:
            seconds = time.monotonic() - began
            for end in (*self.clients, self.server):
                if end:
                    end.stop()
        return Result(problem, figure, seconds, self.directory)

    def tails(self, lines):
        """The end of what each end said."""
        for end in (*self.clients, self.server):
            if end:
                yield end.name, end.said().rstrip().split("\n")[-lines:]
