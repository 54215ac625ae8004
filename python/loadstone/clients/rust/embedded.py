"""Engines called by a client in Rust, in the worker's own process."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from importlib import metadata
from pathlib import Path
from socket import socket
from typing import ClassVar

from loadstone import _core
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.clients.base import Client, Measured, Served
from loadstone.clients.declared import (
    NONE,
    capabilities,
    documented,
    opened,
    taken,
)
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.configured import OF_EVERY_SYSTEM
from loadstone.engines.duckdb import settings as duckdb_settings
from loadstone.engines.sqlite import settings as sqlite_settings
from loadstone.engines.tactic import of_client
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine.counters import Work
from loadstone.machine.wake_up import round_trip_ns
from loadstone.plan.role import Role

COMMON_TERMS = ("version", "durability", "isolation", "cache", "parallelism")
SPANS = ("one call", "one measure")
LMDB_DURABILITIES = {"synchronous commit": "full", "no sync": "none"}
"""The environment's flags, as the driver reads them back -> durability."""


class RustClient(Client):
    """An embedded engine behind `crates/clients`; its files lie in the scratch folder."""

    language: ClassVar[str] = "rust"
    library: ClassVar[str] = "built in"
    file: ClassVar[str] = ""
    """The name of the database in the scratch folder; empty for an engine without files."""
    lock_file: ClassVar[str] = ""
    """The suffix of a lock file that every opening makes anew; it holds no data."""

    database: ProgramDatabase = NONE
    _program: _core.Client | None = None
    _round_trip = ""

    @property
    def path(self) -> Path:
        """The database."""
        return self.scratch / self.file

    def start(self) -> None:
        """Open the engine, with the database that is expected."""
        self.check(self.variant)
        self._open()

    def expect(self, database: ProgramDatabase) -> None:
        """Another database is another program."""
        if database != self.database:
            self._program = None
        self.database = taken(database, self.name)

    def documented(self) -> Mapping[str, str]:
        """As its benchmarks request them."""
        return documented(self.name)

    def stop(self) -> Sequence[int]:
        """Close the engine: nothing of it stays in the process."""
        self._program = None
        return ()

    def load(self) -> int:
        """As the driver does it, in one transaction where the engine has them."""
        with client_errors(self.name):
            return self._open().load()

    def measure(self, measure: str, iteration: int) -> Measured:
        """In Rust, the interpreter released."""
        with client_errors(self.name):
            elapsed_ns, commit_ns, visits, checksum, calls, sent, work = self._open().measure(
                measure, iteration, self.processes()
            )
        return Measured(elapsed_ns, commit_ns, visits, checksum, calls, *sent, Work(*work))

    def users(
        self,
        readers: int,
        writers: int,
        duration_ns: int,
        starts_ns: Sequence[int] | None,
        measures: tuple[str, str] | None = None,
    ) -> Served:
        """Threads in Rust: no interpreter between them."""
        with client_errors(self.name):
            elapsed_ns, reads, writes, checked, work = self._open().users(
                readers, writers, duration_ns, starts_ns, self.processes(), measures
            )
        return Served(elapsed_ns, reads, writes, checked, Work(*work))

    def terms(self) -> Mapping[str, str]:
        """As the driver reads them back, in the contract's names: settings from the engine, designs
        from the database, and the client's own tactics from their effect. No value is merely the
        one requested: a tactic without a reading is left out."""
        with client_errors(self.name):
            reported = dict(self._open().terms())
        trees = reported.pop("indexes", "")
        spans = reported.pop("read transaction", reported.get("transaction", ""))
        common = {key: reported.pop(key) for key in COMMON_TERMS if key in reported}
        tactics = [name for name in self.capabilities.tactics if name in reported]
        return {
            "client": self.language,
            "setting.client_allocator": _core.allocator(),
            **({"read transaction": SPANS["measure" in spans]} if spans else {}),
            **{name: reported.pop(name) for name in tactics},
            **({"setting.access": trees} if trees else {}),
            **common,
            **{f"setting.{name}": value for name, value in reported.items()},
            **self.in_common_words({**reported, **common}),
        }

    def in_common_words(self, reported: Mapping[str, str]) -> Mapping[str, str]:
        """The terms that all engines have, from the driver's readings."""
        return {key: reported[key] for key in COMMON_TERMS if key in reported}

    def round_trip(self, way: Callable[[], tuple[socket, socket]]) -> str:
        """The time of a byte, in ns, to a process at the server's place and back, over the sockets
        of `way`; measured once, without the server."""
        if not self._round_trip:
            try:
                self._round_trip = f"{round_trip_ns(*way()):.0f}"
            except OSError as error:
                self._round_trip = f"not measured: {error}"
        return self._round_trip

    def size_bytes(self) -> int:
        """The size of the database's files, log included."""
        with client_errors(self.name):
            return self._open().size_bytes()

    def not_data(self) -> Mapping[Path, str]:
        """The lock file."""
        if not self.lock_file:
            return super().not_data()
        lock = self.scratch / (self.file + self.lock_file)
        return {**super().not_data(), lock: "a lock: every opening makes it anew, and maps it"}

    def remove(self) -> None:
        """Close and delete."""
        self.stop()
        for path in self._family():
            path.unlink(missing_ok=True)

    def address(self) -> tuple[str, str | None]:
        """(database, library) as the driver wants them."""
        return (str(self.path) if self.file else "", None)

    def program_tactics(self) -> Sequence[tuple[str, str]]:
        """The tactics asked of the client; its defaults are its own. Those of every system the
        worker switches."""
        return [pair for pair in self.variant.tactics if pair[0] not in OF_EVERY_SYSTEM]

    def _family(self) -> Sequence[Path]:
        """Everything in the scratch folder that is named after the database."""
        if not self.file:
            return ()
        return sorted(path for path in self.scratch.glob(f"{self.file}*") if path.is_file())

    def _open(self) -> _core.Client:
        if self._program is None:
            address, library = self.address()
            with client_errors(self.name):
                self._program = opened(
                    self.database, self.name, address, self.program_tactics(), library
                )
        return self._program


@contextmanager
def client_errors(name: str) -> Iterator[None]:
    """Errors of the Rust side as ours."""
    try:
        yield
    except _core.ClientGapError as gap:
        raise UnsupportedError(str(gap)) from None
    except (_core.ClientError, ValueError) as error:
        raise EngineError(f"{name}: {error}") from error


class MemoryClient(RustClient):
    """Plain structs, pointers and a hash map: the limit, not a database. With or without the
    prefetch that lode has as a tactic, so that either is compared with its like."""

    name: ClassVar[str] = "memory"
    library: ClassVar[str] = ""
    capabilities: ClassVar[Capabilities] = replace(
        capabilities(
            "memory",
            of_client("memory"),
            one_user="one user at a time: plain structures have no concurrency control",
        ),
        stoppable=False,
        role=Role.LIMIT,
    )


class NullClient(RustClient):
    """Answers every call at once: the harness overhead in Rust."""

    name: ClassVar[str] = "null"
    library: ClassVar[str] = ""
    capabilities: ClassVar[Capabilities] = replace(
        capabilities("null", {}, answers=False), stoppable=False, role=Role.OVERHEAD
    )

    def users(
        self,
        readers: int,
        writers: int,
        duration_ns: int,
        starts_ns: Sequence[int] | None,
        measures: tuple[str, str] | None = None,
    ) -> Served:
        """Reads only: what is written would be checked afterwards."""
        if writers:
            raise UnsupportedError("null keeps nothing that a user writes")
        return super().users(readers, writers, duration_ns, starts_ns, measures)


class SqliteClient(RustClient):
    """SQLite by prepared statements."""

    name: ClassVar[str] = "sqlite"
    file: ClassVar[str] = "program.sqlite"
    lock_file: ClassVar[str] = "-shm"
    capabilities: ClassVar[Capabilities] = capabilities(
        "sqlite", {**of_client("sqlite"), "durability": sqlite_settings.TACTICS["durability"]}
    )

    def in_common_words(self, reported: Mapping[str, str]) -> Mapping[str, str]:
        """Of its pragmas."""
        return sqlite_settings.in_terms(reported)

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the SQLite that is built in: statements have that of their driver's wheel."""
        return {"sqlite": _core.versions_built_in()["sqlite"]}


class LmdbClient(RustClient):
    """LMDB: B-trees in the process's own address space. The terms name the stand-ins for statements
    on the ladder's rungs."""

    name: ClassVar[str] = "lmdb"
    file: ClassVar[str] = "program.lmdb"
    lock_file: ClassVar[str] = "-lock"
    capabilities: ClassVar[Capabilities] = capabilities("lmdb", of_client("lmdb"), syncs=2)

    def in_common_words(self, reported: Mapping[str, str]) -> Mapping[str, str]:
        """Of its environment's flags: one writer at a time beside snapshots."""
        return {
            "durability": LMDB_DURABILITIES.get(reported["durability"], reported["durability"]),
            "isolation": "serializable",
            "cache": "the page cache of the system",
            "parallelism": "1",
        }

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the LMDB that is built in."""
        return {"lmdb": _core.versions_built_in()["lmdb"]}


class DuckdbClient(RustClient):
    """DuckDB by its C API, which the installed wheel's own library exports."""

    name: ClassVar[str] = "duckdb"
    library: ClassVar[str] = "the duckdb wheel's"
    file: ClassVar[str] = "program.duckdb"
    capabilities: ClassVar[Capabilities] = capabilities("duckdb", of_client("duckdb"))

    def in_common_words(self, reported: Mapping[str, str]) -> Mapping[str, str]:
        """Of its settings."""
        fsync_mode = reported["durability"].removeprefix("fsync_mode ")
        memory_limit = reported["cache"].removeprefix("memory_limit ")
        threads = reported["parallelism"].removeprefix("threads ")
        words = duckdb_settings.in_common_words(fsync_mode, memory_limit, threads)
        return {**words, "setting.fsync_mode": fsync_mode}

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the wheel."""
        return {"duckdb": metadata.version("duckdb")}

    def header_bytes(self) -> int:
        """Of its storage format, with blocks of the default size."""
        return duckdb_settings.HEADER_BYTES

    def address(self) -> tuple[str, str | None]:
        """The wheel's extension module: it needs the symbols of a Python process."""
        import _duckdb

        return str(self.path), str(_duckdb.__file__)
