"""The release in which a time changed: found among many in few runs, never said too narrowly."""

import json
import random
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

import pytest
from compared_runs import calm_run
from typer.testing import CliRunner

from loadstone import registry
from loadstone.analysis.releases import Step, outcome, refined, steps
from loadstone.cli import app
from loadstone.commands import bisect
from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.plan.variant import release_of
from loadstone.plan.workload import Workload, WorkloadStatement
from loadstone.record.model import GivenAnswer, Run, StatementText
from loadstone.report import releases as text
from loadstone.run import releases
from loadstone.run.session import Ended

ALL = tuple(f"1.{minor}.{patch}" for minor in range(10) for patch in range(4))

ONE = "select-1%-heap"


def run_of(variants: Sequence[str], factor: Callable[[str], float], samples: int = 30) -> Run:
    """A run of these releases, of which each takes so many times a millisecond."""
    base = calm_run(samples=samples)
    results = []
    for result in (
        r for r in base.results if (r.cell.variant, r.cell.operation) == ("sqlite", ONE)
    ):
        for variant in variants:
            dice = random.Random(f"{variant}{result.cell.operation}")
            took = factor(release_of(variant))
            shaken = tuple(
                replace(sample, elapsed_ns=int(1e6 * took * dice.lognormvariate(0, 0.01)))
                for sample in result.samples
            )
            cell = replace(result.cell, variant=variant)
            results.append(replace(result, cell=cell, samples=shaken))
    cells = tuple(result.cell for result in results)
    plan = replace(base.plan, variants=tuple(variants), on=tuple(variants), cells=cells,
                   aa_control="", roles=())  # fmt: skip
    return replace(base, plan=plan, results=tuple(results), terms=(), structure_notes=())


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> Callable[..., tuple[bisect._Search, list[int]]]:
    """A search of all releases of an engine whose time depends on its release as reported."""

    def search(
        factor: Callable[[str], float],
        missing: str = "",
        broken: Sequence[str] = (),
        then: Callable[[Run], Run] = lambda run: run,
        *,
        none_found: bool = False,
    ) -> tuple:
        sizes: list[int] = []
        measured: list[Sequence[str]] = []

        def measure(planned, path, page):
            if any(release_of(name) in broken for name in planned[0].plan.on):
                raise EngineError("its engine does not start")
            measured.append(planned[0].plan.on)
            sizes.append(len(planned[0].plan.on))
            return Ended()

        def prepare(variants):
            if variants[0][0].release.number == missing:
                raise NotInstalledError("there is no wheel")

        def not_starting(planned):
            return {name: EngineError(f"{name} lacks a function\n  ^") for name in planned.plan.on
                    if release_of(name) in broken and not none_found}  # fmt: skip

        monkeypatch.setattr("loadstone.measuring.measure", measure)
        monkeypatch.setattr("loadstone.run.session.not_starting", not_starting)
        monkeypatch.setattr("loadstone.measuring.conclude", lambda path, ended, page: 0)
        monkeypatch.setattr("loadstone.run.builds.prepare", prepare)
        monkeypatch.setattr(
            "loadstone.record.read", lambda path: then(run_of(measured[-1], factor))
        )
        kind = registry.load_engine("duckdb")
        found = bisect._Search("duckdb", kind, ALL, {"operations": [ONE]}, 0.05)
        assert found.run(Path("r.loadstone"), page=False) == 0
        return found, sizes

    return search


def changed(found: bisect._Search) -> list[tuple[str, str, str]]:
    return [
        (release_of(step.before), release_of(step.after), step.verdict)
        for step in found.steps
        if step.changed
    ]


@pytest.mark.parametrize("at", [1, 17, 38, 39])
def test_the_release_that_got_slower_is_found_among_forty_in_two_runs(searched, at: int) -> None:
    found, sizes = searched(lambda release: 1.0 + (ALL.index(release) >= at))
    assert changed(found) == [(ALL[at - 1], ALL[at], "slower")]
    assert len(sizes) <= 2 and max(sizes) <= bisect.TOGETHER_MAX
    assert outcome(found.steps) == "regression"


def test_a_slowdown_that_was_mended_is_found_both_times(searched) -> None:
    found, _ = searched(lambda release: 3.0 if 9 <= ALL.index(release) < 19 else 1.0)
    assert sorted(changed(found)) == [(ALL[8], ALL[9], "slower"), (ALL[18], ALL[19], "faster")]


def test_nothing_is_found_where_nothing_changed(searched) -> None:
    found, sizes = searched(lambda release: 1.0)
    assert changed(found) == [] and sizes == [bisect.TOGETHER_MAX]
    assert outcome(found.steps) == "no regression"


def answered(run: Run, changed: Callable[[str], bool]) -> Run:
    """The run of a user's workload whose statement some releases answer otherwise."""
    workload = Workload("w", "", (), (WorkloadStatement(ONE, ONE, "", ("SELECT 1",)),))
    given = tuple(
        GivenAnswer(ONE, 10_000, 0, name, 1, "6" if other else "10", int(other), (shown,))
        for name in run.plan.variants
        for other in [changed(release_of(name))]
        for shown in ["(6)" if other else "(10)"]
    )
    results = tuple(replace(r, status="invalid", reason="divided") for r in run.results)
    return replace(run, plan=replace(run.plan, workload=workload), given=given, results=results)


def test_the_release_that_changed_the_answer_is_found_and_named_before_all(
    searched, monkeypatch
) -> None:
    def changes(release: str) -> bool:
        return 17 <= ALL.index(release) < 30

    found, sizes = searched(lambda release: 1.0, then=lambda run: answered(run, changes))
    steps = [(release_of(s.before), release_of(s.after)) for s in found.steps if s.changed]
    assert sorted(steps) == [(ALL[16], ALL[17]), (ALL[29], ALL[30])]
    assert len(sizes) <= 3 and outcome(found.steps) == "answer changed"
    first, second, *plans = text.sentences(found.steps, found.between)
    assert all(part in first + second for part in (ALL[17], ALL[30], "(10)", "(6)"))
    assert all(one.startswith(ONE) for one in plans)
    data = json.loads(text.as_json(found.steps, found.between))
    assert sum(step["changed_answer"] is not None for step in data["steps"]) == 2


def test_a_release_that_cannot_be_installed_is_left_out(searched, capsys) -> None:
    found, _ = searched(lambda release: 1.0, missing=ALL[0])
    assert ALL[0] not in {release_of(step.before) for step in found.steps}
    assert f"{ALL[0]} is left out" in capsys.readouterr().err


@pytest.mark.parametrize("at", [17, 20])
def test_a_release_that_cannot_be_driven_is_left_out_and_the_search_goes_on(
    searched, capsys, at: int
) -> None:
    """Also one beside the change: then the change lies between its neighbours, and it says so."""
    broken = (ALL[0], ALL[at])
    found, _ = searched(lambda release: 1.0 + (ALL.index(release) >= 17), broken=broken)
    (step,) = (one for one in found.steps if one.changed)
    ends = (ALL[16], ALL[18 if at == 17 else 17])
    assert (release_of(step.before), release_of(step.after)) == ends
    assert found.between(step) == (1 if at == 17 else 0)
    assert outcome(found.steps) == "regression"
    assert f"{ALL[0]} is left out: " in capsys.readouterr().err
    data = json.loads(text.as_json(found.steps, found.between, found.left_out))
    assert data["left_out"][0] == {
        "release": ALL[0], "reason": f"duckdb@{ALL[0]} lacks a function"
    }  # fmt: skip
    assert any(
        ALL[0] in one and "lacks a function" in one
        for one in text.sentences(found.steps, found.between, found.left_out)
    )


def test_an_error_that_is_no_release_s_own_ends_the_search(searched) -> None:
    with pytest.raises(EngineError, match="does not start"):
        searched(lambda release: 1.0, broken=ALL[:1], none_found=True)


def made(verdict: str) -> Step:
    factor = {"slower": 2.0, "same": 1.0, "faster": 0.5}[verdict]
    run = run_of(("duckdb@1.0.0", "duckdb@2.0.0"),
                 lambda release: factor if release == "2.0.0" else 1.0)  # fmt: skip
    return steps(run, run.plan.on, 0.05)[0]


def test_a_change_over_releases_that_were_not_measured_names_both_ends() -> None:
    reported, *plans = text.sentences([made("slower")], lambda step: 3)
    assert "after 1.0.0, by 2.0.0 (3 releases between not measured)" in reported
    reported, *plans = text.sentences([made("slower")], lambda step: 0)
    assert "is slower in 2.0.0" in reported
    # What the record has of the plans is told, on whatever machine.
    assert len(plans) == 1 and plans[0].startswith(ONE)


def test_the_formats_hold_each_step_with_its_interval() -> None:
    found = [made("slower")]
    data = json.loads(text.as_json(found, lambda step: 0))
    assert data["outcome"] == "regression"
    assert data["steps"][0]["ratio_low"] > 1.9
    assert "**" not in text.markdown(found, lambda step: 0)
    assert "| slower |" in text.markdown(found, lambda step: 0)


def test_a_long_reason_stands_below_a_table_that_fits_a_terminal() -> None:
    reason = "the two were measured on unlike terms: cache 256 MiB, and 64 MiB"
    unlike = replace(made("slower"), pair=None, reason=reason)
    other = replace(made("same"), operation="o2")
    one, two = text.by_cell([made("slower"), unlike, other])
    assert [one.title, two.title] == [
        "select-1%-heap (10,000 tuples, warm)",
        "o2 (10,000 tuples, warm)",
    ]
    assert [row[-1] for row in one.rows] == ["slower", "not compared"]
    assert all(len(row) == len(text.OF_STEP) for row in one.rows)
    assert one.reasons == (f"1.0.0 to 2.0.0: not compared: {reason}",) and not two.reasons


def test_undecided_and_not_compared_are_no_all_clear() -> None:
    few = run_of(("duckdb@1.0.0", "duckdb@2.0.0"), lambda release: 1.0, samples=4)
    undecided = steps(few, few.plan.on, 0.05)
    assert {step.verdict for step in undecided} == {"undecided"}
    assert outcome(undecided) == "nothing compared", "no step has an interval"
    said, why, *_ = text.sentences(undecided, lambda step: 0)
    assert "could not be decided" in said and "4 pairs have no interval" in why
    assert (
        "no interval" in json.loads(text.as_json(undecided, lambda step: 0))["steps"][0]["reason"]
    )


def test_plans_that_differ_are_printed_of_undecided_steps_too() -> None:
    run = run_of(("duckdb@1.0.0", "duckdb@2.0.0"), lambda release: 1.0, samples=4)
    plans = zip(run.results, ("HASH_JOIN", "NESTED_LOOP_JOIN"), strict=True)
    planned = [replace(r, statements=(StatementText(0, "SELECT", plan),)) for r, plan in plans]
    found = steps(replace(run, results=tuple(planned)), run.plan.on, 0.05)
    lines = list(text.sentences(found, lambda step: 0))
    assert any("hash join in 1.0.0, nested loop in 2.0.0" in line for line in lines), lines


def test_steps_that_were_not_compared_are_no_all_clear() -> None:
    lost = Step("min-scalar", 1, "warm", "a", "b", None, "cache: 1 MiB against 2 MiB")
    assert outcome([lost]) == "nothing compared"
    assert outcome([replace(lost, reason="failed in B", failed=True)]) == "invalid"
    assert outcome([lost, made("same")]) == "invalid"
    assert outcome([lost, made("slower")]) == "regression"
    assert f"not compared: {lost.reason}" in text.row(lost)


def test_finer_steps_take_the_place_of_the_coarse_one() -> None:
    coarse = [Step("q", 1, "warm", "1", "5", None), Step("q", 1, "warm", "5", "9", None)]
    fine = [Step("q", 1, "warm", "1", "3", None), Step("q", 1, "warm", "3", "5", None)]
    assert refined(coarse, fine) == (coarse[1], *fine)
    other = [Step("p", 1, "warm", "1", "5", None)]
    assert refined(coarse, other) == (*coarse, *other)


def test_releases_are_sorted_by_number_and_previews_left_out() -> None:
    reported = ["1.10.0", "1.9.0", "2.0.0rc1", "1.2.0.dev3", "1.9.0"]
    assert releases.plain(reported, short=False) == ("1.9.0", "1.10.0")
    assert releases.plain(["3.46.0.1", "3.46.0.0", "3.9.2.post1"], short=True) == (
        "3.9.2",
        "3.46.0",
    )


def test_a_range_holds_both_ends() -> None:
    assert releases.within(ALL, "1.0.2..1.1.1") == ("1.0.2", "1.0.3", "1.1.0", "1.1.1")
    for wrong in ("1.0.2", "1.0.2..", "1.0.2..7.0", "1.1.1..1.0.2"):
        with pytest.raises(InputError):
            releases.within(ALL, wrong)


def test_releases_are_spread_evenly_with_both_ends() -> None:
    chosen = releases.spread(ALL, 8)
    assert len(set(chosen)) == 8 and (chosen[0], chosen[-1]) == (ALL[0], ALL[-1])
    assert releases.spread(ALL[:3], 8) == ALL[:3]


@pytest.mark.parametrize("engine", ["null", "duckdb@1.0.0"])
def test_an_engine_without_releases_is_refused(engine: str) -> None:
    with pytest.raises(InputError):
        bisect.bisect(engine=engine, releases="1.0..2.0")


def test_the_known_releases_are_listed_in_each_format(monkeypatch) -> None:
    monkeypatch.setattr("loadstone.run.releases.releases_of", lambda kind: ["1.0.0", "1.1.0"])

    def listed(form: str) -> str:
        command = ["bisect", "duckdb", "--releases", "--format", form]
        return CliRunner().invoke(app, command).stdout

    assert listed("table") == "duckdb: 1.0.0, 1.1.0\n"
    assert json.loads(listed("json")) == {"engine": "duckdb", "releases": ["1.0.0", "1.1.0"]}
    assert listed("md").splitlines()[2:] == ["- 1.0.0", "- 1.1.0"]
