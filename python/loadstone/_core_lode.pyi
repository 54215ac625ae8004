"""The part of `_core.pyi` about lode, and all of the core of the package `lode`, where this file is
`lode/_core.pyi`. In `loadstone` there is no module of this name.

All of it raises `LodeError` of `errors.py`, of which `DeadlockError` says that the transaction was
rolled back and should be run again. `lode.py` has the same under shorter names.
"""

from collections.abc import Sequence
from os import PathLike
from typing import Any, Literal, Self, final

__version__: str
build_profile: str

__all__ = [
    "LodeBtree", "LodeConnection", "LodeDatabase", "LodeHash", "LodeHeap", "LodeLinks",
    "LodeObjects", "LodeRemote", "LodeRows", "LodeServer", "LodeStatement", "LodeStatementServer",
    "LodeTransaction", "__version__", "allocator", "build_profile", "lode_connect", "lode_mirror",
    "lode_profiles", "lode_tactics", "lode_tactics_of",
]  # fmt: skip

def allocator() -> str:
    """`mimalloc` or `the system's`, of everything in Rust, as read back from a block of it."""

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
    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """A stream with the types above, whatever the request is, as Arrow allows."""
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
