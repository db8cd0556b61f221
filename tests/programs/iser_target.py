"""An iSER target with one disk, of which the file `disk` is the memory: iser_target.py HOST PORT.
Serves until it is ended. tgtd is of Debian's package tgt."""

import os
import shutil
import subprocess
import sys

from waiting import until

TARGET = "iqn.2026-01.example:disk"
# Over iSER tgtd wants an initiator's name as well as its address.
INITIATORS = ("iqn.2026-01.example:tester", "iqn.2008-11.org.linux-kvm")
START_SECONDS = 20


def administer(control, *arguments):
    return subprocess.run(["tgtadm", "-C", control, "--lld", "iser", *arguments], check=False,
                          capture_output=True, text=True, timeout=30)


def set_up(control):
    disk = os.path.abspath("disk")
    target = ("--mode", "target", "--tid", "1")
    yield (*target, "--op", "new", "--targetname", TARGET)
    yield ("--mode", "logicalunit", "--op", "new", "--tid", "1", "--lun", "1", "--backing-store", disk)
    yield (*target, "--op", "bind", "--initiator-address", "ALL")
    for name in INITIATORS:
        yield (*target, "--op", "bind", "--initiator-name", name)


def main():
    host, port = sys.argv[1:]
    shutil.copy("source", "disk")
    with open("disk", "r+b") as disk:
        disk.write(bytes(os.path.getsize("disk")))
    # Its ordinary iSCSI listens beside it; the control port is a number in the name of a socket.
    target = subprocess.Popen(["tgtd", "-f", "-C", port, "--iser", f"port={port},pool_sz_mb=128",
                               "--iscsi", f"portal={host}:{int(port) + 1}"])
    until(lambda: target.poll() is not None or
          administer(port, "--mode", "sys", "--op", "show").returncode == 0,
          START_SECONDS, "tgtd does not answer")
    if target.poll() is not None:
        sys.exit(f"tgtd ended with status {target.returncode}")
    for arguments in set_up(port):
        done = administer(port, *arguments)
        if done.returncode != 0:
            sys.exit(f"tgtadm {' '.join(arguments)}: {done.stderr.strip()}")
    print("the disk is there", flush=True)
    target.wait()


if __name__ == "__main__":
    main()
