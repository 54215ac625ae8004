"""Somebody else's MariaDB server, for tests of what a run does in a user's database; or a server of
MySQL itself, where LOADSTONE_TEST_MYSQLD names its program."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import pymysql
from mysql_server import PROGRAM, MysqlServer
from user_server import free_port

from loadstone.engines.mariadb.programs import installed
from loadstone.engines.mariadb.server import PrivateServer
from loadstone.engines.mariadb.starting import started

SECRET = "s3cr:t/@p%20ss?#"  # noqa: S105 - of a server that lives for a module of tests
PLACES = (
    ("information_schema.tables", "table_schema, table_name, engine, table_comment"),
    ("information_schema.schemata", "schema_name, default_collation_name"),
    ("information_schema.user_privileges", "grantee, privilege_type"),
    ("information_schema.schema_privileges", "grantee, table_schema, privilege_type"),
    (
        f"{'performance' if PROGRAM else 'information'}_schema.global_variables",
        "variable_name, variable_value",
    ),
    ("app.customers", "*"),
    ("loadstone_mine.t", "*"),
)
GRANTED = "GRANT ALL ON `loadstone\\_%`.* TO alice@localhost"
CHANGING = ("gtid", "timestamp", "last_insert", "rand_seed", "error_count", "identity", "pseudo")


@dataclass(frozen=True, slots=True)
class UserMariadb:
    """Somebody's database `app`, with tables, and an ordinary user `alice` with a password."""

    port: int
    private: PrivateServer | MysqlServer

    def url(self, secret: str | None = SECRET, database: str = "app", tail: str = "") -> str:
        password = f":{quote(secret, safe='')}" if secret else ""
        return f"mariadb://alice{password}@127.0.0.1:{self.port}/{database}{tail}"

    def owner(self) -> pymysql.Connection:
        return pymysql.Connection(
            unix_socket=str(self.private.socket), user="loadstone", autocommit=True
        )

    def asked(self, *statements: str) -> list[tuple[object, ...]]:
        """The rows of the last statement, as the server's owner."""
        with closing(self.owner()) as connection, connection.cursor() as cursor:
            for statement in statements:
                cursor.execute(statement)
            return list(cursor.fetchall())

    def fingerprint(self) -> list[str]:
        """The contents of the server, but for its own statistics."""
        found = [
            row for place, columns in PLACES for row in self.asked(f"SELECT {columns} FROM {place}")
        ]
        return sorted(repr(row) for row in found if not str(row[0]).casefold().startswith(CHANGING))


@contextmanager
def user_mariadb(**options: str) -> Iterator[UserMariadb]:
    """A server with a password, tables of its own, and an account for us; gone at the end."""
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-"))
    port = free_port()
    private = MysqlServer(folder) if PROGRAM else PrivateServer(folder, installed())
    user = UserMariadb(port, private)
    launched(private, port, **options)
    try:
        made = f"CREATE USER alice@localhost IDENTIFIED BY '{SECRET}'"
        user.asked(
            "CREATE DATABASE app", "CREATE DATABASE loadstone_mine", made,
            "GRANT ALL ON app.* TO alice@localhost", GRANTED,
            "USE app",
            "CREATE TABLE customers AS WITH RECURSIVE s(i) AS"
            " (SELECT 1 UNION ALL SELECT i + 1 FROM s WHERE i < 1000)"
            " SELECT i, CONCAT('name ', i) AS name FROM s",
            # Names that an engine with a loose notion of 'ours' would fall for.
            "CREATE TABLE loadstone_mine.t AS SELECT 1 AS i",
        )  # fmt: skip
        yield user
    finally:
        private.remove()
        shutil.rmtree(folder)


def launched(private: PrivateServer | MysqlServer, port: int, **more: str) -> None:
    """Start the server, and wait until it answers."""
    options = {"port": str(port), "bind-address": "127.0.0.1", "sql-mode": "NO_ENGINE_SUBSTITUTION"}
    options |= {"innodb-flush-log-at-trx-commit": "2", "skip-log-bin": "", **more}
    private.launch({}, options)
    started(private, keeps=False).close()
