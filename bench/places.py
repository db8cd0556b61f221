"""Where the two ends run: network namespaces of this run's own, so that the congestion control and
the MTU are theirs alone."""

import contextlib
import fcntl
import os
import subprocess


CONGESTION = "/proc/sys/net/ipv4/tcp_congestion_control"


@contextlib.contextmanager
def congestion_control(name):
    """New namespaces have the first one's, which may choose any; they themselves may not. One run
    at a time: another would take this one's choice for what there was before."""
    with open(CONGESTION, encoding="ascii") as setting:
        fcntl.flock(setting, fcntl.LOCK_EX)
        before = setting.read().strip()
        set_congestion_control(name)
        try:
            yield
        finally:
            set_congestion_control(before)


def set_congestion_control(name):
    """A setting is written from its first octet on: what is written behind it the kernel ignores."""
    with open(CONGESTION, "w", encoding="ascii") as setting:
        setting.write(name)


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True)


def processors_of_ends():
    """Of client and server: the first and the last that this process may use."""
    allowed = sorted(os.sched_getaffinity(0))
    return allowed[0], allowed[-1]


def on_processor(which):
    """Each end keeps to one processor: left to itself the system now and then puts both on the same,
    and what is measured then is that."""
    return ["taskset", "--cpu-list", str(which)]


class Place:
    """Two ends that reach each other. `client` and `server` are what a command is started with."""

    name = ""
    device = "lo"
    server_address = client_address = "127.0.0.1"

    def __init__(self, congestion):
        self.congestion = congestion
        self.namespaces = [f"iwarp-bench-{os.getpid()}-{end}" for end in self.ends]

    ends = ("one",)

    def __enter__(self):
        made = []
        try:
            with congestion_control(self.congestion):
                for name in self.namespaces:
                    ip("netns", "add", name)
                    made.append(name)
            for name in self.namespaces:
                ip("-n", name, "link", "set", "lo", "up")
                self.require_congestion_control(name)
            self.connect()
        except BaseException:
            self.remove(made)
            raise
        return self

    def __exit__(self, *_):
        self.remove(self.namespaces)

    def require_congestion_control(self, namespace):
        has = subprocess.run(["ip", "netns", "exec", namespace, "cat", CONGESTION], check=True,
                             capture_output=True, text=True).stdout.strip()
        if has != self.congestion:
            raise RuntimeError(f"a new network namespace has the congestion control {has}, "
                               f"not {self.congestion}: nothing can be said of that here")

    @staticmethod
    def remove(names):
        for name in names:
            subprocess.run(["ip", "netns", "del", name], check=False, capture_output=True)

    def connect(self):
        pass

    @property
    def client_unpinned(self):
        return ["ip", "netns", "exec", self.namespaces[0]]

    @property
    def server_unpinned(self):
        return ["ip", "netns", "exec", self.namespaces[-1]]

    @property
    def client(self):
        return [*self.client_unpinned, *on_processor(processors_of_ends()[0])]

    @property
    def server(self):
        return [*self.server_unpinned, *on_processor(processors_of_ends()[-1])]


class Loopback(Place):
    name = "loopback"


class Ethernet(Place):
    """A veth pair."""

    ends = ("client", "server")
    device = "bench0"
    client_address, server_address = "10.78.0.1", "10.78.0.2"
    mtu = 1500

    def connect(self):
        one, other = self.namespaces
        ip("-n", one, "link", "add", self.device, "mtu", str(self.mtu), "type", "veth", "peer", "name",
           self.device, "mtu", str(self.mtu), "netns", other)
        for name, address in ((one, self.client_address), (other, self.server_address)):
            ip("-n", name, "addr", "add", f"{address}/24", "dev", self.device)
            ip("-n", name, "link", "set", self.device, "up")


class Jumbo(Ethernet):
    name = "mtu-9000"
    mtu = 9000


class Standard(Ethernet):
    name = "mtu-1500"


PLACES = {one.name: one for one in (Loopback, Standard, Jumbo)}
