#!/usr/bin/env python3
"""`iwarp run`: which libraries a program gets, what else it is given, and what cannot be run.

The libraries here are stand-ins that say whose they are; those of the project are tested by
scripts/test-programs. The compiler's path comes in the environment variable CXX."""

import os
import shutil
import stat
import subprocess
import tempfile
import unittest

from service import IWARP, PATIENCE, run

CXX = os.environ.get("CXX", "c++")
LIBRARIES = ("libibverbs.so.1", "librdmacm.so.1")
WHOSE = 'extern "C" const char *{name}_whose() {{ return "{owner}"; }}\n'
ASKS = """#include <cstdio>
extern "C" const char *ibverbs_whose();
extern "C" const char *rdmacm_whose();
int main() { std::printf("%s %s\\n", ibverbs_whose(), rdmacm_whose()); }
"""


def compile_(source, target, *options):
    subprocess.run([CXX, "-x", "c++", "-", "-x", "none", "-o", target, *options], input=source,
                   text=True, check=True, timeout=PATIENCE)


def make_libraries(directory, owner):
    """Both libraries, with a function each that tells whose they are."""
    os.makedirs(directory)
    for name in ("ibverbs", "rdmacm"):
        path = os.path.join(directory, f"lib{name}.so.1")
        compile_(WHOSE.format(name=name, owner=owner), path, "-shared", "-fPIC",
                 f"-Wl,-soname,lib{name}.so.1")


class RunTest(unittest.TestCase):
    """A directory of stand-ins for our libraries, and another for the system's."""

    @classmethod
    def setUpClass(cls):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-run-")
        cls.addClassCleanup(scratch.cleanup)
        cls.scratch = scratch.name
        cls.ours = os.path.join(scratch.name, "ours")
        cls.systems = os.path.join(scratch.name, "system")
        make_libraries(cls.ours, "ours")
        make_libraries(cls.systems, "system's")

    def path(self, name):
        return os.path.join(self.scratch, name)

    def asking_program(self, name, *options):
        """A program that prints whose libraries it got, linked against the system's."""
        compile_(ASKS, self.path(name), *(os.path.join(self.systems, name) for name in LIBRARIES),
                 *options)
        return self.path(name)

    def run_(self, *arguments, environment=None, **options):
        """`iwarp run` with the stand-ins, and only what is stated of what iwarp looks at."""
        variables = {name: value for name, value in os.environ.items()
                     if not name.startswith(("IWARP_", "LD_"))}
        variables["IWARP_LIBRARY_DIR"] = self.ours
        variables.update(environment or {})
        return run("run", *arguments, env=variables, **options)

    def prints(self, expected, *arguments, **options):
        result = self.run_(*arguments, **options)
        self.assertEqual((result.stdout, result.stderr, result.returncode), (expected, "", 0))

    def fails(self, status, *arguments, names=(), **options):
        """Fails with one sentence that names things, and starts nothing."""
        result = self.run_(*arguments, **options)
        self.assertEqual((result.returncode, result.stdout), (status, ""), result.stderr)
        self.assertRegex(result.stderr, r"\Aiwarp: [^\n]+\n\Z")
        for name in names:
            self.assertIn(name, result.stderr)


class RunLibraries(RunTest):
    def test_come_before_the_systems(self):
        program = self.asking_program("asks", f"-Wl,--enable-new-dtags,-rpath,{self.systems}")
        self.assertEqual(subprocess.check_output([program], text=True), "system's system's\n")
        self.prints("ours ours\n", program)

    def test_come_before_a_programs_own_rpath(self):
        program = self.asking_program("rpath", f"-Wl,--disable-new-dtags,-rpath,{self.systems}")
        self.assertEqual(subprocess.check_output(
            [program], text=True, env={"LD_LIBRARY_PATH": self.ours}), "system's system's\n")
        self.prints("ours ours\n", program)

    def test_stand_before_what_the_user_set(self):
        self.prints(f"{self.ours}:/else/where\n", "printenv", "LD_LIBRARY_PATH",
                    environment={"LD_LIBRARY_PATH": "/else/where"})
        self.prints(f"{self.ours}\n", "printenv", "LD_LIBRARY_PATH",
                    environment={"LD_LIBRARY_PATH": ""})

    def test_are_found_beside_an_installed_program(self):
        for libraries in ("lib", "lib64"):
            with self.subTest(libraries=libraries):
                prefix = self.path("prefix-" + libraries)
                os.makedirs(os.path.join(prefix, "bin"))
                installed = shutil.copy(IWARP, os.path.join(prefix, "bin", "iwarp"))
                where = os.path.join(prefix, libraries, "iwarp-verbs")
                shutil.copytree(self.ours, where)
                variables = {name: value for name, value in os.environ.items()
                             if name not in ("IWARP_LIBRARY_DIR", "LD_LIBRARY_PATH")}
                result = subprocess.run([installed, "run", "printenv", "LD_LIBRARY_PATH"],
                                        capture_output=True, text=True, env=variables,
                                        timeout=PATIENCE, check=False)
                self.assertEqual((result.stdout, result.stderr), (where + "\n", ""))

    def test_that_are_not_there_are_named(self):
        os.mkdir(self.path("empty"))
        self.fails(1, "true", names=[self.path("empty"), "libibverbs.so.1"],
                   environment={"IWARP_LIBRARY_DIR": self.path("empty")})
        self.fails(1, "true", names=["IWARP_LIBRARY_DIR"], environment={"IWARP_LIBRARY_DIR": ""})

    def test_with_a_path_that_cannot_be_said_are_refused(self):
        shutil.copytree(self.ours, self.path("co:lon"))
        self.fails(1, "true", names=["co:lon", "LD_LIBRARY_PATH"],
                   environment={"IWARP_LIBRARY_DIR": self.path("co:lon")})


class RunProgram(RunTest):
    def test_gets_its_arguments_untouched(self):
        script = 'printf "[%s]" "$@"'
        expected = "[--help][--][-s][--stats][serve][]"
        arguments = ["sh", "-c", script, "sh", "--help", "--", "-s", "--stats", "serve", ""]
        self.prints(expected, *arguments)
        self.prints(expected, "--", *arguments)
        self.prints(expected, "--stats", "--device-as", "ib", "--", *arguments)

    def test_may_have_the_name_of_a_subcommand_or_an_option(self):
        for name in ("serve", "--stats"):
            with self.subTest(name=name):
                with open(self.path(name), "w", encoding="ascii") as file:
                    file.write("#!/bin/sh\necho it is me\n")
                os.chmod(self.path(name), 0o755)
                self.prints("it is me\n", "--", name,
                            environment={"PATH": self.scratch + ":" + os.environ["PATH"]})

    def test_is_told_what_the_options_say(self):
        variables = ("IWARP_DEVICE_AS", "IWARP_STATS", "IWARP_CAPTURE")
        ask = ["sh", "-c", "; ".join(f'echo "${{{name}-unset}}"' for name in variables)]
        self.prints("unset\nunset\nunset\n", *ask)
        self.prints("ib\n1\nunset\n", "--device-as", "ib", "--stats", *ask)
        self.prints("iwarp\nunset\nunset\n", "--device-as=iwarp", *ask)
        self.prints("ib\nunset\nunset\n", *ask, environment={"IWARP_DEVICE_AS": "ib"})
        more = ["sh", "-c", 'echo "${IWARP_INTERFACES-unset} ${IWARP_TIMEWAIT_EXIT-unset} ${IWARP_MAX_FPDU-unset}"']
        self.prints("unset unset unset\n", *more)
        self.prints("lo 1 16384\n", "--interfaces", "lo", "--timewait-exit", "--max-fpdu", "16K", *more)
        os.mkdir(self.path("captures"))
        self.prints(f"unset\nunset\n{self.path('captures')}\n", "--capture", "captures", *ask,
                    cwd=self.scratch)

    def test_has_the_software_device(self):
        ask = ["sh", "-c", 'echo "${IWARP_DEVICE-unset}"']
        self.prints("unset\n", *ask)
        self.prints("\n", *ask, environment={"IWARP_DEVICE": ""})
        self.prints("soft\n", *ask, environment={"IWARP_DEVICE": "soft"})
        self.prints("soft\n", "--device", "soft", *ask, environment={"IWARP_DEVICE": "rnic:siw0"})
        self.prints("soft\n", "--device=soft", "--", *ask)

    def test_has_no_other_device(self):
        for name, words in (("rnic:siw0", "without `iwarp run`"), ("soft:lo", "--interfaces")):
            with self.subTest(name=name):
                self.fails(2, "--device", name, "true", names=["--device", f"'{name}'", words])
                self.fails(2, "true", names=["IWARP_DEVICE", f"'{name}'", words],
                           environment={"IWARP_DEVICE": name})

    def test_has_its_own_exit_status(self):
        self.assertEqual(self.run_("sh", "-c", "exit 7").returncode, 7)
        self.assertEqual(self.run_("sh", "-c", "kill -TERM $$").returncode, -15)

    def test_that_cannot_run_is_named(self):
        self.fails(127, "no-such-program", names=["no-such-program"])
        self.fails(127, self.path("none"), names=[self.path("none")])
        with open(self.path("plain"), "w", encoding="ascii") as file:
            file.write("text\n")
        self.fails(126, self.path("plain"), names=[self.path("plain")])
        self.fails(126, self.scratch, names=[self.scratch])

    def test_is_asked_for_with_status_2(self):
        for arguments in ([], ["--"], ["--stats"], ["--frobnicate", "true"],
                          ["--device-as", "ethernet", "true"], ["--device-as"],
                          ["--max-fpdu", "135", "true"], ["--max-fpdu", "65537", "true"],
                          ["--interfaces", "lo,nothere", "true"], ["--interfaces", "", "true"],
                          ["--interfaces", "lo,,lo", "true"],
                          ["--capture", self.path("nowhere"), "true"]):
            with self.subTest(arguments=arguments):
                self.fails(2, *arguments)


class RunOutOfReach(RunTest):
    def warns(self, words, program):
        """The program runs all the same, after one line that says why it is not served."""
        result = self.run_(program)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(result.stdout, "ran\n")
        self.assertRegex(result.stderr, r"\Aiwarp: [^\n]+\n\Z")
        for word in (program, words):
            self.assertIn(word, result.stderr)

    def program(self, name, *options):
        compile_('#include <unistd.h>\nint main() { return write(1, "ran\\n", 4) != 4; }\n',
                 self.path(name), *options)
        return self.path(name)

    def test_is_a_static_program(self):
        self.warns("statically", self.program("static", "-static"))
        self.warns("statically", self.program("static-pie", "-static-pie"))

    @unittest.skipUnless(os.geteuid() == 0, "only root gives files away")
    def test_is_a_program_that_changes_its_user(self):
        program = self.program("setuid")
        os.chown(program, 65534, 65534)
        os.chmod(program, os.stat(program).st_mode | stat.S_ISUID)
        os.chmod(self.scratch, 0o755)
        self.warns("setuid", program)

    def test_is_not_a_program_with_our_own_user(self):
        program = self.program("own")
        os.chmod(program, os.stat(program).st_mode | stat.S_ISUID)
        self.prints("ran\n", program)


if __name__ == "__main__":
    unittest.main()
