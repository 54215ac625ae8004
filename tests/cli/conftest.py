"""A desk for each test of the installed command."""

import os
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from desk import Desk
from prepared_desk import PreparedDesk


@pytest.fixture
def desk(pytestconfig: pytest.Config) -> Iterator[Desk]:
    # Not in the closed folders of tmp_path: a server that drops to another user must get there.
    with tempfile.TemporaryDirectory(prefix="loadstone-cli-", dir="/var/tmp") as name:
        folder = Path(name)
        folder.chmod(0o711)
        environment = {key: value for key, value in os.environ.items() if not key.startswith("PG")}
        environment["LOADSTONE_SCRATCH"] = str(folder / "scratch")
        kind = PreparedDesk if pytestconfig.getoption("--prepared") else Desk
        desk = kind(folder, environment)
        try:
            yield desk
        finally:
            desk.end()
