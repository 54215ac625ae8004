"""Cold at the instant the clock starts: every way to be warm again by then is tried here.

`proved` would be false if a page were in the page cache at that instant, or if opening had left the
data in the engine's own memory; and beside counters that saw nothing come from the device.
"""

import ctypes
import mmap
import os
import shutil
import tempfile
from pathlib import Path

import pytest

from loadstone._core import resident_pages
from loadstone.analysis.advice import advice
from loadstone.engines.calibration.null import NullEngine
from loadstone.machine import facts, opening, page_cache
from loadstone.plan.plan import Cell
from loadstone.plan.variant import Variant
from loadstone.protocol.parts import Block, Variation
from loadstone.record.model import AnswerCheck, CellResult, ColdEvidence, Sample
from loadstone.statistics import validity
from loadstone.worker.statement_timer import StatementTimer

pytestmark = pytest.mark.machine

PAGES = 256
SIZE = PAGES * mmap.PAGESIZE
MADV_POPULATE_READ = 22
TO_CLIENT = "range of t is onektup retrieve (t.all)"


@pytest.fixture(autouse=True)
def drop_caches(tmp_path, monkeypatch):
    """Nobody's page cache but our files' is dropped by tests."""
    monkeypatch.setattr(page_cache, "DROP_CACHES", tmp_path / "drop_caches")


@pytest.fixture
def disk():
    for parent in (tempfile.gettempdir(), "/var/tmp", Path.cwd()):  # noqa: S108 - looked at first
        mount = facts.mount_of(Path(parent))
        if mount and mount.type in page_cache.PAGE_CACHED and os.access(parent, os.W_OK):
            folder = Path(tempfile.mkdtemp(dir=parent))
            yield folder
            shutil.rmtree(folder)
            return
    pytest.skip("no folder lies on a file system with a page cache")


class FileEngine(NullEngine):
    """One file; what opening does to it is for each test to say."""

    def __init__(self, folder):
        super().__init__(Variant("null"), folder, "owner")
        self.path = folder / "data"
        self.path.write_bytes(os.urandom(SIZE))
        self.held = None

    def files(self):
        return (self.path,)

    def size_bytes(self):
        return SIZE

    def stop(self):
        self.held = None
        return ()

    def start(self):
        self.held = self.opened()

    def opened(self):
        return None


class ReadsAhead(FileEngine):
    """Reads the head of the file; the kernel brings in the rest."""

    def opened(self):
        with self.path.open("rb", buffering=0) as file:
            head = file.read(100)
            # As much as a disk with a long read-ahead would bring, and not later than here.
            with mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as rest:
                rest.madvise(MADV_POPULATE_READ)
        return head


class KeepsCopy(FileEngine):
    """An engine with a buffer pool that it fills when it opens."""

    def opened(self):
        return self.path.read_bytes()


class KeepsCopyAndDrops(FileEngine):
    """The same, and leaves no page in the cache: no count of pages can determine."""

    def opened(self):
        with self.path.open("rb", buffering=0) as file:
            data = file.read()
            os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
        return data


class KeepsCopyDirect(FileEngine):
    """The same, past the page cache."""

    def opened(self):
        try:
            file = os.open(self.path, os.O_RDONLY | os.O_DIRECT)
        except OSError as error:
            pytest.skip(f"no direct reads here: {error}")
        copy = mmap.mmap(-1, SIZE)
        try:
            assert os.readv(file, [copy]) == SIZE
        finally:
            os.close(file)
        return copy


class CopiesFromMapping(FileEngine):
    """No call reads anything."""

    def opened(self):
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        return mapped, mapped[:]


class Maps(FileEngine):
    """As LMDB does: what it touched is mapped, and an eviction alone passes over it."""

    def opened(self):
        with self.path.open("rb") as file:
            mapped = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
        return mapped, mapped[0]


class LocksPage(FileEngine):
    """One page is planted where no eviction removes it."""

    def opened(self):
        with self.path.open("r+b") as file:
            mapped = mmap.mmap(file.fileno(), 0)
        first = ctypes.addressof(ctypes.c_char.from_buffer(mapped))
        assert ctypes.CDLL(None).mlock(ctypes.c_void_p(first), ctypes.c_size_t(1)) == 0
        return mapped


def cooled(engine, meanwhile=None):
    """The evidence of a cold sample, and what was in the page cache when its clock started.
    `meanwhile`: what happens between the engine's opening, beside others, and the sample."""
    counted = []

    def mark(kind):
        if kind == "start":
            counted.append(resident_pages(str(engine.path))[0])

    variations = (Variation(0, TO_CLIENT, "", 0, ""),)
    block = Block("wisconsin", "1993", 1000, "heap", "client", "cold", variations, 0, 0, 0)
    timer = StatementTimer(engine, mark)
    if meanwhile is not None:
        timer.reopened = timer.reopen(block, variations[0])
        meanwhile()
    (evidence,) = timer.take(block).evidence
    return evidence, *counted


def test_pages_that_opening_brought_in_are_evicted_again_and_reported(disk):
    found, at_clock = cooled(ReadsAhead(disk))
    assert (found.proved, found.reason) == (True, "")
    assert found.resident_opened == PAGES
    assert found.resident_at_clock == at_clock == 0
    assert found.opening_read_bytes is None or found.opening_read_bytes >= SIZE
    assert 100 <= found.kept_bytes < opening.KEPT_SHARE_MAX * SIZE
    assert found.data_bytes == SIZE


@pytest.mark.parametrize("kind", [KeepsCopy, KeepsCopyAndDrops, KeepsCopyDirect, CopiesFromMapping])
def test_a_private_copy_of_the_data_is_no_cold(disk, kind):
    found, at_clock = cooled(kind(disk))
    assert found.resident_at_clock == at_clock == 0, (
        "the page cache alone would have reported nothing"
    )
    assert not found.proved
    assert found.kept_bytes >= SIZE
    assert "in its own memory, more than 10%" in found.reason


def test_pages_that_opening_mapped_are_let_go(disk):
    found, at_clock = cooled(Maps(disk))
    assert (found.proved, found.reason) == (True, "")
    assert found.resident_opened > 0
    assert found.resident_at_clock == at_clock == 0


def test_pages_read_in_while_other_engines_opened_are_evicted_too(disk):
    engine = FileEngine(disk)
    found, at_clock = cooled(engine, lambda: engine.path.read_bytes() and None)
    assert found.resident_opened == PAGES
    assert found.resident_at_clock == at_clock == 0


def test_a_copy_that_an_engine_made_while_others_opened_is_no_cold(disk):
    engine = FileEngine(disk)

    def copy():
        engine.held = engine.path.read_bytes()

    found, _ = cooled(engine, copy)
    assert not found.proved
    assert found.kept_bytes >= SIZE


def test_a_sample_that_comes_by_itself_stops_and_opens_its_engine(disk, monkeypatch):
    engine, done = FileEngine(disk), []
    monkeypatch.setattr(engine, "stop", lambda: done.append("stop") or ())
    assert cooled(engine, lambda: done.append("others"))[0].proved
    assert done == ["stop", "others"]
    assert cooled(engine)[0].proved
    assert done == ["stop", "others", "stop"]


def test_a_page_that_stays_when_the_clock_starts_is_no_proof(disk):
    found, at_clock = cooled(LocksPage(disk))
    assert found.resident_after == 0, "the engine was cold when it was dead"
    assert found.resident_at_clock == at_clock >= 1
    assert not found.proved
    assert found.reason.startswith("once the engine was open")


def test_relations_apart_from_catalogs_are_judged_by_their_own_pages(disk):
    """A server reads a whole catalog at its start, and of the data nothing."""

    class Apart(KeepsCopy):
        def files(self):
            return (self.path, disk / "relation")

        def relation_files(self):
            return (disk / "relation",)

    (disk / "relation").write_bytes(bytes(SIZE))
    found, _ = cooled(Apart(disk))
    assert (found.proved, found.kept_bytes) == (True, 0)
    assert found.resident_opened == PAGES


@pytest.mark.parametrize("unseen", [None, True])
def test_where_calls_do_not_show_all_reads_the_device_bounds_them(disk, monkeypatch, unseen):
    monkeypatch.setattr(opening._core, "reads_past_calls", lambda pid: unseen)
    found, _ = cooled(Maps(disk))
    assert found.kept_bytes == found.opening_read_bytes


def test_an_unknown_reading_is_no_proof(disk, monkeypatch):
    monkeypatch.setattr(opening._core, "called_bytes", lambda pid: None)
    monkeypatch.setattr(opening._core, "io_bytes", lambda pid: None)
    found, _ = cooled(ReadsAhead(disk))
    assert (found.proved, found.kept_bytes, found.opening_read_bytes) == (False, None, None)
    assert "is unknown" in found.reason


def test_the_document_states_the_limit():
    text = (Path(__file__).parents[2] / "docs/reference/method.md").read_text(encoding="utf-8")
    stated = f"at most {opening.KEPT_SHARE_MAX * 100:.0f} % of the data in the engine's own memory"
    assert stated in " ".join(text.split())


def result(read_bytes, *, expected=100, proved=True, size_bytes=4096, status="ok"):
    cell = Cell("min-heap", "sqlite", 1000, "cold", 1)
    samples = tuple(Sample(i, 0, i, 0, 1000, read_bytes=read_bytes[i]) for i in range(2))
    answers = tuple(AnswerCheck(i, i, expected, "a", expected, "a") for i in range(2))
    evidence = tuple(
        ColdEvidence(i, proved, "", "mincore", 1, size_bytes, 1, 0, True, 1, 0) for i in range(2)
    )
    return CellResult(cell, status, "", "", samples, answers if expected else (), evidence)


@pytest.mark.parametrize(
    ("found", "wrong", "shown"),
    [
        (result((4096, 8192)), (), "cold"),
        (result((4096, 0)), (1,), "unproved"),
        (result((0, 0)), (0, 1), "unproved"),
        (result((None, None)), (), "cold"),
        (result((0, 0), expected=0), (), "cold"),
        (result((0, 0), size_bytes=0), (), "unproved"),
        (result((0, 0), proved=False), (), "unproved"),
    ],
    ids=["read", "once", "never", "uncounted", "no answer", "no data", "unproved"],
)
def test_proved_and_nothing_read_contradict_each_other(found, wrong, shown):
    assert found.refuted == wrong
    assert found.temperature_shown == shown
    reason = validity.of_coldness(found.samples, found.answers, found.evidence)
    assert bool(reason) == bool(wrong)
    assert not wrong or advice(reason)
