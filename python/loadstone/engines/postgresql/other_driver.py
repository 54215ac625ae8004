"""Another driver's session on the same server, with what ours was given."""

from collections.abc import Mapping
from typing import Any

import psycopg
from psycopg import sql

_KEYWORDS = ("host", "port", "user", "dbname", "password", "schema")
"""Those that our program in Rust knows; all but the last are libpq's."""


def address(parameters: Mapping[str, Any]) -> str:
    """A connection string; it contains the secret, if there is one."""
    return " ".join(f"{key}={_quoted(parameters[key])}" for key in _KEYWORDS if parameters.get(key))


def statements(connection: psycopg.Connection[tuple[Any, ...]]) -> list[str]:
    """The statements that give another session what this one was given, as the server shows it:
    the path of names, and every tactic that is a setting of the session."""
    query = (
        "SELECT name, setting FROM pg_catalog.pg_settings"
        " WHERE source OPERATOR(pg_catalog.=) 'session' ORDER BY name"
    )
    form = sql.SQL("SELECT pg_catalog.set_config({}, {}, false)")
    return [
        form.format(sql.Literal(str(name)), sql.Literal(str(setting))).as_string(connection)
        for name, setting in connection.execute(query).fetchall()
    ]


def _quoted(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"
