"""Command lines of programs whose help is the text at their top."""

import argparse
import sys


class CommandLine(argparse.ArgumentParser):
    """Says what is wrong in one line, with status 2, and explains itself with -h."""

    def __init__(self, program, text):
        super().__init__(add_help=False, usage=argparse.SUPPRESS)
        self.program, self.text = program, text
        self.add_argument("-h", "--help", action="store_true")

    def fail(self, sentence, status):
        print(f"{self.program}: {sentence}", file=sys.stderr)
        sys.exit(status)

    def error(self, message):
        self.fail(f"{message} (-h explains)", 2)

    def parse(self):
        arguments = self.parse_args()
        if arguments.help:
            print(self.text)
            sys.exit(0)
        return arguments
