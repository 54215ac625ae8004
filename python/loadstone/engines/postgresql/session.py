"""Connecting to a PostgreSQL server, ours or the user's, and reporting errors without a secret."""

import re
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import psycopg
from psycopg import sql
from psycopg.conninfo import conninfo_to_dict

from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.secret import scrubbed, secrets_in

CONNECT_S_DEFAULT = 10
_KEYWORDS = ("host", "port", "user", "dbname", "password", "schema")
"""What our Rust program reads from a connection string; all but the last are libpq's."""
_UNKEPT = ("22", "54", "42701")
"""States of errors by which the server says that it cannot keep a table's data: a value, a size,
the name of a column."""

_HINTS = (
    ("password authentication failed", "check the password: in the URL, PGPASSWORD or ~/.pgpass"),
    ("no password supplied", "give a password: in the URL, PGPASSWORD or ~/.pgpass"),
    ("no encryption", "the server may take encrypted sessions alone: leave out sslmode=disable"),
    ("certificate verify failed", "check sslrootcert in the URL: it names the server's authority"),
    (
        "does not match host name",
        "name the host as the certificate does, or its authority alone: sslmode=verify-ca",
    ),
    ("does not support SSL", "leave out sslmode, and the session is not encrypted"),
    ("no pg_hba.conf entry", "ask the server's owner to admit this host (pg_hba.conf)"),
    ('database "', "name a database that exists, or create it: createdb NAME"),
    ('role "', "name a user that exists, or create it: createuser NAME"),
    ("failed to resolve host", "check the host name in the URL"),
    ("could not translate host name", "check the host name in the URL"),
    ("Connection refused", "start the server, or check host and port: pg_isready -h HOST -p PORT"),
    ("timeout expired", "check that the server can be reached: pg_isready -h HOST -p PORT"),
    ("permission denied", "let the user create schemas: GRANT CREATE ON DATABASE … TO …"),
)


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address, with a secret that is used and never shown."""

    parameters: Mapping[str, Any] = field(repr=False)
    place: str
    """`host:port/database`, as errors name it."""
    secrets: tuple[str, ...] = field(default=(), repr=False)

    def connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection on which each statement is its own transaction, always parsed afresh."""
        with self.errors(f"cannot connect to {self.place}"):
            # No automatic preparation: the sixth run of a statement must be like the first.
            connection = psycopg.connect(**self.parameters, autocommit=True, prepare_threshold=None)
            # First of all, and by a statement that calls nothing: until then names resolve where
            # the server's owner, or a role that may create in `public`, has put something
            # (CVE-2018-1058). Not by `options`: that would replace the user's PGOPTIONS.
            connection.execute("SET search_path TO pg_catalog")
            return connection

    @contextmanager
    def errors(self, doing: str = "", *, loads: bool = False) -> Iterator[None]:
        """Turn psycopg's errors into ours; `loads`: a value or a column of a table that PostgreSQL
        cannot keep is a gap. No cause is chained: it would show the secret."""
        try:
            yield
        except psycopg.Error as error:
            text = scrubbed("; ".join(str(error).strip().splitlines()), self.secrets)
            message = f"postgresql: {doing}: {text}" if doing else f"postgresql: {text}"
            unkept = loads and (error.sqlstate or "").startswith(_UNKEPT)
            if unkept or isinstance(error, psycopg.errors.FeatureNotSupported):
                raise UnsupportedError(message) from None
            hint = next((hint for sign, hint in _HINTS if sign in text), "")
            raise EngineError(message, hint=hint) from None


def private_address(parameters: Mapping[str, Any]) -> Address:
    """The address of a server of our own."""
    return Address(
        {**parameters, "connect_timeout": CONNECT_S_DEFAULT, "application_name": "loadstone"},
        "the private server",
    )


def user_address(url: str) -> Address:
    """Read the user's URL. Missing parts come from PG* variables and ~/.pgpass, through libpq."""
    secrets = secrets_in(url)
    try:
        parameters = conninfo_to_dict(url)
    except psycopg.Error as error:
        # Its words hold pieces of the URL, cut where libpq stumbled: only a parameter's name is
        # safe to report.
        named = re.search(r'invalid URI query parameter: "([a-z_]{1,32})"', str(error))
        reported = (
            f"it has no parameter {named[1]!r}" if named else "see the hint for how it is written"
        )
        raise InputError(
            f"libpq cannot read the URL: {scrubbed(reported, secrets)}",
            hint="write postgresql://USER@HOST:PORT/DATABASE?parameter=value",
        ) from None
    host, port = parameters.get("host", "localhost"), parameters.get("port", "5432")
    if "service" in parameters:
        host, port = f"service {parameters['service']}", "its port"
    parameters["client_encoding"] = "UTF8"
    parameters.setdefault("connect_timeout", CONNECT_S_DEFAULT)
    parameters.setdefault("fallback_application_name", "loadstone")
    place = f"{host}:{port}/{parameters.get('dbname', '')}"
    return Address(parameters, place, secrets)


def connection_string(parameters: Mapping[str, Any]) -> str:
    """The address for another driver; it contains the secret, if there is one."""
    return " ".join(f"{key}={_quoted(parameters[key])}" for key in _KEYWORDS if parameters.get(key))


def session_statements(connection: psycopg.Connection[tuple[Any, ...]]) -> list[str]:
    """The statements that give another driver's session the settings of this one, as the server
    shows them: the search path, and every tactic that is a setting of the session."""
    query = (
        "SELECT name, setting FROM pg_catalog.pg_settings"
        " WHERE source OPERATOR(pg_catalog.=) 'session' ORDER BY name"
    )
    form = sql.SQL("SELECT pg_catalog.set_config({}, {}, false)")
    return [
        form.format(sql.Literal(str(name)), sql.Literal(str(setting))).as_string(connection)
        for name, setting in connection.execute(query).fetchall()
    ]


def database_folder(connection: psycopg.Connection[tuple[Any, ...]]) -> str:
    """The name of the folder that holds the session's database. Raises psycopg's errors."""
    query = "SELECT oid FROM pg_catalog.pg_database WHERE datname = pg_catalog.current_database()"
    (oid,) = connection.execute(query).fetchone() or ("",)
    return str(oid)


def _quoted(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"
