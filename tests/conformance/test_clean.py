"""`loadstone clean`: shows what dead runs left, asks, and removes that and nothing else."""

import contextlib
import json
import os
import select
from importlib.metadata import EntryPoint, EntryPoints, entry_points
from pathlib import Path

import pytest
import typer
from typer.testing import CliRunner

from loadstone import registry
from loadstone.clients.rust.lode import LodeClient
from loadstone.commands.clean import clean
from loadstone.commands.engines import engines
from loadstone.plan.variant import Variant
from loadstone.run import scratch

POINTS = [*entry_points(group="loadstone.engines"), *entry_points(group="loadstone.clients")]
DEATH_S_MAX = 20.0
LACKING = EntryPoint("lacking", "loadstone_no_such_module:Engine", "loadstone.engines")


class Watched:
    """A process; another that gets its number later is not meant."""

    def __init__(self, pid: int) -> None:
        self._descriptor = os.pidfd_open(pid)

    def is_dead(self, limit_s: float) -> bool:
        return bool(select.select([self._descriptor], [], [], limit_s)[0])

    def close(self) -> None:
        os.close(self._descriptor)


@pytest.fixture
def app(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> typer.Typer:
    points = EntryPoints([*POINTS, LACKING])
    monkeypatch.setattr(registry, "entry_points", lambda group: points.select(group=group))
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path))
    monkeypatch.setenv("COLUMNS", "200")
    app = typer.Typer()
    app.command("clean")(clean)
    app.command("engines")(engines)
    return app


@pytest.fixture
def folders(tmp_path: Path) -> dict[str, Path]:
    """A live run's folder, a dead run's, and one that is not ours."""
    found = {name: tmp_path / name for name in ("live", "dead", "foreign")}
    for path in found.values():
        (path / "sqlite").mkdir(parents=True)
        (path / "sqlite" / "sqlite.db").write_text("data")
    for name, boot_id in (("live", scratch._boot_id()), ("dead", "an earlier boot")):
        mark = {"owner": name, "pid": os.getpid(), "boot_id": boot_id}
        (found[name] / scratch.MARK).write_text(json.dumps(mark))
    return found


def test_only_the_dead_are_removed(app: typer.Typer, folders: dict[str, Path]) -> None:
    done = CliRunner().invoke(app, ["clean", "--yes"])
    assert done.exit_code == 0, done.output
    assert str(folders["dead"]) in done.output
    assert not folders["dead"].exists()
    assert folders["live"].exists()
    assert folders["foreign"].exists()


def test_the_server_of_a_dead_runs_client_is_ended(
    app: typer.Typer, folders: dict[str, Path]
) -> None:
    home = folders["dead"] / "client"
    home.mkdir()
    client = LodeClient(Variant("lode", (("place", "server"),)), home, "dead")
    client.start()
    (pid,) = client.processes()
    with contextlib.closing(Watched(pid)) as server:
        assert CliRunner().invoke(app, ["clean"], input="n\n").exit_code == 0
        assert not server.is_dead(0)
        done = CliRunner().invoke(app, ["clean", "--yes"])
        assert done.exit_code == 0, done.output
        assert server.is_dead(DEATH_S_MAX)
    assert not folders["dead"].exists()
    client.remove()


def test_it_asks_first(app: typer.Typer, folders: dict[str, Path]) -> None:
    done = CliRunner().invoke(app, ["clean"], input="n\n")
    assert str(folders["dead"]) in done.output
    assert folders["dead"].exists()
    CliRunner().invoke(app, ["clean"], input="y\n")
    assert not folders["dead"].exists()


def test_a_program_gets_the_list_and_removes_nothing(
    app: typer.Typer, folders: dict[str, Path]
) -> None:
    done = CliRunner().invoke(app, ["clean", "--format", "json"])
    assert json.loads(done.output) == {
        "leftovers": [
            {"kind": "scratch folder", "name": str(folders["dead"]), "run": "dead", "holds": ""}
        ]
    }
    refused = CliRunner().invoke(app, ["clean", "--format", "json", "--yes"])
    assert refused.exit_code != 0
    assert folders["dead"].exists()


def test_nothing_left_is_said(app: typer.Typer) -> None:
    assert "nothing to clean" in CliRunner().invoke(app, ["clean"]).output


def test_engines_are_listed_with_gaps_and_with_what_is_missing(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["engines"])
    assert done.exit_code == 0, done.output
    for word in ("sqlite", "duckdb", "postgresql", "gap", "durability=full|none"):
        assert word in done.output
    assert "pip install 'loadstone[lacking]'" in done.output


def test_each_engine_is_listed_once_with_all_its_roads(app: typer.Typer) -> None:
    done = CliRunner().invoke(app, ["engines"])
    listed, _, _ = done.output.partition("Storage structures")
    rows = [
        [cell.strip() for cell in line.split("│")[1:3]]
        for line in listed.splitlines()
        if line.startswith("│")
    ]
    named = [name for name, _ in rows if name]
    assert named == sorted({*registry.engine_names(), *registry.client_names()})
    roads: dict[str, list[str]] = {name: [] for name in named}
    current = ""
    for name, road in rows:
        current = name or current
        roads[current] += [road] if road else []
    for name in ("sqlite", "duckdb", "postgresql", "lode", "null"):
        assert roads[name] == ["statements", "client in Rust"]
    for name, only in (("lmdb", "client in Rust"), ("zodb", "client in Python"),
                       ("fixed", "statements"), ("lacking", "statements")):  # fmt: skip
        assert roads[name] == [only]
