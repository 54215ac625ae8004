"""A paper's CPU times stand beside CPU times, and the columns that it derived from its systems
beside the same of today."""

import json
from dataclasses import replace

import pytest
from budget_fixture import budget
from report_fixture import make_run

from loadstone import registry
from loadstone.analysis.measured import Today
from loadstone.analysis.published import Comparison, comparisons
from loadstone.analysis.summary import summarise
from loadstone.benchmarks.idm.benchmark import IdmBenchmark
from loadstone.benchmarks.ingres.benchmark import IngresBenchmark
from loadstone.record.budget import BudgetPart
from loadstone.record.model import Run
from loadstone.report.paper_words import derived_cells
from loadstone.statistics.disturbance import COUNTED_NS_MIN
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.time_budget import wilson

MINUS = "\N{MINUS SIGN}"
OPERATION = "select-1%-heap"
SERVED = "postgresql://somewhere/db"
ELAPSED_NS, SERVER_NS = 40_000_000, 7_000_000
CPU_NS = {"sqlite": 20_000_000, "duckdb": 10_000_000, "postgresql?parallelism=2": 3_000_000}
"""Of a client, by variant; PostgreSQL's server takes SERVER_NS besides."""
DERIVED = {"name": "improvement", "kind": "gain", "before": "INGRES", "after": "DC-INGRES",
           "printed": {"a query": 10.0}}  # fmt: skip


def table(**more) -> dict:
    rows = [["a query", OPERATION, {"DC-INGRES": 6.0, "INGRES": 9.0}]]
    return {"number": "2", "title": "Compiled", "unit": "s", "systems": ["DC-INGRES", "INGRES"],
            "rows": rows, "scale": 10_000, "derived": [DERIVED]} | more  # fmt: skip


def run_of(*tables: dict, client_ns=CPU_NS, server_ns: int | None = SERVER_NS) -> Run:
    """One warm operation of known times; SQLite is INGRES and DuckDB is DC-INGRES."""
    run = make_run((OPERATION,), scales=(10_000,))
    results = tuple(
        replace(
            result,
            samples=tuple(
                replace(
                    sample,
                    elapsed_ns=ELAPSED_NS * (2 if result.cell.variant == "sqlite" else 1),
                    client_cpu_ns=client_ns.get(result.cell.variant, 1_000),
                    server_cpu_ns=server_ns if "postgresql" in result.cell.variant else None,
                )
                for sample in result.samples
            ),
        )
        for result in run.results
    )
    words = replace(run.presentation, reimplemented={"INGRES": "sqlite", "DC-INGRES": "duckdb"})
    published = {"citation": "A paper", "tables": tables, "systems": {}}
    return replace(run, results=results, presentation=words, published=published)


def table_of(run: Run) -> Comparison:
    found = comparisons(summarise(run))
    assert found is not None
    return found.tables[0]


def test_a_papers_cpu_time_stands_beside_that_of_client_and_server() -> None:
    shown = table_of(run_of(table(quantity="cpu"))).rows[0].measured
    assert shown["sqlite"].cpu_ns.value == 20_000_000
    assert shown["postgresql?parallelism=2"].cpu_ns.value == 3_000_000 + SERVER_NS
    assert all(one.elapsed_ns is None for one in shown.values())
    assert shown["sqlite"].ratio.value == 2.0
    elapsed = table_of(run_of(table())).rows[0].measured
    assert elapsed["duckdb"].elapsed_ns.value == ELAPSED_NS
    assert all(one.cpu_ns is None for one in elapsed.values())


def test_a_heading_names_what_a_tables_times_are() -> None:
    for quantity, words in {"cpu": "s of CPU time", "elapsed": "s elapsed"}.items():
        run = run_of(table(quantity=quantity))
        text = registry.load_report("md")().render(run).decode()
        assert f"Table 2. Compiled; {words}, as printed" in text
        page = registry.load_report("html")().render(run).decode()
        assert f">{words}, as printed</th>" in page
        drawn = {"cpu": "CPU time", "elapsed": "elapsed time"}[quantity]
        assert f"Table 2. Compiled: {drawn}, published and measured" in page
        (reported,) = json.loads(registry.load_report("json")().render(run))["paper"]["tables"]
        assert reported["quantity"] == quantity


def test_a_server_that_nobody_counts_has_no_cpu_time() -> None:
    run = run_of(table(quantity="cpu"))
    cells = tuple(
        replace(cell, variant=SERVED) if cell.variant == "duckdb" else cell
        for cell in run.plan.cells
    )
    results = tuple(
        replace(result, cell=replace(result.cell, variant=SERVED))
        if result.cell.variant == "duckdb"
        else result
        for result in run.results
    )
    variants = tuple(SERVED if one == "duckdb" else one for one in run.plan.variants)
    plan = replace(run.plan, cells=cells, variants=variants)
    served = replace(run, plan=plan, results=results)
    assert table_of(served).rows[0].measured[SERVED].text == "the server's is not counted"
    for name in ("md", "html"):
        assert "the server&#39;s is not counted" in registry.load_report(name)().render(
            served
        ).decode().replace("server's", "server&#39;s")


def test_a_sample_without_a_count_has_no_cpu_time() -> None:
    shown = table_of(run_of(table(quantity="cpu"), client_ns={"sqlite": None})).rows[0].measured
    assert (shown["sqlite"].text, shown["sqlite"].quantity) == ("not counted", None)


def test_a_cpu_time_that_is_mostly_counting_is_a_bound_and_is_not_ranked() -> None:
    short = CPU_NS | {"duckdb": COUNTED_NS_MIN - 1}
    row = table_of(run_of(table(quantity="cpu"), client_ns=short)).rows[0]
    assert row.measured["duckdb"].text == "≤ 200 µs"
    assert row.measured["duckdb"].ratio is None
    assert row.measured["postgresql?parallelism=2"].best
    assert row.derived[0].unknown == "too short to count"
    just = CPU_NS | {"duckdb": COUNTED_NS_MIN}
    assert table_of(run_of(table(quantity="cpu"), client_ns=just)).rows[0].measured["duckdb"].best


@pytest.mark.parametrize(
    ("kind", "recomputed", "today"),
    [("gain", 50.0, 100.0), ("loss", -50.0, -100.0), ("ratio", 1.5, 2.0), ("saved", 3.0, 4e7)],
)
def test_a_derived_column_is_printed_recomputed_and_of_today(kind, recomputed, today) -> None:
    found = table_of(run_of(table(derived=[DERIVED | {"kind": kind}])))
    (cell,) = found.rows[0].derived
    assert cell.printed == "10.0"
    assert cell.recomputed == pytest.approx(recomputed)
    assert cell.today.value == pytest.approx(today)
    assert cell.today.low <= cell.today.value <= cell.today.high
    assert found.derived[0].today == ("sqlite", "duckdb")


def test_what_is_saved_is_of_the_pairs_as_the_ratio_beside_it() -> None:
    """Of two sides that both take twice as long in half of the blocks each pair differs by a tenth;
    the medians' bounds span both halves."""
    run = run_of(table(derived=[DERIVED | {"kind": "saved"}]))
    results = []
    for result in run.results:
        samples = tuple(
            replace(sample, elapsed_ns=ELAPSED_NS * (1 + number % 2) + late)
            for number, sample in enumerate(result.samples)
            for late in [ELAPSED_NS // 10 if result.cell.variant == "sqlite" else 0]
        )
        results.append(replace(result, samples=samples))
    (cell,) = table_of(replace(run, results=tuple(results))).rows[0].derived
    tenth = pytest.approx(ELAPSED_NS / 10)
    assert (cell.today.low, cell.today.value, cell.today.high) == (tenth, tenth, tenth)


def test_a_quotient_of_disturbed_times_has_its_bounds() -> None:
    ratio = Estimate(1.63, 0.12, 14.0)
    assert Today("disturbed", quotient=ratio).interval == "0.120 … 14.0"
    assert Today("disturbed", quotient=Estimate(1.63)).interval == "disturbed"
    assert Today("ok", quotient=ratio).interval == ""


def test_a_printed_value_that_follows_from_its_times_is_not_printed_twice() -> None:
    for printed, same in {50.0: True, 50.04: False, 49.9: False}.items():
        (cell,) = (
            table_of(run_of(table(derived=[DERIVED | {"printed": {"a query": printed}}])))
            .rows[0]
            .derived
        )
        assert (cell.recomputed is None) is same, printed


def test_a_derived_column_of_cpu_times_is_of_cpu_times_today() -> None:
    client_ns = CPU_NS | {"sqlite": 30_000_000}
    (cell,) = table_of(run_of(table(quantity="cpu"), client_ns=client_ns)).rows[0].derived
    assert cell.today.value == pytest.approx(200.0)


def test_derived_columns_are_in_every_format() -> None:
    run = run_of(table())
    text = registry.load_report("md")().render(run).decode()
    text = text.replace(MINUS, "-")
    assert "improvement: (INGRES - DC-INGRES) / DC-INGRES, %, as printed" in text
    assert "today: (sqlite - duckdb) / duckdb, %" in text
    assert "| 10.0 (recomputed 50.0) | 100 (100 … 100) |" in text
    page = registry.load_report("html")().render(run).decode()
    assert '<td class="derived">10.0 (recomputed 50.0)</td>' in page
    assert '<td class="derived">100 (100 … 100)</td>' in page
    (reported,) = json.loads(registry.load_report("json")().render(run))["paper"]["tables"]
    assert reported["rows"][0]["derived"][0]["today"]["value"] == pytest.approx(100)


def test_without_both_variants_the_options_to_add_are_named() -> None:
    run = run_of(table())
    words = replace(run.presentation, reimplemented={"INGRES": "sqlite", "DC-INGRES": "lode?a=b"})
    found = table_of(replace(run, presentation=words))
    assert found.derived[0].today is None
    assert found.note.endswith("For today's derived columns add --on 'lode?a=b'.")


def test_nine_tenths_of_set_44_are_of_the_sampled_interpreter() -> None:
    """800 samples of 250 us over 100 statements, of which 80 found the interpreter."""
    pattern = next(
        column.functions[0]
        for one in IdmBenchmark().published().tables
        for column in one.derived
        if column.kind == "sampled"
    )
    column = {"name": "SET 44", "kind": "sampled", "before": "INGRES", "after": "DC-INGRES",
              "printed": {"a query": 2.8}, "factor": 0.9, "functions": [pattern]}  # fmt: skip
    run = run_of(table(derived=[column]))
    assert table_of(run).rows[0].derived[0].unknown == "add --budget"
    names = {"lode_query::execution::interpreted::machine::run": 60,
             "<lode_query::execution::interpreted::Machine as X>::y": 20,
             "lode_query::execution::rows::next": 500}  # fmt: skip
    parts = tuple(BudgetPart(False, "engine", "lode", name, "", n) for name, n in names.items())
    sampled = replace(budget(), parts=parts)
    results = tuple(
        replace(one, budget=sampled) if one.cell.variant == "sqlite" else one for one in run.results
    )
    (cell,) = table_of(replace(run, results=results)).rows[0].derived
    each_ns = 0.9 * sampled.period_ns / sampled.statements
    low, high = (share * 580 * each_ns for share in wilson(80, 580))
    assert cell.today.value == pytest.approx(80 * each_ns)
    assert (cell.today.low, cell.today.high) == pytest.approx((low, high))
    assert cell.printed == "2.8"
    nothing = tuple(
        replace(one, budget=replace(sampled, statements=0)) if one.budget else one
        for one in results
    )
    assert table_of(replace(run, results=nothing)).rows[0].derived[0].unknown == "not sampled"
    unprinted = run_of(table(derived=[column | {"printed": {}}]))
    assert not table_of(unprinted).rows[0].derived[0].unknown


QUERY = "lode_query::execution"


def of_set_44(run: Run, parts: dict[str, int]) -> str:
    """The words of today's cell, where the sampler saw these functions so often."""
    printed = {"kind": "sampled", "name": "SET 44", "before": "INGRES", "after": "DC-INGRES",
               "printed": {"a query": 2.8}, "functions": [f"{QUERY}::interpreted"]}  # fmt: skip
    counted = tuple(BudgetPart(False, "engine", "lode", name, "", n) for name, n in parts.items())
    sampled = replace(budget(), parts=counted)
    results = tuple(
        replace(one, budget=sampled) if one.cell.variant == "sqlite" else one for one in run.results
    )
    published = run_of(table(derived=[printed])).published
    found = table_of(replace(run, results=results, published=published))
    return derived_cells(found.rows[0], found)[-1]


def test_a_function_that_few_samples_did_not_meet_is_not_said_to_take_nothing() -> None:
    """Six statements of 2 ms had four samples, none of the interpreter: 0.0 ms was printed."""
    run = run_of(table())
    seldom = of_set_44(run, {"lode_query::execution::rows::next": 4})
    often = of_set_44(run, {"lode_query::execution::rows::next": 4_000})
    assert seldom.startswith("none seen, at most ")
    assert often.startswith("none seen, at most ")
    assert seldom != often
    assert of_set_44(run, {}) == "not sampled"


def test_a_function_without_a_name_may_be_one_of_those_counted() -> None:
    run = run_of(table())
    met = "lode_query::execution::interpreted::machine::run"
    without = of_set_44(run, {met: 10, "lode_query::execution::rows::next": 40})
    with_some = of_set_44(run, {met: 10, "lode_query::execution::rows::next": 32, "": 8})
    assert without.split(" … ")[0] == with_some.split(" … ")[0]
    assert without != with_some


def test_the_operations_with_a_sampled_time_are_those_of_its_rows() -> None:
    assert IdmBenchmark().published().sampled_operations == {
        "count-words", "count-long", "count-long-with-s", "append-word", "replace-word",
        "replace-all-with-s",
    }  # fmt: skip
    assert not IngresBenchmark().published().sampled_operations


def test_a_quotient_of_two_operations_is_no_time() -> None:
    run = make_run((OPERATION, "select-10%-heap"), scales=(10_000,))
    rows = [["costs", f"select-10%-heap/{OPERATION}", {"DC-INGRES": 1.1}]]
    ten = table(number="10", unit="ratio", systems=["DC-INGRES"], rows=rows, derived=[])
    found = replace(run, published={"citation": "", "tables": [ten], "systems": {}})
    whole = summarise(found)
    figures = {row.operation.name: row.figures for row in whole.views[0].all_rows}
    shown = table_of(found).rows[0].measured["sqlite"]
    above, below = (
        figures[name]["sqlite"].elapsed_ns.value for name in ("select-10%-heap", OPERATION)
    )
    assert shown.quotient.value == pytest.approx(above / below)
    assert shown.quantity is None
    assert table_of(found).measured
    text = registry.load_report("md")().render(found).decode()
    assert f"| 1.1 | {shown.text} |" in text
    assert registry.load_report("html")().render(found)


def test_the_papers_of_ingres_and_idm_have_their_derived_columns() -> None:
    ingres = IngresBenchmark().published().tables
    assert {one.number for one in ingres if one.quantity == "cpu"} == {"2", "6", "9"}
    for one in ingres:
        if one.number in {"1", "2", "5", "6", "9"}:
            (column,) = one.derived
            assert set(column.printed) == {row[0] for row in one.rows}
            assert (column.before, column.kind) == ("INGRES", "gain")
    assert set(IngresBenchmark().presentation().reimplemented) < set(
        IngresBenchmark().published().systems
    )
    derived = {one.number: [column.name for column in one.derived]
               for one in IdmBenchmark().published().tables}  # fmt: skip
    assert derived["1 to 6"] == ["Tables 7 to 9"]
    assert derived["of test 5"] == ["factor", "saved", "nine tenths of SET 44"]
    assert len(derived["of test 11"]) == 4
