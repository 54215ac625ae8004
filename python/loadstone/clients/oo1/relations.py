"""OO1's generated relations, as tables of Arrow."""

import pyarrow as pa

from loadstone import _core
from loadstone.benchmarks.oo1.database import Database


def part_table(database: Database) -> pa.Table:
    """All parts: id, type, x, y, build in seconds since 1970."""
    table = _table(database, "part")
    build = table.schema.get_field_index("build")
    return table.set_column(build, "build", table.column("build").cast(pa.int64()))


def connection_table(database: Database) -> pa.Table:
    """All connections: frm, too, type, length."""
    return _table(database, "connection")


def _table(database: Database, relation: str) -> pa.Table:
    edition = "1992" if database.locality else "1992-no-locality"
    stream = _core.RelationStream("oo1", edition, relation, database.parts, database.seed)
    return pa.RecordBatchReader.from_stream(stream).read_all()
