"""The null engine: answers at once and keeps nothing. What it costs is the floor of the harness."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import STORAGES, Capabilities, Engine, Structure, Table

if TYPE_CHECKING:
    import pyarrow as pa


class NullEngine(Engine):
    """Every method returns at once; `load` reads its rows to the end and forgets them."""

    name: ClassVar[str] = "null"
    dialect: ClassVar[str] = "duckdb"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={storage: Structure(supported=True, note="imagined") for storage in STORAGES},
        answers=False,
    )

    def start(self) -> None:
        """Nothing to bring up."""

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
        """Count the rows."""
        del table
        return sum(batch.num_rows for batch in rows)

    def settle(self, tables: Sequence[str]) -> None:
        """Nothing to settle."""

    def run(self, statement: str) -> int:
        """Done."""
        del statement
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """No rows."""
        del statement
        return []

    def read(self, statement: str) -> "list[tuple[Any, ...]] | pa.Table":
        """No rows."""
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

    def files(self) -> Sequence[Path]:
        """Nothing is kept."""
        return ()

    def remove(self) -> None:
        """Nothing to remove."""
