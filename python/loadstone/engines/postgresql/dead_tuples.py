"""Dead tuples, which an update or a deletion leaves in its table until a VACUUM.

A server of ours runs without autovacuum, whose work would fall into some samples and not into
others. So repeated updates of a whole table would each find the tuples of all before: a table of
10,000 had the pages of 200,000 after twenty. What autovacuum does by its default thresholds is done
here, between samples.
"""

from collections import Counter

import psycopg

from loadstone.engines.postgresql.schema import Schema

BASE, SHARE = 50, 0.2
"""`autovacuum_vacuum_threshold` and `autovacuum_vacuum_scale_factor`, as PostgreSQL 18 has them."""
_TUPLES = """
SELECT c.reltuples FROM pg_catalog.pg_class c
 WHERE c.oid = pg_catalog.to_regclass(%s)
"""


class DeadTuples:
    """Those of each table since it was last vacuumed."""

    def __init__(self) -> None:
        self._left: Counter[str] = Counter()

    def remove(
        self, connection: psycopg.Connection, schema: Schema, table: str, changed: int
    ) -> None:
        """Add tuples that were changed, and vacuum the table once they are too many."""
        self._left[table] += changed
        if self._left[table] <= BASE:
            return
        row = connection.execute(_TUPLES, (schema.member(table),)).fetchone()
        if row is not None and self._left[table] > BASE + SHARE * max(row[0], 0):
            connection.execute(f"VACUUM {schema.member(table)}")
            self._left[table] = 0
