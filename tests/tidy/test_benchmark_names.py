"""No report, and no room below the benchmarks, knows a benchmark by name: it comes with a record,
or with a request. Comments and docstrings may cite a paper.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from functools import cache

import pytest
from test_imports import PACKAGE
from test_rooms import ROOMS, room_in

AT_WORK = ("protocol", "machine", "analysis", "report", "planning", "worker", "run")
"""Rooms above the benchmarks that know none, either."""
ROOMS_HELD = (*ROOMS[: ROOMS.index("benchmarks")], *AT_WORK)
FILES_HELD = ("clients/base.py",)
ALLOWED = {
    ("record/earlier_presentations.py", "oo1"): "its records of before schema 6 name it alone",
    ("record/earlier_presentations.py", "wisconsin"): "likewise",
    ("plan/choices.py", "wisconsin"): "the default choice, where a user names none",
}
"""(File, name) -> why it may stand there."""
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def registered(texts: Mapping[str, str]) -> list[str]:
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    return list(project["entry-points"]["loadstone.benchmarks"])


def held(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(Path in the package, text) of the files that the rule holds for."""
    for path, text in texts.items():
        short = path.removeprefix(PACKAGE)
        room = room_in(short) if short.endswith(".py") else short.partition("/")[0]
        if path.startswith(PACKAGE) and (room in ROOMS_HELD or short in FILES_HELD):
            yield short, text


@cache
def said(path: str, text: str) -> tuple[tuple[int, str], ...]:
    """(Line, word or text) of a file's code and strings."""
    return tuple(_said(path, text))


def _said(path: str, text: str) -> Iterator[tuple[int, str]]:
    if not path.endswith(".py"):
        plain = re.sub(r"{#.*?#}|/\*.*?\*/|<!--.*?-->", "", text, flags=re.DOTALL)
        yield from enumerate(plain.splitlines(), start=1)
        return
    tree = ast.parse(text)
    documentation = {
        id(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    for node in ast.walk(tree):
        line = getattr(node, "lineno", 1)
        if isinstance(node, ast.Constant):
            if isinstance(node.value, str) and id(node) not in documentation:
                yield line, node.value
            continue
        for field in ("id", "attr", "arg", "name", "asname", "module"):
            if isinstance(word := getattr(node, field, None), str):
                yield line, word


def named(texts: Mapping[str, str], names: list[str]) -> list[tuple[str, str, str]]:
    """(File, benchmark, where it is named)."""
    patterns = {
        name: re.compile(rf"(?<![a-z0-9]){re.escape(name)}(?![a-z0-9])", re.IGNORECASE)
        for name in names
    }
    return [
        (path, name, f"{PACKAGE}{path}:{line}: {told.strip()[:60]!r} names the benchmark {name}")
        for path, text in held(texts)
        for line, told in said(path, text)
        for name, pattern in patterns.items()
        if pattern.search(CAMEL.sub("_", told))
    ]


def test_no_benchmark_is_known_by_name(texts):
    names = registered(texts)
    assert {"wisconsin", "oo1"} <= set(names)
    complaints = [where for path, name, where in named(texts, names) if (path, name) not in ALLOWED]
    assert not complaints, "\n".join(complaints)


def test_each_exception_is_still_needed(texts):
    found = {(path, name) for path, name, _ in named(texts, registered(texts))}
    assert set(ALLOWED) <= found


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("analysis/ladder.py", "LADDERS = {'oo1': 3}"),
        ("analysis/ladder.py", "from loadstone.benchmarks.oo1 import database"),
        ("report/html.py", "def f(run):\n    return f'{run} of OO1'"),
        ("report/page/ladder.html.j2", "<p>{{ figure }} of OO1's ladder</p>"),
        ("engines/postgresql/schema.py", "PREFIX = 'oo1_'"),
        ("worker/client_requests.py", "from loadstone import x as oo1_database"),
        ("clients/base.py", "class Oo1Client:\n    pass"),
        ("errors.py", "OO1 = 3"),
    ],
)
def test_a_benchmark_that_is_named_is_seen(path, text):
    assert named({PACKAGE + path: text}, ["wisconsin", "oo1"])


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("analysis/ladder.py", '"""The argument of OO1\'s paper."""\nx = 1  # as OO1 has it\n'),
        ("analysis/ladder.py", 'FOO1 = 3\n"""Not OO1\'s."""\nfoo12 = "oo12"'),
        ("benchmarks/oo1/benchmark.py", "name = 'oo1'"),
        ("report/page/ladder.html.j2", "{# OO1 has one #}<p></p>"),
    ],
)
def test_citations_and_other_words_are_left_alone(path, text):
    assert not named({PACKAGE + path: text}, ["wisconsin", "oo1"])
