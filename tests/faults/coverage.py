"""Whether the table of calls is complete: strace knows what an exchange asks of the kernel."""

import os
import re
import shutil

from ends import End
from injection import CALLS, TABLE
from ports import free_port
from region import Region

# A line of strace -f -o: the thread, and the call or the rest of one.
CALL = re.compile(r"^\d+\s+(?:<\.\.\. )?(\w+)(?:\(| resumed)")


def system_calls(log):
    """The names of the calls in a file of strace's. What comes before the program's own main is the
    dynamic linker's; those calls are in the table anyway."""
    with open(log, encoding="utf-8", errors="replace") as file:
        return {found[1] for line in file if (found := CALL.match(line))}


def problems_of(calls, counts=None):
    """System calls that the table does not know, and those of which the interposer has seen none,
    if it was there to count. Those that the C library makes for itself, and on descriptors that cannot
    fail, tell nothing."""
    table = {name: call for call, about in CALLS.items() for name in about["syscalls"]}
    unknown = sorted(calls - table.keys() - TABLE["not_injected"].keys())
    found = [f"{name}: not in calls.json" for name in unknown]
    for name in sorted(calls & table.keys()) if counts is not None else ():
        if not counts.get(table[name]) and name not in TABLE["inside_libc"]:
            found.append(f"{name}: made, but not through what can be made to fail")
    return found


def trace(exchange, interposer, directory, patience):
    """Runs the exchange once under strace, and returns what is wrong with the table."""
    if not shutil.which("strace"):
        return None
    exchange.prepare(directory)
    log = os.path.join(directory, "strace")
    region = Region(directory)
    # The tracer would be what is interposed: only the traced program gets the library.
    traced = ["strace", "-f", "-qq", "-e", "signal=none", "-o", log]
    for name, value in region.environment(interposer, None, exchange.program).items():
        traced += ["-E", f"{name}={value}"]
    at_server = exchange.injected in ("server", "start")
    port = free_port()
    ends = []
    try:
        if command := exchange.server(directory, port):
            ends.append(End("server", [*traced, *command] if at_server else command, directory))
            if not ends[0].listens(port, patience):
                return [f"{exchange.name}: the server does not start: {ends[0].said()}"]
        client = exchange.client(directory, port)
        ends.append(End("client", client if at_server else [*traced, *client], directory))
        if ends[-1].wait(patience) != 0:
            return [f"{exchange.name}: the client fails: {ends[-1].said()}"]
        if at_server:
            ends[0].signal(15)
            ends[0].wait(patience)
    finally:
        for end in ends:
            end.kill()
    return problems_of(system_calls(log), region.counts())
