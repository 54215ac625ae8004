"""The terms of a study: each switch at both values as read back, and every other term, which should
be one and the same in all combinations."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations

from loadstone.analysis.terms import SETTING, TermValue
from loadstone.plan.study import Study
from loadstone.record.model import MEASURED_KEYS, Run, Term
from loadstone.studies.design import all_combinations

DECIDING_MAX = 2
"""Of more tactics, some would fit by chance: a study measures few combinations of each three."""


@dataclass(frozen=True, slots=True)
class SwitchTerms:
    """A tactic and what the engine said of it; None where it says nothing."""

    key: str
    """Of its switch."""
    tactic: str
    base: str
    base_read: str | None
    other: str
    other_read: tuple[str, ...]
    """Each different answer of the combinations that have it at its other value."""
    read: int
    """The combinations that read back what was asked, as all others do that ask the same."""
    of: int
    """The combinations that reported it."""


@dataclass(frozen=True, slots=True)
class OtherTerm:
    """A term that is no switch: its value at base, and the others that combinations have."""

    key: str
    base: str | None
    others: tuple[str | None, ...]
    is_setting: bool
    """Whether the key is a setting of the engine, and no property that it has by several."""
    follows: tuple[str, ...]
    """The tactic, or the two, that decide its value: combinations that have these alike have it
    alike. SQLite's `synchronous` is set by `durability`, and is another with another `journal`.
    Empty where it changes otherwise."""
    alone: Mapping[str, str | None]
    """Switch -> its value where that one alone is turned."""


@dataclass(frozen=True, slots=True)
class StudyTerms:
    """The terms of a study."""

    base: str
    switches: tuple[SwitchTerms, ...]
    changing: tuple[OtherTerm, ...]
    """Those that are not the same in all combinations: settings that a switch is made of, or what
    makes combinations differ in more than their switches."""
    same: tuple[OtherTerm, ...]


def study_terms(run: Run) -> StudyTerms:
    """Arrange a study's terms; a later session's reading replaces an earlier one's."""
    study = run.plan.study
    if study is None:
        return StudyTerms("", (), (), ())
    reported: dict[str, dict[str, Term]] = {}
    flipped = {each.variant: each.flipped for each in all_combinations(study, run.decisions)}
    for term in run.terms:
        if term.variant in flipped:
            reported.setdefault(term.key, {})[term.variant] = term
    switches = []
    keys = _keys(study)
    for switch in study.switches:
        own = reported.get(switch.tactic, {})
        # A term with a third value is on no side.
        sides = [
            {name: term.read_back for name, term in own.items() if at(flipped[name])}
            for at in (keys[switch.tactic].isdisjoint, lambda has, key=switch.key: key in has)
        ]
        answers = [list(dict.fromkeys(side.values())) for side in sides]
        alike = sum(
            side[name] == answer[0]
            and not TermValue(own[name].asked, own[name].read_back).disobeyed
            for side, answer in zip(sides, answers, strict=True)
            for name in side
        )
        switches.append(
            SwitchTerms(
                key=switch.key,
                tactic=switch.tactic,
                base=switch.base,
                base_read=answers[0][0] if answers[0] else None,
                other=switch.other,
                other_read=tuple(value for value in answers[1] if value is not None),
                read=alike,
                of=sum(map(len, sides)),
            )
        )
    others = [
        _other(key, values, study, flipped) for key, values in reported.items() if key not in keys
    ]
    return StudyTerms(
        base=study.base,
        switches=tuple(switches),
        changing=tuple(one for one in others if one.others),
        same=tuple(one for one in others if not one.others),
    )


def _other(
    key: str, values: Mapping[str, Term], study: Study, flipped: Mapping[str, Sequence[str]]
) -> OtherTerm:
    at_base = values[study.base].read_back if study.base in values else None
    away = {
        name: term.read_back
        for name, term in values.items()
        if term.read_back != at_base and key not in MEASURED_KEYS
    }
    return OtherTerm(
        key.removeprefix(SETTING),
        at_base,
        tuple(dict.fromkeys(away.values())),
        is_setting=key.startswith(SETTING),
        follows=_deciding(values, study, flipped) if away else (),
        alone={
            flipped[name][0]: term.read_back
            for name, term in values.items()
            if len(flipped[name]) == 1
        },
    )


def _deciding(
    values: Mapping[str, Term], study: Study, flipped: Mapping[str, Sequence[str]]
) -> tuple[str, ...]:
    """The fewest tactics that decide a term's value, two at most; empty without such."""
    tactics = _keys(study)
    for count in range(1, DECIDING_MAX + 1):
        for chosen in combinations(tactics, count):
            keys = frozenset[str]().union(*(tactics[one] for one in chosen))
            seen: dict[frozenset[str], str | None] = {}
            if all(
                term.read_back == seen.setdefault(keys.intersection(flipped[name]), term.read_back)
                for name, term in values.items()
            ):
                return chosen
    return ()


def _keys(study: Study) -> dict[str, set[str]]:
    """The keys of each tactic's switches."""
    found: dict[str, set[str]] = {}
    for switch in study.switches:
        found.setdefault(switch.tactic, set()).add(switch.key)
    return found
