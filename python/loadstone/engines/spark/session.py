"""One session at a driver, by Spark Connect: statements out, Arrow tables back."""

import logging
import os
import re
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Self

from loadstone.engines.spark.address import Address, reach
from loadstone.errors import EngineError, UnsupportedError

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    import pyarrow as pa

RETRIES = 3
"""Of a call that does not reach the driver, which is on this machine or is gone."""
_RETRY_MS = 100
_QUERIES = ("select", "with", "(", "values", "table", "from")
_PYTHON_TRACE = "Traceback (most recent call last)"
_PYTHON_ERROR = re.compile(r"^[A-Za-z_][\w.]*(?:Error|Exception|Interrupt|Exit)\b.*$", re.MULTILINE)
_LETTERS_SHOWN = 1_000
_PLAN_FAILED = "Error occurred during query planning:"
_NOT_CHANGED = ("UNSUPPORTED_FEATURE.TABLE_OPERATION", "does not support row level")


class Session:
    """A session of Spark's own client. `lost` tells what has ended of the cluster, if anything: it
    is asked where a statement fails."""

    def __init__(self, spark: Any, lost: Callable[[], str]) -> None:
        self.spark = spark
        self._lost = lost

    @classmethod
    def connect(cls, url: str, lost: Callable[[], str]) -> Self:
        """A new session at the driver of that URL, which may hold a token."""
        # This process forks to start Java, and the child executes nothing of gRPC's: without this
        # gRPC says so on stderr.
        os.environ.setdefault("GRPC_ENABLE_FORK_SUPPORT", "0")
        from pyspark.sql.connect.client.core import DefaultChannelBuilder
        from pyspark.sql.connect.client.retries import DefaultPolicy
        from pyspark.sql.connect.session import SparkSession

        # It writes every failed statement to stderr, with a trace; we tell it in one line.
        for name in ("SQLQueryContextLogger", "DataFrameQueryContextLogger", "pyspark"):
            logging.getLogger(name).setLevel(logging.CRITICAL + 1)
        with errors(lost):
            spark = SparkSession.builder.channelBuilder(DefaultChannelBuilder(url)).create()
            policy = DefaultPolicy(max_retries=RETRIES, max_backoff=_RETRY_MS)
            spark.client.set_retry_policies([policy])
        return cls(spark, lost)

    @classmethod
    def of_user(cls, address: Address) -> Self:
        """A new session at a user's server of Spark Connect."""
        reach(address)
        return cls.connect(address.url, lambda: "")

    def errors(self) -> "AbstractContextManager[None]":
        """Errors of Spark's client within it are ours."""
        return errors(self._lost)

    def another(self) -> "Session":
        """One more session at the same driver, with no settings of this one."""
        with errors(self._lost):
            return Session(self.spark.newSession(), self._lost)

    def close(self) -> None:
        """End the session."""
        self.spark.stop()

    def set(self, settings: Mapping[str, str]) -> None:
        """Set settings of the session."""
        with errors(self._lost):
            for name, value in settings.items():
                self.spark.conf.set(name, value)

    def get(self, name: str) -> str:
        """A setting as the driver has it. Raises `EngineError` where it knows none of that name."""
        with errors(self._lost):
            return str(self.spark.conf.get(name))

    def ask(self, statement: str) -> "pa.Table":
        """Execute a statement, and fetch its rows as an Arrow table."""
        with errors(self._lost):
            return self.spark.sql(statement).toArrow()

    def run(self, statement: str) -> None:
        """Execute a statement to its end. A query's rows come here, too: to plan it is not to
        execute it."""
        with errors(self._lost):
            frame = self.spark.sql(statement)
            if _is_query(statement):
                frame.toArrow()

    def explain(self, statement: str) -> str:
        """The plan, as Spark writes it. A statement that cannot be planned is an error here, and
        for Spark a plan that says so."""
        plan = str(self.ask(f"EXPLAIN FORMATTED {statement}").column(0)[0].as_py())
        if _PLAN_FAILED not in plan:
            return plan
        if _is_query(statement):
            # That plan does not say why: analysing the query alone does.
            with errors(self._lost):
                _ = self.spark.sql(statement).schema
        raise failed(f"{plan.replace(_PLAN_FAILED, '').strip()} cannot plan {statement}")

    def range(self, count: int) -> Any:
        """A frame of the numbers below `count`, each in a partition of its own."""
        return self.spark.range(0, count, 1, count)

    def count_of_range(self) -> None:
        """Execute the least that needs executors."""
        with errors(self._lost):
            self.spark.range(2).count()

    def version(self) -> str:
        """The driver's release."""
        release = str(self.ask("SELECT version()").column(0)[0].as_py())
        return release.split(" ", maxsplit=1)[0]

    def apply(self, frame: Any, function: Any, schema: str) -> list[dict[str, Any]]:
        """The rows that a function of Arrow batches makes of a frame, in the executors."""
        with errors(self._lost):
            rows: list[dict[str, Any]] = frame.mapInArrow(function, schema).toArrow().to_pylist()
            return rows

    def interrupt(self) -> None:
        """End all that the session executes."""
        with errors(self._lost):
            self.spark.interruptAll()


@contextmanager
def connected(address: Address) -> Iterator[Session]:
    """A session at a user's server, for a statement or two."""
    session = Session.of_user(address)
    try:
        yield session
    finally:
        session.close()


def _is_query(statement: str) -> bool:
    return statement.lstrip().lower().startswith(_QUERIES)


@contextmanager
def errors(lost: Callable[[], str]) -> Iterator[None]:
    """Errors of Spark's client as ours, in its own words and without its traces."""
    import grpc
    from pyspark.errors import PySparkException

    try:
        yield
    except (PySparkException, grpc.RpcError, OSError) as error:
        if reason := lost():
            raise EngineError(reason, hint="start it again: its relations are files") from error
        raise failed(str(error)) from error


def failed(reported: str) -> EngineError | UnsupportedError:
    """The error for what Spark said: its first lines, without the trace of Java; of an executor's
    Python the error alone, which ends its trace."""
    words = reported.partition("JVM stacktrace")[0].split("\n== SQL", 1)[0].split("\n\tat ", 1)[0]
    of_python = _PYTHON_ERROR.findall(words) if _PYTHON_TRACE in words else []
    text = " ".join((of_python[-1] if of_python else words).split())[:_LETTERS_SHOWN]
    if any(sign in text for sign in _NOT_CHANGED):
        return UnsupportedError(f"spark: {text}", hint="Parquet files are not changed in place")
    return EngineError(f"spark: {text}")
