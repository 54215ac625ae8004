"""An engine that keeps its data in its worker's memory when it is closed: SQLite with a copy.

Found by its entry point, as any engine of a third party. Its files are out of memory, it reads
next to nothing when it opens, and yet it is not cold.
"""

import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import apsw

from loadstone.engines.sqlite.engine import SqliteEngine

NAME = "remembering"


def register(folder: Path) -> Mapping[str, str]:
    """Write the entry point into `folder`; the variables with which a command finds it."""
    info = folder / f"{NAME}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[loadstone.engines]\n{NAME} = remembering:Remember\n")
    known = os.environ.get("PYTHONPATH", "")
    places = [str(folder), str(Path(__file__).parent), *filter(None, [known])]
    return {"PYTHONPATH": os.pathsep.join(places)}


class Remember(SqliteEngine):
    """Once stopped, it answers out of a copy that it made before."""

    name: ClassVar[str] = NAME
    _copy: apsw.Connection | None = None

    def stop(self) -> Sequence[int]:
        """Close the file, and remember what was in it."""
        if self._connection is not None:
            self._copy = apsw.Connection(":memory:")
            with self._copy.backup("main", self._connection, "main") as backup:
                backup.step()
        return super().stop()

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """As SQLite, out of the copy if there is one."""
        if self._copy is None:
            return super().fetch(statement)
        return self._copy.execute(statement).fetchall()
