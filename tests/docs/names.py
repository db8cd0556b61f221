#!/usr/bin/env python3
"""Checks the names in the guides against the public headers: what stands in backquotes is there, and what is there is in a guide.

usage: names.py --headers HEADER... [--seam HEADER...] --guides DOCUMENT...

Of a guide it looks at code in backquotes outside of blocks, which the compiler sees:
  Type::member, iwarp::asio::name    the member belongs to that type, the name is in a header
  kName, async_name, name()          is somewhere in the headers or in a block of the guide, unless it is one of FOREIGN
Of the headers: each type, and each function async_…, is named in one of the guides, and so are all the enumerators of the
types in WHOLE; but for UNTOLD, and what stands in the headers of --seam: those of providers, and of layers below."""

import argparse
import dataclasses
import pathlib
import re
import sys

FOREIGN_SPACES = {"boost", "net", "spdlog", "std"}
OWN_SPACES = {"iwarp", "verbs", "asio", "provider"}
# Functions of the language, the system and Boost.
FOREIGN = {"co_spawn", "f", "find_package", "fork", "notify_fork", "run", "stop", "target_link_libraries"}
# Enumerations of which a guide has a table.
WHOLE = {"Access", "Status", "Opcode", "CompletionOpcode", "Kind", "QpState", "errc"}
# What programs do not name, or only those that are layers themselves: the reference has it.
UNTOLD = {"LogLevel", "Origin", "RequestWait", "basic_buffer_list"}

WORD = r"[A-Za-z_]\w*"
TYPE = re.compile(rf"\b(?:class|struct|enum\s+class)\s+(?:IWARP_API\s+)?({WORD})\s*(?:final\s*)?(?::([^;{{}}()]*))?\{{")


@dataclasses.dataclass
class Type:
    words: set[str]     # of its body, of which most are members
    bases: set[str]
    enumerators: set[str]


def without_comments(text):
    text = re.sub(r"//[^\n]*", "", text)
    return re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def body_at(text, begin):
    """What stands between the brace before `begin` and the one that closes it."""
    depth = 1
    for at in range(begin, len(text)):
        depth += (text[at] == "{") - (text[at] == "}")
        if depth == 0:
            return text[begin:at]
    return text[begin:]


def without_detail(text):
    """What programs may name: not what stands in a namespace detail."""
    while match := re.search(r"\bnamespace\s+detail\s*\{", text):
        text = text[:match.start()] + text[match.end() + len(body_at(text, match.end())) + 1:]
    return text


def types_of(text):
    found = {}
    for match in TYPE.finditer(text):
        body = body_at(text, match.end())
        is_enumeration = match[0].startswith("enum")
        bases = set() if is_enumeration else set(re.findall(WORD, match[2] or ""))
        enumerators = set(re.findall(rf"(?:^|,)\s*({WORD})", body)) if is_enumeration else set()
        own = found.setdefault(match[1], Type(set(), set(), set()))
        own.words |= set(re.findall(WORD, body))
        own.bases |= bases
        own.enumerators |= enumerators
    return found


class Headers:
    def __init__(self, texts):
        plain = [without_detail(without_comments(text)) for text in texts]
        self.words = {word for text in plain for word in re.findall(WORD, text)}
        self.types = {}
        for text in plain:
            for name, one in types_of(text).items():
                own = self.types.setdefault(name, Type(set(), set(), set()))
                own.words |= one.words
                own.bases |= one.bases
                own.enumerators |= one.enumerators
        self.aliases = dict(re.findall(rf"\busing\s+({WORD})\s*=\s*(?:\w+::)*({WORD})\s*;", "\n".join(plain)))
        self.operations = {word for text in plain for word in re.findall(r"\bauto (?:\w+::)?(async_\w+)\(", text)}

    def type_of(self, name):
        while name in self.aliases and name not in self.types:
            name = self.aliases[name]
        return self.types.get(name)

    def has_member(self, name, member):
        one = self.type_of(name)
        if one is None:
            return False
        return member in one.words or any(self.has_member(base, member) for base in one.bases if base != name)


class Guide:
    """A document: its words, those of its blocks, and (line number, code) of what stands in backquotes elsewhere."""

    def __init__(self, text):
        self.words = set(re.findall(WORD, text))
        self.in_blocks, self.code = set(), []
        fence = None
        for number, line in enumerate(text.splitlines(), 1):
            marks = re.match(r"\s*(`{3,}|~{3,})", line)
            if marks:
                fence = None if fence == marks[1] else (fence or marks[1])
            elif fence:
                self.in_blocks |= set(re.findall(WORD, line))
            else:
                self.code += [(number, code) for code in re.findall(r"`([^`]+)`", line)]


def unknown(headers, code, in_blocks=frozenset()):
    """The names in a piece of code that neither the headers nor the guide's own blocks have."""
    for chain in re.findall(rf"{WORD}(?:::{WORD})*", code):
        names = chain.split("::")
        if names[0] in FOREIGN_SPACES:
            continue
        while names and names[0] in OWN_SPACES and len(names) > 1:
            names.pop(0)
        if len(names) == 1:
            if chain != names[0] and names[0] not in headers.words:
                yield chain
            continue
        if any(headers.type_of(owner) is None or not headers.has_member(owner, member)
               for owner, member in zip(names, names[1:])):
            yield chain
    bare = re.sub(rf"{WORD}(?:::{WORD})+", "", code)
    for name in re.findall(rf"\b(k[A-Z]\w*\b(?!…)|async_\w+|{WORD}(?=\((?!\d\))))", bare):
        if name not in headers.words | in_blocks | FOREIGN:
            yield name


def untold(headers, told):
    """The public names that no guide has, in order."""
    wanted = set(headers.types) | headers.operations
    for name in WHOLE & wanted:
        wanted |= headers.types[name].enumerators
    return sorted(wanted - told - UNTOLD)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--headers", nargs="+", type=pathlib.Path, required=True)
    parser.add_argument("--seam", nargs="*", type=pathlib.Path, default=[])
    parser.add_argument("--guides", nargs="+", type=pathlib.Path, required=True)
    options = parser.parse_args()
    texts = {path: path.read_text(encoding="utf-8") for path in [*options.headers, *options.seam]}
    headers = Headers(texts.values())
    told, problems = set(), 0
    for path in options.guides:
        guide = Guide(path.read_text(encoding="utf-8"))
        told |= guide.words
        for line, code in guide.code:
            for name in unknown(headers, code, guide.in_blocks):
                problems += 1
                print(f"{path}:{line}: no public header has `{name}`", file=sys.stderr)
    for name in untold(Headers([texts[path] for path in options.headers]), told):
        problems += 1
        print(f"no guide has the public name `{name}`", file=sys.stderr)
    print(f"names.py: {len(headers.types)} types in {len(options.headers)} headers, {problems} names that do not agree")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
