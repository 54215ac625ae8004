"""What an engine declares before anything runs, the relations that it stores, and its counts."""

from collections.abc import Callable, Mapping
from dataclasses import astuple, dataclass, field
from enum import StrEnum

from loadstone.engines.setting import Settings
from loadstone.engines.tactic import Tactic
from loadstone.plan.role import Role

STORAGES = ("heap", "clustered", "hash", "nonclustered")


def quoted(name: str) -> str:
    """A name in a statement, as the SQL standard delimits it: any name can be written so."""
    return '"' + name.replace('"', '""') + '"'


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: its name and its type. In the papers' terms: `int2`, `int4`, `int8`, `char(52)`; of
    a user's table also `float8`, `text`, `bool`, `date`, `timestamp` (microseconds, no zone) and
    `decimal(10,2)`. These may hold NULL."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Table:
    """A relation as stored: one physical design under one name of its own.

    `organisation` is heap, clustered or hash; `key` the attribute it is organised on (None for a
    heap); `tiebreaker` makes the key unique where an engine demands it; `indexes` are the
    attributes with a non-clustered index. A user's table has a `primary_key` instead of a key, and
    `compound` indexes, which may be over several attributes.
    """

    name: str
    attributes: tuple[Attribute, ...]
    organisation: str = "heap"
    key: str | None = None
    tiebreaker: str | None = None
    indexes: tuple[str, ...] = ()
    primary_key: tuple[str, ...] = ()
    compound: tuple[tuple[str, ...], ...] = ()

    @property
    def order(self) -> tuple[str, ...]:
        """The attributes in whose order a clustered relation is stored; empty for another."""
        if self.organisation != "clustered" or self.key is None:
            return ()
        return (self.key, self.tiebreaker) if self.tiebreaker else (self.key,)

    @property
    def all_indexes(self) -> tuple[tuple[str, ...], ...]:
        """The attributes of each non-clustered index."""
        return (*((attribute,) for attribute in self.indexes), *self.compound)


@dataclass(frozen=True, slots=True)
class Generated:
    """A whole relation of a benchmark: enough to generate its rows anywhere."""

    benchmark: str
    edition: str
    relation: str
    rows: int
    """The scale of the benchmark."""


@dataclass(frozen=True, slots=True)
class Structure:
    """An engine's counterpart of a storage structure of the papers.

    `supported=False` is a declared gap, with `note` as its reason; with True, `note` names the
    stand-in if the engine does not literally have the structure.
    """

    supported: bool
    note: str = ""
    in_plans: bool = True
    """Whether the engine's plans show its use; if not, `Engine.access_paths` leaves it out."""


@dataclass(frozen=True, slots=True)
class Lack:
    """Values of tactics that a client's program for one benchmark lacks, alone or together:
    `structures` are the measures that are a gap with them, `reason` says why."""

    structures: frozenset[str]
    values: tuple[tuple[str, str], ...]
    """(tactic, value), each of which a variant must name."""
    reason: str

    @property
    def shown(self) -> str:
        """The values and the reason, for a report."""
        return f"{' with '.join('='.join(pair) for pair in self.values)}: {self.reason}"


class UrlUse(StrEnum):
    """What an engine does in a user's database, which a URL names."""

    NONE = "none"
    READ = "read"
    """It reads tables as they stand, in a file."""
    FILE = "file"
    """It makes tables of its own in a file."""
    SERVER = "server"
    """It makes tables of its own on a server, which it cannot stop: no cell is cold there."""


SYNC_S = 0.3e-3
"""About how long a device takes to say that a small write is durable: a virtual disk over solid
state, on Linux 6.18, took 0.1 to 0.2 ms, and up to 7 beside other writers."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """About how much longer than usual a system takes, in seconds: for announcing a run's time."""

    start_s: float = 0.0
    """For its start, beyond a private server's or an embedded engine's."""
    statement_s: float = 0.0
    """For one statement, however few its tuples."""
    calls_s: Mapping[str, float] = field(default_factory=dict)
    """For one call of a benchmark's program, by the benchmark's name."""
    syncs: int = 1
    """The number of waits for the device that one durable commit takes."""
    pace: Callable[[Mapping[str, str]], float] | None = None
    """How many times as long as usual a tuple takes, by the values of the tactics."""

    def commit_s(self, values: Mapping[str, str]) -> float:
        """The time that a commit waits for the device, by the values of the tactics."""
        return 0.0 if values.get("durability", "none") == "none" else self.syncs * SYNC_S


@dataclass(frozen=True, slots=True)
class Capabilities:
    """The engine's abilities, declared before anything runs."""

    structures: Mapping[str, Structure]
    tactics: Mapping[str, Tactic] = field(default_factory=dict)
    """By name."""
    answers: bool = True
    """False for calibration engines, which return nothing to check."""
    stoppable: bool = True
    """False where no instance can ever be stopped; ask `Engine.can_stop` about one of them."""
    no_sql: str = ""
    """Why a statement in SQL is a gap; empty: it takes SQL."""
    column_types: frozenset[str] = frozenset()
    """The types of columns that a user's table may have; empty: all."""
    stored_share: float = 0.0
    """The least share of its tables' plain bytes that it stores, as measured; 0: not known."""
    no_updates: str = ""
    """Why a statement that changes a relation is a gap; empty: it takes them."""
    role: Role = Role.COMPETITOR
    """Its role beside other engines: reports rank only competitors."""
    one_user: str = ""
    """Why it serves one user at a time; empty: it serves several."""
    url: UrlUse = UrlUse.NONE
    """What it does in a user's database."""
    distribution: str = ""
    """The Python package that brings the engine whole, so that a worker can have another release of
    it: `duckdb@1.4.0`. Empty where there is none."""
    settings: Settings | None = None
    """The rules for its own settings, which a variant sets by name: `set.NAME=VALUE`. None where it
    takes none."""
    estimate: Estimate = Estimate()
    lacks: tuple[Lack, ...] = ()
    """Gaps with one value of a tactic that are none with another."""

    def gap(self, structure: str, tactics: Mapping[str, str]) -> str:
        """Why a structure, or a client's measure, is a gap of the engine with these tactics; empty
        where it is none. A tactic that is not named has a value that every program has."""
        declared = self.structures[structure]
        if not declared.supported:
            return declared.note
        lacking = (
            lack.shown
            for lack in self.lacks
            if structure in lack.structures
            and all(tactics.get(name) == value for name, value in lack.values)
        )
        return next(lacking, "")


@dataclass(frozen=True, slots=True)
class Work:
    """An engine's own counts since it was started."""

    tuples: int
    """Read from relations and from intermediate results."""
    pages: int
    """Pages of relations that were read, from memory or from the device."""
    comparisons: int
    """Comparisons of two values, or of a value with a pattern."""
    hash_probes: int
    """Look-ups in hash tables."""
    spilled_bytes: int
    """Bytes written to files because they did not fit into the memory budget."""
    log_bytes: int
    """Bytes of the records appended to the log."""
    batches_ahead: int
    """Batches of tuples that a thread filtered ahead of the one that takes them."""
    functions_compiled: int
    """Functions of machine code, compiled from a statement."""
    code_bytes: int
    """Bytes of that machine code."""
    compile_ns: int
    """The time that compiling took."""
    first_copy_reads: int = 0
    """Reads from the first copy of a mirrored database; 0 without a mirror."""
    second_copy_reads: int = 0
    """Reads from the second copy."""

    def since(self, before: "Work") -> "Work":
        """The counts since an earlier reading."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return Work(*(now - then for now, then in pairs))
