#!/usr/bin/env python3
"""What goes wrong: one sentence, the right status, and nothing left behind on either side."""

import os
import re
import signal
import socket
import subprocess
import time
import unittest

from fake_server import FakeServer
from service import IWARP, MIB, PATIENCE, ServiceTest, huge_file, limit_file_size, random_file, run
from service import wait_until


def private_tmpfs(directory, size):
    """A command prefix that shows its program a small tmpfs at `directory`, and nobody else."""
    script = f'mount -t tmpfs -o size={size} tmpfs "$1" && shift && exec "$@"'
    return ["unshare", "--mount", "sh", "-c", script, "sh", directory]


def can_mount():
    if os.geteuid() != 0:
        return False
    return subprocess.run(private_tmpfs("/mnt", MIB) + ["true"], check=False,
                          capture_output=True).returncode == 0


CAN_MOUNT = can_mount()


class WrongUsage(ServiceTest):
    def test_is_told_by_status_2(self):
        random_file(self.path("file"), 10)
        file, url = self.path("file"), self.server.url + "x"
        for arguments in ([], ["frobnicate"], ["put"], ["put", file], ["put", file, url, "more"],
                          ["put", file, url, "--hash", "md5"], ["put", file, url, "--nonsense"],
                          ["get", url, "x", "--mpa-revision", "3"], ["serve"],
                          ["serve", self.served, "--log-level", "loud"]):
            with self.subTest(arguments=arguments):
                self.fails(2, *arguments)

    def test_wrong_urls_are_named(self):
        random_file(self.path("file"), 10)
        for url in ("http://127.0.0.1/x", "127.0.0.1:7471/x", "iwarp://127.0.0.1:99999/x",
                    "iwarp://127.0.0.1:0/x", "iwarp://127.0.0.1:/x", "iwarp:///x",
                    "iwarp://[::1/x", "iwarp://::1:7471/x", "iwarp://127.0.0.1", "",
                    "iwarp://127.0.0.1/%zz"):
            with self.subTest(url=url):
                self.fails(2, "put", self.path("file"), url, names=[url])
                self.fails(2, "get", url, self.path("copy"))
                self.fails(2, "ls", url)
        self.fails(2, "get", self.server.url, self.path("copy"))
        self.fails(2, "serve", self.served, "--listen", "127.0.0.1:123456")

    def test_missing_things_are_named(self):
        self.fails(1, "put", self.path("none"), self.server.url + "x", names=[self.path("none")])
        self.fails(1, "put", self.mine, self.server.url + "x", names=[self.mine])
        self.fails(1, "get", self.server.url + "none", self.path("copy"),
                   names=[self.server.url + "none", "no such file"])
        random_file(os.path.join(self.served, "there"), 10)
        self.fails(1, "get", self.server.url + "there", self.path("no/dir"), names=["no/dir"])
        self.fails(1, "serve", self.path("none"), names=[self.path("none")])
        self.assertEqual(os.listdir(self.mine), [])

    def test_hosts_that_are_not_there_are_named(self):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            address = f"127.0.0.1:{free.getsockname()[1]}"
            self.fails(1, "ls", f"iwarp://{address}/", names=[address])
        self.fails(1, "ls", "iwarp://no-such-host.invalid/", names=["no-such-host.invalid"])


class WrongWords(unittest.TestCase):
    """The message names the wrong word, the right one where one is near, and the help that explains."""

    def assert_told(self, sentence, *arguments):
        with self.subTest(arguments=arguments):
            result = run(*arguments)
            self.assertEqual((result.returncode, result.stdout, result.stderr), (2, "", f"iwarp: {sentence}\n"))

    def test_of_subcommands_are_named(self):
        for arguments in (["putt"], ["putt", "file", "url"], ["putt", "--json"], ["help", "putt"]):
            explains = "iwarp help" if arguments[0] == "help" else "iwarp"
            self.assert_told(f"iwarp has no subcommand 'putt'; did you mean put? ({explains} --help explains)", *arguments)
        self.assert_told("iwarp has no subcommand 'frobnicate' (iwarp --help explains)", "frobnicate")
        self.assert_told("iwarp perf has no subcommand 'sever'; did you mean server? (iwarp help --help explains)",
                         "help", "perf", "sever")
        told = run().stderr
        self.assertRegex(told, r"\Aiwarp: iwarp needs a subcommand: .*put, .*\(iwarp --help explains\)\n\Z")
        self.assertNotIn("complete", told)

    def test_of_options_are_named(self):
        self.assert_told("iwarp has no option '--hlp'; did you mean --help? (iwarp --help explains)", "--hlp")
        self.assert_told("iwarp has no option '-v'; did you mean --version? (iwarp --help explains)", "-v")
        for word in ("--jsn", "-json", "--jsn=1"):
            name = word.partition("=")[0]
            self.assert_told(f"iwarp put has no option '{name}'; did you mean --json? (iwarp put --help explains)",
                             "put", word)
        self.assert_told("iwarp put has no option '--wait' (iwarp put --help explains)", "put", "a", "b", "--wait")
        self.assert_told("iwarp perf server has no option '--liste'; did you mean --listen? "
                         "(iwarp perf server --help explains)", "perf", "server", "--liste", "x")
        self.assert_told("iwarp run has no option '--stat'; did you mean --stats? (iwarp run --help explains)",
                         "run", "--stat", "true")

    def test_too_many_and_too_few_are_named(self):
        self.assert_told("'c' is one argument too many for iwarp put (iwarp put --help explains)", "put", "a", "b", "c")
        self.assert_told("iwarp put needs URL (iwarp put --help explains)", "put", "a")
        self.assert_told("iwarp serve needs DIR (iwarp serve --help explains)", "serve")
        self.assert_told("--hash needs a value (iwarp put --help explains)", "put", "a", "b", "--hash")
        self.assert_told("--hash is given 2 times, and taken once (iwarp put --help explains)",
                         "put", "a", "b", "--hash", "none", "--hash", "none")
        self.assert_told("--json does not take 'x' (iwarp put --help explains)", "put", "a", "b", "--json=x")
        long = "x" * 100_000
        self.assert_told(f"--json does not take '{long}' (iwarp put --help explains)", "put", "a", "b", f"--json={long}")
        self.assert_told("run needs a program (iwarp run --help explains)", "run")

    def test_of_values_are_named_with_what_is_permitted(self):
        self.assert_told("--hash: 'sha255' is not sha256 or none; did you mean sha256? (iwarp put --help explains)",
                         "put", "a", "b", "--hash", "sha255")
        self.assert_told("--mpa-revision: '3' is not 1 or 2 (iwarp ls --help explains)", "ls", "u", "--mpa-revision", "3")
        for value in ("0", "4097", "x", "", "1.5", "99999999999999999999"):
            self.assert_told(f"--max-clients: '{value}' is not a whole number from 1 to 4096 (iwarp serve --help explains)",
                             "serve", ".", "--max-clients", value)
        for value in ("0", "86401", "nan", "1e", "1,5"):
            self.assert_told(f"--timeout: '{value}' is not a number from 0.1 to 86400 (iwarp ls --help explains)",
                             "ls", "u", "--timeout", value)
        for value in ("135", "65K", "1T", "-1", "K", "99999999999999999999M", "18014398509481984K"):
            self.assert_told(f"--max-fpdu: '{value}' is not a number of octets from 136 to 64K, with K, M or G for powers "
                             "of 1024 (iwarp ls --help explains)", "ls", "u", "--max-fpdu", value)
        self.assert_told("--iwarp-port: '65536' is not a whole number from 0 to 65535 (iwarp agent --help explains)",
                         "agent", "--iwarp-port", "65536")
        self.assert_told("--capture: '/nowhere': No such file or directory (iwarp ls --help explains)",
                         "ls", "u", "--capture", "/nowhere")
        self.assert_told("--capture: '/dev/null' is not a directory (iwarp ls --help explains)",
                         "ls", "u", "--capture", "/dev/null")
        self.assert_told("--interfaces: 'nothere' is no network interface (iwarp run --help explains)",
                         "run", "--interfaces", "lo,nothere", "true")

    def test_steer_no_terminal(self):
        self.assert_told("iwarp has no subcommand 'a?[2Jb???' (iwarp --help explains)", b"a\x1b[2Jb\xc2\x9b\xff\n")


class Help(unittest.TestCase):
    def test_is_what_the_option_prints(self):
        for words in ([], ["put"], ["run"], ["perf"], ["perf", "server"], ["help"]):
            with self.subTest(words=words):
                asked, wanted = run("help", *words), run(*words, "--help")
                self.assertEqual((asked.returncode, asked.stderr), (0, ""))
                self.assertEqual(asked.stdout, wanted.stdout)
                self.assertIn(f"Usage: {' '.join(['iwarp', *words])} [OPTIONS]", asked.stdout)

    def test_fits_eighty_columns(self):
        for name in re.findall(r"(?m)^  (\w+) ", run("help").stdout.partition("Subcommands:")[2].partition("\n\n")[0]):
            for line in run("help", name).stdout.partition("\nExample")[0].splitlines():
                self.assertLessEqual(len(line), 80, (name, line))


class Names(ServiceTest):
    def setUp(self):
        super().setUp()
        random_file(self.path("file"), 1000)
        random_file(self.path("secret"), 1000)
        os.symlink(self.path("secret"), os.path.join(self.served, "link"))
        os.symlink(self.mine, os.path.join(self.served, "dirlink"))
        os.symlink(".", os.path.join(self.served, "self"))
        os.mkdir(os.path.join(self.served, "sub"))
        os.mkfifo(os.path.join(self.served, "fifo"))

    def test_cannot_leave_the_directory(self):
        secret = self.path("secret")
        before = sorted(os.listdir(self.mine))
        for name in ("../mine/secret", "sub/../../mine/secret", secret, "/" + secret, "link",
                     "dirlink/secret", "self/sub/x", "..", ".", "sub/..", "./sub/x", "%2e%2e/x",
                     "sub//x", "a%00b", "..%5cmine%5csecret", "x%0ay", ".iwarp-partial-x", "fifo",
                     "sub", "sub/", "x" * 300, "x/" * 400):
            with self.subTest(name=name):
                self.fails(1, "get", self.server.url + name, self.path("copy"))
                if not name.endswith("/"):
                    self.fails(1, "put", self.path("file"), self.server.url + name)
        for prefix in ("../", "/", "//", "/etc/", "dirlink/", "self/", "sub/../", "link/"):
            with self.subTest(prefix=prefix):
                self.fails(1, "ls", self.server.url + prefix)
        self.assertEqual(sorted(os.listdir(self.mine)), before)
        self.assertEqual(sorted(os.listdir(self.served)), ["dirlink", "fifo", "link", "self", "sub"])
        self.assert_serves()

    def test_overlong_names_are_refused(self):
        self.fails(2, "put", self.path("file"), self.server.url + "x" * 2000)

    def test_put_needs_its_directory(self):
        self.fails(1, "put", self.path("file"), self.server.url + "none/file",
                   names=["no such file or directory"])


class Interruptions(ServiceTest):
    def start(self, *arguments):
        """Starts a client of a huge transfer and returns when octets have moved."""
        client = subprocess.Popen([IWARP, *arguments, "--log-level", "debug"],
                                  stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
        self.addCleanup(client.stderr.close)
        line = client.stderr.readline()
        self.assertIn("connected", line)
        time.sleep(0.3)
        self.assertIsNone(client.poll(), "the transfer was too fast to be interrupted")
        return client

    def start_put(self):
        huge_file(self.path("huge"))
        return self.start("put", self.path("huge"), self.server.url + "huge")

    def start_get(self):
        huge_file(os.path.join(self.served, "huge"))
        return self.start("get", self.server.url + "huge", self.path("copy"))

    def ends_badly(self, client, message):
        output = client.communicate(timeout=PATIENCE)[1]
        self.assertEqual(client.returncode, 1, output)
        self.assertRegex(output, rf"(?m)^iwarp: .*{message}")

    def assert_nothing_left(self, directory):
        self.assertEqual([name for name in os.listdir(directory) if name != "huge"], [])

    def test_a_killed_client_leaves_nothing_and_the_next_one_is_served(self):
        client = self.start_put()
        client.kill()
        client.wait()
        self.assertTrue(wait_until(lambda: "interrupted" in self.server.logged()))
        self.assertEqual(os.listdir(self.served), [])
        self.assert_serves()

    def test_a_killed_get_leaves_nothing(self):
        client = self.start_get()
        client.kill()
        client.wait()
        self.assert_nothing_left(self.mine)
        self.assert_serves()

    def test_an_interrupted_client_says_so_and_leaves_nothing(self):
        for start in (self.start_put, self.start_get):
            with self.subTest(start=start.__name__):
                client = start()
                client.send_signal(signal.SIGINT)
                self.ends_badly(client, "interrupted")
                self.assert_nothing_left(self.mine)
                self.assertTrue(wait_until(lambda: "interrupted" in self.server.logged()))
                self.assert_nothing_left(self.served)
        self.assert_serves()

    def test_a_dead_server_fails_the_client(self):
        for start in (self.start_put, self.start_get):
            with self.subTest(start=start.__name__):
                client = start()
                self.server.process.kill()
                self.ends_badly(client, self.server.host)
                self.assert_nothing_left(self.mine)
                self.server = self.start_server()
                self.assert_nothing_left(self.served)

    def test_a_server_that_stops_ends_its_transfers(self):
        client = self.start_put()
        self.assertEqual(self.server.stop(), 0)
        self.ends_badly(client, self.server.host)
        self.assertEqual(os.listdir(self.served), [])

    def test_a_stalled_server_is_given_up(self):
        huge_file(self.path("huge"))
        client = self.start("put", self.path("huge"), self.server.url + "huge", "--timeout", "2")
        self.server.process.send_signal(signal.SIGSTOP)
        self.ends_badly(client, "no sign of life for 2")
        self.server.process.send_signal(signal.SIGCONT)
        self.assert_serves()

    def test_a_file_that_changes_while_it_is_sent_is_refused(self):
        client = self.start_put()
        os.truncate(self.path("huge"), 1000)
        self.ends_badly(client, "while it was sent")
        client = self.start_get()
        os.truncate(os.path.join(self.served, "huge"), 1000)
        self.ends_badly(client, "while it was sent")
        self.assert_nothing_left(self.mine)

    def test_what_a_killed_server_left_is_removed(self):
        os.mkdir(os.path.join(self.served, "sub"))
        for name in (".iwarp-partial-abc", "sub/.iwarp-partial-def", "sub/kept"):
            random_file(os.path.join(self.served, name), 10)
        self.start_server()
        self.assertEqual(os.listdir(os.path.join(self.served, "sub")), ["kept"])
        self.assertEqual(os.listdir(self.served), ["sub"])


class FullDisks(ServiceTest):
    @unittest.skipUnless(CAN_MOUNT, "needs root and mount namespaces for a small tmpfs")
    def test_of_the_server_is_told_before_and_during_a_put(self):
        self.server = self.start_server(prefix=private_tmpfs(self.served, 8 * MIB))
        random_file(self.path("large"), 16 * MIB)
        random_file(self.path("half"), 6 * MIB)
        url = self.server.url + "file"
        self.fails(1, "put", self.path("large"), url, names=[url, "no space left"])
        self.done("put", self.path("half"), self.server.url + "half")
        self.fails(1, "put", self.path("half"), url, names=[url, "no space left"])
        listing = self.reported("ls", self.server.url)["entries"]
        self.assertEqual([entry["name"] for entry in listing], ["half"])
        random_file(self.path("small"), MIB)
        self.done("put", self.path("small"), self.server.url + "small", "--hash", "none")

    @unittest.skipUnless(CAN_MOUNT, "needs root and mount namespaces for a small tmpfs")
    def test_of_the_client_is_told(self):
        random_file(os.path.join(self.served, "large"), 16 * MIB)
        command = private_tmpfs(self.mine, 8 * MIB)
        result = subprocess.run([*command, "sh", "-c", '"$@"; echo "status $?"; ls -A "$0"',
                                 self.mine, IWARP, "get", self.server.url + "large",
                                 self.path("copy")], check=False,
                                capture_output=True, text=True, timeout=PATIENCE)
        self.assertEqual(result.stdout, "status 1\n")
        self.assertIn("No space left on device", result.stderr)

    def test_a_write_that_fails_midway_is_told(self):
        # Bash exports no limit to us, so the server gets one of its own.
        self.server = self.start_server(preexec_fn=limit_file_size(4 * MIB))
        random_file(self.path("large"), 16 * MIB)
        url = self.server.url + "file"
        self.fails(1, "put", self.path("large"), url, names=[url, "too large"])
        self.assertEqual(os.listdir(self.served), [])
        self.assert_serves()


class StrangeServers(unittest.TestCase):
    """Something listens, but it is not `iwarp serve`."""

    def listen(self, behave):
        server = FakeServer(behave)
        self.addCleanup(server.close)
        return server.address

    def assert_fails(self, address):
        started = time.monotonic()
        result = run("ls", f"iwarp://{address}/", "--timeout", "2")
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, rf"\Aiwarp: [^\n]*{address}[^\n]*\n\Z")
        self.assertLess(time.monotonic() - started, 30)

    def test_silence_is_given_up(self):
        self.assert_fails(self.listen(lambda connection: None))

    def test_another_protocol_is_refused(self):
        def answer(connection):
            connection.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
            connection.close()

        self.assert_fails(self.listen(answer))

    def test_a_closed_connection_is_told(self):
        self.assert_fails(self.listen(lambda connection: connection.close()))


if __name__ == "__main__":
    unittest.main()
