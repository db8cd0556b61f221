#!/usr/bin/env python3
"""Plain TCP servers that are besieged to see that a siege can fail, and their client.

usage: naive_server.py blocking   one peer after the other: a silent one stops it
       naive_server.py leaking    keeps the descriptor of each peer for ever
       naive_server.py sound      neither
       naive_server.py ask PORT   one operation"""

import selectors
import socket
import sys

QUESTION, ANSWER = b"question", b"answer"
PATIENCE = 30  # Of the client: enough for a sound server on a machine that does something else, too.


def block(listener):
    while True:
        peer, _ = listener.accept()
        with peer:
            try:
                if peer.recv(len(QUESTION), socket.MSG_WAITALL) == QUESTION:
                    peer.sendall(ANSWER)
            except OSError:
                pass


def serve(listener, keep):
    kept = []
    selector = selectors.DefaultSelector()
    selector.register(listener, selectors.EVENT_READ)
    while True:
        for key, _ in selector.select():
            if key.fileobj is listener:
                selector.register(listener.accept()[0], selectors.EVENT_READ)
                continue
            peer = key.fileobj
            try:
                said = peer.recv(4096)
                if said == QUESTION:
                    peer.sendall(ANSWER)
            except OSError:
                said = b""
            if not said:
                selector.unregister(peer)
                kept.append(peer) if keep else peer.close()


def ask(port):
    with socket.create_connection(("127.0.0.1", port), timeout=PATIENCE) as server:
        server.sendall(QUESTION)
        return 0 if server.recv(len(ANSWER), socket.MSG_WAITALL) == ANSWER else 1


def main():
    kind = sys.argv[1]
    if kind == "ask":
        return ask(int(sys.argv[2]))
    listener = socket.create_server(("127.0.0.1", 0), backlog=1024)
    print("port", listener.getsockname()[1], flush=True)
    if kind == "blocking":
        block(listener)
    serve(listener, keep=kind == "leaking")


if __name__ == "__main__":
    sys.exit(main())
