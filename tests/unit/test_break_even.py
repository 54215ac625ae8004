"""After how many tuples a value pays off, and what stands beside a paper's changes: of times that
are known, in every format."""

import json
import random
from dataclasses import replace
from functools import cache

import pytest
from report_fixture import make_run

from loadstone import registry
from loadstone.analysis.break_even import Paying, break_evens, crossing, unreported
from loadstone.analysis.enhancements import enhanced, winners
from loadstone.benchmarks.ingres.benchmark import IngresBenchmark
from loadstone.benchmarks.ingres.presentation import ENHANCEMENTS, PRESENTATION
from loadstone.plan.presentation import Presentation
from loadstone.record.model import AnswerCheck, CellResult, OperationText, Run, Sample
from loadstone.report.break_even_words import crossing_words
from loadstone.report.enhancement_words import headings
from loadstone.run.planned import plan_from
from loadstone.run.runner import published_of
from loadstone.studies.view import study_map

OPERATION = "d-select-by-log"
SCALES = (3360, 1, 210, 32760)
COSTS_NS = {
    "interpreted": (100_000, 200.0),
    "vectorised": (120_000, 20.0),
    "closures": (102_000, 60.0),
    "compiled": (1_100_000, 30.0),
}
"""Value -> its start, and what each tuple takes."""
TRUTH = {
    ("interpreted", "closures"): 2_000 / 140,
    ("interpreted", "compiled"): 1_000_000 / 170,
    ("closures", "compiled"): 998_000 / 30,
    ("interpreted", "vectorised"): 20_000 / 180,
}
BLOCKS = 12


@cache
def record(bend: float = 1.0) -> Run:
    """Query d by each execution; at 210 tuples all but closures take `bend` times their line."""
    vary = ["execution=interpreted,vectorised,closures,compiled"]
    plan = plan_from(
        {"benchmark": "ingres", "on": ["lode"], "design": "two-ended", "vary": vary,
         "operations": [OPERATION], "rows": list(SCALES)}, None).plan  # fmt: skip
    texts = [OperationText(OPERATION, rows, 0, "select by a logarithm", "", "", "heap", "heap",
                           "file", "") for rows in SCALES]  # fmt: skip
    results = [_result(cell, bend) for cell in plan.cells if not cell.gap]
    return replace(
        make_run((OPERATION,), scales=(3360,)), plan=plan, operations=tuple(texts), terms=(),
        results=tuple(results), published=published_of(IngresBenchmark()),
        presentation=PRESENTATION,
    )  # fmt: skip


def _result(cell, bend: float) -> CellResult:
    value = next((v for v in COSTS_NS if f"execution={v}" in cell.variant), "vectorised")
    start, each = COSTS_NS[value] if cell.variant != "null" else (1_000, 0.0)
    bent = bend if cell.rows == 210 and value != "closures" else 1.0
    chance = random.Random(f"{cell.key}")
    samples = tuple(
        Sample(
            block, block, 0, block,
            round((start + each * (cell.rows - 1)) * bent * chance.gauss(1, 0.003)),
            compile_ns=900_000 if value == "compiled" else None,
        )
        for block in range(BLOCKS)
    )  # fmt: skip
    answers = tuple(AnswerCheck(s.ordinal, 0, 1, "1f", 1, "1f") for s in samples)
    return CellResult(cell, "ok", "", "2026-11-23T00:00:00Z", samples, answers=answers)


def paying(run: Run) -> Paying:
    found = study_map(run)
    assert found is not None
    (one,) = break_evens(run, found)
    return one


def test_the_break_evens_of_known_costs_lie_within_their_intervals():
    one = paying(record())
    assert (one.operation, one.tactic, one.scales) == (
        OPERATION,
        "execution",
        tuple(sorted(SCALES)),
    )
    for each in one.values:
        start, cost = COSTS_NS[each.value]
        assert each.start_ns.value == pytest.approx(start, rel=0.01)
        assert each.each_ns.value == pytest.approx(cost, rel=0.01)
        assert each.each_ns.low < each.each_ns.value < each.each_ns.high
        assert each.compile_ns == (900_000 if each.value == "compiled" else None)
    for (slow, fast), tuples in TRUTH.items():
        found = one.pair(slow, fast)
        # How often the interval holds the truth is a test of its own.
        assert found.tuples.value == pytest.approx(tuples, rel=0.1), (slow, fast)
        assert found.tuples.low < found.tuples.value < found.tuples.high
        assert not found.bent
    beyond = one.pair("vectorised", "compiled").tuples
    assert beyond.value is None, "it takes more for each tuple, and starts later"
    assert one.pair("closures", "compiled").tuples.extrapolated
    assert not one.pair("interpreted", "compiled").tuples.extrapolated


def test_a_scale_between_that_is_off_the_line_is_named():
    found = paying(record(bend=3.0))
    assert found.pair("interpreted", "closures").bent == (210,)


@pytest.mark.parametrize(("small", "large", "reported"), [
    ((5.0, 5.1, 4.9), (9.0, 9.1, 8.9), "never"),
    ((-5.0, -5.1, -4.9), (-9.0, -9.1, -8.9), "at once"),
    ((-5.0, -5.1, -4.9), (9.0, 9.1, 8.9), "only at first"),
])  # fmt: skip
def test_what_never_and_what_at_once_is_ahead_says_so(small, large, reported):
    assert crossing_words(crossing(1, small * 4, 1000, large * 4)) == reported


def test_what_may_be_none_has_no_bound():
    draw = random.Random(3)
    small = [10 + draw.gauss(0, 1) for _ in range(10)]
    large = [9.5 + draw.gauss(0, 3) for _ in range(10)]
    found = crossing(1, small, 1000, large)
    assert found.high is None
    assert "no bound" in crossing_words(found) or "perhaps" in crossing_words(found)


def test_the_interval_of_a_break_even_holds_the_truth_as_often_as_it_says(chance):
    """The noise is 3 % of a time: at the small size most of the difference."""
    start, each, tries = 20.0, 0.1, 300
    hits = 0
    for _ in range(tries):
        at = {n: [start - each * n + 0.03 * (200 + each * n) * chance.gauss(0, 1)
                  for _ in range(8)] for n in (1, 3360)}  # fmt: skip
        found = crossing(1, at[1], 3360, at[3360])
        assert found.low is not None
        hits += found.low <= start / each and (found.high is None or start / each <= found.high)
    assert hits >= 0.93 * tries


def test_a_base_without_a_figure_leaves_the_papers_line_out():
    run = record()
    base = run.plan.study.base
    without = replace(run, results=tuple(r for r in run.results if r.cell.variant != base))
    assert "pays off after about" not in registry.load_report("md")().render(without).decode()
    bad = tuple(replace(r, status="invalid", reason="x") if r.cell.variant == base else r
                for r in run.results)  # fmt: skip
    text = registry.load_report("md")().render(replace(run, results=bad)).decode()
    assert "ahead of closures after" in text
    assert "pays off after about" not in text


def test_every_format_shows_the_break_even_and_the_papers_ten():
    run = record()
    for name in ("html", "md"):
        text = registry.load_report(name)().render(run).decode()
        assert "pays off after about 10 tuples" in text, name
        assert "ahead of interpreted after" in text, name
    study = json.loads(registry.load_report("json")().render(run))["study"]
    (one,) = study["break_even"]
    pair = next(p for p in one["pairs"] if (p["slow"], p["fast"]) == ("interpreted", "closures"))
    assert pair["tuples_low"] < TRUTH["interpreted", "closures"] < pair["tuples_high"]
    assert {one["enhancement"]["name"] for one in study["enhancements"]} == {
        "DC-INGRES", "M-INGRES", "FS-INGRES", "MANGOS", "no parsing"}  # fmt: skip


def test_a_change_stands_beside_the_switch_that_makes_it_today():
    run = record()
    found = study_map(run)
    changes = {one.enhancement.name: one for one in enhanced(run, found)}
    compiled = changes["DC-INGRES"]
    (row,) = [r for r in compiled.rows if r.operation == OPERATION and r.scale == 3360]
    assert [(then.table, round(then.gain, 2)) for then in row.then] == [("1", 2.09), ("2", 2.49)]
    assert headings(compiled)[1:3] == ("then, Table 1", "then, Table 2, CPU time")
    gains = {now.switch.other: now.gain for now in row.now}
    for value, gain in gains.items():
        start, each = COSTS_NS[value]
        truth = (100_000 + 200.0 * 3359) / (start + each * 3359)
        assert gain.low < truth < gain.high, value
    assert not changes["FS-INGRES"].switches, "this study has no switch of a file system"
    won = [one for one in winners(tuple(changes.values())) if one.now and one.scale == 3360]
    assert [(one.then, one.now) for one in won] == [("DC-INGRES", "DC-INGRES")]


@pytest.mark.parametrize(("temperature", "beside"), [("@warm", True), ("@cold", False), ("", True)])
def test_a_study_is_warm_and_stands_beside_warm_rows_alone(temperature: str, beside: bool):
    """A table of fixed relations stands at any scale that was run."""
    run = record()
    (table,) = [one for one in run.published["tables"] if one["number"] == "1"][:1]
    rows = [(label, f"{OPERATION}{temperature}", values)
            for label, operation, values in table["rows"] if operation == OPERATION]  # fmt: skip
    fixed = table | {"rows": rows, "scale": 77, "fixed": True}
    changed = replace(run, published=run.published | {"tables": [fixed]})
    (row,) = next(one for one in enhanced(changed, study_map(changed)) if one.rows).rows
    assert row.then
    assert bool(row.now) is beside
    assert row.scale in run.plan.rows


def test_a_benchmark_without_changes_and_one_scale_show_nothing():
    run = record()
    bare = replace(run, presentation=Presentation("Bare"))
    assert not enhanced(bare, study_map(bare))
    plan = replace(run.plan, rows=(3360,), cells=tuple(c for c in run.plan.cells if c.rows == 3360))
    once = replace(run, plan=plan, results=tuple(r for r in run.results if r.cell.rows == 3360))
    assert not break_evens(once, study_map(once))
    assert "When it pays off" not in registry.load_report("html")().render(once).decode()


def test_every_change_of_the_paper_names_tables_and_switches_that_there_are():
    published = IngresBenchmark().published()
    numbers = {table.number: table.systems for table in published.tables}
    for reported in ENHANCEMENTS:
        for number in reported.tables:
            assert {reported.name, reported.before} <= set(numbers[number])
    plan = plan_from({"benchmark": "ingres", "design": "two-ended"}, None).plan
    names = {switch.name for switch in plan.study.switches}
    own = {name for reported in ENHANCEMENTS if reported.command == "loadstone study ingres"
           for name in reported.switches}  # fmt: skip
    assert own <= names
    assert plan.rows == IngresBenchmark.study_scales
    at = {rows: {c.operation for c in plan.cells if c.rows == rows} for rows in plan.rows}
    assert len(at[3360]) == 9
    assert all(len(at[rows]) == 3 for rows in (1, 32760))


def test_a_break_even_that_cannot_be_reported_says_why():
    """An outside check found a study of four values and scales without a word on it."""
    run = record()
    failed = [replace(r, status="invalid") if r.cell.rows != 3360 else r for r in run.results]
    broken = replace(run, results=tuple(failed))
    found = study_map(broken)
    (one,) = unreported(broken, found, break_evens(broken, found))
    assert (one.operation, one.tactic) == (OPERATION, "execution")
    assert (one.amiss, one.cells) == (8, 8)
    for name in ("html", "md"):
        text = registry.load_report(name)().render(broken).decode()
        assert "pays off is not reported" in text, name
        assert "pays off is not reported" not in registry.load_report(name)().render(run).decode()
    found = study_map(run)
    assert not unreported(run, found, break_evens(run, found))
