"""Everything that a record's findings say: all of them, put together where rule and mechanism are
the same, and for each row of the summary the one that answers why.
"""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace

from loadstone.analysis.findings import (
    cache,
    calls,
    cold_first,
    cold_reads,
    cold_spent,
    components,
    crossing,
    each_tuple,
    ended,
    estimates,
    fixed,
    otherwise,
    overhead,
    planned,
    processors,
    quickest,
    rungs,
    spent,
    statements,
    steep,
    studied,
    switched,
)
from loadstone.analysis.findings.distance import why_none
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import RANK, Finding, Grade
from loadstone.analysis.summary import Summary
from loadstone.text.numbers import times

Rule = Callable[[Evidence], Iterator[Finding]]
RULES: tuple[Rule, ...] = (
    studied.find,
    switched.find,
    otherwise.find,
    processors.find,
    calls.find,
    statements.find,
    rungs.find,
    components.find,
    spent.find,
    cold_spent.find,
    cold_first.find,
    crossing.find,
    fixed.find,
    each_tuple.find,
    quickest.find,
    rungs.find_together,
    components.find_together,
    ended.find,
    planned.find,
    steep.find,
    cache.find,
    cold_reads.find,
    overhead.find,
    estimates.find,
)
"""Of two that answer with the same grade, the earlier one is a row's why."""


@dataclass(frozen=True, slots=True)
class Theme:
    """Findings of one rule, mechanism and variant, the weightiest first."""

    findings: tuple[Finding, ...]

    @property
    def first(self) -> Finding:
        """The one that is reported."""
        return self.findings[0]

    @property
    def grade(self) -> Grade:
        """Of all."""
        return self.first.grade

    @property
    def weight(self) -> float:
        """The sum."""
        return sum(each.weight for each in self.findings)


@dataclass(frozen=True, slots=True)
class Why:
    """One row's: the finding that answers it, or why there is none. `words` is the line."""

    finding: Finding | None
    grade: Grade | None
    words: str


@dataclass(frozen=True, slots=True)
class Learned:
    """The findings of a record."""

    findings: tuple[Finding, ...]
    themes: tuple[Theme, ...]
    whys: Mapping[tuple[str, int, str], Why]
    """(operation, scale, temperature) -> its line. Empty for a study, whose rows are not ranked."""


def learned(whole: Summary) -> Learned:
    """Apply every rule."""
    seen = Evidence(whole)
    study = whole.run.plan.study
    every = [finding for rule in RULES for finding in rule(seen)]
    if study is not None:
        # What holds at base holds of most combinations, and would be reported a dozen times.
        every = [each for each in every if each.rule == studied.RULE or each.variant == study.base]
    found = _reported_once(_as_when_warm(every))
    whys = _whys(seen, found) if study is None else {}
    return Learned(found, _themes(found), whys)


def _as_when_warm(found: list[Finding]) -> list[Finding]:
    """With the warm row's cause where a cold difference is there when warm, too."""
    causes = {
        (each.operation, each.rows, each.variant, each.against): each
        for each in reversed(found)
        if each.answers and each.temperature == "warm" and each.grade is not Grade.UNEXPLAINED
    }
    made = []
    for each in found:
        cause = causes.get((each.operation, each.rows, each.variant, each.against))
        if each.kind == cold_first.ALWAYS and cause:
            made.append(
                replace(
                    each,
                    grade=Grade.CONSISTENT,
                    brief=f"{each.brief}, where {cause.brief}",
                    sentence=f"{each.sentence} Warm: {cause.sentence}",
                    cells=tuple(dict.fromkeys((*each.cells, *cause.cells))),
                )
            )
        else:
            made.append(each)
    return made


def _reported_once(found: list[Finding]) -> tuple[Finding, ...]:
    """Without the unexplained answers of rows that have a better one, and without a cause that an
    earlier rule found of the same row: what does not grow with the data is a cost of each
    statement, and is there in the quickest one, too.
    """
    answered = {
        each.place for each in found if each.answers and each.grade is not Grade.UNEXPLAINED
    }
    first: dict[tuple[object, ...], Finding] = {}
    for each in found:
        if each.answers:
            first.setdefault((each.place, each.kind, each.variant, each.grade), each)
    return tuple(
        each
        for each in found
        if not each.answers
        or (
            first[each.place, each.kind, each.variant, each.grade] is each
            and not (each.grade is Grade.UNEXPLAINED and each.place in answered)
        )
    )


def _themes(found: tuple[Finding, ...]) -> tuple[Theme, ...]:
    groups: dict[tuple[str, str, str, Grade], list[Finding]] = {}
    for each in found:
        key = each.rule, each.kind, each.variant, each.grade
        groups.setdefault(key, []).append(each)
    themes = [Theme(tuple(sorted(own, key=lambda each: -each.weight))) for own in groups.values()]
    return tuple(sorted(themes, key=lambda one: (RANK[one.grade], -one.weight)))


def _whys(seen: Evidence, found: tuple[Finding, ...]) -> dict[tuple[str, int, str], Why]:
    answers: dict[tuple[str, int, str], list[Finding]] = {}
    for each in found:
        if each.answers:
            answers.setdefault(each.place, []).append(each)
    lines = {}
    for row in seen.rows:
        place = row.operation.name, row.rows, row.temperature
        far = seen.distances.get(place)
        own = min(answers.get(place, []), key=lambda each: RANK[each.grade], default=None)
        if far is None:
            words = why_none(row)
            if own and own.rule == planned.RULE:
                words += f"; {own.brief}"
            elif own:
                words = own.brief
            lines[place] = Why(own, own.grade if own else None, words)
            continue
        head = f"{far.names[0]} {times(far.ratio.value)}: "
        if own is None:
            nothing = "no rule finds where its time goes"
            lines[place] = Why(None, Grade.UNEXPLAINED, head + nothing)
        else:
            lines[place] = Why(own, own.grade, head + own.brief)
    return lines
