"""A paper's own numbers, as a benchmark declares them and as a record keeps them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from loadstone.text.shape import one_of

Whole = Annotated[int, Meta(ge=-(10**15), le=10**15)]
"""A number that the paper printed without a point: it is printed without one."""
Value = Annotated[float, Meta(ge=-1e15, le=1e15)]
KINDS = ("gain", "loss", "ratio", "saved", "sampled", "throughput")
"""The formulas of derived columns."""


@dataclass(frozen=True, slots=True)
class DerivedColumn:
    """A column that the paper derived from two of its systems' times, `before` and `after` a
    change.

    `kind` names the formula: `gain` (before - after) / after and `loss` (after - before) / after,
    in percent; `ratio` before / after; `saved` before - after, in the table's unit; `sampled` is
    `factor` times the time that `before` spends in `functions` (patterns of names), in that unit;
    `throughput`, of a table by users, is the answers a second with one user's as 1.
    `printed`: row's label -> value as printed.
    """

    name: str
    kind: Annotated[str, one_of(KINDS)]
    before: str
    after: str
    printed: Mapping[str, Whole | Value]
    factor: Value = 1.0
    functions: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PublishedTable:
    """A table of the paper. `rows` are (label, operation or None, {system: value or text}).

    `scale` is the size of the relations it was measured with, `edition` the edition; empty where
    the benchmark's published numbers have but one.
    """

    number: str
    title: str
    unit: str
    systems: tuple[str, ...]
    rows: tuple[tuple[str, str | None, Mapping[str, Whole | Value | str]], ...]
    note: str = ""
    scale: Annotated[int, Meta(ge=1, le=10**12)] = field(kw_only=True)
    edition: str = ""
    absent: Mapping[str, Mapping[str, str]] = field(default_factory=dict)
    """Row's label -> edition -> why an operation of that edition is not the paper's: then nothing
    stands beside the row."""
    only: Mapping[str, str] = field(default_factory=dict)
    """Term -> value that a variant must read back to be comparable with the table's one design."""
    fixed: bool = False
    """Whether its relations have one size, whatever the scale: it stands beside any."""
    requests: int = 0
    """Of a table of concurrent users: how many each of them sends, one after the other. Its rows'
    operations are as `script@8 users`, its times those until the last user has its answers."""
    place: str = ""
    """The place where the paper's database was, `remote` or `local`; empty where it makes no
    difference."""
    quantity: Annotated[str, one_of(("elapsed", "cpu"))] = "elapsed"
    """The quantity of its times: `elapsed`, or `cpu`, the processor time of all that work for a
    query."""
    derived: tuple[DerivedColumn, ...] = ()


@dataclass(frozen=True, slots=True)
class Published:
    """A paper's own numbers; a record of a user's workload has none."""

    citation: str = ""
    tables: tuple[PublishedTable, ...] = ()
    systems: Mapping[str, str] = field(default_factory=dict)
    """System -> what it was (machine, memory, disk), as the paper says."""

    @property
    def sampled_operations(self) -> frozenset[str]:
        """Those of rows with a sampled time, beside which today's sampler has enough to say."""
        return frozenset(
            operation.partition("@")[0]
            for table in self.tables
            for column in table.derived
            if column.kind == "sampled"
            for label, operation, _ in table.rows
            if operation is not None and label in column.printed
        )
