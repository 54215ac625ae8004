"""Engines called by a client in Python: those with no other interface.

Only the life cycle. A benchmark's folder has its loops, and each engine's calls in a file.
"""

import gc
import platform
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, ClassVar

from loadstone._core import clock_ns
from loadstone.benchmarks.base import ProgramDatabase
from loadstone.clients.base import Client, Measured
from loadstone.clients.declared import NONE, documented, program_of, taken
from loadstone.errors import EngineError, UnsupportedError


class PythonClient(Client):
    """An embedded engine in the worker's own process; its files lie in the scratch folder."""

    language: ClassVar[str] = "python"
    file: ClassVar[str] = ""
    """The name of the database in the scratch folder; empty for an engine without files."""
    failures: ClassVar[tuple[type[Exception], ...]] = ()
    """The engine's exceptions, but for `LookupError`."""

    database: ProgramDatabase = NONE
    _driver: Any = None

    @property
    def path(self) -> Path:
        """The database."""
        return self.scratch / self.file

    def connect(self) -> Any:
        """Open the engine on its present files, or on none, with the tactics set: the driver of the
        benchmark whose database is expected."""
        return program_of(self.database, self.name).driver(self.name)(*self.address())

    def address(self) -> tuple[Any, ...]:
        """The arguments with which its drivers open it."""
        return ()

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
        """As its benchmarks request them."""
        return documented(self.name)

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
            driver.load(self.database)
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
        program = program_of(self.database, self.name)
        known = program.MEASURES
        if measure not in known:
            raise EngineError(
                f"{self.name}: no measure {measure!r}", hint=f"there is: {', '.join(known)}"
            )
        driver = self._opened()
        with self._errors():
            measured: Measured = program.measured(driver, self.database, measure, iteration)
        return measured

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

    def _opened(self) -> Any:
        """The driver, opened if it was not."""
        if self._driver is None:
            with self._errors():
                self._driver = self.connect()
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
