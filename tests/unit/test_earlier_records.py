"""A record that an earlier Loadstone wrote is read, reported and compared by the names of now.

The records in `tests/data` were written by the last release whose schema was 5, as it wrote them:
two variants, warm and cold, an A/A control, the null engine, and users.
"""

import re
import shlex
import tomllib
from dataclasses import replace
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from loadstone import registry
from loadstone.analysis.compare.compare import compare
from loadstone.cli import app
from loadstone.errors import InputError, RecordError
from loadstone.plan.written_choices import as_toml, read_choices
from loadstone.record import Recorder, earlier_names, read
from loadstone.record.model import Run, Term
from loadstone.record.schema import SCHEMA_VERSION, TABLES
from loadstone.report.comparison.markdown import render
from loadstone.report.reproduce import command, plan_toml
from loadstone.run import planned as planning
from loadstone.run.planned import plan_from

DATA = Path(__file__).resolve().parents[1] / "data"
WISCONSIN, OO1 = DATA / "wisconsin-schema-5.loadstone", DATA / "oo1-schema-5.loadstone"
BEFORE = re.compile(
    r"-host\b|\bfloor[._]|\byardstick|\btwin|--panel|\bawake\b|\bhost\b", re.IGNORECASE
)
"""Names that no value may have any more."""


def test_values_of_a_wisconsin_record_have_the_names_of_now() -> None:
    run = read(WISCONSIN)
    plan = run.plan
    assert (plan.preset, plan.aa_control, plan.disable_idle_states) == ("quick", "sqlite#2", True)
    assert plan.operations[1] == "select-one-clustered-client"
    assert {cell.operation for cell in plan.cells} == set(plan.operations)
    assert {text.destination for text in run.operations} == {"client", "relation"}
    assert {result.cell.operation for result in run.results} == set(plan.operations)
    assert not run.pending
    assert {(p.operation, p.client) for p in run.users} == {(plan.operations[1], "python")}
    assert {text.operation for text in run.inputs} == set(plan.operations)
    assert run.sessions[0].calibration["overhead.statement_ns"] > 0
    assert all(result.condition.speed_probe_ns for result in run.results if result.condition)
    rows = [row for t in run.published["tables"] for row in t["rows"]]
    assert "select-1%-clustered-client" in {operation for _, operation, _ in rows}


def test_values_of_an_oo1_record_have_the_names_of_now() -> None:
    run = read(OO1)
    assert not run.plan.disable_idle_states
    clients = {term.variant: term.read_back for term in run.terms if term.key == "client"}
    assert clients == {"sqlite": "rust", "sqlite#2": "rust", "python-dict": "python",
                       "null": "rust"}  # fmt: skip
    assert {(p.variant, p.client) for p in run.users} >= {("sqlite", "rust")}


@pytest.mark.parametrize("path", [WISCONSIN, OO1])
def test_the_plan_of_an_earlier_record_is_planned_again_with_the_hash_that_is_shown(path: Path):
    """A gap of OO1 had been worded differently then, and its words were part of the hash."""
    run = read(path)
    for choices in (tomllib.loads(plan_toml(run)), as_choices(command(run))):
        assert plan_from(choices, None).plan.hash == run.plan.hash
    assert f"# plan {run.plan.hash}\n" in plan_toml(run)


def as_choices(line: str) -> dict[str, Any]:
    """The choices of a command line, as `loadstone run` has them planned."""
    with patch.object(planning, "plan_from", side_effect=InputError("seen")) as seen:
        CliRunner().invoke(app, shlex.split(line)[1:])
    return dict(seen.call_args.args[0])


def test_a_reason_that_blamed_the_host_blames_the_hypervisor() -> None:
    row = {"operation": "x", "reason": "the host took 7%"}
    now = {"operation": "x", "reason": "the hypervisor took 7%"}
    assert earlier_names.row_now("cell", row, 5) == now
    assert earlier_names.row_now("cell", row, 6) == row


@pytest.mark.parametrize("path", [WISCONSIN, OO1], ids=["wisconsin", "oo1"])
@pytest.mark.parametrize("kind", ["html", "md", "json", "csv"])
def test_an_earlier_record_is_reported_by_the_names_of_now(path: Path, kind: str) -> None:
    run = read(path)
    # A command that the user typed then is shown as it was typed.
    sessions = tuple(replace(session, command="") for session in run.sessions)
    page = registry.load_report(kind)().render(replace(run, sessions=sessions)).decode()
    assert ("select-one-clustered-client" in page) == (path == WISCONSIN)
    assert kind == "md" or "sqlite#2" in page
    assert not [line for line in page.splitlines() if BEFORE.search(line)]


@pytest.mark.parametrize("path", [WISCONSIN, OO1], ids=["wisconsin", "oo1"])
def test_an_earlier_record_is_compared(path: Path) -> None:
    run = read(path)
    found = compare(run, run)
    compared = {pair.operation for pair in found.pairs}
    assert compared
    assert compared <= set(run.plan.operations)
    assert ("select-one-clustered-client" in render(found).decode()) == (path == WISCONSIN)
    assert compare(run, None, variants=("sqlite", "sqlite#2")).pairs


def later(run: Run, **terms: str) -> Run:
    """The same as a record of today has it, which tells more terms."""
    reported = tuple(Term("sqlite", key, value, value) for key, value in terms.items())
    return replace(run, run_id="later", schema=SCHEMA_VERSION, terms=(*run.terms, *reported))


def test_a_term_that_an_earlier_record_could_not_have_is_shown_and_not_refused() -> None:
    run = read(WISCONSIN)
    found = compare(run, later(run, journal="wal"))
    shown = render(found).decode()
    assert "journal" in shown
    assert "refused" not in shown
    # Of one schema both would have it.
    same = replace(later(run, journal="wal"), schema=run.schema)
    assert "refused" in render(compare(run, same)).decode()


@pytest.mark.parametrize("path", [WISCONSIN, OO1], ids=["wisconsin", "oo1"])
def test_the_choices_of_an_earlier_record_can_be_made_again(path: Path, tmp_path: Path) -> None:
    plan = read(path).plan
    file = tmp_path / "plan.toml"
    file.write_text(as_toml(plan), encoding="utf-8")
    chosen = read_choices(file)
    assert (chosen.preset, chosen.overhead, chosen.rows) == ("quick", True, plan.rows)
    assert chosen.on == tuple(v for v in plan.variants if v not in ("sqlite#2", "null"))


def test_an_earlier_record_is_not_continued(tmp_path: Path) -> None:
    path = tmp_path / "r.loadstone"
    path.write_bytes(WISCONSIN.read_bytes())
    with pytest.raises(
        RecordError, match=f"has schema 5; this Loadstone continues records of {SCHEMA_VERSION}"
    ):
        Recorder.resume(path)


def test_each_translation_is_of_a_column_that_there_is() -> None:
    columns = {(of.name, column.name) for of in TABLES for column in of.columns}
    assert set(earlier_names.VALUES) <= columns


def test_a_text_that_is_no_plan_is_refused_as_ever() -> None:
    for text in ('{"cells": 3, "operations": {"a": 1}}', "[]", '{"cells": [3, {"operation": 4}]}'):
        earlier_names.plan_now(text, 5)
    with pytest.raises(InputError):
        earlier_names.plan_now("{", 5)
    for odd in (None, 3, [], {"tables": 1}, {"tables": [1, {"rows": 2}, {"rows": [1, [2]]}]}):
        earlier_names.published_now(odd, 5)
