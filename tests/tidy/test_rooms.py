"""The rooms of the Python package: one imports only those below it.

ARCHITECTURE.md has the same rooms in the same order, for people.
"""

from collections.abc import Iterator, Mapping

import pytest
from test_imports import PACKAGE, imports, package_files, within

import loadstone

ROOMS = (
    "errors", "control_characters", "secret", "owner", "interruption", "diagnostics", "text",
    "lode", "shell", "plan", "record", "statistics", "studies", "engines", "quel", "benchmarks",
    "workload", "protocol", "machine", "clients", "analysis", "report", "registry", "planning",
    "worker", "run", "measuring", "api", "pytest_plugin", "doctor", "commands", "cli", "__main__",
)  # fmt: skip
"""Lowest first."""
APART = (
    ("worker", "run"), ("run", "worker"), ("planning", "worker"),
    ("run", "report"), ("run", "analysis"), ("worker", "report"), ("worker", "analysis"),
    ("report", "benchmarks"), ("report", "engines"), ("report", "clients"), ("report", "machine"),
    ("record", "engines"), ("engines", "record"), ("benchmarks", "record"),
)  # fmt: skip
"""The first does not reach the second, not even through a third."""
DOOR = ("__init__", "api")
"""The names that `import loadstone` offers, and imports when one is asked for."""
PRINTED = {
    "loadstone.statistics": ("loadstone.statistics.estimate.Estimate",),
    "loadstone._core": ("loadstone._core.clock_ns",),
    "numpy": (), "scipy": (), "pandas": (), "pyarrow.compute": (), "statistics": (), "random": (),
}  # fmt: skip
"""The modules that compute, with the names that a report may take of each: the type of a value
that `analysis` gives it, and the clock of the progress line."""


def room_of(module: str) -> str:
    return module.removeprefix("loadstone.").partition(".")[0]


def room_in(path: str) -> str:
    return room_of(path.removesuffix(".py").replace("/", "."))


def arrows(texts: Mapping[str, str]) -> Iterator[tuple[str, int, str, str, str]]:
    """(file, line, its room, a room that it imports, the name from there)."""
    for path, text in package_files(texts):
        room = room_in(path)
        for line, name in imports(text):
            target = room_of(name) if name.startswith("loadstone.") else ""
            if target not in ("", "_core", "__version__", room):
                yield path, line, room, target, name.rpartition(".")[2]


def climbs(texts: Mapping[str, str]) -> list[str]:
    rank = {room: place for place, room in enumerate(ROOMS)}
    return [
        f"{path}:{line}: {room}/ stands below {target}/"
        for path, line, room, target, _ in arrows(texts)
        if (room, target) != DOOR
        if rank.get(target, len(ROOMS)) > rank.get(room, -1)
    ]


def reached(texts: Mapping[str, str]) -> dict[str, dict[str, str]]:
    """The rooms that each room reaches, and by way of which room it does so first."""
    direct: dict[str, set[str]] = {room: set() for room in ROOMS}
    for _, _, room, target, _ in arrows(texts):
        direct.setdefault(room, set()).add(target)
    found: dict[str, dict[str, str]] = {}
    for room in direct:
        seen = {target: target for target in direct[room]}
        open_ends = list(seen)
        while open_ends:
            by = open_ends.pop()
            for target in direct.get(by, ()):
                if target not in seen:
                    seen[target] = by
                    open_ends.append(target)
        found[room] = seen
    return found


def trespasses(texts: Mapping[str, str]) -> list[str]:
    found = reached(texts)
    return [
        f"{room}/ may not know {target}/ (it does by way of {found[room][target]}/)"
        for room, target in APART
        if target in found.get(room, {})
    ]


def computed(texts: Mapping[str, str]) -> list[str]:
    return [
        f"{path}:{line}: report/ may not import {name}"
        for path, text in package_files(texts)
        for line, name in imports(text)
        for owner, allowed in PRINTED.items()
        if room_in(path) == "report" and within(name, owner) and name not in allowed
    ]


def unknown(texts: Mapping[str, str]) -> list[str]:
    """A room that has no place in the order has no rule either."""
    rooms = {
        room_of(path.removesuffix(".py").replace("/", ".")) for path, _ in package_files(texts)
    }
    return [f"{PACKAGE}{room}: give it a place in ROOMS" for room in rooms - {*ROOMS, "__init__"}]


@pytest.mark.parametrize("check", [climbs, trespasses, computed, unknown])
def test_rooms_import_only_rooms_below_them(check, texts):
    complaints = check(texts)
    assert not complaints, "\n".join(complaints)


def test_no_room_has_the_name_of_a_public_function():
    """Once imported, the room would stand in its place in `loadstone`."""
    assert not {*ROOMS} & {*loadstone.__all__}


def test_architecture_shows_the_rooms_in_their_order(texts):
    rows = [line for line in texts["ARCHITECTURE.md"].splitlines() if line.startswith("| `")]
    shown = [
        word.strip("`").removesuffix("/").removesuffix(".py")
        for row in rows
        for word in row.split("|")[1].replace(",", " ").split()
    ]
    assert [room for room in shown if room in ROOMS] == list(ROOMS)


@pytest.mark.parametrize(
    ("check", "path", "text"),
    [
        (climbs, "record/reader.py", "def f():\n    import loadstone.engines\n"),
        (climbs, "engines/sqlite/engine.py", "from loadstone.run import runner\n"),
        (climbs, "errors.py", "from loadstone.plan.plan import Plan\n"),
        (climbs, "statistics/drift.py", "from loadstone.report.html import Html\n"),
        (trespasses, "run/runner.py", "from loadstone.worker.block import Block\n"),
        (trespasses, "report/html.py", "from loadstone.benchmarks.base import Benchmark\n"),
        (computed, "report/html.py", "from loadstone.statistics import estimate\n"),
        (computed, "report/html.py", "from loadstone.statistics.validity import AA_RATIO_MAX\n"),
        (computed, "report/html.py", "from loadstone._core import interval_of_median\n"),
        (computed, "report/html.py", "from loadstone import _core\n"),
        (computed, "report/html.py", "def f():\n    import numpy as np\n"),
        (unknown, "helpful/things.py", "import os\n"),
    ],
)
def test_a_crossed_wall_is_seen(check, path, text):
    assert len(check({PACKAGE + path: text})) == 1
