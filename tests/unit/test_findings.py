"""Each rule of the findings fires on a record that holds its claim, and is silent where the claim
is false, where a cell cannot carry it, or where an interval is missing."""

from dataclasses import replace

import pytest
from findings_fixture import FAST, LOOPS, MS, SEARCHED, SLOW, Side, found_by, made, two

from loadstone.analysis.findings import (
    cache,
    cold_reads,
    cold_spent,
    crossing,
    each_tuple,
    ended,
    estimates,
    fixed,
    otherwise,
    overhead,
    planned,
    processors,
    spent,
    steep,
)
from loadstone.analysis.findings.finding import Grade
from loadstone.record.model import Condition, Term

WAITING = two(Side(10.0, cpu=0.2))
COMMIT = two(
    Side(10.0, counts={"commit_ns": lambda ns: ns * 9 // 10}), Side(2.0, counts={"commit_ns": 0})
)
COMPUTING = two(Side(10.0, plan=LOOPS), Side(2.0, plan=SEARCHED))
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
ESTIMATE = two(Side(10.0, plan="SEQ_SCAN ~5,000 rows"))
AFTER_RESTARTS = {"temperature": "cold"}
COLD_WAITS = two(
    Side(10.0, cpu=0.3, samples=3, counts={"read_bytes": 1 << 21}),
    Side(2.0, samples=3, counts={"read_bytes": 1 << 14}), **AFTER_RESTARTS,
)  # fmt: skip
COLD_LOOPS = two(
    Side(10.0, plan=LOOPS, samples=3), Side(2.0, plan=SEARCHED, samples=3), **AFTER_RESTARTS
)
SOUGHT = Side(2.0, plan=SEARCHED)
ENDED = two(Side(10_000.0, plan=LOOPS, status="censored"), Side(2.0, plan=SEARCHED))
NULL = (("null", "harness overhead"),)
HARNESS = made({FAST: Side(0.5), SLOW: Side(1.0), "null": Side(0.2)}, roles=NULL)
CLIENT = two(Side(10.0, cpu=0.8, server_cpu=0.1))

FIRES = [
    (spent.find, WAITING, "waiting", Grade.CONSISTENT),
    (spent.find, COMMIT, "commit", Grade.CONSISTENT),
    (spent.find, COMPUTING, spent.PAIRS, Grade.CONSISTENT),
    (spent.find, two(Side(10.0)), "computing", Grade.UNEXPLAINED),
    (spent.find, two(Side(10.0), Side(0.03, cpu=1.4)), "computing", Grade.UNEXPLAINED),
    (otherwise.find, OTHERWISE, "nonclustered not used", Grade.CONSISTENT),
    (otherwise.find, TOO_MUCH, "nonclustered used", Grade.CONSISTENT),
    (ended.find, ENDED, spent.PAIRS, Grade.CONSISTENT),
    (ended.find, two(Side(10_000.0, status="censored")), "ended", Grade.UNEXPLAINED),
    (steep.find, STEEP, "growth", Grade.UNEXPLAINED),
    (fixed.find, FIXED, "a cost of each statement", Grade.CONSISTENT),
    (crossing.find, CROSSING, crossing.KIND, Grade.CONSISTENT),
    (each_tuple.find, PRICED, "a price of each tuple", Grade.CONSISTENT),
    (cold_reads.find, READS, "reads more than the data", Grade.UNEXPLAINED),
    (cache.find, CACHE, "cache too small", Grade.CONSISTENT),
    (processors.find, SEVERAL, "several processors", Grade.CONSISTENT),
    (estimates.find, ESTIMATE, "too many", Grade.UNEXPLAINED),
    (cold_spent.find, COLD_WAITS, "waiting", Grade.CONSISTENT),
    (cold_spent.find, COLD_LOOPS, spent.PAIRS, Grade.CONSISTENT),
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


@pytest.mark.parametrize("status", ["disturbed", "censored"])
def test_plans_are_set_beside_each_other_where_times_cannot_be(status: str) -> None:
    run = two(Side(9_999.0, plan=LOOPS, status=status), SOUGHT)
    (found,) = found_by(planned.find, run)
    assert found.grade is Grade.UNEXPLAINED
    assert "blockwise nested loop" in found.brief and "over an index" in found.brief


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
     spent.find, two(Side(10.0, plan="HASH_JOIN"), Side(2.0, plan=SEARCHED)), spent.PAIRS),
    ("plans beside times that may be compared", planned.find,
     two(Side(10.0, plan=LOOPS), SOUGHT), ""),
    ("plans that were not fully read", planned.find,
     two(Side(10.0, plan=LOOPS + "\n  HOVER", status="disturbed"), SOUGHT), ""),
    ("plans that join alike, disturbed", planned.find,
     two(Side(10.0, plan="HASH_JOIN", status="disturbed"),
         Side(2.0, plan="HASH_JOIN")), ""),
    ("times that are near each other", planned.find,
     two(Side(2.1, plan=LOOPS, status="disturbed"), SOUGHT), ""),
    ("the plan uses the structure",
     otherwise.find, two(Side(10.0, access="nonclustered"), Side(2.0, access="nonclustered")), ""),
    ("the fastest does not use it either",
     otherwise.find, two(Side(10.0, access="heap"), Side(2.0, access="heap")), ""),
    ("access that is not reported", otherwise.find, two(Side(10.0), Side(2.0)), ""),
    ("nothing was ended", ended.find, two(Side(10_000.0)), ""),
    ("ended sooner than the fastest takes", ended.find, two(Side(1.0, status="censored")), ""),
    ("no figure in order to compare with", ended.find,
     two(Side(10_000.0, status="censored"), Side(2.0, status="failed")), ""),
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
    if spoiled == run:
        pytest.skip("its statement was ended: it has no sample and no answer to be spoiled")
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
