"""A server of MySQL itself, for the tests of a user's server: the program that
LOADSTONE_TEST_MYSQLD names. Loadstone starts none, so this is no part of it."""

import os
import signal
import subprocess
from collections.abc import Mapping
from pathlib import Path

from loadstone.engines.private_server import ServerProcess, last_words

PROGRAM = os.environ.get("LOADSTONE_TEST_MYSQLD", "")
_OWNER = (
    "CREATE USER IF NOT EXISTS loadstone@localhost;\n"
    "GRANT ALL ON *.* TO loadstone@localhost WITH GRANT OPTION;\n"
    "CREATE DATABASE IF NOT EXISTS loadstone;\n"
)


class MysqlServer:
    """The part of MariaDB's `PrivateServer` that tests use."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._process = ServerProcess()
        self.socket = folder / "socket"
        self.log = folder / "server.log"

    @property
    def pid(self) -> int | None:
        return self._process.pid

    def launch(self, of_data: Mapping[str, str], settings: Mapping[str, str]) -> None:
        data, owner = self._folder / "data", self._folder / "owner.sql"
        command = [PROGRAM, "--no-defaults", f"--datadir={data}", f"--log-error={self.log}"]
        command += ["--user=root"] if os.geteuid() == 0 else []
        if not data.exists():
            owner.write_text(_OWNER)
            done = subprocess.run([*command, "--initialize-insecure"], check=False)
            assert done.returncode == 0, self.last_words()
        options = {**of_data, **settings, "socket": str(self.socket), "init-file": str(owner)}
        options |= {"mysqlx": "OFF", "pid-file": str(self._folder / "pid")}
        # As MariaDB takes a reference to what is not unique.
        options |= {"restrict-fk-on-non-standard-key": "OFF"}
        written = [f"--{name}={value}" if value else f"--{name}" for name, value in options.items()]
        with (self._folder / "words").open("ab") as log:
            self._process.launch(
                [*command, *written], log=log, cwd=Path("/"), with_parent=signal.SIGKILL, options={}
            )

    def ended_within(self, limit_s: float) -> bool:
        return self._process.ended_within(limit_s)

    def last_words(self) -> str:
        return last_words(self.log)

    def stop(self) -> None:
        self._process.end(((signal.SIGTERM, 60.0),))

    def remove(self) -> None:
        self.stop()
