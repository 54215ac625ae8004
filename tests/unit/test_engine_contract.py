"""The contract of an engine stays small: what one may define, and what it may be able to do."""

import inspect

import pytest

from loadstone.engines import abilities
from loadstone.engines.base import Engine
from loadstone.engines.configured import Configured
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.mariadb.engine import MariadbEngine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.spark.engine import SparkEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.system import System

MEMBERS_MAX = 30
ENGINES = (
    DuckdbEngine, LodeEngine, MariadbEngine, PostgresqlEngine, SparkEngine, SqliteEngine,
)  # fmt: skip
ABILITIES = [
    kind
    for kind in vars(abilities).values()
    if inspect.isclass(kind) and getattr(kind, "_is_protocol", False) and kind.__module__
    == abilities.__name__
]  # fmt: skip


def is_final(member: object) -> bool:
    """Not for an engine to define."""
    behind = member.fget if isinstance(member, property) else member
    return bool(getattr(behind, "__final__", False))


def test_an_engine_has_at_most_thirty_members_to_define() -> None:
    members = {
        name
        for kind in (Configured, System, Engine)
        for name in {**vars(kind), **inspect.get_annotations(kind)}
        if not name.startswith(("__", "_abc", "_check")) and not is_final(vars(kind).get(name))
    }
    assert "start" in members
    assert "switch" not in members
    assert len(members) <= MEMBERS_MAX, sorted(members)


@pytest.mark.parametrize("ability", ABILITIES, ids=lambda kind: kind.__name__)
def test_an_ability_is_one_that_an_engine_has(ability: type) -> None:
    assert any(isinstance(engine, ability) for engine in ENGINES)
