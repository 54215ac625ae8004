"""A record that was written on another machine, weeks ago, is read, planned again and refused as a
record of today is. Those of `tests/data` have two variants, warm and cold, an A/A control, the null
engine, and users."""

import shlex
import sqlite3
import tomllib
from contextlib import closing
from pathlib import Path
from typing import Any
from unittest.mock import patch

import pytest
from typer.testing import CliRunner

from loadstone.analysis.compare.compare import compare
from loadstone.cli import app
from loadstone.errors import InputError, RecordError
from loadstone.plan.choices import Choices
from loadstone.plan.written_choices import as_toml, read_given
from loadstone.record import Recorder, read
from loadstone.report.reproduce import command, plan_toml
from loadstone.run import planned as planning
from loadstone.run.planned import plan_from

DATA = Path(__file__).resolve().parents[1] / "data"
WISCONSIN, OO1 = DATA / "wisconsin.loadstone", DATA / "oo1.loadstone"
BOTH = pytest.mark.parametrize("path", [WISCONSIN, OO1], ids=["wisconsin", "oo1"])


@BOTH
def test_the_plan_of_a_record_is_planned_again_with_the_hash_that_is_shown(path: Path) -> None:
    run = read(path)
    for choices in (tomllib.loads(plan_toml(run)), as_choices(command(run))):
        assert plan_from(choices, None).plan.hash == run.plan.hash
    assert f"# plan {run.plan.hash}\n" in plan_toml(run)


def as_choices(line: str) -> dict[str, Any]:
    """The choices of a command line, as `loadstone run` has them planned."""
    with patch.object(planning, "plan_from", side_effect=InputError("seen")) as seen:
        CliRunner().invoke(app, shlex.split(line)[1:])
    return dict(seen.call_args.args[0])


@BOTH
def test_its_choices_can_be_made_again(path: Path, tmp_path: Path) -> None:
    plan = read(path).plan
    file = tmp_path / "plan.toml"
    file.write_text(as_toml(plan), encoding="utf-8")
    chosen = Choices(**read_given(file))
    assert (chosen.preset, chosen.overhead, chosen.rows) == ("quick", True, plan.rows)
    assert chosen.on == tuple(v for v in plan.variants if v not in ("sqlite#2", "null"))


@BOTH
def test_it_is_compared_with_itself(path: Path) -> None:
    run = read(path)
    compared = {pair.operation for pair in compare(run, run).pairs}
    assert compared
    assert compared <= set(run.plan.operations)
    assert compare(run, None, variants=("sqlite", "sqlite#2")).pairs


@pytest.mark.parametrize("version", [0, 2, 13])
def test_a_record_of_another_format_is_neither_read_nor_continued(version: int, tmp_path: Path):
    path = tmp_path / "r.loadstone"
    path.write_bytes(WISCONSIN.read_bytes())
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(f"PRAGMA user_version={version}")
    for use in (read, Recorder.resume):
        with pytest.raises(RecordError, match=f"has schema {version}; this Loadstone reads 1"):
            use(path)
