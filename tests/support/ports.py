"""TCP ports of servers that tests start."""

import contextlib
import random
import socket


def free_port():
    """A port that nobody uses now, outside the range from which the system takes ports for
    connections, and above those that processes with the C interface take for queue pairs without a
    connection manager (21001 to 21511)."""
    while True:
        port = random.randrange(22000, 32000)
        with socket.socket() as probe, contextlib.suppress(OSError):
            probe.bind(("", port))
            return port


def is_listening(port, pid="self"):
    """Whether a socket listens at the port in the network namespace of the process."""
    lines = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError), open(f"/proc/{pid}/net/{table}", encoding="ascii") as file:
            lines += file.readlines()
    fields = (line.split() for line in lines)
    return any(field[3] == "0A" and field[1].endswith(f":{port:04X}") for field in fields)
