"""The entries of `workload.toml`; docs/reference/workload.md describes it."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from loadstone.plan.workload import DIGITS
from loadstone.text.shape import one_of
from loadstone.text.zone import UTC
from loadstone.workload.parameters import SEED, VARIATIONS, VARIATIONS_MAX, Parameter
from loadstone.workload.pgbench import WEIGHT_MAX

Text = Annotated[str, Meta(max_length=1 << 19)]
TRANSACTION, RUN = "transaction", "run"


@dataclass(frozen=True, slots=True)
class TableToml:
    """`[data.NAME]`."""

    file: str | tuple[str, ...] = ()
    sql: Text = ""
    primary_key: str | tuple[str, ...] = ()
    indexes: tuple[str | tuple[str, ...], ...] = ()
    types: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class StatementToml:
    """`[[statement]]`."""

    name: str
    title: Annotated[str, Meta(max_length=200)] = ""
    sql: Text = ""
    quel: Text = ""
    """A query in QUEL, in place of `sql`."""
    dialect: str = ""
    pgbench: str | tuple[str, ...] = ()
    """Scripts of pgbench's, whose `:scale` is `scale`: files, or names of those built in, each with
    its weight behind `@`."""
    mix: Mapping[str, Annotated[int, Meta(ge=1, le=WEIGHT_MAX)]] = field(default_factory=dict)
    """Other statements of the workload, each with its weight."""
    scale: Annotated[int, Meta(ge=1, le=10**6)] = 1
    digits: Annotated[int, Meta(ge=1, le=15)] = DIGITS
    text: Mapping[str, Text] = field(default_factory=dict)
    parameters: Mapping[str, Parameter] = field(default_factory=dict)
    volatile: tuple[str, ...] = ()
    same: tuple[Text, ...] = ()
    grows: tuple[Text, ...] = ()
    """The last three are of scripts; see `WorkloadStatement`."""
    variations: Annotated[int, Meta(ge=1, le=VARIATIONS_MAX)] = VARIATIONS
    drawn: Annotated[str, one_of((TRANSACTION, RUN))] = TRANSACTION
    """Whether concurrent users draw values anew for each transaction, or go round the variations,
    which are drawn when the run is planned."""


@dataclass(frozen=True, slots=True)
class WorkloadToml:
    """The whole file."""

    statement: tuple[StatementToml, ...]
    title: Annotated[str, Meta(max_length=200)] = ""
    dialect: str = ""
    seed: Annotated[int, Meta(ge=0, le=2**63 - 1)] = SEED
    as_it_stands: bool = False
    timezone: Annotated[str, Meta(max_length=60)] = UTC
    data: Mapping[str, TableToml] = field(default_factory=dict)
