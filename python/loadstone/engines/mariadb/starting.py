"""The first session of a server that has just been launched, as soon as it answers."""

import pymysql

from loadstone.engines.mariadb.address import private_address
from loadstone.engines.mariadb.server import PrivateServer
from loadstone.engines.mariadb.session import Session
from loadstone.errors import EngineError

_LOOK_AGAIN_S = 0.01
_TRIES_MAX = 6000


def started(server: PrivateServer, *, keeps: bool) -> Session:
    """A session; `keeps` as of `Session`. Raises `EngineError` with the server's last words where
    it ended, or never answered."""
    refused = "never tried"
    for _ in range(_TRIES_MAX):
        try:
            return Session(private_address(server.socket), keeps=keeps)
        except pymysql.MySQLError as error:
            refused = str(error.args[-1] if error.args else error)
        if server.ended_within(_LOOK_AGAIN_S):
            break
    raise EngineError(
        f"the private server did not start: {server.last_words() or refused}",
        hint=f"its log is {server.log}",
    )
