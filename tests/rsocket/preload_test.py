#!/usr/bin/env python3
"""Sockets programs over rsockets: two processes that know of nothing but sockets, with librspreload.

RSOCKET_LIBRARIES names the folder of our libibverbs and librdmacm."""

import errno
import hashlib
import os
import pathlib
import signal
import subprocess
import sys
import unittest

LIBRARIES = pathlib.Path(os.environ["RSOCKET_LIBRARIES"])
PRELOAD = LIBRARIES / "rsocket" / "librspreload.so"
PATIENCE = 60

# Says its port, then does what `serve(connection)` says.
SERVER = """
import hashlib, socket, sys
listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen()
print(listener.getsockname()[1], flush=True)
connection, peer = listener.accept()
"""

CLIENT = """
import hashlib, os, select, signal, socket, sys
connection = socket.create_connection(("127.0.0.1", int(sys.argv[1])))
"""


def start(program, *arguments, preload=True, **options):
    environment = dict(os.environ, LD_LIBRARY_PATH=str(LIBRARIES))
    if preload:
        environment["LD_PRELOAD"] = str(PRELOAD)
    return subprocess.Popen([sys.executable, "-c", program, *map(str, arguments)], env=environment,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options)


class Processes(unittest.TestCase):
    """Starts a server and a client, and has what they print."""

    def launch(self, program, *arguments, **options):
        process = start(program, *arguments, **options)
        self.addCleanup(self.end, process)
        return process

    @staticmethod
    def end(process):
        if process.poll() is None:
            process.kill()
        process.communicate()

    def run_pair(self, server, client, **client_options):
        serving = self.launch(SERVER + server)
        port = serving.stdout.readline().strip()
        asking = self.launch(CLIENT + client, port, **client_options)
        asked, client_errors = asking.communicate(timeout=PATIENCE)
        served, server_errors = serving.communicate(timeout=PATIENCE)
        self.assertEqual(serving.returncode, 0, server_errors)
        return served.strip(), asked.strip(), asking.returncode, client_errors


class Sockets(Processes):
    RECEIVE_ALL = """
digest, total = hashlib.sha256(), 0
while data := connection.recv(100_000):
    digest.update(data)
    total += len(data)
print(total, digest.hexdigest(), flush=True)
"""

    def test_a_stream_arrives_whole(self):
        size = 5_000_001
        served, _, code, errors = self.run_pair(self.RECEIVE_ALL, f"""
data = (b"0123456789abcdef" * {size // 16 + 1})[:{size}]
connection.sendall(data)
connection.close()
""")
        data = (b"0123456789abcdef" * (size // 16 + 1))[:size]
        self.assertEqual(code, 0, errors)
        self.assertEqual(served, f"{size} {hashlib.sha256(data).hexdigest()}")

    def test_it_does_travel_by_rsockets(self):
        _, asked, code, errors = self.run_pair('connection.sendall(b"x")', """
print(os.readlink(f"/proc/self/fd/{connection.fileno()}"))
connection.recv(1)
""")
        self.assertEqual(code, 0, errors)
        self.assertEqual(asked, "anon_inode:[eventpoll]")

    def test_a_plain_socket_is_no_peer(self):
        serving = self.launch(SERVER)
        port = serving.stdout.readline().strip()
        asking = self.launch(CLIENT + 'connection.sendall(b"x" * 64); print(connection.recv(1))',
                             port, preload=False)
        asking.communicate(timeout=PATIENCE)
        self.assertIsNone(serving.poll(), "the server goes on waiting for an rsocket")

    def test_both_answer_with_timeouts_and_select(self):
        _, asked, code, errors = self.run_pair("""
connection.settimeout(30)
for _ in range(200):
    connection.sendall(connection.recv(100))
""", """
connection.setblocking(False)
for each in range(200):
    select.select([], [connection], [], 30)
    connection.send(str(each).encode())
    readable, _, _ = select.select([connection], [], [], 30)
    assert readable and connection.recv(100) == str(each).encode()
print("all answered")
""")
        self.assertEqual((code, asked), (0, "all answered"), errors)

    def test_a_signal_that_is_let_in_ends_a_ppoll(self):
        _, asked, code, errors = self.run_pair('connection.recv(1)', """
import ctypes, errno
handled = []
signal.signal(signal.SIGUSR1, lambda *_: handled.append(1))
signal.pthread_sigmask(signal.SIG_BLOCK, [signal.SIGUSR1])
os.kill(os.getpid(), signal.SIGUSR1)
fds = (ctypes.c_int * 2)(connection.fileno(), select.POLLIN)
found = ctypes.CDLL(None, use_errno=True).ppoll(fds, 1, None, bytes(128))
print(found, errno.errorcode[ctypes.get_errno()], handled)
connection.send(b"x")
""")
        self.assertEqual((code, asked), (0, "-1 EINTR [1]"), errors)

    def test_duplicates_mean_the_same_socket(self):
        served, _, code, errors = self.run_pair(self.RECEIVE_ALL, """
copy = os.dup(connection.fileno())
connection.close()
os.write(copy, b"by the copy")
os.close(copy)
""")
        self.assertEqual(code, 0, errors)
        self.assertEqual(served.split()[0], str(len("by the copy")))

    def test_its_number_is_kept_while_duplicates_mean_it(self):
        served, told, code, errors = self.run_pair(self.RECEIVE_ALL, """
own = connection.detach()
copy = os.dup(own)
os.close(own)
other = os.open("/dev/null", os.O_RDONLY)
def replace(old, new):
    try:
        return os.dup2(old, new) == new
    except OSError as error:
        return os.strerror(error.errno)
print(replace(other, own), replace(999, copy), sep=", ", end=", ")
os.write(copy, b"by the copy")
os.close(copy)
print(replace(other, own), os.read(own, 1))
""")
        self.assertEqual(code, 0, errors)
        self.assertEqual(told, "Device or resource busy, Bad file descriptor, True b''")
        self.assertEqual(served.split()[0], str(len("by the copy")))


class Ends(Processes):
    WAIT_FOR_END = """
try:
    while connection.recv(1000): pass
    print("end")
except OSError as error:
    print(error.errno)
"""

    def test_a_process_that_exits_ends_its_streams(self):
        served, _, code, errors = self.run_pair(Sockets.RECEIVE_ALL, """
connection.sendall(b"x" * 1_000_000)
keep = connection.detach()
sys.exit(0)
""")
        self.assertEqual(code, 0, errors)
        self.assertEqual(served.split()[0], "1000000")

    def test_a_process_that_is_killed_breaks_them(self):
        served, _, code, _ = self.run_pair(self.WAIT_FOR_END, """
connection.sendall(b"x")
os.kill(os.getpid(), signal.SIGKILL)
""")
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(served, str(errno.ECONNRESET))

    def test_a_child_leaves_the_stream_to_its_parent(self):
        served, _, code, errors = self.run_pair(Sockets.RECEIVE_ALL, """
connection.sendall(b"before ")
child = os.fork()
if child == 0:
    try:
        connection.send(b"x")
        os._exit(1)
    except OSError:
        connection.close()
        os._exit(0)
assert os.waitpid(child, 0)[1] == 0
connection.sendall(b"after")
connection.close()
""")
        self.assertEqual(code, 0, errors)
        self.assertEqual(served.split()[0], str(len("before after")))


if __name__ == "__main__":
    unittest.main()
