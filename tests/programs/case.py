"""One line of the table: programs, what they are run with, and what they must show."""

import dataclasses
import os
import re
import shutil

# Which name a program gets for the devices: what they are, or what it wants to see.
IWARP, IB = "iwarp", "ib"
# Where both ends run: see places.py.
LOOPBACK, USER, NAMESPACES, HOSTS = "loopback", "user", "namespaces", "hosts"


@dataclasses.dataclass(frozen=True)
class Case:
    client: str                # a command line
    server: str = ""           # the other end; nothing: the client is a single program
    checks: tuple = ()
    figure: str = ""           # catches a number of the client's output
    unit: str = ""
    device_as: str = IWARP
    stats: bool = False        # run with --stats
    timewait_exit: bool = False  # and with --timewait-exit
    status: int = 0            # what the client ends with
    clients: int = 1           # so many at once
    spaced: str = ""           # the next client starts when the one before has printed this pattern
    stopped: bool = False      # the server serves for ever, and is ended by a signal
    seconds: float = 60        # the longest that it may take
    short: bool = False        # part of the short form
    asan: bool = False         # run with sanitized libraries too
    places: tuple = (LOOPBACK, USER, NAMESPACES)
    port: int = 0              # where the server listens, if that cannot be chosen
    ready: str = ""            # the server can be asked when it has printed this pattern
    prepare: str = ""          # a command line that is run in {dir} first, without `iwarp run`
    uses: tuple = ()           # programs that the command lines start
    needs: str = ""            # a variable of the environment without which the line is left out

    label: str = ""            # the command line as the table shows it

    def missing(self):
        """The first program that is not there, or None."""
        lines = (line.split()[0] for line in (self.client, self.server) if line)
        return next((program for program in (*lines, *self.uses)
                     if not shutil.which(program.format(**os.environ))), None)

    @property
    def name(self):
        """What tells it from the others: the command line without where the server is."""
        shown = self.label or re.sub(r"(?: -\w+)? \{host\}\S*| -\w+ \{port\}", "", self.client).strip()
        return (shown + (" as ib" if self.device_as == IB else "")
                + (" with --stats" if self.stats else ""))
