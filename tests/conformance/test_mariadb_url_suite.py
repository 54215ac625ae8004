"""The suite of every engine on a MariaDB server that is somebody's, by URL.

Left out is what a private server alone has: files, and tactics of a server's start.
"""

from collections.abc import Iterator
from pathlib import Path

import pytest
import test_engine
import test_user_tables
from engine_kinds import MARIADB_MISSING, MakeEngine

from loadstone.engines.base import Engine
from loadstone.plan.variant import parse_variant

pytestmark = [
    pytest.mark.skipif(bool(MARIADB_MISSING), reason=MARIADB_MISSING or "it is there"),
    pytest.mark.slow,
]

if not MARIADB_MISSING:
    from user_mariadb import UserMariadb, user_mariadb

    from loadstone.engines.mariadb.engine import MariadbEngine

OF_A_PRIVATE_SERVER = {
    "test_terms_are_read_back_in_the_words_of_the_tactics": "its server has its own settings",
    "test_a_changed_tactic_is_read_back": "its server has its own settings",
    "test_files_hold_the_data_once_settled": "its files are out of reach",
    "test_a_private_server_names_the_files_of_our_database_and_no_other": "it is not private",
    "test_a_probe_leaves_nothing": "it is not tried by a server of ours",
}
"""The tests that are left out, each with the reason."""
SUITE = {
    name: each
    for module in (test_engine, test_user_tables)
    for name, each in vars(module).items()
    if name.startswith("test_")
}
globals().update({name: each for name, each in SUITE.items() if name not in OF_A_PRIVATE_SERVER})


sql = test_user_tables.sql


@pytest.fixture
def name() -> str:
    return "mariadb"


@pytest.fixture(scope="module")
def server() -> "Iterator[UserMariadb]":
    with user_mariadb() as running:
        yield running


@pytest.fixture
def make(server: "UserMariadb", scratch: Path) -> Iterator[MakeEngine]:
    made: list[Engine] = []

    def build(name: str, **tactics: str) -> Engine:
        query = "&".join(f"{key}={value}" for key, value in tactics.items())
        url = server.url(tail=f"?{query}" if query else "")
        known = frozenset(MariadbEngine.capabilities.tactics)
        made.append(MariadbEngine(parse_variant(url, known), scratch, "run1"))
        return made[-1]

    yield build
    for engine in made:
        engine.remove()


@pytest.fixture(scope="module")
def shared(server: "UserMariadb", tmp_path_factory: pytest.TempPathFactory) -> Iterator[object]:
    known = frozenset(MariadbEngine.capabilities.tactics)
    variant = parse_variant(server.url(), known)
    engine = MariadbEngine(variant, tmp_path_factory.mktemp("scratch"), "shared")
    before = server.fingerprint()
    yield {"mariadb": engine}
    engine.remove()
    assert server.fingerprint() == before


def test_what_is_left_out_is_in_the_suite() -> None:
    assert SUITE.keys() >= OF_A_PRIVATE_SERVER.keys()
