"""The functions that a server calls unwritten for the types, the operators and the tables of a
statement: those that order, hash and compare values, of ranges and of indexes too, that estimate
how many rows an operator leaves, and that a plan may call in an operator's place."""

from collections.abc import Collection
from typing import Any

import psycopg

Connection = psycopg.Connection[tuple[Any, ...]]

PARTS_OF_TYPE = """
        SELECT y.typbasetype UNION ALL SELECT y.typelem
        UNION ALL SELECT a.atttypid FROM pg_catalog.pg_attribute a
         WHERE a.attrelid = y.typrelid AND a.attnum > 0 AND NOT a.attisdropped
        UNION ALL SELECT r.rngsubtype FROM pg_catalog.pg_range r WHERE r.rngtypid = y.oid
"""
"""The types of which the type `y` is made: its base, elements, attributes, and a range's bounds."""

# An operator of the server's own sorts and hashes by its own family, the first that is found,
# whatever others have put it into. A function in C that an extension has brought is believed: many
# do not declare those by which an index is searched, which nobody calls by a name.
_FUNCTIONS = """
WITH RECURSIVE t(oid) AS (
    SELECT unnest(%(types)s::oid[])
    UNION
    SELECT x.oid FROM t JOIN pg_catalog.pg_type y ON y.oid = t.oid CROSS JOIN LATERAL (
        {parts_of_type}
        {of_multirange}
    ) x(oid) WHERE x.oid <> 0
), r(oid) AS (
    SELECT unnest(%(tables)s::oid[])
    UNION SELECT i.inhrelid FROM r JOIN pg_catalog.pg_inherits i ON i.inhparent = r.oid
), o(oid) AS (
    SELECT unnest(%(operators)s::oid[])
    UNION
    SELECT x.oid FROM o JOIN pg_catalog.pg_operator y ON y.oid = o.oid
     CROSS JOIN LATERAL (VALUES (y.oprcom), (y.oprnegate)) x(oid) WHERE x.oid <> 0
), c(oid) AS (
    SELECT g.rngsubopc FROM t JOIN pg_catalog.pg_range g ON g.rngtypid = t.oid
    UNION SELECT unnest(i.indclass::oid[]) FROM r JOIN pg_catalog.pg_index i ON i.indrelid = r.oid
    UNION SELECT unnest(p.partclass::oid[])
      FROM r JOIN pg_catalog.pg_partitioned_table p ON p.partrelid = r.oid
), m(oid) AS (SELECT oid FROM pg_catalog.pg_am WHERE amname IN ('btree', 'hash')
), f(oid) AS (
    SELECT k.opcfamily FROM t JOIN pg_catalog.pg_opclass k ON k.opcintype = t.oid AND k.opcdefault
      JOIN m ON m.oid = k.opcmethod
    UNION SELECT k.opcfamily FROM c JOIN pg_catalog.pg_opclass k ON k.oid = c.oid
    UNION SELECT a.amopfamily FROM o JOIN pg_catalog.pg_amop a ON a.amopopr = o.oid
      JOIN m ON m.oid = a.amopmethod
     WHERE a.amopfamily < 16384 OR NOT EXISTS (
           SELECT FROM pg_catalog.pg_amop b WHERE b.amopopr = o.oid
              AND b.amopmethod = a.amopmethod AND b.amopfamily < 16384)
), e(oid) AS (
    SELECT oid FROM o
    UNION SELECT a.amopopr FROM f JOIN pg_catalog.pg_amop a ON a.amopfamily = f.oid
), p(oid) AS (
    SELECT a.amproc::oid FROM f JOIN pg_catalog.pg_amproc a ON a.amprocfamily = f.oid
     WHERE NOT EXISTS (
           SELECT FROM pg_catalog.pg_proc z
             JOIN pg_catalog.pg_language l ON l.oid = z.prolang AND l.lanname = 'c'
             JOIN pg_catalog.pg_depend d ON d.objid = z.oid AND d.deptype = 'e'
              AND d.classid = 'pg_catalog.pg_proc'::regclass
            WHERE z.oid = a.amproc::oid)
    UNION SELECT x.oid FROM e JOIN pg_catalog.pg_operator y ON y.oid = e.oid
     CROSS JOIN LATERAL (VALUES (y.oprcode::oid), (y.oprrest::oid), (y.oprjoin::oid)) x(oid)
    UNION SELECT x.oid FROM t JOIN pg_catalog.pg_range g ON g.rngtypid = t.oid
     CROSS JOIN LATERAL (VALUES (g.rngcanonical::oid), (g.rngsubdiff::oid)) x(oid)
)
SELECT oid FROM p WHERE oid <> 0
"""
_OF_MULTIRANGE = "UNION ALL SELECT r.rngtypid FROM pg_catalog.pg_range r WHERE r.rngmultitypid = {}"
_MULTIRANGES_COME = 140_000


def functions_of(
    connection: Connection,
    types: Collection[str],
    tables: Collection[str],
    operators: Collection[str],
) -> set[str]:
    """Their numbers; all that is given are numbers, too."""
    if not (types or tables or operators):
        return set()
    known = connection.info.server_version >= _MULTIRANGES_COME
    query = _FUNCTIONS.replace("{parts_of_type}", PARTS_OF_TYPE)
    query = query.replace("{of_multirange}", _OF_MULTIRANGE.format("y.oid") if known else "")
    values = {"types": [*types], "tables": [*tables], "operators": [*operators]}
    return {str(number) for (number,) in connection.execute(query.encode(), values)}
