"""One end of a migration by RDMA: migration.py leave|arrive HOST PORT, QEMU with a guest that writes.

The guest is a boot sector. It counts, and writes each number into 256 words of its memory before it
takes the next one: words that differ by more than one are a page that was left behind. The end that the
guest leaves writes where it stopped into the file `stopped`; from there it has to go on."""

import contextlib
import json
import os
import socket
import subprocess
import sys

from waiting import until

FIRST, LAST, STEP = 0x10000, 0x90000, 0x800  # where the words are
MIGRATION_SECONDS = 60
START_SECONDS = 20


def boot_sector():
    begin = bytes.fromhex("fa" "6631c0")  # cli; xor eax, eax
    count = bytes.fromhex("6640" "bb0010")  # inc eax; mov bx, 0x1000
    # mov es, bx; mov es:[0], eax; mov es:[0x800], eax; add bx, 0x100; cmp bx, 0x9000
    page = bytes.fromhex("8ec3" "2666a30000" "2666a30008" "81c30001" "81fb0090")
    again = bytes((0x72, 256 - len(page) - 2))  # jb to the next page
    on = bytes((0xEB, 256 - len(count + page + again) - 2))  # jmp to the next number
    return (begin + count + page + again + on).ljust(510, b"\0") + b"\x55\xaa"


class Emulator:
    """QEMU, and its monitor."""

    def __init__(self, name, *options):
        with open(f"{name}.img", "wb") as image:
            image.write(boot_sector())
        self.name = name
        path = os.path.abspath(f"{name}.qmp")
        self.process = subprocess.Popen(
            ["qemu-system-x86_64", "-accel", "tcg", "-m", "256", "-nodefaults", "-display", "none",
             "-drive", f"file={name}.img,format=raw,if=ide,snapshot=on",
             "-qmp", f"unix:{path},server=on,wait=off", *options])
        self.monitor = until(lambda: self._monitor(path), START_SECONDS, "QEMU does not answer")
        self.answers = self.monitor.makefile("r", encoding="utf-8")
        self.answers.readline()  # its greeting
        self.ask("qmp_capabilities")

    def _monitor(self, path):
        if self.process.poll() is not None:
            sys.exit(f"QEMU ended with status {self.process.returncode}")
        monitor = socket.socket(socket.AF_UNIX)
        monitor.settimeout(MIGRATION_SECONDS)
        with contextlib.suppress(OSError):
            monitor.connect(path)
            return monitor
        monitor.close()
        return None

    def ask(self, command, **arguments):
        line = json.dumps({"execute": command, "arguments": arguments})
        self.monitor.sendall(line.encode() + b"\n")
        while True:
            line = self.answers.readline()
            answer = json.loads(line) if line else {"error": "QEMU has gone"}
            if "return" in answer:
                return answer["return"]
            if "error" in answer:
                sys.exit(f"{command}: {answer['error']}")

    def words(self):
        path = os.path.abspath(f"{self.name}.memory")
        self.ask("pmemsave", val=FIRST, size=LAST - FIRST, filename=path)
        with open(path, "rb") as file:
            memory = file.read()
        return [int.from_bytes(memory[at:at + 4], "little") for at in range(0, len(memory), STEP)]

    def await_status(self, command, wanted, failed=()):
        def answer():
            says = self.ask(command)
            if says.get("status") in failed:
                sys.exit(f"{command} says {says}")
            return says if says.get("status") == wanted else None
        return until(answer, MIGRATION_SECONDS, f"{command} does not come to {wanted}")

    def await_count(self, number):
        """Until the guest has counted beyond that."""
        until(lambda: self.words()[0] > number, START_SECONDS,
              f"the guest does not count beyond {number}")

    def stopped_words(self):
        """What it has counted, all of it at one moment."""
        self.ask("stop")
        words = self.words()
        self.ask("cont")
        return words

    def end(self):
        self.ask("quit")
        sys.exit(self.process.wait(START_SECONDS))


def leave(to):
    guest = Emulator("leaving")
    guest.await_count(1000)  # the firmware takes its time
    guest.ask("migrate", uri=to)
    done = guest.await_status("query-migrate", "completed", ("failed", "cancelled"))
    with open("stopping", "w", encoding="ascii") as file:
        json.dump(guest.words(), file)
    os.rename("stopping", "stopped")
    print(f"down for {done['downtime']} ms\nthe guest has left", flush=True)
    guest.end()


def arrive(at):
    guest = Emulator("arriving", "-incoming", at)
    guest.await_status("query-status", "running")
    until(lambda: os.path.exists("stopped"), MIGRATION_SECONDS, "the guest has not left")
    with open("stopped", encoding="ascii") as file:
        before = json.load(file)
    first = guest.stopped_words()
    guest.await_count(max(first))
    second = guest.stopped_words()
    for words in (before, first, second):
        if max(words) - min(words) > 1:
            sys.exit(f"words from {min(words)} to {max(words)}: some of the memory is older")
    if not max(before) <= max(first) < max(second):
        sys.exit(f"it stopped at {max(before)}, and counts from {max(first)} to {max(second)}")
    print("the guest counts on", flush=True)
    guest.end()


def main():
    what, host, port = sys.argv[1:]
    {"leave": leave, "arrive": arrive}[what](f"rdma:{host}:{port}")


if __name__ == "__main__":
    main()
