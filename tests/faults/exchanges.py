"""The exchanges: which programs they are, which end is made to fail, and how to see whether what came
of them is right."""

import os
import random

OLD = random.Random(1).randbytes(70_001)
NEW = random.Random(2).randbytes(3_000_017)  # more than one chunk
PROBE = random.Random(3).randbytes(1_000)
TIMEOUT = "4"  # Seconds of silence, of iwarp's ends.


class Exchange:
    """A server, and a client that is run against it. `injected` says which of them fails:
    "client"; "start" (the server, from its main() on) or "server" (once it listens); or "both",
    where one process is both. With `names_cause` error messages are this project's, and name the
    cause."""

    names_cause = True
    also_names = ()  # Texts that name any cause.
    server_logs = False  # Its server tells why it did not serve a client.
    ends_at_errors = False  # Its server may end, with a status that is not 0, when something fails.
    ends_with_client = False  # And also when it is a client at which it fails.
    program = None  # Only this one fails, where another one starts it.

    def __init__(self, name, injected, paths):
        self.name, self.injected, self.paths = name, injected, paths

    def prepare(self, directory):
        """Makes what one run needs."""

    def server(self, directory, port):
        """The server's command; None if the client is both ends."""

    def client(self, directory, port):
        """The client's command."""

    def next_client(self, directory, port):
        """A client that shows that the server serves."""
        return self.client(directory, port)

    def wrong_result(self, directory, client):
        """What is wrong with the result of a client that has ended by itself; None if nothing is."""

    def wrong_next_result(self, directory, client):
        return self.wrong_result(directory, client)

    def left_over(self, directory):
        """Names of files that should not be there any more."""
        return []


def _read(path):
    try:
        with open(path, "rb") as file:
            return file.read()
    except FileNotFoundError:
        return None


def _write(path, content):
    with open(path, "wb") as file:
        file.write(content)


class Files(Exchange):
    """`iwarp serve`, and one of its clients."""

    server_logs = True

    def __init__(self, name, injected, paths, operation):
        super().__init__(name, injected, paths)
        self.operation = operation

    def prepare(self, directory):
        for folder in ("served", "mine"):  # which a server may have open
            os.makedirs(os.path.join(directory, folder), exist_ok=True)
            for name in os.listdir(os.path.join(directory, folder)):
                os.remove(os.path.join(directory, folder, name))
        served, mine = self.target(directory)
        _write(os.path.join(directory, "served/probe"), PROBE)
        _write(os.path.join(directory, "new"), NEW)
        _write(served, NEW if self.operation == "get" else OLD)
        if self.operation == "get":
            _write(mine, OLD)

    @staticmethod
    def target(directory):
        """The file at the server and at the client."""
        return os.path.join(directory, "served/file"), os.path.join(directory, "mine/file")

    def server(self, directory, port):
        return [self.paths.iwarp, "serve", os.path.join(directory, "served"), "--listen",
                f"127.0.0.1:{port}", "--timeout", TIMEOUT, "--log-level", "debug"]

    def client(self, directory, port):
        url = f"iwarp://127.0.0.1:{port}/"
        mine = self.target(directory)[1]
        words = {"put": [os.path.join(directory, "new"), url + "file"],
                 "get": [url + "file", mine], "ls": [url]}[self.operation]
        return [self.paths.iwarp, self.operation, *words, "--timeout", TIMEOUT]

    def next_client(self, directory, port):
        return [self.paths.iwarp, "get", f"iwarp://127.0.0.1:{port}/probe",
                os.path.join(directory, "probe"), "--timeout", TIMEOUT]

    def wrong_result(self, directory, client):
        if self.operation == "ls":
            listed = "probe" in client.out() and "file" in client.out()
            return "not the whole listing" if client.status == 0 and not listed else None
        content = _read(self.target(directory)[0 if self.operation == "put" else 1])
        if client.status == 0 and content != NEW:
            return "a success without the whole file"
        return None if content in (OLD, NEW) else "neither the old nor the new file"

    def wrong_next_result(self, directory, client):
        return None if _read(os.path.join(directory, "probe")) == PROBE else "another file"

    def left_over(self, directory):
        expected = {"served": {"probe", "file"}, "mine": {"file"}}
        return [f"{folder}/{name}" for folder, names in expected.items()
                for name in os.listdir(os.path.join(directory, folder)) if name not in names]


class Echo(Exchange):
    """Examples, which say how many rounds they made. Without a port in their words both ends are one
    process. They print an exception as it is."""

    also_names = ("bad_alloc",)
    ends_at_errors = True

    def __init__(self, name, injected, paths, program, server, client, done):
        super().__init__(name, injected, paths)
        self.executable, self.words, self.done = program, (server, client), done

    def _command(self, words, port):
        return [self.executable, *(word.format(port=port) for word in words)]

    def server(self, directory, port):
        return None if self.injected == "both" else self._command(self.words[0], port)

    def client(self, directory, port):
        return self._command(self.words[1], port)

    def wrong_next_result(self, directory, client):
        return None if self.done in client.out() else "no result"

    # To the client, a server that ends the connection is an end like any other.
    def wrong_result(self, directory, client):
        if self.injected in ("server", "start"):
            return None
        return "no result" if client.status == 0 and self.done not in client.out() else None


class Rping(Exchange):
    """rping as it comes, under `iwarp run`. Its messages are its own, and its server ends at
    RDMA_CM_EVENT_CONNECT_ERROR, which is what it is told of a client that goes before its first
    message."""

    names_cause = False
    ends_at_errors = True
    ends_with_client = True
    program = "rping"

    def _command(self, *words):
        return [self.paths.iwarp, "run", "rping", "-a", "127.0.0.1", *words]

    def server(self, directory, port):
        return self._command("-s", "-P", "-V", "-p", str(port))

    def client(self, directory, port):
        return self._command("-c", "-v", "-V", "-C", "12", "-p", str(port))

    def wrong_result(self, directory, client):
        pings = client.out().count("ping data:")
        silent = client.said() == client.out()  # it has no other status for some errors
        return f"{pings} pings" if client.status == 0 and silent and pings != 12 else None


def all_exchanges(paths):
    """The whole list."""
    ping_pong = (["server", "{port}"], ["client", "127.0.0.1", "{port}", "--rounds", "30"],
                 "30 round trips")
    verbs = (["server", "{port}"], ["client", "127.0.0.1", "{port}"], "1000 echoes")
    found = [Files(f"{operation}-client", "client", paths, operation)
             for operation in ("put", "get", "ls")]
    found += [Files(f"{operation}-server", "server", paths, operation)
              for operation in ("put", "get", "ls")]
    found.append(Files("serve-start", "start", paths, "get"))
    for title, program, words in (("asio", paths.ping_pong, ping_pong),
                                  ("verbs", paths.event_loop, verbs)):
        found += [Echo(f"{title}-{injected}", injected, paths, program, *words)
                  for injected in ("client", "server", "start")]
    found.append(Echo("asio-both", "both", paths, paths.ping_pong, [], ["--rounds", "30"],
                      "30 round trips"))
    found += [Rping(f"rping-{injected}", injected, paths) for injected in ("client", "server", "start")]
    return found
