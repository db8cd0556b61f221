"""Processes: started with their output in files, waited for within bounds, and ended."""

import contextlib
import os
import shutil
import signal
import subprocess
import time

from ports import is_listening

ABORTS = ("terminate called", "cannot allocate memory for thread-local", "*** ", "Fatal glibc error")


class End:
    """A running program. What it is given in `added` is added to our environment, which is free of
    this project's variables."""

    def __init__(self, name, command, directory, added=None):
        environment = {key: value for key, value in os.environ.items()
                       if not key.startswith(("IWARP_", "LD_"))}
        self.name, self.command = name, command
        self.logs = [os.path.join(directory, f"{name}.{stream}") for stream in ("out", "err")]
        with open(self.logs[0], "wb") as out, open(self.logs[1], "wb") as err:
            # A session of its own, so that what it starts can be ended with it.
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out, stderr=err,
                                            cwd=directory, env={**environment, **(added or {})},
                                            start_new_session=True)

    @property
    def status(self):
        """The exit status, negative for a signal; None while it runs."""
        return self.process.poll()

    def wait(self, seconds):
        with contextlib.suppress(subprocess.TimeoutExpired):
            self.process.wait(max(0.01, seconds))
        return self.process.returncode

    def wait_until(self, condition, seconds):
        """Whether the condition came to hold while the process ran."""
        deadline = time.monotonic() + seconds
        while time.monotonic() < deadline and self.status is None:
            if condition():
                return True
            time.sleep(0.01)
        return False

    def listens(self, port, seconds):
        """Waits until it listens at the port; False if it has ended, or does not in time."""
        return self.wait_until(lambda: is_listening(port), seconds)

    def signal(self, number):
        with contextlib.suppress(ProcessLookupError):
            os.killpg(self.process.pid, number)

    def kill(self):
        self.signal(signal.SIGKILL)
        self.process.wait()

    def out(self):
        return _text(self.logs[0])

    def said(self):
        """All that it has printed."""
        return self.out() + _text(self.logs[1])

    def has_crashed(self):
        """By a signal, or as a run-time library ends a program."""
        status = self.status
        if status is None or status in (-signal.SIGTERM, -signal.SIGINT, -signal.SIGKILL):
            return False
        return status < 0 or status in (125, 127) or 128 < status < 160 or any(
            text in self.said() for text in ABORTS)

    def stacks(self):
        """Where its threads are, if there is a debugger."""
        if not shutil.which("gdb") or self.status is not None:
            return ""
        with contextlib.suppress(subprocess.TimeoutExpired, OSError):
            return subprocess.run(
                ["gdb", "-p", str(self.process.pid), "-batch", "-ex", "thread apply all bt 25"],
                capture_output=True, text=True, timeout=60, check=False).stdout
        return ""


def _text(path):
    with open(path, encoding="utf-8", errors="replace") as log:
        return log.read()
