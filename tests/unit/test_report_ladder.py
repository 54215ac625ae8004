"""The cost ladder: rungs and what is unexplained sum up to the whole, and nothing is hidden."""

from dataclasses import replace

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run

from loadstone import registry
from loadstone.analysis.components import Account
from loadstone.analysis.ladder import Argument, Ladder, ladders
from loadstone.analysis.summary import summarise
from loadstone.benchmarks.oo1.presentation import LADDER
from loadstone.record.model import Run
from loadstone.report.ladder_words import difference, ladder_sections
from loadstone.statistics.arithmetic import less, over, total
from loadstone.statistics.estimate import Estimate


def ladders_of(run: Run) -> dict[str, Ladder]:
    return {ladder.variant: ladder for ladder in ladders(summarise(run))}


def account_of(ladder: Ladder, name: str) -> Account:
    return next(account for account in ladder.accounts if account.name == name)


def without(run: Run, *operations: str) -> Run:
    kept = tuple(cell for cell in run.plan.cells if cell.operation not in operations)
    results = tuple(r for r in run.results if r.cell.operation not in operations)
    return replace(run, plan=replace(run.plan, cells=kept), results=results)


@pytest.mark.parametrize("left_out", [(), ("group",), ("lookup-batch",), ("group", "constant")])
def test_parts_and_unexplained_sum_up_to_the_whole(left_out: tuple[str, ...]) -> None:
    for ladder in ladders_of(without(make_oo1_run(), *left_out)).values():
        assert {account.name for account in ladder.accounts} == {
            "a look-up",
            "a step of a traversal",
            "a part inserted",
        }
        for account in ladder.accounts:
            parts = [part.elapsed_ns.value for part in account.parts]
            summed = sum(parts) + account.unexplained_ns.value
            assert summed == pytest.approx(account.whole_ns.value, rel=1e-12)
            if account.by_difference:
                assert account.unexplained_ns.value == pytest.approx(0, abs=1e-6)


def test_the_rest_of_a_look_up_is_printed() -> None:
    account = account_of(ladders_of(make_oo1_run())["postgresql"], "a look-up")
    assert [part.name for part in account.parts] == [
        "call", "wire", "statement", "transfer of a value", "access and materialisation",
    ]  # fmt: skip
    statement = next(part for part in account.parts if part.name == "statement")
    assert statement.elapsed_ns.value == pytest.approx(14_000 - 1.7 - 9_000)
    # 16,000 ns less 14,500 up to the constant and 1,400 that one row takes in one call.
    assert account.unexplained_ns.value == pytest.approx(100, abs=1)
    assert not account.by_difference
    markdown = registry.load_report("md")().render(make_oo1_run()).decode()
    line = next(line for line in markdown.splitlines() if line.startswith("| unexplained"))
    assert "100 ns (0.62 %)" in line


def counted(run: Run, variant: str, operation: str, **counts: int | None) -> Run:
    """The same run, in which a program counted something else."""
    results = tuple(
        replace(r, samples=tuple(replace(sample, **counts) for sample in r.samples))
        if (r.cell.variant, r.cell.operation) == (variant, operation)
        else r
        for r in run.results
    )
    return replace(run, results=results)


def test_a_whole_that_its_parts_exceed_is_not_taken_apart() -> None:
    """A step of 0.43 us cannot be made of thirty statements of 24 ns."""
    run = counted(make_oo1_run(), "sqlite", "traversal", statements=30 * 3_280)
    ladder = ladders_of(run)["sqlite"]
    assert "a step of a traversal" not in {account.name for account in ladder.accounts}
    assert dict(ladder.unclosed)["a step of a traversal"].startswith("its calls at the price")
    tables = {table.title: table for table in ladder_sections(summarise(run))[0].accounts}
    rows = dict(tables["Components of a step of a traversal"].rows)
    (place,) = (at for at, one in enumerate(ladders(summarise(run))) if one.variant == "sqlite")
    assert rows["unexplained"][place].text == "not taken apart"
    assert rows["statement"][place].text == "\N{EN DASH}"


def test_no_account_leaves_more_than_a_quarter_of_the_whole_unexplained() -> None:
    for ladder in ladders_of(make_oo1_run()).values():
        for account in ladder.accounts:
            assert account.closes
            assert abs(account.share(account.unexplained_ns)) <= 0.25
            assert account.share(account.parts[-1].elapsed_ns) >= 0
    spoiled = make_oo1_run()
    results = tuple(
        replace(r, samples=tuple(replace(s, elapsed_ns=9 * s.elapsed_ns) for s in r.samples))
        if (r.cell.variant, r.cell.operation) == ("postgresql", "lookup-batch")
        else r
        for r in spoiled.results
    )
    account = account_of(ladders_of(replace(spoiled, results=results))["postgresql"], "a look-up")
    assert account.by_difference, (
        "a batch that takes nine tenths of the look-ups is no part of them"
    )


def test_calls_are_those_that_were_counted() -> None:
    run = counted(make_oo1_run(), "postgresql", "traversal", statements=1_094)
    assert ladders_of(run)["postgresql"].arguments[1].calls == 1_000 + 1_094 + 202
    assert ladders_of(make_oo1_run())["zodb"].arguments[1].calls == 1_000 + 4_373 + 100
    assert ladders_of(make_oo1_run())["zodb"].arguments[1].unit == "calls"
    unreported = counted(make_oo1_run(), "postgresql", "lookup", calls=None)
    assert ladders_of(unreported)["postgresql"].arguments == ()


def test_a_part_by_difference_says_so() -> None:
    ladder = ladders_of(make_oo1_run())["memory"]
    account = account_of(ladder, "a look-up")
    assert account.by_difference
    assert account.parts[-1].of.startswith("the rest")
    table = ladder_sections(summarise(make_oo1_run()))[0].accounts[0]
    cells = dict(table.rows)["unexplained"]
    (memory,) = (place for place, name in enumerate(table.headings[1:]) if "memory" in name)
    assert cells[memory].text == "not separated"
    assert cells[1].text != "not separated"


def test_each_rung_is_over_the_nearest_below_that_was_measured() -> None:
    found = ladders_of(make_oo1_run())
    names = {step.operation: step.name for step in LADDER.steps}
    server = {rung.step.operation: rung for rung in found["postgresql"].rungs}
    assert server["empty"].below == names["nothing"]
    assert server["empty"].beyond_ns.value == pytest.approx(14_000 - 1.7)
    assert server["traversal"].each_ns.value == pytest.approx(68e6 / 3280)
    memory = {rung.step.operation: rung for rung in found["memory"].rungs}
    assert (memory["empty"].each_ns, memory["empty"].status) == (None, "gap")
    assert memory["lookup"].below == names["nothing"]


def test_a_way_that_was_not_measured_stays_with_the_statement() -> None:
    run = make_oo1_run()
    names = {part.name for part in account_of(ladders_of(run)["sqlite"], "a look-up").parts}
    assert "statement" in names
    assert "wire" not in names
    unreported = replace(run, terms=tuple(t for t in run.terms if t.key != "round_trip_ns"))
    elsewhere = replaced(unreported, "postgresql", "postgresql://db.example")
    account = account_of(ladders_of(elsewhere)["postgresql://db.example"], "a look-up")
    assert account.parts[1].name == "wire and statement"


def test_a_hop_that_brings_the_parts_is_a_third_of_the_calls() -> None:
    run = counted(make_oo1_run(), "postgresql", "traversal", statements=1_094, round_trips=1_094)
    account = account_of(ladders_of(run)["postgresql"], "a step of a traversal")
    value = next(part for part in account.parts if part.name == "transfer of a value")
    assert value.elapsed_ns.value == pytest.approx(500 / 3, rel=0.01)
    assert account.by_difference
    assert account.unexplained_ns.value == pytest.approx(0, abs=1e-6)


def replaced(run: Run, variant: str, name: str) -> Run:
    """The same run with a variant of another name."""

    def named(cell):
        return replace(cell, variant=name) if cell.variant == variant else cell

    plan = replace(
        run.plan,
        variants=tuple(name if one == variant else one for one in run.plan.variants),
        cells=tuple(map(named, run.plan.cells)),
    )
    return replace(
        run,
        plan=plan,
        results=tuple(replace(result, cell=named(result.cell)) for result in run.results),
        terms=tuple(replace(t, variant=name) if t.variant == variant else t for t in run.terms),
    )


def test_an_invalid_rung_is_compared_with_nothing() -> None:
    run = make_oo1_run()
    spoiled = tuple(
        replace(result, status="invalid", reason="the client was busy")
        if (result.cell.operation, result.cell.variant) == ("constant", "postgresql")
        else result
        for result in run.results
    )
    ladder = ladders_of(replace(run, results=spoiled))["postgresql"]
    rungs = {rung.step.operation: rung for rung in ladder.rungs}
    assert (rungs["constant"].each_ns, rungs["constant"].status) == (None, "invalid")
    assert rungs["lookup"].below == "an empty statement"
    assert ladder.arguments[0].rung.operation == "empty"


def test_calls_explain_the_server_and_nothing_in_process() -> None:
    found = ladders_of(make_oo1_run())
    server, total_of_server = found["postgresql"].arguments
    assert server.share.value == pytest.approx(14.5 / 16)
    assert server.grade == "its calls explain it"
    assert total_of_server.calls == 1_000 + 4_373 + 202
    assert total_of_server.share.value == pytest.approx(5_575 * 14.5 / 106_000)
    for variant in ("memory", "sqlite", "zodb"):
        assert found[variant].arguments[0].grade == "calls do not explain it"


@pytest.mark.parametrize(
    ("value", "low", "grade"),
    [
        (0.95, 0.9, "its calls explain it"),
        (0.95, 0.7, "mostly calls"),
        (0.95, None, "its calls explain it"),
        (0.4, 0.3, "calls do not explain it"),
        (1.4, 1.3, "so one of them cost less there than this rung, which explains nothing"),
    ],
)
def test_the_grade_is_what_the_interval_allows(value: float, low: float, grade: str) -> None:
    share = Estimate(value, low, 1.0)
    assert Argument("x", 1, "calls", LADDER.steps[0], share, share, share).grade == grade


def test_bounds_of_what_was_measured_apart_are_at_their_worst() -> None:
    a, b = Estimate(10.0, 8.0, 13.0), Estimate(4.0, 3.0, 6.0)
    assert total([a, b]) == Estimate(14.0, 11.0, 19.0)
    assert less(a, b) == Estimate(6.0, 2.0, 10.0)
    assert over(a, b) == Estimate(2.5, 8.0 / 6.0, 13.0 / 3.0)
    assert less(a, Estimate(4.0)) == Estimate(6.0)


def test_differences_have_a_sign() -> None:
    assert difference(19.1) == "+19.1 ns"
    assert difference(-130.0) == "−130 ns"  # noqa: RUF001
    assert difference(0.0) == "+0"


def test_a_benchmark_without_rungs_has_no_ladder() -> None:
    assert ladders(summarise(make_run(FEW))) == ()
    assert b'id="ladder"' not in registry.load_report("html")().render(make_run(FEW))


def test_every_format_has_the_ladder() -> None:
    run = make_oo1_run()
    for name in ("html", "md"):
        text = registry.load_report(name)().render(run).decode()
        assert "a part looked up" in text
        assert "1,000 statements of 14.5 µs" in text
    assert b'"unexplained_ns"' in registry.load_report("json")().render(run)


def test_the_commit_is_reported_apart_only_where_every_sample_has_it() -> None:
    run = make_oo1_run()
    account = account_of(ladders_of(run)["postgresql"], "a part inserted")
    commit = next(part for part in account.parts if part.name == "commit")
    assert account.share(commit.elapsed_ns) == pytest.approx(0.6, rel=0.01)
    results = tuple(
        replace(r, samples=(replace(r.samples[0], commit_ns=None), *r.samples[1:]))
        if r.cell.operation == "insert" and r.samples
        else r
        for r in run.results
    )
    accounts = ladders_of(replace(run, results=results))["postgresql"].accounts
    assert "a part inserted" not in {account.name for account in accounts}
