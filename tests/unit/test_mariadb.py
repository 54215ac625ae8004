"""MariaDB without a server: where its program is looked for, texts, plans, rows as LOAD DATA takes
them, and what a reading of its variables means."""

import datetime as dt
import os
import socket
from itertools import pairwise
from pathlib import Path

import pyarrow as pa
import pytest

from loadstone import registry
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.tactic import SENTENCES
from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.plan.variant import Variant, engine_of, is_users_server, parse_variant
from loadstone.quel.translate import translate

pytest.importorskip("pymysql", reason="MariaDB's driver is not installed")

from loadstone.engines.mariadb import calls, loading, own_settings, plans, switches
from loadstone.engines.mariadb.address import private_address, user_address
from loadstone.engines.mariadb.engine import MariadbEngine
from loadstone.engines.mariadb.programs import VARIABLE, installed
from loadstone.engines.mariadb.session import Session

SCHEMA = [Attribute("k", "int2"), Attribute("s", "char(52)")]


def sql(text: str) -> str:
    program = "range of t is r range of w is r " + text
    return translate(program, "mysql", lambda name: f"{name}_heap", lambda _: SCHEMA).text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (
            "retrieve into q (t.all) where t.k = 1",
            "CREATE TABLE `q_heap` AS SELECT `t`.* FROM `r_heap` AS `t` WHERE `t`.`k` = 1",
        ),
        (
            "retrieve (a = avg(t.k))",
            "SELECT CAST(AVG(CAST(`t`.`k` AS DOUBLE)) AS DOUBLE) AS `a` FROM `r_heap` AS `t`",
        ),
        (
            "retrieve (n = count(t.k by t.s where t.k > 3))",
            "SELECT COUNT(CASE WHEN `t`.`k` > 3 THEN `t`.`k` END) AS `n` FROM `r_heap` AS `t`"
            " GROUP BY `t`.`s`",
        ),
        (
            "retrieve (n = countu(t.k by t.s where t.k > 3))",
            "SELECT COUNT(DISTINCT CASE WHEN `t`.`k` > 3 THEN `t`.`k` END) AS `n`"
            " FROM `r_heap` AS `t` GROUP BY `t`.`s`",
        ),
        (
            "retrieve (n = any(t.k by t.s where t.k > 3))",
            "SELECT CASE WHEN COUNT(CASE WHEN `t`.`k` > 3 THEN 1 END) > 0 THEN 1 ELSE 0 END"
            " AS `n` FROM `r_heap` AS `t` GROUP BY `t`.`s`",
        ),
        (
            "retrieve (x = t.k / 2, y = int4(t.k * 0.5))",
            "SELECT CAST(`t`.`k` AS SIGNED) DIV 2 AS `x`, CAST(TRUNCATE((CAST(`t`.`k` AS SIGNED)"
            " * CAST(0.5 AS DOUBLE)), 0) AS SIGNED) AS `y` FROM `r_heap` AS `t`",
        ),
        (
            'retrieve (t.k) where t.s = "[a-c]*"',
            "SELECT `t`.`k` FROM `r_heap` AS `t` WHERE REGEXP_INSTR(`t`.`s`, '^[a-c].*$') > 0",
        ),
        ("delete t where t.k = 1", "DELETE FROM `r_heap` WHERE `r_heap`.`k` = 1"),
        ("delete t", "DELETE FROM `r_heap`"),
        (
            "delete t where t.k = w.k and w.k < 3",
            "DELETE `t` FROM `r_heap` AS `t` WHERE EXISTS(SELECT 1 FROM `r_heap` AS `w`"
            " WHERE `t`.`k` = `w`.`k` AND `w`.`k` < 3)",
        ),
        ("index on r is i (k)", "CREATE INDEX `r_heap_k` ON `r_heap`(`k`)"),
    ],
)
def test_the_text_of_a_program(text: str, expected: str) -> None:
    assert sql(text) == expected


@pytest.mark.parametrize(
    ("plan", "paths"),
    [
        ("id=1 select_type=SIMPLE table=t type=ALL rows=10 Extra=Using where", ["heap"]),
        ("id=1 select_type=SIMPLE table=t type=range key=PRIMARY key_len=4 rows=1", ["clustered"]),
        ("id=1 select_type=SIMPLE table=t type=index key=PRIMARY key_len=4 rows=9", ["heap"]),
        (
            "id=1 select_type=SIMPLE table=t type=ref key=t.unique2 key_len=5 ref=const rows=1",
            ["nonclustered"],
        ),
        (
            "id=1 select_type=SIMPLE table=a b type=ALL rows=3\n"
            "id=1 select_type=SIMPLE table=u type=hash_ALL key=#hash#$hj key_len=5 rows=3",
            ["heap"],
        ),
        ("id=1 select_type=PRIMARY table=<derived2> type=ALL rows=2", []),
        ("id=1 select_type=SIMPLE Extra=No tables used", []),
        ("id=1 select_type=SIMPLE Extra=Select tables optimized away", None),
        (
            "id=1 select_type=SIMPLE Extra=Impossible WHERE noticed after reading const tables",
            None,
        ),
    ],
)
def test_the_structures_of_a_plan(plan: str, paths: list[str] | None) -> None:
    assert plans.access_paths(plan) == paths


def test_a_plan_is_written_a_line_for_each_step() -> None:
    step = (1, "SIMPLE", "t", "ref", "a,b", "a", "5", "const", "1", "Using where")
    assert plans.written([step]) == (
        "id=1 select_type=SIMPLE table=t type=ref key=a key_len=5 ref=const rows=1"
        " Extra=Using where"
    )


@pytest.mark.parametrize(
    ("statement", "query"),
    [
        ("CREATE TABLE `a ``b` AS SELECT 1", "SELECT 1"),
        ("create table x (select 1)", "(select 1)"),
        ("CREATE TABLE x WITH y AS (SELECT 1) SELECT * FROM y", None),
        ("DELETE FROM `t`", "DELETE FROM `t`"),
        ("CREATE TABLE x (a int)", "CREATE TABLE x (a int)"),
    ],
)
def test_what_is_explained_of_a_statement(statement: str, query: str | None) -> None:
    if query is None:
        query = statement.removeprefix("CREATE TABLE x ")
    if statement.endswith("(a int)"):
        assert plans.query_of(statement) == "(a int)"  # which EXPLAIN refuses, as it should
    else:
        assert plans.query_of(statement) == query


def test_rows_are_written_as_load_data_reads_them() -> None:
    batch = pa.record_batch(
        {
            "n": pa.array([1, None, -3], pa.int32()),
            "s": pa.array(["a\tb\\", None, "line\nbreak"], pa.string()),
            "b": pa.array([True, False, None], pa.bool_()),
        }
    )
    expected = b"1\ta\\tb\\\\\t1\n\\N\t\\N\t0\n-3\tline\\nbreak\t\\N\n"
    assert bytes(loading._lines(batch)) == expected
    assert bytes(loading._lines(batch.slice(1, 1))) == b"\\N\t\\N\t0\n"
    assert bytes(loading._lines(batch.slice(0, 0))) == b""


def test_a_text_in_a_key_has_a_bound() -> None:
    attributes = (Attribute("a", "text"), Attribute("b", "text"), Attribute("c", "text"))
    columns = list(loading._columns(Table("t", attributes, primary_key=("a", "b"))))
    assert columns == [
        "`a` varchar(384) NOT NULL", "`b` varchar(384) NOT NULL", "`c` longtext",
        "PRIMARY KEY (`a`, `b`)",
    ]  # fmt: skip
    with pytest.raises(InputError, match="blob"):
        loading.column_type("blob")


@pytest.mark.parametrize(
    ("variables", "durability"),
    [
        ({"innodb_flush_log_at_trx_commit": "1"}, "full"),
        ({"innodb_flush_log_at_trx_commit": "2"}, "none"),
        ({"innodb_flush_log_at_trx_commit": "0"}, "innodb_flush_log_at_trx_commit=0"),
        ({"innodb_flush_log_at_trx_commit": "1", "innodb_flush_method": "nosync"}, "none"),
        ({}, "innodb_flush_log_at_trx_commit=unknown"),
    ],
)
def test_durability_is_what_the_server_does(variables: dict[str, str], durability: str) -> None:
    assert switches.read_terms(variables)["durability"] == durability


def test_every_tactic_has_its_text() -> None:
    for tactic in MariadbEngine.tactics().values():
        assert all(getattr(tactic, part) for part in SENTENCES), tactic.name


@pytest.mark.parametrize(
    "setting", ["datadir=/etc", "log_error=/tmp/x", "plugin_dir=/tmp", "user=root", "a.b=1"]
)
def test_what_a_run_depends_on_is_refused_without_asking_a_program(setting: str) -> None:
    name, _, value = setting.partition("=")
    with pytest.raises(InputError):
        own_settings.SETTINGS.check(name, value)


@pytest.mark.parametrize(
    "text",
    [
        "mariadb://u:secret@h/d?durability=none", "mysql://u:secret@h/d?page_size=4096",
        "mysql://u:secret@/d", "mariadb://u:secret@h/d/e", "mariadb?cache=1000",
        "mariadb?parallelism=2",
    ],
)  # fmt: skip
def test_what_it_cannot_do_is_refused(text: str) -> None:
    variant = parse_variant(text, frozenset(MariadbEngine.tactics()))
    with pytest.raises(InputError) as caught:
        MariadbEngine.check(variant)
    assert caught.value.hint
    assert "secret" not in caught.value.message


def test_a_url_is_read_and_its_secret_is_not_shown() -> None:
    address = user_address(
        "mysql://al%40ice:s%3Acret@[::1]:3307/app?ssl_verify_cert=on&ssl_ca=/c.pem"
    )
    assert address.place == "::1:3307/app"
    parts = ("host", "port", "user", "password", "database", "ssl_verify_cert", "ssl_ca")
    assert [address.parameters[part] for part in parts] == [
        "::1", 3307, "al@ice", "s:cret", "app", True, "/c.pem",
    ]  # fmt: skip
    assert "cret" not in repr(address)
    bare = user_address("mariadb://h")
    assert (bare.parameters["port"], bare.parameters["database"]) == (3306, None)


def test_a_variant_by_url_tells_which_of_the_two_was_named() -> None:
    for scheme in ("mysql", "mariadb"):
        variant = parse_variant(f"{scheme}://a:secret@h:1/d?join=hash", frozenset(("join",)))
        assert (variant.engine, variant.name) == ("mariadb", f"{scheme}://h:1/d?join=hash")
        assert is_users_server(variant.name)
        assert engine_of(variant.name) == "mariadb"


def test_rows_as_insert_takes_them() -> None:
    batch = pa.record_batch(
        {"i": pa.array([1, None]), "s": ["it's\\", "a\nb"], "t": [True, False],
         "d": pa.array([dt.date(2024, 2, 29), None])}
    )  # fmt: skip
    letters, bounds = loading._values(batch)
    lines = [bytes(letters[one:two]).decode() for one, two in pairwise(bounds)]
    assert lines == ["(1,'it''s\\\\',1,'2024-02-29'),", "(NULL,'a\\nb',0,NULL),"]


def test_a_plan_of_mysql_has_columns_of_its_own() -> None:
    """As in the manual of MySQL 8.4, `EXPLAIN` of a look-up."""
    row = (1, "SIMPLE", "t", None, "ref", "k", "k", "5", "const", 1, 100.0, "Using where")
    plan = plans.written([row])
    assert plan == (
        "id=1 select_type=SIMPLE table=t type=ref key=k key_len=5 ref=const rows=1"
        " Extra=Using where"
    )
    assert plans.access_paths(plan) == ["nonclustered"]


def installation(home: Path) -> Path:
    program = home / "sbin" / "mariadbd"
    for path in (program, home / "share" / "mysql" / "mysql_system_tables.sql"):
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    return program


def test_the_program_is_found_by_the_environment_or_the_path(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    program = installation(tmp_path)
    monkeypatch.setenv(VARIABLE, str(program))
    assert installed().server == program
    assert installed().system_tables.parent == installed().share
    monkeypatch.delenv(VARIABLE)
    monkeypatch.setenv("PATH", str(program.parent))
    assert installed().server == program
    (tmp_path / "elsewhere").symlink_to(program)
    monkeypatch.setenv(VARIABLE, str(tmp_path / "elsewhere"))
    assert installed().share == tmp_path / "share" / "mysql"


def test_a_program_that_is_missing_or_alone_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(VARIABLE, str(tmp_path / "mariadbd"))
    with pytest.raises(NotInstalledError, match="names no program") as caught:
        MariadbEngine.check(Variant("mariadb"))
    assert "mariadb@PATH" in caught.value.hint
    assert "names no program" in MariadbEngine.versions()["mariadb"]
    found = MariadbEngine.probe(tmp_path)
    assert (found.works, bool(found.remedy)) == (None, True)
    alone = tmp_path / "mariadbd"
    alone.touch(mode=0o755)
    with pytest.raises(NotInstalledError, match="mysql_system_tables"):
        installed()
    engine = MariadbEngine(Variant("mariadb"), tmp_path, "run1")
    with pytest.raises(NotInstalledError):
        engine.start()
    engine.remove()
    assert list(tmp_path.iterdir()) == [alone]


def test_no_server_is_an_error_without_a_socket_left_open(tmp_path: Path) -> None:
    address = private_address(tmp_path / "socket")
    with pytest.raises(EngineError, match="no server"), address.errors():
        Session(address)


def test_a_server_that_hangs_up_is_an_error(tmp_path: Path) -> None:
    place = tmp_path / "socket"
    with socket.socket(socket.AF_UNIX) as listening:
        listening.bind(os.fspath(place))
        listening.listen()
        listening.settimeout(10)
        import threading

        def hang_up() -> None:
            listening.accept()[0].close()

        thread = threading.Thread(target=hang_up)
        thread.start()
        address = private_address(place)
        with pytest.raises(EngineError, match="mariadb: "), address.errors():
            Session(address)
        thread.join()


def test_it_is_an_engine_of_the_registry() -> None:
    assert "mariadb" in registry.engine_names()


@pytest.mark.parametrize(
    ("text", "called"),
    [
        ("SELECT f(1), a FROM t", {"f"}),
        ("SELECT f /* a */ (1), g -- b\n(), h # c\n(2)", {"f", "g", "h"}),
        ('SELECT `f``x` (1), "g""y"(2), db . h(3)', {"f`x", 'g"y', "h"}),
        ("SELECT 'f(1)', '\\'f(', 'it''s f(', f AS `f` FROM t WHERE a IN (1)", {"IN"}),
        ("SELECT a--1, ärger(2)", {"ärger"}),
    ],
)
def test_the_functions_that_a_text_calls_are_asked_of_the_catalog(text: str, called: set) -> None:
    asked: list[tuple[str, tuple[str, ...]]] = []

    def ask(query: str, *values: str) -> list[tuple[str, ...]]:
        asked.append((query, values))
        assert query.count("%s") == len(values)
        return []

    calls.check(ask, text)
    names = set(calls._named(text)[1])
    assert set(calls._named(text)[0]) == called <= names
    assert all(set(values) <= names for _, values in asked)


def test_a_comment_that_the_server_executes_is_refused() -> None:
    for text in ("SELECT 1 /*! , f(1) */", "SELECT /*M!100100 f(1) */ 1"):
        with pytest.raises(EngineError, match="which the server executes"):
            calls.check(lambda *_: [], text)
    calls.check(lambda *_: [], "SELECT '/*! a */' AS a /* b */")


def test_statements_that_differ_in_literals_are_seen_once() -> None:
    assert calls.shape("SELECT f(1, 'a')  -- b") == calls.shape("SELECT f(22, 'it''s')")
    assert calls.shape("SELECT f(1)") != calls.shape("SELECT g(1)") != calls.shape("SELECT g(a)")
