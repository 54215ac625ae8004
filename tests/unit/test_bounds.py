"""A tactic's value is a number, and no more than the machine has."""

import pytest

from loadstone.clients.rust.lode import LodeClient
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.engines.tactic import memory_bytes, threads
from loadstone.errors import InputError
from loadstone.plan.variant import parse_variant

KINDS = (DuckdbEngine, PostgresqlEngine, SqliteEngine, LodeClient)


def check(kind: type, text: str) -> None:
    kind.check(parse_variant(text, frozenset(kind.capabilities.tactics)))


@pytest.mark.parametrize("kind", KINDS)
def test_no_tactic_takes_more_than_the_machine_has(kind: type) -> None:
    most = {"<bytes>": memory_bytes(), "<n>": threads()}
    for name, tactic in kind.capabilities.tactics.items():
        limit = next((most[value] for value in tactic.names if value in most), None)
        limit = min(limit, tactic.most) if limit and tactic.most else limit
        if limit is None:
            continue
        check(kind, f"{kind.name}?{name}={limit}")
        for wrong in (limit + 1, 10**17, 10**30, 10**5000):
            with pytest.raises(InputError) as caught:
                check(kind, f"{kind.name}?{name}={'9' * 5000 if wrong > 10**4000 else wrong}")
            assert caught.value.hint


def test_a_server_elsewhere_has_processors_of_its_own() -> None:
    check(PostgresqlEngine, f"postgresql://db/app?parallelism={threads() + 1}")
    with pytest.raises(InputError, match="1024"):
        check(PostgresqlEngine, "postgresql://db/app?parallelism=100000")


@pytest.mark.parametrize("value", ["0", "00", "-1", "1.5", "٣", "1e3", "²", "+2", "1_000"])
def test_a_value_that_is_no_number_is_refused(value: str) -> None:
    with pytest.raises(InputError):
        check(DuckdbEngine, f"duckdb?parallelism={value}")
