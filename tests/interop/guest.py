"""A running siw guest: commands are started in it through its standard input, and leave their output and status in
the shared directory."""

import os
import pathlib
import re
import shlex
import shutil
import socket
import subprocess
import time

RUN = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "siw-guest" / "run"
LIBRARIES = "lib"  # of the shared directory, where bring() puts them: for LD_LIBRARY_PATH
IN_THE_GUEST_ALREADY = ("libibverbs", "librdmacm", "libnl", "libc.so", "ld-linux", "linux-vdso")


class GuestError(Exception):
    """The guest did not come up, or a command in it did not end."""


def bring(programs, share):
    """Copies programs of the host into the shared directory, and the libraries that they need into its LIBRARIES."""
    libraries = share / LIBRARIES
    libraries.mkdir(exist_ok=True)
    for program in programs:
        shutil.copy(program, share)
        listed = subprocess.run(["ldd", program], check=True, capture_output=True, text=True).stdout
        for name, path in re.findall(r"(\S+) => (/\S+)", listed):
            if not name.startswith(IN_THE_GUEST_ALREADY):
                shutil.copy(path, libraries / name)


def find_program(build, name):
    """A program of that name somewhere in a build directory."""
    for path in build.rglob(name):
        if path.is_file() and os.access(path, os.X_OK):
            return path
    raise GuestError(f"no program {name} in {build}: build it first")


class UserNetwork:
    """QEMU's own network: no root, but TCP ends at QEMU, so segment boundaries are not those of the peers."""

    name = "user"
    guest_address = "10.0.2.15"
    host_address = "127.0.0.1"  # where our servers listen
    host_from_guest = "10.0.2.2"
    interface = "lo"
    prefix = ()

    def __init__(self):
        self.host_ports = {}  # port of a case -> free port of the host that stands for it
        self.forwarded = []

    def add_port(self, port, siw_listens):
        with socket.socket() as probe:
            probe.bind(("127.0.0.1", 0))
            self.host_ports[port] = probe.getsockname()[1]
        if siw_listens:
            self.forwarded.append(port)

    def options(self):
        return [word for port in self.forwarded for word in ("--forward", f"{self.host_ports[port]}:{port}")]

    def reach_guest(self, port):
        return "127.0.0.1", self.host_ports[port]

    def listen_port(self, port):
        return self.host_ports[port]

    def capture_filter(self):
        """Others use the loopback device too."""
        return "tcp and ({})".format(" or ".join(f"port {port}" for port in self.host_ports.values()))

    def close(self):
        """Nothing stays behind."""


class NamespaceNetwork:
    """A tap device in a network namespace: real segments, MTU 1500. Needs root."""

    guest_address = "10.77.0.2"
    host_address = "10.77.0.1"
    host_from_guest = "10.77.0.1"
    interface = "tap0"
    name = "ns"

    def __init__(self):
        self.namespace = f"iwarp-interop-{os.getpid()}"
        self.prefix = ("ip", "netns", "exec", self.namespace)
        subprocess.run([str(RUN.parent / "netns"), "up", self.namespace], check=True, stdout=subprocess.DEVNULL)

    def add_port(self, _port, _siw_listens):
        """Every port is within reach."""

    def options(self):
        return ["--ns", self.namespace]

    def reach_guest(self, port):
        return self.guest_address, port

    def listen_port(self, port):
        return port

    def capture_filter(self):
        return "tcp"

    def close(self):
        subprocess.run([str(RUN.parent / "netns"), "down", self.namespace], check=False)


class Command:
    """A command in the guest."""

    def __init__(self, guest, name):
        self.guest = guest
        self.output_file = guest.share / f"{name}.out"
        self.status_file = guest.share / f"{name}.status"

    def wait(self, seconds):
        """Its exit status and output. The guest ends it by itself before this gives up."""
        deadline = time.monotonic() + seconds
        while not self.status_file.exists():
            self.guest.check_alive()
            if time.monotonic() > deadline:
                raise GuestError(f"{self.output_file.stem} did not end in the guest within {seconds} s")
            time.sleep(0.02)
        return int(self.status_file.read_text()), self.output_file.read_text(errors="replace")


class Guest:
    """Boots on entry, powers off on exit."""

    COMMAND_SECONDS = 60
    BOOT_SECONDS = 120  # five when the machine has nothing else to do
    BOOTS = 3  # on an overloaded machine the emulated clock may jump and the boot stall

    def __init__(self, share, siw_parameters, network, seconds=1200):
        self.share = pathlib.Path(share)
        self.network = network
        self.arguments = [str(RUN), "--quiet", "--stdin", "--timeout", str(seconds), "--share", str(share),
                          "--siw", siw_parameters, *network.options(), "--", "bash", "-s"]
        self.process = None
        self.started = 0

    def __enter__(self):
        for boot in range(1, self.BOOTS + 1):
            try:
                self._boot()
                return self
            except GuestError as error:
                died = self.process.poll() is not None  # not merely slow: the set-up is wrong
                self.__exit__()
                if died or boot == self.BOOTS:
                    raise
                print(f"      booting again: {error}", flush=True)
            except BaseException:
                self.__exit__()
                raise

    def __exit__(self, *_):
        if self.process.poll() is None:
            try:
                self.process.stdin.write("exit\n")
                self.process.stdin.close()
                self.process.wait(30)
            except (BrokenPipeError, subprocess.TimeoutExpired):
                self.process.terminate()
                self.process.wait(30)

    def _boot(self):
        with open(self.share / "run.log", "wb") as log:
            self.process = subprocess.Popen(self.arguments, stdin=subprocess.PIPE, stdout=log, stderr=log, text=True)
        self.start("boot", "rdma link show siw0/1").wait(self.BOOT_SECONDS)

    def start(self, name, line, seconds=COMMAND_SECONDS):
        """Starts a shell line in the background, for so many seconds at most; `name` names its files."""
        self.check_alive()
        self.started += 1
        files = f"{self.started:02d}-{name}"
        command = f"timeout {seconds} bash -c {shlex.quote(line)} </dev/null >{files}.out 2>&1"
        self.process.stdin.write(f"({command}; echo $? >{files}.new; mv {files}.new {files}.status) &\n")
        self.process.stdin.flush()
        return Command(self, files)

    def check_alive(self):
        if self.process.poll() is not None:
            raise GuestError(f"the guest ended: {(self.share / 'run.log').read_text(errors='replace').strip()}")
        console = self.share / ".guest" / "console"
        fault = console.exists() and re.search(r"kernel BUG at .*|BUG: (?!soft lockup|workqueue lockup).*|Oops: .*", console.read_text(errors="replace"))
        if fault:
            raise GuestError(f"the guest's kernel has stopped: {fault[0].strip()}; see {console}")

    def call(self, name, line):
        """Runs a shell line to its end; its output. Raises if it fails."""
        status, output = self.start(name, line).wait(self.COMMAND_SECONDS + 5)
        if status != 0:
            raise GuestError(f"'{line}' ended with {status} in the guest: {output.strip()}")
        return output

    def await_listener(self, port):
        self.call("listening", f"until ss -Htln | grep -q ':{port} '; do sleep 0.05; done")
