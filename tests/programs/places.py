"""Where two programs meet: over loopback, as a user without rights, in two network namespaces, or on two
hosts."""

import contextlib
import os
import shutil
import subprocess

NOBODY = 65534


class Unavailable(Exception):
    """This machine does not let us; the sentence says why."""


class Loopback:
    """As the user who started this, over 127.0.0.1."""

    name, title = "loopback", "over loopback"
    host = clients_host = "127.0.0.1"

    def __init__(self, iwarp, scratch):
        self.iwarp = iwarp
        self.scratch = scratch

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    def prefix(self, end):
        """What stands before the command of one end."""
        del end
        return []

    def beside(self):
        """What a program at the client's end puts before a command to run it at the server's."""
        return []

    def directory(self, number):
        """A directory for one exchange, in which both ends may write."""
        path = os.path.join(self.scratch, f"{self.name}-{number}")
        os.mkdir(path)
        return path


class Unprivileged(Loopback):
    """As a user who may do nothing that others may not, from a place where everybody may read:
    the program and its libraries as they are when installed."""

    name, title = "user", "over loopback, as an unprivileged user"

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("this is no root's session: the programs run unprivileged anyway")
        if not shutil.which("setpriv"):
            raise Unavailable("there is no setpriv")
        prefix = os.path.join(self.scratch, "installed")
        os.makedirs(os.path.join(prefix, "bin"))
        libraries = os.path.join(os.path.dirname(os.path.dirname(self.iwarp)), "lib", "iwarp-verbs")
        shutil.copytree(libraries, os.path.join(prefix, "lib", "iwarp-verbs"), symlinks=True)
        self.iwarp = shutil.copy(self.iwarp, os.path.join(prefix, "bin"))
        return self

    def prefix(self, end):
        return ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups",
                "--bounding-set=-all", "--no-new-privs"]

    def directory(self, number):
        path = super().directory(number)
        os.chown(path, NOBODY, NOBODY)
        return path


class Namespaces(Loopback):
    """Each end in a network namespace of its own, with a veth pair of Ethernet's MTU between them.
    Their loopback interfaces stay down, so the pair is the only way."""

    name, title = "namespaces", "between two network namespaces, MTU 1500"
    host, clients_host = "10.79.0.2", "10.79.0.1"
    hosts = {"client": clients_host, "server": host}

    def __enter__(self):
        if os.geteuid() != 0:
            raise Unavailable("network namespaces need root")
        if not shutil.which("ip"):
            raise Unavailable("there is no ip")
        self.spaces = {end: f"iwarp-programs-{os.getpid()}-{end}" for end in self.hosts}
        try:
            self._make()
        except subprocess.CalledProcessError as error:
            self.__exit__()
            reason = error.stderr.strip()
            raise Unavailable(f"network namespaces are not permitted: {reason}") from error
        return self

    def _make(self):
        for space in self.spaces.values():
            self._ip("netns", "add", space)
        one, other = self.spaces.values()
        self._ip("-n", one, "link", "add", "veth0", "mtu", "1500", "type", "veth",
                 "peer", "name", "veth0", "mtu", "1500", "netns", other)
        for end, space in self.spaces.items():
            self._ip("-n", space, "addr", "add", f"{self.hosts[end]}/24", "dev", "veth0")
            self._ip("-n", space, "link", "set", "veth0", "up")

    @staticmethod
    def _ip(*arguments):
        subprocess.run(["ip", *arguments], check=True, capture_output=True, text=True, timeout=30)

    def __exit__(self, *_):
        for space in self.spaces.values():
            with contextlib.suppress(subprocess.CalledProcessError):
                self._ip("netns", "del", space)

    def prefix(self, end):
        return ["ip", "netns", "exec", self.spaces[end]]

    def beside(self):
        return self.prefix("server")


class Hosts(Namespaces):
    """Two namespaces that are like hosts: what runs on one may talk to itself over loopback, so the
    first device is not the one by which the other is reached."""

    name, title = "hosts", "between two hosts: namespaces with a loopback interface each"

    def _make(self):
        super()._make()
        for space in self.spaces.values():
            self._ip("-n", space, "link", "set", "lo", "up")


PLACES = (Loopback, Unprivileged, Namespaces, Hosts)
