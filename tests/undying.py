"""A server that does not die: PostgreSQL, frozen where it should be stopped.

Found by its entry point, as any engine of a third party. In its worker nobody waits long.
"""

import os
import signal
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import ClassVar

from desk import children

from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.machine import page_cache
from loadstone.machine.page_cache import wait_until_dead

NAME = "undying"


def register(folder: Path) -> Mapping[str, str]:
    """Write the entry point into `folder`; the variables with which a command finds it."""
    info = folder / f"{NAME}-1.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {NAME}\nVersion: 1\n")
    (info / "entry_points.txt").write_text(f"[loadstone.engines]\n{NAME} = undying:Undying\n")
    known = os.environ.get("PYTHONPATH", "")
    places = [str(folder), str(Path(__file__).parent), *filter(None, [known])]
    return {"PYTHONPATH": os.pathsep.join(places)}


class Undying(PostgresqlEngine):
    """Reported to stop, its processes stay, with all that they hold in memory."""

    name: ClassVar[str] = NAME
    _frozen: int | None = None

    def start(self) -> None:
        """As PostgreSQL, after the server of before has been allowed to end."""
        self._thaw()
        super().start()

    def stop(self) -> Sequence[int]:
        """The processes that must now be dead, and are not."""
        # Not on import: a process that is no worker of this engine waits as long as ever.
        page_cache.wait_until_dead = _at_once
        self.instance.disconnect()
        (self._frozen,) = self.processes()
        os.kill(self._frozen, signal.SIGSTOP)
        return [self._frozen, *children(self._frozen)]

    def remove(self) -> None:
        """As PostgreSQL."""
        self._thaw()
        super().remove()

    def _thaw(self) -> None:
        frozen, self._frozen = self._frozen, None
        if frozen is not None:
            os.kill(frozen, signal.SIGCONT)
            super().stop()


def _at_once(pids: Sequence[int], limit_s: float) -> bool:
    """The wait for a death that does not come, cut short."""
    del limit_s
    return wait_until_dead(pids, limit_s=0)
