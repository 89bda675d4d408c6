#!/usr/bin/env python3
"""The VS Code folder: every JSON file is sound, the grammar knows every keyword of the scanner (tokens.def), and on every
golden program it finds the words, comments and strings where they are, character by character. The grammar keeps to
what Python's re and Oniguruma share, so that a small TextMate engine below can run it.
Relies on KVLANG_SOURCE_DIR (else the folder two levels up). Exit status 0 when all holds."""
import json
import os
import pathlib
import re
import sys

ROOT = pathlib.Path(os.environ.get("KVLANG_SOURCE_DIR", pathlib.Path(__file__).resolve().parent.parent.parent))
KIT = ROOT / "editors" / "vscode"
failures = []


def check(holds, message):
    if not holds:
        failures.append(message)


class Grammar:
    """Enough of TextMate: match with captures, begin/end over lines with back references, include."""

    def __init__(self, tree):
        self.tree = tree
        self.compiled = {}

    def regex(self, source):
        if source not in self.compiled:
            self.compiled[source] = re.compile(source)
        return self.compiled[source]

    def rules(self, patterns):
        for pattern in patterns:
            if "include" in pattern:
                yield from self.rules(self.tree["repository"][pattern["include"][1:]]["patterns"])
            else:
                yield pattern

    def best(self, patterns, line, at):
        found, rule = None, None
        for pattern in self.rules(patterns):
            match = self.regex(pattern.get("match") or pattern["begin"]).search(line, at)
            if match and match.end() > match.start() and (found is None or match.start() < found.start()):
                found, rule = match, pattern
        return found, rule

    def scopes(self, text):
        """For each line, for each character, the innermost scope."""
        stack = []
        for line in text.split("\n"):
            names = [stack[-1][2] if stack else ""] * len(line)
            at = 0
            while at <= len(line):
                patterns = stack[-1][0] if stack else self.tree["patterns"]
                match, rule = self.best(patterns, line, at)
                end = self.regex(stack[-1][1]).search(line, at) if stack else None
                if end and (match is None or end.start() <= match.start()):
                    scope = stack.pop()[2]
                    for i in range(at, end.end()):
                        names[i] = names[i] or scope
                    for i in range(end.end(), len(line)):
                        names[i] = stack[-1][2] if stack else ""
                    at = max(end.end(), at + (end.end() == end.start() and end.end() == len(line)))
                    if end.end() == len(line):
                        break
                    continue
                if match is None:
                    break
                scope = rule.get("name", "")
                for i in range(match.start(), match.end()):
                    names[i] = scope or names[i]
                for group, capture in rule.get("captures", {}).items():
                    for i in range(*match.span(int(group))):
                        names[i] = capture["name"]
                at = match.end()
                if "begin" in rule:
                    closing = re.sub(r"\\(\d)", lambda number, match=match: re.escape(match.group(int(number.group(1)))), rule["end"])
                    if re.search(r"\\\d", rule["end"]) is None:
                        closing = rule["end"]
                    stack.append((rule.get("patterns", []), closing, scope))
                    for i in range(at, len(line)):
                        names[i] = scope
            yield line, names


# The scanner's own view, simplified: comments, strings and words, in the order in which they begin.
LEXEMES = re.compile(
    r"(?P<comment>\#[^\n]*|//[^\n]*|/\*.*?\*/)"
    r'|(?P<string>"""(?:\\.|[^\\])*?"""|r(?P<hash>\#*)".*?"(?P=hash)|"(?:\\.|[^"\\\n])*"|' r"'(?:\\.|[^'\\\n])*'|`[^`]*`)"
    r"|(?P<word>[^\W\d]\w*(?:/[^\W\d]\w*)*)|(?P<path>/\w+(?:/\w+)*(?:[·.][^\W\d]\w*)*)|(?P<number>\d\w*)|(?P<other>.)", re.S)


def expectations(text, keywords):
    """(offset, length, the prefix that the scope must have) of what a program holds."""
    before = ""
    for match in LEXEMES.finditer(text):
        kind = match.lastgroup if match.lastgroup != "hash" else "string"
        at, body = match.start(), match.group()
        if match.group("comment"):
            yield at, len(body), "comment."
        elif match.group("string"):
            yield at, len(body), ("string.", "constant.character.escape")
        elif match.group("word") and body in keywords and before not in ("·", "."):
            yield at, len(body), ("constant.language",) if body in ("true", "false", "None", "null") else ("keyword.",)
        elif match.group("path"):
            yield at, len(body), "constant.other.path"
        elif kind == "number":
            yield at, 1, "constant.numeric"
        before = body


def check_program(path, grammar, keywords):
    text = path.read_text(encoding="utf-8")
    flat = []
    for _, names in grammar.scopes(text):
        flat += names + [None]
    for at, length, prefix in expectations(text, keywords):
        for i in range(at, at + length):
            scope = flat[i]
            if scope is not None and not scope.startswith(prefix):
                line = text.count("\n", 0, at) + 1
                failures.append(f"{path.name}:{line}: {text[at:at + length]!r} is {scope!r}, wanted {prefix!r}")
                return


def main():
    for path in sorted(KIT.rglob("*.json")):
        json.loads(path.read_text(encoding="utf-8"))
    package = json.loads((KIT / "package.json").read_text(encoding="utf-8"))
    contributes = package["contributes"]
    for relative in [contributes["grammars"][0]["path"], contributes["languages"][0]["configuration"], contributes["snippets"][0]["path"]]:
        check((KIT / relative).exists(), f"package.json names {relative}, which is not there")
    tree = json.loads((KIT / contributes["grammars"][0]["path"]).read_text(encoding="utf-8"))
    check(tree["scopeName"] == contributes["grammars"][0]["scopeName"], "the scope names differ")

    keywords = set(re.findall(r'^KEYWORD\(\w+, "(\w+)"\)', (ROOT / "src/layout/tokens.def").read_text(encoding="utf-8"), re.M))
    check(len(keywords) >= 16, "tokens.def has too few keywords to be read rightly")
    grammar = Grammar(tree)
    for word in sorted(keywords):
        (_, names), = grammar.scopes(word)
        check(set(names) <= {"keyword.control.kvlang", "keyword.declaration.kvlang", "constant.language.kvlang"}, f"{word} is {set(names)}")

    programs = sorted((ROOT / "tests/programs/golden").glob("*.kv"))
    check(len(programs) > 50, "the golden programs are missing")
    for path in programs:
        check_program(path, grammar, keywords)
    for failure in failures[:20]:
        print("FAIL", failure)
    print(f"{len(programs)} programs, {len(keywords)} keywords, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
