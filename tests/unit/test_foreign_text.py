"""Printed text steers no terminal, wherever its words come from: paths, names in databases,
records, texts of programs, engines of others."""

import io
import os
import re
import sys
from collections.abc import Callable, Iterator
from contextlib import redirect_stderr, redirect_stdout
from dataclasses import replace
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path
from tempfile import TemporaryDirectory
from unittest.mock import patch

import pytest
from hypothesis import HealthCheck, Phase, example, given, settings
from hypothesis import strategies as st
from report_fixture import make_run
from test_report_hostile import bad
from user_file import user_file

from loadstone import cli, diagnostics, registry
from loadstone.analysis.compare.compare import compare
from loadstone.analysis.history import history
from loadstone.commands import doctor
from loadstone.doctor.check import Check, Verdict
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.plan.variant import parse_variant
from loadstone.report import history as histories
from loadstone.report.comparison import formats
from loadstone.report.terminal_progress import Progress
from loadstone.run import scratch

STEERING = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]"
)
HOSTILE = st.text(alphabet="ab \x1b\x07\x08\r\n\x7f\x9b\u202e\u2028\u200b[2J]", min_size=1,
                  max_size=24)  # fmt: skip
SMALL = make_run(("append-1", "select-1%-heap"), scales=(10_000,))


def command(*arguments: str) -> None:
    """One command, to its end, as its user has it."""
    sys.argv = ["loadstone", *arguments]
    diagnostics.guarded(cli._invoke)


def clean(text: str, folder: Path) -> None:
    """A killed run's folder in a place of that name, and its tables in a file of that name."""
    os.environ["LOADSTONE_SCRATCH"] = str(folder / f"s{text}")
    (folder / f"s{text}").mkdir()
    dead = folder / f"s{text}" / f".new-dead-{os.getpid()}"
    dead.mkdir()
    assert [one.owner for one in scratch.found()] == ["dead"]
    user = user_file(folder / f"u{text}")
    tactics = frozenset(SqliteEngine.capabilities.tactics)
    engine = SqliteEngine(parse_variant(user.url, tactics), folder, "dead")
    engine.start()
    engine.stop()
    command("clean", "--on", user.url, "--yes")
    assert not dead.exists()


def data(text: str, folder: Path) -> None:
    command("data", "wisconsin", "--rows", "100", "--out", str(folder / text))
    command("data", "wisconsin", "--rows", "100", "--out", str(folder / text))


def quel(text: str, folder: Path) -> None:
    asked = f'range of t is onektup retrieve (x = "{text}") where t.unique1 = 1 and "{text}" = "b"'
    command("quel", asked, "--rows", "1000", "--on", "sqlite")
    (folder / text).write_text(asked, encoding="utf-8")
    command("quel", "--file", str(folder / text))
    command("quel", "--file", str(folder / f"{text}2"))


def lode(text: str, folder: Path) -> None:
    from loadstone.lode import Database

    with Database(folder / text, "create"):
        pass
    command("lode", "backup", str(folder / text), str(folder / f"{text}2"))
    command("lode", "backup", str(folder / text), str(folder / f"{text}2"))
    command("lode", "serve", str(folder / f"{text}3"))


def run(text: str, folder: Path) -> None:
    plan = folder / "plan.toml"
    for field in ("edition", "on", "operations", "panel", text):
        plan.write_text(f"{_toml(field)} = {_toml(text)}\n", encoding="utf-8")
        command("run", "--dry-run", "--plan", str(plan))
    command("run", "--resume", str(folder / text))
    for screen in (False, True):
        _progress(text, screen=screen)


def study(text: str, folder: Path) -> None:
    for choice in ("--on", "--vary", "--operation", "--edition"):
        command("study", "wisconsin", "--on", "sqlite", choice, text, "--dry-run")


def _toml(text: str) -> str:
    return '"' + "".join(f"\\u{ord(letter):04x}" for letter in text) + '"'


def _progress(text: str, *, screen: bool) -> None:
    """Print the progress of a run."""
    cells = tuple(replace(cell, operation=text, variant=f"{cell.variant}{text}")
                  for cell in SMALL.plan.cells)  # fmt: skip
    plan = replace(SMALL.plan, cells=cells)
    console = diagnostics.console(stderr=True, plain=True)
    progress = Progress(plan, SMALL.presentation, len(cells), console)
    for result in SMALL.results:
        cell = replace(result.cell, operation=text, variant=f"{result.cell.variant}{text}")
        progress.on_result(replace(result, cell=cell, status="failed", reason=f"{text}{text * 9}"))
    progress._doing = text
    if screen:
        console.print(progress._screen())


def report(text: str, folder: Path) -> None:
    for name in ("md", "csv", "json"):
        sys.stdout.write(registry.load_report(name)().render(bad(SMALL, text)).decode())
    command("report", str(folder / text))


def compared(text: str, folder: Path) -> None:
    command("compare", str(folder / text))
    run = bad(SMALL, text)
    names = tuple(dict.fromkeys(cell.variant for cell in run.plan.cells))
    found = compare(run, None, variants=(names[0], names[2]), threshold=0.05)
    for form in formats.FORMATS:
        formats.write(found, form, sys.stdout)


def _others(text: str) -> EntryPoints:
    """The seams with an engine of that name, which cannot be loaded."""
    every = [point for seam in ("engines", "clients", "benchmarks", "reports")
             for point in entry_points(group=f"loadstone.{seam}")]  # fmt: skip
    lacking = [EntryPoint(f"x{text}", "no_such_module:Engine", f"loadstone.{seam}")
               for seam in ("engines", "clients")]  # fmt: skip
    return EntryPoints([*every, *lacking])


def engines(text: str, folder: Path) -> None:
    with patch.object(registry, "entry_points", lambda group: _others(text).select(group=group)):
        command("engines")


def tactics(text: str, folder: Path) -> None:
    with patch.object(registry, "entry_points", lambda group: _others(text).select(group=group)):
        command("tactics")
        command("tactics", "--format", "json")
    command("tactics", text)


def benchmarks(text: str, folder: Path) -> None:
    command("benchmarks", text)
    command("benchmarks", "wisconsin", "--edition", text)
    command("benchmarks", "wisconsin", "--inputs", text)


def examined(text: str, folder: Path) -> None:
    checks = [Check(f"a{text}", Verdict.OK, text, text, text)]
    doctor._print(checks)
    with patch("loadstone.doctor.examine", lambda: checks):
        command("doctor", "--format", "json")


def judged(text: str, folder: Path) -> None:
    command("ab", "--before", "sqlite", "--after", text, "--dry-run")
    command("ab", "--before", f"sqlite@{text}", "--after", "sqlite", "--dry-run")
    command("ab", "--before", "sqlite", "--after", "sqlite", "--operation", text, "--dry-run")


def sought(text: str, folder: Path) -> None:
    command("bisect", text, "1.0.0..1.1.0", "--dry-run")
    command("bisect", "duckdb", text, "--dry-run")


def followed(text: str, folder: Path) -> None:
    command("log", str(folder / text))
    (folder / f"{text}.loadstone").write_bytes(b"no record")
    command("log", str(folder))
    found = history([(folder / text, (bad(SMALL, text),)), (folder / "b", (SMALL,))], 0.05)
    sys.stdout.write(histories.markdown(found) + histories.as_json(found))


def blessed(text: str, folder: Path) -> None:
    command("bless", str(folder / text))


COMMANDS: dict[str, Callable[[str, Path], None]] = {
    "run": run, "report": report, "compare": compared, "engines": engines, "tactics": tactics,
    "benchmarks": benchmarks, "data": data, "quel": quel, "lode": lode, "clean": clean,
    "doctor": examined, "study": study, "bless": blessed, "ab": judged, "bisect": sought,
    "log": followed,
}  # fmt: skip


@pytest.fixture(autouse=True)
def _as_before() -> Iterator[None]:
    arguments, environment = sys.argv, dict(os.environ)
    yield
    sys.argv = arguments
    os.environ.clear()
    os.environ.update(environment)


def printed(which: Callable[[str, Path], None], text: str) -> str:
    """All that a command writes."""
    out = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with TemporaryDirectory() as folder, redirect_stdout(out), redirect_stderr(out):
        which(text, Path(folder))
    return out.buffer.getvalue().decode()


SLOW = ("bisect", "tactics")


@pytest.mark.parametrize(
    "name",
    [pytest.param(name, marks=pytest.mark.slow if name in SLOW else ()) for name in COMMANDS],
)
@settings(max_examples=6, deadline=None, phases=(Phase.explicit, Phase.generate),
          suppress_health_check=[HealthCheck.function_scoped_fixture])  # fmt: skip
@example("\x1b]0;owned\x07\x1b[2J\x9b31m\u202e\u2028\u200b")
@given(HOSTILE)
def test_no_command_prints_what_steers(name: str, text: str) -> None:
    shown = printed(COMMANDS[name], text)
    found = STEERING.search(shown)
    assert found is None, (found, shown[max(0, found.start() - 200) : found.end() + 50])
    assert shown


@pytest.mark.parametrize("name", ["clean", "data", "quel", "lode", "engines", "tactics"])
def test_letters_that_steer_a_terminal_are_shown(name: str) -> None:
    """Not left out: people decide by these names."""
    assert "\u241b" in printed(COMMANDS[name], "\x1b[2J")


def test_every_command_is_among_them() -> None:
    assert {*cli.COMMANDS} == {*COMMANDS}
