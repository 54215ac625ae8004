"""The rules of a fair row: no time for a failure, no ratio without equal terms."""

from dataclasses import replace

import pytest
from report_fixture import AA_CONTROL, FEW, OUTLIER, POSTGRESQL, make_run

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.summary import Summary, summarise
from loadstone.record.model import StatementText
from loadstone.report.markdown import MarkdownReport
from loadstone.statistics.paired_ratio import paired_ratio


@pytest.fixture(scope="module")
def whole() -> Summary:
    return summarise(make_run())


def figure(
    whole: Summary, operation: str, variant: str, rows: int, temperature: str
) -> CellSummary:
    return whole.figures[f"{operation}|{variant}|{rows}|{temperature}"]


def test_every_planned_cell_is_there_once(whole: Summary) -> None:
    assert list(whole.figures) != []
    assert {cell.key for cell in whole.run.plan.cells} == set(whole.figures)


def test_rows_stand_in_the_papers_order(whole: Summary) -> None:
    names = [row.operation.name for row in whole.views[0].all_rows]
    ordinals = [text.ordinal for text in whole.run.operations if text.rows == 10_000]
    assert names == [text.name for text in whole.run.operations if text.rows == 10_000]
    assert ordinals == sorted(ordinals)


def test_a_wrong_answer_has_no_time(whole: Summary) -> None:
    wrong = figure(whole, "project-1%", POSTGRESQL, 10_000, "warm")
    assert (wrong.status, wrong.elapsed_ns, wrong.ratio) == ("failed", None, None)
    assert wrong.reason.startswith("wrong answer")


def test_a_failure_with_samples_still_has_no_time() -> None:
    run = make_run(FEW)
    spoiled = tuple(
        replace(result, status="failed", reason="wrong answer")
        if result.cell.variant == "duckdb"
        else result
        for result in run.results
    )
    figures = summarise(replace(run, results=spoiled)).figures.values()
    duckdb = [f for f in figures if f.cell.variant == "duckdb"]
    assert duckdb
    assert not any(f.elapsed_ns or f.samples or f.best for f in duckdb)


def test_each_row_has_one_best_and_it_is_the_fastest(whole: Summary) -> None:
    for view in whole.views:
        for row in view.all_rows:
            compared = [f for f in row.figures.values() if f.ratio]
            best = [f for f in compared if f.best]
            assert len(best) == 1
            medians = {f.cell.variant: f.elapsed_ns.value for f in compared if f.elapsed_ns}
            assert min(medians, key=medians.__getitem__) == best[0].cell.variant
            for f in compared:
                if f.best:
                    continue
                ratio = paired_ratio(f.samples, best[0].samples)
                if ratio is not None and ratio.low is not None:
                    assert f.ratio == ratio
                else:
                    assert f.ratio.value == f.elapsed_ns.value / best[0].elapsed_ns.value


def test_the_harness_is_no_competitor(whole: Summary) -> None:
    overheads = [f for f in whole.figures.values() if f.cell.variant == "null"]
    assert overheads
    assert all(f.elapsed_ns and f.ratio is None and not f.best for f in overheads)
    assert all(f.overhead_share is None for f in overheads)
    assert "null" not in whole.competitors
    quick = figure(whole, "select-1-clustered-client", "sqlite", 10_000, "warm")
    slow = figure(whole, "project-100%", "sqlite", 10_000, "warm")
    assert quick.near_overhead
    assert not slow.near_overhead


def test_an_a_a_control_is_no_competitor(whole: Summary) -> None:
    controls = [f for f in whole.figures.values() if f.cell.variant == AA_CONTROL]
    assert controls
    assert all(f.elapsed_ns and f.ratio is None and not f.best for f in controls)
    assert AA_CONTROL not in whole.competitors
    assert whole.labels[AA_CONTROL] == AA_CONTROL


def test_an_a_a_control_does_not_move_the_unit_of_its_row() -> None:
    run = make_run(("select-10%-heap",), scales=(10_000,))
    slow = tuple(
        replace(r, samples=tuple(replace(s, elapsed_ns=s.elapsed_ns * 10**6) for s in r.samples))
        if r.cell.variant == AA_CONTROL
        else r
        for r in run.results
    )
    views = [summarise(replace(run, results=results)).views[0] for results in (run.results, slow)]
    assert {next(iter(view.all_rows)).unit.symbol for view in views} == {"ms"}


def test_a_ratio_is_of_pairs() -> None:
    """Variations differ by powers of ten, on both sides alike: pairs do not see it."""
    run = make_run(("select-10%-heap",), scales=(10_000,))
    factors = {"sqlite": 3, "duckdb": 1}
    shaped = tuple(
        replace(
            result,
            samples=tuple(
                replace(s, elapsed_ns=factors[result.cell.variant] * 10 ** (s.variation % 5))
                for s in result.samples
            ),
        )
        for result in run.results
        if result.cell.variant in factors
    )
    figures = summarise(replace(run, results=shaped)).figures
    ratio = figures["select-10%-heap|sqlite|10000|warm"].ratio
    assert [ratio.value, ratio.low, ratio.high] == pytest.approx([3, 3, 3])


def test_an_outlier_is_marked_and_counts(whole: Summary) -> None:
    outlying = figure(whole, *OUTLIER)
    assert 2 in outlying.outliers
    assert len(outlying.samples) == 10
    assert 1 <= outlying.samples_effective <= 10


def test_unproved_is_never_compared_with_proved(whole: Summary) -> None:
    unproved = figure(whole, "select-1%-heap", POSTGRESQL, 10_000, "cold")
    proved = figure(whole, "select-1%-heap", "sqlite", 10_000, "cold")
    assert (unproved.temperature, unproved.ratio) == ("unproved", None)
    assert unproved.elapsed_ns is not None
    assert (proved.temperature, proved.ratio is None) == ("cold", False)


def test_all_unproved_are_compared_among_themselves() -> None:
    run = make_run(FEW)
    stripped = tuple(replace(result, evidence=()) for result in run.results)
    figures = summarise(replace(run, results=stripped)).figures
    ratios = [figures[f"select-1%-heap|{v}|10000|cold"].ratio for v in ("sqlite", "duckdb")]
    assert all(ratios)


def test_invalid_is_shown_but_not_compared(whole: Summary) -> None:
    invalid = figure(whole, "min-scalar", POSTGRESQL, 10_000, "warm")
    assert (invalid.status, invalid.ratio) == ("invalid", None)
    assert invalid.elapsed_ns is not None


def test_gap_and_pending(whole: Summary) -> None:
    gap = figure(whole, "select-1-hash-client", "duckdb", 10_000, "warm")
    pending = figure(whole, "modify-1-nonkey-indexed", POSTGRESQL, 100_000, "cold")
    assert (gap.status, "hash" in gap.reason) == ("gap", True)
    assert (pending.status, pending.elapsed_ns) == ("pending", None)


def test_unmeasured_is_none_and_never_zero(whole: Summary) -> None:
    assert figure(whole, "select-1%-heap", "sqlite", 10_000, "warm").server_cpu_share is None
    assert figure(whole, "select-1%-heap", "sqlite", 10_000, "warm").read_bytes == 0


def test_names_leave_out_addresses_but_never_tactics() -> None:
    run = make_run(FEW)
    assert summarise(run).names[POSTGRESQL] == POSTGRESQL
    far, near = (f"postgresql://{host}/app?parallelism=2" for host in ("far", "near"))
    one = replace(run, plan=replace(run.plan, variants=("sqlite", far), cells=()), results=())
    assert summarise(one).names[far] == POSTGRESQL
    both = replace(one, plan=replace(one.plan, variants=(near, far)))
    assert summarise(both).names == {near: near, far: far}


def test_a_tie_is_called_a_tie() -> None:
    run = make_run(("select-10%-heap",))
    spans = {"sqlite": (1000, 1100), "duckdb": (1101, 1001), POSTGRESQL: (5000, 5100)}
    shaped = tuple(
        replace(
            result,
            samples=tuple(
                replace(s, elapsed_ns=spans[result.cell.variant][s.ordinal % 2])
                for s in result.samples
            ),
        )
        for result in run.results
        if result.cell.variant in spans
    )
    figures = summarise(replace(run, results=shaped)).figures
    tied = {v: figures[f"select-10%-heap|{v}|10000|warm"].tied for v in spans}
    assert tied == {"sqlite": False, "duckdb": True, POSTGRESQL: False}


@pytest.mark.parametrize(
    ("access", "reported"),
    [
        ("nonclustered", ""),
        ("heap,nonclustered", ""),
        ("heap", "planned otherwise: scan of all tuples, not nonclustered"),
        ("clustered", "planned otherwise: clustered, not nonclustered"),
        ("", ""),
        (None, ""),
    ],
)
def test_a_structure_that_no_plan_uses_is_reported_at_the_cell(
    access: str | None, reported: str
) -> None:
    operation = "select-1%-nonclustered"
    run = make_run((operation,))
    results = tuple(
        replace(result, statements=(StatementText(0, "SELECT", "plan", access),))
        if result.cell.variant == "duckdb"
        else result
        for result in run.results
    )
    whole = summarise(replace(run, results=results))
    shown = [f for f in whole.figures.values() if f.cell.variant == "duckdb" and f.elapsed_ns]
    assert shown
    for one in shown:
        words = [term.words for term in one.unequal if term.key == "planned otherwise"]
        assert words == ([reported] if reported else [])
    marked = b"planned otherwise" in MarkdownReport().render(whole.run)
    assert marked is bool(reported)
