"""Each script of scripts/ explains itself, and names an option that it does not know before it does anything."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

TOP = pathlib.Path(__file__).resolve().parents[2]
SCRIPTS = TOP / "scripts"
ELSEWHERE = {
    "siw-guest/init": "the first process of the guest",
    "siw-guest/conform": "what it does not know are options of `iwarp conform`, which needs the guest",
}


def scripts():
    for path in sorted(SCRIPTS.rglob("*")):
        if path.is_file() and os.access(path, os.X_OK) and str(path.relative_to(SCRIPTS)) not in ELSEWHERE:
            yield path


def run(*command, **options):
    return subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
                          stdin=subprocess.DEVNULL, timeout=120, check=False, **options)


class EachScript(unittest.TestCase):
    def test_says_how_it_is_used(self):
        for script in scripts():
            with self.subTest(script=script.name):
                done = run(script, "--help")
                self.assertEqual(done.returncode, 0, done.stdout)
                self.assertRegex(done.stdout, rf"(?i)usage: .*{script.name}")

    def test_names_the_option_that_it_does_not_know(self):
        for script in scripts():
            with self.subTest(script=script.name):
                done = run(script, "--no-such-option")
                self.assertEqual(done.returncode, 2, done.stdout)
                self.assertRegex(done.stdout, r"(unknown option|unrecognized arguments:) --no-such-option")
                self.assertRegex(done.stdout, r"--help|-h\b")
                self.assertLess(len(done.stdout.splitlines()), 6, done.stdout)

    def test_an_option_without_its_value_is_named(self):
        for words in (["fuzz", "--time"], ["soak", "--seeds"], ["quickstart", "--size"], ["mutants", "--sample"],
                      ["siw-guest/run", "--ns"]):
            with self.subTest(script=words[0]):
                done = run(SCRIPTS / words[0], *words[1:])
                self.assertEqual((done.returncode, f"{words[1]} needs a value" in done.stdout), (2, True), done.stdout)


class ListFiles(unittest.TestCase):
    """Of a tree that is no clone: an archive of the sources."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        for name in ("scripts/list-files", "scripts/options.sh"):
            self.write(name)
            shutil.copy(TOP / name, self.top / name)

    def write(self, name):
        path = self.top / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()

    def listed(self, *patterns):
        return run(self.top / "scripts" / "list-files", *patterns).stdout.splitlines()

    def test_knows_the_files_without_git(self):
        for name in ("base/a.cpp", "base/b.hpp", ".clang-format", "build/release/c.cpp", ".cache/d.cpp"):
            self.write(name)
        self.assertEqual(self.listed("*.cpp", "*.hpp"), ["base/a.cpp", "base/b.hpp"])
        self.assertEqual(self.listed(), [".clang-format", "base/a.cpp", "base/b.hpp", "scripts/list-files",
                                         "scripts/options.sh"])

    @unittest.skipUnless(shutil.which("git"), "there is no git")
    def test_leaves_out_what_git_ignores(self):
        for name in ("a.cpp", "new.cpp", "ignored.cpp", "gone.cpp"):
            self.write(name)
        (self.top / ".gitignore").write_text("ignored.cpp\n", encoding="utf-8")
        run("git", "init", "-q", cwd=self.top)
        run("git", "add", "a.cpp", "gone.cpp", cwd=self.top)
        (self.top / "gone.cpp").unlink()
        self.assertEqual(self.listed("*.cpp"), ["a.cpp", "new.cpp"])


if __name__ == "__main__":
    unittest.main()
