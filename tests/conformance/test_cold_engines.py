"""Real engines are cold when the clock starts: counted here once more, by other means than theirs.

On a disk that reads far ahead, opening a small LMDB or DuckDB file brings in all of it.
"""

import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from engine_kinds import EVERY_ENGINE, with_spark
from test_clients import build

from loadstone import _core
from loadstone.benchmarks.base import table_of
from loadstone.benchmarks.oo1.database import Database
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.lode.engine import LodeEngine
from loadstone.engines.system import System
from loadstone.machine import facts, page_cache
from loadstone.plan.variant import Variant
from loadstone.protocol.parts import Block, Variation
from loadstone.record.model import ColdEvidence, refuted
from loadstone.worker.block import Timer
from loadstone.worker.client_timer import ClientTimer
from loadstone.worker.statement_timer import StatementTimer

pytestmark = [pytest.mark.machine, pytest.mark.slow]

PARTS = 20_000
"""Their headers, catalogs and root pages are a small share of the smallest database of OO1's."""
ROWS = 10_000
CLIENTS = (
    "sqlite",
    "lmdb",
    "lmdb?access=links",
    "lode",
    "lode?disk=direct",
    "duckdb",
    "postgresql",
)
OPENS_WITH_MUCH = ("ladybug",)
"""Their opening reads a good part of so small a database into their own memory."""
QUERY = "range of t is tenktup1 retrieve (t.all) where t.unique1 = 7"


@pytest.fixture
def folder() -> Iterator[Path]:
    with tempfile.TemporaryDirectory(prefix="loadstone-test-") as name:
        path = Path(name)
        path.chmod(0o755)
        mount = facts.mount_of(path)
        if mount is None or mount.type not in page_cache.PAGE_CACHED:
            pytest.skip("no file system with a page cache")
        yield path


class Count:
    """Pages of a system's files in the page cache whenever a clock starts."""

    def __init__(self, system: System) -> None:
        self.system = system
        self.pages: list[int] = []

    def __call__(self, kind: str) -> None:
        if kind == "start":
            files = self.system.files()
            assert files
            self.pages.append(sum(_core.resident_pages(str(file))[0] for file in files))


def cold(
    timer: Timer, variations: Sequence[Variation], destination: str = "client"
) -> ColdEvidence:
    block = Block(
        "wisconsin", "1993", ROWS, "heap", destination, "cold", tuple(variations), 0, 0, 0
    )
    result = timer.take(block)
    assert not refuted(result.samples, result.answers, result.evidence), result.samples
    return result.evidence[-1]


def assert_proved(found: ColdEvidence, counted: Count) -> None:
    assert counted.pages
    assert not any(counted.pages)
    assert (found.proved, found.reason) == (True, "")
    assert found.resident_at_clock == 0
    assert found.resident_opened is not None


@pytest.mark.parametrize("text", CLIENTS)
def test_a_program_meets_none_of_its_data_in_memory(text: str, folder: Path) -> None:
    client = build(text, folder)
    client.expect(Database(PARTS))
    try:
        client.start()
        client.load()
        client.settle()
        counted = Count(client)
        found = cold(ClientTimer(client, counted), [Variation(0, "lookup 0", "", 1000, "unknown")])
        assert_proved(found, counted)
    finally:
        client.remove()


@pytest.mark.parametrize("text", OPENS_WITH_MUCH)
def test_pages_that_opening_takes_into_its_own_memory_are_seen(text: str, folder: Path) -> None:
    client = build(text, folder)
    client.expect(Database(PARTS))
    try:
        client.start()
        client.load()
        client.settle()
        counted = Count(client)
        found = cold(ClientTimer(client, counted), [Variation(0, "lookup 0", "", 1000, "unknown")])
        assert counted.pages == [0]
        assert not found.proved
        assert "in its own memory" in found.reason
    finally:
        client.remove()


@pytest.mark.parametrize("name", with_spark())
def test_a_statement_meets_none_of_its_data_in_memory(name: str, folder: Path) -> None:
    engine = EVERY_ENGINE[name](Variant(name), folder, "run1")
    attributes = tuple(
        Attribute(*pair) for pair in _core.attributes("wisconsin", "1993", "tenktup1")
    )
    table = Table(table_of("tenktup1", "heap", ROWS), attributes)
    engine.start()
    try:
        rows = pa.RecordBatchReader.from_stream(
            _core.RelationStream("wisconsin", "1993", "tenktup1", ROWS)
        )
        assert engine.load(table, rows) == ROWS
        engine.settle([table.name])
        counted = Count(engine)
        variations = [Variation(i, QUERY, "", 1, "unknown") for i in range(2)]
        assert_proved(cold(StatementTimer(engine, counted), variations), counted)
    finally:
        engine.remove()


def read_by_calls() -> int:
    (line,) = (one for one in Path("/proc/self/io").read_text().splitlines() if "rchar" in one)
    return int(line.split()[1])


@pytest.mark.parametrize("tactic", [("disk", "direct"), ("disk", "buffered"), ("mirror", "idle")])
@pytest.mark.parametrize("relations", [1, 30])
def test_lode_opens_with_its_headers_and_two_pages_of_its_catalog(
    relations: int, tactic: tuple[str, str], folder: Path
) -> None:
    """The bytes taken off the bound of the data in its memory are those it read, and no more."""
    engine = LodeEngine(Variant("lode", (tactic,)), folder, "run1")
    engine.start()
    try:
        for number in range(relations):
            engine.run(f"create r{number} (a = i4, b = c100)")
            engine.run(f'append to r{number} (a = {number}, b = "x")')
        engine.stop()
        before = read_by_calls()
        engine.start()
        catalog_bytes = read_by_calls() - before - engine.header_bytes()
        assert 8_192 <= catalog_bytes < 8_192 + 4_096  # the rest is the reading of /proc itself
    finally:
        engine.remove()


HOLDER = """
import mmap, sys
with open(sys.argv[1], "rb") as file:
    held = mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ)
    print(sum(held[at] for at in range(0, len(held), 4096)) >= 0, flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize("copy", ["relations.lode", "relations.lode-mirror/relations.lode"])
def test_a_copy_that_another_program_holds_is_no_proof(copy: str, folder: Path) -> None:
    """The second as the first: either may be read."""
    engine = LodeEngine(Variant("lode", (("mirror", "idle"),)), folder, "run1")
    attributes = tuple(
        Attribute(*pair) for pair in _core.attributes("wisconsin", "1993", "tenktup1")
    )
    table = Table(table_of("tenktup1", "heap", ROWS), attributes)
    engine.start()
    try:
        engine.load(table, pa.RecordBatchReader.from_stream(
            _core.RelationStream("wisconsin", "1993", "tenktup1", ROWS)))  # fmt: skip
        engine.settle([table.name])
        counted = Count(engine)
        timer, variations = StatementTimer(engine, counted), [Variation(0, QUERY, "", 1, "unknown")]
        assert_proved(cold(timer, variations), counted)
        with subprocess.Popen(
            [sys.executable, "-c", HOLDER, str(folder / copy)],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        ) as holder:  # fmt: skip
            assert holder.stdout is not None
            assert holder.stdout.readline() == "True\n"
            found = cold(timer, variations)
            holder.communicate()
        assert not found.proved
        assert "another process may have them mapped" in found.reason
        assert found.resident_at_clock
    finally:
        engine.remove()
