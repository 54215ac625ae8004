"""A page's command gives the page's own plan, whatever had been chosen."""

import json
import shlex
from dataclasses import replace
from pathlib import Path
from unittest.mock import patch

import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st
from report_fixture import make_run
from typer.testing import CliRunner

from loadstone import registry
from loadstone.cli import app
from loadstone.plan.choices import BOTH, DEFINED, FACTORIAL, RUN, STUDY, TWO_ENDED, WALK, Choices
from loadstone.plan.idle_choices import idle
from loadstone.plan.plan import Plan
from loadstone.plan.written_choices import COMMAND_LINE, choices_from
from loadstone.record.model import Run
from loadstone.report.reproduce import command, plan_toml
from loadstone.run import planned as planning
from loadstone.run.planned import plan_from

BASE = make_run(("select-1%-heap",), scales=(10_000,))
ENGINES = {
    "wisconsin": ("sqlite", "sqlite?durability=none", "sqlite#2", "duckdb", "null",
                  "fixed?time_us=20"),
    "oo1": ("memory", "sqlite", "lmdb", "lode?access=links", "sqlite#2", "null", "python-null"),
}  # fmt: skip
NAMED = {
    "wisconsin": ("select-1%-heap", "select-one-clustered-client", "min-heap"),
    "oo1": ("lookup", "range", "insert", "nothing"),
}
EDITIONS = {"wisconsin": ("1983", "1993"), "oo1": ("1992", "1992-no-locality")}
VALUES = {
    "budget": st.booleans(),
    "temperature": st.lists(st.sampled_from(("warm", "cold", "hot")), min_size=1, max_size=4),
    "preset": st.sampled_from(("default", "quick", "full")),
    "repeat": st.integers(1, 12), "repeat_cold": st.integers(1, 4),
    "repeat_most": st.integers(1, 2_000), "repeat_s": st.floats(0, 30),
    "precision": st.floats(0, 0.99), "warm_up": st.integers(0, 3),
    "rounds": st.integers(1, 4), "seed": st.integers(0, 10**6),
    "time_limit_s": st.floats(0.1, 1e4), "overhead": st.booleans(), "limits": st.booleans(),
    "disable_idle_states": st.booleans(), "users": st.lists(st.integers(1, 256), max_size=3),
    "rate_per_s": st.floats(1e-5, 1e5), "writers": st.integers(0, 256),
    "loop_s": st.floats(1e-5, 300), "ramp": st.sampled_from(("1..2", "100..1000")),
}  # fmt: skip
"""Of the choices of a run that are the same for every benchmark."""
SWITCHES = {
    "sqlite": ("durability", "durability=none,full", "cache=1048576,268435456"),
    "duckdb": ("durability", "parallelism=1,2", "parallelism=2,1"),
    "sqlite?durability=none": ("durability", "cache=1048576,2097152"),
}
"""The tactics that may be varied, by variant."""


@st.composite
def chosen(draw: st.DrawFn) -> dict:
    """The choices that a user may make, each of them or none."""
    name = draw(st.sampled_from(("wisconsin", "oo1")))
    edition = draw(st.sampled_from(EDITIONS[name]))
    scales = (10_000,) if edition == "1983" else (10_000, 20_000)
    fields = VALUES | {
        "on": st.lists(st.sampled_from(ENGINES[name]), min_size=1, max_size=4, unique=True),
        "rows": st.lists(st.sampled_from(scales), min_size=1, max_size=3),
        "operations": st.lists(st.sampled_from(NAMED[name]), min_size=1, max_size=4),
    }
    kept = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    given = {field: draw(fields[field]) for field in kept}
    given.setdefault("on", ["sqlite", "duckdb"])
    if given.get("writers") and name == "oo1":  # who are beside users, and need both operations
        given = {"users": [2], **given, "operations": ["lookup", "insert"]}
    given = {field: value for field, value in given.items() if field not in idle_beside(given)}
    event(f"planned with {'writers' if given.get('writers') else 'no writers'}")
    return {"benchmark": name, "edition": edition, **given}


def idle_beside(given: dict) -> dict:
    """The choices without an effect, which are refused."""
    return idle(choices_from({"temperature": ["warm", "cold"]} | given, "the test"))


@st.composite
def studied(draw: st.DrawFn) -> dict:
    """The choices that a user may make for a study."""
    variant = draw(st.sampled_from(sorted(SWITCHES)))
    vary = draw(st.lists(st.sampled_from(SWITCHES[variant]), min_size=1, max_size=2,
                         unique_by=lambda text: text.partition("=")[0]))  # fmt: skip
    fields = {
        "rows": st.lists(st.sampled_from((10_000, 20_000)), min_size=1, max_size=2),
        "operations": st.lists(st.sampled_from(NAMED["wisconsin"]), min_size=1, max_size=3),
        "within_s": st.floats(0, 600), "warm_up": VALUES["warm_up"], "seed": VALUES["seed"],
        "time_limit_s": VALUES["time_limit_s"], "limits": st.booleans(),
        "disable_idle_states": st.booleans(), "edition": st.sampled_from(EDITIONS["wisconsin"]),
    }  # fmt: skip
    kept = draw(st.lists(st.sampled_from(sorted(fields)), unique=True))
    design = draw(st.sampled_from((TWO_ENDED, WALK, BOTH, FACTORIAL)))
    chosen = {"benchmark": "wisconsin", "on": [variant], "vary": vary, "design": design}
    chosen |= {field: draw(fields[field]) for field in kept}
    if chosen.get("edition") == "1983":
        chosen["rows"] = [10_000]
    return chosen


def of(plan: Plan) -> Run:
    return replace(BASE, plan=plan)


def planned(choices: dict, file: Path | None = None) -> Plan:
    from loadstone.errors import InputError

    try:
        return plan_from(choices, file).plan
    except InputError as error:
        assert file is None, error
        return BASE.plan


@pytest.mark.slow
@settings(max_examples=150, deadline=None)
@given(chosen() | studied())
def test_the_plan_as_a_file_is_the_same_plan(tmp_path_factory, choices: dict) -> None:
    plan = planned(choices)
    if plan is BASE.plan:
        return
    file = tmp_path_factory.mktemp("plan") / "plan.toml"
    file.write_text(plan_toml(of(plan)), encoding="utf-8")
    assert planned({}, file).to_json() == plan.to_json()


@settings(max_examples=60, deadline=None)
@given(chosen() | studied())
def test_the_command_plans_the_same(choices: dict) -> None:
    plan = planned(choices)
    if plan is BASE.plan:
        return
    words = shlex.split(command(of(plan)))
    assert words[0] == "loadstone"
    reported = CliRunner().invoke(app, [*words[1:], "--dry-run"])
    assert reported.exit_code == 0, reported.output
    assert reported.output.startswith(f"plan {plan.hash}: "), (
        command(of(plan)),
        reported.output[:200],
    )


NAMES = st.text(alphabet="-a=' \"\n$\\;\u202e", min_size=1, max_size=6)


@settings(max_examples=150, deadline=None)
@given(st.lists(NAMES, max_size=3, unique=True), NAMES, NAMES, NAMES, st.data())
def test_a_command_reads_what_a_record_holds_as_what_it_is(
    operations: list[str], preset: str, benchmark: str, variant: str, data: st.DataObject
) -> None:
    """A record may come from anybody. What its plan names is a name in the command, or refused."""
    from loadstone.errors import InputError

    field = data.draw(st.sampled_from(("operations", "preset", "benchmark", "variants")))
    given = {"operations": operations, "preset": preset, "benchmark": benchmark}
    plan = json.loads(BASE.plan.to_json())
    if field == "variants":
        plan = json.loads(json.dumps(plan).replace('"duckdb"', json.dumps(variant)))
    else:
        plan[field] = given[field]
    try:
        read = Plan.from_json(json.dumps(plan))
    except InputError:
        return
    chosen: dict = {}
    with patch.object(planning, "plan_from", lambda options, file: chosen.update(options) or read):
        words = shlex.split(command(of(read)))
        reported = CliRunner().invoke(app, [*words[1:], "--dry-run"])
    # Only `plan_from` is not the real one: what it gives is no `Planned`.
    assert isinstance(reported.exception, AttributeError), reported.output
    made = choices_from(chosen, COMMAND_LINE)
    assert {name: getattr(made, name) for name in chosen} == {
        name: getattr(read, name) for name in chosen
    }
    assert field == "variants" or list(chosen.get(field, [])) == list(given[field])


@pytest.mark.parametrize(("field", "value"), [
    ("operations", ["-x"]), ("operations", ["--record=/etc/passwd"]), ("operations", ["a\nb"]),
    ("operations", [""]), ("preset", "--resume=x"), ("preset", "a\x1bb"), ("aa_control", "--on"),
    ("roles", [["-x", "control"]]),
])  # fmt: skip
def test_a_text_that_could_be_an_option_is_no_name(field: str, value: object) -> None:
    from loadstone.errors import InputError

    plan = {**json.loads(BASE.plan.to_json()), field: value}
    with pytest.raises(InputError, match="is not a valid name"):
        Plan.from_json(json.dumps(plan))


def test_a_default_is_not_listed_as_chosen() -> None:
    plan = planned({"benchmark": "oo1", "on": ["sqlite", "lmdb"], "preset": "quick"})
    assert plan.variants == ("sqlite", "sqlite#2", "lmdb", "null")
    assert plan.on == ("sqlite", "lmdb")
    assert 'on = ["sqlite", "lmdb"]' in plan_toml(of(plan))
    own = planned({"benchmark": "oo1", "on": ["sqlite", "sqlite#2"], "preset": "quick"})
    assert own.variants == ("sqlite", "sqlite#2", "null")
    assert own.on == ("sqlite", "sqlite#2")
    assert "--on null" not in command(of(own))
    users = planned({"benchmark": "oo1", "on": ["sqlite"], "users": [1, 8], "rate_per_s": 50.0,
                     "loop_s": 3.0})  # fmt: skip
    said = plan_toml(of(users))
    for line in ("users = [1, 8]", "rate_per_s = 50.0", "loop_s = 3.0"):
        assert line in said


def test_a_variant_chosen_twice_is_planned_once() -> None:
    """Else a record would hold cells that its reader refuses."""
    plan = planned({"benchmark": "wisconsin", "on": ["sqlite"], "rows": [10_000, 10_000],
                    "temperature": ["warm", "warm"], "operations": ["min-heap"] * 2})  # fmt: skip
    assert Plan.from_json(plan.to_json()) == plan


def test_every_choice_has_an_option_and_is_tried_here() -> None:
    tried = {"benchmark", "sql", "data", "dialect", "types", "edition", "on", "rows", "operations"}
    tried |= {*VALUES, "design", "vary", "within_s"}
    assert tried == {choice.name for choice in DEFINED}
    for command_name in (RUN, STUDY):
        reported = CliRunner().invoke(app, [command_name, "--help"]).output
        for choice in DEFINED:
            takes = command_name in choice.option.commands
            assert (f"{choice.option.flag} " in reported) == takes or not choice.option.flag, choice


@pytest.mark.parametrize("name", ["md", "html"])
def test_the_page_says_the_command_of_its_plan(name: str) -> None:
    import html

    plan = planned({"benchmark": "wisconsin", "on": ["sqlite"], "preset": "quick"})
    text = html.unescape(registry.load_report(name)().render(of(plan)).decode())
    assert command(of(plan)) in text
    assert f"plan {plan.hash}" in text


@pytest.mark.parametrize("name", ["seed", "precision", "writers", "cells", "aa_control"])
def test_a_plan_without_one_of_its_parts_is_none(name: str) -> None:
    from loadstone.errors import InputError

    plan = json.loads(BASE.plan.to_json())
    del plan[name]
    with pytest.raises(InputError, match=f"{name} is missing"):
        Plan.from_json(json.dumps(plan))


def test_a_variant_that_was_chosen_is_one_of_the_plan() -> None:
    from loadstone.errors import InputError

    plan = {**json.loads(BASE.plan.to_json()), "on": ["sqlite", "another"]}
    with pytest.raises(InputError, match="another was chosen"):
        Plan.from_json(json.dumps(plan))


def test_a_files_own_value_counts_also_where_it_is_the_default(tmp_path: Path) -> None:
    """The quick preset has other defaults."""
    plan = planned({"benchmark": "wisconsin", "on": ["sqlite"], "preset": "quick", "rounds": 2})
    assert (plan.rounds, Choices().rounds) == (2, 2)
    file = tmp_path / "plan.toml"
    file.write_text(plan_toml(of(plan)), encoding="utf-8")
    assert planned({}, file).rounds == 2
