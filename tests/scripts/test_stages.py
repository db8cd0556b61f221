"""scripts/test goes on behind a stage that fails, and tells of each at the end. What the stages call is played."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
CTEST = """#!/bin/bash
[[ $2 == release ]] || { echo '100% tests passed, 0 tests failed out of 7'; exit 0; }
printf '50%% tests passed, 1 tests failed out of 2\\n\\nThe following tests FAILED:\\n\\t1 - Deframer.Fails (Failed)\\n\\n'
exit 8
"""


class Stages(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        (self.top / "scripts").mkdir()
        for name in ("test", "options.sh"):
            shutil.copy(TOP / "scripts" / name, self.top / "scripts" / name)
        for name in ("install-deps", "check-format", "check-scripts", "check-docs", "check-requirements", "mutants",
                     "check-sans-io", "fetch-boost"):
            self.play(f"scripts/{name}", "#!/bin/bash\n")
        self.play("scripts/package", "#!/bin/bash\nexit 77\n")
        self.play("bin/cmake", "#!/bin/bash\n[[ $1 != --preset ]] || mkdir -p build/$2\n")
        self.play("bin/ctest", CTEST)

    def play(self, name, text):
        path = self.top / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def run_stages(self, *stages):
        return subprocess.run([self.top / "scripts" / "test", *stages], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                              text=True, timeout=60, check=False,
                              env={**os.environ, "PATH": f"{self.top}/bin:{os.environ['PATH']}"})

    def end_of(self, done):
        return done.stdout.rpartition("== done:")[2]

    def test_all_that_go_well_end_with_ctests_summary(self):
        done = self.run_stages("--checks", "--clang", "--package")
        self.assertEqual(done.returncode, 0, done.stdout)
        self.assertRegex(self.end_of(done), r"checks +passed +0 min \d\d s\nclang +passed +0 min \d\d s\npackage +passed .*\n")
        self.assertTrue(done.stdout.endswith("clang:\n100% tests passed, 0 tests failed out of 7\n"
                                             "package:\nbuilt; smoke test skipped\n"), done.stdout)

    def test_one_that_fails_does_not_keep_the_next_from_running(self):
        self.play("scripts/check-scripts", "#!/bin/bash\nexit 3\n")
        self.play("scripts/check-docs", "#!/bin/bash\necho this does not follow what failed\n")
        done = self.run_stages("--checks", "--release", "--clang")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("does not follow", done.stdout)
        self.assertRegex(self.end_of(done), r"checks +FAILED .*\nrelease +FAILED .*\nclang +passed .*\n")
        self.assertIn("release:\n50% tests passed, 1 tests failed out of 2", self.end_of(done))
        self.assertIn("Deframer.Fails (Failed)", self.end_of(done))

    def test_a_build_that_fails_is_not_tested(self):
        self.play("bin/cmake", "#!/bin/bash\n[[ $1 != --build ]]\n")
        done = self.run_stages("--clang")
        self.assertEqual(done.returncode, 1, done.stdout)
        self.assertNotIn("tests passed", done.stdout)


if __name__ == "__main__":
    unittest.main()
