#!/usr/bin/env python3
"""Besieges servers of this stack: attackers from nowhere, some hundreds or thousands at a time, while
good clients work. Prints for each server and attack what the good clients keep of the rate that
they have while the same attackers attack a plain TCP sink on this machine, and what the server uses.

usage: scripts/siege [options]
  --attack NAME     only this one; may be given several times
  --server NAME     likewise
  --attackers N     so many at a time (1000)
  --addresses WHICH same: all from 127.0.0.1, as the good clients; many: each from a network of its
                    own; both (many)
  --seconds S       of each phase that is measured (10)
  --rounds N        phases of the attack, and as many of the sink (3)
  --settle S        between the end of the attack and the last look at the memory (60)
  --clients N       good clients at a time (2)
  --rate N          connections a second that the attackers open, all together (2000)
  --pause MS        how long an attacker that was cut off stays away (1000)
  --patience S      after which a good operation has failed (60)
  --json FILE       all figures
  --keep-logs DIR   what the servers printed
  --build DIR       where they are built (build/release)
  --short           sixty attackers for a moment each, and no times judged: what ctest runs
  --list            print servers and attacks
  -h, --help        this text

A row fails if good clients keep less than 90 % of their rate (75 % with more than 1000 attackers), if
they have no rate beside the sink, if an operation of theirs fails, if the server ends, or if it has
10 % more memory at the end than before.

Exit status: 0 no row failed, 1 one did, 2 wrong usage."""

import json
import os
import resource
import shutil
import sys
import tempfile

import verdict
from assault import ATTACKS
from command_line import CommandLine
from phases import besiege
from servers import NAIVE, SERVERS
from short import besiege_shortly

TOP = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SHORT_ATTACKERS = 60


COMMAND_LINE = CommandLine("siege", __doc__)
fail = COMMAND_LINE.fail


def parse_arguments():
    parser = COMMAND_LINE
    parser.add_argument("--attack", action="append", choices=ATTACKS)
    parser.add_argument("--server", action="append", choices=[*SERVERS, *NAIVE])
    parser.add_argument("--attackers", type=int)
    parser.add_argument("--addresses", choices=("same", "many", "both"))
    parser.add_argument("--seconds", type=float, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--settle", type=float, default=60)
    parser.add_argument("--clients", type=int, default=2)
    parser.add_argument("--rate", type=float, default=2000)
    parser.add_argument("--pause", type=int, default=1000)
    parser.add_argument("--patience", type=float, default=60)
    parser.add_argument("--json")
    parser.add_argument("--keep-logs")
    parser.add_argument("--build", default=os.path.join(TOP, "build", "release"))
    parser.add_argument("--short", action="store_true")
    parser.add_argument("--list", action="store_true")
    arguments = parser.parse()
    if arguments.list:
        print("servers:", *SERVERS)
        print("attacks:", *ATTACKS)
        sys.exit(0)
    arguments.attack = arguments.attack or list(ATTACKS)
    arguments.server = arguments.server or list(SERVERS)
    arguments.attackers = arguments.attackers or (SHORT_ATTACKERS if arguments.short else 1000)
    if arguments.short and arguments.addresses == "both":
        fail("the short form has one kind of addresses (-h explains)", 2)
    arguments.addresses = arguments.addresses or ("same" if arguments.short else "many")
    return arguments


def raise_descriptors(attackers):
    """For the servers, too, which inherit the limit."""
    _, most = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    if most != resource.RLIM_INFINITY and most < attackers + 200:
        print(f"siege: a process may have {most} descriptors here, so fewer than {attackers} "
              "attackers are connected at a time", file=sys.stderr)


class Scratch:
    """A directory for one server; its log is kept if that was asked for."""

    def __init__(self, kept, name):
        self.kept, self.name = kept, name

    def __enter__(self):
        self.directory = tempfile.mkdtemp(prefix="siege-")
        return self.directory

    def __exit__(self, *_):
        log = os.path.join(self.directory, "server.log")
        if self.kept and os.path.exists(log):
            os.makedirs(self.kept, exist_ok=True)
            shutil.copy(log, os.path.join(self.kept, f"{self.name}.log"))
        shutil.rmtree(self.directory, ignore_errors=True)


def run_short(arguments, program):
    def report(attack, found, seconds):
        print(f"{name:16}{attack:18}{'FAIL' if found else 'pass'}{seconds:8.1f} s", flush=True)
        for problem in found:
            print(f"    {problem}", flush=True)

    well = True
    for name in arguments.server:
        with Scratch(arguments.keep_logs, name) as directory:
            well &= besiege_shortly({**SERVERS, **NAIVE}[name], arguments.attack, arguments.build,
                                    directory, program, arguments, report)
    return well


def run_long(arguments, program):
    rows = []
    print(f"{arguments.attackers} attackers, {arguments.clients} good clients\n{verdict.HEADING}")
    places = ("many", "same") if arguments.addresses == "both" else (arguments.addresses,)
    for name in arguments.server:
        for attack in arguments.attack:
            for arguments.addresses in places:
                with Scratch(arguments.keep_logs, f"{name}-{attack}-{arguments.addresses}") as where:
                    rows.append(besiege({**SERVERS, **NAIVE}[name], attack, arguments.build, where,
                                        program, arguments))
                print(verdict.line(rows[-1]), flush=True)
                for problem in rows[-1]["problems"]:
                    print(f"    {problem}", flush=True)
                if arguments.json:
                    with open(arguments.json, "w", encoding="utf-8") as file:
                        json.dump(rows, file, indent=1)
    failed = sum(bool(row["problems"]) for row in rows)
    print(f"{len(rows)} rows, {failed} failed")
    return failed == 0


def main():
    arguments = parse_arguments()
    program = os.path.join(arguments.build, "tests", "siege", "siege_attackers")
    if not os.path.exists(program):
        fail(f"{program} is not there: build the preset first", 2)
    raise_descriptors(arguments.attackers)
    well = (run_short if arguments.short else run_long)(arguments, program)
    sys.exit(0 if well else 1)


if __name__ == "__main__":
    main()
