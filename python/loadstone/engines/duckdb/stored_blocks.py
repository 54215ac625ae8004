"""Whether a plan of DuckDB reads a block of its tables.

DuckDB keeps a segment whose values are all equal in the catalog, as the statistics of that segment,
and stores no block for it. Numbers of a relation of one tuple are such segments: opening the
database reads them, and a scan of them reads nothing further.
"""

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

_SCANS = ("SEQ_SCAN", "INDEX_SCAN")
_SEGMENTS = """
SELECT lower(column_name), block_id >= 0 OR len(additional_block_ids) > 0 OR NOT persistent
FROM pragma_storage_info($1)"""
_WORD = re.compile(r"\w+")


def reads_blocks(db: duckdb.DuckDBPyConnection, statement: str) -> bool:
    """Whether one of its scans is of a column that has a block, as far as EXPLAIN and the storage
    of the tables say; True where they leave it open."""
    rows = db.execute(f"EXPLAIN (FORMAT JSON) {statement}").fetchall()
    return any(_has_block(db, scan) for scan in _scans(json.loads(str(rows[0][-1]))))


def _scans(nodes: list[dict[str, Any]]) -> Iterator[Mapping[str, Any]]:
    for node in nodes:
        if str(node["name"]).strip() in _SCANS:
            yield node["extra_info"]
        yield from _scans(node["children"])


def _has_block(db: duckdb.DuckDBPyConnection, scan: Mapping[str, Any]) -> bool:
    """Whether a column of the scan, selected or in its filter, has a stored block, or one that is
    not stored yet."""
    table = str(scan.get("Table", "")).rpartition(".")[2]
    try:
        stored = db.execute(_SEGMENTS, [table]).fetchall()
    except duckdb.Error:
        # A name that its catalog, its schema or its own full stop makes another.
        return True
    named = set(_WORD.findall(json.dumps([scan.get("Projections"), scan.get("Filters")]).lower()))
    columns = {str(column) for column, _ in stored}
    if not named & columns:
        return bool(stored)
    return any(has for column, has in stored if column in named)
