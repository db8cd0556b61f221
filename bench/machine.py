"""What a report says of the machine it was measured on."""

import datetime
import os
import platform
import re
import shutil
import subprocess

from places import processors_of_ends


def cpu_model():
    with open("/proc/cpuinfo", encoding="utf-8", errors="replace") as file:
        found = re.search(r"^model name\s*:\s*(.+)$", file.read(), re.MULTILINE)
    return found[1].strip() if found else platform.machine()


def version(*command):
    """What a program says of itself; None if it is not installed."""
    if not shutil.which(command[0]):
        return None
    done = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False,
                          stdin=subprocess.DEVNULL)
    return version_in(done.stdout)


def version_in(text):
    """That of the library, if the program names both its own and that one."""
    found = (re.search(r"^libfabric:\s*(\d\S*)", text, re.MULTILINE)
             or re.search(r"[Vv]ersion:?\s+(\d\S*)", text))
    return found[1] if found else None


def facts():
    return {"date": datetime.date.today().isoformat(), "cpu": cpu_model(),
            "processors": os.cpu_count(), "kernel": platform.release(),
            "pinned": dict(zip(("client", "server"), processors_of_ends())),
            "ucx": version("ucx_info", "-v"), "libfabric": version("fi_info", "--version")}
