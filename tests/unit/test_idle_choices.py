"""An option that has no effect beside the others is refused, with what it needs."""

from pathlib import Path

import pytest

from loadstone import cli
from loadstone.diagnostics import Exit, guarded
from loadstone.plan.choices import DEFINED
from loadstone.plan.idle_choices import DEFAULTS, idle
from loadstone.plan.written_choices import as_command, as_toml, choices_from
from loadstone.run.planned import plan_from

RECORD = str(Path(__file__).resolve().parents[1] / "data" / "wisconsin.loadstone")
RUN = ("run", "--dry-run", "--on", "sqlite")
ONLY_WARM = (*RUN, "--temperature", "warm")
ONLY_COLD = (*RUN, "--temperature", "cold")
IDLE = {
    "--rate needs --users": (*RUN, "--rate", "5"),
    "--ramp needs --users": (*RUN, "--ramp", "1..2"),
    "--writers needs --users": (*RUN, "--writers", "2"),
    "--loop-seconds needs --users": (*RUN, "--loop-seconds", "3"),
    "--repeat-cold needs cold cells": (*ONLY_WARM, "--repeat-cold", "3"),
    "--repeat needs warm or hot cells": (*ONLY_COLD, "--repeat", "3"),
    "--repeat-most needs warm or hot cells": (*ONLY_COLD, "--repeat-most", "30"),
    "--precision needs warm or hot cells": (*ONLY_COLD, "--precision", "10%"),
    "has no variant duckdb?parallelism=3":
        ("run", "--dry-run", "--resume", RECORD, "--on", "duckdb?parallelism=3"),
    "--all cannot be added": ("run", "--dry-run", "--resume", RECORD, "--all"),
    "--inputs needs a benchmark": ("benchmarks", "--inputs", "lookup"),
    "--rows needs --inputs": ("benchmarks", "oo1", "--rows", "200"),
    "--count needs --inputs": ("benchmarks", "oo1", "--format", "json", "--count", "2"),
    "--edition needs a benchmark": ("benchmarks", "--format", "json", "--edition", "1993"),
    "there is no folder /nosuch": ("run", "--dry-run", "--on", "sqlite@venv:/nosuch"),
    "--releases lists the known releases": ("bisect", "sqlite", "--releases", "--seed", "7"),
}  # fmt: skip


@pytest.mark.parametrize("message", IDLE)
def test_an_option_without_an_effect_is_refused_with_a_hint(message, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["loadstone", *IDLE[message]])
    assert guarded(cli._enter) == Exit.INPUT
    written = capsys.readouterr()
    assert written.out == ""
    first, hint = written.err.splitlines()
    assert message in first
    assert hint.strip()


@pytest.mark.parametrize(
    "words",
    [(*RUN, "--users", "2", "--rate", "5", "--loop-seconds", "3"), (*ONLY_WARM, "--repeat", "3"),
     (*ONLY_COLD, "--repeat-cold", "3"), ("run", "--dry-run", "--resume", RECORD, "--on", "duckdb"),
     ("benchmarks", "oo1", "--inputs", "lookup", "--rows", "200", "--count", "1")],
)  # fmt: skip
def test_beside_what_it_needs_it_is_taken(words, monkeypatch, capsys):
    monkeypatch.setattr("sys.argv", ["loadstone", *words])
    assert guarded(cli._enter) == Exit.OK, capsys.readouterr().err


def test_a_choice_without_an_effect_is_no_part_of_a_plans_identity():
    """The command that plans a record again has no such choice, and must give the same hash."""
    chosen = {"on": ["sqlite"], "operations": ["min-heap"], "temperature": ["warm"]}
    plan = plan_from(chosen, None).plan
    idle_of_old = {"repeat_cold": 9, "loop_s": 7.0}
    before = type(plan)(**{f: getattr(plan, f) for f in plan.__dataclass_fields__} | idle_of_old)
    assert before != plan and before.hash == plan.hash
    assert as_command(before) == as_command(plan) and as_toml(before) == as_toml(plan)


def test_every_choice_that_may_be_idle_is_one_and_has_a_default():
    names = {choice.name for choice in DEFINED}
    for temperature in ("warm", "cold"):
        found = idle(choices_from({"temperature": [temperature]}, "the test"))
        assert set(found) <= names & set(DEFAULTS)
