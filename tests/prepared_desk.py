"""Commands that begin where a new interpreter has imported our modules: for `make check`.

Most of what a short command costs is the start of its interpreter and its imports. Here one process
that has imported them, and has done nothing else, is forked for each command. What a command finds
is what it would find as a user's: its arguments, environment, folder, streams and signals. It does
not show that a command imports all that it needs; `make test` starts each one anew, and shows it.
"""

import multiprocessing
import os
import runpy
import signal
import subprocess
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from desk import COMMAND, Desk

LIMIT_S = 250
IMPORTED = (
    "typer", "loadstone.commands.run", "loadstone.commands.compare",
    "loadstone.commands.report", "loadstone.commands.quel", "loadstone.commands.lode",
    "loadstone.commands.clean", "loadstone.commands.study", "loadstone.commands.tactics",
    "loadstone.run.chapters", "loadstone.report.html", "loadstone.report.terminal",
    "pydantic", "rich.table", "psycopg",
)  # fmt: skip
STREAMS = ("stdin", "stdout", "stderr")

_forking = multiprocessing.get_context("forkserver")
_forking.set_forkserver_preload([*IMPORTED])


@dataclass(frozen=True, slots=True)
class PreparedDesk(Desk):
    """A desk whose `run` forks; what it starts in the background is started anew."""

    def run(
        self, *arguments: str, stdin: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        environment = {**self.environment, **variables}
        if any(
            environment.get(name) != os.environ.get(name) for name in of_interpreter(environment)
        ):
            return super(PreparedDesk, self).run(*arguments, stdin=stdin, **variables)
        with tempfile.TemporaryDirectory(prefix="loadstone-streams-") as folder:
            streams = Path(folder)
            (streams / "stdin").write_text(stdin or "")
            process = _forking.Process(
                target=_command, args=(arguments, environment, str(self.folder), folder)
            )
            process.start()
            process.join(LIMIT_S)
            if process.is_alive():
                process.kill()
                raise subprocess.TimeoutExpired([*COMMAND, *arguments], LIMIT_S)
            reported = [(streams / name).read_text() for name in STREAMS[1:]]
        assert process.exitcode is not None
        return subprocess.CompletedProcess([*COMMAND, *arguments], process.exitcode, *reported)


def of_interpreter(environment: Mapping[str, str]) -> set[str]:
    """Variables that an interpreter reads at its start."""
    return {name for name in {*environment, *os.environ} if name.startswith("PYTHON")}


def _command(
    arguments: tuple[str, ...], environment: dict[str, str], folder: str, streams: str
) -> None:
    """In the process that was forked: be the command."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    os.environ.clear()
    os.environ.update(environment)
    tempfile.tempdir = None
    os.chdir(folder)
    for number, name in enumerate(STREAMS):
        flags = os.O_RDONLY if number == 0 else os.O_WRONLY | os.O_CREAT | os.O_APPEND
        opened = os.open(Path(streams) / name, flags, 0o600)
        os.dup2(opened, number)
        os.close(opened)
    sys.stdin = open(0, closefd=False)  # noqa: SIM115 - the process's own
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
    sys.argv = ["-m", *arguments]
    sys.orig_argv = [*COMMAND, *arguments]
    runpy.run_module("loadstone", run_name="__main__", alter_sys=True)
