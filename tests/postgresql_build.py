"""The build of PostgreSQL that tests start in place of the wheel's, if LOADSTONE_TEST_POSTGRESQL
names the folder of its programs. Every suite that starts a server is then about that release."""

import os
import re
import subprocess
from pathlib import Path

FOLDER = os.environ.get("LOADSTONE_TEST_POSTGRESQL", "")


def _release() -> int:
    """Its first number; of the wheel's server one that no feature lacks."""
    if not FOLDER:
        return 1000
    command = [Path(FOLDER) / "postgres", "--version"]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    found = re.search(r"\d+", shown)
    assert found is not None, shown
    return int(found[0])


RELEASE = _release()


def start_it() -> None:
    """From now on servers that no variant names a build for are of this one."""
    if FOLDER:
        from loadstone.engines.postgresql import server

        server.binaries = lambda account: server.built(account, Path(FOLDER))
