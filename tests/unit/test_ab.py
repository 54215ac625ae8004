"""The verdict of `loadstone ab`: what is not decided, or did not run, never passes."""

from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace

import pytest
from compared_runs import altered, calm_run

from loadstone.analysis.compare.chapters import compare_chapters
from loadstone.commands import ab
from loadstone.errors import InputError
from loadstone.record.model import CellResult, Run

PAIR = ("sqlite", "duckdb")


def of_one_engine(run: Run, factor: float) -> Run:
    """A run in which the second variant is the first one, and takes so many times as long."""
    first = {r.cell.operation: r for r in run.results if r.cell.variant == PAIR[0]}
    results = tuple(
        replace(
            first[result.cell.operation],
            cell=result.cell,
            samples=tuple(
                replace(sample, elapsed_ns=int(sample.elapsed_ns * factor))
                for sample in first[result.cell.operation].samples
            ),
        )
        if result.cell.variant == PAIR[1]
        else result
        for result in run.results
    )
    return replace(run, results=results, terms=(), structure_notes=())


def code(monkeypatch: pytest.MonkeyPatch, run: Run) -> int:
    monkeypatch.setattr("loadstone.record.read_chapters", lambda path: (run,))
    both = SimpleNamespace(plan=SimpleNamespace(on=PAIR))
    return ab._judged(Path("r.loadstone"), both, 0.05, (), "md")  # type: ignore[arg-type]


def failed(result: CellResult) -> CellResult:
    return replace(result, status="failed", reason="> 60 s", samples=())


@pytest.mark.parametrize(("factor", "expected"), [(1.0, 0), (0.5, 0), (1.5, 1)])
def test_a_decided_change_passes_or_fails(monkeypatch, factor: float, expected: int) -> None:
    assert code(monkeypatch, of_one_engine(calm_run(), factor)) == expected


def test_an_undecided_cell_does_not_pass(monkeypatch) -> None:
    few = calm_run(samples=5)
    assert code(monkeypatch, of_one_engine(few, 1.0)) == 5  # no interval at all
    run = of_one_engine(calm_run(), 1.0)
    noisy = altered(
        run,
        lambda result: replace(
            result,
            samples=tuple(
                replace(sample, elapsed_ns=sample.elapsed_ns * (1 + place % 3))
                for place, sample in enumerate(result.samples)
            ),
        ),
        variant=PAIR[1],
    )
    assert code(monkeypatch, noisy) in (1, 9)


def test_a_failed_cell_does_not_pass(monkeypatch) -> None:
    run = of_one_engine(calm_run(), 1.0)
    assert code(monkeypatch, altered(run, failed, variant=PAIR[1])) == 6
    # On both sides: no regression, and all the same nobody may think that it was looked at.
    both = altered(altered(run, failed, variant=PAIR[0]), failed, variant=PAIR[1])
    assert code(monkeypatch, both) == 6
    compared = compare_chapters((both,), None, variants=PAIR, threshold=0.05)
    assert "no regression" not in compared.comparisons[0][1].sentence()


def test_a_cell_that_is_ended_after_the_change_is_a_regression_beyond_all_of_its_former_time(
    monkeypatch,
) -> None:
    run = of_one_engine(calm_run(), 1.0)

    def ended(limit_ns: int) -> Run:
        changed = {"status": "censored", "samples": (), "longer_than_ns": limit_ns}
        return altered(run, lambda result: replace(result, **changed), variant=PAIR[1])

    assert code(monkeypatch, ended(10**9)) == 1
    assert code(monkeypatch, ended(900_000)) == 6


def test_a_change_to_nothing_is_refused() -> None:
    with pytest.raises(InputError, match="the same"):
        ab._planned("sqlite", " sqlite", {}, None, 0.05)


def test_a_preset_is_repeated_until_it_is_decided() -> None:
    plan = ab._planned("sqlite", "sqlite?cache=2MiB", {}, None, 0.02).plan
    assert (plan.preset, plan.repeat, plan.repeat_s, plan.precision) == ("quick", 10, 5.0, 0.01)
    assert set(plan.temperature) == {"warm"}
    assert plan.aa_control == "sqlite#2"
    named = ab._planned("sqlite", "duckdb", {"operations": ["join-*"]}, None, 0.05).plan
    assert named.repeat_s == 20.0
