"""The common part of the engines that calibrate: they accept any table, keep nothing, and answer
nothing."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import STORAGES, Capabilities, Structure, Table
from loadstone.plan.role import Role

if TYPE_CHECKING:
    import pyarrow as pa

IMAGINED: Mapping[str, Structure] = {
    storage: Structure(supported=True, note="imagined") for storage in STORAGES
}


class ArtificialEngine(Engine):
    """All methods but `run` and `fetch`, whose time distinguishes such engines."""

    dialect: ClassVar[str] = "duckdb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures=IMAGINED, answers=False, role=Role.CONTROL
    )

    def start(self) -> None:
        """Nothing to bring up."""
        self.check(self.variant)

    def stop(self) -> Sequence[int]:
        """Nothing to bring down."""
        return ()

    def terms(self) -> Mapping[str, str]:
        """All 'none': nothing is kept, so nothing is at stake."""
        keys = ("version", "durability", "isolation", "cache", "parallelism")
        return dict.fromkeys(keys, "none")

    def tables(self) -> Sequence[str]:
        """It keeps none."""
        return ()

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Read the rows to the end, count them and forget them."""
        del table
        return sum(batch.num_rows for batch in rows)

    def settle(self, tables: Sequence[str]) -> None:
        """Nothing to settle."""

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
