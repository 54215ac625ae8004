"""Relations as folders of Parquet files: which are complete, and how they are called in Spark.

    warehouse/NAME/_schema      the columns, in Spark's words: it was loaded, and is complete
    warehouse/NAME/_SUCCESS     a statement made it, and is complete
    staging/NAME/               is being made

Spark's catalog is in the driver's memory: these folders are what a new driver registers.
"""

import os
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path

from loadstone.engines.capabilities import Attribute

_PLAIN = re.compile(r"[a-z_][a-z0-9_]*")
_ENCODED = "x__"
_SCHEMA, _SUCCESS = "_schema", "_SUCCESS"
_TYPES = {
    "int2": "SMALLINT", "int4": "INT", "int8": "BIGINT", "float8": "DOUBLE", "bool": "BOOLEAN",
    "date": "DATE", "timestamp": "TIMESTAMP_NTZ",
}  # fmt: skip


def stored_name(name: str) -> str:
    """A name as Spark's catalog takes it, which knows letters, digits and `_`, and no capitals."""
    if _PLAIN.fullmatch(name) and not name.startswith(_ENCODED):
        return name
    return _ENCODED + name.encode().hex()


def quoted(name: str) -> str:
    """A name as it is written in a statement."""
    return "`" + name.replace("`", "``") + "`"


def text_of(value: str) -> str:
    """A text as it is written in a statement."""
    escaped = value.replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"


def columns_of(attributes: Sequence[Attribute]) -> str:
    """The columns of a table, in Spark's words."""
    return ", ".join(f"{quoted(each.name)} {_type(each.type)}" for each in attributes)


def _type(name: str) -> str:
    return _TYPES.get(name, name.upper() if name.startswith("decimal(") else "STRING")


class Folders:
    """The folders of one run's relations, below a folder that all machines of the cluster see."""

    def __init__(self, home: Path) -> None:
        self.warehouse = home / "warehouse"
        self._staging = home / "staging"

    def make(self) -> None:
        """Make them; remove what was never completed."""
        self.warehouse.mkdir(parents=True, exist_ok=True)
        shutil.rmtree(self._staging, ignore_errors=True)
        self._staging.mkdir()
        for folder in self.warehouse.iterdir():
            if not (folder / _SCHEMA).exists() and not (folder / _SUCCESS).exists():
                shutil.rmtree(folder)

    def complete(self) -> Iterator[tuple[str, str]]:
        """(name, columns in Spark's words) of each relation; without columns, Spark reads them in
        the files."""
        for folder in sorted(self.warehouse.iterdir()):
            schema = folder / _SCHEMA
            yield folder.name, schema.read_text(encoding="utf-8") if schema.exists() else ""

    def of(self, name: str) -> Path:
        """The folder of a relation."""
        return self.warehouse / name

    def begin(self, name: str) -> Path:
        """An empty folder in which to make a relation."""
        folder = self._staging / name
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        return folder

    def finish(self, name: str, made: Path, columns: str) -> Path:
        """Put what was made in its place. Returns that."""
        (made / _SCHEMA).write_text(columns, encoding="utf-8")
        place = self.of(name)
        shutil.rmtree(place, ignore_errors=True)
        made.rename(place)
        return place

    def give_up(self) -> None:
        """Remove what is being made."""
        for folder in self._staging.iterdir():
            shutil.rmtree(folder, ignore_errors=True)

    def drop(self, name: str) -> None:
        """Remove a relation's files."""
        shutil.rmtree(self.of(name), ignore_errors=True)

    def sync(self, name: str) -> None:
        """Write a relation back to the device."""
        for path in self.of(name).iterdir():
            descriptor = os.open(path, os.O_RDONLY)
            try:
                os.fsync(descriptor)
            finally:
                os.close(descriptor)

    def size_bytes(self) -> int:
        """All files of all relations."""
        return sum(path.stat().st_size for path in self.warehouse.rglob("*") if path.is_file())
