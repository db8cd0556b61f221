"""What an exchange must have shown to pass. A check is given an Outcome and says what is wrong, or
None."""

import dataclasses
import filecmp
import os
import re

# No end may ever say these. Sanitizers report on standard error and may not end the program.
NEVER = re.compile(r"AddressSanitizer|LeakSanitizer|runtime error:|Segmentation fault|core dumped|"
                   r"symbol lookup error|cannot be preloaded|version `\S+' not found")


@dataclasses.dataclass
class Outcome:
    """What both ends did. A single program is a client. Several clients at once are one after the
    other in client_said."""
    client_said: str = ""
    client_statuses: tuple = (0,)
    server_said: str = ""
    server_status: int | None = 0  # None: it served until it was stopped, as it should
    directory: str = "."           # where both ran

    def said(self, end):
        return self.client_said if end == "client" else self.server_said


@dataclasses.dataclass(frozen=True)
class Shows:
    """An end printed lines that match, exactly so many times (or, with None, at least once)."""
    end: str
    pattern: str
    times: int | None = None

    def problem(self, outcome):
        found = len(re.findall(self.pattern, outcome.said(self.end), re.MULTILINE))
        if (found if self.times is None else found == self.times):
            return None
        wanted = "" if self.times is None else f", not {self.times} times"
        return f"the {self.end} printed {self.pattern!r} {found} times{wanted}"


@dataclasses.dataclass(frozen=True)
class Never:
    """An end printed nothing that matches."""
    end: str
    pattern: str

    def problem(self, outcome):
        found = re.search(self.pattern, outcome.said(self.end), re.MULTILINE)
        return f"the {self.end} printed {found[0]!r}" if found else None


@dataclasses.dataclass(frozen=True)
class Rows:
    """An end printed a row of a perftest table for each size, with these iterations (None: any) and
    a figure above zero in each of the columns behind them."""
    end: str
    sizes: tuple
    iterations: int | None
    columns: int

    def problem(self, outcome):
        figures = r"(?:[ \t]+([\d.]+))"
        for size in self.sizes:
            row = re.search(rf"^[ \t]*{size}[ \t]+(\d+)" + figures * self.columns,
                            outcome.said(self.end), re.MULTILINE)
            if not row:
                return f"the {self.end} printed no figures for {size} octets"
            if self.iterations is not None and int(row[1]) != self.iterations:
                return (f"the {self.end} printed {row[1]} iterations of {size} octets, "
                        f"not {self.iterations}")
            if not all(float(figure) > 0 for figure in row.groups()[1:]):
                return f"the {self.end} printed a figure of zero for {size} octets"
        return None


@dataclasses.dataclass(frozen=True)
class SameFile:
    """Two files of the directory are the same, octet by octet."""
    one: str
    other: str

    def problem(self, outcome):
        paths = [os.path.join(outcome.directory, name) for name in (self.one, self.other)]
        missing = [path for path in paths if not os.path.exists(path)]
        if missing:
            return f"{os.path.basename(missing[0])} is not there"
        same = filecmp.cmp(*paths, shallow=False)
        return None if same else f"{self.other} differs from {self.one}"


def problem(outcome, checks, wanted=0):
    """The first thing that is wrong, or None. `wanted`: the status with which clients should end."""
    for status in outcome.client_statuses:
        if status != wanted:
            return (f"the client ended with status {status}"
                    + (f", not {wanted}" if wanted else ""))
    if outcome.server_status not in (None, 0):
        return f"the server ended with status {outcome.server_status}"
    for end in ("client", "server"):
        found = NEVER.search(outcome.said(end))
        if found:
            return f"the {end} printed {found[0]!r}"
    return next((wrong for wrong in (check.problem(outcome) for check in checks) if wrong), None)


def figure(outcome, pattern, unit):
    """The last number in the client's output that the pattern catches, with its unit (which the
    pattern may catch as well), or nothing."""
    found = re.findall(pattern, outcome.client_said, re.MULTILINE) if pattern else None
    if not found:
        return ""
    last = found[-1]
    return " ".join(last) if isinstance(last, tuple) else f"{last} {unit}"
