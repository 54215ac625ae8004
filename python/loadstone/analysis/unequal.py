"""Terms of a cell that are not those of its row: rule 5 of the method, told where it stands.

A row's value of a term is what most of its competitors with a figure say; the first's where as many
say another. Only what engines must have in common to be compared counts here. The other terms are
mechanisms, which variants are set beside each other for.
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
"""What every engine must tell, and its mark where space is short. An engine that does not,
departs."""
TOLD = {"read transaction": "read", "statement": "stmt"}
"""What concerns those who tell it."""
PLAN = {"planned otherwise": "plan"}
"""That the structure in a row's name served none of the statement's tables."""
WRITERS_ONLY = frozenset({"durability"})
"""Nothing is made durable where nothing is written."""
SAYS_NOTHING = "not told"


@dataclass(frozen=True, slots=True)
class Unequal:
    """A term of a cell, and what its row's is."""

    key: str
    own: str
    usual: str

    @property
    def mark(self) -> str:
        """A few letters, for a table's cell."""
        return (COMMON | TOLD | PLAN)[self.key]

    @property
    def words(self) -> str:
        """The whole of it."""
        return f"{self.key}: {self.own}, not {self.usual}"


def planned_otherwise(statements: Sequence[StatementText], storage: str) -> tuple[Unequal, ...]:
    """What the plans reach their tables by, where that is not the structure asked for; that of the
    first variation for which it is not. Empty where all use it, and where the engine tells not."""
    otherwise = [text for text in statements if text.planned_otherwise(storage)]
    if not otherwise:
        return ()
    (key,) = PLAN
    return (Unequal(key, " and ".join(map(_path, otherwise[0].paths)), storage),)


def _path(structure: str) -> str:
    return "scan of all tuples" if structure == "heap" else structure


Told = Mapping[str, Mapping[str, str]]
"""Variant -> term -> what it says."""


def told_terms(run: Run) -> Told:
    """A later session's word replaces an earlier one's; a term that cannot be read is untold."""
    found: dict[str, dict[str, str]] = {}
    for term in run.terms:
        if term.key in COMMON or term.key in TOLD:
            own = found.setdefault(term.variant, {})
            own.pop(term.key, None)
            if term.read_back is not None:
                own[term.key] = term.read_back
    return found


def unequal(
    told: Told, row: Sequence[str], shown: Collection[str], *, writes: bool
) -> Mapping[str, tuple[Unequal, ...]]:
    """Variant -> its terms that are not the row's. `row`: the competitors with a figure, in order;
    `shown`: whose terms are asked for. Of what is no competitor only what it tells counts."""
    found: dict[str, list[Unequal]] = {variant: [] for variant in shown}
    for key in (*COMMON, *TOLD):
        if key in WRITERS_ONLY and not writes:
            continue
        said = {v: told[v][key] for v in row if key in told.get(v, {})}
        if not said:
            continue
        # The first of equals: a Counter keeps the order of counting.
        usual = Counter(said.values()).most_common(1)[0][0]
        for variant in shown:
            silent = SAYS_NOTHING if key in COMMON and variant in row else usual
            own = told.get(variant, {}).get(key, silent)
            if own.casefold() != usual.casefold():
                found[variant].append(Unequal(key, own, usual))
    return {variant: tuple(terms) for variant, terms in found.items()}
