"""The house limits: columns, lines of a function and of a file, names, leftovers, large files.

Each check maps the repository's texts to a list of complaints, and is itself shown to complain.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePosixPath

import pytest

COLUMNS_MAX = 100
FUNCTION_LINES_MAX = 70
FILE_LINES_SOFT = 400
FILE_LINES_MAX = 500
STUB_LINES_MAX = 800
"""Of the stub of a binary module, which is one file however much the module holds."""
FILE_BYTES_MAX = 512 * 1024

CODE = {".py", ".pyi", ".rs"}
NAMES_BANNED = {"util", "utils", "common", "helper", "helpers", "misc", "manager", "managers"}

# Spelled in parts, so that this file does not find itself.
LEFTOVERS = re.compile(r"\b(?:FIX" + r"ME|XX" + r"X)\b|\bdbg" + r"!\(|\bbreak" + r"point\(\)")

TOOL_REMARK = re.compile(r"\s*# (?:noqa|type: ignore|fmt: skip).*$")
RUST_LITERAL = re.compile(
    r"""//[^\n]* | /\*.*?\*/                         # comments
      | \bb?r(\#*)".*?"\1 | "(?:\\.|[^"\\])*"          # raw strings, strings
      | '(?:\\(?:u\{[0-9a-fA-F]+\}|x..|.)|[^\\'])'     # characters, but no lifetimes
    """,
    re.VERBOSE | re.DOTALL,
)

RUST_BRACKET = re.compile(r"[][(){};]")


def wide_lines(texts: Mapping[str, str]) -> list[str]:
    """A line that holds a link may be as long as the link; a remark to a tool takes no room; a
    paper's table is data, and TOML allows an inline table no line break."""
    return [
        f"{path}:{number}: {len(line)} columns, the limit is {COLUMNS_MAX}"
        for path, text in texts.items()
        if PurePosixPath(path).suffix in CODE | {".toml"} or PurePosixPath(path).name == "Makefile"
        if PurePosixPath(path).name != "published.toml"
        for number, whole in enumerate(text.splitlines(), start=1)
        if (line := TOOL_REMARK.sub("", whole))
        if len(line) > COLUMNS_MAX and "://" not in line
    ]


def long_functions(texts: Mapping[str, str]) -> list[str]:
    scanners = {".py": python_functions, ".rs": rust_functions}
    return [
        f"{path}:{line}: {name} has {lines} lines, the limit is {FUNCTION_LINES_MAX}"
        for path, text in texts.items()
        if (scan := scanners.get(PurePosixPath(path).suffix))
        for name, line, lines in scan(text)
        if lines > FUNCTION_LINES_MAX
    ]


def python_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """(name, first line, lines) of each function."""
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node.name, node.lineno, (node.end_lineno or node.lineno) - node.lineno + 1


def rust_functions(text: str) -> Iterator[tuple[str, int, int]]:
    """(name, first line, lines) of each function that has a body."""
    code = RUST_LITERAL.sub(lambda match: re.sub(r"[^\n]", " ", match[0]), text)
    for match in re.finditer(r"\bfn\s+(\w+)", code):
        end = rust_body_end(code, match.end())
        if end is not None:
            first = code.count("\n", 0, match.start()) + 1
            yield match[1], first, code.count("\n", match.start(), end) + 1


def rust_body_end(code: str, start: int) -> int | None:
    """The place where the body of the function whose signature goes on at `start` closes, if it has
    one."""
    depth = {"(": 0, "{": 0}
    for found in RUST_BRACKET.finditer(code, start):
        character = found[0]
        if character in "([":
            depth["("] += 1
        elif character in ")]":
            depth["("] -= 1
        elif character == "{":
            depth["{"] += 1
        elif character == "}":
            depth["{"] -= 1
            if depth["{"] == 0:
                return found.start()
        elif character == ";" and depth == {"(": 0, "{": 0}:
            return None
    return None


def long_files(texts: Mapping[str, str], limit: int = FILE_LINES_MAX) -> list[str]:
    limits = dict.fromkeys(CODE, limit) | {".pyi": STUB_LINES_MAX}
    return [
        f"{path}: {lines} lines, the limit is {most}"
        for path, text in texts.items()
        if (most := limits.get(PurePosixPath(path).suffix))
        if (lines := text.count("\n")) > most
    ]


def drawers(texts: Mapping[str, str]) -> list[str]:
    """A name that says nothing about what is inside becomes the drawer for everything."""
    complaints = []
    for path, text in texts.items():
        parts = PurePosixPath(path).with_suffix("").parts
        words = {word for part in parts for word in re.split(r"[_-]", part.lower())}
        if path.endswith(".rs"):
            words |= set(re.findall(r"^\s*(?:pub(?:\(.*\))? )?mod (\w+)", text, re.MULTILINE))
        complaints += [
            f"{path}: the name {word!r} is a drawer; say what is inside"
            for word in sorted(words & NAMES_BANNED)
        ]
    return complaints


def leftovers(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{number}: left over: {match[0]}"
        for path, text in texts.items()
        for number, line in enumerate(text.splitlines(), start=1)
        if (match := LEFTOVERS.search(line))
    ]


def large_files(tracked: Mapping[str, bytes]) -> list[str]:
    return [
        f"{path}: {len(content)} bytes; results and data live outside the repository"
        for path, content in tracked.items()
        if len(content) > FILE_BYTES_MAX
    ]


LONG_PYTHON = "def f():\n" + "    x = 1\n" * 70
LONG_RUST = "fn f<'a>(x: [u8; 2]) -> char {\n" + "    // }\n" * 68 + "    '}'\n}\n"
BAD_SAMPLES = [
    (wide_lines, "a.toml", "x" * 101, "a.toml:1: 101 columns, the limit is 100"),
    (long_functions, "a.py", LONG_PYTHON, "a.py:1: f has 71 lines, the limit is 70"),
    (long_functions, "a.rs", LONG_RUST, "a.rs:1: f has 71 lines, the limit is 70"),
    (long_files, "a.rs", "\n" * 501, "a.rs: 501 lines, the limit is 500"),
    (long_files, "a.pyi", "\n" * 801, "a.pyi: 801 lines, the limit is 800"),
    (drawers, "a/page_utils.py", "", "a/page_utils.py: the name 'utils' is a drawer; say what is"),
    (drawers, "a.rs", "pub mod misc {\n}\n", "a.rs: the name 'misc' is a drawer; say what is"),
    (leftovers, "a.md", "one\n# FIX" + "ME: two", "a.md:2: left over: FIX" + "ME"),
]
CHECKS = list(dict.fromkeys(check for check, *_ in BAD_SAMPLES))


@pytest.mark.parametrize("check", CHECKS)
def test_the_repository_keeps(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


def test_the_repository_holds_no_large_files(tracked):
    complaints = large_files(tracked)
    assert not complaints, "\n".join(complaints)


def test_files_over_the_soft_limit_are_listed(texts, request):
    reporter = request.config.pluginmanager.get_plugin("terminalreporter")
    # A process of pytest-xdist has no terminal.
    for line in long_files(texts, FILE_LINES_SOFT) if reporter else ():
        reporter.write_line(f"\nsoft limit: {line}", yellow=True)


@pytest.mark.parametrize(("check", "path", "text", "complaint"), BAD_SAMPLES)
def test_the_checker_complains(check, path, text, complaint):
    complaints = check({path: text})
    assert len(complaints) == 1
    assert complaints[0].startswith(complaint)


def test_the_checker_complains_of_a_large_file():
    assert large_files({"a.bin": bytes(FILE_BYTES_MAX)}) == []
    assert len(large_files({"a.bin": bytes(FILE_BYTES_MAX + 1)})) == 1


def test_limits_themselves_are_allowed():
    kept = {
        "a.py": "x" * COLUMNS_MAX,
        "b.py": "def f():\n" + "    x = 1\n" * 69,
        "b.rs": LONG_RUST.replace("    // }\n", "", 1) + "fn declared(x: u8);\n",
        "c.py": "\n" * FILE_LINES_MAX,
        "d.pyi": "\n" * STUB_LINES_MAX,
    }
    assert [wide_lines({"a.py": kept["a.py"]}), long_functions(kept | {"a.py": ""})] == [[], []]
    assert long_files(kept) == []
