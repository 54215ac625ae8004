"""A term read back is a fact: it follows a change behind the lab's back, and it does not follow
the variant."""

from collections.abc import Iterator
from dataclasses import replace
from itertools import permutations
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from engine_kinds import MARIADB, TURSO, MakeEngine
from test_clients import DEFAULTS, PARTS, build, loaded_client

from loadstone.engines.system import System
from loadstone.errors import EngineError

BEHIND: dict[str, tuple[tuple[str, str, str], ...]] = {
    "sqlite": (
        ("PRAGMA synchronous = OFF", "durability", "none"),
        ("PRAGMA cache_size = -2048", "cache", str(2048 * 1024)),
        ("PRAGMA read_uncommitted = ON", "isolation", "read uncommitted"),
        ("PRAGMA threads = 3", "parallelism", "4"),
    ),
    "duckdb": (
        ("SET threads = 3", "parallelism", "3"),
        ("SET memory_limit = '64MiB'", "cache", str(64 * 1024 * 1024)),
    ),
    "postgresql": (
        ("SET synchronous_commit = off", "durability", "none"),
        ("SET max_parallel_workers_per_gather = 4", "parallelism", "5"),
        ("SET enable_hashjoin = off; SET enable_mergejoin = off", "join", "nested-loops"),
        ("SET default_transaction_isolation = 'serializable'", "isolation", "serializable"),
    ),
}
"""Engine -> (statement, term, what it must read back then)."""
if MARIADB:
    BEHIND["mariadb"] = (
        ("SET GLOBAL innodb_flush_log_at_trx_commit = 2", "durability", "none"),
        (
            "SET GLOBAL innodb_flush_log_at_trx_commit = 0", "durability",
            "innodb_flush_log_at_trx_commit=0",
        ),
        ("SET GLOBAL innodb_buffer_pool_size = 134217728", "cache", "134217728"),
        ("SET SESSION join_cache_level = 0", "join", "nested-loops"),
        ("SET SESSION join_cache_level = 3", "join", "join_cache_level=3"),
        ("SET GLOBAL innodb_adaptive_hash_index = ON", "adaptive_hash", "on"),
        ("SET SESSION TRANSACTION ISOLATION LEVEL SERIALIZABLE", "isolation", "serializable"),
    )  # fmt: skip
if TURSO:
    BEHIND["turso"] = (
        ("PRAGMA synchronous = OFF", "durability", "none"),
        ("PRAGMA synchronous = NORMAL", "durability", "synchronous=NORMAL"),
        ("PRAGMA cache_size = -2048", "cache", str(2048 * 1024)),
        ("PRAGMA cache_size = 500", "cache", str(500 * 4096)),
        ("PRAGMA journal_mode = mvcc", "isolation", "journal_mode=mvcc"),
    )


@pytest.mark.parametrize(
    ("name", "statement", "term", "expected"),
    [(name, *case) for name, cases in BEHIND.items() for case in cases],
)
def test_a_setting_changed_behind_the_engine_is_read_back(
    make: MakeEngine, name: str, statement: str, term: str, expected: str
) -> None:
    engine = make(name)
    engine.start()
    assert engine.terms()[term] != expected
    engine.run(statement)
    assert engine.terms()[term] == expected


def others(system: System) -> Iterator[tuple[str, str]]:
    """Every declared value of a tactic that was not requested."""
    for name, tactic in system.capabilities.tactics.items():
        takes_numbers = any(value.startswith("<") for value in tactic.names)
        numbers = (str(max(7, tactic.least)),) if takes_numbers else ()
        for value in (*tactic.names, *numbers):
            if not value.startswith("<") and value != system.tactic(name):
                yield name, value


@pytest.mark.slow
@pytest.mark.parametrize("text", DEFAULTS)
def test_the_terms_of_a_program_do_not_echo_its_variant(text: str) -> None:
    with loaded_client(text) as client:
        asked = client.variant
        tactics = client.capabilities.tactics
        before = {name: client.terms().get(name) for name in tactics}
        followed = []
        for tactic, value in others(client):
            # The way to the server decides whom to ask, not what is said.
            if tactic == "place":
                continue
            client.variant = replace(asked, tactics=(*dict(asked.tactics).items(), (tactic, value)))
            if client.terms().get(tactic) != before[tactic]:
                followed.append((tactic, value))
        client.variant = asked
        assert followed == []


DESIGNS = {
    "sqlite": ("rowid", "clustered", "objects"),
    "lmdb": ("objects", "links"),
    "lode": ("objects", "links", "btree", "hash"),
}


@pytest.mark.parametrize(
    ("engine", "loaded", "asked"),
    [(engine, *pair) for engine, designs in DESIGNS.items() for pair in permutations(designs, 2)],
)
def test_a_design_is_read_from_the_database_that_is_there(
    engine: str, loaded: str, asked: str
) -> None:
    with TemporaryDirectory(prefix="loadstone-test-") as name:
        first = build(f"{engine}?access={loaded}", Path(name))
        first.start()
        first.load()
        first.stop()
        second = build(f"{engine}?access={asked}", Path(name))
        try:
            second.start()
        except EngineError as refused:
            assert "design" in refused.message
        else:
            assert second.terms()["access"] == loaded
        second.remove()


@pytest.mark.slow
def test_the_terms_of_a_program_come_from_its_own_session() -> None:
    with loaded_client("postgresql") as client:
        assert client.terms()["durability"] == "full"
        server = client.instance  # type: ignore[attr-defined]
        server.execute("ALTER ROLE CURRENT_USER SET synchronous_commit TO off")
        server.execute("ALTER ROLE CURRENT_USER SET max_parallel_workers_per_gather TO 3")
        client._program = None  # type: ignore[attr-defined]
        reported = client.terms()
        assert (reported["durability"], reported["parallelism"]) == ("none", "4")


@pytest.mark.slow
def test_an_index_that_is_gone_is_not_reported() -> None:
    with loaded_client("postgresql") as client:
        assert "part_build (build)" in client.terms()["setting.access"]
        server = client.instance  # type: ignore[attr-defined]
        server.execute("DROP INDEX part_build")
        assert "part_build" not in client.terms()["setting.access"]


@pytest.mark.slow
@pytest.mark.parametrize("hop", ["lookup", "join"])
def test_a_procedure_does_what_hop_says(hop: str) -> None:
    """Requested ids, a procedure once joined all the same, and was reported to look up."""
    with loaded_client(f"postgresql?hop={hop}&statement=procedure") as client:
        assert client.terms()["hop"] == hop
        assert client.terms()["statement"] == "procedure"
        statements = client.measure("traversal", 1).statements
        assert statements == (1_094 if hop == "join" else 4_373)
        assert client.database.parts == PARTS
