"""Real engines with a planted slowdown: what `calibrate.py` wants the instrument to find.

Each is the engine itself; after a statement it spins for a stated share of the time that the
statement took. Found by entry points, as any engine of a third party.
"""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, ClassVar, TypeVar

from loadstone._core import clock_ns
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.tactic import Level, Tactic

ENGINES = {"slowed-sqlite": "SlowedSqlite", "slowed-duckdb": "SlowedDuckdb",
           "slowed-postgresql": "SlowedPostgresql"}  # fmt: skip


def register(folder: Path) -> str:
    """Write the entry points into `folder`; the path to put into PYTHONPATH."""
    info = folder / "slowed-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: slowed\nVersion: 1\n")
    points = "\n".join(f"{name} = slowed:{kind}" for name, kind in ENGINES.items())
    (info / "entry_points.txt").write_text(f"[loadstone.engines]\n{points}\n")
    return f"{folder}:{Path(__file__).parent}"


def _with_percent(engine: type[Engine]) -> Capabilities:
    values = (("5", "a twentieth"), ("1", "a hundredth"), ("<n>", "so many hundredths"))
    percent = Tactic("percent", Level.SESSION, values)
    tactics = {**engine.capabilities.tactics, "percent": percent}
    return replace(engine.capabilities, tactics=tactics)


Outcome = TypeVar("Outcome")


class Slowed(Engine):
    """Adds the delay inside the clock, to both ways in which a statement is timed."""

    def run(self, statement: str) -> int:
        """The engine's own, and then the delay."""
        return self._delayed(super().run, statement)  # type: ignore[safe-super]

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """The engine's own, and then the delay."""
        return self._delayed(super().fetch, statement)  # type: ignore[safe-super]

    def _delayed(self, call: Callable[[str], Outcome], statement: str) -> Outcome:
        start = clock_ns()
        outcome = call(statement)
        end = clock_ns()
        until = end + (end - start) * int(self.tactic("percent")) // 100
        while clock_ns() < until:
            pass
        return outcome


class SlowedSqlite(Slowed, SqliteEngine):
    """SQLite, and then a little longer."""

    name: ClassVar[str] = "slowed-sqlite"
    capabilities: ClassVar[Capabilities] = _with_percent(SqliteEngine)


class SlowedDuckdb(Slowed, DuckdbEngine):
    """DuckDB, and then a little longer."""

    name: ClassVar[str] = "slowed-duckdb"
    capabilities: ClassVar[Capabilities] = _with_percent(DuckdbEngine)


class SlowedPostgresql(Slowed, PostgresqlEngine):
    """PostgreSQL, and then a little longer."""

    name: ClassVar[str] = "slowed-postgresql"
    capabilities: ClassVar[Capabilities] = _with_percent(PostgresqlEngine)
