"""A share of one processor for this process and all that it starts from now on, by a control group
of ours, of either version of Linux's.

The kernel lets a group run for a part of each period, and then stops it until the next one. It
charges processor time at its clock's ticks, a few milliseconds apart: a statement shorter than some
periods runs at full speed or waits for one whole stop, and only sums over many show the share.
"""

import os
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from loadstone.errors import UnsupportedError

MOUNTS = Path("/proc/self/mounts")
PREFIX = "loadstone-"
"""Of our groups' names; the process id follows."""
QUOTA_US = 1_000
"""The least that the kernel takes; the period follows from the share."""
UNLIMITED = "all"


@dataclass(frozen=True, slots=True)
class Controller:
    """The folder of the groups of a mounted hierarchy that can limit processor time."""

    root: Path
    version: int

    def limit(self, group: Path, hundredths: int) -> None:
        """Give a group its share of one processor."""
        period_us = QUOTA_US * 100 // hundredths
        if self.version == 1:
            (group / "cpu.cfs_period_us").write_text(str(period_us))
            (group / "cpu.cfs_quota_us").write_text(str(QUOTA_US))
        else:
            (group / "cpu.max").write_text(f"{QUOTA_US} {period_us}")

    def hundredths(self, group: Path) -> int | None:
        """The share that a group has; None without a limit."""
        if self.version == 1:
            names = ("cpu.cfs_quota_us", "cpu.cfs_period_us")
            quota, period = ((group / name).read_text().strip() for name in names)
        else:
            quota, period = (group / "cpu.max").read_text().split()
        return None if quota in ("-1", "max") else round(100 * int(quota) / int(period))

    def group_of(self, pid: int) -> str:
        """The group of a process, as the hierarchy names it."""
        for line in Path(f"/proc/{pid}/cgroup").read_text().splitlines():
            _, controllers, name = line.split(":", 2)
            if (self.version == 1 and "cpu" in controllers.split(",")) or (
                self.version == 2 and not controllers
            ):
                return name
        return "/"


class ProcessorShare:
    """The share of this process and of what it starts."""

    def __init__(self) -> None:
        self._controller: Controller | None = None
        self._before = ""
        self._hundredths: int | None = None

    def limit(self, hundredths: int | None) -> bool:
        """Limit this process to so many hundredths of one processor, None: no more. Returns whether
        that changes anything; what was started before keeps what it had. Raises `UnsupportedError`
        where the system lets nobody, or not this user, limit processor time."""
        if hundredths == self._hundredths:
            return False
        if hundredths is None:
            self._leave()
            return True
        try:
            self._enter(hundredths)
        except OSError as error:
            raise UnsupportedError(
                f"cannot limit the processor time to {hundredths} % of a processor:"
                f" {error.strerror or error}",
                hint="run as root on a system whose control groups are writable, or leave out"
                " processor",
            ) from error
        self._hundredths = hundredths
        return True

    def reported(self) -> str:
        """The share as the kernel has it for this process, in hundredths of one processor, or
        `all`."""
        controller = self._controller
        if controller is None:
            return UNLIMITED
        name = controller.group_of(os.getpid())
        if not Path(name).name.startswith(PREFIX):
            return UNLIMITED
        found = controller.hundredths(controller.root / name.lstrip("/"))
        return UNLIMITED if found is None else str(found)

    def end(self) -> None:
        """Give the share back, and remove the group, unless something that was started still runs
        in it."""
        self._leave()

    def _enter(self, hundredths: int) -> None:
        controller = self._controller = self._controller or found()
        _sweep(controller)
        group = controller.root / f"{PREFIX}{os.getpid()}"
        before = controller.group_of(os.getpid())
        group.mkdir(exist_ok=True)
        controller.limit(group, hundredths)
        (group / "cgroup.procs").write_text(str(os.getpid()))
        if not Path(before).name.startswith(PREFIX):
            self._before = before

    def _leave(self) -> None:
        controller, self._hundredths = self._controller, None
        if controller is None:
            return
        home = controller.root / self._before.lstrip("/")
        with suppress(OSError):
            (home / "cgroup.procs").write_text(str(os.getpid()))
        with suppress(OSError):
            (controller.root / f"{PREFIX}{os.getpid()}").rmdir()


def found() -> Controller:
    """The hierarchy that limits processor time here. Raises `UnsupportedError` where none does."""
    for line in MOUNTS.read_text().splitlines():
        _, place, kind, options, *_ = line.split()
        root = Path(place)
        if kind == "cgroup" and "cpu" in options.split(","):
            return Controller(root, 1)
        given = root / "cgroup.subtree_control"
        if kind == "cgroup2" and given.exists() and "cpu" in given.read_text().split():
            return Controller(root, 2)
    raise UnsupportedError(
        "this system has no control groups that limit processor time",
        hint="leave out processor, or mount the cpu controller",
    )


def sweep() -> None:
    """Remove our groups whose processes were killed; nothing where there are no groups."""
    with suppress(UnsupportedError):
        _sweep(found())


def _sweep(controller: Controller) -> None:
    for group in controller.root.glob(f"{PREFIX}*"):
        pid = group.name.removeprefix(PREFIX)
        if not Path(f"/proc/{pid}").exists():
            with suppress(OSError):  # a server that outlived its worker is in it
                group.rmdir()
