"""Whether an engine's files can lie on disks of their own: two that mirror each other, each with a
bandwidth."""

from dataclasses import dataclass
from pathlib import Path

from loadstone.doctor.check import Check, Verdict
from loadstone.errors import UnsupportedError
from loadstone.machine.disks import LIMITER, UNLIMITED
from loadstone.machine.volume import DISK_BYTES_MIN, MIRRORED, Volume

BANDWIDTH = "100"
"""Megabytes a second, which are requested and read back; nothing is moved."""


@dataclass(frozen=True, slots=True)
class MirrorProbe:
    """The result of trying: why there are no such disks, or no limits to them; empty where there
    are."""

    no_disks: str
    no_limits: str = ""


def probe(folder: Path) -> MirrorProbe:
    """Make a mirror in `folder`, limit its disks, and take it away."""
    place = folder / "mirror"
    place.mkdir(exist_ok=True)
    volume = Volume(place, DISK_BYTES_MIN)
    try:
        volume.use(MIRRORED, UNLIMITED)
        if volume.reported()[0] != MIRRORED:
            return MirrorProbe("the kernel shows no mirror where one was made")
        try:
            volume.use(MIRRORED, BANDWIDTH)
        except UnsupportedError as error:
            return MirrorProbe("", error.message)
        return MirrorProbe("", "" if volume.reported()[1] == BANDWIDTH else "the limit is not kept")
    except UnsupportedError as error:
        return MirrorProbe(error.message)
    finally:
        volume.end()
        place.rmdir()


def mirrored(found: MirrorProbe) -> Check:
    """Whether `volume` and `bandwidth` can be requested."""
    if found.no_disks:
        return Check(
            "mirrored disks", Verdict.ABSENT, "cannot be made",
            "volume= and bandwidth= are refused", found.no_disks,
        )  # fmt: skip
    made = "RAID 1 of btrfs over two files"
    if found.no_limits:
        return Check(
            "mirrored disks", Verdict.LIMITED, made, "bandwidth= is refused", found.no_limits
        )
    return Check("mirrored disks", Verdict.OK, made, f"volume=, and bandwidth= by {LIMITER}")
