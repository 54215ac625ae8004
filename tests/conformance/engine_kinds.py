"""The engines that the conformance suite holds to the contract, by name."""

from collections.abc import Callable

from loadstone.engines.base import Engine
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.sqlite.engine import SqliteEngine

ENGINES: dict[str, type[Engine]] = {
    kind.name: kind for kind in (SqliteEngine, DuckdbEngine, PostgresqlEngine, LodeEngine)
}

MakeEngine = Callable[..., Engine]
