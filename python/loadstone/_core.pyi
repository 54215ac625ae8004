"""The contract of the Rust core (`crates/python`), checked against the binary by stubtest."""

from collections.abc import Callable, Iterable, Sequence
from os import PathLike
from typing import Any, Literal, Self, final

from loadstone._core_users import Drawing as Drawing
from loadstone._core_users import StatementUsers as StatementUsers
from loadstone._core_users import Timeline as Timeline
from loadstone._core_users import UsersAsked as UsersAsked
from loadstone._core_users import drawn_values as drawn_values

__version__: str
build_profile: str

__all__ = [
    "Client", "ClientError", "ClientGapError", "Drawing", "IdleStates", "LodeBtree",
    "LodeConnection", "LodeDatabase", "LodeHash", "LodeHeap", "LodeLinks", "LodeObjects",
    "LodeRemote", "LodeRows", "LodeServer", "LodeStatement", "LodeStatementServer",
    "LodeTransaction", "Meter", "Oo1Oracle", "Oo7Oracle", "Oracle", "QuelError", "RelationStream",
    "Sampler", "SpeedProbe", "StatementUsers", "Tally", "Timeline", "UsersAsked", "__version__",
    "allocator", "answer_of_rows", "answer_of_stream", "attributes", "build_profile",
    "built_and_late", "called_bytes", "clock_cost_ns", "clock_ns", "clock_resolution_ns", "cpu_ns",
    "disable_idle_states", "drawn_values", "effective_samples", "evict", "export",
    "growth_exponent", "intended_starts", "interval_of_median", "interval_of_paired_ratio",
    "io_bytes", "lode_connect", "lode_mirror", "lode_profiles", "lode_tactics", "lode_tactics_of",
    "mapped_bytes", "oo1_checksum", "oo1_client", "oo1_inputs", "oo1_measures", "oo7_checksum",
    "oo7_client", "oo7_engines", "oo7_inputs", "oo7_lacks", "oo7_measures", "oo7_rows", "outliers",
    "page_out", "pretouch", "processor_times", "quel_format", "quel_parse", "reads_past_calls",
    "relations", "resident_pages", "rvm_answer", "rvm_client", "rvm_engines", "rvm_inputs",
    "rvm_lacks", "rvm_measures", "schedule", "spin_ns", "versions_built_in",
]  # fmt: skip

# --- datasets -----------------------------------------------------------------------------
def relations(benchmark: str, edition: str) -> list[str]:
    """Names of an edition's relations, in the paper's order."""

def attributes(benchmark: str, edition: str, relation: str) -> list[tuple[str, str]]:
    """(name, type) of a relation in order; a type is `int2`, `int4`, `int8`, `char(N)`
    or `timestamp` (seconds, UTC)."""

def built_and_late(benchmark: str, edition: str, relation: str, rows: int) -> tuple[int, int]:
    """The number of rows that a relation is built of, and of its last ones, inserted later."""

@final
class RelationStream:
    """Rows `first .. first + count` of a relation as Arrow record batches, made on demand.

    `rows` is the scale n of the benchmark (the size of its large relations). Implements
    `__arrow_c_stream__`, so `pyarrow.RecordBatchReader.from_stream(stream)` reads it uncopied.
    """

    def __new__(
        cls, benchmark: str, edition: str, relation: str, rows: int, seed: int = 0, first: int = 0,
        count: int | None = None, batch_rows: int = 65536,
    ) -> Self: ...  # fmt: skip
    @property
    def row_count(self) -> int:
        """Rows this stream yields in all."""
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

def export(
    benchmark: str, edition: str, relation: str, rows: int, path: str, format: str,  # noqa: A002
    seed: int = 0, part: int = 1, part_count: int = 1, threads: int = 1, compression: str = "none",
    progress: Callable[[int], Any] | None = None,
) -> dict[str, int]:  # fmt: skip
    """Write part `part` of `part_count` (1-based) of a relation to `path`, by way of a temporary
    name beside it. `format`: csv, parquet, arrow. `progress` gets rows done so far, a few times a
    second; an exception it raises (Ctrl-C) stops the export and removes the temporary file.
    Returns rows, bytes, and elapsed_ns."""

# --- quel ---------------------------------------------------------------------------------

class QuelError(ValueError):
    """The text is not QUEL, or means nothing; the message shows line, caret and expectation."""

def quel_parse(text: str) -> str:
    """The program's tree as JSON: a list of statements (see crates/quel/src/tree.rs)."""

def quel_format(tree: str) -> str:
    """The canonical QUEL text of a JSON tree."""

@final
class Oracle:
    """Expected answers, evaluated naively over generated relations; shares no code with engines."""

    def __new__(cls) -> Self: ...
    def add(
        self, benchmark: str, edition: str, relation: str, rows: int, seed: int = 0,
        name: str | None = None,
    ) -> None:  # fmt: skip
        """Generate a relation and keep it in memory under `name` (default: its own)."""
    def answer(self, text: str) -> tuple[int, str]:
        """The expected (rows, checksum) of the program: of the rows that its last `retrieve`
        returns, or, after an append, replace or delete, (tuples changed, checksum of the whole
        relation afterwards). The oracle's own relations stay unchanged."""
    def contents(self, name: str) -> tuple[int, str]:
        """(rows, checksum) of a relation as generated."""

def answer_of_stream(stream: Any) -> tuple[int, str]:
    """(rows, checksum) of anything with `__arrow_c_stream__`; order does not matter."""

def answer_of_rows(rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of Python rows (int, float, str, Decimal, bool, None)."""

# --- clients ------------------------------------------------------------------------------

class ClientError(RuntimeError):
    """An engine's error, or a request that it cannot execute, in a client in Rust."""

class ClientGapError(ClientError):
    """The engine has no such measure or tactic: a gap, with its reason."""

def allocator() -> str:
    """`mimalloc` or `the system's`, of everything in Rust, as read back from a block of it."""

def oo1_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], parts: int, seed: int = 1,
    locality: bool = True, library: str | None = None,
) -> Client:  # fmt: skip
    """OO1's program. `database` is a path (sqlite, duckdb, lmdb, lode), a connection string
    (postgresql) or empty (memory, null); `library` the shared object that holds DuckDB."""

def oo1_measures() -> list[str]: ...
def versions_built_in() -> dict[str, str]:
    """The versions of the engines that are compiled into the core, by name: sqlite, lmdb."""

def oo7_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], parts: int, fan_out: int = 3,
    seed: int = 1, library: str | None = None,
) -> Client:  # fmt: skip
    """OO7's program; `parts` are atomic, `fan_out` the number of connections that leave each."""

def oo7_engines() -> list[str]: ...
def oo7_lacks() -> list[tuple[str, str, str, str]]: ...  # engine, tactic, value, reason
def oo7_measures() -> list[str]: ...
def rvm_client(
    engine: str, database: str, tactics: Sequence[tuple[str, str]], accounts: int, seed: int = 1,
    library: str | None = None,
) -> Client:  # fmt: skip
    """As `oo1_client`."""

def rvm_engines() -> list[str]: ...
def rvm_lacks() -> list[tuple[str, str, str, str]]: ...
def rvm_measures() -> list[str]: ...
def rvm_inputs(accounts: int, seed: int, measure: str, iteration: int) -> list[tuple[int, int]]:
    """(teller, account) of the first ten transactions of a trial; empty for the audit."""

def rvm_answer(accounts: int, seed: int, measure: str, iteration: int) -> tuple[int, str]:
    """(transactions, checksum of all that is stored after them), by an evaluation in memory."""

@final
class Client:
    """A client program in Rust that calls one engine: see `oo1_client`, `oo7_client` and
    `rvm_client`. Raises `ClientGapError`, `ClientError`, and ValueError for an unknown engine,
    measure or tactic. Releases the interpreter while it works.
    """

    def load(self) -> int:
        """Create the database in place of any other; elapsed ns, indexes and commit
        included."""
    def measure(
        self, measure: str, iteration: int, servers: Sequence[int] = ...
    ) -> tuple[int, int, int, str, int, tuple[int | None, int | None, int | None], _Work]:
        """Run a measure once: (elapsed ns, of these the commit's, visits, checksum, calls made
        into the driver, (statements sent to the engine, round trips to a server, bytes that the
        engine appended to its log), work as `Meter.read` gives it). The iteration's number
        determines the inputs. Checking and undoing writes is in none of the figures. `servers`: the
        engine's processes."""
    def users(
        self, readers: int, writers: int, duration_ns: int, starts_ns: Sequence[int] | None = None,
        servers: Sequence[int] = ..., measures: tuple[str, str] | None = None,
    ) -> tuple[int, Tally, Tally, int, _Work]:  # fmt: skip
        """Concurrent users, each a thread with a driver of its own. A closed loop for that long, or
        an open one with requests due at `starts_ns` (offsets in ns, ascending; for each kind).
        OO1's readers look up, its writers insert, one part a request; OO7's execute one of M1 to M6
        each. All that was acknowledged must be there, and is taken back. Returns (elapsed ns, tally
        of the readers, tally of the writers, links or changes found, work as of `Meter.read`)."""
    def size_bytes(self) -> int:
        """Bytes that the database takes where it is kept, log included."""
    def terms(self) -> list[tuple[str, str]]:
        """The terms, read back from the engine."""

@final
class Oo1Oracle:
    """The expected answer of each measure of OO1, by a plain evaluation in memory."""

    def __new__(cls, parts: int, seed: int = 1, locality: bool = True) -> Self: ...
    def answer(self, measure: str, iteration: int) -> tuple[int, str] | None:
        """(visits, checksum); None for a rung of the ladder, which has no answer."""

@final
class Oo7Oracle:
    """The expected answer of each operation of OO7, by a plain evaluation in memory."""

    def __new__(cls, parts: int, fan_out: int = 3, seed: int = 1) -> Self: ...
    def answer(self, measure: str, iteration: int) -> tuple[int, str]:
        """(count, checksum)."""

def oo7_inputs(parts: int, fan_out: int, seed: int, measure: str, iteration: int) -> list[int]:
    """The input of an iteration of an operation: atomic parts (Q1, T7), composite parts with the
    documents of the titles (Q4), the base assemblies that get a new component (S1, S2); empty for
    the others. ValueError for a database that there is not."""

def oo7_rows(
    parts: int, fan_out: int, seed: int, relation: str, owner: int | None = None
) -> list[tuple[Any, ...]]:
    """The rows of a relation of OO7's database (as `crates/clients/src/oo7/sql.rs` names it and
    its columns), or those of one owner: the object itself, or the base assembly or composite part
    that they belong to. Composite parts beyond the database's last are those that S1 makes."""

def oo7_checksum(kind: str, rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(count, checksum) of what a client in Python saw, as the client in Rust counts it: `part`
    (id, type, date, x, y, document), `complex` and `base` (id, type, date), `pair` (part, title),
    `letters` (found, length), `ends` (first, last character); or of rows found stored, as
    `oo7_rows` has them, by the relation's name. ValueError for another kind."""

def oo1_inputs(parts: int, seed: int, locality: bool, measure: str, iteration: int) -> list[Any]:
    """The input of an iteration of a measure, for a client in Python: ids (look-up,
    group), one id (traversals), the first second and the one after the last (range), (from, to)
    (reference), (id, build) (update), (id, x, y, type, build, three times (to, length, type))
    (insert); empty for the others. Build times in seconds since 1970."""

def oo1_checksum(kind: str, rows: Iterable[Sequence[Any]]) -> tuple[int, str]:
    """(rows, checksum) of visited values, as the oracle counts them. `kind` is part or
    part-in-order (id, x, y, type), link (from, to, length, type) or point (x, y). But for
    part-in-order, sums modulo 2^64 of checksums are those of the rows together."""

# --- lode ---------------------------------------------------------------------------------
# All of it raises `loadstone.errors.LodeError`, of which `DeadlockError` says that the transaction
# was rolled back and should be run again. `loadstone.lode` has the same under shorter names.

def lode_tactics() -> list[dict[str, Any]]:
    """Each tactic of lode as its code describes it: `name`, `default`, `values` (name, what it
    means), and `does`, `buys`, `costs`, `loses` (in a crash), `excludes`, `source` as sentences.
    `place` is not a database's: it says which of `LodeDatabase` and `LodeRemote` one uses."""

def lode_profiles() -> list[dict[str, Any]]:
    """Each value of the tactic `profile`: `name`, `about`, `settings` (tactic, value, its reason),
    `missing` (what the system had besides, what lode does instead)."""

def lode_tactics_of(text: str) -> list[tuple[str, str]]:
    """(name, value) of each tactic of a database, of a text as in a variant, `locks=page&log=x`;
    the others have their defaults. Raises ValueError for an unknown name or value."""

def lode_mirror(path: str | PathLike[str], alone: str | None = None) -> dict[str, Any] | None:
    """Of the copies at a path: `verdict`, and of `first` and `second` `path`, `says`, `epoch`. One
    that is to go on `alone` is switched to that first."""

def lode_connect(address: str, **tactics: str | int) -> LodeRemote:
    """Use the database that a page server has open at `address`: the path of a Unix socket, or a
    port of this machine, `127.0.0.1:4711`. `cache`, `hugepages`, `replacement`, `swizzle`,
    `prefetch` and `readahead` are the client's to choose; the other tactics are the server's."""

@final
class LodeDatabase:
    """A lode database, for all threads: the volume at `path`, and beside it its log, `path` with
    `-log` behind. As a context manager it is closed at the end of the block.

    It belongs to the process that opened it. In a child that `os.fork` makes every request raises,
    and the files stay the parent's.

    `mode`: `create` makes a new one, `open` takes one that is there (and recovers it if it was not
    closed), `any` does whichever fits, `read` opens one only to read, beside other readers. Each
    tactic may be given by its name, a number as text or as int; contents do not depend on them.
    """

    def __new__(
        cls, path: str | PathLike[str], mode: Literal["any", "create", "open", "read"] = "any",
        **tactics: str | int,
    ) -> Self: ...  # fmt: skip
    def writing(self) -> LodeTransaction:
        """A transaction that reads and writes."""
    def reading(self) -> LodeTransaction:
        """A transaction that only reads; it ends when its block does."""
    @property
    def tactics(self) -> dict[str, str]:
        """Those in force: `extent` as created, `mirror` off while one copy only is in step."""
    @property
    def mirror(self) -> dict[str, Any] | None:
        """`epoch`, `mended` (pages written anew in one copy), of `first` and `second` `standing`
        (`in step`, `being filled`, `gone`), `why`, `reads`, `filled_bytes`; None with `off`."""
    def remirror(self) -> int | None:
        """Fill the copy that is gone while others go on: the bytes, None if none is gone."""
    def take_down(self, copy: str) -> None:
        """Let go of the `first` or `second` copy, as if its device had gone."""
    @property
    def recovery(self) -> dict[str, int] | None:
        """The work of recovery: `records` read, transactions `ended` and `taken_back`, `pages`
        written. None if the database had been closed."""
    def counters(self) -> dict[str, dict[str, int]]:
        """Counts since it was opened, of `buffer` (misses, pages_read, …), `log` (records, syncs,
        …), `locks` (waits, deadlocks) and `query` (of statements that have ended: tuples, pages,
        comparisons, spilled_bytes, functions_compiled, rows, …; log_bytes of all transactions).
        A read of a page in memory is not counted: the counter would cost more than the read."""
    def serve(self, address: str) -> LodeServer:
        """Let other processes use the database: at a path, where a Unix socket is made that its
        owner alone may open, or at a port of this machine, `127.0.0.1:4711` (port 0: any that is
        free). It is the server's from then on; refused while a transaction has not ended."""
    def answer(self, path: str | PathLike[str]) -> LodeStatementServer:
        """Answer statements that come through a Unix socket at `path`, its owner's alone."""
    def beside(self) -> LodeConnection:
        """A thread that executes statements. Both keep the database open until they are closed."""
    def query(
        self, text: str, parameters: Sequence[int | float | str] | None = None,
        ranges: dict[str, str] | None = None,
    ) -> LodeRows:  # fmt: skip
        """The rows of the last command of a QUEL text, a `retrieve` to the client. `$1` is first of
        `parameters`; `ranges` are range variables declared before, with their relations.

        A text is one transaction. One that only retrieves reads until its rows have been read or
        dropped; any other has committed when this returns. Raises `QueryError` for a text that is
        wrong, with the place; nothing of a statement that fails is kept."""
    def execute(
        self, text: str, parameters: Sequence[int | float | str] | None = None,
        ranges: dict[str, str] | None = None,
    ) -> int | None:  # fmt: skip
        """Run a QUEL text that gives no rows, as one transaction, commit included. Returns how many
        tuples its last command stored or changed; None if that command only defines."""
    def prepare(self, text: str, ranges: dict[str, str] | None = None) -> LodeStatement:
        """Read a QUEL text, to be run many times with other values of `$1`, `$2` …"""
    def statements(self, text: str) -> list[LodeStatement]:
        """The commands of a QUEL text one by one, declarations of range variables among them, each
        to be run as a transaction of its own. Errors point into the whole text."""
    def explain(
        self, text: str, parameters: Sequence[int | float | str] | None = None,
        ranges: dict[str, str] | None = None, counted: bool = False,
    ) -> str:  # fmt: skip
        """The way in which the last command of a text would be run, with the rows that are expected
        to reach each pipeline's sink, and with `execution=compiled` what each pipeline was compiled
        to; changes nothing. `counted`: run the whole text, its changes included, drop its rows, and
        show beside the estimates the rows that each source and step let through (some values of
        `execution` count only those at the sinks) and the text's work."""
    def access_paths(
        self, text: str, parameters: Sequence[int | float | str] | None = None
    ) -> list[str]:
        """The storage structures by which the last command of a text would reach relations: `heap`
        for a scan, `clustered`, `hash`, `nonclustered`."""
    def cancel(self) -> None:
        """End all statements that other threads are running here, or wait for a lock with: they
        raise `CancelledError` and keep nothing. One that commits already is not ended."""
    def load(
        self, name: str, attributes: Sequence[tuple[str, str]], rows: Any,
        organisation: Literal["heap", "clustered", "hash"] | str = "heap",
        key: Sequence[str] | None = None, indexes: Sequence[str] | None = None,
    ) -> int:  # fmt: skip
        """Make a relation of the rows of anything with `__arrow_c_stream__`, in one transaction;
        one of the same name is replaced. Columns are taken by position. An attribute is (name,
        type), as in QUEL's `create`: i1 … i8, f4, f8, c1 … `key`: what it is clustered or hashed
        on; each of `indexes` gets an index of its own. Returns its rows."""
    def destroy(self, name: str) -> bool:
        """Remove a relation; whether there was one."""
    def relations(self) -> list[dict[str, Any]]:
        """Each by name: `name`, `attributes` (name, type), `organisation`, `layout` (as it was
        stored), `key`, `indexes` (the attributes of each), `rows` and `pages` as last counted."""
    def used_bytes(self) -> int:
        """Bytes of the volume's pages that are in use, those of catalogs included."""
    def settle(self, *names: str) -> None:
        """Gather statistics of relations, or of all, from which the optimizer plans."""
    def checkpoint(self) -> None:
        """Write all changed pages to their places."""
    def backup(self, path: str | PathLike[str]) -> dict[str, int]:
        """Copy the committed state to a new database at `path`, while others go on, and read the
        copy again; how many `pages` are in use, and its `volume_bytes`. It waits for writing
        transactions: call it outside of any of this thread. If it fails, no copy is left."""
    def forget(self) -> None:
        """The same, and drop every page from memory: the next requests are cold for the engine."""
    def close(self) -> None:
        """Write everything to its place and close the files; refused while a transaction has not
        ended. Closing twice is harmless."""
    def abandon(self) -> None:
        """Let go of the files as they are, as a crash would. Opening recovers them."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class LodeRows:
    """Rows of a query, which are read once: by `fetch`, or as a stream of Arrow batches, as in
    `pyarrow.RecordBatchReader.from_stream(rows)`. Integers and reals have their stored widths,
    texts lose their trailing blanks.

    Many rows are made while they are read. Who stops reading closes or drops the object, which
    ends the statement.
    """

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
    @property
    def types(self) -> list[str]:
        """Their types, as QUEL has them: i1 to i8, f4, f8, c1 and so on."""
    def fetch_next(self) -> list[tuple[Any, ...]]:
        """The next rows, about a megabyte of them; an empty list at the end."""
    def fetch(self) -> list[tuple[Any, ...]]:
        """All rows as tuples of int, float, str and None."""
    def close(self) -> None:
        """End the statement, whatever rows are left. Closing twice is harmless."""
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any: ...
    def __arrow_c_schema__(self) -> Any: ...

@final
class LodeStatement:
    """A QUEL text that has been read: `LodeDatabase.prepare` makes one, and
    `LodeDatabase.statements` one of each command."""

    @property
    def gives_rows(self) -> bool:
        """Whether it is to be queried; else it is to be executed."""
    @property
    def declares(self) -> dict[str, str]:
        """The range variables that it declares, with their relations."""
    def after(self, ranges: dict[str, str]) -> LodeStatement:
        """The same after declarations, range variable to relation."""
    def explain(self, *parameters: int | float | str, counted: bool = False) -> str:
        """As `LodeDatabase.explain`."""
    def query(self, *parameters: int | float | str) -> LodeRows:
        """As `LodeDatabase.query`."""
    def execute(self, *parameters: int | float | str) -> int | None:
        """As `LodeDatabase.execute`."""

@final
class LodeServer:
    """A page server at work in this process. As a context manager it is stopped at the end of the
    block."""

    @property
    def address(self) -> str:
        """The place where it listens, with the port that was free."""
    def wait(self) -> None:
        """Wait until it has been stopped, or has failed, which `stop` then shows. In the main
        thread, what a signal's handler raises ends the waiting."""
    def remirror(self) -> int | None:
        """As of a database."""
    def stop(self) -> None:
        """Send all clients away, which takes back what they have not committed, and close the
        database. Stopping twice is harmless."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class LodeConnection:
    """Statements executed elsewhere, one at a time: by the server whose socket is at `path`, or by
    a thread (`LodeDatabase.beside`). `query` and `execute` are as of a database."""

    def __new__(cls, path: str | PathLike[str]) -> Self: ...
    def query(self, text: str) -> LodeRows: ...
    def execute(self, text: str) -> int | None: ...
    def place(self) -> str:
        """The process and the thread that execute, as the kernel names them: `17/task/18`."""
    def request(self, name: str, text: str = "") -> str:
        """Ask a server by name, or have it act; an unknown name is answered with all there are."""
    def close(self) -> None: ...

@final
class LodeStatementServer:
    """A server of statements at work in this process; a context manager that stops it. `stop` ends
    the statements that run and sends all clients away; the database stays open."""

    @property
    def address(self) -> str: ...
    def stop(self) -> None: ...
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class LodeRemote:
    """A database that a page server has open, for all threads: `lode_connect` makes one. Pages that
    were used are cached here. When the server is gone, everything raises: connect anew then.

    A transaction stays in the thread that began it. As a context manager it is closed at the end of
    the block.
    """

    def writing(self) -> LodeTransaction:
        """A transaction that reads and writes. Its changes must fit the cache."""
    def reading(self) -> LodeTransaction:
        """A transaction that only reads; it ends when its block does."""
    @property
    def tactics(self) -> dict[str, str]:
        """The tactics in force: this client's, and for the rest the server's."""
    def counters(self) -> dict[str, dict[str, int]]:
        """Counts since connecting, under `buffer` as of a database, and under
        `traffic`: round_trips, one_way messages, sent_bytes, received_bytes."""
    def backup(self, path: str | PathLike[str]) -> dict[str, int]:
        """Copy the committed state to a new database at `path`, which this process makes: as
        `LodeDatabase.backup`."""
    def forget(self) -> None:
        """Drop every page from the client's memory: the next requests fetch them again."""
    def close(self) -> None:
        """Disconnect, when the last transaction has ended. Closing twice is harmless."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class LodeTransaction:
    """Several operations as one. A block (`with database.writing() as transaction:`) commits at its
    end, and rolls back if it is left by an exception. The files that a transaction opened end with
    it. It keeps its database open.

    A name leads to one file of one kind. A writing transaction creates a missing file; a reading
    one raises.
    """

    def heap(self, name: str) -> LodeHeap: ...
    def objects(self, name: str) -> LodeObjects: ...
    def btree(self, name: str) -> LodeBtree: ...
    def hash(self, name: str) -> LodeHash: ...
    def links(
        self, parents: LodeHeap, children: LodeHeap, parent_at: int = 0, child_at: int = 0
    ) -> LodeLinks:
        """Links between the records of two heaps, or of one. They take 16 bytes of a parent's
        record, from `parent_at` on, and 16 of a child's, from `child_at` on: multiples of 8. Zeros
        there are a parent without children, a child without a parent."""
    def files(self) -> list[tuple[str, str]]:
        """(name, kind) of each file, by name; a kind is heap, objects, btree, hash or columns."""
    def commit(self) -> None:
        """Commit the changes, durable as the tactic `durability` says."""
    def rollback(self) -> None:
        """Undo the changes."""
    def __enter__(self) -> Self: ...
    def __exit__(self, *exception: object) -> None: ...

@final
class LodeHeap:
    """Records (up to some 4,000 bytes), each with an id that never changes."""

    def insert(self, record: bytes) -> int:
        """Insert a record, and return its id: below 2^48, never 0."""
    def get(self, id: int) -> bytes: ...  # noqa: A002
    def update(self, id: int, record: bytes) -> None: ...  # noqa: A002
    def delete(self, id: int) -> None: ...  # noqa: A002
    def scan(self) -> list[tuple[int, bytes]]:
        """(id, record) of all records, in physical order."""

@final
class LodeObjects:
    """Objects: records that refer to each other by OID, eight bytes little-endian in their text."""

    def insert(self, object: bytes) -> int:  # noqa: A002
        """Insert an object, and return its OID: below 2^48, never 0."""
    def get(self, oid: int) -> bytes: ...
    def follow(self, oid: int, at: int) -> tuple[int, bytes] | None:
        """(OID, object) that the reference at offset `at` (a multiple of 8) of an object leads to;
        None if it is eight zeros."""
    def update(self, oid: int, object: bytes) -> None: ...  # noqa: A002
    def delete(self, oid: int) -> None: ...
    def scan(self) -> list[tuple[int, bytes]]:
        """(OID, object) of all objects, in physical order."""

@final
class LodeBtree:
    """Byte strings in order, each with a value. A number as a key is written `to_bytes(8, "big")`,
    so that the order of the keys is the numbers'."""

    def insert(self, key: bytes, value: bytes) -> bool:
        """Put a value at a key that is not there; whether it was so."""
    def put(self, key: bytes, value: bytes) -> bytes | None:
        """Put a value at a key; the value that it replaces."""
    def get(self, key: bytes) -> bytes | None: ...
    def remove(self, key: bytes) -> bytes | None:
        """Remove a key; its value, if it was there."""
    def range(
        self, first: bytes | None = None, end: bytes | None = None, backwards: bool = False,
        limit: int | None = None,
    ) -> list[tuple[bytes, bytes]]:  # fmt: skip
        """(key, value) of the keys from `first` on and before `end`, ascending, or descending if
        `backwards`; at most `limit` of them."""

@final
class LodeHash:
    """Numbers below 2^64 to such numbers, record ids for example; several to a key if wanted."""

    def insert(self, key: int, value: int) -> None:
        """Add a value to a key, also if it has that one already."""
    def get(self, key: int) -> int | None:
        """A value of a key, any if it has several."""
    def get_all(self, key: int) -> list[int]:
        """All values of a key, in no order."""
    def remove(self, key: int, value: int) -> bool:
        """Take a value from a key; whether it had it."""
    def scan(self) -> list[tuple[int, int]]:
        """(key, value) of all entries, in no order."""

@final
class LodeLinks:
    """Links from a parent's record to its children's and back, as in INDEX (OO1)."""

    def append(self, parent: int, child: int) -> bool:
        """Link a record as the last child of another; False if it is in a list already."""
    def unlink(self, child: int) -> bool:
        """Take a child out of its list; False if it is in none."""
    def parent(self, child: int) -> int | None:
        """The id of a child's parent; None while it is in no list."""
    def children(self, parent: int) -> list[tuple[int, bytes]]:
        """(id, record) of a parent's children, in the order in which they were linked."""

# --- measure ------------------------------------------------------------------------------

def clock_ns() -> int:
    """Monotonic time (CLOCK_MONOTONIC) in ns, comparable between processes of this boot."""

def clock_resolution_ns() -> int:
    """Smallest non-zero difference seen between neighbouring clock reads."""

def clock_cost_ns() -> float:
    """Mean cost of one clock read."""

_Work = tuple[int | None, int | None, int | None, int | None, int | None, int | None]
"""(client's CPU ns, its threads, servers' CPU ns, their threads, bytes read, bytes written)."""

@final
class Meter:
    """Counts from its making to its reading what this process and its servers do; the time that
    the counting takes is in no figure."""

    def __new__(cls, servers: Sequence[int]) -> Self: ...
    def read(self) -> _Work | None:
        """The work since it was made; None the second time."""

_Count = tuple[bool, int, str, str, str, int]
"""(of a server, thread, object, function, entry to the kernel, samples); see sampling/places.rs."""
_Spent = tuple[bool, int, str, int, int | None]
"""(of a server, thread or process, its name, CPU ns, ns waited for a CPU)."""

@final
class Sampler:
    """Samples the CPU clock of all threads of this process and its servers, with what they start,
    until it is closed. `begin` and `end` stand around each stretch, `take` behind some of them; the
    thread that made it calls them. Where the system refuses, nothing is raised: `reason` says what
    is missing, and times of threads are reported still. ValueError: a frequency beyond 1 to 10,000;
    closed."""

    def __new__(cls, servers: Sequence[int], frequency_hz: int = 997) -> Self: ...
    @property
    def reason(self) -> str:
        """The missing samples, all or those in the kernel; empty if none is missing."""
    @property
    def samples_programs(self) -> bool: ...
    @property
    def samples_kernel(self) -> bool: ...
    def begin(self) -> None: ...
    def end(self, start_ns: int, end_ns: int) -> None:
        """The stretch was between these times of `clock_ns`."""
    def take(self) -> tuple[int, float | None, int, int, list[_Count], list[_Spent]]:
        """(CPU ns between two samples of a thread; the share of the threads' CPU time that samples
        stand for since the last taking, above 1 where they stand for more, None where the kernel is
        not sampled; ns of the stretches; samples lost; counts; threads)."""
    def pause(self) -> None:
        """No samples until `resume`; each thread keeps what it has of the time to its next one."""
    def resume(self) -> None:
        """Go on with nothing taken."""
    def close(self) -> None: ...

def cpu_ns(pid: int) -> int | None:
    """User + system CPU time of a process, its live children and those it waited for; None when
    it cannot be read."""

def io_bytes(pid: int) -> tuple[int, int] | None:
    """(read, written) bytes that a process and its live children moved to or from storage."""

def called_bytes(pid: int) -> int | None:
    """Bytes that calls to read returned to a process and its live children, wherever they came
    from: storage, the page cache, a pipe. Reading through a mapping makes no call."""

def reads_past_calls(pid: int) -> bool | None:
    """Whether a process or one of its live children holds an io_uring or a context of asynchronous
    calls, whose bytes `called_bytes` leaves out; None where that cannot be seen."""

def schedule(seed: int, variants: int, rounds: int) -> list[list[int]]:
    """`rounds` random orders of `variants` numbers; the same seed gives the same orders."""

def interval_of_median(
    samples: Sequence[float], confidence: float = 0.95
) -> tuple[float, float | None, float | None]:
    """(median, low, high): distribution-free, by order statistics. The bounds are None where so
    few samples cannot give that confidence."""

def interval_of_paired_ratio(
    numerator: Sequence[float], denominator: Sequence[float], confidence: float = 0.95
) -> tuple[float, float | None, float | None]:
    """(ratio, low, high) of pairs of the same work in one block: the median (Hodges-Lehmann) of
    their logarithms, with Wilcoxon's signed-rank interval, widened by autocorrelation
    (`effective_samples`); no bounds where so few pairs cannot give that confidence."""

def effective_samples(samples: Sequence[float]) -> float:
    """The number of independent samples that a sequence in time order is worth: n over its
    integrated autocorrelation time (Geyer's initial positive sequence), between 1 and n."""

def outliers(samples: Sequence[float]) -> list[int]:
    """Positions of samples beyond the quartiles by over three times their distance, in order.
    They are reported and never dropped. With fewer than four samples there are none."""

def growth_exponent(
    sizes: Sequence[float], times: Sequence[float]
) -> tuple[float, float | None] | None:
    """(slope, its standard error, if of more than two sizes) of log time over log size."""

def intended_starts(
    seed: int, rate_per_s: float, duration_ns: int, model: str = "poisson"
) -> list[int]:
    """Offsets in ns, ascending, at which an open loop's requests are due: `poisson` (exponential
    gaps) or `uniform` (equal gaps). They depend on nothing that happens."""

@final
class Tally:
    """Latencies of one loop in auto-resizing HDR histograms (3 significant digits).

    Latency counts from the intended start, lag is how late a request was begun. A closed loop has
    no intention: give `started` for `intended`.
    """

    def __new__(cls) -> Self: ...
    def add(self, intended_ns: int, started_ns: int, ended_ns: int) -> None:
        """One request. Late is one that began after it was due by more than 1 ms."""
    def skip(self) -> None:
        """A request that was due and never begun."""
    def merge(self, other: Tally) -> None:
        """Add another user's tally to this one."""
    def latency_ns(self, percentile: float) -> int | None:
        """The latency (from the intended start) that this percentage stays under; None if empty."""
    def lag_ns(self, percentile: float) -> int | None:
        """The same of the lag."""
    def service_ns(self, percentile: float) -> int | None:
        """The same of the time from actual start to end: what a closed loop would have reported."""
    @property
    def completed(self) -> int: ...
    @property
    def late(self) -> int: ...
    @property
    def skipped(self) -> int: ...
    def to_bytes(self) -> bytes:
        """The latency histogram in HdrHistogram's V2 deflate format."""

def spin_ns(iterations: int) -> int:
    """Time for that many dependent integer operations: the processor's speed, in a number that
    follows its frequency and what a hypervisor takes away."""

@final
class SpeedProbe:
    """A fixed piece of work like an engine's: a scan of 2 MB, a copy of what it selects, and a
    touch of 512 KiB of fresh memory."""

    def __new__(cls) -> Self: ...
    def run_ns(self) -> int:
        """The time it takes now: what neighbours on the same core or cache take is in it. Raises
        MemoryError where there is none left."""

def processor_times() -> tuple[int, int, int] | None:
    """(busy, idle, stolen) time of all processors since boot in ns (/proc/stat), None where the
    system does not report. Busy includes neither idle nor stolen time."""

def resident_pages(path: str) -> tuple[int, int, str]:
    """(resident, total, method) pages of a file in the page cache; method is `cachestat` or
    `mincore`. Raises OSError where neither can."""

def evict(path: str) -> None:
    """Write a file back (fsync), then ask the kernel to drop its clean pages. Raises OSError if
    refused."""

def mapped_bytes(pid: int, files: Sequence[str]) -> int:
    """Bytes of these files that a process has in its mappings of them: what it touched, and the
    pages that the kernel mapped beside. Raises OSError where that cannot be seen."""

def page_out(files: Sequence[str]) -> None:
    """Unmap the pages of these files from this process's shared mappings, and drop the clean ones.
    Nothing is lost. Raises OSError where the kernel refuses."""

@final
class IdleStates:
    """While open, idle CPUs stay out of deep sleep states. Also a context manager."""

    @property
    def held(self) -> bool:
        """Whether the wish is held now."""
    @property
    def reason(self) -> str:
        """Why it is not held; empty while it is."""
    def close(self) -> None:
        """Let the CPUs sleep again. Closing twice is harmless."""
    def __enter__(self) -> IdleStates: ...
    def __exit__(self, *exception: object) -> None: ...

def disable_idle_states() -> IdleStates:
    """Hold /dev/cpu_dma_latency at 0 where permitted; `held` says if it worked, `reason` why
    not."""

def pretouch(size_bytes: int) -> int:
    """Touch and free that much memory, so that the hypervisor backs it; returns elapsed ns. Raises
    MemoryError for more than the machine has available."""
