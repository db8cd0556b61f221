"""Runs an exchange with one injection, and judges what came of it."""

import dataclasses
import os
import shutil
import signal
import time

from ends import End
from ports import free_port
from region import Region

# Outcomes that are as they should be.
DONE, REFUSED, NOT_REACHED = "done", "error", "not reached"
# And those that are not.
CRASH, HANG, WRONG, LEFT_OVER, VAGUE, GONE, BROKEN = (
    "crash", "hang", "wrong result", "left over", "vague error", "server gone", "broken")
GOOD = (DONE, REFUSED, NOT_REACHED)

START_SECONDS = 30  # Until a server listens.


@dataclasses.dataclass
class Result:
    exchange: str
    injection: str
    outcome: str
    detail: str = ""
    place: list = dataclasses.field(default_factory=list)
    seconds: float = 0.0
    stacks: str = ""


class Verdict(Exception):
    """A defect, as soon as it is seen."""

    def __init__(self, outcome, detail, end=None, stacks=""):
        super().__init__(outcome)
        self.outcome, self.stacks = outcome, stacks
        said = "" if end is None else f" [{end.name} said: {' | '.join(end.said().split(chr(10))[-6:])}]"
        self.detail = detail + said


class Judge:
    """Runs one exchange again and again, in a directory of its own. A server that does not fail
    serves all the runs."""

    def __init__(self, exchange, interposer, directory, patience):
        self.exchange, self.interposer, self.patience = exchange, interposer, patience
        self.directory = directory
        self.kept, self.port = None, None
        os.makedirs(directory, exist_ok=True)

    def close(self):
        if self.kept:
            self.kept.kill()
            self.kept = None

    def counts(self):
        """The calls of an exchange in which nothing fails."""
        region = Region(self.directory, armed=self.exchange.injected != "server")
        result = self.run(None, region)
        if result.outcome != DONE:
            raise RuntimeError(f"{self.exchange.name} fails by itself: {result.outcome} {result.detail}")
        return region.counts()

    def run(self, injection, region=None):
        began = time.monotonic()
        region = region or Region(self.directory, armed=self.exchange.injected != "server")
        result = Result(self.exchange.name, str(injection), BROKEN)
        started = []
        try:
            result.outcome, result.detail = self._judged(injection, region, started)
        except Verdict as verdict:
            result.outcome, result.detail, result.stacks = (
                verdict.outcome, verdict.detail, verdict.stacks)
            self.close()
        finally:
            for end in started:
                if end is not self.kept:
                    end.kill()
        if injection and not region.fired and result.outcome in GOOD:
            result.outcome = NOT_REACHED
        result.place = region.place()
        result.seconds = time.monotonic() - began
        return result

    # The steps of a run.

    def _start(self, started, name, command, added=None):
        end = End(name, command, self.directory, added)
        started.append(end)
        return end

    def _judged(self, injection, region, started):
        exchange = self.exchange
        exchange.prepare(self.directory)
        added = region.environment(self.interposer, injection, exchange.program)
        at_server = exchange.injected in ("server", "start")
        server = self._server(started, added if at_server else None)
        if at_server and server.status is not None:
            return self._ended_at_start(server, injection)
        if exchange.injected == "server":
            region.arm()
        client = self._start(started, "client", exchange.client(self.directory, self.port),
                             None if at_server else added)
        self._ends(client)
        region.arm(False)
        if wrong := exchange.wrong_result(self.directory, client):
            raise Verdict(WRONG, wrong, client)
        if server:
            self._serves_on(server, started, injection)
            self._nothing_left_over(injection, server)
        else:
            self._nothing_left_over(injection, client)
        if at_server:
            self._stop(server)
        if client.status == 0:
            return DONE, ""
        if not at_server or exchange.server_logs or server.status not in (None, 0, -signal.SIGTERM):
            self._names_cause([server, client] if at_server else [client], injection)
        return REFUSED, " | ".join(client.said().splitlines()[-2:])

    def _server(self, started, added):
        command = self.exchange.server(self.directory, 0)
        if command is None or (self.kept and self.kept.status is None):
            return self.kept
        self.port = free_port()
        server = self._start(started, "server", self.exchange.server(self.directory, self.port), added)
        listens = server.listens(self.port, min(START_SECONDS, self.patience))
        if not listens and server.status is None:
            raise Verdict(HANG, "the server neither listens nor ends", server, server.stacks())
        if added is None:
            if not listens:
                raise Verdict(BROKEN, "the server does not start", server)
            self.kept = server
        return server

    def _ended_at_start(self, server, injection):
        if server.has_crashed():
            raise Verdict(CRASH, f"the server ended with {_status(server)}", server)
        if server.status == 0:
            raise Verdict(WRONG, "the server did not start and ended with status 0", server)
        self._names_cause([server], injection)
        self._nothing_left_over(injection, server)
        return REFUSED, " | ".join(server.said().splitlines()[-2:])

    def _ends(self, client):
        if client.wait(self.patience) is None:
            raise Verdict(HANG, f"the client runs after {self.patience} s", client, client.stacks())
        if client.has_crashed():
            raise Verdict(CRASH, f"the client ended with {_status(client)}", client)

    def _serves_on(self, server, started, injection):
        if server.has_crashed():
            raise Verdict(CRASH, f"the server ended with {_status(server)}", server)
        if server.status is not None:
            if self._ended_at_error(server):
                return
            raise Verdict(GONE, f"the server ended with {_status(server)}", server)
        client = self._start(started, "next",
                             self.exchange.next_client(self.directory, self.port))
        if client.wait(self.patience) != 0:
            stacks = client.stacks() + server.stacks()
            if self._ended_at_error(server, 2):
                return
            if server.has_crashed():
                raise Verdict(CRASH, f"the server ended with {_status(server)}", server)
            ends = "runs on" if client.status is None else f"ended with {_status(client)}"
            raise Verdict(GONE, f"the next client {ends}: {client.said().strip()}", server, stacks)
        if wrong := self.exchange.wrong_next_result(self.directory, client):
            raise Verdict(WRONG, f"the next client: {wrong}", client)

    def _ended_at_error(self, server, seconds=0):
        may_end = (self.exchange.ends_with_client if server is self.kept
                   else self.exchange.ends_at_errors)
        if not may_end:
            return False
        server.wait(seconds)
        return server.status is not None and server.status > 0 and not server.has_crashed()

    # A server may need a while to see that a client has gone.
    def _nothing_left_over(self, injection, end):
        if injection and injection.call == "unlink":
            return
        deadline = time.monotonic() + self.patience
        while left := self.exchange.left_over(self.directory):
            if time.monotonic() > deadline or end.status is not None:
                raise Verdict(LEFT_OVER, ", ".join(left), end)
            time.sleep(0.05)

    def _stop(self, server):
        if server.status is not None:
            return
        server.signal(signal.SIGTERM)
        if server.wait(self.patience) is None:
            raise Verdict(HANG, "the server does not end when it is asked to", server, server.stacks())
        if server.has_crashed():
            raise Verdict(CRASH, f"the server ended with {_status(server)}", server)

    # A server may tell its log or its client.
    def _names_cause(self, ends, injection):
        if not injection or not self.exchange.names_cause:
            return
        if len(ends) > 1 and injection.call == "malloc" and injection.lasts:
            return  # a server without any memory goes on, and has none for a sentence
        said = "".join(end.said() for end in ends).lower()
        if not any(cause in said for cause in [*injection.causes(), *self.exchange.also_names]):
            clients = "" if len(ends) == 1 else f"; the client: {ends[1].said().strip()}"
            raise Verdict(VAGUE, f"nothing about '{injection.causes()[0]}'{clients}", ends[0])


def _status(end):
    return signal.Signals(-end.status).name if end.status < 0 else f"status {end.status}"


def keep_logs(judge, result, directory):
    """Copies what the ends said."""
    target = os.path.join(directory, f"{result.exchange}-{result.injection}".replace(" ", "-"))
    os.makedirs(target, exist_ok=True)
    for name in os.listdir(judge.directory):
        if name.endswith((".out", ".err")):
            shutil.copy(os.path.join(judge.directory, name), target)
    with open(os.path.join(target, "place"), "w", encoding="utf-8") as file:
        file.write("\n".join([result.outcome, result.detail, *result.place, result.stacks]))
