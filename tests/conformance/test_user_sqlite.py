"""A SQLite file that is not ours: we keep to tables that bear our mark, and change nothing else."""

import os
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path

import pytest
from samples import as_rows, rows, stream, table
from user_file import HOSTILE_NAMES, UserFile, quoted, user_file

from loadstone.engines.sqlite import user_file as sqlite_session
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError, InputError
from loadstone.machine import page_cache
from loadstone.plan.variant import parse_variant

TACTICS = frozenset(SqliteEngine.capabilities.tactics)
CASES = [("delete", True), ("delete", False), ("wal", True), ("wal", False)]

Connect = Callable[..., SqliteEngine]


@pytest.fixture(params=CASES, ids=lambda case: f"{case[0]}-{'' if case[1] else 'not-'}analysed")
def user(request: pytest.FixtureRequest, tmp_path: Path) -> UserFile:
    journal, analysed = request.param
    return user_file(tmp_path / "users ü%#?.db", journal=journal, analysed=analysed)


@pytest.fixture
def plain(tmp_path: Path) -> UserFile:
    return user_file(tmp_path / "plain.db")


@pytest.fixture
def connect(tmp_path: Path) -> Iterator[Connect]:
    """Make engines on a user's file by URL."""
    made: list[SqliteEngine] = []

    def build(user: UserFile, tail: str = "", owner: str = "run1") -> SqliteEngine:
        made.append(SqliteEngine(parse_variant(user.url + tail, TACTICS), tmp_path, owner))
        return made[-1]

    yield build
    for engine in made:
        engine.stop()


def fill(engine: SqliteEngine) -> None:
    """Tables, statistics, a result and changes, as a run makes them."""
    name = engine.stored_name
    designs = {
        "tmp": table(name("tmp"), indexes=("unique1",)),
        "c": table(name("c"), organisation="clustered", key="unique1", tiebreaker="unique2"),
        HOSTILE_NAMES[0]: table(name(HOSTILE_NAMES[0])),
    }
    for design in designs.values():
        engine.load(design, stream(rows()))
    engine.settle([name(given) for given in designs])
    engine.run(f"CREATE TABLE {quoted(name('made'))} AS SELECT * FROM {quoted(name('tmp'))}")
    engine.run(f"DELETE FROM {quoted(name('tmp'))} WHERE unique2 < 5")
    assert sorted(engine.tables()) == sorted(name(given) for given in (*designs, "made"))


def test_nothing_but_our_tables_is_touched(user: UserFile, connect: Connect) -> None:
    before = user.fingerprint()
    engine = connect(user)
    engine.start()
    fill(engine)
    read = as_rows(engine.read(f"SELECT * FROM {quoted(engine.stored_name('c'))}"))
    assert sorted(read) == sorted(rows())
    assert user.fingerprint() != before
    assert engine.size_bytes() > 0
    engine.stop()
    engine.start()
    engine.remove()
    engine.remove()
    assert user.fingerprint() == before


@pytest.mark.parametrize("first", [0, 1])
def test_two_variants_share_a_file_and_leave_in_any_order(
    user: UserFile, connect: Connect, first: int
) -> None:
    before = user.fingerprint()
    engines = [connect(user), connect(user, "?durability=none")]
    for engine in engines:
        engine.start()
        fill(engine)
    engines.pop(first).remove()
    (other,) = engines
    assert other.stored_name("c") in other.tables()
    other.remove()
    assert user.fingerprint() == before


def test_statistics_that_the_user_gathers_meanwhile_stay(tmp_path: Path, connect: Connect) -> None:
    user = user_file(tmp_path / "u.db", analysed=False)
    engine = connect(user)
    engine.start()
    fill(engine)
    with closing(user.open()) as db:
        db.execute("ANALYZE customers")
    engine.remove()
    with closing(user.open()) as db:
        assert db.execute("SELECT DISTINCT tbl FROM sqlite_stat1").fetchall() == [("customers",)]


@pytest.mark.parametrize("name", ["customers", *HOSTILE_NAMES])
def test_the_engine_refuses_names_without_our_mark(
    plain: UserFile, connect: Connect, name: str
) -> None:
    engine = connect(plain)
    engine.start()
    before = plain.fingerprint()
    for act in (
        lambda: engine.drop(name),
        lambda: engine.load(table(name), stream(rows())),
        lambda: engine.settle([name]),
        lambda: engine.run(f"DELETE FROM {quoted(name)}"),
        lambda: engine.run(f"UPDATE {quoted(name)} SET rowid = rowid + 100"),
        lambda: engine.run(f"DROP TABLE {quoted(name)}"),
        lambda: engine.run(f"ALTER TABLE {quoted(name)} RENAME TO {engine.stored_name('x')}"),
        lambda: engine.run(f"CREATE INDEX {engine.stored_name('x')} ON {quoted(name)} (1)"),
    ):
        with pytest.raises(EngineError) as caught:
            act()
        assert caught.value.hint
    for statement in ("PRAGMA user_version = 5", "VACUUM", "CREATE TABLE other (a)",
                      "CREATE VIEW v AS SELECT 1", "ANALYZE", "DROP VIEW rich"):  # fmt: skip
        with pytest.raises(EngineError):
            engine.run(statement)
    assert plain.fingerprint() == before


def test_names_that_are_taken_without_our_mark_are_refused_and_kept(
    plain: UserFile, connect: Connect
) -> None:
    engine = connect(plain)
    with closing(plain.open()) as db:
        # The same name for SQLite, which takes "A" and "a" for one.
        db.execute(f"CREATE TABLE {engine.stored_name('T').upper()} (precious)")
    before = plain.fingerprint()
    with pytest.raises(EngineError, match="not marked"):
        engine.start()
    engine.remove()
    assert plain.fingerprint() == before


def test_leftovers_are_found_by_their_mark_and_cleared(user: UserFile, connect: Connect) -> None:
    before = user.fingerprint()
    engine = connect(user, owner="crashed")
    engine.start()
    fill(engine)
    engine.stop()
    (left,) = SqliteEngine.sweep(engine.variant)
    assert (left.kind, left.owner) == ("tables", "crashed")
    assert engine.stored_name("").startswith(left.name)
    SqliteEngine.clear(engine.variant, left)
    assert list(SqliteEngine.sweep(engine.variant)) == []
    assert user.fingerprint() == before
    SqliteEngine.clear(engine.variant, left)
    assert user.fingerprint() == before


def test_a_mark_that_was_changed_is_not_ours_any_more(plain: UserFile, connect: Connect) -> None:
    engine = connect(plain)
    engine.start()
    engine.stop()
    (left,) = SqliteEngine.sweep(engine.variant)
    with closing(plain.open()) as db:
        db.execute(f"UPDATE {left.name} SET mark = 'mine now'")
    before = plain.fingerprint()
    assert list(SqliteEngine.sweep(engine.variant)) == []
    SqliteEngine.clear(engine.variant, left)
    engine.remove()
    assert plain.fingerprint() == before


def test_the_journal_stays_and_the_terms_say_which(user: UserFile, connect: Connect) -> None:
    with closing(user.open()) as db:
        ((journal,),) = db.execute("PRAGMA journal_mode").fetchall()
    for tail, durability in (("", "full"), ("?durability=none", "none")):
        engine = connect(user, tail)
        engine.start()
        terms = engine.terms()
        assert (terms["setting.journal_mode"], terms["durability"]) == (journal, durability)
        assert terms["cache"] == SqliteEngine.capabilities.tactics["cache"].default
        engine.remove()


OTHER = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1])
other.execute("SELECT count(*) FROM customers").fetchall()
print("open", flush=True)
sys.stdin.read()
"""


@pytest.mark.parametrize("journal", ["delete", "wal"])
def test_another_program_that_has_the_file_mapped_is_no_proof_of_cold(
    tmp_path: Path, connect: Connect, journal: str
) -> None:
    """A WAL's index stays mapped in every program that has the file open."""
    user = user_file(tmp_path / "u.db", journal=journal)
    engine = connect(user)
    engine.start()
    engine.stop()
    with subprocess.Popen(
        [sys.executable, "-c", OTHER, str(user.path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    ) as other:
        assert other.stdout is not None
        assert other.stdout.readline() == b"open\n"
        names = {path.name for path in engine.files()}
        assert ("u.db-shm" in names) == (journal == "wal")
        found = page_cache.evict_files(engine.files(), engine_dead=True)
        other.communicate()
        if journal == "wal":
            assert not found.proved
            assert found.reason


def test_a_file_that_another_program_has_locked_is_reported(
    plain: UserFile, connect: Connect, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sqlite_session, "BUSY_MS_MAX", 1)
    engine = connect(plain)
    for lock in ("IMMEDIATE", "EXCLUSIVE"):
        with locked(plain, lock):
            with pytest.raises(EngineError, match="locked") as caught:
                engine.start()
            assert str(plain.path) in caught.value.message
            assert "close the program" in caught.value.hint
            engine.stop()
            engine.remove()
    engine.start()
    with locked(plain, "IMMEDIATE"), pytest.raises(EngineError, match="locked"):
        engine.load(table(engine.stored_name("t")), stream(rows()))
    engine.remove()


@contextmanager
def locked(user: UserFile, lock: str) -> Iterator[None]:
    """A process of its own: a lock would end when any descriptor of this process is closed."""
    command = [sys.executable, "-c", LOCKER, str(user.path), lock]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as process:
        assert process.stdout is not None
        assert process.stdout.readline()
        yield
        process.communicate()


LOCKER = """
import sqlite3, sys
db = sqlite3.connect(sys.argv[1], isolation_level=None)
db.execute(f"BEGIN {sys.argv[2]}")
print("locked", flush=True)
sys.stdin.read()
"""


def _missing(path: Path) -> None:
    path.unlink()


def _folder(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _pipe(path: Path) -> None:
    path.unlink()
    os.mkfifo(path)


def _text(path: Path) -> None:
    path.write_text("dear diary, " * 1000)


def _empty(path: Path) -> None:
    path.write_bytes(b"")


def _read_only(path: Path) -> None:
    path.chmod(0o444)


WRONG = {
    "missing": (_missing, "No such file"),
    "folder": (_folder, "not a file"),
    "pipe": (_pipe, "not a file"),
    "text": (_text, "not a database"),
    "empty": (_empty, "it is empty"),
    "read-only": (_read_only, "it is read-only"),
}


@pytest.mark.parametrize("case", sorted(WRONG))
def test_a_file_that_cannot_be_measured_is_an_error_and_stays_as_it_is(
    plain: UserFile, connect: Connect, case: str
) -> None:
    spoil, message = WRONG[case]
    spoil(plain.path)
    folder = plain.path.parent
    before = {path: path.is_file() and path.read_bytes() for path in folder.iterdir()}
    engine = connect(plain)
    for act in (engine.start, lambda: SqliteEngine.sweep(engine.variant)):
        with pytest.raises(EngineError, match=message) as caught:
            act()
        assert str(plain.path) in caught.value.message
        assert caught.value.hint
    engine.remove()
    assert {path: path.is_file() and path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    "url", ["sqlite://u.db", "sqlite:////u.db", "sqlite:///", "sqlite:///tmp/", "sqlite:///u.db#1",
            "sqlite:///u.db?mode=ro", "sqlite:///a%00b", "sqlite://u@host/u.db"]
)  # fmt: skip
def test_a_url_that_names_no_file_is_refused(url: str) -> None:
    with pytest.raises(InputError) as caught:
        SqliteEngine.check(parse_variant(url, TACTICS))
    assert caught.value.hint


def test_a_link_leads_to_the_file_and_its_journals(plain: UserFile, connect: Connect) -> None:
    link = plain.path.with_name("link.db")
    link.symlink_to(plain.path)
    engine = connect(UserFile(link))
    engine.start()
    assert list(engine.files()) == [plain.path.resolve()]
    engine.remove()


def test_the_users_own_program_may_work_beside_us(plain: UserFile, connect: Connect) -> None:
    engine = connect(plain)
    engine.start()
    fill(engine)
    with closing(plain.open()) as other:
        other.execute("INSERT INTO customers VALUES ('new', 1)")
        engine.run(f"DELETE FROM {quoted(engine.stored_name('c'))}")
        assert other.execute("SELECT value FROM customers WHERE name = 'new'").fetchall() == [(1,)]
    engine.remove()
    with closing(sqlite3.connect(plain.path)) as other:
        assert other.execute("SELECT value FROM customers WHERE name = 'new'").fetchall() == [(1,)]


@pytest.mark.parametrize("tactic", ["journal=delete", "page_size=8192"])
def test_a_setting_that_a_file_keeps_is_not_ours_to_set(tactic: str) -> None:
    with pytest.raises(InputError, match="a file of yours") as caught:
        SqliteEngine.check(parse_variant(f"sqlite:///tmp/x.db?{tactic}", TACTICS))
    assert caught.value.hint


OF_LOADED = {"statistics": ("stat1", "off"), "without_rowid": ("off",), "index": ("none",)}


@pytest.mark.parametrize(
    "tactic", [f"{name}={value}" for name, values in OF_LOADED.items() for value in values]
)
def test_what_is_loaded_otherwise_leaves_the_files_own_statistics(
    tactic: str, tmp_path: Path
) -> None:
    path = tmp_path / "mine.db"
    with closing(sqlite3.connect(path)) as mine:
        mine.executescript(
            "CREATE TABLE mine (a); CREATE INDEX i ON mine (a); INSERT INTO mine VALUES (1);ANALYZE"
        )
        before = list(mine.iterdump())
    engine = SqliteEngine(parse_variant(f"sqlite://{path}?{tactic}", TACTICS), tmp_path, "run1")
    engine.start()
    names = [engine.stored_name(name) for name in ("t", "c")]
    engine.load(table(names[0], indexes=("unique2",)), stream(rows()))
    ordered = table(names[1], organisation="clustered", key="unique2", tiebreaker="unique1")
    engine.load(ordered, stream(rows()))
    engine.settle(names)
    name, _, value = tactic.partition("=")
    assert engine.terms()[name] == value
    assert all(sorted(as_rows(engine.contents(each))) == sorted(rows()) for each in names)
    engine.remove()
    with closing(sqlite3.connect(path)) as mine:
        assert list(mine.iterdump()) == before
