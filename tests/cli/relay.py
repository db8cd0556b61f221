"""A slow link between a client and a server: a TCP relay with little room of its own."""

import socket
import threading
import time

ROOM = 8192  # Octets in each of its sockets' buffers, as far as the system goes along.
PIECE = 4096


class Relay:
    """Passes on what comes, at most so many octets a second each way; of what the server sends no
    more than the first `hold_after` octets until release()."""

    def __init__(self, host, port, octets_per_second, hold_after=None):
        self.server = (host, port)
        self.rate = octets_per_second
        self.hold_after = hold_after
        self.passed = 0  # Octets of all connections, more or less.
        self.holding = threading.Event()
        self.released = threading.Event()
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
                for source, sink, limit in ((client, server, None),
                                            (server, client, self.hold_after)):
                    threading.Thread(target=self.pump, args=(source, sink, limit),
                                     daemon=True).start()
        except OSError:
            pass

    def pump(self, source, sink, hold_after):
        passed = 0
        try:
            while True:
                if hold_after is not None and passed >= hold_after:
                    self.holding.set()
                    self.released.wait()
                piece = source.recv(PIECE)
                if not piece:
                    break
                sink.sendall(piece)
                passed += len(piece)
                self.passed += len(piece)
                time.sleep(len(piece) / self.rate)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            # A reset ends both directions.
            for one in (source, sink):
                try:
                    one.shutdown(socket.SHUT_RDWR)
                except OSError:
                    pass

    def release(self):
        self.released.set()

    def close(self):
        self.release()
        for one in self.sockets:
            one.close()
