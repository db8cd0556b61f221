"""A program that behaves well or badly, for test_exchange.py: stand_in.py BEHAVIOUR HOST PORT."""

import contextlib
import os
import socket
import subprocess
import sys
import time

behaviour, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def serve():
    with socket.create_server((host, port)) as listener:
        listener.accept()[0].close()


def serve_apart():
    """Serves for ever, but not who comes while another is being served."""
    with socket.create_server((host, port)) as listener:
        while True:
            listener.settimeout(None)
            served = listener.accept()[0]
            listener.settimeout(0.3)
            with contextlib.suppress(TimeoutError):
                listener.accept()
                sys.exit(3)
            served.close()


def ask():
    with socket.create_connection((host, port)) as connection:
        connection.recv(1)  # until the server has closed it
    print("hello\nrate 12.5", flush=True)


if behaviour in ("serve", "serve-and-fail"):
    serve()
elif behaviour == "serve-on":
    with socket.create_server((host, port)) as forever:
        while True:
            forever.accept()[0].close()
elif behaviour == "serve-apart":
    serve_apart()
elif behaviour == "say-and-serve":
    print("come", flush=True)
    serve()
elif behaviour in ("ask", "ask-and-fail", "ask-and-wait", "ask-and-sleep"):
    ask()
    time.sleep({"ask-and-wait": 1, "ask-and-sleep": 600}.get(behaviour, 0))
elif behaviour == "silent":
    socket.create_connection((host, port)).close()
elif behaviour == "fork":
    with open("child", "w", encoding="ascii") as child:
        child.write(str(subprocess.Popen(["sleep", "600"]).pid))
    time.sleep(600)
elif behaviour == "sleep":
    time.sleep(600)
sys.exit(3 if behaviour.endswith("fail") else 0)
