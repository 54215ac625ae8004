"""The common part of the engines that calibrate: they accept any table, keep nothing, and answer
nothing after a known time."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import STORAGES, Capabilities, Structure, Table
from loadstone.engines.tactic import declared
from loadstone.plan.role import Role

if TYPE_CHECKING:
    import pyarrow as pa

IMAGINED: Mapping[str, Structure] = {
    storage: Structure(supported=True, note="imagined") for storage in STORAGES
}
NO_TERMS = ("version", "durability", "isolation", "cache", "parallelism")
"""Nothing is kept, so nothing is at stake."""


def capabilities(code: str) -> Capabilities:
    """The capabilities of an engine with tactics, declared in a file beside its `code`."""
    tactics = declared(Path(code).with_suffix(".toml"))
    return Capabilities(structures=IMAGINED, tactics=tactics, answers=False, role=Role.CONTROL)


class ArtificialEngine(Engine):
    """An engine without data: a statement is `spend`."""

    dialect: ClassVar[str] = "duckdb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures=IMAGINED, answers=False, role=Role.CONTROL
    )

    _set: Mapping[str, str] = {}
    """The tactics in force since the start."""

    def spend(self) -> None:
        """Let the time of a statement pass."""

    def start(self) -> None:
        """Set the tactics."""
        self.check(self.variant)
        self._set = {name: self.tactic(name) for name in self.capabilities.tactics}

    def stop(self) -> Sequence[int]:
        """Nothing to bring down."""
        return ()

    def terms(self) -> Mapping[str, str]:
        """No terms but the tactics."""
        return {**dict.fromkeys(NO_TERMS, "none"), **self._set}

    def tables(self) -> Sequence[str]:
        """It keeps none."""
        return ()

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Read the rows to the end, count them and forget them."""
        del table
        return sum(batch.num_rows for batch in rows)

    def settle(self, tables: Sequence[str]) -> None:
        """Nothing to settle."""

    def run(self, statement: str) -> int:
        """Done when the time is up."""
        del statement
        self.spend()
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows when the time is up."""
        del statement
        self.spend()
        return []

    def read(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows, at once: what is not timed is not part of the calibration."""
        del statement
        return []

    def drop(self, table: str) -> None:
        """Nothing to drop."""

    def explain(self, statement: str) -> str:
        """A plan to do nothing."""
        del statement
        return "nothing"

    def size_bytes(self) -> int:
        """Nothing is kept."""
        return 0

    def folders(self) -> Sequence[Path]:
        """Nothing is kept."""
        return ()

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """The same times, in another thread."""
        yield copy(self)

    def remove(self) -> None:
        """Nothing to remove."""
