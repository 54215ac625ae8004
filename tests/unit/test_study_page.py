"""The page of a study shows the map's figures, and claims nothing that the map does not."""

import json
import random
import re
from collections.abc import Callable
from dataclasses import replace
from html import unescape
from math import exp, prod

import pytest
from study_fixture import BLOCKS, OPERATIONS, plan, record, result

from loadstone import registry
from loadstone.analysis.study_terms import study_terms
from loadstone.record.model import Run, StatementText, Term
from loadstone.report.html import PAGE_BYTES_MAX
from loadstone.report.study_words import UNKNOWN, cell, ratio_words
from loadstone.studies.details import switch_details
from loadstone.studies.view import StudyMap, study_map
from loadstone.studies.waterfall import descents
from loadstone.text.numbers import TIMES

RATIO = re.compile(rf"\d{TIMES}")
DURABLE = "postgresql?durability=none"


def found(run: Run) -> StudyMap:
    map_ = study_map(run)
    assert map_ is not None
    return map_


def page(run: Run) -> str:
    return registry.load_report("html")().render(run).decode()


def rows(text: str) -> dict[str, list[tuple[str, str, str, str]]]:
    """Operation -> (class, panel, what it says on hover, text) of each of its cells."""
    table = re.search(r'<table class="summary map">.*?</table>', text, re.DOTALL)
    assert table is not None
    cells = re.compile(
        r'<td class="([^"]*)"><button type="button" popovertarget=(\w+) title="([^"]*)"'
        r'[^>]*>([^<]*)</button>'
    )  # fmt: skip
    return {
        row[1]: [tuple(map(unescape, one)) for one in cells.findall(row[0])]
        for row in re.finditer(r'<tr><th scope="row">([^<]+?)[ <].*?</tr>', table[0], re.DOTALL)
    }


def panel(text: str, name: str) -> str:
    part = re.search(rf'<aside popover class="panel" id="{name}".*?</aside>', text, re.DOTALL)
    assert part is not None
    return unescape(part[0])


def broken() -> Run:
    bad = result(plan(), "min-heap", DURABLE, ("durability",))
    return record({("min-heap", DURABLE): replace(
        bad, status="failed", reason="wrong answer", samples=(), answers=())})  # fmt: skip


def few_blocks() -> Run:
    run = record()
    return replace(run, results=tuple(
        replace(one, samples=tuple(s for s in one.samples if s.round < 3)) for one in run.results
    ))  # fmt: skip


@pytest.mark.parametrize("make", [record, broken, few_blocks])
def test_every_effect_on_the_page_is_that_of_the_map(make: Callable[[], Run]) -> None:
    run = make()
    map_, shown = found(run), rows(page(run))
    assert list(shown) == [operation.name for operation in map_.operations]
    for operation in map_.operations:
        effects = {each.switch: each for each in operation.switches}
        for switch, (kind, _, says, text) in zip(map_.order, shown[operation.name], strict=True):
            each = effects[switch]
            assert text == cell(each)
            coloured = "slower" in kind or "faster" in kind
            assert coloured == (each.acts_alone and not each.failure)
            if coloured:
                assert each.alone is not None
                assert ("slower" in kind) == (each.alone.value > 1)
                assert ratio_words(each.alone) in says


def test_a_combination_that_failed_shows_its_reason_and_no_ratio() -> None:
    text = page(broken())
    (found_cell,) = [one for one in rows(text)["min-heap"] if one[3] == UNKNOWN]
    assert "wrong answer" in found_cell[2]
    opened = panel(text, found_cell[1])
    assert "failed: wrong answer" in opened
    assert not RATIO.search(opened)
    others = [one for one in rows(text)["min-heap"] if one[3] != UNKNOWN]
    assert all(RATIO.search(panel(text, name)) for _, name, _, _ in others)


def test_nothing_is_claimed_where_there_is_no_interval() -> None:
    run = few_blocks()
    text = page(run)
    assert not re.search(r'<td class="r\d (slower|faster)', text)
    assert not re.search(r'<tr class="(slower|faster)"', text)
    assert "too few blocks for an interval" in text
    assert not any(one.whole_called or one.together for one in descents(found(run)))
    assert "act together: the time" not in text


def test_a_dot_is_a_block_and_its_contrast() -> None:
    run = record()
    for one in switch_details(run, found(run)):
        assert len(one.alone) == len(one.last) == BLOCKS
        for dots, estimate in ((one.alone, one.effect.alone), (one.last, one.effect.last)):
            assert estimate is not None
            assert min(dots) <= estimate.value <= max(dots)
    text = page(run)
    assert panel(text, "p0").count("<circle") == 2 * BLOCKS


def test_both_plans_stand_side_by_side_where_they_differ() -> None:
    text = page(record())
    opened = panel(text, rows(text)["select-1%-heap"][0][1])
    assert re.search(r"<mark>sequential scan.*<mark>parallel scan", opened, re.DOTALL)
    other = panel(text, rows(text)["select-1%-heap"][2][1])
    assert "Same plan" in other
    assert "<mark>" not in other


def test_the_work_at_both_ends_is_reported() -> None:
    run = record()
    details = [one for one in switch_details(run, found(run)) if one.operation.name == "min-heap"]
    (one,) = [one for one in details if one.effect.switch.tactic == "durability"]
    counts = {count.name: (count.base, count.alone, count.end) for count in one.counts}
    assert counts["written_bytes"] == (8192, 0, 0)
    assert counts["tuples"] == (10_000, 10_000, 10_000)
    assert "read_bytes" not in counts, "not counted by anyone"


def test_a_waterfall_leads_from_base_to_the_other_end() -> None:
    one, other = descents(found(record()))
    assert one.operation.name == "select-1%-heap", "its ends are the farthest apart"
    assert other.operation.name == "min-heap"
    for fall in (one, other):
        ratios = prod(step.ratio.value for step in fall.steps) * fall.remainder_ratio
        assert ratios == pytest.approx(fall.whole.value)
        ms = sum(step.ms for step in fall.steps) + fall.remainder_ms
        assert ms == pytest.approx(fall.end_ms - fall.base_ms)
        assert fall.steps[0].before_ms == fall.base_ms
        parts = fall.operation.effects.parts.values()
        left = fall.whole.value / exp(
            sum(part.contribution.value for part in parts if part.contribution)
        )
        assert fall.remainder_ratio == pytest.approx(left), "what three and more do together"
    assert [step.switch.tactic for step in one.steps[:2]] == ["parallelism", "cache"]
    assert [step.called for step in one.steps] == [True, True, False, False]
    share = one.steps[0].share
    assert share is not None
    assert share.value == pytest.approx(0.861, abs=0.01), "ln 4 of ln 5"


def test_a_waterfall_with_a_step_missing_is_none() -> None:
    run = record()
    assert run.plan.study is not None
    (alone,) = (c.variant for c in run.plan.study.combinations if c.flipped == ("cache",))
    missing = ("min-heap", alone)
    left = [one for one in run.results if (one.cell.operation, one.cell.variant) != missing]
    falls = descents(found(replace(run, results=tuple(left))))
    assert [fall.operation.name for fall in falls] == ["select-1%-heap"]


def test_terms_are_read_back_from_every_combination() -> None:
    run = record()
    terms = study_terms(run)
    combinations = len(run.plan.study.combinations) if run.plan.study else 0
    assert [(one.base_read, one.other_read) for one in terms.switches] == [
        (one.base, (one.other,)) for one in terms.switches
    ]
    assert {(one.read, one.of) for one in terms.switches} == {(combinations, combinations)}
    assert [(one.key, one.follows) for one in terms.changing] == [("fsync", ("durability",))]
    assert [one.key for one in terms.same] == ["version"]
    disobeyed = [Term(one.variant, one.key, one.asked, "full") if one.key == "durability" else one
                 for one in run.terms]  # fmt: skip
    first = study_terms(replace(run, terms=tuple(disobeyed))).switches[0]
    assert (first.other, first.other_read) == ("none", ("full",))
    assert 'class="unequal"' in page(replace(run, terms=tuple(disobeyed)))


@pytest.mark.parametrize("make", [record, broken, few_blocks])
def test_json_has_the_figures_of_the_map(make: Callable[[], Run]) -> None:
    run = make()
    reported_of = json.loads(registry.load_report("json")().render(run))["study"]
    map_ = found(run)
    assert [one["operation"] for one in reported_of["operations"]] == [
        o.name for o in map_.operations
    ]
    for operation, shown in zip(map_.operations, reported_of["operations"], strict=True):
        effects = {each.switch.tactic: each for each in operation.switches}
        assert [one["tactic"] for one in shown["switches"]] == [s.tactic for s in map_.order]
        for one in shown["switches"]:
            each = effects[one["tactic"]]
            assert (one["alone"] and one["alone"]["value"]) == (each.alone and each.alone.value)
            assert (one["same_plan"], one["failure"]) == (each.same_plan, each.failure)
            assert bool(one["blocks_alone"]) == (each.alone is not None)


def test_the_contents_fit_the_page() -> None:
    text = page(record())
    linked = re.findall(r'<li><a href="#(\w+)">', text)
    assert linked == re.findall(r'<section id="(\w+)"', text)
    assert "summary" not in linked, "a column for each combination"


def test_long_plans_are_cut_and_the_page_stays_small() -> None:
    run = record()
    chance = random.Random(1983)
    long = "\n".join(f"Filter {chance.randbytes(30).hex()}" for _ in range(4_000))
    results = tuple(replace(one, statements=(StatementText(0, "SELECT", long),))
                    for one in run.results)  # fmt: skip
    text = page(replace(run, results=results))
    assert len(text.encode()) < PAGE_BYTES_MAX
    assert "of the plan left out" in text
    assert len(rows(text)) == len(OPERATIONS)
