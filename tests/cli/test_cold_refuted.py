"""Whole runs in which cold fails, each in one way: every cell comes out unproved, and says why."""

import ctypes
import mmap
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
import remembering
import undying
from desk import COMMAND, Desk
from user_file import UserFile, user_file

from loadstone._core import evict, resident_pages
from loadstone.machine import facts, page_cache
from loadstone.record import CellResult
from loadstone.text.numbers import plural

pytestmark = [pytest.mark.machine, pytest.mark.slow]

COLD = ("run", "--temperature", "cold", "--operation", "select-1%-heap", "--rows", "1000",
        "--no-limits", "--no-overhead", "--repeat-cold", "1", "--record", "r.loadstone",
        "--no-report")  # fmt: skip
EMBEDDED = ("sqlite", "duckdb")
ENGINES = (*EMBEDDED, "postgresql")
COVERED = ["unshare", "--mount", "sh", "-c",
           'mount --bind "$1" /proc/sys/vm/drop_caches && shift && exec "$@"', "sh"]  # fmt: skip
"""A mount of its own name space is gone with its process, whatever happens."""


@pytest.fixture
def user(desk: Desk) -> UserFile:
    return user_file(desk.folder / "user.db", analysed=False)


def cells(
    desk: Desk,
    *variants: str,
    before: Callable[[], object] | None = None,
    **variables: str,
) -> dict[str, CellResult]:
    """The cells of a cold run on these variants. `before` is called in its process."""
    on = [word for variant in variants for word in ("--on", variant)]
    done = subprocess.run(
        [*covered(desk), *COMMAND, *COLD, *on],
        cwd=desk.folder,
        env={**desk.environment, **variables},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=before,
    )
    assert done.returncode == 0, done.stderr
    results = desk.read().results
    assert {result.cell.temperature for result in results} == {"cold"}
    assert {result.status for result in results} == {"ok"}
    assert len(results) == len(variants)
    found = {result.cell.variant.partition(":")[0]: result for result in results}
    proved = sum(result.temperature_shown == "cold" for result in results)
    said = " ".join(done.stdout.split())
    assert f"{proved} of {plural(len(variants), 'cold cell')} proved cold" in said
    assert desk.leftovers() == []
    return found


def covered(desk: Desk) -> list[str]:
    """The command that keeps a run of root's from dropping everybody's page cache; nothing for
    others."""
    switch = desk.folder / "drop_caches"
    switch.touch()
    prefix = [*COVERED, str(switch)]
    may = os.geteuid() == 0 and subprocess.run([*prefix, "true"], capture_output=True, check=False)
    return prefix if may and may.returncode == 0 else []


def assert_unproved(result: CellResult, reason: str) -> None:
    assert result.temperature_shown == "unproved"
    assert len(result.evidence) == len(result.samples) == 1
    (found,) = result.evidence
    assert not found.proved
    assert reason in found.reason
    assert found.engine_dead == ("engine" not in reason)


@pytest.fixture
def provable(desk: Desk) -> None:
    """The pages of a file here can be dropped and counted, and are cached nowhere else: asked of
    the system, so that a check which never proves anything is seen."""
    mount = facts.mount_of(desk.folder)
    if mount is None or mount.type not in page_cache.PAGE_CACHED:
        pytest.skip(f"{desk.folder} lies on {mount.type if mount else 'an unknown file system'}")
    if mount.source.startswith(("/dev/loop", "/dev/ram", "/dev/zram")):
        pytest.skip(f"{desk.folder} lies on {mount.source}, which may have caches of its own")
    with tempfile.NamedTemporaryFile(dir=desk.folder) as file:
        file.write(b"x" * mmap.PAGESIZE)
        file.flush()
        evict(file.name)
        resident, _, _ = resident_pages(file.name)
    if resident:
        pytest.skip("a page stays in memory after its eviction")


@pytest.mark.usefixtures("provable")
def test_where_nothing_is_in_the_way_cold_is_proved(desk: Desk, user: UserFile):
    found = cells(desk, *ENGINES, user.url)
    assert {result.temperature_shown for result in found.values()} == {"cold"}
    for result in found.values():
        (evidence,) = result.evidence
        assert (evidence.proved, evidence.reason, evidence.engine_dead) == (True, "", True)
        assert evidence.resident_after == 0
        assert evidence.files > 0


HOLD = """
import ctypes, mmap, sys
with open(sys.argv[1], "r+b") as file:
    held = mmap.mmap(file.fileno(), 0)
touched = sum(held[::mmap.PAGESIZE])
first = ctypes.addressof(ctypes.c_char.from_buffer(held))
locked = ctypes.CDLL(None).mlock(ctypes.c_void_p(first), ctypes.c_size_t(len(held)))
print(-(-len(held) // mmap.PAGESIZE) if locked == 0 else 0, flush=True)
sys.stdin.read()
"""


@contextmanager
def held_elsewhere(path: Path) -> Iterator[int]:
    """Another process has a file mapped, touched and locked: so many pages of it."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=pipe, stdout=pipe, text=True
    ) as holder:
        assert holder.stdout is not None
        yield int(holder.stdout.readline())


def test_a_file_that_another_process_has_mapped(desk: Desk, user: UserFile):
    with held_elsewhere(user.path) as pages:
        assert pages > 0, "the pages could not be locked"
        (result,) = cells(desk, user.url).values()
    after = result.evidence[0].resident_after
    assert after is not None
    assert after >= pages
    assert_unproved(result, f"{after} pages are still in memory: another process")


PR_SET_SECCOMP, PR_SET_NO_NEW_PRIVS, SECCOMP_MODE_FILTER = 22, 38, 2
# Of linux/audit.h, and the numbers of fadvise64 and of cachestat.
CALLS = {"x86_64": (0xC000003E, 221), "aarch64": (0xC00000B7, 223)}
LOAD, EQUAL, RETURN = 0x20, 0x15, 0x06
ALLOW, REFUSE = 0x7FFF0000, 0x00050000
EPERM = 1


class Step(ctypes.Structure):
    """One step of a filter of system calls (`struct sock_filter`)."""

    _fields_ = (("code", ctypes.c_uint16), ("if_so", ctypes.c_uint8), ("if_not", ctypes.c_uint8),
                ("value", ctypes.c_uint32))  # fmt: skip


class Filter(ctypes.Structure):
    """The whole of it (`struct sock_fprog`)."""

    _fields_ = (("count", ctypes.c_uint16), ("steps", ctypes.POINTER(Step)))


def without_eviction() -> None:
    """From now on the kernel refuses this process, and all it starts, to drop a file's pages, as
    the profile of a container may: seccomp(2)."""
    architecture, number = CALLS[platform.machine()]
    steps = (Step * 6)(
        (LOAD, 0, 0, 4),
        (EQUAL, 0, 2, architecture),
        (LOAD, 0, 0, 0),
        (EQUAL, 1, 0, number),
        (RETURN, 0, 0, ALLOW),
        (RETURN, 0, 0, REFUSE | EPERM),
    )
    libc = ctypes.CDLL(None, use_errno=True)
    program = ctypes.byref(Filter(len(steps), steps))
    if libc.prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) or libc.prctl(
        PR_SET_SECCOMP, SECCOMP_MODE_FILTER, program
    ):
        raise OSError(ctypes.get_errno(), "no filter of system calls")


def test_no_permission_to_evict(desk: Desk):
    if platform.machine() not in CALLS:
        pytest.skip(f"no filter of system calls is written for {platform.machine()}")
    refused = "import os; os.posix_fadvise(os.open('/proc/self/exe', 0), 0, 0, 4)"
    try:
        probe = subprocess.run(
            [sys.executable, "-c", refused],
            preexec_fn=without_eviction, capture_output=True, text=True, check=False,
        )  # fmt: skip
    except subprocess.SubprocessError as error:
        pytest.skip(f"this kernel takes no filter of system calls: {error}")
    assert "PermissionError" in probe.stderr
    for result in cells(desk, *EMBEDDED, before=without_eviction).values():
        assert_unproved(result, "Operation not permitted")


@pytest.mark.usefixtures("provable")
def test_a_server_that_did_not_die(desk: Desk):
    variables = undying.register(desk.folder)
    result = cells(desk, undying.NAME, **variables)[undying.NAME]
    assert_unproved(result, "the engine's end was not seen")
    assert result.evidence[0].resident_after == 0, "its files alone would have shown nothing"


@pytest.mark.usefixtures("provable")
def test_an_engine_that_answers_without_reading_is_not_cold(desk: Desk):
    """No page in memory, nothing read when it opened: only the counters report."""
    variables = remembering.register(desk.folder)
    words = [word for word in COLD if word != "--no-limits"]
    words[words.index("select-1%-heap")] = "select-one-clustered-client"
    done = subprocess.run(
        [*covered(desk), *COMMAND, *words, "--on", remembering.NAME, "--on", "sqlite"],
        cwd=desk.folder,
        env={**desk.environment, **variables},
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
    )
    found = {result.cell.variant: result for result in desk.read().results}
    result, honest = found[remembering.NAME], found["sqlite"]
    assert [item.proved for item in result.evidence] == [True], done.stderr
    assert [item.read_bytes for item in result.samples] == [0]
    assert result.status == "invalid"
    assert "nothing was read from the device" in result.reason
    assert result.temperature_shown == "unproved"
    assert honest.temperature_shown == "cold"
    assert honest.refuted == ()


def test_a_file_system_without_the_call(desk: Desk):
    shared = Path("/dev/shm")  # noqa: S108 - the file system is the point
    mount = facts.mount_of(shared)
    if mount is None or mount.type != "tmpfs" or not os.access(shared, os.W_OK):
        pytest.skip("no tmpfs to write to")
    with tempfile.TemporaryDirectory(prefix="loadstone-cli-", dir=shared) as name:
        Path(name).chmod(0o711)
        found = cells(desk, *ENGINES, LOADSTONE_SCRATCH=name)
        assert list(Path(name).iterdir()) == []
    for result in found.values():
        assert_unproved(result, "tmpfs, which is memory itself")
        assert not any("still in memory" in item.reason for item in result.evidence)
