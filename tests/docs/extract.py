#!/usr/bin/env python3
"""Takes the C++ out of Markdown documents, so that it is compiled as it stands there.

usage: extract.py --out DIR --preludes DIR DOCUMENT...

Each block that begins with ```cpp is one of these, or the run fails with a sentence:
  a program    It contains `int main(`. If <!-- run: REGEX --> stands on the line above, it is also run, and its
               output must match.
  a fragment   <!-- fragment: NAME --> stands on the line above. Its lines replace the line "// FRAGMENT" of
               the file NAME.cpp of the preludes; those that begin with #include go to the top.

DIR gets one source file for each block, and blocks.cmake, which calls document_program(NAME SOURCE REGEX) or
document_fragment(SOURCE) for each."""

import argparse
import dataclasses
import pathlib
import re
import sys
import textwrap

FENCE = re.compile(r"(\s*)(`{3,}|~{3,})\s*([^`]*)$")
COMMENT = re.compile(r"\s*<!--\s*(run|fragment):\s*(.*?)\s*-->\s*$")
OTHER_NAMES = {"c++", "cxx", "cc", "hpp", "h++"}
PLACE = "// FRAGMENT"


class Offence(Exception):
    """A block that the rule does not cover, as a sentence."""


@dataclasses.dataclass
class Block:
    document: pathlib.Path
    line: int  # of the first line inside
    text: str
    comment: tuple[str, str] | None  # ("run" or "fragment", its value)

    def offence(self, sentence):
        return Offence(f"{self.document}:{self.line - 1}: {sentence}")

    def is_program(self):
        return re.search(r"\bint main\(", self.text) is not None


def end_of(fence, lines, begin):
    """The index of the line that closes the block, whose first line is `begin`."""
    for index in range(begin, len(lines)):
        if re.fullmatch(rf"\s*{fence[0]}{{{len(fence)},}}\s*", lines[index]):
            return index
    return None


def blocks_of(document):
    """The C++ blocks of a document, from top to bottom."""
    lines = document.read_text(encoding="utf-8").splitlines()
    comment, index = None, 0
    while index < len(lines):
        fence, wish = FENCE.match(lines[index]), COMMENT.match(lines[index])
        language = fence[3].split()[0].lower() if fence and fence[3].strip() else ""
        if language in OTHER_NAMES:
            raise Offence(f"{document}:{index + 1}: a C++ block begins with ```cpp, not with ```{language}")
        if comment and language != "cpp":
            raise Offence(f"{document}:{index}: no C++ block follows on the next line")
        if fence:
            end = end_of(fence[2], lines, index + 1)
            if end is None:
                raise Offence(f"{document}:{index + 1}: the block does not end")
            if language == "cpp":
                text = textwrap.dedent("\n".join(lines[index + 1:end]))
                yield Block(document, index + 2, text, comment)
            index = end
        comment = (wish[1], wish[2]) if wish else None
        index += 1
    if comment:
        raise Offence(f"{document}:{len(lines)}: no C++ block follows on the next line")


def numbered(block, lines, first):
    """Lines of the block, for which the compiler names the document."""
    return [f'#line {first} "{block.document}"', *lines]


def program_source(block):
    return "\n".join(numbered(block, block.text.splitlines(), block.line)) + "\n"


def fragment_source(block, preludes):
    prelude = preludes / f"{block.comment[1]}.cpp"
    if not prelude.is_file():
        raise block.offence(f"there is no prelude {prelude.name} in {preludes}")
    lines = prelude.read_text(encoding="utf-8").splitlines()
    places = [index for index, line in enumerate(lines) if line.strip() == PLACE]
    if len(places) != 1:
        raise Offence(f"{prelude}: a prelude has one line {PLACE}, this one has {len(places)}")
    own = block.text.splitlines()
    includes = [line for line in own if line.startswith("#include")]
    body = ["" if line.startswith("#include") else line for line in own]  # the numbers of the lines stay right
    place = places[0]
    return "\n".join([*includes, f'#line 1 "{prelude}"', *lines[:place], *numbered(block, body, block.line),
                      f'#line {place + 2} "{prelude}"', *lines[place + 1:]]) + "\n"


def write(path, text):
    """Writes a file unless it says that already: what is compiled from it stays as new as it was."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def extract(block, name, out, preludes):
    """Writes the source of a block; returns the line for blocks.cmake."""
    kind, value = block.comment or (None, "")
    source = out / f"{name}.cpp"
    if block.is_program():
        if kind == "fragment":
            raise block.offence("a block with main() is a program, not a fragment")
        write(source, program_source(block))
        return f"document_program({name} [==[{source}]==] [==[{value}]==])\n"
    if kind != "fragment":
        raise block.offence("this C++ block is no program (it has no main), and no <!-- fragment: PRELUDE --> stands "
                            "above it; see CONTRIBUTING.md, Documents")
    write(source, fragment_source(block, preludes))
    return f"document_fragment([==[{source}]==])\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--preludes", type=pathlib.Path, required=True)
    parser.add_argument("documents", nargs="+", type=pathlib.Path)
    options = parser.parse_args()
    options.out.mkdir(parents=True, exist_ok=True)
    calls = ""
    try:
        for document in options.documents:
            for number, block in enumerate(blocks_of(document), 1):
                calls += extract(block, f"{document.stem}_{number}", options.out, options.preludes)
    except Offence as offence:
        print(f"extract.py: {offence}", file=sys.stderr)
        return 1
    write(options.out / "blocks.cmake", calls)
    return 0


if __name__ == "__main__":
    sys.exit(main())
