"""The verdict of `loadstone ab`: what is not decided, or did not run, never passes."""

import re
from dataclasses import replace
from inspect import signature
from io import StringIO
from pathlib import Path
from types import SimpleNamespace

import pytest
from compared_runs import altered, calm_run
from report_fixture import make_run

from loadstone.analysis.compare.chapters import compare_chapters
from loadstone.analysis.releases import outcome, steps
from loadstone.commands import ab, bisect
from loadstone.diagnostics import EXIT_OF_COMPARISON
from loadstone.errors import InputError
from loadstone.record.model import CellResult, Run, Term
from loadstone.report.comparison import formats

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
    # Also where there is no other cell.
    alone = replace(both, results=tuple(r for r in both.results if r.status == "failed"))
    cells = tuple(result.cell for result in alone.results)
    alone = replace(alone, plan=replace(alone.plan, cells=cells))
    assert code(monkeypatch, alone) == 6
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


@pytest.mark.parametrize(
    ("name", "value"),
    [("users", (4,)), ("rate_per_s", 9.0), ("ramp", "1..9"), ("writers", 1), ("loop_s", 2.0)],
)
def test_loops_of_users_which_nobody_judges_are_refused(tmp_path, name: str, value: object) -> None:
    with pytest.raises(InputError, match=f"{name}: .*not judged"):
        ab._planned("sqlite", "duckdb", {name: value}, None, 0.05)
    assert name not in signature(ab.ab).parameters
    assert name not in signature(bisect.bisect).parameters
    file = tmp_path / "plan.toml"
    file.write_text("users = [4]\n")
    with pytest.raises(InputError, match="not judged"):
        ab._planned("sqlite", "duckdb", {}, file, 0.05)


@pytest.mark.parametrize("form", ["table", "md", "json"])
def test_a_comparison_counts_the_loops_that_it_does_not_judge(form: str) -> None:
    calm = calm_run()
    point = replace(make_run().users[0], variant="sqlite")
    run = replace(calm, users=(point, replace(point, variant="duckdb")))
    for other, both in ((replace(calm, users=()), 1), (replace(run), 2)):
        found = compare_chapters((run,), (other,), threshold=0.05)
        of_sqlite = [one for one in found.comparisons[0][1].matched if "sqlite" in one.match.name]
        comparison = replace(found.comparisons[0][1], matched=tuple(of_sqlite))
        out = StringIO()
        formats.write(comparison, form, out)
        reported = f'"loops_not_judged":{both}' if form == "json" else f"not judged: {both} loop"
        assert reported in out.getvalue()
    without = replace(calm, users=())
    found = compare_chapters((without,), (without,))
    assert "not judged" not in found.comparisons[0][1].sentence()


def test_a_preset_is_repeated_until_it_is_decided() -> None:
    plan = ab._planned("sqlite", "sqlite?cache=2MiB", {}, None, 0.02).plan
    assert (plan.preset, plan.repeat, plan.repeat_s, plan.precision) == ("quick", 10, 5.0, 0.01)
    assert set(plan.temperature) == {"warm"}
    assert plan.aa_control == "sqlite#2"
    named = ab._planned("sqlite", "duckdb", {"operations": ["join-*"]}, None, 0.05).plan
    assert named.repeat_s == 20.0


def noisy(result: CellResult) -> CellResult:
    samples = tuple(
        replace(sample, elapsed_ns=int(sample.elapsed_ns * (0.5, 1.0, 1.9)[place % 3]))
        for place, sample in enumerate(result.samples)
    )
    return replace(result, samples=samples)


def wrong(result: CellResult) -> CellResult:
    return replace(
        result,
        status="failed",
        reason="wrong answer",
        samples=(),
        answers=tuple(replace(answer, checksum="0") for answer in result.answers),
    )


def apart(run: Run) -> Run:
    """The run, the durability of whose variants differs."""
    terms = tuple(Term(name, "durability", name, name) for name in PAIR)
    return replace(run, terms=terms)


ALIKE = of_one_engine(calm_run(), 1.0)
CODES = {
    0: [ALIKE, of_one_engine(calm_run(), 0.5)],
    1: [of_one_engine(calm_run(), 1.5)],
    9: [altered(ALIKE, noisy, variant=PAIR[1])],
    5: [apart(ALIKE), of_one_engine(calm_run(samples=5), 1.0)],
    6: [altered(ALIKE, failed, variant=PAIR[1]),
        altered(altered(ALIKE, failed, variant=PAIR[0]), failed, variant=PAIR[1]),
        altered(apart(ALIKE), failed, variant=PAIR[1]),
        altered(ALIKE, lambda r: replace(r, status="invalid", reason="busy"), variant=PAIR[1])],
}  # fmt: skip
CASES = [(code, run) for code, runs in CODES.items() for run in runs]


@pytest.mark.parametrize(("expected", "run"), CASES, ids=lambda one: str(one)[:1])
def test_ab_compare_and_bisect_have_one_code_for_one_thing(monkeypatch, expected, run) -> None:
    assert code(monkeypatch, run) == expected
    found = compare_chapters((run,), None, variants=PAIR, threshold=0.05)
    assert EXIT_OF_COMPARISON[found.outcome] == expected
    assert EXIT_OF_COMPARISON[outcome(steps(run, PAIR, 0.05))] == expected


def test_another_answer_has_a_code_of_its_own_whatever_the_times_are(monkeypatch) -> None:
    names = {PAIR[1]: f"{PAIR[0]}?cache=2MiB"}

    def renamed(result: CellResult) -> CellResult:
        cell = result.cell
        return replace(result, cell=replace(cell, variant=names.get(cell.variant, cell.variant)))

    run = altered(of_one_engine(calm_run(), 2.0), wrong, variant=PAIR[1])
    results = tuple(map(renamed, run.results))
    plan = replace(run.plan, variants=(PAIR[0], names[PAIR[1]]), aa_control="",
                   cells=tuple(result.cell for result in results))  # fmt: skip
    run = replace(run, plan=plan, results=results)
    both = (PAIR[0], names[PAIR[1]])
    found = compare_chapters((run,), None, variants=both, threshold=0.05)
    assert EXIT_OF_COMPARISON[found.outcome] == 11
    assert EXIT_OF_COMPARISON[outcome(steps(run, both, 0.05))] == 11


def test_the_document_has_each_code_once() -> None:
    document = Path(__file__).parents[2] / "docs/how-to/ci.md"
    rows = re.findall(r"^\| ([0-9, ]+) \|", document.read_text(encoding="utf-8"), re.MULTILINE)
    codes = [int(each) for row in rows for each in row.split(",")]
    assert sorted(codes) == sorted({*codes})
    assert {*CODES, *EXIT_OF_COMPARISON.values()} <= {*codes}
