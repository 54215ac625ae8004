"""The part of `_core.pyi` about concurrent users of statements. There is no module of this name."""

from collections.abc import Sequence
from typing import Self, final

from loadstone._core import LodeDatabase, Tally

@final
class StatementUsers:
    """Concurrent users in Rust, threads with a session each, which begins with `begin`. A file of
    DuckDB's must be open nowhere else here. Raises `ClientError`."""

    @staticmethod
    def sqlite(path: str, begin: list[str], version: str) -> StatementUsers: ...
    @staticmethod
    def duckdb(library: str, path: str, settings: list[tuple[str, str]]) -> StatementUsers: ...
    @staticmethod
    def postgresql(address: str, begin: list[str], is_prepared: bool) -> StatementUsers: ...
    @staticmethod
    def lode(database: LodeDatabase, beside: bool) -> StatementUsers: ...
    @staticmethod
    def lode_server(path: str) -> StatementUsers: ...
    def ask(
        self, users: int, requests: list[tuple[list[str], int | None]], lasting_ns: int,
        interval_ns: int, starts_ns: list[int] | None = None, last_ns: int = 0,
        servers: Sequence[int] = ..., drawing: Drawing | None = None,
    ) -> UsersAsked:  # fmt: skip
        """Each goes round the requests: statements in order, rolled back where one fails, with so
        many rows (None: not checked); with a `drawing`, the t-th request of user u of U has the
        number u + t U, and those beyond the requests are drawn. A closed loop, or requests due at
        `starts_ns` that begin until `last_ns`."""

@final
class UsersAsked:
    """The result of a loop: `failed` requests, the `reason` of the first, (rows, expected) of a
    `wrong` answer, `work` as `Meter.read` has it, `intervals` as `Timeline` has them, how many
    answers were `compared`, and (number, rows) of some that were drawn, `kept`."""

    elapsed_ns: int
    tally: Tally
    failed: int
    reason: str
    wrong: tuple[int, int] | None
    work: tuple[int | None, ...]
    intervals: list[tuple[int, int, int, int, int]]
    compared: int
    kept: list[tuple[int, int]]

_Draw = tuple[str, int, list[int], float, list[str]]
_Shape = tuple[int, list[_Draw], list[list[str]], list[tuple[list[str], list[int]]]]

@final
class Drawing:
    """Requests that are drawn by their numbers. `shapes`: each with its weight, its draws, of each
    the literals of a `place` (of others none), and its texts: pieces, and between them draws."""

    def __new__(cls, start: int, shapes: list[_Shape]) -> Self: ...
    def texts(self, number: int) -> tuple[int, list[str]]:
        """The shape of a request, and its texts. Raises `ValueError` where a value has none."""

def drawn_values(draws: list[_Draw], first: int, count: int) -> list[list[int | float | str]]:
    """The values of `count` requests from the first on. A draw is (kind, start, numbers, exponent,
    words): `uniform` and `zipf` from the first number to the second, `sequence` from the first in
    steps of the second, `place` of one of so many, a `pattern`, or a `program` of words:
    numbers, `:PLACE` of a value before, `FUNCTION(COUNT`. Raises `ValueError`."""

@final
class Timeline:
    """A loop over time: the requests that ended in each interval of that length."""

    def __new__(cls, interval_ns: int) -> Self: ...
    def add(self, ended_ns: int, latency_ns: int | None = None) -> None:
        """Count one that ended so long after the begin; None: it failed."""
    def intervals(self) -> list[tuple[int, int, int, int, int]]:
        """(completed, failed, median, p99 and longest latency in ns) of each interval, up to the
        last in which a request ended."""
