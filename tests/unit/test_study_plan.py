"""A study's plan: its combinations, what is refused, and what a record may not claim."""

import json
import shlex
from dataclasses import replace
from math import comb
from pathlib import Path

import pytest
from report_fixture import make_run
from typer.testing import CliRunner

from loadstone import registry
from loadstone.cli import app
from loadstone.engines.postgresql import system
from loadstone.errors import InputError
from loadstone.plan.choices import FACTORIAL, TWO_ENDED
from loadstone.plan.plan import Plan
from loadstone.plan.written_choices import as_command, as_toml
from loadstone.run.planned import plan_from, variant_of

SWITCHES = ("durability", "cache=268435456,16777216", "parallelism=1,2")


def planned(**choices: object) -> Plan:
    given = {"benchmark": "wisconsin", "on": ["duckdb"], "design": TWO_ENDED, **choices}
    return plan_from(given, None).plan


@pytest.mark.parametrize("count", [1, 2, 3])
def test_a_two_ended_study_has_both_ends_and_each_switch_alone_and_last(count: int) -> None:
    study = planned(vary=SWITCHES[:count]).study
    assert study is not None
    names = frozenset(switch.tactic for switch in study.switches)
    flipped = {frozenset(each.flipped) for each in study.combinations}
    alone = {frozenset({name}) for name in names}
    assert flipped == {frozenset(), names} | alone | {names - one for one in alone}
    assert study.combinations[0].flipped == ()


def test_a_factorial_study_has_every_combination() -> None:
    study = planned(vary=SWITCHES, design=FACTORIAL).study
    assert study is not None
    sizes = [len(each.flipped) for each in study.combinations]
    assert [sizes.count(size) for size in range(4)] == [comb(3, size) for size in range(4)]


def test_each_combination_is_a_variant_with_those_values_and_every_operation_has_all() -> None:
    plan = planned(vary=SWITCHES)
    assert plan.study is not None
    for each in plan.study.combinations:
        asked = dict(pair.split("=") for pair in each.variant.partition("?")[2].split("&") if pair)
        expected = {s.tactic: s.other for s in plan.study.switches if s.tactic in each.flipped}
        assert asked == expected
        assert variant_of(each.variant, "engines")[0].name == each.variant, "if resumed"
    measured = {(cell.operation, cell.variant) for cell in plan.cells}
    operations = {operation for operation, _ in measured}
    assert measured == {(o, v) for o in operations for v in plan.variants}
    assert plan.aa_control == f"{plan.study.base}#2"


def test_a_base_value_that_is_no_default_stands_in_every_variant() -> None:
    plan = planned(vary=["parallelism=2,1"])
    assert plan.study is not None
    assert plan.study.base == "duckdb?parallelism=2"
    assert plan.study.combinations[1].variant == "duckdb?parallelism=1"


def test_further_values_of_a_tactic_are_measured_alone_and_at_no_end() -> None:
    vary = ["parallelism=1,2", "cache=268435456,16777216,33554432,67108864"]
    plan = planned(vary=vary)
    study = plan.study
    assert study is not None
    keys = [switch.key for switch in study.switches]
    assert keys == ["parallelism", "cache", "cache=33554432", "cache=67108864"]
    flipped = {each.flipped: each.variant for each in study.combinations}
    ends = {(), ("parallelism",), ("cache",), ("parallelism", "cache")}
    assert flipped.keys() == ends | {("cache=33554432",), ("cache=67108864",)}
    assert flipped["cache=33554432",] == "duckdb?cache=33554432"
    assert Plan.from_json(plan.to_json()) == plan


@pytest.mark.parametrize(("choices", "reported"), [
    ({"on": ["duckdb", "sqlite"], "vary": ["durability"]}, "one engine, not of 2"),
    ({"vary": ["speed=1,2"]}, "no tactic 'speed'"),
    ({"vary": ["durability=full"]}, "has one value, and a switch needs two"),
    ({"vary": ["cache=1MB"]}, "cannot set cache to '1MB'"),
    ({"vary": ["set.threads=2"]}, "has one value, and a switch needs two"),
    ({"vary": ["durability=full,"]}, "cannot read --vary"),
    ({"vary": ["=1,2"]}, "cannot read --vary"),
    ({"vary": ["durability=full,none,full"]}, "same value twice"),
    ({"vary": ["durability=full,full"]}, "same value twice"),
    ({"vary": ["durability=full,often"]}, "cannot set durability"),
    ({"on": ["fixed"], "vary": ["time_us"]}, "no other value to switch it to"),
    ({"vary": ["durability", "durability=none,full"]}, "varied twice"),
    ({"vary": ["all", "durability"]}, "goes with no other --vary"),
    ({"vary": SWITCHES, "temperature": ["warm", "cold"]}, "one temperature, not at warm and cold"),
    ({"on": ["sqlite?durability=none"], "vary": ["durability=full,none"]}, "begins at full, and"),
])  # fmt: skip
def test_an_impossible_study_is_refused_in_words(choices: dict, reported: str) -> None:
    with pytest.raises(InputError, match=reported):
        planned(**choices)


def test_a_study_is_warm_unless_it_is_said_to_be_cold() -> None:
    warm, cold = planned(vary=SWITCHES), planned(vary=SWITCHES, temperature="cold")
    assert {cell.temperature for cell in warm.cells} == {"warm"}
    assert {cell.temperature for cell in cold.cells} == {"cold"}
    # The harness overhead has no caches.
    assert {cell.variant for cell in cold.cells} == {*cold.variants} - {"null"}
    assert {cell.samples for cell in cold.cells} == {1}


@pytest.mark.parametrize("temperature", ["warm", "cold"])
def test_a_study_is_planned_again_by_its_command_and_its_file(
    temperature: str, tmp_path: Path
) -> None:
    plan = planned(vary=SWITCHES, temperature=temperature)
    command = as_command(plan)
    assert ("--temperature cold" in command) == (temperature == "cold")
    assert "--temperature warm" not in command
    file = tmp_path / "plan.toml"
    file.write_text(as_toml(plan))
    assert plan_from({}, file).plan.hash == plan.hash
    shown = CliRunner().invoke(app, [*shlex.split(command)[1:], "--dry-run"])
    assert plan.hash in shown.output


def test_a_record_may_not_claim_another_study_than_its_variants() -> None:
    plan = json.loads(planned(vary=SWITCHES).to_json())
    assert Plan.from_json(json.dumps(plan)).study is not None

    def broken(change: str) -> str:
        other = json.loads(json.dumps(plan))
        combinations = other["study"]["combinations"]
        if change == "no design":
            other["design"] = ""
        elif change == "another variant":
            combinations[2]["variant"] = "duckdb?durability=often"
        elif change == "another order":
            combinations[-1]["flipped"].reverse()
        elif change == "an unknown switch":
            combinations[2]["flipped"] = ["speed"]
        elif change == "twice":
            combinations[2]["flipped"] = combinations[1]["flipped"]
        elif change == "no base":
            combinations.reverse()
        return json.dumps(other)

    for change in ("no design", "another variant", "another order", "an unknown switch", "twice",
                   "no base"):  # fmt: skip
        with pytest.raises(InputError, match="the plan: "):
            Plan.from_json(broken(change))


PLAIN = 'benchmark = "wisconsin"\nrows = [1000]\noperations = ["min-heap"]\n'


@pytest.mark.parametrize(("own", "named", "combination"), [
    ('on = ["planted"]\nvary = "a"', "vary", "planted?a=on "),
    ('on = ["planted"]\nvary = ["a", "b"]', "vary", "planted?a=on&b=on "),
    ('on = ["sqlite"]\nwithin_s = 5.0', "within_s", "sqlite?durability=none "),
])  # fmt: skip
def test_a_plan_file_is_a_study_for_the_command_study_alone(
    tmp_path: Path, own: str, named: str, combination: str
) -> None:
    file = tmp_path / "a.toml"
    file.write_text(f"{PLAIN}{own}\n", encoding="utf-8")
    studied = CliRunner().invoke(app, ["study", "--plan", str(file), "--dry-run"])
    assert studied.exit_code == 0, studied.output
    assert combination in studied.output
    refused = CliRunner().invoke(app, ["run", "--plan", str(file), "--dry-run"])
    assert isinstance(refused.exception, InputError), refused.output
    assert f": {named} is a choice of a study" in refused.exception.message
    assert refused.exception.hint == f"loadstone study --plan {file}"


def test_a_plan_file_keeps_its_own_design(tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    switches = 'on = ["planted"]\nvary = ["a", "b", "c", "d"]'
    for design, has_pairs in (("", False), (f'design = "{FACTORIAL}"', True)):
        file.write_text(f"{PLAIN}{switches}\n{design}\n", encoding="utf-8")
        reported = CliRunner().invoke(app, ["study", "--plan", str(file), "--dry-run"]).output
        assert "planted?a=on " in reported
        assert ("planted?a=on&b=on " in reported) == has_pairs


def test_no_empty_name_stands_among_those_to_choose_from() -> None:
    with pytest.raises(InputError) as error:
        planned(design="sideways")
    assert "must be one of two-ended, walk, both, factorial, not" in error.value.message


@pytest.mark.parametrize(("choices", "command"), [
    ({"design": TWO_ENDED}, "loadstone study"), ({}, "loadstone run"),
])  # fmt: skip
def test_a_page_names_the_command_that_takes_its_plan(
    choices: dict[str, str], command: str
) -> None:
    given = {"benchmark": "wisconsin", "on": ["duckdb"], "operations": ["min-heap"], **choices}
    plan = plan_from(given, None).plan
    run = replace(make_run(("min-heap",), scales=(10_000,)), plan=plan, results=(), operations=())
    page = registry.load_report("html")().render(run).decode()
    assert f"The plan as a file, for <code>{command} --plan</code>" in page


def test_a_setting_by_its_own_name_is_a_switch_with_both_values_named() -> None:
    study = planned(on=["sqlite"], vary=["set.cache_size=-262144,10", "mmap"]).study
    assert study is not None
    assert study.base == "sqlite?set.cache_size=-262144"
    names = [each.variant for each in study.combinations]
    assert "sqlite?set.cache_size=10" in names
    assert "sqlite?mmap=268435456&set.cache_size=-262144" in names
    for wrong in ("set.cache_size", "set.cache_sise=1,2", "set.cache_size=1,1", "set.=1,2"):
        with pytest.raises(InputError) as refused:
            planned(on=["sqlite"], vary=[wrong])
        assert refused.value.hint


@pytest.mark.parametrize("able", [True, False])
def test_of_all_tactics_those_are_switched_that_this_server_can(
    able: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A value that only the start of the server refuses would end the study there."""
    monkeypatch.setattr(system, "compiles", lambda package: able)
    monkeypatch.setattr(system, "huge_pages_free", lambda: 512 if able else 0)
    study = planned(on=["postgresql"], vary=["all"]).study
    assert study is not None
    names = {switch.tactic for switch in study.switches}
    assert names & {"jit", "huge_pages"} == ({"jit", "huge_pages"} if able else set())
    assert {"join", "scan", "work_mem"} <= names
    for tactic in ("jit", "huge_pages"):
        if able:
            planned(on=["postgresql"], vary=[f"{tactic}=off,on"])
        else:
            with pytest.raises(InputError, match=tactic):
                planned(on=["postgresql"], vary=[f"{tactic}=off,on"])
