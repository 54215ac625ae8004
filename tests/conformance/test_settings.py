"""A setting of an engine by its own name: set at the right moment, read back, or refused."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from engine_kinds import ENGINES, MARIADB
from samples import as_rows, rows, stream, table
from user_server import UserServer, user_server

from loadstone import registry
from loadstone.engines.base import Engine
from loadstone.errors import EngineError, InputError, LoadstoneError, UnsupportedError
from loadstone.plan.variant import Variant, parse_variant

Start = Callable[[str], Engine]

TAKEN = (
    ("sqlite?set.page_size=8192", "8192"),
    ("sqlite?set.cache_spill=off", "off: 0"),
    ("sqlite?set.synchronous=NORMAL", "NORMAL: 1"),
    ("sqlite?set.temp_store=memory", "memory: 2"),
    ("sqlite?set.journal_mode=TRUNCATE", "TRUNCATE: truncate"),
    ("sqlite?set.case_sensitive_like=on", "on: 1"),
    ("duckdb?set.preserve_insertion_order=false", "false"),
    ("duckdb?set.memory_limit=64MB", "64MB: 61.0 MiB"),
    ("duckdb?set.default_block_size=16384", "16384"),
    ("duckdb?set.order_by_non_integer_literal=true", "true"),
    ("duckdb?set.progress_bar_time=5000", "5000"),
    ("postgresql?set.work_mem=64MB", "64MB"),
    ("postgresql?set.work_mem=65536kB", "65536kB: 64MB"),
    ("postgresql?set.random_page_cost=1.1", "1.1"),
    ("postgresql?set.enable_material=false", "false: off"),
    ("postgresql?set.wal_buffers=2MB", "2MB"),
    ("postgresql?set.checkpoint_timeout=600s", "600s: 10min"),
    ("postgresql?set.max_worker_processes=9&set.work_mem=1MB&place=tcp", "9"),
)
"""A variant, and what its first setting reads back."""
if MARIADB:
    TAKEN += (
        ("mariadb?set.join_buffer_size=1M", "1M: 1048576"),
        ("mariadb?set.innodb_io_capacity=300", "300"),
        ("mariadb?set.innodb_fill_factor=80&join=hash", "80"),
    )
REFUSED_AT_ONCE = (
    "sqlite?set.nosuch=1",
    "sqlite?set.wal_checkpoint=1",
    "sqlite?set.writable_schema=1",
    "sqlite?set.query_only=1",
    "sqlite:///tmp/mine.db?set.page_size=8192",
    "sqlite:///tmp/mine.db?set.user_version=3",
    "duckdb?set.nosuch=1",
    "duckdb?set.memory_limit=lots",
    "duckdb?set.threads=none",
    "duckdb?set.enable_external_access=true",
    "duckdb?set.enable_profiling=json",
    "duckdb?set.temp_directory=/etc",
    "duckdb?set.TimeZone=UTC",
    "postgresql?set.TimeZone=UTC",
    "duckdb?set.extension_directory=/etc",
    "postgresql?set.search_path=public",
    "postgresql?set.role=postgres",
    "postgresql?set.a.b.c=1",
    "lode?set.memory=1",
    "null?set.anything=1",
    "postgresql?set.some_password=hunter2",
    "sqlite?set.cache_size%3B%20DROP%20TABLE%20t=1",
    "duckdb?set.threads'=1",
    'postgresql?set."work_mem=1',
    "postgresql?set.=1",
)
if MARIADB:
    REFUSED_AT_ONCE += (
        "mariadb?set.nosuch=1",
        "mariadb?set.innodb_fill_fact=80",  # of which the program would make a whole name
        "mariadb?set.join_buffer_size=lots",
        "mariadb?set.join_cache_level=99",
        "mariadb?set.datadir=/etc",
        "mariadb?set.plugin_load_add=x",
        "mariadb?set.skip_grant_tables=1",
        "mariadb?set.innodb_buffer_pool_load_at_startup=1",
        "mariadb?set.sql_mode=ORACLE",
    )
REFUSED_BY_THE_SERVER = (
    "postgresql?set.nosuch=1",
    "postgresql?set.nosuch.either=1",
    "postgresql?set.work_mem=lots",
    "postgresql?set.work_mem=64MB'%3B%20DROP%20TABLE%20t%3B%20--",
    "postgresql?set.wal_buffers=lots",
    "postgresql?set.port=1",
    "postgresql?set.data_directory=/etc",
    "postgresql?set.archive_command=true",
    "postgresql?set.server_version=1",
)


def variant_of(text: str) -> Variant:
    kind = registry.load_engine(registry.engine_named(text))
    return parse_variant(text, frozenset(kind.capabilities.tactics))


@pytest.fixture
def start(scratch: Path) -> Iterator[Start]:
    made: list[Engine] = []

    def build(text: str) -> Engine:
        variant = variant_of(text)
        engine = registry.load_engine(variant.engine)(variant, scratch, "run1")
        made.append(engine)
        engine.start()
        return engine

    yield build
    for engine in made:
        engine.remove()


@pytest.mark.parametrize(("text", "reading"), TAKEN)
def test_a_setting_is_set_read_back_and_kept(start: Start, text: str, reading: str) -> None:
    engine = start(text)
    name = next(name for name, _ in engine.variant.tactics if name.startswith("set."))
    assert engine.terms()[name] == reading
    assert engine.load(table("t", indexes=("unique2",)), stream(rows())) == len(rows())
    engine.settle(["t"])
    engine.stop()
    engine.start()
    assert engine.terms()[name] == reading
    assert sorted(as_rows(engine.contents("t"))) == sorted(rows())


@pytest.mark.parametrize("text", TAKEN, ids=lambda case: case[0])
def test_a_variants_name_is_read_as_the_variant(text: tuple[str, str]) -> None:
    variant = variant_of(text[0])
    assert variant_of(variant.name) == variant


@pytest.mark.parametrize("text", REFUSED_AT_ONCE)
def test_an_unknown_setting_is_refused_before_anything_starts(text: str) -> None:
    with pytest.raises(InputError) as caught:
        registry.load_engine(registry.engine_named(text)).check(variant_of(text))
    assert caught.value.hint
    assert "hunter2" not in caught.value.message


@pytest.mark.parametrize("text", REFUSED_BY_THE_SERVER)
def test_a_setting_that_a_server_does_not_take_is_reported_at_its_start(
    start: Start, text: str
) -> None:
    with pytest.raises(LoadstoneError) as caught:
        start(text)
    assert caught.value.hint
    assert next(iter(dict(variant_of(text).tactics))).removeprefix("set.") in caught.value.message


def test_a_value_that_sqlite_keeps_otherwise_is_refused(start: Start) -> None:
    with pytest.raises(InputError, match=r"not take '5000' for page_size: .* it has 4096"):
        start("sqlite?set.page_size=5000")


@pytest.mark.parametrize(
    ("text", "behind", "reading"),
    [
        ("sqlite?set.cache_spill=off", "PRAGMA reverse_unordered_selects = 1", "off: 0"),
        ("duckdb?set.memory_limit=64MB", "SET memory_limit = '32MiB'", "32.0 MiB"),
        ("postgresql?set.work_mem=64MB", "SET work_mem = '1MB'", "1MB"),
    ],
)
def test_a_setting_is_read_from_the_engine(
    start: Start, text: str, behind: str, reading: str
) -> None:
    engine = start(text)
    engine.run(behind)
    assert engine.terms()[text.partition("?")[2].partition("=")[0]] == reading


def test_case_sensitive_like_takes_effect_and_is_a_term(start: Start) -> None:
    asked = "SELECT 'Anna' LIKE 'anna%'"
    engine = start("sqlite?set.case_sensitive_like=on")
    assert engine.fetch(asked) == [(0,)]
    engine.run("PRAGMA case_sensitive_like = off")
    with pytest.raises(EngineError, match="does not take 'on' for case_sensitive_like"):
        engine.terms()
    engine.switch(Variant("sqlite"))
    assert engine.fetch(asked) == [(1,)]


def test_a_limit_of_analysis_is_that_of_the_statistics_after_loading(start: Start) -> None:
    known = []
    for query in ("", "?set.analysis_limit=10"):
        engine = start(f"sqlite{query}")
        engine.load(table("t", indexes=("unique2",)), stream(rows(2000)))
        engine.settle(["t"])
        known.append(engine.fetch("SELECT count(*) FROM sqlite_stat4")[0][0])
        # Samples are kept of a whole index alone.
        assert engine.terms()["statistics"] == ("stat1" if query else "on")
        engine.remove()
    assert known[0] > 0 == known[1]


SWITCHED = {
    "sqlite": ("set.cache_spill=off", "set.synchronous=NORMAL&set.threads=2",
               "set.case_sensitive_like=on"),
    "duckdb": ("set.memory_limit=64MB", "set.order_by_non_integer_literal=true"),
    "postgresql": ("set.work_mem=1MB", "set.wal_buffers=2MB&set.random_page_cost=1.1", "jit=off"),
}  # fmt: skip
if MARIADB:
    SWITCHED["mariadb"] = ("set.innodb_io_capacity=300", "set.lock_wait_timeout=7&join=hash")


@pytest.mark.parametrize("name", sorted(SWITCHED))
def test_settings_are_switched_and_leave_nothing_behind(start: Start, name: str) -> None:
    engine = start(name)
    engine.load(table("t", indexes=("unique2",)), stream(rows()))
    engine.settle(["t"])
    plain, before = engine.variant, engine.terms()
    for query in SWITCHED[name]:
        variant = variant_of(f"{name}?{query}")
        engine.switch(variant)
        for key, value in variant.tactics:
            assert engine.terms()[key].startswith(value)
        assert sorted(as_rows(engine.contents("t"))) == sorted(rows())
        engine.switch(plain)
        assert engine.terms() == before, query


@pytest.mark.parametrize(
    "text",
    ["sqlite?set.page_size=8192", "duckdb?set.default_block_size=16384",
     "postgresql?set.default_statistics_target=10", "sqlite?set.analysis_limit=100",
     "sqlite?statistics=off", "postgresql?statistics=off"],
)  # fmt: skip
def test_a_setting_of_what_is_loaded_makes_other_data(text: str) -> None:
    variant = variant_of(text)
    kind = ENGINES[variant.engine]
    assert not kind.same_data(Variant(variant.engine), variant)
    assert kind.same_data(variant, variant)


@pytest.fixture(scope="module")
def theirs() -> Iterator[UserServer]:
    with user_server() as running:
        yield running


def test_a_users_server_takes_settings_of_a_session_only(start: Start, theirs: UserServer) -> None:
    before = theirs.fingerprint()
    plain = start(theirs.url())
    engine = start(theirs.url(tail="?set.work_mem=1MB&connect_timeout=7"))
    assert plain.variant.name != engine.variant.name
    assert plain.instance.schema.name != engine.instance.schema.name  # type: ignore[attr-defined]
    assert engine.terms()["set.work_mem"] == "1MB"
    assert plain.terms()["work_mem"] == str(4 * 2**20)
    for each in (plain, engine):
        each.load(table("t"), stream(rows()))
        assert list(each.tables()) == ["t"]
    with pytest.raises(UnsupportedError, match="wal_buffers"):
        start(theirs.url(tail="?set.wal_buffers=1MB"))
    with pytest.raises(InputError, match="nosuch"):
        start(theirs.url(tail="?set.nosuch=1"))
    for each in (plain, engine):
        each.remove()
    assert theirs.fingerprint() == before
