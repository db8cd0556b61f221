"""A program that behaves well or badly, for test_exchange.py: stand_in.py BEHAVIOUR HOST PORT."""

import os
import socket
import subprocess
import sys
import time

behaviour, host, port = sys.argv[1], sys.argv[2], int(sys.argv[3])


def serve():
    with socket.create_server((host, port)) as listener:
        listener.accept()[0].close()


def ask():
    socket.create_connection((host, port)).close()
    print("hello\nrate 12.5")


if behaviour in ("serve", "serve-and-fail"):
    serve()
elif behaviour == "serve-on":
    with socket.create_server((host, port)) as forever:
        while True:
            forever.accept()[0].close()
elif behaviour in ("ask", "ask-and-wait", "ask-and-sleep"):
    ask()
    time.sleep({"ask": 0, "ask-and-wait": 1, "ask-and-sleep": 600}[behaviour])
elif behaviour == "silent":
    socket.create_connection((host, port)).close()
elif behaviour == "fork":
    with open("child", "w", encoding="ascii") as child:
        child.write(str(subprocess.Popen(["sleep", "600"]).pid))
    time.sleep(600)
elif behaviour == "sleep":
    time.sleep(600)
sys.exit(3 if behaviour.endswith("fail") else 0)
