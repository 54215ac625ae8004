"""Write the stored records with the tables of today: after a change of a table, until release 1.0.

    python tests/data/rewrite.py

A column that a record lacks is NULL, or else the emptiest value of its type.
"""

import gzip
import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

from loadstone.record.schema import APPLICATION_ID, SCHEMA_VERSION, TABLES, definitions
from loadstone.record.table import Column
from loadstone.text.kinds import Json

EMPTIEST = {"INTEGER": 0, "REAL": 0.0, "TEXT": "", "BLOB": b"", "ANY": 0}


def rewritten(data: bytes) -> bytes:
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        before.write_bytes(data)
        with closing(sqlite3.connect(before)) as old, closing(sqlite3.connect(after)) as new:
            new.executescript(
                f"PRAGMA application_id={APPLICATION_ID};"
                f"PRAGMA user_version={SCHEMA_VERSION}; {definitions()}"
            )
            old.row_factory = sqlite3.Row
            there = {name for (name,) in old.execute("SELECT name FROM sqlite_schema")}
            for table in TABLES:
                if table.name not in there:
                    continue
                for row in old.execute(f"SELECT * FROM {table.name} ORDER BY rowid"):
                    values = [
                        row[c.name] if c.name in row.keys() else emptiest(c)  # noqa: SIM118
                        for c in table.columns
                    ]
                    marks = ",".join("?" * len(values))
                    new.execute(f"INSERT INTO {table.name} VALUES ({marks})", values)
            new.commit()
        return after.read_bytes()


def emptiest(column: Column) -> object:
    if "NOT NULL" not in column.sql:
        return None
    return "[]" if isinstance(column.letters, Json) else EMPTIEST[column.sql_type]


for path in sorted(Path(__file__).parent.glob("*.loadstone*")):
    if path.suffix == ".gz":
        path.write_bytes(gzip.compress(rewritten(gzip.decompress(path.read_bytes())), 9, mtime=0))
    else:
        path.write_bytes(rewritten(path.read_bytes()))
