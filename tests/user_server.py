"""Somebody else's PostgreSQL server, for tests of what a run does in a user's database."""

import os
import shutil
import socket
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote

import psycopg
from certificates import Certificates

from loadstone.engines.postgresql.binaries import server_account
from loadstone.engines.postgresql.server import PrivateServer

SECRET = "s3cr:t/@p%20ss?#"  # noqa: S105 - of a server that lives for this module

FINGERPRINT = """
SELECT 'relation', n.nspname, c.relname, c.relkind::text, c.relfilenode::text, c.relacl::text
  FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
UNION ALL SELECT 'schema', nspname, nspacl::text, nspowner::text,
       obj_description(oid, 'pg_namespace'), '' FROM pg_namespace
UNION ALL SELECT 'setting', name, setting, source, '', '' FROM pg_settings
 WHERE source NOT IN ('session', 'client')
UNION ALL SELECT 'role', rolname, rolsuper::text, rolcanlogin::text, rolconfig::text, ''
  FROM pg_roles
UNION ALL SELECT 'override', setdatabase::text, setrole::text, setconfig::text, '', ''
  FROM pg_db_role_setting
UNION ALL SELECT 'database', datname, datacl::text, '', '', '' FROM pg_database
UNION ALL SELECT 'extension', extname, extversion, '', '', '' FROM pg_extension
ORDER BY 1, 2, 3, 4, 5, 6
"""


@dataclass(frozen=True, slots=True)
class UserServer:
    """Somebody's database `app`, with tables, and an ordinary user `alice` with a password."""

    port: int
    socket: str

    def url(self, secret: str | None = SECRET, database: str = "app", tail: str = "") -> str:
        password = f":{quote(secret, safe='')}" if secret else ""
        return f"postgresql://alice{password}@127.0.0.1:{self.port}/{database}{tail}"

    def owner(self, database: str = "app") -> psycopg.Connection[tuple[object, ...]]:
        return psycopg.connect(
            host=self.socket, port=self.port, user="loadstone", dbname=database, autocommit=True
        )

    def wait_for_sessions(self) -> None:
        """Until alice has none: a killed client's lasts until its statement has ended, and holds
        what marks a run as alive."""
        query = "SELECT count(*) FROM pg_stat_activity WHERE usename = 'alice'"
        with self.owner() as connection:
            while connection.execute(query).fetchone() != (0,):
                pass

    def fingerprint(self) -> list[object]:
        with self.owner() as connection:
            found: list[object] = connection.execute(FINGERPRINT).fetchall()
            names = ("public.customers", '"Loadstone"."t"', "loadstone_mine.t")
            queries = [f"SELECT t::text, xmin FROM {name} t" for name in names]
            return [*found, *(connection.execute(query).fetchall() for query in queries)]


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def _populate(private: PrivateServer, user: UserServer) -> None:
    for _ in range(1000):
        try:
            connection = user.owner("postgres")
            break
        except psycopg.OperationalError:
            assert not private.ended_within(0.01), private.last_words()
    with connection:
        rules = private.data / "pg_hba.conf"
        rules.write_text("local all all trust\nhost all all 127.0.0.1/32 scram-sha-256\n")
        connection.execute("SELECT pg_reload_conf()")
        literal = psycopg.sql.Literal(SECRET)
        create = psycopg.sql.SQL("CREATE ROLE alice LOGIN PASSWORD {}").format(literal)
        connection.execute(create)
        connection.execute("CREATE DATABASE app")
        connection.execute("GRANT CREATE ON DATABASE app TO alice")
    with user.owner() as connection:
        connection.execute("CREATE TABLE customers AS SELECT i, 'name ' || i FROM"
                           " generate_series(1, 1000) AS i")  # fmt: skip
        # Names that an engine with a loose notion of 'ours' would fall for.
        connection.execute('CREATE SCHEMA "Loadstone"')
        connection.execute('CREATE TABLE "Loadstone".t AS SELECT 1 AS i')
        connection.execute("CREATE SCHEMA loadstone_mine AUTHORIZATION alice")
        connection.execute("CREATE TABLE loadstone_mine.t AS SELECT 1 AS i")


@contextmanager
def user_server(
    certificates: Certificates | None = None, build: Path | None = None
) -> Iterator[UserServer]:
    """A server with a password, tables of its own, and a role for us; gone at the end. With
    certificates it offers TLS. `build`: the folder of its programs, if not the wheel's."""
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-"))
    folder.chmod(0o755)
    port = free_port()
    private = PrivateServer(folder, build)
    settings = {"listen_addresses": "127.0.0.1", "port": str(port), "fsync": "off"}
    if certificates is not None:
        account = server_account()
        for path in (certificates.server, certificates.key):
            shutil.copy(path, folder)
            os.chown(folder / path.name, account.uid, account.gid)
        settings |= {"ssl": "on", "ssl_cert_file": str(folder / certificates.server.name)}
        settings |= {"ssl_key_file": str(folder / certificates.key.name)}
    private.launch({**settings, "shared_buffers": "16MB"})
    user = UserServer(port, str(private.address()["host"]))
    try:
        _populate(private, user)
        yield user
    finally:
        private.remove()
        shutil.rmtree(folder)
