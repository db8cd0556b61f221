"""Programs of others build against the installed library, and run: by find_package and pkg-config, shared and
static, and as a part of their own project."""

import json
import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
import unittest

HERE = pathlib.Path(__file__).resolve().parent
TOP = HERE.parent.parent
CMAKE = os.environ["CMAKE"]
CXX = os.environ["CXX"]
BUILD = os.environ["IWARP_BUILD_DIR"]
COMPONENTS = os.environ["IWARP_COMPONENTS"].split()
PROGRAMS = sorted(path for path in (HERE / "programs").glob("*.cpp") if path.stem.split("_")[0] in COMPONENTS)
HANGS = 1800  # seconds: a build on a busy machine may take several hundred
STRICT = "-std=c++20 -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Werror".split()


def run(*command, **options):
    """What a command prints; its failure is the test's."""
    done = subprocess.run([str(part) for part in command], stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          text=True, timeout=HANGS, check=False, **options)
    if done.returncode != 0:
        raise AssertionError(f"{shlex.join(str(part) for part in command)}: {done.returncode}\n{done.stdout}")
    return done.stdout


class Scratch(unittest.TestCase):
    def setUp(self):
        self.directory = pathlib.Path(tempfile.mkdtemp(prefix="iwarp-install."))
        self.addCleanup(shutil.rmtree, self.directory)

    def configure(self, source, *options):
        return run(CMAKE, "-G", "Ninja", "-S", source, "-B", self.directory / "build", f"-DCMAKE_CXX_COMPILER={CXX}",
                   "-DCMAKE_BUILD_TYPE=Debug", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON", *options)


class Installed(Scratch):
    def setUp(self):
        super().setUp()
        for component in ("libraries", "development"):
            run(CMAKE, "--install", BUILD, "--prefix", self.directory / "first", "--component", component)
        # Found where it was not installed to: nothing in it may name its place.
        self.prefix = self.directory / "root"
        (self.directory / "first").rename(self.prefix)

    def library(self, name):
        return next(self.prefix.rglob(name))

    def check_program(self, program):
        printed = run(program)
        if program.name == "verbs_device":
            self.assertRegex(printed, r"device \S+: software over kernel, max_qp \d+")

    def needs_iwarp(self, program):
        return "libiwarp-" in run("readelf", "-d", program)


class FindPackage(Installed):
    def consume(self, components=COMPONENTS, options=()):
        return self.configure(HERE / "consumer", f"-DCMAKE_PREFIX_PATH={self.prefix}",
                              f"-DIWARP_PROGRAMS={HERE / 'programs'}",
                              f"-DIWARP_WANTED={';'.join(components)}", *options)

    def build(self, form, options=()):
        self.assertIn(f"iwarp::verbs is a {form}_LIBRARY", self.consume(options=options))
        run(CMAKE, "--build", self.directory / "build", "-j", "1")
        for source in PROGRAMS:
            program = self.directory / "build" / source.stem
            self.check_program(program)
            self.assertEqual(self.needs_iwarp(program), form == "SHARED")

    def test_shared(self):
        self.build("SHARED")

    def test_static(self):
        self.build("STATIC", ["-Diwarp_USE_STATIC_LIBS=ON"])

    def test_an_unknown_component_is_named(self):
        with self.assertRaisesRegex(AssertionError, r"iwarp has no component 'rdmap'; +installed\s+are:\s+verbs"):
            self.consume(["verbs", "rdmap"])

    def test_another_minor_version_is_refused(self):
        with self.assertRaisesRegex(AssertionError, "considered but not accepted"):
            self.consume(options=["-DIWARP_VERSION_WANTED=0.999"])


class PkgConfig(Installed):
    def flags(self, source, *options):
        path = self.library("pkgconfig")
        component = source.stem.split("_")[0]
        return run("pkg-config", "--cflags", "--libs", *options, f"iwarp-{component}",
                   env={**os.environ, "PKG_CONFIG_PATH": str(path)}).split()

    def compile(self, source, *flags):
        program = self.directory / source.stem
        run(CXX, *STRICT, source, "-o", program, *flags)
        return program

    def test_shared(self):
        for source in PROGRAMS:
            flags = self.flags(source)
            self.assertNotIn("-lisal", flags)
            program = self.compile(source, *flags, f"-Wl,-rpath,{self.library('libiwarp-verbs.so').parent}")
            self.assertTrue(self.needs_iwarp(program))
            self.check_program(program)

    def test_static(self):
        for shared in self.prefix.rglob("libiwarp-*.so*"):
            shared.unlink()
        for source in PROGRAMS:
            program = self.compile(source, *self.flags(source, "--static"))
            self.assertFalse(self.needs_iwarp(program))
            self.check_program(program)


class Contents(Installed):
    def test_each_header_is_complete(self):
        for header in sorted((self.prefix / "include").rglob("*.hpp")):
            with self.subTest(header=header.name):
                run(CXX, *STRICT, "-fsyntax-only", "-x", "c++", "-I", self.prefix / "include", "-include", header,
                    "/dev/null")

    def test_only_public_symbols_are_exported(self):
        for component in COMPONENTS:
            print(run(sys.executable, TOP / "scripts" / "check-exports", self.library(f"libiwarp-{component}.so")))

    def test_a_symbol_too_many_is_seen(self):
        leak = self.directory / "leak.cpp"
        leak.write_text("namespace iwarp::mpa { void leaked() {} }", encoding="utf-8")
        library = self.directory / "libiwarp-verbs.so"
        run(CXX, "-shared", "-fPIC", "-o", library, leak)
        with self.assertRaisesRegex(AssertionError, r"internal: iwarp::mpa::leaked\(\)"):
            run(sys.executable, TOP / "scripts" / "check-exports", library)

    def test_sonames_carry_the_abi(self):
        for component in COMPONENTS:
            library = self.library(f"libiwarp-{component}.so")
            self.assertRegex(run("readelf", "-d", library), rf"SONAME.*\[libiwarp-{component}\.so\.\d+\]")

    def test_a_list_of_files_that_cannot_be_written_to_is_replaced(self):
        """As one that an installation by root has left. Not even root can write to where this one leads."""
        left = pathlib.Path(BUILD) / "install_manifest_none.txt"
        left.symlink_to("/nowhere/list")
        self.addCleanup(left.unlink)
        run(CMAKE, "--install", BUILD, "--prefix", self.prefix, "--component", "none")
        self.assertFalse(left.is_symlink())


class Loader(Scratch):
    """What the end of the installation does for the loader. ldconfig is played: the system's stays as it is."""

    def setUp(self):
        super().setUp()
        self.prefix = self.directory / "prefix"
        self.ran = self.directory / "ran"

    def install(self, searched, status=0, environment=()):
        ldconfig = self.directory / "ldconfig"
        ldconfig.write_text(f'#!/bin/sh\nif [ "$1" = -v ]; then echo "{searched}: (from <builtin>)"; exit 0; fi\n'
                            f'touch {self.ran}; exit {status}\n', encoding="utf-8")
        ldconfig.chmod(0o755)
        unset = {name: value for name, value in os.environ.items() if name != "DESTDIR"}
        return run(CMAKE, f"-DCMAKE_INSTALL_PREFIX={self.prefix}", "-DIWARP_LIBDIR=lib", f"-DIWARP_LDCONFIG={ldconfig}",
                   "-P", TOP / "cmake" / "IwarpLoader.cmake", env={**unset, **dict(environment)})

    def test_its_cache_is_written_where_it_searches(self):
        self.assertIn("ldconfig has run", self.install(self.prefix / "lib"))
        self.assertTrue(self.ran.exists())

    def test_a_folder_may_have_another_name_there(self):
        (self.prefix / "lib").mkdir(parents=True)
        (self.directory / "linked").symlink_to(self.prefix / "lib")
        self.assertIn("ldconfig has run", self.install(self.directory / "linked"))

    def test_what_root_must_run_is_said_to_others(self):
        self.assertRegex(self.install(self.prefix / "lib", status=1), "once root has run: .*/ldconfig")

    def test_another_folder_is_named(self):
        self.assertIn(f"LD_LIBRARY_PATH={self.prefix / 'lib'}", self.install("/usr/lib").replace("\n", " "))
        self.assertFalse(self.ran.exists())

    def test_a_staged_installation_is_left_alone(self):
        self.assertEqual(self.install(self.prefix / "lib", environment={"DESTDIR": "/staged"}.items()), "")
        self.assertFalse(self.ran.exists())

    def test_the_installation_ends_with_it(self):
        printed = run(CMAKE, "--install", BUILD, "--prefix", self.prefix, "--component", "libraries")
        self.assertIn(f"The loader does not search {self.prefix}", printed)


class WithoutPreset(Scratch):
    """The project as a stranger configures it."""

    def options_of_ours(self):
        listed = json.loads((self.directory / "build" / "compile_commands.json").read_text(encoding="utf-8"))
        return [entry["command"].split() for entry in listed]

    def test_warnings_are_shown_but_no_errors(self):
        self.configure(TOP, "-DIWARP_BUILD_TESTS=OFF")
        for options in self.options_of_ours():
            self.assertNotIn("-Werror", options)
            self.assertIn("-Wall", options)

    def test_packages_without_their_reference_are_refused(self):
        with self.assertRaisesRegex(AssertionError, r"IWARP_PACKAGES is ON, but there\s+is\s+no\s+doxygen"):
            self.configure(TOP, "-DIWARP_BUILD_TESTS=OFF", "-DIWARP_PACKAGES=ON", "-DCMAKE_INSTALL_PREFIX=/usr",
                           "-DCMAKE_DISABLE_FIND_PACKAGE_Doxygen=ON")

    def test_tests_are_not_needed_to_build_what_quickstart_does(self):
        self.configure(TOP, "-DIWARP_BUILD_TESTS=OFF", "-DCMAKE_DISABLE_FIND_PACKAGE_GTest=ON",
                       "-DCMAKE_DISABLE_FIND_PACKAGE_benchmark=ON", "-DCMAKE_DISABLE_FIND_PACKAGE_Doxygen=ON",
                       "-DCMAKE_DISABLE_FIND_PACKAGE_Python3=ON")
        targets = run(CMAKE, "--build", self.directory / "build", "--target", "help")
        for target in ("iwarp", "iwarp_compat", "rspreload"):
            self.assertRegex(targets, rf"(?m)^{target}: phony")


class SubProject(Scratch):
    """The library in another project, whose settings it must leave alone."""

    def setUp(self):
        super().setUp()
        self.configure(HERE / "subproject", f"-DIWARP_SOURCE={TOP}")

    def commands(self):
        listed = json.loads((self.directory / "build" / "compile_commands.json").read_text(encoding="utf-8"))
        return {pathlib.Path(entry["file"]): entry["command"] for entry in listed}

    def test_the_parents_compilations_are_its_own(self):
        [command] = [line for file, line in self.commands().items() if file.is_relative_to(HERE)]
        flags = {flag for flag in command.split() if re.match(r"-[WDf]", flag)}
        own = {"-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wuseless-cast", "-Werror"}
        self.assertEqual(flags - {"-DBOOST_ALL_NO_LIB"}, own)  # which Boost's own target asks for
        run(CMAKE, "--build", self.directory / "build", "--target", "CMakeFiles/parent.dir/main.cpp.o")

    def test_warnings_do_not_end_its_build(self):
        for file, line in self.commands().items():
            if not file.is_relative_to(HERE):
                self.assertGreater(line.rfind("-Wno-error"), line.rfind("-Werror"), line)

    def test_nothing_is_installed_unasked(self):
        printed = run(CMAKE, "--install", self.directory / "build", "--prefix", self.directory / "root")
        self.assertNotIn("Installing", printed)


class SharedSubProject(Scratch):
    """A project whose libraries are shared takes in a shared one."""

    def launcher(self):
        """What another run has compiled, in its scratch directory, is found; a subproject leaves that to the project."""
        if not shutil.which("ccache"):
            return []
        return [f"-DCMAKE_CXX_COMPILER_LAUNCHER={CMAKE};-E;env;CCACHE_BASEDIR={self.directory};CCACHE_NOHASHDIR=1;ccache"]

    def test_links_and_runs(self):
        self.configure(HERE / "subproject", f"-DIWARP_SOURCE={TOP}", "-DBUILD_SHARED_LIBS=ON",
                       "-DCMAKE_BUILD_TYPE=None", "-DCMAKE_UNITY_BUILD=ON", "-DCMAKE_UNITY_BUILD_BATCH_SIZE=24",
                       *self.launcher())
        build = self.directory / "build"
        run(CMAKE, "--build", build, "--target", "parent")
        self.assertIn("libiwarp-verbs.so", run("ldd", build / "parent"))
        run(build / "parent")


if __name__ == "__main__":
    unittest.main()
