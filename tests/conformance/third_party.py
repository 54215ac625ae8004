"""An engine of a third party, in a package of its own: Python's sqlite3, by nothing but what a
DB-API driver has. CONTRIBUTING's recipe "Add an engine" is followed here to the letter.
"""

import sqlite3
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from loadstone.engines.capabilities import Attribute, Capabilities, Structure
from loadstone.engines.dbapi import DbapiEngine
from loadstone.engines.tactic import CACHE_BYTES_DEFAULT, Level, Tactic

TYPES = {"int2": "INTEGER", "int4": "INTEGER", "int8": "INTEGER", "float8": "REAL"}
NO_HASH = "B-trees only"


class PlainEngine(DbapiEngine):
    """A heap is a rowid table; a clustered relation one that is loaded in key order."""

    name: ClassVar[str] = "plain"
    dialect: ClassVar[str] = "sqlite"
    driver_errors: ClassVar[tuple[type[BaseException], ...]] = (sqlite3.Error,)
    tables_query: ClassVar[str] = (
        "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite\\_%'"
        " ESCAPE '\\' ORDER BY name"
    )
    endings: ClassVar[Sequence[str]] = ("-journal",)
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(supported=True, note="rowid table"),
            "clustered": Structure(supported=True, note="loaded in key order", in_plans=False),
            "hash": Structure(supported=False, note=NO_HASH),
            "nonclustered": Structure(supported=True, note="B-tree"),
        },
        tactics={
            one.name: one
            for one in (
                Tactic("durability", Level.START, (("full", "synced"), ("none", "not synced"))),
                Tactic("parallelism", Level.START, (("1", "the caller's thread"),)),
                Tactic("cache", Level.START, ((str(CACHE_BYTES_DEFAULT), "256 MiB"),
                                              ("<bytes>", "so many bytes"))),
            )
        },
        column_types=frozenset((*TYPES, "text")),
    )  # fmt: skip

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """SQLite, as Python has it."""
        return {"plain": sqlite3.sqlite_version}

    def connect(self) -> Any:
        """In autocommit, as PEP 249 calls it. Python's threads share a module, not a connection."""
        connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
        synchronous = "OFF" if self.tactic("durability") == "none" else "EXTRA"
        connection.execute(f"PRAGMA synchronous = {synchronous}")
        connection.execute(f"PRAGMA cache_size = {-int(self.tactic('cache')) // 1024}")
        return connection

    def column_type(self, attribute: Attribute) -> str:
        """Text, but for numbers."""
        return TYPES.get(attribute.type, "TEXT")

    def settle(self, tables: Sequence[str]) -> None:
        """ANALYZE each table; a rollback journal has nothing to write back."""
        with self.errors("cannot settle"):
            for table in tables:
                self.execute(f"ANALYZE {self.quote(table)}")

    def terms(self) -> Mapping[str, str]:
        """Read back by pragmas."""
        read = {
            name: str(self.fetch(f"PRAGMA {name}")[0][0]) for name in ("synchronous", "cache_size")
        }
        return {
            "version": sqlite3.sqlite_version,
            "durability": {"0": "none", "3": "full"}.get(read["synchronous"], "unknown"),
            "isolation": "serializable",
            "cache": str(-int(read["cache_size"]) * 1024),
            "parallelism": "1",
            **{f"setting.{name}": value for name, value in read.items()},
        }

    def explain(self, statement: str) -> str:
        """EXPLAIN QUERY PLAN."""
        steps = self.fetch(f"EXPLAIN QUERY PLAN {statement}")
        return "\n".join(str(step[3]) for step in steps) or "(nothing)"

    def access_paths(self, statement: str, plan: str) -> Sequence[str] | None:
        """An index that is searched or scanned, or else the rows."""
        del statement
        steps = [one for one in plan.splitlines() if one.startswith(("SEARCH", "SCAN"))]
        read = [one for one in steps if "CONSTANT ROW" not in one]
        made = [one for one in read if " INDEX " in one and "AUTOMATIC" not in one]
        return sorted({"nonclustered" if one in made else "heap" for one in read})

    def size_bytes(self) -> int:
        """Pages in use, times their size."""
        names = ("page_count", "freelist_count", "page_size")
        pages, free, page_bytes = (int(self.fetch(f"PRAGMA {name}")[0][0]) for name in names)
        return (pages - free) * page_bytes

    def interrupt(self) -> None:
        """End the statement that another thread is in."""
        self.connection.interrupt()
