"""An engine's settings are read by one rule, whether a statement or a calling program drives it."""

from pathlib import Path

import pytest

from loadstone.clients.rust.embedded import DuckdbClient, SqliteClient
from loadstone.engines.abilities import lacking
from loadstone.engines.duckdb import own_settings
from loadstone.engines.duckdb import settings as duckdb
from loadstone.engines.duckdb.engine import DuckdbEngine
from loadstone.engines.sqlite import pragmas as pragmas_of_sqlite
from loadstone.engines.sqlite import settings as sqlite
from loadstone.errors import InputError
from loadstone.plan.variant import Variant

# https://sqlite.org/pragma.html#pragma_synchronous
DURABILITY = {
    ("0", "wal"): "none",
    ("0", "delete"): "none",
    ("1", "wal"): "synchronous=NORMAL",
    ("1", "delete"): "synchronous=NORMAL",
    ("2", "wal"): "full",
    ("2", "delete"): "synchronous=FULL",
    ("3", "wal"): "full",
    ("3", "delete"): "full",
}
SIZES = {"512 bytes": 512, "1.5 KiB": 1536, "256.0 MiB": 268_435_456, "2.0 GiB": 2_147_483_648,
         "268.4MB": 268_400_000}  # fmt: skip
"""As DuckDB prints them."""


def pragmas(**reported: str) -> dict[str, str]:
    return {
        "synchronous": "2", "journal_mode": "wal", "cache_size": "-4", "page_size": "4096",
        "read_uncommitted": "0", "threads": "0",
    } | reported  # fmt: skip


@pytest.mark.parametrize("settings", sorted(DURABILITY))
def test_sqlites_durability_follows_from_two_settings(
    settings: tuple[str, str], tmp_path: Path
) -> None:
    synchronous, journal = settings
    reported = pragmas(synchronous=synchronous, journal_mode=journal)
    assert sqlite.in_common_words(reported)["durability"] == DURABILITY[settings]
    client = SqliteClient(Variant("sqlite"), tmp_path, "one")
    assert client.in_common_words(reported)["durability"] == DURABILITY[settings]


@pytest.mark.parametrize(
    ("reported", "term", "expected"),
    [
        (pragmas(cache_size="-4"), "cache", "4096"),
        (pragmas(cache_size="3", page_size="8192"), "cache", "24576"),
        (pragmas(read_uncommitted="1"), "isolation", "read uncommitted"),
        (pragmas(), "isolation", "serializable"),
        (pragmas(threads="2"), "parallelism", "3"),
    ],
)
def test_sqlites_other_words(reported: dict[str, str], term: str, expected: str) -> None:
    assert set(reported) <= set(sqlite.PRAGMAS)
    assert sqlite.in_common_words(reported)[term] == expected


@pytest.mark.parametrize("printed", sorted(SIZES))
def test_duckdbs_sizes_are_read_in_any_unit(printed: str, tmp_path: Path) -> None:
    words = duckdb.in_common_words("STANDARD", printed, "4")
    assert words == {"durability": "full", "cache": str(SIZES[printed]), "parallelism": "4"}
    client = DuckdbClient(Variant("duckdb"), tmp_path, "one")
    reported = {
        "durability": "fsync_mode NONE", "cache": f"memory_limit {printed}",
        "parallelism": "threads 4",
    }  # fmt: skip
    assert client.in_common_words(reported) == {
        **words, "durability": "none", "setting.fsync_mode": "NONE",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("asked", "hint"),
    [("cache_sise", "did you mean cache_size"), ("zzz", "see the manual of sqlite")],
)
def test_an_error_about_a_misspelt_setting_names_the_near_ones(asked: str, hint: str) -> None:
    error = pragmas_of_sqlite.SETTINGS.unknown(asked, ("cache_size", "page_size", "mmap_size"))
    assert error.message == f"sqlite has no setting {asked!r}"
    assert error.hint.startswith(hint)


def test_duckdb_takes_a_setting_by_either_of_its_names(tmp_path: Path) -> None:
    """Which of the two a release lists is its own matter."""
    for name in ("memory_limit", "max_memory"):
        variant = Variant("duckdb", ((f"set.{name}", "300MB"),))
        DuckdbEngine.check(variant)
        engine = DuckdbEngine(variant, tmp_path, "owner")
        engine.start()
        try:
            assert engine.terms()[f"set.{name}"].startswith("300MB")
        finally:
            engine.remove()
    with pytest.raises(InputError, match="has no setting 'memory_limits'") as caught:
        own_settings.listed_as("memory_limits")
    assert "memory_limit" in caught.value.hint


def test_duckdb_lacks_none_of_the_tactics_that_are_declared_of_its_present_release() -> None:
    assert [*lacking(DuckdbEngine)] == []
