#!/usr/bin/env python3
"""How a start-up fails: what was tried, for how long, which end said no, and why."""

import concurrent.futures
import contextlib
import errno
import os
import re
import resource
import signal
import socket
import struct
import subprocess
import tempfile
import time
import unittest

from fake_server import FakeServer, FullListener, mpa_reply, receive_request, rejecting
from service import IWARP, MIB, PATIENCE, SANITIZED, ServiceTest, huge_file, mpa_request, run
from service import wait_until


def with_name_servers(configuration):
    """A command prefix that shows its program another /etc/resolv.conf, and nobody else."""
    script = 'mount --bind "$1" /etc/resolv.conf && shift && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", configuration]


def can_mount():
    if os.geteuid() != 0:
        return False
    return subprocess.run([*with_name_servers("/dev/null"), "true"], check=False,
                          capture_output=True).returncode == 0


CAN_MOUNT = can_mount()


class StartUpTest(unittest.TestCase):
    """Each client of ours against one address."""

    def fake(self, server):
        self.addCleanup(server.close)
        return server.address

    def behaving(self, behave):
        return self.fake(FakeServer(behave))

    @staticmethod
    def commands(address):
        """A command line of each client."""
        url = f"iwarp://{address}/name"
        return [["ls", url], ["put", __file__, url], ["get", url, "/tmp/iwarp-test-no-such-file"],
                ["perf", address]]

    def start_all(self, address, *arguments):
        clients = [subprocess.Popen([IWARP, *command, *arguments], stdout=subprocess.DEVNULL,
                                    stderr=subprocess.PIPE, text=True)
                   for command in self.commands(address)]
        for client in clients:
            self.addCleanup(client.stderr.close)
            self.addCleanup(self.end, client)
        return clients

    @staticmethod
    def end(client):
        if client.poll() is None:
            client.kill()
            client.wait()

    def said(self, client):
        """What a client says that fails: one sentence."""
        sentence = client.communicate(timeout=PATIENCE)[1]
        self.assertEqual(client.returncode, 1, sentence)
        self.assertRegex(sentence, r"\Aiwarp: [^\n]+\n\Z")
        return sentence

    def all_say(self, address, pattern, *arguments):
        """All of them fail at the same time, with such a sentence, which names the address."""
        self.each_says(self.start_all(address, *arguments), address, pattern)

    def each_says(self, clients, address, pattern):
        for client in clients:
            with self.subTest(client=client.args[1]):
                self.assert_tells(self.said(client), address, pattern)

    def assert_tells(self, sentence, address, pattern):
        self.assertRegex(sentence, pattern)
        self.assertIn(address, sentence)


class TimeOuts(StartUpTest):
    """--timeout is that of the start-up, be it longer or shorter than the usual ten seconds."""

    def silent(self):
        """The address of a peer that takes the TCP connection and says nothing."""
        return self.behaving(lambda connection: connection.recv(1 << 16))

    def check(self, seconds, *addresses):
        """At all addresses at the same time: a thread for each client sees when it ends."""
        begin = time.monotonic()
        waiting = [(client, address) for address in addresses
                   for client in self.start_all(address, "--timeout", str(seconds))]
        with concurrent.futures.ThreadPoolExecutor(len(waiting)) as pool:
            endings = [pool.submit(self.ending, client) for client, _ in waiting]
        for (client, address), ending in zip(waiting, endings):
            with self.subTest(client=client.args[1], address=address):
                sentence, ended = ending.result()
                self.assert_tells(sentence, address, f"within {seconds} s")
                self.assertGreaterEqual(ended - begin, seconds)

    def ending(self, client):
        """What it says, and when it has said that."""
        return self.said(client), time.monotonic()

    def test_above_the_usual_one(self):
        self.check(11, self.silent(), self.fake(FullListener()))

    def test_below_the_usual_one(self):
        self.check(1, self.fake(FullListener()))

    def test_below_a_second(self):
        self.all_say(self.silent(), "no whole MPA reply within 300 ms, and not an octet of one",
                     "--timeout", "0.3")


class Unreachable(StartUpTest):
    def test_says_that_the_connection_was_refused(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
            self.all_say(address, r"connecting to 127\.0\.0\.1:\d+ failed: Connection refused, "
                                  r"(at once|after [\d.]+ s)\n")

    def test_says_that_no_way_leads_there(self):
        # An address of documentation (RFC 3849). What is on the link may take seconds to say so: to
        # all at the same time.
        address = "[2001:db8::1]:7471"
        clients = self.start_all(address)
        reason = None
        try:
            with socket.socket(socket.AF_INET6) as probe:
                probe.settimeout(5)
                probe.connect(("2001:db8::1", 7471))
        except OSError as error:
            reason = error.errno
        if reason not in (errno.ENETUNREACH, errno.EHOSTUNREACH):
            self.skipTest("this machine has a way to everywhere, or no IPv6")
        self.each_says(clients, address, re.escape(os.strerror(reason)))

    def test_asks_whether_a_host_was_meant_for_the_word_server(self):
        client = run("perf", "servr")
        self.assertEqual(client.returncode, 1)
        self.assertRegex(client.stderr, r"\Aiwarp: cannot resolve host 'servr': [^\n]+; did you mean server\?\n\Z")
        self.assertNotIn("did you mean", run("perf", "no-such-host").stderr)

    def test_names_each_address_of_a_host(self):
        with socket.socket() as free, contextlib.ExitStack() as held:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
            if socket.has_ipv6:
                other = held.enter_context(socket.socket(socket.AF_INET6))
                other.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 1)
                other.bind(("::1", port))
            found = socket.getaddrinfo("localhost", port, type=socket.SOCK_STREAM)
            result = run("ls", f"iwarp://localhost:{port}/")
        self.assertEqual(result.returncode, 1)
        self.assertIn(f"localhost:{port}", result.stderr)
        for family, _, _, _, address in found:
            host = f"[{address[0]}]" if family == socket.AF_INET6 else address[0]
            self.assertIn(f"connecting to {host}:{port} failed", result.stderr)

    def test_says_that_there_was_no_answer(self):
        self.all_say(self.fake(FullListener()), "no TCP connection within 2 s", "--timeout", "2")


class HalfStartUps(StartUpTest):
    """The peer takes the TCP connection and does not finish the exchange."""

    def test_half_a_reply_is_told_with_its_length(self):
        whole = mpa_reply(b"x" * 100)
        waiting = []
        for size in (1, 19, 60):
            def behave(connection, part=whole[:size]):
                receive_request(connection)
                connection.sendall(part)
                connection.recv(1)

            octets = "1 octet" if size == 1 else f"{size} octets"
            address = self.behaving(behave)
            clients = self.start_all(address, "--timeout", "10", "--mpa-revision", "1")
            waiting.append((clients, address,
                            f"no whole MPA reply within 10 s, only {octets} of one"))
        for each in waiting:
            self.each_says(*each)

    def test_an_end_is_told_as_the_peers(self):
        def behave(connection):
            receive_request(connection)
            connection.sendall(mpa_reply(b"x" * 100)[:30])
            connection.close()

        self.all_say(self.behaving(behave), "the peer (closed|reset) the connection before there was "
                                            "a whole MPA reply, only 30 octets of one")

    def test_another_protocol_is_told(self):
        def behave(connection):
            connection.sendall(b"SSH-2.0-OpenSSH_9.2p1 Debian-2\r\n")
            connection.recv(1 << 16)
            connection.recv(1)

        self.all_say(self.behaving(behave), "does not speak MPA")


class Interrupts(StartUpTest):
    """A signal ends a start-up at once, however long the time-out is."""

    def check(self, address, are_waiting):
        for number in (signal.SIGINT, signal.SIGTERM):
            clients = self.start_all(address, "--timeout", "86400")
            self.assertTrue(wait_until(lambda: are_waiting(clients)))
            for client in clients:
                client.send_signal(number)
            for client in clients:
                with self.subTest(client=client.args[1], signal=number):
                    self.assertEqual(self.said(client), "iwarp: interrupted\n")

    @staticmethod
    def handles_signals(client):
        with open(f"/proc/{client.pid}/status", encoding="ascii") as status:
            caught = next(line for line in status if line.startswith("SigCgt:"))
        return int(caught.split()[1], 16) >> (signal.SIGINT - 1) & 1 == 1

    def test_while_tcp_connects(self):
        self.check(self.fake(FullListener()),
                   lambda clients: all(self.handles_signals(client) for client in clients))

    @unittest.skipUnless(CAN_MOUNT, "needs root and mount namespaces for name servers of its own")
    def test_while_the_host_is_looked_up(self):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as name_server, \
                tempfile.NamedTemporaryFile("w") as configuration:
            name_server.bind(("127.77.77.77", 53))
            name_server.settimeout(PATIENCE)
            configuration.write("nameserver 127.77.77.77\noptions timeout:30\n")
            configuration.flush()
            client = subprocess.Popen([*with_name_servers(configuration.name), IWARP, "ls",
                                       "iwarp://host.example/"], stderr=subprocess.PIPE, text=True)
            self.addCleanup(client.stderr.close)
            self.addCleanup(self.end, client)
            name_server.recv(512)
            client.send_signal(signal.SIGINT)
            self.assertEqual(self.said(client), "iwarp: interrupted\n")

    def test_while_the_peer_says_nothing(self):
        waiting = []

        def behave(connection):
            receive_request(connection)
            waiting.append(connection)
            connection.recv(1)
            waiting.remove(connection)

        self.check(self.behaving(behave), lambda clients: len(waiting) == len(clients))


class Rejections(StartUpTest):
    """What a rejecting Reply says is shown where a server of ours may have said it."""

    @staticmethod
    def rejection(service, version, code, text):
        return service + struct.pack(">BBH", version, code, len(text)) + text

    def test_of_any_version_show_their_text(self):
        for version in (1, 2, 255):
            for revision in ("1", "2"):
                for index, service in ((0, b"IWFS"), (3, b"IWPF")):
                    address = self.behaving(rejecting(
                        self.rejection(service, version, 99, "not on a Sunday, Zo\u00eb".encode()) +
                        b"of later versions"))
                    result = run(*self.commands(address)[index], "--mpa-revision", revision)
                    self.assertEqual(result.returncode, 1)
                    program = "iwarp perf server" if index == 3 else "iwarp serve"
                    self.assertRegex(result.stderr, rf"\Aiwarp: [a-z ]+ {address}[^:]*: '{program}' "
                                                    "refused: not on a Sunday, Zo\u00eb\n$")

    def test_do_not_steer_the_terminal(self):
        text = b"a\x1b[2J\r\nb\xc2\x9bm\xff"
        result = run("ls", f"iwarp://{self.behaving(rejecting(self.rejection(b'IWFS', 1, 4, text)))}/")
        self.assertTrue(result.stderr.endswith("refused: a?[2J??b?m?\n"), result.stderr)

    def test_without_a_text_are_told_by_their_code(self):
        def told(code):
            address = self.behaving(rejecting(b"IWFS" + bytes([1, code]) + bytes(6)))
            return run("ls", f"iwarp://{address}/").stderr

        self.assertIn("as many clients as it takes", told(4))
        for unknown in (0, 255):
            self.assertIn(f"its reason has the number {unknown}", told(unknown))

    def test_of_others_are_plain(self):
        whole = self.rejection(b"IWFS", 1, 4, b"too long for this")
        for private_data in (b"", b"no", b"\x1b[2J" * 10, whole[:-1], whole[:7],
                             b"JWFS" + whole[4:], b"\xff" * 508):
            address = self.behaving(rejecting(private_data))
            self.all_say(address, r"\Aiwarp: [ -~]*refused without a reason that this program "
                                  r"understands")


class ServerRefusals(ServiceTest):
    """What `iwarp serve` says to a client that it does not let in."""

    def refused(self, private_data):
        """The code and the text of the answer to such a Request."""
        with self.server.connect() as connection:
            connection.sendall(mpa_request(private_data))
            head = connection.recv(20, socket.MSG_WAITALL)
            flags, _, length = struct.unpack(">BBH", head[16:])
            self.assertTrue(flags & 0x20, "the reject bit")
            answer = connection.recv(length, socket.MSG_WAITALL)
        self.assertEqual(answer[:5], b"IWFS\x01")
        code, size = struct.unpack(">BH", answer[5:8])
        return code, answer[8:8 + size].decode()

    def test_have_a_reason(self):
        self.assertEqual(self.refused(b"IWFS\x09\0\0\0"),
                         (3, "the client speaks version 9 of the file protocol, and the server "
                             "version 1"))
        self.assertEqual(self.refused(b"JWFS\x01\0\0\0")[0], 2)
        self.assertIn("truncated", self.refused(b"")[1])

    def test_of_a_client_of_perf_name_the_server(self):
        address = f"{self.server.host}:{self.server.port}"
        self.fails(1, "perf", address, names=[
            address, "'iwarp serve' listens there instead of 'iwarp perf server'"])

    def has_stored(self, pid):
        """Whether a client has stored octets in a file of ours, which has no name yet."""
        def is_it(entry):
            try:  # the directory is open too, and has a size of its own
                return os.readlink(entry).startswith(self.path("")) and os.stat(entry).st_size > 0
            except FileNotFoundError:  # closed meanwhile
                return False
        fds = f"/proc/{pid}/fd"
        return any(is_it(f"{fds}/{fd}") for fd in os.listdir(fds))

    def test_of_a_client_beyond_the_limit_say_so(self):
        self.server = self.start_server("--max-clients", "1")
        huge_file(os.path.join(self.served, "huge"))
        client = subprocess.Popen([IWARP, "get", self.server.url + "huge", self.path("copy")],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            # What has arrived has been asked for: the slot is in use.
            self.assertTrue(wait_until(lambda: self.has_stored(client.pid)))
            self.fails(1, "ls", self.server.url, names=[
                f"{self.server.host}:{self.server.port}: 'iwarp serve' refused: the server has as "
                "many clients as it takes (1)"])
        finally:
            client.kill()
            client.wait()


class PerfServer:
    """A running `iwarp perf server` on a free port."""

    def __init__(self, *arguments):
        self.process = subprocess.Popen(
            [IWARP, "perf", "server", "--listen", "127.0.0.1:0", *arguments],
            stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, stdin=subprocess.DEVNULL, text=True)
        line = self.process.stdout.readline()
        self.address = line.split()[-1]
        self.port = int(self.address.split(":")[1])

    def connect(self, private_data):
        """A plain TCP connection that has sent an MPA Request."""
        connection = socket.create_connection(("127.0.0.1", self.port), timeout=PATIENCE)
        connection.sendall(mpa_request(private_data))
        return connection

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def greeting(version=1, depth=16, markers=0):
    return b"IWPF" + struct.pack(">BBHI", version, markers, 0, depth)


class PerfRefusals(unittest.TestCase):
    def setUp(self):
        self.server = PerfServer()
        self.addCleanup(self.server.close)

    def answer(self, private_data):
        """The flags of the Reply, and its private data."""
        connection = self.server.connect(private_data)
        self.addCleanup(connection.close)
        flags, _, answer = receive_request(connection)
        return flags, answer

    def refused(self, private_data):
        flags, answer = self.answer(private_data)
        self.assertTrue(flags & 0x20, "the reject bit")
        self.assertEqual(answer[:5], b"IWPF\x01")
        code, size = struct.unpack(">BH", answer[5:8])
        return code, answer[8:8 + size].decode()

    def test_have_a_reason(self):
        self.assertEqual(self.refused(greeting(depth=8193)), (3, "the depth is 8193, and not 1 to 8192"))
        self.assertEqual(self.refused(greeting(depth=0))[0], 3)
        self.assertEqual(self.refused(greeting(markers=2))[0], 3)
        self.assertEqual(self.refused(greeting() + b"x")[0], 3)
        self.assertEqual(self.refused(greeting(version=7) + b"of a later version"),
                         (4, "the client speaks version 7 of the protocol of 'iwarp perf', and the "
                             "server version 1"))
        self.assertEqual(self.refused(b""), (3, "the request is not one of 'iwarp perf'"))

    def test_of_a_client_beyond_the_limit_say_what_was_asked_and_why(self):
        for _ in range(16):
            flags, _ = self.answer(greeting())
            self.assertFalse(flags & 0x20)
        result = run("perf", self.server.address, "--op", "read", "--size", "1K", "--depth", "8")
        self.assertEqual(result.returncode, 1)
        self.assertEqual(result.stderr,
                         f"iwarp: asking {self.server.address} for the bandwidth of reads of 1024 "
                         "octets at depth 8: 'iwarp perf server' refused: the server has as many "
                         "clients as it takes (16)\n")

    def test_of_a_client_of_files_name_the_server(self):
        for command in (["ls"], ["put", __file__]):
            result = run(*command, f"iwarp://{self.server.address}/x")
            self.assertEqual(result.returncode, 1)
            self.assertEqual(result.stderr,
                             f"iwarp: connecting to {self.server.address}: refused, since 'iwarp perf "
                             "server' listens there instead of 'iwarp serve'\n")

    @unittest.skipIf(SANITIZED, "a sanitizer needs all addresses")
    def test_for_lack_of_memory_are_told_after_the_start_up(self):
        pid = self.server.process.pid
        with open(f"/proc/{pid}/statm", encoding="ascii") as statm:
            now = int(statm.read().split()[0]) * resource.getpagesize()
        resource.prlimit(pid, resource.RLIMIT_AS, (now + 64 * MIB, now + 64 * MIB))
        result = run("perf", self.server.address, "--size", "64M")
        self.assertEqual(result.returncode, 1)
        self.assertIn("'iwarp perf server' refused: the server has not enough memory for that",
                      result.stderr)
        self.assertEqual(run("perf", self.server.address, "--duration", "0.1").returncode, 0)


class PerfEnds(unittest.TestCase):
    """A measurement that is cut off is told with the side that ended it."""

    def setUp(self):
        self.server = PerfServer()
        self.addCleanup(self.server.close)

    def start_client(self, *arguments):
        client = subprocess.Popen([IWARP, "perf", self.server.address, "--duration", "600",
                                   *arguments], stderr=subprocess.PIPE, stdout=subprocess.DEVNULL,
                                  text=True)
        self.addCleanup(client.stderr.close)
        self.addCleanup(client.wait)
        self.addCleanup(client.kill)
        # No start-up takes so much of a processor: it measures.
        self.assertTrue(wait_until(lambda: self.processor_time(client.pid) > 0.5))
        self.assertIsNone(client.poll())
        return client

    @staticmethod
    def processor_time(pid):
        """Seconds, of all threads of the process."""
        with open(f"/proc/{pid}/stat", encoding="ascii") as stat:
            fields = stat.read().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def assert_says(self, client, pattern):
        said = client.communicate(timeout=PATIENCE)[1]
        self.assertEqual(client.returncode, 1)
        self.assertRegex(said, rf"\Aiwarp: {self.server.address}: {pattern}[^\n]*\n\Z")

    def test_by_the_servers_end(self):
        for number in (signal.SIGTERM, signal.SIGKILL):
            for arguments in (["--op", "write"], ["--op", "send", "--events"]):
                with self.subTest(signal=number, arguments=arguments):
                    self.server = PerfServer()
                    self.addCleanup(self.server.close)
                    client = self.start_client(*arguments)
                    self.server.process.send_signal(number)
                    # A server that ends in order gives up its memory: a Write that comes then is
                    # answered by a Terminate.
                    self.assert_says(client, "(the peer closed the connection|the peer terminated|"
                                             "connection lost: (Connection reset|Broken pipe))")

    def unread(self, end):
        """Octets that wait in the sockets of the server or of its clients (rx_queue of /proc/net/tcp)."""
        address = {"server": 1, "client": 2}[end]
        with open("/proc/net/tcp", encoding="ascii") as table:
            sockets = [line.split() for line in table][1:]
        return sum(int(fields[4].partition(":")[2], 16) for fields in sockets
                   if int(fields[address].partition(":")[2], 16) == self.server.port)

    def stands_still(self, end):
        before = self.unread(end)
        time.sleep(0.1)
        return 0 < before == self.unread(end)

    def assert_ends_alone(self, client, sentence):
        """While its server stands still. An end in order would wait a minute for what is posted."""
        said = client.communicate(timeout=40)[1]
        self.assertEqual((client.returncode, said), (1, f"iwarp: {sentence}\n"))

    def test_by_silence(self):
        client = self.start_client("--op", "write", "--timeout", "4")
        self.server.process.send_signal(signal.SIGSTOP)
        self.assert_ends_alone(client, f"{self.server.address}: the peer showed no sign of life for 4 s")

    def test_by_a_signal(self):
        client = self.start_client("--op", "write", "--timeout", "3600")
        self.server.process.send_signal(signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: self.stands_still("server")))
        client.send_signal(signal.SIGINT)
        self.assert_ends_alone(client, "interrupted")

    def test_by_a_signal_to_the_server_of_a_client_that_stands_still(self):
        # What the server has for it does not fit into the sockets.
        client = self.start_client("--op", "read", "--size", "1M", "--depth", "64")
        client.send_signal(signal.SIGSTOP)
        self.assertTrue(wait_until(lambda: self.stands_still("client")))
        self.server.process.send_signal(signal.SIGINT)
        self.assertEqual(self.server.process.wait(timeout=40), 0)
        client.send_signal(signal.SIGCONT)
        self.assert_says(client, "")


if __name__ == "__main__":
    unittest.main()
