"""What can be made to fail: the table of calls and errnos, and one injection out of it."""

import dataclasses
import errno
import json
import os

HERE = os.path.dirname(os.path.abspath(__file__))

with open(os.path.join(HERE, "calls.json"), encoding="utf-8") as table:
    TABLE = json.load(table)
CALLS = TABLE["calls"]
PASSING = TABLE["passing"]["errnos"]

TENTH = 10


@dataclasses.dataclass(frozen=True)
class Injection:
    call: str   # a name of the table
    error: str  # the errno's name
    at: str     # first, tenth, every, or the number of a call

    def plan(self):
        """As the interposer reads it."""
        first = {"first": 1, "tenth": TENTH, "every": 1}.get(self.at) or int(self.at)
        step = 0
        if self.at == "every":
            step = 2 if self.error in PASSING else 1
        return f"{self.call} {getattr(errno, self.error)} {first} {step}"

    @property
    def lasts(self):
        """Whether it strikes again and again."""
        return self.at == "every"

    def causes(self):
        """The texts of which an error message has to contain one."""
        # A thread for whose stack's descriptor there is no memory cannot be made, for now.
        of_threads = [os.strerror(errno.EAGAIN).lower()] if self.call == "malloc" else []
        return [os.strerror(getattr(errno, self.error)).lower(),
                *TABLE["names"].get(self.error, []), *of_threads]

    def __str__(self):
        return f"{self.call} {self.error} {self.at}"


def of_counts(counts, sweep=0):
    """All injections for an exchange that makes so many calls. With `sweep` also so many single
    allocations, spread evenly over all."""
    for call, made in sorted(counts.items()):
        if not made:
            continue
        places = ["first", *(["tenth"] if made >= TENTH else []), "every"]
        for error in CALLS[call]["errnos"]:
            for at in places:
                yield Injection(call, error, at)
    made = counts.get("malloc", 0)
    if sweep and made:
        for number in sorted({1 + i * made // sweep for i in range(sweep)}):
            yield Injection("malloc", "ENOMEM", str(number))
