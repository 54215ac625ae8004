"""Files as block devices (loop devices that bypass the cache of their file), the file systems made
on them, and the bandwidth that the kernel lets each have."""

import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from loadstone.errors import UnsupportedError

PROGRAMS = ("losetup", "addpart", "mkfs.btrfs", "mkfs.ext4", "mount", "umount")
MOUNTS = Path("/proc/self/mountinfo")
CGROUPS = Path("/proc/self/cgroup")
FILE_SYSTEMS = Path("/proc/filesystems")
BTRFS = Path("/sys/fs/btrfs")
BLOCK = Path("/sys/class/block")
LIMITS = ("blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device")
LIMITER = "blkio of cgroup v1"
"""The files that limit a bandwidth: of this process's group and of the root's, in which the kernel
writes back. Of version 2 the root's group has no limits."""
SECOND_VERSION = "cgroup.controllers"
"""A file of every group of version 2."""
MEGABYTE = 1_000_000
UNLIMITED = "all"
SECTOR_BYTES = 512
FIRST_SECTOR = 2048
"""The usual beginning of the first partition: at 1 MiB."""
WITHOUT = "leave out volume, or run as root on a Linux with btrfs, its tools and loop devices"
LIMITLESS = "leave out bandwidth, or run as root where the blkio controller of version 1 is mounted"


def lacking() -> str:
    """Why no such disk can be made here; empty where nothing is seen to be in the way."""
    if os.geteuid() != 0:
        return "only root may make file systems"
    missing = [name for name in PROGRAMS if shutil.which(name) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (btrfs-progs, e2fsprogs, util-linux)"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices"
    known = FILE_SYSTEMS.read_text(encoding="ascii", errors="replace").split()
    return "" if "btrfs" in known or shutil.which("modprobe") else "the kernel has no btrfs"


def attach(file: Path, *, partitions: bool) -> str:
    """The name of a new device that is this file: `loop3`. Raises `UnsupportedError`."""
    scan = ["--partscan"] if partitions else []
    reported = run("losetup", "--find", "--show", "--direct-io=on", *scan, str(file))
    return Path(reported.strip()).name


def mount(disks: Iterable[str], place: Path, profile: str) -> None:
    """Make a btrfs of that profile (`single`, `raid1`) on disks, and mount it at a folder, which
    keeps its mode. Raises `UnsupportedError`."""
    paths = [f"/dev/{disk}" for disk in disks]
    mode = place.stat().st_mode & 0o7777
    run("mkfs.btrfs", "--quiet", "--force", "--data", profile, "--metadata", profile, *paths)
    others = "".join(f",device={path}" for path in paths[1:])
    run("mount", "-t", "btrfs", "-o", f"noatime,nodatasum{others}", paths[0], str(place))
    place.chmod(mode)


def mount_ext4(disk: str, place: Path) -> None:
    """Make an ext4 on a disk, and mount it likewise: it never serves a direct read from its
    cache."""
    mode = place.stat().st_mode & 0o7777
    run("mkfs.ext4", "-q", "-F", f"/dev/{disk}")
    run("mount", "-t", "ext4", "-o", "noatime", f"/dev/{disk}", str(place))
    (place / "lost+found").rmdir()
    place.chmod(mode)


def detach(disk: str) -> None:
    """Let go of a device: at once, or as soon as nothing is mounted from it."""
    failed("losetup", "--detach", f"/dev/{disk}")


def halve(disk: str, size_bytes: int) -> tuple[str, str]:
    """Make two partitions of a device, each half of it; the kernel need not know any table of them.
    Raises `UnsupportedError`."""
    sectors = (size_bytes // SECTOR_BYTES - FIRST_SECTOR) // 2
    for number in (1, 2):
        first = FIRST_SECTOR + (number - 1) * sectors
        run("addpart", f"/dev/{disk}", str(number), str(first), str(sectors))
    return f"{disk}p1", f"{disk}p2"


def mounted_at() -> Iterator[tuple[Path, str]]:
    """Each mount: its folder and the name of its source, `loop0`; a later one covers an earlier
    one."""
    for line in MOUNTS.read_text(encoding="utf-8", errors="replace").splitlines():
        fields = line.split()
        # Blanks in names are written as octal numbers.
        name = re.sub(r"\\([0-7]{3})", lambda found: chr(int(found[1], 8)), fields[4])
        yield Path(name), Path(line.partition(" - ")[2].split()[1]).name


def of_mount(place: Path) -> tuple[str, ...]:
    """The disks of what is mounted at a folder, of a btrfs all: `loop0`, `loop1`."""
    sources = [source for at, source in mounted_at() if at == place]
    for entry in BTRFS.glob("*/devices") if sources else ():
        disks = sorted(disk.name for disk in entry.iterdir())
        if sources[-1] in disks:
            return tuple(disks)
    return tuple(sources[-1:])


def is_raid1(disk: str) -> bool:
    """Whether the kernel keeps the data of the btrfs that a disk belongs to twice."""
    return any(
        (entry.parent.parent / "allocation/data/raid1").is_dir()
        for entry in BTRFS.glob(f"*/devices/{disk}")
    )


def whole(disk: str) -> str:
    """The disk of a partition: `loop0` of `loop0p1`."""
    return re.sub(r"^(loop\d+)p\d+$", r"\1", disk)


def files_of_loops() -> Iterator[tuple[str, Path]]:
    """Each loop device that has a file, and the file."""
    for entry in BLOCK.glob("loop*"):
        with suppress(OSError):
            name = (entry / "loop/backing_file").read_text(encoding="utf-8").rstrip("\n")
            yield entry.name, Path(name.removesuffix(" (deleted)"))


def limit(disks: Iterable[str], bandwidth: str) -> None:
    """Let each disk move so many megabytes in a second, in either direction; `all`: no limit.
    Raises `UnsupportedError` where nobody, or not this user, may."""
    groups = _groups()
    if not groups and bandwidth == UNLIMITED:
        return
    if not groups:
        raise UnsupportedError(f"cannot limit a device's bandwidth: {limitless()}", hint=LIMITLESS)
    limited = 0 if bandwidth == UNLIMITED else int(bandwidth) * MEGABYTE
    numbers = [(BLOCK / disk / "dev").read_text(encoding="ascii").strip() for disk in disks]
    try:
        for path in (group / name for group in groups for name in LIMITS):
            for number in numbers:
                path.write_text(f"{number} {limited}")
    except OSError as error:
        raise UnsupportedError(
            f"cannot limit a device's bandwidth: {error.strerror or error}", hint=LIMITLESS
        ) from error


def limitless() -> str:
    """Why no bandwidth can be limited here, where the controller that does it is not mounted; empty
    where it is."""
    if _groups():
        return ""
    second = any((place / SECOND_VERSION).is_file() for place, _ in mounted_at())
    reported = "; io.max of cgroup v2, which is there, is not used" if second else ""
    return f"{LIMITER} is not mounted{reported}"


def limit_reported(disks: Iterable[str]) -> str:
    """The limit as the kernel has it for this process: of each disk, in megabytes a second, or
    `all`; `unequal` where disks or directions differ."""
    found = set()
    for disk in disks:
        number = (BLOCK / disk / "dev").read_text(encoding="ascii").strip()
        for path in (group / name for group in _groups() for name in LIMITS):
            reported = dict(line.split() for line in path.read_text(encoding="ascii").splitlines())
            found.add(int(reported.get(number, "0")))
    if len(found) > 1:
        return "unequal"
    limited = next(iter(found), 0)
    return str(limited // MEGABYTE) if limited else UNLIMITED


def _groups() -> list[Path]:
    """The control groups whose limits count: the kernel's own, which writes back what processes
    have written to its cache, and this process's. Empty without the controller."""
    for place, _ in mounted_at():
        if (place / LIMITS[0]).is_file():
            own = _own_group(CGROUPS.read_text(encoding="utf-8"))
            return list(dict.fromkeys((place, place / own.lstrip("/"))))
    return []


def _own_group(text: str) -> str:
    for line in text.splitlines():
        _, controllers, name = line.split(":", 2)
        if "blkio" in controllers.split(","):
            return name
    return "/"


def run(*command: str) -> str:
    """A program's output. Raises `UnsupportedError` with its last words where it fails."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
    except OSError as error:
        raise UnsupportedError(f"{command[0]}: {error.strerror}", hint=WITHOUT) from error
    if done.returncode != 0:
        said = (done.stderr.strip().splitlines() or [f"it ended with {done.returncode}"])[-1]
        raise UnsupportedError(f"{command[0]} refused: {said[:200]}", hint=WITHOUT)
    return done.stdout


def failed(*command: str) -> bool:
    """Whether a program fails; for what is tidied up."""
    try:
        run(*command)
    except UnsupportedError:
        return True
    return False
