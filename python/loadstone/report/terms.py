"""The terms on which engines were compared, as asked and as read back: rule 5 of the method."""

from collections.abc import Mapping
from dataclasses import dataclass

from loadstone.report.portrait import Portrait

SETTING = "setting."
OWN_KEYS = frozenset({"version"})
"""Keys that differ between engines by their nature; all others ought to be equal."""


@dataclass(frozen=True, slots=True)
class TermValue:
    """One variant's value of a term. `disobeyed`: it reads back other than asked."""

    asked: str | None
    read_back: str | None

    @property
    def disobeyed(self) -> bool:
        """Whether the engine says something else than it was told."""
        if self.asked is None or self.read_back is None:
            return False
        return self.asked.casefold() != self.read_back.casefold()


@dataclass(frozen=True, slots=True)
class TermRow:
    """One term over all variants. `unequal`: the values that ought to agree do not."""

    key: str
    values: Mapping[str, TermValue]
    unequal: bool


@dataclass(frozen=True, slots=True)
class Terms:
    """Terms that bear on comparability, and each engine's own settings."""

    rows: tuple[TermRow, ...]
    settings: Mapping[str, tuple[tuple[str, TermValue], ...]]

    @property
    def unequal(self) -> tuple[str, ...]:
        """The terms that differ."""
        return tuple(row.key for row in self.rows if row.unequal)


def terms(portrait: Portrait) -> Terms:
    """Arrange a run's terms; a later session's reading of a term replaces an earlier one's.

    What only one of several engines tells is a setting of its own, not a term between them.
    """
    told: dict[str, dict[str, TermValue]] = {}
    for term in portrait.run.terms:
        if term.variant in portrait.competitors:
            value = TermValue(term.asked, term.read_back)
            told.setdefault(term.key, {})[term.variant] = value
    rows: list[TermRow] = []
    settings: dict[str, list[tuple[str, TermValue]]] = {}
    for key, values in told.items():
        if not key.startswith(SETTING) and len(values) >= min(2, len(portrait.competitors)):
            unequal = key not in OWN_KEYS and _differ(values, portrait)
            rows.append(TermRow(key, values, unequal))
        else:
            for variant, value in values.items():
                settings.setdefault(variant, []).append((key.removeprefix(SETTING), value))
    return Terms(tuple(rows), {variant: tuple(own) for variant, own in settings.items()})


def _differ(values: Mapping[str, TermValue], portrait: Portrait) -> bool:
    said = {
        value.read_back if value.read_back is not None else value.asked
        for variant in portrait.competitors
        for value in [values.get(variant, TermValue(None, None))]
    }
    return len(said) > 1
