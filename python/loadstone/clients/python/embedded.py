"""Engines called by a client in Python: those with no other interface.

Only the life cycle. The measures are in the modules of OO1's and OO7's loops, each engine's calls
in a file of its own.
"""

import gc
import platform
from abc import abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import ClassVar

import pyarrow as pa

from loadstone import _core
from loadstone._core import clock_ns
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.benchmarks.oo1.database import Database
from loadstone.benchmarks.oo7.database import Database as Oo7Database
from loadstone.clients.base import Client, Measured
from loadstone.clients.declared import measures_of, taken
from loadstone.clients.oo1.driver import Driver
from loadstone.clients.oo1.loops import run
from loadstone.clients.oo1.program import NONE
from loadstone.clients.oo1.table_one import reportables
from loadstone.clients.oo7 import loops as oo7
from loadstone.clients.oo7.driver import Driver as Oo7Driver
from loadstone.errors import EngineError, UnsupportedError


class PythonClient(Client):
    """An embedded engine in the worker's own process; its files lie in the scratch folder."""

    language: ClassVar[str] = "python"
    file: ClassVar[str] = ""
    """The name of the database in the scratch folder; empty for an engine without files."""
    failures: ClassVar[tuple[type[Exception], ...]] = ()
    """The engine's exceptions, but for `LookupError`."""

    database: ProgramDatabase = NONE
    _driver: Driver | Oo7Driver | None = None

    @property
    def path(self) -> Path:
        """The database."""
        return self.scratch / self.file

    @abstractmethod
    def connect(self) -> Driver:
        """Open the engine on its present files, or on none, with the tactics set."""

    def connect_oo7(self) -> Oo7Driver:
        """The same, as OO7's program calls it."""
        raise UnsupportedError(f"{self.name}: it has no program for OO7")

    def start(self) -> None:
        """Open the engine, with the database that is expected."""
        self.check(self.variant)
        self._opened()

    def expect(self, database: ProgramDatabase) -> None:
        """Another benchmark's is opened by another driver."""
        if type(database) is not type(self.database):
            self.stop()
        self.database = taken(database, self.name)

    def documented(self) -> Mapping[str, str]:
        """The items of Table I."""
        return reportables(self.name)

    def stop(self) -> Sequence[int]:
        """Close the engine, and collect what it leaves, so that no object of it stays cached."""
        driver, self._driver = self._driver, None
        if driver is not None:
            with self._errors():
                driver.close()
            del driver
            gc.collect()
        return ()

    def load(self) -> int:
        """As the driver does it, in one transaction where the engine has them."""
        driver = self._opened()
        with self._errors():
            start_ns = clock_ns()
            # Of the benchmark whose driver it is: see `expect`.
            driver.load(self.database)  # type: ignore[arg-type]
            return clock_ns() - start_ns

    def settle(self) -> None:
        """As the driver does it."""
        driver = self._opened()
        with self._errors():
            driver.settle()

    def measure(self, measure: str, iteration: int) -> Measured:
        """In Python, the interpreter's collector left as programs have it."""
        declared = self.capabilities.structures.get(measure)
        if declared is not None and not declared.supported:
            raise UnsupportedError(f"{self.name} has no {measure}: {declared.note}")
        known = measures_of(self.database)
        if measure not in known:
            raise EngineError(
                f"{self.name}: no measure {measure!r}", hint=f"there is: {', '.join(known)}"
            )
        driver = self._opened()
        with self._errors():
            match driver, self.database:
                case Oo7Driver(), Oo7Database() as database:
                    return oo7.run(driver, database, measure, iteration)
                case Driver(), Database() as database:
                    return run(driver, database, measure, iteration)
        raise EngineError(f"{self.name}: its driver is of another benchmark than its database")

    def terms(self) -> Mapping[str, str]:
        """As the engine reports them, the client's language first."""
        driver = self._opened()
        with self._errors():
            return {
                "client": self.language,
                "language": f"{platform.python_implementation()} {platform.python_version()}",
                "collector": "on" if gc.isenabled() else "off",
                "parallelism": "1",
                **driver.terms(),
            }

    def size_bytes(self) -> int:
        """Of the files, log included."""
        return sum(path.stat().st_size for path in self.files())

    def remove(self) -> None:
        """Close and delete."""
        try:
            self.stop()
        finally:
            for path in self.scratch.glob(f"{self.file}*") if self.file else ():
                path.unlink(missing_ok=True)

    def _opened(self) -> Driver | Oo7Driver:
        """The driver, opened if it was not."""
        if self._driver is None:
            of_oo7 = isinstance(self.database, Oo7Database)
            with self._errors():
                self._driver = self.connect_oo7() if of_oo7 else self.connect()
        return self._driver

    @contextmanager
    def _errors(self) -> Iterator[None]:
        """The engine's errors as ours."""
        try:
            yield
        except LookupError as error:
            raise EngineError(f"{self.name}: it has no {error}") from error
        except self.failures as error:
            raise EngineError(f"{self.name}: {error}") from error


def part_table(database: Database) -> pa.Table:
    """All parts: id, type, x, y, build in seconds since 1970."""
    table = _table(database, "part")
    build = table.schema.get_field_index("build")
    return table.set_column(build, "build", table.column("build").cast(pa.int64()))


def connection_table(database: Database) -> pa.Table:
    """All connections: frm, too, type, length."""
    return _table(database, "connection")


def _table(database: Database, relation: str) -> pa.Table:
    edition = "1992" if database.locality else "1992-no-locality"
    stream = _core.RelationStream("oo1", edition, relation, database.parts, database.seed)
    return pa.RecordBatchReader.from_stream(stream).read_all()
