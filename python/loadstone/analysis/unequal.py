"""Terms of a cell that differ from its row's: rule 5 of the method, shown at the cell.

A row's value of a term is that of most of its competitors with a figure; the first's if as many
have another. Only terms that engines must share count here. The others are mechanisms, which
variants are compared for.
"""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from loadstone.record.model import Run, StatementText

COMMON = {
    "durability": "dur",
    "isolation": "iso",
    "cache": "cache",
    "cache_bytes": "cache",
    "parallelism": "par",
}
"""The terms that every engine must report, and their short marks. A missing one differs."""
REPORTED = {
    "read transaction": "read",
    "statement": "stmt",
    "prefetch": "pre",
    "encryption": "tls",
}
"""The terms that matter only if reported."""
PLAN = {"planned otherwise": "plan"}
"""The structure in a row's name was used by none of the statement's tables."""
WRITERS_ONLY = frozenset({"durability"})
"""Durability matters only for writes."""
SAYS_NOTHING = "not reported"


@dataclass(frozen=True, slots=True)
class Unequal:
    """A term of a cell, and its row's."""

    key: str
    own: str
    usual: str

    @property
    def of_plan(self) -> bool:
        """Whether it is no term that was set, but what the engine planned."""
        return self.key in PLAN

    @property
    def mark(self) -> str:
        """A few letters, for a table's cell."""
        return (COMMON | REPORTED | PLAN)[self.key]

    @property
    def words(self) -> str:
        """The whole of it."""
        return f"{self.key}: {self.own}, not {self.usual}"


def planned_otherwise(statements: Sequence[StatementText], storage: str) -> tuple[Unequal, ...]:
    """The access paths of the plans, if they differ from the structure requested; of the first
    variation that differs. Empty if all use it, or if the engine does not report it."""
    otherwise = [text for text in statements if text.planned_otherwise(storage)]
    if not otherwise:
        return ()
    (key,) = PLAN
    return (Unequal(key, " and ".join(map(_path, otherwise[0].paths)), storage),)


def _path(structure: str) -> str:
    return "scan of all tuples" if structure == "heap" else structure


Reported = Mapping[str, Mapping[str, str]]
"""Variant -> term -> what it says."""


def reported_terms(run: Run) -> Reported:
    """A later session's reading replaces an earlier one's; a term that cannot be read is
    missing."""
    found: dict[str, dict[str, str]] = {}
    for term in run.terms:
        if term.key in COMMON or term.key in REPORTED:
            own = found.setdefault(term.variant, {})
            own.pop(term.key, None)
            if term.read_back is not None:
                own[term.key] = term.read_back
    return found


def unequal(
    reported: Reported, row: Sequence[str], shown: Collection[str], *, writes: bool
) -> Mapping[str, tuple[Unequal, ...]]:
    """Variant -> its terms that differ from the row's. `row`: the competitors with a figure, in
    order; `shown`: the variants to examine. For other roles only reported terms count."""
    found: dict[str, list[Unequal]] = {variant: [] for variant in shown}
    for key in (*COMMON, *REPORTED):
        if key in WRITERS_ONLY and not writes:
            continue
        said = {v: reported[v][key] for v in row if key in reported.get(v, {})}
        if not said:
            continue
        # The first of equals: a Counter keeps the order of counting.
        usual = Counter(said.values()).most_common(1)[0][0]
        for variant in shown:
            silent = SAYS_NOTHING if key in COMMON and variant in row else usual
            own = reported.get(variant, {}).get(key, silent)
            if own.casefold() != usual.casefold():
                found[variant].append(Unequal(key, own, usual))
    return {variant: tuple(terms) for variant, terms in found.items()}
