"""The doctor makes mirrored disks where they can be made, takes them away, and says what is missing
where they cannot; on a machine with either version of control groups, or none."""

from pathlib import Path

import pytest

from loadstone.doctor import mirror
from loadstone.doctor.check import Verdict
from loadstone.doctor.mirror import MirrorProbe, mirrored, probe
from loadstone.errors import UnsupportedError
from loadstone.machine import disks
from loadstone.machine.volume import Volume


@pytest.fixture
def no_disks(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """Disks that need no rights: what the kernel would report is what was requested last."""
    reported = ["scratch", "all"]
    monkeypatch.setattr(Volume, "use", lambda self, kind, bandwidth: reported.__setitem__(
        slice(None), [kind, bandwidth]))  # fmt: skip
    monkeypatch.setattr(Volume, "reported", lambda self: tuple(reported))
    monkeypatch.setattr(Volume, "end", lambda self: reported.__setitem__(0, "ended"))
    return reported


def left(folder: Path) -> list[Path]:
    return [*folder.iterdir(), *(at for at, _ in disks.mounted_at() if at.is_relative_to(folder))]


def test_real_disks_are_made_reported_and_taken_away(tmp_path: Path) -> None:
    why = disks.lacking()
    if why:
        pytest.skip(why)
    found = probe(tmp_path)
    assert left(tmp_path) == []
    assert not any(file.is_relative_to(tmp_path) for _, file in disks.files_of_loops())
    if found.no_disks:
        pytest.skip(found.no_disks)
    assert found.no_limits == disks.limitless() == ""
    check = mirrored(found)
    assert (check.verdict, check.remedy) == (Verdict.OK, "")
    assert "blkio of cgroup v1" in check.consequence


def test_a_user_who_may_make_no_disks_is_reported_why(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("os.geteuid", lambda: 1000)
    found = probe(tmp_path)
    assert found == MirrorProbe("volume=mirrored is not to be had: only root may make file systems")
    assert left(tmp_path) == []
    check = mirrored(found)
    assert (check.verdict, check.remedy) == (Verdict.ABSENT, found.no_disks)
    assert check.consequence == "volume= and bandwidth= are refused"


def test_disks_without_a_limit_refuse_bandwidth_alone(
    tmp_path: Path, no_disks: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    made = Volume.use

    def unlimited(self: Volume, kind: str, bandwidth: str) -> bool:
        if bandwidth != disks.UNLIMITED:
            raise UnsupportedError("no limits here", hint="")
        return made(self, kind, bandwidth)

    monkeypatch.setattr(Volume, "use", unlimited)
    found = probe(tmp_path)
    assert found == MirrorProbe("", "no limits here")
    assert no_disks[0] == "ended"
    check = mirrored(found)
    assert (check.verdict, check.remedy) == (Verdict.LIMITED, "no limits here")
    assert check.consequence == "bandwidth= is refused"


@pytest.mark.parametrize(
    ("reported", "expected"),
    [
        (("one-disk", "all"), MirrorProbe("the kernel shows no mirror where one was made")),
        (("mirrored", "all"), MirrorProbe("", "the limit is not kept")),
        (("mirrored", mirror.BANDWIDTH), MirrorProbe("")),
    ],
)
def test_the_kernel_has_the_last_word(
    tmp_path: Path,
    no_disks: list[str],
    monkeypatch: pytest.MonkeyPatch,
    reported: tuple[str, str],
    expected: MirrorProbe,
) -> None:
    monkeypatch.setattr(Volume, "reported", lambda self: reported)
    assert probe(tmp_path) == expected
    assert no_disks[0] == "ended"
    assert left(tmp_path) == []


def hierarchy(folder: Path, *names: str) -> Path:
    folder.mkdir()
    for name in names:
        (folder / name).touch()
    return folder


@pytest.mark.parametrize(
    ("first", "second", "said"),
    [
        (True, False, ""),
        (True, True, ""),
        (False, True, "io.max of cgroup v2, which is there, is not used"),
        (False, False, "blkio of cgroup v1 is not mounted"),
    ],
)
def test_the_version_of_control_groups_is_reported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, *, first: bool, second: bool, said: str
) -> None:
    mounts = [
        *([hierarchy(tmp_path / "blkio", *disks.LIMITS)] if first else []),
        *([hierarchy(tmp_path / "unified", disks.SECOND_VERSION, "io.max")] if second else []),
    ]
    monkeypatch.setattr(disks, "mounted_at", lambda: iter([(place, "cgroup") for place in mounts]))
    assert said in disks.limitless()
    assert bool(disks.limitless()) is not first
    if not first:
        disks.limit(["loop0"], disks.UNLIMITED)  # nothing to lift
        with pytest.raises(UnsupportedError, match="blkio of cgroup v1") as caught:
            disks.limit(["loop0"], "20")
        assert said in caught.value.message
        assert "leave out bandwidth" in caught.value.hint
