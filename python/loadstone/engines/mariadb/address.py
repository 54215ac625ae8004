"""A MariaDB or MySQL server's address, ours or the user's, and its errors without a secret."""

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

import pymysql
from pymysql.constants import CR, ER

from loadstone.engines.mariadb.server import ACCOUNT, DATABASE
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.secret import scrubbed, secrets_in

CONNECT_S_MAX = 10
PORT = 3306
PASSWORD = "MYSQL_PWD"  # noqa: S105 - the name of a variable
"""The variable of the environment that the servers' own clients read, too."""

_CLOSED = "the session is closed"
_LACKING = (ER.NOT_SUPPORTED_YET, ER.UNSUPPORTED_PS, ER.UNKNOWN_SYSTEM_VARIABLE)
_YES, _NO = ("1", "true", "on", "yes"), ("0", "false", "off", "no")
_FILES = ("ssl_ca", "ssl_cert", "ssl_key", "unix_socket")
_SWITCHES = ("ssl_verify_cert", "ssl_verify_identity", "ssl_disabled")
_GRANT = "let the user make databases of ours: GRANT ALL ON `loadstone\\_%`.* TO …"
_HINTS: Mapping[int, str] = {
    ER.CON_COUNT_ERROR: "end other sessions of this server",
    ER.ACCESS_DENIED_ERROR: f"check user and password: in the URL, or in {PASSWORD}",
    ER.DBACCESS_DENIED_ERROR: _GRANT,
    ER.TABLEACCESS_DENIED_ERROR: _GRANT,
    ER.BAD_DB_ERROR: "name a database that exists, or none: mysql://USER@HOST:PORT/",
    ER.UNKNOWN_COLLATION: "name a server of MariaDB, or of MySQL 8.0.17 or later",
    ER.HOST_NOT_PRIVILEGED: "ask the server's owner to admit this host (CREATE USER …@HOST)",
    CR.CR_CONN_HOST_ERROR: "start the server, or check host and port of the URL",
    CR.CR_CONNECTION_ERROR: "start the server, or check unix_socket in the URL",
    CR.CR_SERVER_LOST: "look into the server's log: it ended the session, or died",
}

_HINTS_OF_TLS = (
    ("mismatch", "name the host as the certificate does, or leave out ssl_verify_identity"),
    ("CERTIFICATE_VERIFY_FAILED", "check ssl_ca in the URL: it names the server's authority"),
    ("insecure transport", "leave out ssl_disabled: this server takes encrypted sessions alone"),
    ("doesn't support SSL", "the server offers no TLS: leave out the ssl_… of the URL"),
)
"""By a part of the error's text: it has no number of its own."""


@dataclass(frozen=True, slots=True)
class Address:
    """A server's address, with a secret that is used and never shown."""

    parameters: Mapping[str, Any] = field(repr=False)
    place: str
    """`host:port/database`, as errors name it."""
    socket: Path | None = None
    secrets: tuple[str, ...] = field(default=(), repr=False)

    @contextmanager
    def errors(self, doing: str = "") -> Iterator[None]:
        """Turn PyMySQL's errors into ours. No cause is chained: it could show the secret."""
        try:
            yield
        except pymysql.MySQLError as error:
            raise self._ours(error, doing) from None

    def _ours(self, error: pymysql.MySQLError, doing: str) -> EngineError | UnsupportedError:
        code, text = (*error.args, "", "")[:2]
        text = scrubbed("; ".join(str(text or _CLOSED).strip().splitlines()), self.secrets)
        message = f"mariadb: {doing}: {text}" if doing else f"mariadb: {text}"
        if code in _LACKING:
            return UnsupportedError(message)
        return EngineError(message, hint=self._hint(code, text))

    def _hint(self, code: object, text: str) -> str:
        for sign, hint in _HINTS_OF_TLS:
            if sign in text:
                return hint
        hint = _HINTS.get(code, "") if isinstance(code, int) else ""
        # MariaDB refuses so, too, where it requires TLS.
        if code == ER.ACCESS_DENIED_ERROR and self.parameters.get("ssl_disabled"):
            return f"{hint}; or leave out ssl_disabled"
        return hint


def private_address(socket: Path) -> Address:
    """The address of a server of our own."""
    return Address({"user": ACCOUNT, "database": DATABASE}, "the private server", socket)


def user_address(url: str) -> Address:
    """Read the user's URL. A password may come from the environment. Raises `InputError`, without
    a value of the URL."""
    parts = urlsplit(url)
    database = unquote(parts.path.removeprefix("/"))
    if "/" in database or not parts.hostname:
        raise InputError(
            "mariadb: the URL names no host, or more than a database",
            hint="write mysql://USER@HOST:PORT/DATABASE",
        )
    port = parts.port or PORT
    parameters: dict[str, Any] = {
        "host": unquote(parts.hostname),
        "port": port,
        "user": unquote(parts.username or "") or None,
        "password": unquote(parts.password or "") or os.environ.get(PASSWORD, ""),
        "database": database or None,
        "connect_timeout": CONNECT_S_MAX,
    }
    for name, value in parse_qsl(parts.query, keep_blank_values=True):
        parameters[name] = _parameter(name, value)
    place = str(parameters.get("unix_socket") or f"{parts.hostname}:{port}")
    return Address(parameters, f"{place}/{database}", secrets=secrets_in(url))


def _parameter(name: str, value: str) -> str | bool | int:
    if name in _FILES and value:
        return value
    if name in _SWITCHES and value.casefold() in (*_YES, *_NO):
        return value.casefold() in _YES
    if name == "connect_timeout" and value.isdecimal() and value.isascii() and 0 < int(value) < 1e6:
        return int(value)
    known = ("connect_timeout", *_FILES, *_SWITCHES)
    if name in known:
        raise InputError(f"mariadb: the URL has no proper value for {name}", hint="write it anew")
    reported = f"{name!r}" if name.isidentifier() and len(name) <= 32 else "of that name"
    raise InputError(
        f"mariadb: a URL has no parameter {reported}",
        hint=f"a tactic of the session, or one of {', '.join(sorted(known))}",
    )
