"""scripts/quickstart with a program that is built already: a file crosses iWARP both ways, and a program that fails is seen.
The build is played; what it is asked for is looked at."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]


class Quickstart(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        (self.top / "scripts").mkdir()
        for name in ("quickstart", "options.sh"):
            shutil.copy(TOP / "scripts" / name, self.top / "scripts" / name)
        (self.top / "build/release/cli").mkdir(parents=True)
        self.play("scripts/install-deps", 'echo "$@" >installs\n')
        self.play("bin/cmake", 'echo "$@" >>calls\n')

    def play(self, name, text):
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"#!/bin/bash\n{text}", encoding="utf-8")
        path.chmod(0o755)

    def run_it(self):
        return subprocess.run([self.top / "scripts/quickstart", "--size", "3"], stdout=subprocess.PIPE, text=True,
                              stderr=subprocess.STDOUT, timeout=120, check=False,
                              env={**os.environ, "PATH": f"{self.top}/bin:{os.environ['PATH']}"})

    def test_a_file_crosses_both_ways(self):
        (self.top / "build/release/cli/iwarp").symlink_to(os.environ["IWARP"])
        done = self.run_it()
        self.assertEqual(done.returncode, 0, done.stdout)
        for operation in ("put", "get"):
            self.assertRegex(done.stdout, rf"(?m)^{operation} +3145728 +\d+\.\d\d +\d+  [0-9a-f]{{32}}\.\.\.$")
        self.assertIn("original and copy are identical", done.stdout)
        self.assertEqual((self.top / "installs").read_text(encoding="utf-8"), "--build\n")
        configured, built = (self.top / "calls").read_text(encoding="utf-8").splitlines()
        self.assertIn("--preset release -DIWARP_BUILD_TESTS=OFF", configured)
        self.assertTrue(built.endswith("--target iwarp iwarp_compat rspreload"), built)

    def test_a_build_that_is_there_is_not_configured_anew(self):
        (self.top / "build/release/cli/iwarp").symlink_to(os.environ["IWARP"])
        (self.top / "build/release/build.ninja").touch()
        self.assertEqual(self.run_it().returncode, 0)
        [built] = (self.top / "calls").read_text(encoding="utf-8").splitlines()
        self.assertIn("--build", built)

    def test_a_server_that_ends_is_told(self):
        self.play("build/release/cli/iwarp", "echo the port is taken; exit 1\n")
        done = self.run_it()
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertIn("the server ended:\nthe port is taken", done.stdout)


if __name__ == "__main__":
    unittest.main()
