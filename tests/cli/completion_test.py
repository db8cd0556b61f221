#!/usr/bin/env python3
"""Completion in real shells, at a terminal: what stands in the line once Tab was hit.

The files of the shells are in the folder that the environment variable IWARP_COMPLETIONS names."""

import os
import pty
import select
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

from service import IWARP, PATIENCE, run

COMPLETIONS = os.environ.get("IWARP_COMPLETIONS", "cli/completion/shells")
MARK = "the-line-is"


class Terminal:
    """A shell at a terminal of its own, in a folder of its own."""

    def __init__(self, command, directory, variables):
        pid, self.terminal = pty.fork()
        if pid == 0:
            os.chdir(directory)
            os.environ.update(variables, TERM="xterm", PATH=os.path.dirname(IWARP) + ":" + os.environ["PATH"],
                              HOME=directory, LC_ALL="C.UTF-8")
            os.execvp(command[0], command)
        self.pid = pid
        self.shown = ""

    def type(self, text):
        os.write(self.terminal, text.encode())

    def wait_for(self, text):
        """What was shown up to the text, which is taken away."""
        deadline = time.monotonic() + PATIENCE
        while text not in self.shown:
            if not select.select([self.terminal], [], [], max(0, deadline - time.monotonic()))[0]:
                raise AssertionError(f"the shell never showed {text!r}, but {self.shown!r}")
            self.shown += os.read(self.terminal, 4096).decode(errors="replace")
        before, _, self.shown = self.shown.partition(text)
        return before

    def end(self):
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.terminal)


class ShellTest(unittest.TestCase):
    """What bash and zsh have in common: a line, a key that completes it, and the words that stand there then."""

    shell = None
    all_behind_equals = ("--hash=none", "--hash=sha256")

    def setUp(self):
        if shutil.which(self.shell) is None:
            self.skipTest(f"{self.shell} is not installed")
        scratch = tempfile.TemporaryDirectory(prefix="iwarp-test-")
        self.addCleanup(scratch.cleanup)
        self.directory = scratch.name
        for name in ("folder one", "folder-two"):
            os.mkdir(os.path.join(self.directory, name))
        for name in ("movie.mp4", "folder-two/inside"):
            open(os.path.join(self.directory, name), "w", encoding="ascii").close()

    def start(self, command, setup, **variables):
        terminal = Terminal(command, self.directory, variables)
        self.addCleanup(terminal.end)
        terminal.type("".join(line + "\n" for line in setup) + f"echo {MARK[:4]}''{MARK[4:]} ready\n")
        terminal.wait_for(MARK + " ready")
        self.terminal = terminal

    def completed(self, line, key="\t"):
        """The words of the line behind the key: the line is made the arguments of a function that shows them."""
        self.terminal.type(f"{line}{key}\x01show \n")
        self.terminal.wait_for(MARK + "[")
        return self.terminal.wait_for("]" + MARK).split("|")

    def assert_completes(self, line, *words):
        with self.subTest(line=line):
            self.assertEqual(self.completed(line), ["iwarp", *words])

    def assert_offers(self, line, *words):
        with self.subTest(line=line):
            begun = len(line.split(" ")) - 1
            self.assertEqual(sorted(self.completed(line, self.all_key)[begun:]), sorted(words))

    def assert_all(self):
        self.assert_completes("iwarp pu", "put")
        self.assert_completes("iwarp perf ser", "perf", "server")
        self.assert_completes("iwarp put --no-", "put", "--no-crc")
        self.assert_completes("iwarp put mov", "put", "movie.mp4")
        self.assert_completes("iwarp serve folder-", "serve", "folder-two/")
        self.assert_completes("iwarp put --hash no", "put", "--hash", "none")
        self.assert_completes("iwarp put --hash=no", "put", "--hash=none")
        self.assert_completes("iwarp put --capture=folder-", "put", "--capture=folder-two/")
        self.assert_completes("iwarp ls --device soft:l", "ls", "--device", "soft:lo")
        self.assert_completes("iwarp ls --device=soft:l", "ls", "--device=soft:lo")
        self.assert_completes("iwarp run --interfaces l", "run", "--interfaces", "lo")
        self.assert_completes("iwarp conform --case mpa.startup.revision-25", "conform", "--case",
                              self.only_case("mpa.startup.revision-25"))
        self.assert_completes("iwarp run --device so", "run", "--device", "soft")
        self.assert_completes("iwarp help dev", "help", "devices")
        self.assert_completes("iwarp run printen", "run", "printenv")
        self.assert_completes("iwarp run --stats -- cat movi", "run", "--stats", "--", "cat", "movie.mp4")
        self.assert_completes("iwarp put nothing-like-i", "put", "nothing-like-i")
        self.assert_completes("iwarp put 'two words' --js", "put", "two words", "--json")
        self.assert_offers("iwarp perf --op ", "write", "read", "send")
        self.assert_offers("iwarp p", "put", "perf")
        self.assert_offers("iwarp put --hash=", *self.all_behind_equals)

    def only_case(self, beginning):
        return next(line.split()[0] for line in run("conform", "--list").stdout.splitlines()
                    if line.startswith(beginning))


class Bash(ShellTest):
    shell = "bash"
    all_key = "\x1b*"  # insert-completions
    all_behind_equals = ("--hash=none", "sha256")  # a '=' ends a word for bash

    def begin(self, *setup):
        show = 'show() { local IFS="|"; printf "%s[%s]%s\\n" "$mark" "$*" "$mark"; }'
        self.start(["bash", "--norc", "--noprofile", "-i"],
                   [show, "bind 'set enable-bracketed-paste off'", *setup, f". '{COMPLETIONS}/iwarp.bash'"], mark=MARK)

    def test_completes_with_the_functions_of_bash_completion(self):
        if not os.path.exists("/usr/share/bash-completion/bash_completion"):
            self.skipTest("the package bash-completion is not installed")
        self.begin(". /usr/share/bash-completion/bash_completion")
        self.assert_all()

    def test_completes_alone(self):
        self.begin()
        self.assert_all()

    def test_completes_names_with_blanks_as_bash_does(self):
        self.begin()
        self.assert_completes("iwarp serve folder\\ ", "serve", "folder one/")
        self.assert_completes("iwarp serve 'folder ", "serve", "folder one/")

    def test_completes_a_word_at_the_cursor_in_it(self):
        self.begin()
        self.assert_completes("iwarp puxx\x1b[D\x1b[D", "putxx")


class Zsh(ShellTest):
    shell = "zsh"
    all_key = "\x18a"

    def begin(self):
        self.start(["zsh", "-f", "-i"],
                   ["unsetopt zle_bracketed_paste 2>/dev/null; PS1='$ '; unset zle_bracketed_paste",
                    'show() { print -r -- "${mark}[${(j:|:)@}]${mark}" }',
                    f"fpath=('{COMPLETIONS}' $fpath); autoload -U compinit; compinit -u -D; bindkey -e",
                    "zstyle ':completion:*' insert-tab false; setopt no_list_beep no_auto_remove_slash",
                    "zstyle ':completion:all-matches::::' completer _all_matches _complete",
                    "zstyle ':completion:all-matches:*' insert true",
                    "zle -C all-matches complete-word _generic; bindkey '^Xa' all-matches"], mark=MARK)

    def test_completes(self):
        self.begin()
        self.assert_all()

    def test_completes_names_with_blanks_as_zsh_does(self):
        self.begin()
        self.assert_completes("iwarp serve folder\\ ", "serve", "folder one/")


class Fish(ShellTest):
    shell = "fish"

    def offered(self, line):
        """What fish offers for the last word, without the descriptions."""
        script = f"source '{COMPLETIONS}/iwarp.fish'; complete -C $argv[1]"
        done = subprocess.run(["fish", "--no-config", "-c", script, line], cwd=self.directory, capture_output=True,
                              text=True, timeout=PATIENCE, check=False,
                              env={**os.environ, "HOME": self.directory, "LC_ALL": "C.UTF-8",
                                   "PATH": os.path.dirname(IWARP) + ":" + os.environ["PATH"]})
        self.assertEqual(done.stderr, "")
        return [offer.partition("\t")[0] for offer in done.stdout.splitlines()]

    def assert_completes(self, line, *words):
        with self.subTest(line=line):
            offered = self.offered(line)
            if words[-1] == line.split(" ")[-1]:  # nothing is added
                self.assertEqual(offered, [])
            else:
                self.assertEqual(offered, [words[-1]])

    def assert_offers(self, line, *words):
        with self.subTest(line=line):
            self.assertEqual(sorted(self.offered(line)), sorted(words))

    def test_completes(self):
        self.assert_all()

    def test_completes_names_with_blanks_as_fish_does(self):
        self.assertEqual(self.offered("iwarp serve folder\\ "), ["folder one/"])

    def test_says_what_a_word_does(self):
        script = f"source '{COMPLETIONS}/iwarp.fish'; complete -C 'iwarp pu'"
        done = subprocess.run(["fish", "--no-config", "-c", script], capture_output=True, text=True, check=True,
                              timeout=PATIENCE, env={**os.environ, "HOME": self.directory, "LC_ALL": "C.UTF-8",
                                                     "PATH": os.path.dirname(IWARP) + ":" + os.environ["PATH"]})
        self.assertEqual(done.stdout, "put\tSend a file to 'iwarp serve'\n")


if __name__ == "__main__":
    unittest.main()
