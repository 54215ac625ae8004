"""The engines that the conformance suite holds to the contract, by name."""

import os
from collections.abc import Callable

import pytest
from third_party import PlainEngine

from loadstone.engines.base import Engine
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.mariadb.programs import installed
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.spark.engine import SparkEngine
from loadstone.engines.spark.installed import java, spark_home
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import NotInstalledError
from loadstone.workload import answers


def _missing() -> str:
    """Why Spark cannot be tried here; empty where it can."""
    try:
        spark_home()
        java()
    except NotInstalledError as error:
        return f"{error.message}; {error.hint}"
    return ""


SPARK_MISSING = _missing()
"""The reason for which tests of Spark are skipped; empty where they are not."""


def _mariadb() -> tuple[tuple[type[Engine], ...], str]:
    """MariaDB's engine where it can be tried; else nothing, and the reason."""
    try:
        from loadstone.engines.mariadb.engine import MariadbEngine

        installed()
    except ModuleNotFoundError as error:
        return (), f"MariaDB's driver is not installed: {error}"
    except NotInstalledError as error:
        return (), f"{error.message}; {error.hint}"
    return (MariadbEngine,), ""


def _turso() -> tuple[tuple[type[Engine], ...], str]:
    """Turso's engine where its extra is installed; else nothing, and the reason."""
    try:
        from loadstone.engines.turso.engine import TursoEngine
    except ModuleNotFoundError as error:
        return (), f"Turso is not installed: {error}"
    return (TursoEngine,), ""


def _chdb() -> tuple[tuple[type[Engine], ...], str]:
    """chDB's engine where it is asked for; else nothing, and the reason. It takes signals and
    threads of its whole process, so that what other tests see of theirs is not true beside it."""
    if not os.environ.get("LOADSTONE_TEST_CHDB"):
        return (), "chDB's tests run alone: LOADSTONE_TEST_CHDB=1 pytest tests/conformance -k chdb"
    try:
        from loadstone.engines.chdb.engine import ChdbEngine
    except ModuleNotFoundError as error:
        return (), f"chDB is not installed: {error}"
    return (ChdbEngine,), ""


MARIADB, MARIADB_MISSING = _mariadb()
"""No wheel brings its server, so it is among the engines only where one is installed."""
TURSO, TURSO_MISSING = _turso()
CHDB, CHDB_MISSING = _chdb()
ENGINES: dict[str, type[Engine]] = {
    kind.name: kind
    for kind in (SqliteEngine, DuckdbEngine, PostgresqlEngine, LodeEngine, *MARIADB, *TURSO)
}
"""Those that start within a second or two: all files of the suite try them."""
EVERY_ENGINE: dict[str, type[Engine]] = ENGINES | {kind.name: kind for kind in (SparkEngine, *CHDB)}
"""With those that take no updates: a file that tries every one asks for none of them."""
THIRD_PARTY = {PlainEngine.name: PlainEngine}
"""What a newcomer writes; `test_engine.py` alone tries it."""
ONE_A_PROCESS = ("chdb",)
"""Those of which a process can have one database open: a worker has one engine."""

MakeEngine = Callable[..., Engine]


def with_spark() -> list[object]:
    """The names of every engine, as parameters, Spark's first: its start takes ten seconds, so all
    tests of a file have one cluster."""
    missing = pytest.mark.skipif(bool(SPARK_MISSING), reason=SPARK_MISSING or "it is there")
    spark = pytest.param("spark", marks=[pytest.mark.slow, pytest.mark.timeout(300), missing])
    chdb = [pytest.param("chdb", marks=pytest.mark.slow)] if CHDB else []
    return [spark, *chdb, *sorted(ENGINES)]


def asked(engine: Engine, text: str) -> list[list]:
    """An engine's answer as a run compares it: a text like a date may be one, of an engine that
    has no dates."""
    dates = engine.dialect != "sqlite"
    return answers.read(answers.written(engine.fetch(text), 1 << 20, dates=dates) or "[]")
