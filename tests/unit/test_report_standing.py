"""A printed ratio or exponent says no more than the samples leave certain."""

import re
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from report_fixture import POSTGRESQL, make_run

from loadstone import registry
from loadstone.analysis.growth import growth
from loadstone.analysis.standing import behind, standing, typically_behind
from loadstone.analysis.summary import summarise
from loadstone.record.model import Run, Sample
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import TIMES, times

OPERATION = "select-10%-heap"


def spoken(run: Run, elapsed_ns: dict[str, list[int]]) -> Run:
    """The same with the samples of each variant given, one a round."""
    return replace(run, results=tuple(
        replace(result, samples=tuple(
            Sample(place, place, place % 10, 1_000 + place, ns)
            for place, ns in enumerate(elapsed_ns[result.cell.variant])
        ))
        if result.cell.variant in elapsed_ns else result
        for result in run.results
    ))  # fmt: skip


def one_row() -> Run:
    return make_run((OPERATION,), scales=(10_000,))


def warm(run: Run) -> dict:
    figures = summarise(run).figures
    return {v: figures[f"{OPERATION}|{v}|10000|warm"] for v in ("sqlite", "duckdb", POSTGRESQL)}


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        (Estimate(1.02, 0.97, 1.06), "≈"),
        (Estimate(0.98, 0.95, 1.02), "≈"),
        (Estimate(49.0, 0.9, 160.0), "?"),
        (Estimate(1.05, 0.8, 1.4), "?"),
        (Estimate(1.3, 1.1, 1.6), "1.3×"),  # noqa: RUF001
        (Estimate(8.7), "~8.7×"),  # noqa: RUF001
        (Estimate(0.95), "?"),
        (Estimate(0.95, 0.9, 0.99), "?"),
        (None, ""),
    ],
)
def test_a_ratio_is_printed_where_it_is_one(ratio: Estimate | None, said: str) -> None:
    assert standing(ratio) == said
    assert standing(ratio, best=True) == ""


@given(st.tuples(*[st.floats(1e-3, 1e3)] * 3).map(sorted))
def test_no_ratio_whose_interval_holds_1_looks_like_one(bounds: list[float]) -> None:
    low, value, high = bounds
    ratio = Estimate(value, low, high)
    if low <= 1 <= high:
        assert TIMES not in standing(ratio)
        assert behind(ratio) == 1
    assert (behind(ratio) or 0) >= 1


def test_undecided_is_not_as_fast_as_the_best() -> None:
    best, same, slow = Estimate(1.0), Estimate(1.02, 0.97, 1.06), Estimate(3.0, 2.5, 3.5)
    wide = Estimate(2.1, 0.8, 4.0)
    assert typically_behind([best, same, slow]) == (1, False)
    assert typically_behind([slow, wide, None]) == (3, False)
    assert typically_behind([slow, wide, wide]) is None
    assert typically_behind([wide, Estimate(0.95)]) is None
    assert typically_behind([None]) is None


def test_a_bound_counts_in_a_median_as_no_less_than_it_is() -> None:
    two, nine = Estimate(2.0, 1.9, 2.1), Estimate(9.0, 8.9, 9.1)
    assert typically_behind([two, two, nine], [5000.0]) == (5.5, False)
    assert typically_behind([two, nine], [5000.0]) == (9.0, False)
    assert typically_behind([two], [5000.0]) == (2501.0, True)
    assert typically_behind([two, nine], [3.0, 5000.0]) == (6.0, True)
    assert typically_behind([], [5000.0]) == (5000.0, True)
    assert typically_behind([None, None], []) is None


@given(
    st.lists(st.floats(1.2, 1e4), max_size=6),
    st.lists(st.tuples(*[st.floats(1.2, 1e4)] * 2), max_size=6),
)
def test_a_median_of_bounds_is_never_above_that_of_the_ratios(
    known: list[float], ended: list[tuple[float, float]]
) -> None:
    """`ended`: a bound, and the ratio that was larger."""
    ratios = [Estimate(one, one, one) for one in known]
    least = [min(pair) for pair in ended]
    whole = [*ratios, *(Estimate(max(pair), max(pair), max(pair)) for pair in ended)]
    found, true = typically_behind(ratios, least), typically_behind(whole)
    assert (found is None) == (true is None)
    if found is not None and true is not None:
        assert found[0] <= true[0] * (1 + 1e-9)
        assert found[1] or found[0] == pytest.approx(true[0])


def test_the_variant_that_is_certainly_faster_in_pairs_is_the_best() -> None:
    """Its median is the higher one, and it is faster in every pair that both have."""
    base = [100 * 2**place for place in range(10)]
    elapsed = {
        "sqlite": base,
        "duckdb": [*[round(ns * 0.9) for ns in base], *[100_000] * 9],
        POSTGRESQL: [9 * ns for ns in base],
    }
    shown = warm(spoken(one_row(), elapsed))
    assert shown["duckdb"].elapsed_ns.value > shown["sqlite"].elapsed_ns.value
    assert shown["duckdb"].best
    assert shown["sqlite"].standing == times(1 / 0.9)


def test_a_ratio_of_too_few_pairs_is_the_quotient_of_the_medians_that_are_printed() -> None:
    """Pair by pair twice to four times as long; by the medians 1.7 times."""
    elapsed = {
        "sqlite": [10_000, 20_000, 30_000],
        "duckdb": [34_000, 22_000, 121_000],
        POSTGRESQL: [990_000] * 3,
    }
    assert warm(spoken(one_row(), elapsed))["duckdb"].standing == f"~{times(1.7)}"


@settings(max_examples=60, deadline=None)
@given(st.lists(st.lists(st.integers(1, 10**6), min_size=1, max_size=14), min_size=3, max_size=3))
def test_nobody_but_the_best_is_shown_as_faster(samples: list[list[int]]) -> None:
    shown = warm(spoken(one_row(), dict(zip(("sqlite", "duckdb", POSTGRESQL), samples,
                                           strict=True))))  # fmt: skip
    assert sum(figure.best for figure in shown.values()) == 1
    for figure in shown.values():
        said = figure.standing
        assert (said == "") == figure.best
        if TIMES in said:
            assert float(said.strip("~" + TIMES).replace(",", "")) >= 1
            assert figure.ratio.low is None or figure.ratio.low > 1


@pytest.mark.parametrize("name", ["md", "html"])
def test_every_format_leaves_undecided_ratios_out(name: str) -> None:
    noisy = {"sqlite": [1, 10_000] * 5, "duckdb": [10_000, 1] * 5, POSTGRESQL: [50_000] * 10}
    run = spoken(one_row(), noisy)
    reported = [f for f in warm(run).values() if f.standing == "?"]
    assert reported
    text = registry.load_report(name)().render(run).decode()
    assert not re.search(r"≈\d", text)
    assert "?" in text


def grown(exponent: float, samples: int, noise: float = 0.0) -> Run:
    """The time of one operation grows by a law, with a spread of each cell's samples."""
    run = make_run((OPERATION,))
    return replace(run, results=tuple(
        replace(result, condition=None, samples=tuple(
            Sample(place, place % 2, place, 1_000 + place,
                   round(1e3 * (result.cell.rows / 10_000) ** exponent * 1e3
                         * (1 + noise * ((place % 5) - 2))))
            for place in range(samples)
        ))
        for result in run.results
    ))  # fmt: skip


def steep(run: Run) -> list[str]:
    return [line.reported for line in growth(summarise(run)) if line.steep]


@pytest.mark.parametrize("name", ["md", "html"])
def test_single_samples_say_nothing_of_growth(name: str) -> None:
    run = grown(1.5, samples=1)
    assert steep(run) == []
    assert {line.reported for line in growth(summarise(run))} == {"\N{EN DASH}"}
    text = registry.load_report(name)().render(run).decode()
    assert "1.50" not in text
    assert "Growing faster" not in text


def test_growth_is_reported_where_the_intervals_leave_no_doubt() -> None:
    assert set(steep(grown(1.5, samples=10))) == {"1.50"}
    assert steep(grown(1.5, samples=10, noise=0.4)) == []
    assert steep(grown(1.1, samples=10)) == []
    lines = growth(summarise(grown(1.5, samples=10, noise=0.05)))
    assert all(line.low <= line.exponent <= line.high for line in lines)
