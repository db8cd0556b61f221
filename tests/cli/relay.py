"""A slow link between a client and a server: a TCP relay with little room of its own."""

import socket
import threading
import time

ROOM = 8192  # Octets in each of its sockets' buffers, as far as the system goes along.
PIECE = 4096


class Relay:
    """Passes on what comes, at most so many octets a second each way; towards the client only while
    `flowing` is set."""

    def __init__(self, host, port, octets_per_second):
        self.server = (host, port)
        self.rate = octets_per_second
        self.flowing = threading.Event()
        self.flowing.set()
        self.listener = socket.socket()
        self.narrow(self.listener)
        self.listener.bind(("127.0.0.1", 0))
        self.listener.listen()
        self.sockets = [self.listener]
        self.url = f"iwarp://127.0.0.1:{self.listener.getsockname()[1]}/"
        threading.Thread(target=self.accept, daemon=True).start()

    @staticmethod
    def narrow(one):
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            one.setsockopt(socket.SOL_SOCKET, option, ROOM)

    def accept(self):
        try:
            while True:
                client, _ = self.listener.accept()
                server = socket.socket()
                self.narrow(server)
                server.connect(self.server)
                self.sockets += [client, server]
                for source, sink, gate in ((client, server, None), (server, client, self.flowing)):
                    threading.Thread(target=self.pump, args=(source, sink, gate),
                                     daemon=True).start()
        except OSError:
            pass

    def pump(self, source, sink, gate):
        try:
            while True:
                if gate is not None:
                    gate.wait()
                piece = source.recv(PIECE)
                if not piece:
                    break
                sink.sendall(piece)
                time.sleep(len(piece) / self.rate)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # A reset ends both directions.
            for one in (source, sink):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def close(self):
        self.flowing.set()
        for one in self.sockets:
            one.close()
