#!/usr/bin/env python3
"""Tries what each target of the build may include, and what not.

usage: layers_test.py TABLE
A line of TABLE is a target, the layers that it may include, and its include folders (separated by semicolons), with
tabs between the three. Of each layer one header stands for all. One of a layer that is not listed must not resolve,
and compilation must fail for that reason; one that is listed must compile. CXX names the compiler."""

import os
import pathlib
import subprocess
import sys

# The header of each layer that is tried: none that another folder could have by the same name.
HEADERS = {
    "base": "iwarp/base/bytes.hpp",
    "mpa": "iwarp/mpa/fpdu.hpp",
    "ddp": "iwarp/ddp/header.hpp",
    "rdmap": "iwarp/rdmap/control.hpp",
    "connection": "iwarp/connection/life.hpp",
    "process": "iwarp/process/quiet_thread.hpp",
    "tcp_offload": "iwarp/tcp_offload/device.hpp",
    "sim": "iwarp/sim/options.hpp",
    "verbs": "iwarp/verbs/verbs.hpp",
    "provider": "iwarp/provider/failure.hpp",
    "soft": "soft/services.hpp",
    "rnic": "iwarp/rnic/adapters.hpp",
    "devices": "device_kinds.hpp",
    "asio": "iwarp/asio/error.hpp",
}


def compile_only(header, folders):
    """What the compiler says of a file that includes nothing but `header`."""
    roots = [f"-I{folder}" for folder in folders]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-fsyntax-only", "-x", "c++", *roots, "-"]
    return subprocess.run(command, input=f'#include "{header}"\n', text=True, capture_output=True, check=False)


def offence(target, layer, allowed, folders):
    """What is wrong with this include, or nothing."""
    header = HEADERS[layer]
    done = compile_only(header, folders)
    unresolved = f"{header}: No such file or directory" in done.stderr or f"'{header}' file not found" in done.stderr
    if layer in allowed and done.returncode != 0:
        return f"{target} may include {header}, but does not compile with it:\n{done.stderr}"
    if layer not in allowed and done.returncode == 0:
        return f"{target} may not include {header}, but it resolves"
    if layer not in allowed and not unresolved:
        return f"{target} may not include {header}, but fails for another reason:\n{done.stderr}"
    return None


def main(table):
    lines = [line.split("\t") for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines()]
    offences, tried = [], 0
    for target, allowed, folders in lines:
        allowed = allowed.split(";") if allowed else []
        unknown = set(allowed) - set(HEADERS)
        assert not unknown, f"no header is known of {unknown}"
        for layer in HEADERS:
            offences.append(offence(target, layer, allowed, [folder for folder in folders.split(";") if folder]))
            tried += 1
    offences = [what for what in offences if what]
    print("\n".join(offences), f"layers_test: {tried} includes of {len(lines)} targets, {len(offences)} wrong", sep="\n")
    return 1 if offences or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
