"""The installed command, run as a user runs it."""

import signal
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path

from loadstone.record import Run, read

COMMAND = [sys.executable, "-m", "loadstone"]


@dataclass(frozen=True, slots=True)
class Desk:
    """A folder to work in, with the environment in which commands run."""

    folder: Path
    environment: dict[str, str]
    started: list[subprocess.Popen[str]] = field(default_factory=list, kw_only=True)

    @property
    def record(self) -> Path:
        return self.folder / "r.loadstone"

    @property
    def scratch(self) -> Path:
        return self.folder / "scratch"

    def run(
        self, *arguments: str, stdin: str | None = None, **variables: str
    ) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [*COMMAND, *arguments],
            cwd=self.folder,
            input=stdin,
            env={**self.environment, **variables},
            capture_output=True,
            text=True,
            timeout=100,
            check=False,
        )

    def start(self, *arguments: str, announced: bool = True) -> subprocess.Popen[str]:
        """Begin a command. `announced`: of a new run the line that says so has been read."""
        process = subprocess.Popen(
            [*COMMAND, *arguments],
            cwd=self.folder,
            env=self.environment,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
            # A shell's background job ignores Ctrl-C, and so would everything it starts.
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        )
        self.started.append(process)
        if announced and arguments[0] == "run" and "--resume" not in arguments:
            assert process.stderr is not None
            assert "the record: " in process.stderr.readline()
        return process

    def end(self) -> None:
        """End what a failed test left running: an endless statement would take a processor from all
        that comes after it."""
        for process in self.started:
            if process.poll() is None:
                process.terminate()
                try:
                    process.wait(timeout=30)
                except subprocess.TimeoutExpired:
                    process.kill()
                    process.wait()
            if process.stderr is not None:
                process.stderr.close()

    def read(self) -> Run:
        return read(self.record)

    def leftovers(self) -> list[str]:
        """The files that a run left in the scratch folder, and processes that still work in it."""
        files = [path.name for path in self.scratch.glob("*")] if self.scratch.is_dir() else []
        processes = [
            entry.name
            for entry in Path("/proc").iterdir()
            if entry.name.isdigit() and str(self.scratch) in command_line(int(entry.name))
        ]
        return files + processes


def command_line(pid: int) -> str:
    """A process's arguments; empty where it is gone or not ours to see."""
    try:
        return Path(f"/proc/{pid}/cmdline").read_text(errors="replace").replace("\0", " ")
    except OSError:
        return ""


def children(pid: int) -> list[int]:
    """Processes that a process started and that live."""
    return [int(child) for child in Path(f"/proc/{pid}/task/{pid}/children").read_text().split()]
