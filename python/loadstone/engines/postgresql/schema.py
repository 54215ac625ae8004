"""Our schema on a PostgreSQL server: created, reported from the user's, held by a living run,
dropped.

Nothing of the user's is called or dropped: names resolve in `pg_catalog` until our schema is
entered, in which other roles may create nothing, and our objects are dropped by name.
"""

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import psycopg
from psycopg import sql

from loadstone.engines import capabilities
from loadstone.engines.ownership import Space, lock_key
from loadstone.errors import EngineError

Connection = psycopg.Connection[tuple[Any, ...]]

_LOOK = """
SELECT pg_catalog.obj_description(oid, 'pg_namespace'), nspowner =
       (SELECT oid FROM pg_catalog.pg_roles WHERE rolname = CURRENT_USER)
  FROM pg_catalog.pg_namespace WHERE nspname = %s
"""
_GRANTED = """
SELECT DISTINCT coalesce(r.rolname, '') FROM pg_catalog.pg_namespace n
  CROSS JOIN LATERAL pg_catalog.aclexplode(n.nspacl) a
  LEFT JOIN pg_catalog.pg_roles r ON r.oid = a.grantee
 WHERE n.nspname = %s AND a.grantee <> n.nspowner
"""
_TABLES = """
SELECT c.relname FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace
 WHERE n.nspname = %s AND c.relkind = 'r' AND c.relowner = n.nspowner ORDER BY 1
"""
# A client makes its functions with the schema as their own path, as no one else has cause to
# (`crates/clients/src/postgresql/oo1/schema.rs`); so whatever it calls them, they are reported from
# others.
_FUNCTIONS = """
SELECT p.proname, pg_catalog.pg_get_function_identity_arguments(p.oid) FROM pg_catalog.pg_proc p
  JOIN pg_catalog.pg_namespace n ON n.oid = p.pronamespace
 WHERE n.nspname = %s AND p.proowner = n.nspowner
   AND ('search_path=' || pg_catalog.quote_ident(n.nspname)) = ANY (p.proconfig) ORDER BY 1
"""
# Objects that would go with our tables or our schema without a word: RESTRICT refuses only what
# depends on them in another way. Left out are a table's row type, what holds its long values, that
# a column may not be null, and what we make on attributes: an index that is called TABLE.ATTRIBUTES
# or, by a client, TABLE_ATTRIBUTE of the first; and a primary key TABLE..ATTRIBUTES, likewise, or
# as the server calls it where that is too long (`load.py`).
_TAKEN_ALONG = """
WITH taken AS (
    SELECT d.classid, d.objid, d.objsubid, t.relname::text AS t, r.relkind AS kind,
           coalesce(r.relname, k.conname)::text AS name, k.contype,
           (SELECT pg_catalog.array_agg(a.attname::text ORDER BY one.place)
              FROM pg_catalog.unnest(coalesce(k.conkey, i.indkey::int2[]))
                   WITH ORDINALITY AS one(number, place)
              JOIN pg_catalog.pg_attribute a ON a.attrelid = t.oid AND a.attnum = one.number
           ) AS attributes
      FROM pg_catalog.pg_depend d JOIN pg_catalog.pg_namespace n ON n.nspname = %s
      LEFT JOIN pg_catalog.pg_class t ON t.oid = d.refobjid AND t.relnamespace = n.oid
           AND t.relkind = 'r' AND t.relowner = n.nspowner
           AND d.refclassid = 'pg_catalog.pg_class'::pg_catalog.regclass
      LEFT JOIN pg_catalog.pg_class r ON r.oid = d.objid
           AND d.classid = 'pg_catalog.pg_class'::pg_catalog.regclass
      LEFT JOIN pg_catalog.pg_index i ON i.indexrelid = r.oid
      LEFT JOIN pg_catalog.pg_constraint k ON k.oid = d.objid
           AND d.classid = 'pg_catalog.pg_constraint'::pg_catalog.regclass
     WHERE d.deptype IN ('a', 'i', 'P', 'S')
       AND (t.oid IS NOT NULL OR d.refobjid = n.oid
            AND d.refclassid = 'pg_catalog.pg_namespace'::pg_catalog.regclass)
)
SELECT DISTINCT pg_catalog.pg_describe_object(classid, objid, objsubid)
  FROM taken CROSS JOIN LATERAL (
       SELECT pg_catalog.array_to_string(attributes, '.') AS every, attributes[1] AS first) a
 WHERE NOT (classid = 'pg_catalog.pg_type'::pg_catalog.regclass)
   AND NOT coalesce(kind = 't' OR kind = 'i' AND name IN (
           (t || '.' || every)::pg_catalog.name::text,
           (t || '_' || first)::pg_catalog.name::text), false)
   AND NOT coalesce(contype = 'n' OR contype = 'p' AND (
           name IN (t || '..' || every, t || '_' || first)
           OR pg_catalog.octet_length(t || '..' || every) > 63
              AND name LIKE '%%\\_pkey%%'), false)
 ORDER BY 1
"""
_END = """
SELECT pg_catalog.pg_terminate_backend(pid) FROM pg_catalog.pg_locks
 WHERE locktype = 'advisory' AND objsubid = 1 AND pid <> pg_catalog.pg_backend_pid()
   AND classid = %s::pg_catalog.int8::pg_catalog.oid
   AND objid = %s::pg_catalog.int8::pg_catalog.oid
   AND database = (SELECT oid FROM pg_catalog.pg_database
                    WHERE datname = pg_catalog.current_database())
"""
END_S_MAX = 10.0
_END_AGAIN_S = 0.01
_LACKING = (
    psycopg.errors.UndefinedFunction,
    psycopg.errors.FeatureNotSupported,
    psycopg.errors.SyntaxError,
)
"""Errors of servers that only speak the protocol."""
_UNKNOWN = (*_LACKING, psycopg.errors.UndefinedTable, psycopg.errors.UndefinedColumn)
"""Likewise, requested a catalog."""


@dataclass(frozen=True, slots=True)
class Schema(Space):
    """Our schema on a server, reported from the user's by its comment."""

    @property
    def quoted(self) -> str:
        """As written in a statement."""
        return capabilities.quoted(self.name)

    def member(self, name: str) -> str:
        """A table or an index of ours as written in a statement."""
        return f"{self.quoted}.{capabilities.quoted(name)}"

    @property
    def _identifier(self) -> sql.Identifier:
        return sql.Identifier(self.name)

    def enter(self, connection: Connection) -> None:
        """Create the schema if it does not exist, refuse one that is not ours, use no other."""
        # Held first: another run's `clean` would else drop it between the look and the first use.
        self.hold(connection)
        found, comment, own = self._look(connection)
        if not found:
            self._make(connection)
        elif comment != self.mark or not own:
            reason = "is not marked as ours" if comment != self.mark else "belongs to another role"
            raise EngineError(
                f"postgresql: the schema {self.name} exists and {reason}",
                hint="rename it, or start another run: every run has its own schema",
            )
        connection.execute(sql.SQL("SET search_path TO {}").format(self._identifier))

    def drop_own(self, connection: Connection) -> None:
        """Drop the schema if it exists and bears our mark, table by table; touch nothing otherwise.
        Raises `EngineError`, and drops nothing, if an object that is not ours would be dropped,
        too."""
        # Until here, the session may have had the schema's names in view, and its functions.
        connection.execute("SET search_path TO pg_catalog")
        found, comment, _ = self._look(connection)
        if not found or comment != self.mark:
            return
        try:
            with connection.transaction():
                self._refuse_to_take_along(connection)
                self._drop(connection)
        except psycopg.errors.DependentObjectsStillExist as error:
            raise self._kept((error.diag.message_detail or str(error)).splitlines()) from None

    def size_bytes(self, connection: Connection) -> int:
        """Tables, indexes and TOAST of ours. Raises psycopg's errors."""
        query = (
            "SELECT coalesce(pg_catalog.sum(pg_catalog.pg_total_relation_size(c.oid)), 0)::int8"
            " FROM pg_catalog.pg_class c JOIN pg_catalog.pg_namespace n ON n.oid = c.relnamespace"
            " WHERE n.nspname = %s AND c.relkind = 'r'"
        )
        row = connection.execute(query, (self.name,)).fetchone()
        return int(row[0]) if row else 0

    def tables(self, connection: Connection) -> list[str]:
        """Our tables."""
        return [str(row[0]) for row in connection.execute(_TABLES, (self.name,)).fetchall()]

    def hold(self, connection: Connection) -> bool:
        """Hold a lock that shows other sessions that the run lives, as long as the session does.
        False if the server has no such locks."""
        with contextlib.suppress(psycopg.Error):  # before version 14 there is no such setting
            connection.execute("SET idle_session_timeout TO 0")
        try:
            key = (lock_key(self.name),)
            connection.execute("SELECT pg_catalog.pg_advisory_lock_shared(%s::int8)", key)
        except _LACKING:
            return False
        return True

    def take(self, connection: Connection) -> bool:
        """Lock the schema exclusively until the session ends; False if a living run holds it."""
        try:
            key = (lock_key(self.name),)
            query = "SELECT pg_catalog.pg_try_advisory_lock(%s::int8)"
            row = connection.execute(query, key).fetchone()
        except _LACKING:
            return True
        return bool(row and row[0])

    def is_held(self, connection: Connection) -> bool:
        """Whether a living run holds the schema. The lock that shows it is given back at once: a
        session ends some time after it was closed, and would seem to be that run until then."""
        if not self.take(connection):
            return True
        with contextlib.suppress(*_LACKING):
            query = "SELECT pg_catalog.pg_advisory_unlock(%s::int8)"
            connection.execute(query, (lock_key(self.name),))
        return False

    def end_sessions(self, connection: Connection) -> None:
        """End all sessions that hold the schema, and wait until they are gone."""
        key = lock_key(self.name)
        with contextlib.suppress(*_LACKING):
            # Before release 14 the server does not wait for their end itself.
            for _ in range(round(END_S_MAX / _END_AGAIN_S)):
                if not connection.execute(_END, (key >> 32, key & 0xFFFFFFFF)).fetchall():
                    return
                connection.execute("SELECT pg_catalog.pg_sleep(%s)", (_END_AGAIN_S,))

    def _make(self, connection: Connection) -> None:
        with connection.transaction():
            connection.execute(sql.SQL("CREATE SCHEMA {}").format(self._identifier))
            # By default privileges others may have got rights on it: what they create in it, our
            # statements would call.
            for role in self._granted(connection):
                grantee = sql.Identifier(role) if role else sql.SQL("PUBLIC")
                revoke = sql.SQL("REVOKE ALL ON SCHEMA {} FROM {}")
                connection.execute(revoke.format(self._identifier, grantee))
            comment = sql.SQL("COMMENT ON SCHEMA {} IS {}")
            connection.execute(comment.format(self._identifier, sql.Literal(self.mark)))

    def _granted(self, connection: Connection) -> Sequence[str]:
        """Roles that may do something in the schema besides its owner; empty for PUBLIC."""
        query = "SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = %s AND nspacl IS NOT NULL"
        if connection.execute(query, (self.name,)).fetchone() is None:
            return ()
        return [str(row[0]) for row in connection.execute(_GRANTED, (self.name,)).fetchall()]

    def _refuse_to_take_along(self, connection: Connection) -> None:
        """Raise `EngineError` if foreign objects would be dropped with ours."""
        try:
            with connection.transaction():
                tables = [sql.Identifier(self.name, table) for table in self.tables(connection)]
                if tables:
                    # Nothing more is then made on them until they are dropped.
                    lock = sql.SQL("LOCK TABLE {} IN ACCESS EXCLUSIVE MODE")
                    connection.execute(lock.format(sql.SQL(", ").join(tables)))
                found = connection.execute(_TAKEN_ALONG, (self.name,)).fetchall()
        except _UNKNOWN:
            return
        if found:
            raise self._kept([str(row[0]) for row in found])

    def _kept(self, what: Sequence[str]) -> EngineError:
        return EngineError(
            f"postgresql: {self.name} is kept whole: other objects are in it or use it"
            f" ours: {'; '.join(what)}",
            hint="move or drop them, then: loadstone clean --on URL",
        )

    def _drop(self, connection: Connection) -> None:
        tables = [sql.Identifier(self.name, table) for table in self.tables(connection)]
        # In one statement: the order of what depends on what among ours is of no account.
        if tables:
            joined = sql.SQL(", ").join(tables)
            connection.execute(sql.SQL("DROP TABLE {} RESTRICT").format(joined))
        functions = connection.execute(_FUNCTIONS, (self.name,)).fetchall()
        for name, arguments in functions:
            drop = sql.SQL("DROP FUNCTION {}({}) RESTRICT")
            reported = sql.SQL(arguments)  # the server's own words, quoted by it where need be
            connection.execute(drop.format(sql.Identifier(self.name, name), reported))
        connection.execute(sql.SQL("DROP SCHEMA {} RESTRICT").format(self._identifier))

    def _look(self, connection: Connection) -> tuple[bool, str | None, bool]:
        """Whether there is such a schema, its comment, and whether we own it."""
        row = connection.execute(_LOOK, (self.name,)).fetchone()
        return (True, row[0], bool(row[1])) if row else (False, None, False)
