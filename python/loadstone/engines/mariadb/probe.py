"""Whether a private server starts on this machine as this user: one is started, and removed."""

from pathlib import Path

from loadstone.engines.mariadb.programs import installed
from loadstone.engines.mariadb.server import PrivateServer
from loadstone.engines.mariadb.starting import started
from loadstone.engines.system import Probe
from loadstone.errors import EngineError, NotInstalledError

NAME = "MariaDB server"


def probe(scratch: Path) -> Probe:
    """Start a server in `scratch`, stop it, remove it."""
    try:
        programs = installed()
    except NotInstalledError as error:
        return Probe(NAME, None, error.message, "mariadb cannot be measured", error.hint)
    server = PrivateServer(scratch, programs)
    try:
        server.launch({}, {"skip-networking": "", "skip-log-bin": ""})
        session = started(server, keeps=False)
        ((version,),) = session.ask("SELECT version()")
        session.close()
    except (EngineError, OSError) as error:
        hint = getattr(error, "hint", "")
        reported = f"{error}; {hint}" if hint else str(error)
        return Probe(NAME, False, "does not start", "mariadb cannot be measured", reported)
    finally:
        server.remove()
    return Probe(NAME, True, f"{version} up and down", "starts as this user, ours to stop")
