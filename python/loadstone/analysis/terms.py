"""The terms on which engines were compared, as asked and as read back: rule 5 of the method."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadstone.analysis.summary import Summary
from loadstone.analysis.unequal import COMMON
from loadstone.plan.variant import engine_of, release_of
from loadstone.record.model import MEASURED_KEYS

SETTING = "setting."
OWN_KEYS = MEASURED_KEYS | {"version"}
"""Keys that differ between engines by their nature; all others should be equal."""


@dataclass(frozen=True, slots=True)
class TermValue:
    """One variant's value of a term. `disobeyed`: it reads back other than asked."""

    asked: str | None
    read_back: str | None

    @property
    def disobeyed(self) -> bool:
        """Whether the reading differs from the request."""
        if self.asked is None or self.read_back is None:
            return False
        asked, reported = self.asked.casefold(), self.read_back.casefold()
        # An engine may say more of it: `objects: one value a part`.
        return reported != asked and not reported.startswith(f"{asked}:")


@dataclass(frozen=True, slots=True)
class TermRow:
    """One term over all variants. `unequal`: the values differ and should not."""

    key: str
    values: Mapping[str, TermValue]
    unequal: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms of the comparison, and each engine's own settings."""

    rows: tuple[TermRow, ...]
    settings: Mapping[str, tuple[tuple[str, TermValue], ...]]

    @property
    def unequal(self) -> tuple[str, ...]:
        """The terms that differ."""
        return tuple(row.key for row in self.rows if row.unequal)


def terms(summary: Summary) -> Terms:
    """Arrange a run's terms; a later session's reading replaces an earlier one's.

    Only competitors can be unequal: unranked variants have terms of their own. A key reported by
    only one of several engines, with the same value in all its variants, is that engine's setting;
    a measured value is a term all the same.
    """
    reported: dict[str, dict[str, TermValue]] = {}
    for term in summary.run.terms:
        if term.variant in summary.columns:
            value = TermValue(term.asked, term.read_back)
            reported.setdefault(term.key, {})[term.variant] = value
    rows: list[TermRow] = []
    settings: dict[str, list[tuple[str, TermValue]]] = {}
    engines = {engine_of(variant) for variant in summary.competitors}
    for key, values in reported.items():
        ranked = {v: value for v, value in values.items() if v in summary.competitors}
        tellers = {engine_of(variant) for variant in ranked}
        common = len(tellers) >= min(2, len(engines))
        # An engine that has no such mechanism does not differ in it.
        expected = len(summary.competitors if common and key in COMMON else ranked)
        differ = _differ(ranked, expected)
        shared = common or differ or key in MEASURED_KEYS
        if not key.startswith(SETTING) and shared:
            unequal = key not in OWN_KEYS and differ and not _by_release(key, ranked)
            rows.append(TermRow(key, values, unequal))
        else:
            for variant, value in values.items():
                settings.setdefault(variant, []).append((key.removeprefix(SETTING), value))
    return Terms(tuple(rows), {variant: tuple(own) for variant, own in settings.items()})


def _by_release(key: str, values: Mapping[str, TermValue]) -> bool:
    """Whether it is a version that nobody can request but by a release, and each engine has but one
    at each of its releases."""
    if key in COMMON or any(value.asked is not None for value in values.values()):
        return False
    reported: dict[tuple[str, str], set[str | None]] = {}
    for variant, value in values.items():
        place = engine_of(variant), release_of(variant)
        reported.setdefault(place, set()).add(value.read_back)
    releases = len(reported) > len({engine for engine, _ in reported})
    return releases and all(len(said) == 1 for said in reported.values())


def _differ(values: Mapping[str, TermValue], expected: int) -> bool:
    """Whether the readings differ, or fewer than `expected` variants have one."""
    said = {
        value.read_back if value.read_back is not None else value.asked for value in values.values()
    }
    return len(said) > 1 or len(values) < expected
