"""No report, and no room below the benchmarks, knows a benchmark or an operation by name: they come
with a record, or with a request. Nor do the rooms of clients, but for the papers' own folders, nor
the commands. Comments and docstrings may cite a paper.
"""

import ast
import re
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache

import pytest
from test_imports import PACKAGE, package_files
from test_rooms import ROOMS, room_in

from loadstone import registry
from loadstone.errors import InputError

AT_WORK = ("protocol", "machine", "analysis", "report", "planning", "worker", "run")
"""Rooms above the benchmarks that know none, either."""
DOORS = ("registry", "api", "pytest_plugin", "doctor", "commands", "cli", "__main__")
ROOMS_HELD = (*ROOMS[: ROOMS.index("benchmarks")], *AT_WORK, "clients", *DOORS)
ALLOWED = {
    ("plan/choices.py", "wisconsin"): "the default choice, where a user names none",
    **{("clients/declared.py", name): "the list of the papers' programs"
       for name in ("oo1", "oo7", "rvm")},
    **{("commands/data.py", name): "the list of what it generates"
       for name in ("wisconsin", "oo1", "ingres", "idm", "oo7")},
    **{(f"commands/{name}.py", "wisconsin"): "the default choice, where a user names none"
       for name in ("bisect", "quel")},
}  # fmt: skip
"""(File, name) -> why it may stand there."""
PAPERS_FOLDERS = (["clients", "oo1"], ["clients", "oo7"], ["clients", "rvm"])
CAMEL = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def registered(texts: Mapping[str, str]) -> list[str]:
    project = tomllib.loads(texts["pyproject.toml"])["project"]
    return list(project["entry-points"]["loadstone.benchmarks"])


def held(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    """(Path in the package, text) of the files that the rule holds for."""
    for path, text in texts.items():
        short = path.removeprefix(PACKAGE)
        room = room_in(short) if short.endswith(".py") else short.partition("/")[0]
        own = short.split("/")[:2] in PAPERS_FOLDERS
        if path.startswith(PACKAGE) and room in ROOMS_HELD and not own:
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
        (
            path,
            name,
            f"{PACKAGE}{path}:{line}: {reported.strip()[:60]!r} names the benchmark {name}",
        )
        for path, text in held(texts)
        for line, reported in said(path, text)
        for name, pattern in patterns.items()
        if pattern.search(CAMEL.sub("_", reported))
    ]


def test_no_benchmark_is_known_by_name(texts):
    names = registered(texts)
    assert {"wisconsin", "oo1"} <= set(names)
    complaints = [where for path, name, where in named(texts, names) if (path, name) not in ALLOWED]
    assert not complaints, "\n".join(complaints)


@cache
def operations() -> frozenset[str]:
    """The operations of all benchmarks, in all editions."""
    found = set()
    for name in registry.benchmark_names():
        benchmark = registry.load_benchmark(name)()
        for edition in benchmark.editions:
            rows = benchmark.default_scales[0] if edition == benchmark.default_edition else 10_000
            with suppress(InputError):
                found |= {one.name for one in benchmark.operations(edition, rows)}
    return frozenset(found)


PLAIN = re.compile(r"[a-z]+")
"""An operation whose name is an English word is named only where it is held against one."""
OF_OPERATIONS = re.compile(r"operation|measure|cell\b|quel\b|\btext\b", re.IGNORECASE)


def named_operations(texts: Mapping[str, str], names: frozenset[str]) -> Iterator[str]:
    own = {name for name in names if not PLAIN.fullmatch(name)}
    pattern = re.compile(rf"(?<![\w-])(?:{'|'.join(map(re.escape, sorted(own)))})(?![\w%-])")
    for path, text in held(texts):
        for line, reported in said(path, text):
            if found := pattern.search(reported):
                yield f"{PACKAGE}{path}:{line}: {found[0]!r} is an operation of a benchmark"
        if path.endswith(".py"):
            for node, word in _held_against(ast.parse(text)):
                if word in names - own:
                    yield f"{PACKAGE}{path}:{node.lineno}: {word!r} is an operation of a benchmark"


def _held_against(tree: ast.AST) -> Iterator[tuple[ast.expr, str]]:
    """(Expression, each word that an operation or a measure is compared with or looked up by)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
        elif isinstance(node, ast.Call) and getattr(node.func, "attr", "") in STARTS:
            sides = [node.func, *node.args]
        elif isinstance(node, ast.Dict):
            # A table by operation: two of its keys are enough.
            keys = [key.value for key in node.keys
                    if isinstance(key, ast.Constant) and key.value in operations()]  # fmt: skip
            if len(keys) > 1:
                yield from ((node, key) for key in keys)
            continue
        else:
            continue
        if any(OF_OPERATIONS.search(ast.unparse(side)) for side in sides):
            for side in sides:
                for each in ast.walk(side):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield node, each.value.strip()


STARTS = ("startswith", "endswith", "partition", "removeprefix")


def test_no_operation_is_known_by_name(texts):
    assert {"join-AselB-heap", "lookup", "T2a", "tpca-random"} <= operations()
    complaints = [*named_operations(texts, operations())]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("report/markdown.py", "WEIGHTY = ('join-AselB-heap',)"),
        ("report/html.py", "def f(cell):\n    return cell.operation == 'lookup'"),
        ("report/page/cell.html.j2", "{% if name == 'select-1%-heap' %}"),
        ("analysis/ladder.py", "def f(row):\n    return row.operation.name in ('lookup', 'scan')"),
        ("worker/block.py", "def f(quel):\n    return quel.startswith('insert ')"),
        ("clients/base.py", "GAPS = {'lookup': 1, 'traversal': 2}"),
        ("clients/rust/embedded.py", "GAPS = {'lookup-batch': 'one key at a time'}"),
    ],
)
def test_an_operation_that_is_named_is_seen(path, text):
    assert [*named_operations({PACKAGE + path: text}, operations())]


@pytest.mark.parametrize(
    ("path", "text"),
    [
        ("quel/translate.py", "def f(verb):\n    return verb == 'update'"),
        ("clients/oo1/loops.py", "RUN = {'lookup': 1, 'traversal': 2}"),
        ("report/html.py", "NOTHING = 'nothing'"),
    ],
)
def test_other_words_are_no_operations(path, text):
    assert not [*named_operations({PACKAGE + path: text}, operations())]


LOADERS = ("import_module", "__import__", "find_spec", "load_module", "exec", "eval")


def loaded_by_name(texts: Mapping[str, str]) -> Iterator[str]:
    """Modules imported by a text, which no test of imports sees."""
    for path, text in package_files(texts):
        for node in ast.walk(ast.parse(text)):
            called = node.func if isinstance(node, ast.Call) else None
            name = getattr(called, "id", getattr(called, "attr", ""))
            if name in LOADERS and path not in LOAD_BY_NAME:
                yield f"{path}:{node.lineno}: {name}: write an import, which the tests see"


LOAD_BY_NAME = {
    "cli.py": "each command, when it is asked for",
    "record/__init__.py": "what the room offers, when it is asked for",
    "clients/python/zodb_store.py": "a class of the same name hides the module",
    "__main__.py": "an empty text, so that an interrupt is forgotten",
    "engines/postgresql/binaries.py": "whether an optional package is installed",
    "engines/postgresql/probe.py": "likewise",
    "run/builds.py": "where a release's package lies",
    "run/releases.py": "likewise",
}


def test_no_module_is_imported_by_a_text(texts):
    complaints = [*loaded_by_name(texts)]
    assert not complaints, "\n".join(complaints)


@pytest.mark.parametrize(
    "text",
    [
        "from importlib import import_module\nx = import_module('loadstone.statistics.drift')",
        "import importlib\nx = importlib.import_module('numpy')",
        "x = __import__('loadstone.benchmarks.oo1')",
    ],
)
def test_an_import_by_a_text_is_seen(text):
    assert [*loaded_by_name({PACKAGE + "report/html.py": text})]


def test_each_exception_is_still_needed(texts):
    found = {(path, name) for path, name, _ in named(texts, registered(texts))}
    assert set(ALLOWED) <= found
    loading = {path for path, text in package_files(texts)
               if any(f"{name}(" in text for name in LOADERS)}  # fmt: skip
    assert set(LOAD_BY_NAME) <= loading


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
