"""A report's account of its own instrument: every figure, its limit, and what follows from it."""

from dataclasses import replace

import pytest
from report_fixture import FEW, POSTGRESQL, make_run

from loadstone import registry
from loadstone.analysis.calibration import Calibration, calibration
from loadstone.analysis.summary import summarise
from loadstone.record.model import Condition, Run
from loadstone.report.calibration_table import (
    ABSENT,
    CalibrationTable,
    calibration_table,
    short,
)
from loadstone.statistics import validity
from loadstone.text.numbers import percent


def found_of(run: Run) -> Calibration:
    return calibration(summarise(run))


def table_of(run: Run) -> CalibrationTable:
    return calibration_table(found_of(run), summarise(run).labels)


def with_figures(**figures: float | None) -> Run:
    """One session whose calibration has these figures replaced."""
    run = make_run(FEW)
    replaced = {key.replace("__", "."): value for key, value in figures.items()}
    session = run.sessions[0]
    changed = replace(session, calibration={**session.calibration, **replaced})
    return replace(run, sessions=(changed,))


def words_of(table: CalibrationTable, name: str) -> str:
    rows = (*table.measured, *table.observed)
    return next(row.values[0] for row in rows if name in row.name)


def test_the_latest_session_stands_first() -> None:
    table = table_of(make_run(FEW))
    assert table.headings == ("session 2, 13:17 UTC", "session 1, 13:15 UTC")
    assert all(len(row.values) == 2 for row in table.measured)
    assert all(len(row.values) == 1 for row in table.observed)


def test_a_hidden_pause_is_said_aloud() -> None:
    seen = with_figures(stalling__open_latency_ns_p99=20e6)
    hidden = with_figures(stalling__open_latency_ns_p99=19.9e6)
    assert [r for r in table_of(seen).remarks if not r.fine] == []
    warnings = [r.text for r in table_of(hidden).remarks if not r.fine]
    assert len(warnings) == 1
    assert "did not see" in warnings[0]
    assert "NOT seen" in short(found_of(hidden))
    for name in ("html", "md"):
        assert "did not see" in registry.load_report(name)().render(hidden).decode()


@pytest.mark.parametrize(("idle_ns", "said"), [(63_000.0, True), (27_000.0, False)])
def test_idle_states_are_worth_a_sentence_where_they_matter(idle_ns: float, said: bool) -> None:
    run = with_figures(wake_up__round_trip_idle_ns=idle_ns)
    texts = " ".join(remark.text for remark in table_of(run).remarks)
    assert ("Idle states make a socket round trip" in texts) == said


def test_an_unmeasured_figure_says_so() -> None:
    run = make_run(FEW)
    absent = with_figures(**dict.fromkeys(run.sessions[0].calibration, None))
    assert all(row.values == (ABSENT,) for row in table_of(absent).measured)
    bare = tuple(replace(result, condition=None) for result in run.results)
    table = table_of(replace(run, sessions=(), results=bare))
    assert table.measured == ()
    assert words_of(table, "taken by the hypervisor") == ABSENT


def test_the_worst_condition_is_reported_and_its_limit_beside_it() -> None:
    run = make_run(FEW)
    conditions = (Condition(0.001 * i, None, -0.001 * i) for i in range(len(run.results)))
    results = (
        replace(result, condition=condition)
        for result, condition in zip(run.results, conditions, strict=True)
    )
    found = found_of(replace(run, results=tuple(results)))
    measured = [
        index
        for index, result in enumerate(run.results)
        if result.samples and result.status in ("ok", "invalid")
    ]
    assert found.stolen_share.worst == pytest.approx(0.001 * measured[-1])
    assert found.speed_drift.worst == pytest.approx(-0.001 * measured[-1])
    assert found.foreign_share is None
    assert found.stolen.is_beyond
    assert not found.foreign.is_beyond
    rows = calibration_table(found, {}).observed
    beyond = {row.name for row in rows if row.beyond}
    assert beyond == {"processors' time taken by the hypervisor"}
    reported = {row.limit for row in rows}
    for limit in (
        validity.STOLEN_SHARE_MAX,
        validity.FOREIGN_SHARE_MAX,
        validity.SPEED_DRIFT_MAX,
        validity.AA_RATIO_MAX - 1,
    ):
        assert percent(limit) in reported


def test_only_the_client_of_a_server_has_headroom() -> None:
    found = found_of(make_run(FEW))
    assert list(found.headroom) == [POSTGRESQL]
    assert found.headroom[POSTGRESQL].median == pytest.approx(0.88, abs=0.01)


def test_a_a_control_and_overhead_are_of_all_their_cells() -> None:
    run = make_run(FEW)
    found = found_of(run)
    assert {cell.operation for cell in found.aa_cells} == {"select-1%-heap", "joinAselB-heap"}
    overheads = [r for r in run.results if r.cell.variant == "null" and r.samples]
    assert found.overhead_ns.cells == len(overheads)
    assert found.overhead_ns.least <= found.overhead_ns.median <= found.overhead_ns.most
