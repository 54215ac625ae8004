"""Somebody else's SQLite file, for tests of what a run does in a user's database."""

import sqlite3
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

HOSTILE_NAMES = (
    '"; DROP TABLE customers; --',
    "it's \"quoted\" 'twice'",
    "Überschrift 表 %s %2F",
    "tmp",
    "tenktup1_heap_1000",
    "Loadstone_customers",
    # Names as ours are, without our mark.
    "loadstone_deadbeef_fake",
    "loadstone_deadbeef_0a0b0c0d_t",
)
LOOK_ALIKE = "loadstone_deadbeef_0a0b0c0d"
COPIED_MARK = "loadstone_cafebabe_0a0b0c0d"
HOSTILE_VALUES = (
    "'; DROP TABLE customers; --", '"', b"\x00\xff", None, 2**62, -0.5, "zwölf\n表\0end",
    "loadstone run deadbeef",
)  # fmt: skip
PRAGMAS = (
    "user_version", "application_id", "journal_mode", "auto_vacuum", "page_size", "encoding",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class UserFile:
    """A database file with tables, names and values that a loose notion of 'ours' falls for."""

    path: Path

    @property
    def url(self) -> str:
        return f"sqlite://{quote(str(self.path))}"

    def open(self) -> sqlite3.Connection:
        return sqlite3.connect(self.path, isolation_level=None)

    def fingerprint(self) -> list[object]:
        """Everything that the file says, but its size and SQLite's own counters of changes."""
        with closing(self.open()) as db:
            schema = db.execute("SELECT type, name, tbl_name, sql FROM sqlite_schema").fetchall()
            tables = [name for kind, name, _, _ in schema if kind == "table"]
            rows = {name: self._rows(db, name) for name in tables}
            pragmas = [db.execute(f"PRAGMA {name}").fetchall() for name in PRAGMAS]
            sound = db.execute("PRAGMA integrity_check").fetchall()
        return [sorted(schema, key=repr), rows, pragmas, sound]

    def names(self) -> list[str]:
        """The tables of the file."""
        with closing(self.open()) as db:
            query = "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY 1"
            return [name for (name,) in db.execute(query)]

    @staticmethod
    def _rows(db: sqlite3.Connection, name: str) -> list[object]:
        try:
            return db.execute(f"SELECT rowid, * FROM {quoted(name)}").fetchall()
        except sqlite3.OperationalError:  # a table WITHOUT ROWID
            return db.execute(f"SELECT * FROM {quoted(name)}").fetchall()


def quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def user_file(path: Path, *, journal: str = "delete", analysed: bool = True) -> UserFile:
    """Make one. `journal` and whether it has tables of statistics are what runs could change."""
    user = UserFile(path)
    with closing(user.open()) as db:
        db.execute("PRAGMA page_size = 8192")
        db.execute("PRAGMA auto_vacuum = INCREMENTAL")
        db.execute(f"PRAGMA journal_mode = {journal}")
        db.execute("PRAGMA user_version = 77")
        db.execute("PRAGMA application_id = 19088743")
        db.execute("PRAGMA synchronous = OFF")
        db.execute("BEGIN")
        db.execute("CREATE TABLE customers (name TEXT, value)")
        db.execute("CREATE INDEX by_name ON customers (name)")
        db.execute("CREATE TABLE keyed (k INTEGER PRIMARY KEY, v) WITHOUT ROWID")
        db.execute("INSERT INTO keyed VALUES (1, 'one'), (2, 'two')")
        db.execute("CREATE VIEW rich AS SELECT * FROM customers WHERE value > 0")
        db.execute("CREATE TABLE log (id INTEGER PRIMARY KEY AUTOINCREMENT, said TEXT)")
        db.execute("CREATE TRIGGER reported AFTER DELETE ON customers BEGIN"
                   " INSERT INTO log (said) VALUES (old.name); END")  # fmt: skip
        values = [(f"customer {i}", value) for i, value in enumerate(HOSTILE_VALUES * 20)]
        db.executemany("INSERT INTO customers VALUES (?, ?)", values)
        db.execute("DELETE FROM customers WHERE rowid % 7 = 0")
        for name in HOSTILE_NAMES:
            db.execute(f"CREATE TABLE {quoted(name)} (a, b)")
            db.executemany(f"INSERT INTO {quoted(name)} VALUES (?, 1)",
                           [(value,) for value in HOSTILE_VALUES])  # fmt: skip
        db.execute(f"CREATE TABLE {LOOK_ALIKE} (mark TEXT, made_at TEXT)")
        db.execute(f"INSERT INTO {LOOK_ALIKE} VALUES ('loadstone run deadbeef', 'today')")
        # Our very definition, but the words of another run.
        db.execute(f'CREATE TABLE "{COPIED_MARK}" (mark TEXT, made_at TEXT, statistics TEXT)')
        db.execute(f"INSERT INTO {COPIED_MARK} VALUES ('loadstone run deadbeef', '', '')")
        if analysed:
            db.execute("ANALYZE")
        db.execute("COMMIT")
    return user
