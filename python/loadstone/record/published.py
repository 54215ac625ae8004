"""A paper's own numbers in a record, as `benchmarks.base.Published` writes them."""

from typing import Annotated, Required, TypedDict

from msgspec import Meta

from loadstone.text.shape import one_of

Whole = Annotated[int, Meta(ge=-(10**15), le=10**15)]
"""A number that the paper printed without a point: it is printed without one."""
Value = Annotated[float, Meta(ge=-1e15, le=1e15)]
KINDS = ("gain", "loss", "ratio", "saved", "sampled", "throughput")
"""The formulas of derived columns."""


class Derived(TypedDict, total=False):
    """A column that the paper derived, as `benchmarks.base.DerivedColumn`."""

    name: Required[str]
    kind: Required[Annotated[str, one_of(KINDS)]]
    before: Required[str]
    after: Required[str]
    printed: Required[dict[str, Whole | Value]]
    factor: Value
    functions: tuple[str, ...]


class Table(TypedDict, total=False):
    """A table of the paper: its rows are (label, operation or None, {system: value or text}). What
    any file may hold is checked by it; a `PublishedTable` comes from our own, with defaults."""

    number: Required[str]
    title: Required[str]
    unit: Required[str]
    systems: Required[tuple[str, ...]]
    rows: Required[tuple[tuple[str, str | None, dict[str, Whole | Value | str]], ...]]
    note: str
    scale: Required[Annotated[int, Meta(ge=1, le=10**12)]]
    edition: str
    absent: dict[str, dict[str, str]]
    only: dict[str, str]
    fixed: bool
    requests: int
    place: str
    quantity: Annotated[str, one_of(("elapsed", "cpu"))]
    derived: tuple[Derived, ...]


class Published(TypedDict, total=False):
    """A paper's numbers; a record may have none."""

    citation: str
    tables: tuple[Table, ...]
    systems: dict[str, str]
