"""Good clients: workers that run one client program after the other, each an operation."""

import itertools
import os
import select
import subprocess
import tempfile
import threading
import time
import typing


class Operation(typing.NamedTuple):
    """One run of a client; `problem` is empty if it ended well."""
    ended: float
    seconds: float
    problem: str


def run(command, environment, patience):
    """Runs a client to its end, or for so many seconds."""
    began = time.monotonic()
    with tempfile.TemporaryFile() as said:
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said,
                                   env=environment)
        # A descriptor of the process tells its end at once; Popen.wait() would look now and then.
        pidfd = os.pidfd_open(process.pid)
        ready = select.select([pidfd], [], [], patience)[0]
        os.close(pidfd)
        if not ready:
            process.kill()
        status = process.wait()
        ended = time.monotonic()
        problem = ""
        if not ready:
            problem = f"not done after {patience} seconds"
        elif status != 0:
            said.seek(0)
            last = said.read().decode(errors="replace").strip().rsplit("\n", 1)[-1]
            problem = f"status {status}: {last}"
    return Operation(ended, ended - began, problem)


class GoodClients:
    """So many workers. What they did is in `operations`, in the order of its ends."""

    def __init__(self, server, workers, patience):
        self.server, self.patience = server, patience
        self.operations = []
        self.wanted, self.ended, self.busy = False, False, 0
        self.changed = threading.Condition()
        self.threads = [threading.Thread(target=self.work, args=(worker,), daemon=True)
                        for worker in range(workers)]
        for thread in self.threads:
            thread.start()

    def work(self, worker):
        for number in itertools.count():
            with self.changed:
                self.changed.wait_for(lambda: self.wanted or self.ended)
                if self.ended:
                    return
                self.busy += 1
            done = run(self.server.good(worker, number), self.server.environment, self.patience)
            with self.changed:
                self.operations.append(done)
                self.busy -= 1
                self.changed.notify_all()

    def go_on(self):
        with self.changed:
            self.wanted = True
            self.changed.notify_all()

    def rest(self):
        """Returns when the operations under way have ended."""
        with self.changed:
            self.wanted = False
            self.changed.wait_for(lambda: self.busy == 0)

    def finish(self):
        self.rest()
        with self.changed:
            self.ended = True
            self.changed.notify_all()
        for thread in self.threads:
            thread.join()

    def between(self, begin, end):
        with self.changed:
            return [one for one in self.operations if begin <= one.ended < end]
