"""SQLite's durability is read by one rule, in a program as in an engine."""

import pytest

from loadstone.clients.rust.embedded import SqliteClient
from loadstone.engines.sqlite.durability import durability
from loadstone.plan.variant import Variant

# https://sqlite.org/pragma.html#pragma_synchronous
KNOWN = {
    ("0", "wal"): "none",
    ("0", "delete"): "none",
    ("1", "wal"): "synchronous=NORMAL",
    ("1", "delete"): "synchronous=NORMAL",
    ("2", "wal"): "full",
    ("2", "delete"): "synchronous=FULL",
    ("3", "wal"): "full",
    ("3", "delete"): "full",
}


@pytest.mark.parametrize("settings", sorted(KNOWN))
def test_one_rule_for_all(settings: tuple[str, str], tmp_path) -> None:
    synchronous, journal = settings
    assert durability(synchronous, journal) == KNOWN[settings]
    told = {"synchronous": synchronous, "journal_mode": journal, "cache_size": "-4",
            "read_uncommitted": "0", "threads": "0"}  # fmt: skip
    client = SqliteClient(Variant("sqlite"), tmp_path, "one")
    assert client.in_common_words(told)["durability"] == KNOWN[settings]
