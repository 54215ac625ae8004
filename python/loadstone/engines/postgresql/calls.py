"""The functions that a user's statement calls, as the server itself has resolved them, and whether
each may be called in a database of the user's.

A transaction that only reads stops what changes tables, and no more: replication slots, statistics,
the log and, before release 16, large objects are written in one. So only those functions are called
that the catalog has as STABLE or IMMUTABLE, and a few others that are known. The server parses the
statement, executes nothing, and shows the tree that its rules leave: views, casts, operators,
policies and names written in whatever way are functions there, by their number.
"""

import re
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from typing import Any

import psycopg
from psycopg.errors import error_from_result
from psycopg.generators import execute
from psycopg.pq import ExecStatus

from loadstone.engines.postgresql import operator_classes
from loadstone.errors import EngineError

Connection = psycopg.Connection[tuple[Any, ...]]

HARMLESS = frozenset(
    {"random", "random_normal", "setseed", "array_sample", "array_shuffle", "gen_random_uuid"}
    | {"uuidv4", "uuidv7", "clock_timestamp", "timeofday", "currval", "lastval"}
    | {"current_query", "pg_sleep", "pg_sleep_for", "pg_sleep_until", "pg_relation_size"}
    | {"pg_table_size", "pg_indexes_size", "pg_total_relation_size", "pg_database_size"}
    | {"pg_tablespace_size", "pg_is_in_recovery", "pg_current_wal_lsn"}
    | {"pg_current_wal_flush_lsn", "pg_current_wal_insert_lsn", "pg_last_wal_receive_lsn"}
    | {"pg_last_wal_replay_lsn", "pg_last_xact_replay_timestamp", "pg_last_committed_xact"}
    | {"pg_xact_commit_timestamp", "pg_xact_status", "txid_status", "pg_lock_status"}
    | {"pg_blocking_pids", "pg_prepared_xact", "pg_partition_tree", "pg_partition_ancestors"}
    | {"pg_sequence_last_value", "pg_stat_have_stats"}
)
"""Functions of PostgreSQL's own that are VOLATILE, and write nothing."""
_COUNTS = "pg_stat_get_"
"""The beginning of the names of functions that report the server's counts."""
_SCOPES = ("table", "schema", "database")
WRITING = frozenset(
    {"txid_current", "pg_current_xact_id", "pg_input_is_valid", "pg_input_error_info"}
    | {f"{scope}_to_xml{more}" for scope in _SCOPES for more in ("", "_and_xmlschema")}
)
"""Functions of PostgreSQL's own that are STABLE, and take a transaction's number, or execute what
they are given the name of: a view, or a domain's check."""

_MERGE_COMES = 150_000
"""The release from which a kind of statements more is numbered."""
_SHOWN = "rewritten parse tree"
_SHOW = (
    b"SET LOCAL transaction_read_only TO on; SET LOCAL debug_print_rewritten TO on;"
    b" SET LOCAL debug_pretty_print TO off; SET LOCAL client_min_messages TO log"
)
_HIDE = (
    b"SET LOCAL debug_print_rewritten TO off; SET LOCAL client_min_messages TO warning;"
    b" SET LOCAL search_path TO pg_catalog, pg_temp"
)
_COMMAND = re.compile(r":commandType\s+(\d+)")
_SELECT = "1"
_FUNCTIONS = (
    re.compile(r":(?:funcid|opfuncid|aggfnoid|winfnoid|hashfuncid|negfuncid)\s+(\d+)"),
    re.compile(r":(?:startInRangeFunc|endInRangeFunc|elemfuncid)\s+(\d+)"),
)
_OPERATORS = (
    re.compile(r":(?:opno|eqop|sortop)\s+(\d+)"),
    re.compile(r":opnos\s+\(o\s+([\d\s]+)\)"),
)
_TYPES = (
    re.compile(r":(?:resulttype|funcresulttype|consttype|opresulttype|row_typeid)\s+(\d+)"),
    re.compile(r":(?:aggtype|wintype|array_typeid|element_typeid)\s+(\d+)"),
    re.compile(r":(?:funccoltypes|coltypes|colTypes)\s+\(o\s+([\d\s]+)\)"),
)
_COMPARED = (
    re.compile(r":\w*[tT]ype(?:[iI]d)?\s+(\d+)"),
    re.compile(r":\w*[tT]ypes\s+\(o\s+([\d\s]+)\)"),
)
"""Every type of an expression. Its values may be compared unwritten: within a row or an array."""
_TABLES = (re.compile(r":relid\s+(\d+)"),)

_OF_FUNCTIONS = """
SELECT n.nspname, p.proname, p.oid::pg_catalog.regprocedure::text, p.provolatile::text,
       p.proargdefaults::text,
       ARRAY[a.aggtransfn, a.aggfinalfn, a.aggcombinefn, a.aggserialfn, a.aggdeserialfn,
             a.aggmtransfn, a.aggminvtransfn, a.aggmfinalfn, p.prosupport]::oid[]::text,
       coalesce(a.aggsortop, 0)::text
  FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
  LEFT JOIN pg_catalog.pg_aggregate a ON a.aggfnoid = p.oid
 WHERE p.oid = ANY (%s::oid[]) ORDER BY 1, 3
"""
_OF_TYPES = """
WITH RECURSIVE t(oid) AS (
    SELECT unnest(%s::oid[])
    UNION
    SELECT x.oid FROM t JOIN pg_catalog.pg_type y ON y.oid = t.oid CROSS JOIN LATERAL (
        {parts_of_type}
    ) x(oid) WHERE x.oid <> 0
)
SELECT c.conbin::text FROM t JOIN pg_catalog.pg_constraint c ON c.contypid = t.oid
 WHERE c.conbin IS NOT NULL
""".replace("{parts_of_type}", operator_classes.PARTS_OF_TYPE)
_OF_TABLES = """
WITH RECURSIVE r(oid) AS (
    SELECT unnest(%s::oid[])
    UNION SELECT i.inhrelid FROM r JOIN pg_catalog.pg_inherits i ON i.inhparent = r.oid
)
SELECT c.oid::pg_catalog.regclass::text FROM r JOIN pg_catalog.pg_class c ON c.oid = r.oid
 WHERE c.relkind = 'f' ORDER BY 1 LIMIT 1
"""
_INSTEAD = "load what it reads by --data, and it is measured in tables of ours"


def check(connection: Connection, statement: str, *, changes: bool) -> None:
    """Raise `EngineError` for a statement that calls what may write, in a session in a user's
    database; `changes`: it may change a table. Raises psycopg's errors for what the server does
    not understand. It waits for a lock that somebody has on a table, as the statement would."""
    with connection.transaction(force_rollback=True):
        tree = _tree(connection, statement)
        kinds = set(_COMMAND.findall(tree))
        if not changes and kinds != {_SELECT}:
            raise EngineError(
                "postgresql: the server has it as no query, and the tables are only read",
                hint="write a query: SELECT …",
            )
        defines = "6" if connection.info.server_version >= _MERGE_COMES else "5"
        if changes and kinds == {defines}:
            return  # what the run itself defines and removes: no statement of the user's is one
        if not changes and (found := connection.execute(_OF_TABLES, (_numbers(tree, _TABLES),))):
            for (name,) in found:
                raise EngineError(
                    f"postgresql: {name} is a foreign table, whose server may do more than read",
                    hint=_INSTEAD,
                )
        _check_functions(connection, tree)


def _check_functions(connection: Connection, tree: str) -> None:
    """Those of a tree, and what in turn they call by the catalog: the functions of operators, of
    their classes and of aggregates, arguments' defaults, and the checks of domains."""
    seen: set[str] = set()
    trees, given, sorts = [tree], set[str](), set[str]()
    while trees or given or sorts:
        text = "\n".join(trees)
        operators = sorts | {*_numbers(text, _OPERATORS)}
        types, tables = _numbers(text, _COMPARED), _numbers(text, _TABLES)
        given |= operator_classes.functions_of(connection, types, tables, operators)
        given |= {*_numbers(text, _FUNCTIONS)}
        checks = connection.execute(_OF_TYPES.encode(), (_numbers(text, _TYPES),))
        trees = [str(check) for (check,) in checks if check not in seen]
        seen.update(trees)
        new, given, sorts = sorted(given - seen), set(), set()
        seen.update(new)
        for row in connection.execute(_OF_FUNCTIONS, (new,)).fetchall():
            schema, name, written, kind, defaults, parts, sort = row
            _check_function(schema, name, written, kind)
            trees += [defaults] if defaults else []
            given |= {one for one in re.findall(r"\d+", parts) if one != "0"}
            sorts |= {sort} - {"0"}
        given -= seen


def _check_function(schema: str, name: str, written: str, kind: str) -> None:
    own = schema == "pg_catalog"
    if own and name not in WRITING and (
        kind != "v" or name in HARMLESS or name.startswith(_COUNTS)
    ):  # fmt: skip
        return
    if not own and kind != "v":
        return
    raise EngineError(
        f"postgresql: the statement calls {written}, which may write: your database is only read",
        hint="leave it out"
        if own
        else "leave it out; it is declared VOLATILE, as by default: where it writes nothing, its"
        f" owner can say so: ALTER FUNCTION {written} STABLE",
    )


def _tree(connection: Connection, statement: str) -> str:
    """The statement as the server has it, parsed and with its rules applied; nothing of it is
    executed."""
    pgconn = connection.pgconn
    with _noticed(connection) as shown:
        _done(connection, lambda: pgconn.send_query(_SHOW))
        shown.clear()
        _done(connection, lambda: pgconn.send_prepare(b"", statement.encode()))
        tree = "\n".join(shown)
        _done(connection, lambda: pgconn.send_query(_HIDE))
    if not tree:
        raise EngineError(
            "postgresql: the server does not show which functions a statement calls, so it may"
            " write",
            hint=_INSTEAD,
        )
    return tree


@contextmanager
def _noticed(connection: Connection) -> Iterator[list[str]]:
    shown: list[str] = []

    def take(notice: psycopg.errors.Diagnostic) -> None:
        if (notice.message_primary or "").startswith(_SHOWN):
            shown.append(notice.message_detail or "")

    connection.add_notice_handler(take)
    try:
        yield shown
    finally:
        connection.remove_notice_handler(take)


def _done(connection: Connection, send: Any) -> None:
    send()
    for result in connection.wait(execute(connection.pgconn)):
        if result.status != ExecStatus.COMMAND_OK:
            raise error_from_result(result)


def _numbers(tree: str, patterns: Collection[re.Pattern[str]]) -> list[str]:
    found = {one for pattern in patterns for each in pattern.findall(tree) for one in each.split()}
    return sorted(found - {"0"})


_VALUE = re.compile(r"""("[^"]*")|('[^']*')|(?<![\w.])(\d+\.\d+|\d{1,9})(?![\w.])""")
_HARD = re.compile(r"--|/\*|[$\\]|u&|uescape", re.IGNORECASE)


def shape(statement: str) -> str:
    """The part that is alike of texts that differ in numbers and strings alone: the server has the
    same functions in them. It is the text itself where that does not show at a glance."""
    if _HARD.search(statement):
        return statement
    return _VALUE.sub(lambda found: found[1] or ("''" if found[2] else _alike(found[3])), statement)


def _alike(number: str) -> str:
    return "0.0" if "." in number else "0"
