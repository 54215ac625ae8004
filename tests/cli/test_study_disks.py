"""Studies whose switch is a second copy, or other disks: each combination has data of its own, is
asked by its own worker, and leaves nothing mounted."""

from pathlib import Path

import pytest
from desk import Desk

from loadstone.machine import disks

pytestmark = pytest.mark.slow

CHOICES = ("--operation", "retrieve-heap", "--rows", "1000", "--seconds", "10", "--no-limits",
           "--no-report", "--record", "r.loadstone")  # fmt: skip


def reported(desk: Desk, name: str) -> dict[str, str | None]:
    """The term of each variant of the base's engine, as read back."""
    return {
        term.variant: term.read_back
        for term in desk.read().terms
        if term.key == name and term.variant != "null" and term.read_back
    }


def mounted(folder: Path) -> list[Path]:
    return [place for place, _ in disks.mounted_at() if place.is_relative_to(folder.resolve())]


def test_a_mirror_is_a_switch_of_lode(desk: Desk) -> None:
    done = desk.run("study", "idm", "--on", "lode", "--vary", "mirror=off,idle", *CHOICES)
    assert done.returncode in (0, 8), done.stderr
    values = reported(desk, "mirror")
    assert set(values.values()) == {"off", "idle"}
    assert all((value == "idle") == ("idle" in name) for name, value in values.items())
    statuses = {result.status for result in desk.read().results}
    assert "failed" not in statuses
    assert desk.leftovers() == []


@pytest.mark.parametrize(
    ("on", "vary", "name"),
    [
        ("sqlite?volume=one-disk", "volume=one-disk,mirrored", "volume"),
        ("lode?volume=two-disks", "mirror=off,idle", "mirror"),
    ],
)
def test_disks_are_a_switch_and_are_taken_away(desk: Desk, on: str, vary: str, name: str) -> None:
    why = disks.lacking()
    if why:
        pytest.skip(why)
    done = desk.run("study", "idm", "--on", on, "--vary", vary, *CHOICES)
    if "cannot make the disks" in done.stderr:
        pytest.skip(done.stderr)
    assert done.returncode in (0, 8), done.stderr
    assert set(reported(desk, name).values()) == set(vary.partition("=")[2].split(","))
    assert all(result.status != "failed" for result in desk.read().results)
    assert desk.leftovers() == []
    assert mounted(desk.folder) == []


def test_a_value_that_a_switch_does_not_have_is_refused(desk: Desk) -> None:
    done = desk.run("study", "idm", "--on", "lode", "--vary", "mirror=off,on", *CHOICES)
    assert done.returncode == 2
    assert "lode cannot set mirror to 'on'" in done.stderr
    assert "off, idle, nearer, first" in done.stderr
    assert not desk.record.exists()
