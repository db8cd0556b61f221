#!/usr/bin/env python3
"""Tries what each target of the build may include, and what not.

usage: layers_test.py TABLE
A line of TABLE is a target, the layers that it may include, and its include folders (separated by semicolons), with
tabs between the three. Of each layer one header stands for all. One of a layer that is not listed must not resolve;
those that are listed must compile, together. CXX names the compiler."""

import os
import pathlib
import subprocess
import sys

PROJECT = pathlib.Path(__file__).resolve().parents[2]

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


def compiler_says(text, folders, *options):
    """The status of the compiler for a file of this text, and what it says."""
    roots = [f"-I{folder}" for folder in folders]
    command = [os.environ.get("CXX", "c++"), "-std=c++20", "-x", "c++", *options, *roots, "-"]
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    return done.returncode, done.stdout + done.stderr


def resolving(folders):
    """The layers whose headers are found in those of these folders that are the project's. An installed iwarp's count
    for nothing, be they in the compiler's folders or in /usr/include, which libraries name as theirs."""
    folders = [folder for folder in folders if pathlib.Path(folder).resolve().is_relative_to(PROJECT)]
    lines = "".join(f'#if __has_include("{header}")\nresolves {layer}\n#endif\n' for layer, header in HEADERS.items())
    status, said = compiler_says(lines, folders, "-E", "-P", "-nostdinc")
    assert status == 0, said
    return {line.split()[1] for line in said.splitlines() if line.startswith("resolves ")}


def offences_of(target, allowed, folders):
    """What is wrong with the includes of a target."""
    found = resolving(folders)
    for layer in found - allowed:
        yield f"{target} may not include {HEADERS[layer]}, but it resolves"
    for layer in allowed - found:
        yield f"{target} may include {HEADERS[layer]}, but it is not found"
    includes = "".join(f'#include "{HEADERS[layer]}"\n' for layer in sorted(allowed & found))
    status, said = compiler_says(includes, folders, "-fsyntax-only")
    if status != 0:
        yield f"{target} does not compile with the headers that it may include:\n{said}"


def main(table):
    lines = [line.split("\t") for line in pathlib.Path(table).read_text(encoding="utf-8").splitlines()]
    offences = []
    for target, allowed, folders in lines:
        allowed = set(filter(None, allowed.split(";")))
        unknown = allowed - set(HEADERS)
        assert not unknown, f"no header is known of {unknown}"
        offences += offences_of(target, allowed, list(filter(None, folders.split(";"))))
    tried = len(lines) * len(HEADERS)
    print(*offences, f"layers_test: {tried} includes of {len(lines)} targets, {len(offences)} wrong", sep="\n")
    return 1 if offences or not lines else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
