"""A file system of our own under a worker's folder: btrfs over files that are block devices, so
that any engine can be kept on two disks that mirror each other, each with a bandwidth of its own.

    FOLDER            the mount, over the worker's own folder
    FOLDER.disk-1     the file of the first disk; of `mirrored-shared` both, as partitions
    FOLDER.disk-2     that of the second
    FOLDER.second     with `two-disks`, the mount of the second

All of it lies in a run's scratch folder, which bears our mark: what is mounted below that folder,
and every device whose file is in it, is ours. A mount outlives the process that made it, so that
the next worker finds its relations; `sweep` ends what is left.
"""

import shutil
import time
from contextlib import suppress
from pathlib import Path

from loadstone._core import clock_ns
from loadstone.errors import UnsupportedError
from loadstone.machine import disks

KINDS = ("scratch", "one-disk", "mirrored-shared", "mirrored", "two-disks")
SCRATCH, ONE, SHARED, MIRRORED, TWO = KINDS
DISK_BYTES_MIN = 300 << 20
"""btrfs takes no less than 109 MiB, and sets much of a small disk aside."""
DETACHED_NS_MAX = 1_000_000_000
"""The kernel lets go of a device a moment after the file system on it is unmounted; of one that
somebody still uses it does not."""
DISK_BYTES_MAX = 64 << 30
"""Files are sparse: a disk takes what is written to it."""


class Volume:
    """The file system of one folder."""

    def __init__(self, folder: Path, disk_bytes: int | None = None) -> None:
        """Touches nothing. `disk_bytes`: of each disk, where it is not a part of what is free."""
        # As the kernel lists mounts.
        self.folder = folder.resolve()
        self._disk_bytes = disk_bytes

    @property
    def second(self) -> Path:
        """The folder that is another disk with `two-disks`."""
        return self.folder.with_name(f"{self.folder.name}.second")

    def use(self, kind: str, bandwidth: str) -> bool:
        """Have the folder on disks of that kind, as an earlier worker left them or made now, each
        (of `mirrored-shared` both together) with so many megabytes a second. Returns whether that
        changes anything. Raises `UnsupportedError` where this system, or not this user, can."""
        before = self.reported()
        if before[0] != kind:
            sweep(self.folder)
            self._make(kind)
        if self.reported()[1] != bandwidth:
            disks.limit(self._devices(), bandwidth)
        return before != (kind, bandwidth)

    def reported(self) -> tuple[str, str]:
        """As the kernel has it: the kind, and the megabytes that each disk moves in a second, or
        `all`."""
        of_first = disks.of_mount(self.folder)
        if not of_first:
            return SCRATCH, disks.UNLIMITED
        devices = self._devices()
        if disks.of_mount(self.second):
            kind = TWO
        elif not disks.is_raid1(of_first[0]):
            kind = ONE
        else:
            kind = SHARED if len(devices) == 1 else MIRRORED
        return kind, disks.limit_reported(devices)

    def end(self) -> None:
        """Take the disks away, with what is on them."""
        sweep(self.folder)

    def _devices(self) -> list[str]:
        """The whole disks."""
        found = [*disks.of_mount(self.folder), *disks.of_mount(self.second)]
        return list(dict.fromkeys(map(disks.whole, found)))

    def _make(self, kind: str) -> None:
        if kind == SCRATCH:
            return
        why = disks.lacking()
        if why:
            raise UnsupportedError(f"volume={kind} is not to be had: {why}", hint=disks.WITHOUT)
        try:
            self._make_disks(kind)
        except BaseException as error:
            sweep(self.folder)
            if isinstance(error, OSError):
                reported = error.strerror or str(error)
                raise UnsupportedError(
                    f"cannot make the disks of volume={kind}: {reported}", hint=disks.WITHOUT
                ) from error
            raise

    def _make_disks(self, kind: str) -> None:
        size_bytes = self._disk_bytes or _part_of(self.folder.parent)
        shared = kind == SHARED
        devices = []
        for number in (1,) if kind in (ONE, SHARED) else (1, 2):
            file = self.folder.with_name(f"{self.folder.name}.disk-{number}")
            with file.open("xb") as made:
                made.truncate((1 + shared) * size_bytes)
            devices.append(disks.attach(file, partitions=shared))
        parts = disks.halve(devices[0], 2 * size_bytes) if shared else devices
        if kind == TWO:
            self.second.mkdir()
            disks.mount_ext4(devices[0], self.folder)
            disks.mount_ext4(devices[1], self.second)
        else:
            disks.mount(parts, self.folder, "single" if kind == ONE else "raid1")
        for device in devices:
            disks.detach(device)  # as soon as it is unmounted


def sweep(folder: Path) -> None:
    """Unmount and detach what is ours at a folder, below it or beside it under its name, and remove
    the disks' files; nothing where there is nothing. Raises nothing: what stays is found again."""
    folder = folder.resolve()
    ours = {disk for disk, file in disks.files_of_loops() if _is_of(file, folder)}
    with suppress(UnsupportedError, OSError):
        disks.limit(ours, disks.UNLIMITED)
    places = {place for place, source in disks.mounted_at() if disks.whole(source) in ours}
    for place in sorted(places, reverse=True):
        if disks.failed("umount", str(place)):
            disks.failed("umount", "--lazy", str(place))
    for disk, file in disks.files_of_loops():
        if _is_of(file, folder):
            disks.detach(disk)
    _wait_for_detached(folder)
    for number in (1, 2):
        with suppress(OSError):
            folder.with_name(f"{folder.name}.disk-{number}").unlink()
    with suppress(OSError):
        folder.with_name(f"{folder.name}.second").rmdir()


def _wait_for_detached(folder: Path) -> None:
    """Wait until no device has a file of ours; not for one that stays in use."""
    end_ns = clock_ns() + DETACHED_NS_MAX
    while any(_is_of(file, folder) for _, file in disks.files_of_loops()):
        if clock_ns() > end_ns:
            return
        time.sleep(0.005)  # noqa: TID251 - the kernel sends no event


def _is_of(path: Path, folder: Path) -> bool:
    beside = path.parent == folder.parent and path.name.startswith(f"{folder.name}.")
    return beside or path.is_relative_to(folder)


def _part_of(folder: Path) -> int:
    """The bytes of each of two disks, so that both together fit."""
    free_bytes = shutil.disk_usage(folder).free
    size_bytes = min(free_bytes // 3, DISK_BYTES_MAX) >> 20 << 20
    if size_bytes < DISK_BYTES_MIN:
        raise UnsupportedError(
            f"two disks of {DISK_BYTES_MIN >> 20} MiB do not fit: {free_bytes >> 20} MiB are free",
            hint="make room, or name another folder in LOADSTONE_SCRATCH",
        )
    return size_bytes
