"""The time zone in which engines read and write times: UTC, unless a workload names another."""

import zoneinfo
from collections.abc import Sequence
from datetime import datetime, timedelta

from loadstone.errors import InputError
from loadstone.text.near import did_you_mean

UTC = "UTC"


def check(name: str, where: str) -> None:
    """Raise `InputError` for what is no zone of the time zone database; `where` names the file."""
    if name == UTC:
        return
    try:
        zoneinfo.ZoneInfo(name)
    except (zoneinfo.ZoneInfoNotFoundError, ValueError, OSError):
        raise InputError(
            f"{where}: there is no time zone {name[:60]!r}",
            hint=did_you_mean(name, zoneinfo.available_timezones()) + "write one as Europe/Berlin",
        ) from None


MOMENTS_S = (1_673_784_000, 1_689_422_400)
"""Noon of a day in January and of one in July 2023, in UTC, since 1970."""


def shown(name: str, ahead_s: Sequence[int]) -> str:
    """The name of the zone if an engine's clocks at `MOMENTS_S` are as far ahead of UTC as the
    zone's clocks are; otherwise how far they are ahead."""
    if name == UTC:
        right = [0 for _ in MOMENTS_S]
    else:
        there = [datetime.fromtimestamp(at, zoneinfo.ZoneInfo(name)) for at in MOMENTS_S]
        right = [round((one.utcoffset() or timedelta()).total_seconds()) for one in there]
    hours = " and ".join(f"{one / 3600:+g} h" for one in ahead_s)
    return name if [*ahead_s] == right else f"UTC {hours} (in January and July)"
