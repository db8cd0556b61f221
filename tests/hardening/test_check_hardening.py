#!/usr/bin/env python3
"""Shows that check-hardening accepts what has every property and names each that is missing."""

import os
import pathlib
import platform
import subprocess
import tempfile
import unittest

CHECK = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "check-hardening"
CXX = os.environ.get("CXX", "c++")
X86 = platform.machine() in ("x86_64", "i686")

# A frame that is worth a check, and a call whose destination has a known size.
SOURCE = """
#include <unistd.h>
[[gnu::noinline]] int fill(char* to);
[[gnu::noinline]] long take(int from) {
  char frame[64];
  const long got = read(from, frame, static_cast<unsigned long>(from) * 8);
  return got + fill(frame);
}
int fill(char* to) { return to[1]; }
int main(int count, char**) { return static_cast<int>(take(count)); }
"""
COMPILE = ["-O2", "-fPIC", "-fstack-protector-strong", "-U_FORTIFY_SOURCE", "-D_FORTIFY_SOURCE=2"]
LINK = ["-Wl,-z,relro", "-Wl,-z,now", "-Wl,-z,noexecstack"]
if X86:
    COMPILE.append("-fcf-protection=full")
    LINK += ["-Wl,-z,ibt", "-Wl,-z,shstk"]


class Made(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-test-")
        self.addCleanup(scratch.cleanup)
        self.top = pathlib.Path(scratch.name)
        (self.top / "a.cpp").write_text(SOURCE, encoding="utf-8")

    def tool(self, *command):
        done = subprocess.run(command, cwd=self.top, capture_output=True, text=True, timeout=120, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def compile(self, *changes):
        self.tool(CXX, *COMPILE, *changes, "-c", "a.cpp", "-o", "a.o")

    def link(self, *options):
        self.tool(CXX, "a.o", *options, "-o", "a.out")
        return "a.out"

    def check(self, *arguments):
        return subprocess.run([CHECK, *arguments], cwd=self.top, capture_output=True, text=True, timeout=120, check=False)

    def assert_whole(self, name):
        done = self.check(name)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def assert_lacks(self, name, what):
        """That alone is missing."""
        done = self.check(name)
        self.assertEqual((done.returncode, done.stderr), (1, f"{name}: lacks {what}\n"))


class Programs(Made):
    def test_with_every_property(self):
        self.compile()
        self.assert_whole(self.link("-pie", *LINK))

    def test_at_a_fixed_address(self):
        self.compile()
        self.assert_lacks(self.link("-no-pie", *LINK), "PIE")

    def test_without_relro(self):
        self.compile()
        self.assert_lacks(self.link("-pie", *LINK, "-Wl,-z,norelro"), "RELRO")

    def test_that_is_bound_late(self):
        self.compile()
        self.assert_lacks(self.link("-pie", *LINK, "-Wl,-z,lazy"), "NOW")

    def test_with_an_executable_stack(self):
        self.compile()
        self.assert_lacks(self.link("-pie", *LINK, "-Wl,-z,execstack"), "NX")

    @unittest.skipUnless(X86, "landing pads and shadow stacks are x86's")
    def test_without_landing_pads(self):
        self.compile("-fcf-protection=none")
        plain = [option for option in LINK if option not in ("-Wl,-z,ibt", "-Wl,-z,shstk")]
        self.assert_lacks(self.link("-pie", *plain), "CET")

    @unittest.skipUnless(X86, "landing pads and shadow stacks are x86's")
    def test_with_half_of_that(self):
        self.compile("-fcf-protection=none")
        self.assert_lacks(self.link("-pie", *[option for option in LINK if option != "-Wl,-z,shstk"]), "CET")

    def test_without_checked_frames(self):
        self.compile("-fno-stack-protector")
        self.assert_lacks(self.link("-pie", *LINK), "PROTECTOR")

    def test_without_fortified_calls(self):
        self.compile("-U_FORTIFY_SOURCE")
        self.assert_lacks(self.link("-pie", *LINK), "FORTIFY")


class Libraries(Made):
    def test_with_every_property(self):
        self.compile()
        self.assert_whole(self.link("-shared", *LINK))

    def test_that_is_bound_late(self):
        self.compile()
        self.assert_lacks(self.link("-shared", *LINK, "-Wl,-z,lazy"), "NOW")

    def test_without_checked_frames(self):
        self.compile("-fno-stack-protector")
        self.assert_lacks(self.link("-shared", *LINK), "PROTECTOR")


class Archives(Made):
    def archive(self):
        self.tool("ar", "rc", "a.a", "a.o")
        return "a.a"

    def test_with_every_property(self):
        self.compile()
        self.assert_whole(self.archive())

    @unittest.skipUnless(X86, "landing pads and shadow stacks are x86's")
    def test_with_an_object_without_landing_pads(self):
        self.compile("-fcf-protection=none")
        self.assert_lacks(self.archive(), "CET of a.o")

    def test_with_an_object_that_wants_an_executable_stack(self):
        self.compile("-Wa,--execstack")
        self.assert_lacks(self.archive(), "NX of a.o")

    def test_without_fortified_calls(self):
        self.compile("-U_FORTIFY_SOURCE")
        self.assert_lacks(self.archive(), "FORTIFY")


class Usage(Made):
    def test_a_tree_is_searched(self):
        self.compile("-fno-stack-protector")
        (self.top / "below").mkdir()
        self.tool(CXX, "a.o", "-pie", *LINK, "-o", "below/program")
        done = self.check("--tree", ".")
        self.assertEqual((done.returncode, done.stderr), (1, "below/program: lacks PROTECTOR\n"))

    def test_a_tree_without_binaries_is_no_success(self):
        self.assertEqual(self.check("--tree", ".").returncode, 2)

    def test_a_file_that_is_no_binary_is_no_success(self):
        done = self.check("a.cpp")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("no program, library or archive", done.stderr)

    def test_nothing_to_do_is_no_success(self):
        self.assertEqual(self.check().returncode, 2)


if __name__ == "__main__":
    unittest.main()
