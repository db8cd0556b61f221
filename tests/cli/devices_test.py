#!/usr/bin/env python3
"""`iwarp devices`, and --device of the subcommands that open one."""

import json
import os
import re
import shutil
import signal
import socket
import stat
import subprocess
import tempfile
import unittest

from ports import free_port
from service import IWARP, MIB, PATIENCE, SANITIZED, ServiceTest, random_file, run

PARTS = ("RDMAP", "DDP placement", "MPA segmentation", "MPA markers", "CRC", "TCP")
NONE_IS_CALLED = "no device is called '{}'{}: there are soft, soft:INTERFACE"


def environment(device):
    return {**os.environ, "IWARP_DEVICE": device}


class Devices(unittest.TestCase):
    def test_are_listed_with_what_runs_where(self):
        result = run("devices")
        self.assertEqual((result.returncode, result.stderr), (0, ""))
        self.assertTrue(result.stdout.startswith("soft\n"), result.stdout)
        for part in PARTS:
            self.assertRegex(result.stdout, rf"(?m)^  {part} +this host$")
        found = re.search(r"(?m)^soft:INTERFACE\n.*: (.*)$", result.stdout)
        self.assertEqual(found[1].split(), [name for _, name in socket.if_nameindex()])

    def test_are_listed_as_json(self):
        report = json.loads(run("devices", "--json").stdout)
        soft = report["devices"][0]
        self.assertEqual((soft["name"], soft["provider"], soft["stream"]), ("soft", "software", "kernel"))
        self.assertEqual(soft["offloads"], [])
        self.assertEqual(set(soft["runs_on"].values()), {"host"})
        self.assertGreater(soft["limits"]["max_qp"], 1000)
        self.assertEqual(report["forms"], [{"form": "soft:INTERFACE",
                                            "interfaces": [name for _, name in socket.if_nameindex()]}])

    @unittest.skipIf(SANITIZED, "a sanitizer needs descriptors of its own")
    def test_that_cannot_be_opened_are_listed_with_the_reason(self):
        command = ["sh", "-c", 'ulimit -n 4; exec "$@"', "sh", IWARP, "devices"]
        result = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertRegex(result.stdout, r"\Asoft\n  the device 'soft' cannot be opened: .*files.*\nsoft:INTERFACE\n")
        result = subprocess.run([*command, "--json"], capture_output=True, text=True, timeout=PATIENCE,
                                check=False)
        self.assertEqual(result.returncode, 1, result.stderr)
        self.assertIn("files", json.loads(result.stdout)["devices"][0]["error"])


def perf_server(test, *arguments):
    """The address of an `iwarp perf server` that ends with the test."""
    server = subprocess.Popen([IWARP, "perf", "server", "--listen", "127.0.0.1:0", *arguments],
                              stdout=subprocess.PIPE, text=True)
    test.addCleanup(server.stdout.close)
    test.addCleanup(server.wait, PATIENCE)
    test.addCleanup(server.send_signal, signal.SIGTERM)
    return server.stdout.readline().split()[-1]


class DeviceOption(ServiceTest):
    server_arguments = ("--device", "soft:lo")

    def test_of_both_ends_is_one_interface(self):
        content = random_file(self.path("here"), 300_000)
        self.done("put", "--device", "soft:lo", self.path("here"), self.server.url + "there")
        self.assertIn("there", self.done("ls", "--device", "soft:lo", self.server.url).stdout)
        self.done("get", "--device", "soft:lo", self.server.url + "there", self.path("back"))
        with open(self.path("back"), "rb") as file:
            self.assertEqual(file.read(), content)

    def test_that_is_not_there_is_named(self):
        nothing = os.path.join(self.mine, "nothing")
        random_file(nothing, 10)
        for command in (["serve", self.served], ["put", nothing, self.server.url],
                        ["get", self.server.url + "there", self.path("back")], ["ls", self.server.url],
                        ["perf", "127.0.0.1"], ["perf", "server", "--listen", "127.0.0.1:0"],
                        ["agent", "--listen", "127.0.0.1:0"]):
            with self.subTest(command=command[:2]):
                self.fails(1, *command, "--device", "kernel", names=[NONE_IS_CALLED.format("kernel", "")])
                self.fails(1, *command, names=[NONE_IS_CALLED.format("x", " (IWARP_DEVICE)")],
                           env=environment("x"))
                self.fails(1, *command, "--device", "soft:nosuch",
                           names=["no network interface is called 'nosuch'"])
                self.fails(2, *command, "--device", "")
                self.assertRegex(run(*command[:1], "--help").stdout, r"(?s)--device DEVICE  .*IWARP_DEVICE")

    def test_comes_before_the_environment(self):
        self.done("ls", self.server.url, env=environment("soft:lo"))
        self.done("ls", "--device", "soft", self.server.url, env=environment("x"))

    def test_measures_by_one_interface(self):
        at = perf_server(self, "--device", "soft:lo")
        self.done("perf", "--device", "soft:lo", at, "--duration", "0.1")

    def test_is_what_conform_tests(self):
        first = self.done("conform", "--list").stdout.split()[0]
        self.done("conform", "--self", "--device", "soft:lo", "--case", first)
        failed = run("conform", "--self", "--device", "kernel", "--case", first)
        self.assertEqual(failed.returncode, 1)
        self.assertIn(NONE_IS_CALLED.format("kernel", ""), failed.stderr)
        self.fails(2, "conform", "--target", "127.0.0.1:1", "--device", "soft", names=["--device needs --self"])


class AdapterOfTheEnvironment(ServiceTest):
    """Both ends open the adapter that IWARP_DEVICE names; see CMakeLists.txt."""

    def setUp(self):
        # What plays the adapter takes a port of its own if it is not told one, which the confined server may not.
        self.server_arguments = ("--listen", f"127.0.0.1:{free_port()}")
        super().setUp()

    def test_is_listed(self):
        listed = {device["name"]: device for device in json.loads(run("devices", "--json").stdout)["devices"]}
        adapter = listed[os.environ["IWARP_DEVICE"]]
        self.assertTrue(adapter["features"]["sinks_need_remote_write"])
        self.assertEqual(adapter["offloads"], ["full"])

    def test_moves_files(self):
        for size in (0, 1, 300_000, 5 * MIB + 7):
            content = random_file(self.path("here"), size)
            self.done("put", self.path("here"), self.server.url + "there")
            self.done("get", self.server.url + "there", self.path("back"))
            with open(self.path("back"), "rb") as file:
                self.assertEqual(file.read(), content)
        self.assertIn("there", self.done("ls", self.server.url).stdout)

    def test_measures(self):
        at = perf_server(self)
        for operation in ("write", "read", "send"):
            self.done("perf", at, "--op", operation, "--duration", "0.1")


@unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
class SetUserId(unittest.TestCase):
    def test_programs_do_not_ask_the_environment(self):
        with tempfile.TemporaryDirectory(prefix="iwarp-test-") as scratch:
            os.chmod(scratch, 0o755)
            program = shutil.copy(IWARP, scratch)
            ask = [program, "ls", "iwarp://127.0.0.1:1/"]

            def said():
                return subprocess.run(ask, capture_output=True, text=True, timeout=PATIENCE, check=False,
                                      env=environment("x")).stderr

            self.assertIn("no device is called 'x'", said())
            os.chown(program, 65534, 65534)
            os.chmod(program, os.stat(program).st_mode | stat.S_ISUID)
            self.assertIn("connecting to 127.0.0.1:1 failed", said())


if __name__ == "__main__":
    unittest.main()
