"""`loadstone lode serve` at work beside a test."""

import resource
import signal
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from desk import COMMAND, Desk


@contextmanager
def serving(
    desk: Desk, *arguments: str, files_max: int | None = None
) -> Iterator[tuple[subprocess.Popen[str], str]]:
    """The command at work, with the address that it says; it may be given few descriptors."""

    def prepare() -> None:
        # A shell's background job ignores Ctrl-C.
        signal.signal(signal.SIGINT, signal.SIG_DFL)
        if files_max is not None:
            resource.setrlimit(resource.RLIMIT_NOFILE, (files_max, files_max))

    with subprocess.Popen(
        [*COMMAND, "lode", "serve", *arguments],
        cwd=desk.folder,
        env=desk.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        preexec_fn=prepare,
    ) as process:
        assert process.stdout is not None
        try:
            line = process.stdout.readline().rstrip()
            said, _, address = line.rpartition(" at ")
            assert said == f"serving {arguments[0]}", process.communicate()
            yield process, address if ":" in address else str(desk.folder / address)
        finally:
            process.kill()
