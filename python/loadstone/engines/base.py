"""The contract of an engine: the requests to a system under test, and their order.

A worker process owns one engine object and calls

    start -> load (each table) -> settle -> [run | fetch | read | plan]* -> remove

with `stop`/`start` around every cold sample. An engine never sees a clock, a plan or a record. All
its data lies in its scratch folder or in a schema it created and marked.
"""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.ownership import Hold
from loadstone.engines.tactic import Level, Tactic, declared
from loadstone.engines.work import Work
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.owner import checked_owner
from loadstone.plan.role import Role
from loadstone.plan.variant import SETTING, listed

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa

    from loadstone.plan.variant import Variant

OF_EVERY_SYSTEM = declared(Path(__file__).with_name("every_system.toml"))
"""The tactics that the worker switches, whatever the engine."""
STORAGES = ("heap", "clustered", "hash", "nonclustered")


@dataclass(frozen=True, slots=True)
class Attribute:
    """A column: its name and its type in the papers' terms (`int2`, `int4`, `int8`, `char(52)`)."""

    name: str
    type: str


@dataclass(frozen=True, slots=True)
class Table:
    """A relation as stored: one physical design under one name of its own.

    `organisation` is heap, clustered or hash; `key` the attribute it is organised on (None for a
    heap); `tiebreaker` makes the key unique where an engine demands it; `indexes` are the
    attributes with a non-clustered index.
    """

    name: str
    attributes: tuple[Attribute, ...]
    organisation: str = "heap"
    key: str | None = None
    tiebreaker: str | None = None
    indexes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Structure:
    """An engine's counterpart of a storage structure of the papers.

    `supported=False` is a declared gap, with `note` as its reason; with True, `note` names the
    stand-in if the engine does not literally have the structure.
    """

    supported: bool
    note: str = ""
    in_plans: bool = True
    """Whether the engine's plans show its use; if not, `Engine.access_paths` does not report it."""


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
    role: Role = Role.COMPETITOR
    """Its role beside other engines: reports rank only competitors."""


@dataclass(frozen=True, slots=True)
class Leftover:
    """An object with our mark, made by run `owner`: `clean` lists it, asks, and removes it."""

    kind: str
    name: str
    owner: str
    detail: str
    removal: str
    """The statement, or the path, whose execution or removal cleans it."""
    alive: bool = False
    """Whether a living run holds it, on any machine: then it stays."""


@dataclass(frozen=True, slots=True)
class Probe:
    """The result of trying whether an engine starts on this machine, in words that fit on one line
    of a screen."""

    name: str
    """Of what was tried."""
    works: bool | None
    """None where it was not tried."""
    found: str
    consequence: str
    """What it means for a run."""
    remedy: str = ""
    """What to do about it; empty where it works."""


def in_use(leftover: Leftover) -> EngineError:
    """The error for a leftover that a living run holds."""
    return EngineError(
        f"{leftover.kind} {leftover.name} is in use: run {leftover.owner} is being measured",
        hint="let it end, or end it; it then removes this by itself",
    )


class System(ABC):
    """A system under test, from start to removal: the requests common to all.

    One instance per worker process; not shared between threads. Errors: every method raises
    `EngineError` with the system's own message, never with a secret; `UnsupportedError` for a
    declared gap.
    """

    name: ClassVar[str]
    takes_url: ClassVar[bool] = False
    """Whether it can work in a user's database, named by URL."""
    capabilities: ClassVar[Capabilities]
    settings_of_data: ClassVar[Collection[str]] = ()
    """Settings of its own by which what is loaded looks otherwise."""

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        """Keep the request; touch nothing. `scratch` is an existing folder that this engine alone
        may fill; `owner` (the run's id, `[a-z0-9]+`) marks its objects elsewhere."""
        self.variant = variant
        self.scratch = scratch
        self.owner = checked_owner(owner)
        self.heir = False
        """Whether earlier workers may have left data of the run: then `remove` may not report
        success without reaching the database."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Raise `InputError` if a variant names a tactic or a value that is not declared, or a
        user's database that the engine cannot work in."""
        if variant.url is not None and not cls.takes_url:
            raise InputError(
                f"{cls.name} cannot work in a database of yours",
                hint=f"leave out the URL: --on {cls.name}",
            )
        of_ours = sorted({name for name, _ in variant.tactics} & OF_EVERY_SYSTEM.keys())
        if variant.url is not None and of_ours:
            raise InputError(
                f"{cls.name}: {listed(of_ours)} cannot be set for a database of yours",
                hint="leave out the URL, and it is measured in a database of ours",
            )
        for name, value in variant.tactics:
            if name.startswith(SETTING):
                cls.check_setting(variant, name.removeprefix(SETTING), value)
            else:
                cls.tactic_of(variant, name)

    @classmethod
    def tactics(cls) -> Mapping[str, Tactic]:
        """All that can be switched, by name: what it declares, and what every system has."""
        return {**cls.capabilities.tactics, **OF_EVERY_SYSTEM}

    @classmethod
    def check_setting(cls, variant: "Variant", name: str, value: str) -> None:
        """Raise `InputError` if a setting of that name, `set.NAME=VALUE`, is known to be refused;
        what only the engine can tell, `start` does."""
        del variant, value
        raise InputError(
            f"{cls.name} takes no settings by name here: {SETTING}{name[:40]}",
            hint=f"it can switch: {listed(cls.tactics())}",
        )

    @classmethod
    def level_of(cls, name: str) -> Level:
        """The least that another value takes, of a tactic or a setting (`set.NAME`)."""
        if name.startswith(SETTING):
            is_of_data = name.removeprefix(SETTING) in cls.settings_of_data
            return Level.LOAD if is_of_data else Level.START
        return cls.tactic_named(name).level

    @classmethod
    def tactic_named(cls, name: str) -> Tactic:
        """The tactic of that name. Raises `InputError` where there is none."""
        tactic = cls.tactics().get(name)
        if tactic is None:
            known = listed(cls.tactics())
            raise InputError(f"{cls.name} has no tactic {name!r}", hint=f"it can switch: {known}")
        return tactic

    @classmethod
    def tactic_of(cls, variant: "Variant", name: str) -> str:
        """The value a variant asks for a tactic, or its declared default."""
        tactic = cls.tactic_named(name)
        asked = variant.tactic(name, tactic.default)
        return tactic.checked(asked, cls.name, elsewhere=variant.url is not None)

    @classmethod
    def asked(cls, variant: "Variant") -> Mapping[str, str]:
        """Each tactic's value for a variant: the one that it names, or the default."""
        defaults = {name: tactic.default for name, tactic in cls.tactics().items()}
        return defaults | dict(variant.tactics)

    @classmethod
    def same_data(cls, one: "Variant", other: "Variant") -> bool:
        """Whether what is loaded under one variant serves the other, too: the same database, and no
        tactic of level `load` differs. Raises `InputError` for a tactic that there is not."""
        if (one.engine, one.url) != (other.engine, other.url):
            return False
        before, after = cls.asked(one), cls.asked(other)
        differing = [name for name in {**before, **after} if before.get(name) != after.get(name)]
        return all(cls.level_of(name) is not Level.LOAD for name in differing)

    def switch(self, variant: "Variant") -> None:
        """Make the system that variant, on the data that it has: afterwards all is as after a fresh
        start. It may stop, and forget what it had in memory. Where it fails the system is stopped,
        and can be switched to another variant. Raises `InputError` where the data do not serve."""
        self.check(variant)
        if not self.same_data(self.variant, variant):
            raise InputError(
                f"{variant.name} needs other data than {self.variant.name} has loaded",
                hint="load its relations anew, in a scratch folder of its own",
            )
        before, self.variant = self.variant, variant
        self._switch(before)

    def _switch(self, before: "Variant") -> None:
        """Take the values of `variant`, which `switch` has set, after those of `before`. An engine
        overrides it where less than a restart is enough."""
        del before
        self.stop()
        self.start()

    def tactic(self, name: str) -> str:
        """The value this engine was asked for a tactic, or its default."""
        return self.tactic_of(self.variant, name)

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Versions of the engine and its driver, without starting anything."""
        return {}

    @abstractmethod
    def start(self) -> None:
        """Start the engine on the present contents of its scratch folder or schema, or on nothing;
        set every tactic. Called again after `stop` and after a crash."""

    @abstractmethod
    def stop(self) -> Sequence[int]:
        """Stop it so that nothing of it stays in memory. Returns the process ids that must now be
        dead (empty for an embedded engine)."""

    @abstractmethod
    def terms(self) -> Mapping[str, str]:
        """The terms of the comparison, read back from the engine: keys `version`, `isolation`,
        `durability`, `cache` (bytes), `parallelism`; every other tactic under its own name and in
        its own words, so that asked and set can be compared; and the engine's own settings as
        `setting.NAME`. For a server that cannot report one, `unknown`."""

    @abstractmethod
    def size_bytes(self) -> int:
        """Bytes that our tables and indexes take."""

    @abstractmethod
    def files(self) -> Sequence[Path]:
        """Files that hold our data: they must leave the page cache before a cold sample, and be out
        of it when the clock starts.

        Answers whether started or stopped; empty if they are on a server that is not ours. Lock
        files that every opening makes anew are no data.
        """

    def relation_files(self) -> Sequence[Path]:
        """Those of `files` that hold our relations and indexes and nothing else, for an engine that
        keeps its catalogs in other files and reads all through the page cache: its reads of our
        data then show there. Empty if data and catalogs share a file."""
        return ()

    def header_bytes(self) -> int:
        """Bytes of `files` that every opening must read and that hold no tuple by the file's
        format: headers, the start of the catalog. All other bytes that opening reads count as
        data."""
        return 0

    @property
    def can_stop(self) -> bool:
        """Whether `stop` ends everything that could hold our data in memory. False for a server
        that is not ours, where `stop` only disconnects: no cell can be cold there."""
        return self.capabilities.stoppable

    def processes(self) -> Sequence[int]:
        """Server processes whose CPU time and device reads belong to the engine (their children
        included); empty for an embedded engine, whose work is the worker's own."""
        return ()

    @abstractmethod
    def remove(self) -> None:
        """Remove everything we made and release everything we hold. Safe to call twice, after a
        failure, and without `start`."""

    @classmethod
    def sweep(cls, variant: "Variant") -> "Sequence[Leftover]":
        """Our objects of earlier runs in the user's own database, recognised by the mark."""
        del variant
        return ()

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Remove one thing that `sweep` found, after looking at its mark once more."""
        raise UnsupportedError(f"{cls.name} leaves nothing behind: {variant.name} {leftover.name}")

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """Mark in the user's own database that this run lives, so that `clean`, on any machine,
        spares it; from before the engine starts there until it has removed its objects. Raises
        `EngineError`."""
        del variant, owner
        return Hold()

    @classmethod
    def end_sessions(cls, variant: "Variant", owner: str) -> None:
        """End the sessions that a killed worker left in a user's server, where its statement would
        go on. Raises `EngineError`."""
        del variant, owner

    @classmethod
    def probe(cls, scratch: Path) -> Probe | None:
        """Try, in an empty folder of ours, whether the engine starts as this user; what that makes
        is removed again. None where an engine that is installed can do nothing but start. Raises
        nothing: that it does not start is the answer."""
        del scratch
        return None

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the processes that a killed worker left running for this scratch folder, and remove
        its objects outside of it. Returns the process ids that were ended. Knows no variant and no
        owner: the folder tells."""
        del scratch
        return ()


class Engine(System):
    """A system that executes statements."""

    dialect: ClassVar[str]
    """The language of its statements: a dialect as sqlglot names it, or `quel`."""

    @abstractmethod
    def tables(self) -> Sequence[str]:
        """Names of the tables that exist in our space."""

    @abstractmethod
    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Create a table and fill it by the fastest native way, in one transaction, then build its
        indexes. A half-made table of that name is replaced. Returns the rows it now holds."""

    @abstractmethod
    def settle(self, tables: Sequence[str]) -> None:
        """Gather statistics on tables just loaded and write everything back (checkpoint)."""

    @abstractmethod
    def run(self, statement: str) -> int:
        """Execute one statement to completion, commit included. Returns the tuples it changed, or
        -1 if the engine does not report them. Timed."""

    @abstractmethod
    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Execute one query and fetch every row to the client as Python values. Timed."""

    def interrupt(self) -> None:
        """End the statement that another thread is in: it raises there, and nothing of it is kept.
        Called again until that has happened, since the statement may not have begun. An engine that
        cannot lets it come to its end."""

    @abstractmethod
    def read(self, statement: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """The same rows by the quickest way, for checking an answer. Never timed. Rows may come
        only as they are asked for, so that a large relation takes little memory: then the statement
        begins with the first, and no other may be executed before the last."""

    def contents(self, table: str) -> "Iterable[tuple[Any, ...]] | pa.Table":
        """All rows of a table of ours, as by `read`."""
        return self.read(f"SELECT * FROM {self.quote(table)}")  # noqa: S608 - quoted

    def ask_nothing(self) -> None:
        """An empty request, to the engine and back. Timed, as the next two are. Each raises
        `UnsupportedError` where the engine or its driver has no such thing."""
        raise UnsupportedError(f"{self.name} has no empty request")

    def ask_constant(self) -> None:
        """Execute a statement that gives a constant, and that stays prepared from its first
        execution on."""
        raise UnsupportedError(f"{self.name} has no constant to ask for")

    def plan(self, statement: str, query: str) -> None:
        """Parse a statement and plan it, as `run` does each time; execute nothing. `query` is what
        a statement that makes a relation retrieves, else the statement."""
        del statement, query
        raise UnsupportedError(f"{self.name} cannot plan a statement alone")

    def count(self, query: str, *, planned: bool) -> int:
        """The number that a query answers with. Timed. `planned`: the query is parsed and planned
        as if it had never been asked before."""
        del planned
        return int(self.fetch(query)[0][0])

    @contextmanager
    def taken_back(self) -> Iterator[None]:
        """All statements until its end are one transaction, which is then taken back. Raises
        `UnsupportedError` if each statement is one by itself."""
        raise UnsupportedError(f"{self.name} commits each statement by itself")
        yield  # a context manager is made of what yields

    @abstractmethod
    def drop(self, table: str) -> None:
        """Drop one of our tables if it exists."""

    @abstractmethod
    def explain(self, statement: str) -> str:
        """The plan the engine would use, as its own text; changes nothing."""

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """The storage structures (of `STORAGES`) by which the plan that `explain` gave for a
        statement reaches its tables, `heap` for a scan of all tuples; empty if it reaches none.
        None if the engine does not report it. Read from the plan, so that a structure is seen to be
        used, not only declared. Changes nothing."""
        del statement, plan
        return None

    def work(self) -> Work | None:
        """Its counts so far; None if it has none. Read outside the clock, around each sample."""
        return None

    def another(self) -> "AbstractContextManager[Engine]":
        """One more session of the same database, with the same tactics, for another thread of this
        process; it ends with its context, and before the engine does.

        It has `run`, `fetch` and `read`; everything else is asked of the engine itself. Raises
        `UnsupportedError` if there can be only one.
        """
        raise UnsupportedError(f"{self.name} has one session only")

    def stored_name(self, name: str) -> str:
        """The stored name of a table. The names in every statement, in `load`, `settle`, `drop` and
        `tables` are such names; the same unless an engine must tell ours from others by name."""
        return name

    @property
    def schema(self) -> str:
        """The schema that statements name with every table; empty if they need not, because nobody
        else can change where a session looks for names."""
        return ""

    def quote(self, name: str) -> str:
        """A table name of ours as it is written in a statement."""
        return '"' + name.replace('"', '""') + '"'
