"""Servers that do not do what a client expects."""

import socket
import struct
import threading

from service import PATIENCE


class FakeServer:
    """Listens on a free port and gives each connection to `behave`, on a thread of its own."""

    def __init__(self, behave):
        self.behave = behave
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.address = f"127.0.0.1:{self.port}"
        self.connections = []
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def accept(self):
        try:
            while True:
                connection, _ = self.listener.accept()
                connection.settimeout(PATIENCE)
                self.connections.append(connection)
                threading.Thread(target=self.serve, args=(connection,), daemon=True).start()
        except OSError:
            pass

    def serve(self, connection):
        try:
            self.behave(connection)
        except OSError:
            pass

    def close(self):
        # A thread that accepts at a closed descriptor would take the connections of the next server.
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        for one in (self.listener, *self.connections):
            one.close()


class FullListener:
    """A port whose queue is full: the system answers no more connections."""

    def __init__(self):
        self.listener = socket.socket()
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen(0)
        self.address = f"127.0.0.1:{self.listener.getsockname()[1]}"
        self.fillers = []
        for _ in range(3):
            filler = socket.socket()
            filler.setblocking(False)
            filler.connect_ex(self.listener.getsockname())
            self.fillers.append(filler)

    def close(self):
        for one in (self.listener, *self.fillers):
            one.close()


def receive_request(connection):
    """The MPA Request of a client: its flags, its revision and its private data."""
    head = connection.recv(20, socket.MSG_WAITALL)
    flags, revision, length = struct.unpack(">BBH", head[16:])
    return flags, revision, connection.recv(length, socket.MSG_WAITALL) if length else b""


def mpa_reply(private_data=b"", flags=0x60, revision=1):
    """An MPA Reply (RFC 5044 section 7.1.1): by default one that rejects."""
    return (b"MPA ID Rep Frame" + struct.pack(">BBH", flags, revision, len(private_data)) +
            private_data)


def rejecting(private_data):
    """A behaviour: rejects in the revision in which the client asks."""
    def behave(connection):
        _, revision, _ = receive_request(connection)
        enhanced = revision == 2
        # RFC 6581 section 9: the S bit, and IRD and ORD in front of the private data.
        connection.sendall(mpa_reply((bytes(4) if enhanced else b"") + private_data,
                                     0x70 if enhanced else 0x60, revision))
        connection.recv(1)

    return behave
