"""Each rule of the findings fires on a record that holds its claim, and is silent where the claim
is false, where a cell cannot carry it, or where an interval is missing."""

from dataclasses import replace

import pytest
from findings_fixture import MS, Side, found_by, made

from loadstone.analysis.findings import (
    cache,
    cold_reads,
    cold_spent,
    components,
    crossing,
    each_tuple,
    estimates,
    fixed,
    otherwise,
    overhead,
    processors,
    rungs,
    spent,
    steep,
)
from loadstone.analysis.findings.finding import Grade
from loadstone.record.budget import (
    ALL,
    Budget,
    BudgetBlock,
    BudgetPart,
    BudgetRung,
    BudgetThread,
)
from loadstone.record.model import Condition, Term

SLOW, FAST = "duckdb", "sqlite"
HASH, LOOPS = "HASH_JOIN", "SCAN a\nSEARCH b USING INDEX i"


def two(slow: Side, fast: Side | None = None, **more):
    return made({FAST: fast or Side(2.0), SLOW: slow}, **more)


WAITING = two(Side(10.0, cpu=0.2))
COMMIT = two(
    Side(10.0, counts={"commit_ns": lambda ns: ns * 9 // 10}), Side(2.0, counts={"commit_ns": 0})
)
COMPUTING = two(Side(10.0, plan=LOOPS), Side(2.0, plan=HASH))
OTHERWISE = two(Side(10.0, access="heap"), Side(2.0, access="nonclustered"))
TOO_MUCH = two(Side(10.0, access="nonclustered"), Side(2.0, access="heap"))
STEEP = two(Side(10.0, grows=1.6), scales=(10_000, 100_000))
FIXED = two(Side(2.0, fixed_ms=6.0), scales=(10_000, 100_000))
PRICED = two(Side(10.0), scales=(10_000, 100_000), storage="heap")
CROSSING = two(Side(0.5, fixed_ms=6.0), scales=(10_000, 100_000))
READS = two(Side(10.0, counts={"read_bytes": 1 << 24}), temperature="cold")
CACHE = two(
    Side(10.0, counts={"read_bytes": 1 << 20}),
    terms=[Term(SLOW, "cache_bytes", None, "1000000")],
)
SEVERAL = two(Side(3.4), Side(2.0, cpu=1.7, counts={"client_threads": 2}))
ESTIMATE = two(Side(10.0, plan="Seq Scan on t  (cost=0.00..9.00 rows=5000 width=4)"))
AFTER_RESTARTS = {"temperature": "cold"}
COLD_WAITS = two(
    Side(10.0, cpu=0.3, samples=3, counts={"read_bytes": 1 << 21}),
    Side(2.0, samples=3, counts={"read_bytes": 1 << 14}), **AFTER_RESTARTS,
)  # fmt: skip
COLD_LOOPS = two(
    Side(10.0, plan=LOOPS, samples=3), Side(2.0, plan=HASH, samples=3), **AFTER_RESTARTS
)
NULL = (("null", "harness overhead"),)
HARNESS = made({FAST: Side(0.5), SLOW: Side(1.0), "null": Side(0.2)}, roles=NULL)
CLIENT = two(Side(10.0, cpu=0.8, server_cpu=0.1))

FIRES = [
    (spent.find, WAITING, "waiting", Grade.CONSISTENT),
    (spent.find, COMMIT, "commit", Grade.CONSISTENT),
    (spent.find, COMPUTING, "joins by nested loops", Grade.CONSISTENT),
    (spent.find, two(Side(10.0)), "computing", Grade.UNEXPLAINED),
    (spent.find, two(Side(10.0), Side(0.03, cpu=1.4)), "computing", Grade.UNEXPLAINED),
    (otherwise.find, OTHERWISE, "nonclustered not used", Grade.CONSISTENT),
    (otherwise.find, TOO_MUCH, "nonclustered used", Grade.CONSISTENT),
    (steep.find, STEEP, "growth", Grade.UNEXPLAINED),
    (fixed.find, FIXED, "a cost of each statement", Grade.CONSISTENT),
    (crossing.find, CROSSING, crossing.KIND, Grade.CONSISTENT),
    (each_tuple.find, PRICED, "a price of each tuple", Grade.CONSISTENT),
    (cold_reads.find, READS, "reads more than the data", Grade.UNEXPLAINED),
    (cache.find, CACHE, "cache too small", Grade.CONSISTENT),
    (processors.find, SEVERAL, "several processors", Grade.CONSISTENT),
    (estimates.find, ESTIMATE, "too many", Grade.UNEXPLAINED),
    (cold_spent.find, COLD_WAITS, "waiting", Grade.CONSISTENT),
    (cold_spent.find, COLD_LOOPS, "joins by nested loops", Grade.CONSISTENT),
    (
        cold_spent.find,
        two(Side(10.0, samples=3), Side(2.0, samples=3), **AFTER_RESTARTS),
        "computing",
        Grade.UNEXPLAINED,
    ),
    (overhead.find, HARNESS, "harness", Grade.CONSISTENT),
    (overhead.find, CLIENT, "client", Grade.CONSISTENT),
]
"""(rule, a record that holds its claim, the mechanism, the grade)."""


@pytest.mark.parametrize(("rule", "run", "kind", "grade"), FIRES)
def test_a_rule_finds_what_a_record_holds(rule, run, kind, grade) -> None:
    found = found_by(rule, run)
    assert (kind, grade) in {(each.kind, each.grade) for each in found}
    for each in found:
        assert set(each.cells) <= {result.cell.key for result in run.results}
        assert each.sentence.endswith(".")
        assert each.brief


SILENT = [
    ("the slow one computes all the time", spent.find, two(Side(10.0)), "waiting"),
    ("its commit is a small part",
     spent.find, two(Side(10.0, counts={"commit_ns": 1}), Side(2.0, counts={"commit_ns": 1})),
     "commit"),
    ("half waiting, half computing: neither is certainly most",
     spent.find,
     two(Side(10.0, counts={"client_cpu_ns": lambda ns: ns * (5 + 2 * (ns % 2)) // 10})),
     ""),
    ("counters not reported", spent.find, two(Side(10.0, counts={"client_cpu_ns": None})), ""),
    ("a difference too small for the counters", spent.find, two(Side(0.1, cpu=0.1), Side(0.02)),
     ""),
    ("several processors at work", spent.find, two(Side(10.0, cpu=1.8)), ""),
    ("plans that join alike",
     spent.find, two(Side(10.0, plan=HASH), Side(2.0, plan=HASH)), "joins by a hash join"),
    ("the plan uses the structure",
     otherwise.find, two(Side(10.0, access="nonclustered"), Side(2.0, access="nonclustered")), ""),
    ("the fastest does not use it either",
     otherwise.find, two(Side(10.0, access="heap"), Side(2.0, access="heap")), ""),
    ("access that is not reported", otherwise.find, two(Side(10.0), Side(2.0)), ""),
    ("linear growth", steep.find, two(Side(10.0), scales=(10_000, 100_000)), ""),
    ("the difference grows with the data",
     fixed.find, two(Side(10.0), scales=(10_000, 100_000)), ""),
    ("the order turns between the scales", fixed.find, CROSSING, ""),
    ("the same one is faster at both scales", crossing.find, FIXED, ""),
    ("one scale", crossing.find, two(Side(0.5, fixed_ms=6.0)), ""),
    ("cold", crossing.find,
     two(Side(0.5, fixed_ms=6.0), scales=(10_000, 100_000), temperature="cold"), ""),
    ("no difference that is certain at one scale", crossing.find,
     two(Side(1.0, fixed_ms=1.0), scales=(10_000, 100_000)), ""),
    ("the order turns twice", crossing.find,
     two(Side(0.1, fixed_ms=6.0, grows=2.0), scales=(10_000, 100_000, 1_000_000)), ""),
    ("times too scattered for the straight line", fixed.find,
     two(Side(6.0, fixed_ms=3.0), scales=(10_000, 12_000)), ""),
    ("as much as the data", cold_reads.find,
     two(Side(10.0, counts={"read_bytes": 1 << 22}), temperature="cold"), ""),
    ("bytes that are not reported", cold_reads.find, two(Side(10.0), temperature="cold"), ""),
    ("nothing from the device", cache.find, two(Side(10.0, counts={"read_bytes": 0})), ""),
    ("the data fit the cache", cache.find,
     two(Side(10.0, counts={"read_bytes": 1 << 20}),
         terms=[Term(SLOW, "cache_bytes", None, "100000000")]), "cache too small"),
    ("a small part of the ratio", processors.find,
     two(Side(10.0), Side(2.0, cpu=1.5, counts={"client_threads": 2})), ""),
    ("one processor each", processors.find, two(Side(10.0)), ""),
    ("both on several", processors.find,
     two(Side(10.0, cpu=1.9, counts={"client_threads": 8}),
         Side(2.0, cpu=1.9, counts={"client_threads": 8})), ""),
    ("an estimate within a factor of ten", estimates.find,
     two(Side(10.0, plan="Seq Scan on t  (cost=0.00..9.00 rows=500 width=4)")), ""),
    ("an update, whose plan delivers nothing", estimates.find,
     two(Side(10.0, plan="Update on t  (cost=0.00..9.00 rows=0 width=0)"), destination="update"),
     ""),
    ("one scale", each_tuple.find, two(Side(10.0), storage="heap"), ""),
    ("an index may pass tuples over", each_tuple.find,
     two(Side(10.0), scales=(10_000, 100_000)), ""),
    ("a cost that does not grow", each_tuple.find,
     two(Side(2.0, fixed_ms=80.0), scales=(10_000, 100_000), storage="heap"), ""),
    ("less than half grows", each_tuple.find,
     two(Side(2.5, fixed_ms=10.0), scales=(10_000, 20_000), storage="heap"), ""),
    ("cold", each_tuple.find,
     two(Side(10.0), scales=(10_000, 100_000), storage="heap", temperature="cold"), ""),
    ("one scale is not in order", each_tuple.find,
     two(Side(10.0, status="disturbed"), scales=(10_000, 100_000), storage="heap"), ""),
    ("a warm row", cold_spent.find, two(Side(10.0, cpu=0.3, samples=3), Side(2.0, samples=3)), ""),
    ("samples enough for an interval", cold_spent.find,
     two(Side(10.0, cpu=0.3), **AFTER_RESTARTS), ""),
    ("two samples", cold_spent.find,
     two(Side(10.0, cpu=0.3, samples=2), Side(2.0, samples=2), **AFTER_RESTARTS), ""),
    ("a sample of the slowest is as short as one of the fastest", cold_spent.find,
     two(Side(10.0, cpu=0.3, samples=3, scatter=(1.0, 0.2, 1.0)), Side(2.0, samples=3),
         **AFTER_RESTARTS), ""),
    ("neither is most in every pair", cold_spent.find,
     two(Side(10.0, cpu=0.7, samples=3, scatter=(1.0, 1.4, 0.8)), Side(4.0, samples=3),
         **AFTER_RESTARTS), ""),
    ("a difference that reading the counters could make", cold_spent.find,
     two(Side(0.1, cpu=0.1, samples=3), Side(0.02, samples=3), **AFTER_RESTARTS), ""),
    ("processor time that is not reported", cold_spent.find,
     two(Side(10.0, samples=3, counts={"client_cpu_ns": None}), Side(2.0, samples=3),
         **AFTER_RESTARTS), ""),
    ("a small overhead", overhead.find,
     made({FAST: Side(5.0), SLOW: Side(10.0), "null": Side(0.1)}, roles=NULL), ""),
    ("the client sleeps", overhead.find, two(Side(10.0, cpu=0.1, server_cpu=0.8)), ""),
]  # fmt: skip
"""(why the claim is false, rule, record, the mechanism that must not be named; empty: none)."""


@pytest.mark.parametrize(("rule", "run", "kind"), [each[1:] for each in SILENT],
                         ids=[each[0] for each in SILENT])  # fmt: skip
def test_a_rule_is_silent_where_its_claim_is_false(rule, run, kind) -> None:
    named = {each.kind for each in found_by(rule, run)}
    assert kind not in named if kind else not named


def test_an_order_that_turns_says_who_overtakes_whom_between_which_sizes() -> None:
    small, large = found_by(crossing.find, CROSSING)
    overtakes = "duckdb overtakes sqlite between 10,000 and 100,000 tuples"
    assert (small.rows, small.variant, large.rows, large.variant) == (10_000, SLOW, 100_000, FAST)
    assert (
        small.brief == f"{overtakes}: more than all of the difference is a cost of each statement"
    )
    assert large.brief == f"{overtakes}: more than all of the difference grows with the data"
    assert "longer at 10,000" in small.sentence and "shorter at 100,000" in small.sentence
    for each in (small, large):
        # 6.5 and 2 ms, 11 and 20: 4.5 longer, 9 shorter.
        (met,) = [one.figure for one in each.numbers if one.name == "overtakes at"]
        assert met.low < 40_000 < met.high
        assert met.value == pytest.approx(40_000, rel=0.02)
        assert each.answers and len(each.cells) == 4


def test_a_cold_row_says_what_was_read_if_both_report_it() -> None:
    (found,) = found_by(cold_spent.find, COLD_WAITS)
    assert "~5.0" in found.brief
    assert "reads 2.00 MiB" in found.brief and "reads 16.0 KiB" in found.brief
    assert "too few for an interval" in found.sentence
    unreported = two(Side(10.0, cpu=0.3, samples=3, counts={"read_bytes": None}),
                 Side(2.0, samples=3), **AFTER_RESTARTS)  # fmt: skip
    (found,) = found_by(cold_spent.find, unreported)
    assert found.kind == "waiting" and "reads" not in found.brief


def test_a_price_that_cannot_be_measured_is_reported_as_that() -> None:
    run = two(Side(10.0), Side(2.0, grows=0.0), scales=(10_000, 100_000), storage="heap")
    found = found_by(each_tuple.find, run)
    assert found
    assert all("sqlite nothing that can be measured" in each.brief for each in found)


UNFIT = {
    "invalid": lambda result: replace(result, status="invalid"),
    "disturbed": lambda result: replace(result, status="disturbed"),
    "beside other programs, unjudged": lambda result: replace(
        result, condition=Condition(0.0, 0.9, 0.0)
    ),
    "a single sample": lambda result: replace(result, samples=result.samples[:1]),
    "a wrong answer": lambda result: replace(
        result, answers=tuple(replace(each, checksum="f") for each in result.answers)
    ),
}


@pytest.mark.parametrize("spoil", UNFIT.values(), ids=UNFIT.keys())
@pytest.mark.parametrize(("rule", "run", "kind", "grade"), FIRES)
def test_no_finding_stands_on_a_cell_that_cannot_carry_it(rule, run, kind, grade, spoil) -> None:
    spoiled = replace(
        run,
        results=tuple(spoil(each) if each.cell.variant == SLOW else each for each in run.results),
    )
    assert not [each for each in found_by(rule, spoiled) if each.variant == SLOW]


@pytest.mark.parametrize(("rule", "run", "kind", "grade"), FIRES)
def test_unequal_terms_are_said_with_every_finding(rule, run, kind, grade) -> None:
    terms = [
        Term(FAST, "isolation", None, "snapshot"),
        Term(SLOW, "isolation", None, "serializable"),
    ]
    unequal = replace(run, terms=(*run.terms, *terms))
    reported = [each for each in found_by(rule, unequal) if SLOW in (each.variant, each.against)]
    assert reported
    assert all(any("isolation" in term for term in each.terms) for each in reported)


def test_a_variant_that_never_uses_a_structure_is_reported_once() -> None:
    side = Side(10.0, access="heap")
    runs = [made({FAST: Side(2.0, access="nonclustered"), SLOW: side}, operation=name)
            for name in ("select-1%-nonclustered", "select-10%-nonclustered")]  # fmt: skip
    both = replace(
        runs[0],
        plan=replace(runs[0].plan, cells=tuple(c for run in runs for c in run.plan.cells)),
        results=tuple(result for run in runs for result in run.results),
        operations=tuple(text for run in runs for text in run.operations),
    )
    never = [each for each in found_by(otherwise.find, both) if each.kind == "never nonclustered"]
    assert [each.variant for each in never] == [SLOW]
    assert len(never[0].cells) == 2
    assert not [each for each in found_by(otherwise.find, runs[0]) if each.kind.startswith("never")]


def test_a_share_has_an_interval_that_holds_the_truth() -> None:
    (found,) = found_by(spent.find, WAITING)
    share = next(each.figure for each in found.numbers if each.unit == "share")
    truth = (10 * 0.8) / (10 - 2)
    assert share.low is not None and share.high is not None
    assert share.low - 0.02 <= truth <= share.high + 0.02
    longer = next(each.figure for each in found.numbers if each.unit == "ns")
    assert longer.value == pytest.approx(8 * MS, rel=0.1)


def budgeted(slow_parts: dict[str, int], rungs: dict[str, float], **more):
    """Both sides with a budget: the fast one's executor takes 1 ms of 1.1, the slow one's what is
    reported, in samples of 0.1 ms over 100 statements."""

    def of(elapsed_ms: float, parts: dict[str, int], rungs: dict[str, float]) -> Budget:
        sampled_ns = sum(parts.values()) * 100_000
        return Budget(
            sampled=more.get("sampled", ALL), reason="", period_ns=100_000, statements=100,
            elapsed_ns=round(elapsed_ms * MS * 100), reading_ns=0, lost=0,
            threads=(BudgetThread(False, True, "python", sampled_ns, 0),),
            parts=tuple(BudgetPart(False, name, "so", "f", "", count)
                        for name, count in parts.items()),
            blocks=tuple(BudgetBlock(block, rung, 10, round(ms * MS) + block * 10)
                         for block in range(8) for rung, ms in rungs.items()),
        )  # fmt: skip

    small = {"empty": 0.1, "constant": 0.2, "planned": 0.3, "counted": 1.0, "uncommitted": 1.5,
             "whole": 2.0}  # fmt: skip
    run = two(Side(10.0))
    beside = more.get("fast", small)
    made_budgets = {SLOW: of(10.4, slow_parts, rungs), FAST: of(2.08, {"executor": 2080}, beside)}
    return replace(run, results=tuple(
        replace(each, budget=made_budgets[each.cell.variant]) for each in run.results
    ))  # fmt: skip


PLANNER = {"executor": 2400, "planner": 8000}
LADDER = {"empty": 0.1, "constant": 0.2, "planned": 8.0, "counted": 8.9, "uncommitted": 9.4,
          "whole": 10.0}  # fmt: skip


def test_a_budget_names_the_component_and_the_rung() -> None:
    run = budgeted(PLANNER, LADDER)
    (component,) = found_by(components.find, run)
    assert (component.kind, component.grade) == ("planner", Grade.CONSISTENT)
    (rung,) = found_by(rungs.find, run)
    assert rung.kind == "parsing and planning"
    share = next(each.figure for each in rung.numbers if each.unit == "share")
    assert share.value == pytest.approx((7.8 - 0.1) / 8.3, abs=0.05)


def test_what_is_only_computing_says_how_to_see_more_unless_that_was_measured() -> None:
    (bare,) = found_by(spent.find, two(Side(10.0)))
    assert (bare.kind, bare.grade) == ("computing", Grade.UNEXPLAINED)
    assert "--budget" in bare.sentence
    (seen,) = found_by(spent.find, budgeted(PLANNER, LADDER))
    assert seen.kind == "computing" and "--budget" not in seen.sentence


def test_a_budget_names_time_off_the_processor() -> None:
    (found,) = found_by(components.find, budgeted({"executor": 2400, "planner": 1000}, EVEN))
    assert found.kind.startswith("asleep")


def without(rung, run, variant):
    """The record where an engine has no such rung."""

    def less(budget):
        return replace(budget, blocks=tuple(one for one in budget.blocks if one.rung != rung))

    return replace(run, results=tuple(
        replace(each, budget=less(each.budget)) if each.cell.variant == variant else each
        for each in run.results
    ))  # fmt: skip


def test_a_rung_that_the_slowest_lacks_is_passed_over_on_both() -> None:
    """The work that both do up to the next rung is compared."""
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, LADDER), SLOW))
    assert found.kind == "parsing and planning, and finding the rows"
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((8.7 - 0.8) / 8.3, abs=0.05)


def test_a_rung_that_the_fastest_lacks_takes_it_no_longer_than_the_step_over_it() -> None:
    """A statement that stays prepared is not planned, and up to its rows takes 0.8 ms."""
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, LADDER), FAST))
    assert found.kind == "parsing and planning"
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((7.8 - 0.8) / 8.3, abs=0.05)
    assert share.low <= share.value <= share.high


def test_a_step_that_could_be_as_long_beside_names_no_rung_alone() -> None:
    """Planning takes the slowest 4.5 of 8 ms, and the fastest, which shows none, up to 1.8."""
    slow = {"empty": 0.1, "constant": 0.2, "planned": 4.7, "counted": 8.9, "uncommitted": 9.4,
            "whole": 10.0}  # fmt: skip
    fast = {"empty": 0.1, "constant": 0.2, "planned": 0.9, "counted": 2.0, "uncommitted": 2.0,
            "whole": 2.0}  # fmt: skip
    (found,) = found_by(rungs.find, without("planned", budgeted(PLANNER, slow, fast=fast), FAST))
    assert found.kind == "parsing and planning, and finding the rows"


def test_a_rung_that_is_planned_otherwise_is_passed_over() -> None:
    plan = BudgetRung("counted", "SELECT COUNT(*) …", "SCAN t USING COVERING INDEX i", "")
    counting = {"empty": 0.1, "constant": 0.2, "planned": 0.4, "counted": 9.0, "uncommitted": 9.3,
                "whole": 10.0}  # fmt: skip
    run = budgeted({"executor": 10400}, counting)
    other = replace(run, results=tuple(
        replace(each, budget=replace(each.budget, rungs=(plan,))) for each in run.results
    ))  # fmt: skip
    assert [each.kind for each in found_by(rungs.find, run)] == ["finding the rows"]
    (found,) = found_by(rungs.find, other)
    assert found.kind == "finding the rows, and writing the relation"


EVEN = {"empty": 0.1, "constant": 2.0, "planned": 4.0, "counted": 6.0, "uncommitted": 8.0,
        "whole": 10.0}  # fmt: skip


def test_components_that_share_a_difference_are_named_together_the_fewest_that_are_most() -> None:
    three = {"executor": 4400, "planner": 3000, "access method": 3000}
    (found,) = found_by(components.find_together, budgeted(three, EVEN))
    assert (found.kind, found.grade) == ("access method and planner", Grade.CONSISTENT)
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx(6.0 / 8.32, abs=0.05)
    four = {"executor": 2080, "unclassified": 2320, "planner": 2000, "access method": 2000,
            "log": 2000}  # fmt: skip
    (found,) = found_by(components.find_together, budgeted(four, EVEN))
    assert found.kind == "access method, log and planner"
    assert not found_by(components.find_together, budgeted(PLANNER, EVEN)), "one alone is most"


def test_a_component_that_may_take_the_fastest_as_long_is_not_named_with_others() -> None:
    """The executor's 0.08 ms more are within chance; with them, planner and log would be most."""
    chance = {"executor": 2155, "unclassified": 4050, "planner": 2400, "log": 1795}
    certain = {"executor": 2480, "unclassified": 3725, "planner": 2400, "log": 1795}
    assert not found_by(components.find_together, budgeted(chance, EVEN))
    assert found_by(components.find_together, budgeted(certain, EVEN))


def test_a_program_is_not_said_to_take_what_is_around_its_loop() -> None:
    parts = {"executor": 2080, "unclassified": 2320, "kernel: files": 4000, "log": 2000}
    run = budgeted(parts, EVEN)
    program = replace(run, results=tuple(
        replace(each, samples=tuple(replace(one, calls=5) for one in each.samples))
        for each in run.results
    ))  # fmt: skip
    (found,) = found_by(components.find_together, run)
    assert found.kind == "kernel: files and log"
    assert not found_by(components.find_together, program)


def test_components_that_no_three_of_are_most_are_not_named_together() -> None:
    many = {"executor": 2400} | {f"part {number}": 1000 for number in range(8)}
    assert not found_by(components.find_together, budgeted(many, EVEN))
    unknown = {"executor": 2400, "planner": 1000, "log": 1000, "unclassified": 6000}
    assert not found_by(components.find_together, budgeted(unknown, EVEN))
    assert not found_by(components.find_together, two(Side(10.0)))


@pytest.mark.parametrize(
    ("parts", "more"),
    [
        ({"executor": 4400, "planner": 3000, "access method": 3000}, {}),
        ({"executor": 2400, "unclassified": 8000}, {}),
        (PLANNER, {"sampled": "programs"}),
    ],
)
def test_a_budget_that_cannot_carry_it_names_no_component(parts, more) -> None:
    assert not found_by(components.find, budgeted(parts, EVEN, **more))


def test_rungs_that_share_a_difference_name_none() -> None:
    assert not found_by(rungs.find, budgeted(PLANNER, EVEN))
    assert not found_by(rungs.find, two(Side(10.0)))
    assert not found_by(components.find, two(Side(10.0)))


def test_steps_that_share_a_difference_are_named_together_the_fewest_that_are_most() -> None:
    both = {"empty": 0.1, "constant": 0.2, "planned": 4.2, "counted": 8.2, "uncommitted": 9.0,
            "whole": 10.0}  # fmt: skip
    run = budgeted(PLANNER, both)
    assert not found_by(rungs.find, run)
    (found,) = found_by(rungs.find_together, run)
    assert (found.kind, found.grade) == (
        "parsing and planning, and finding the rows", Grade.CONSISTENT
    )  # fmt: skip
    share = next(each.figure for each in found.numbers if each.unit == "share")
    assert share.value == pytest.approx((8.0 - 0.8) / 8.3, abs=0.05)
    assert not found_by(rungs.find_together, budgeted(PLANNER, LADDER)), "one alone is most"
    assert not found_by(rungs.find_together, budgeted(PLANNER, {"empty": 5.0, "whole": 10.0}))
