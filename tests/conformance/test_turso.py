"""Turso beside what the suite asks of every engine: a commit that outlives its process and waits
for the device, and files in no folder but its own.

Skipped, with the reason, where its extra is not installed.
"""

import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from engine_kinds import TURSO_MISSING, MakeEngine
from samples import as_rows, rows, said, stream, table

from loadstone.errors import EngineError

pytestmark = pytest.mark.skipif(bool(TURSO_MISSING), reason=TURSO_MISSING or "it is there")

NEW = "append to t (unique1 = 99, unique2 = 99, big = 99, string = 'committed')"
WORKER = """
import sys
from pathlib import Path
from engine_kinds import ENGINES
from samples import rows, said, stream, table
from loadstone.plan.variant import Variant

engine = ENGINES["turso"](
    Variant("turso", (("durability", sys.argv[3]),)), Path(sys.argv[1]), "run1"
)
engine.start()
engine.load(table(), stream(rows()))
engine.settle(["t"])
print("begin", flush=True)
sys.stdin.readline()
for _ in range(10):
    engine.run(said(engine, sys.argv[2]))
print("done", flush=True)
sys.stdin.readline()
"""


def worker(scratch: Path, durability: str, *before: str) -> subprocess.Popen[str]:
    path = os.pathsep.join((str(Path(__file__).parent), str(Path(__file__).parents[1]), *sys.path))
    return subprocess.Popen(
        [*before, sys.executable, "-c", WORKER, str(scratch), NEW, durability],
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
        env={**os.environ, "PYTHONPATH": path},
    )  # fmt: skip


def answer(process: subprocess.Popen[str], awaited: str) -> None:
    assert process.stdin is not None
    assert process.stdout is not None
    assert process.stdout.readline().strip() == awaited
    process.stdin.write("\n")
    process.stdin.flush()


@pytest.mark.slow
@pytest.mark.parametrize("durability", ["full", "none"])
def test_a_commit_outlives_its_process(make: MakeEngine, scratch: Path, durability: str) -> None:
    with worker(scratch, durability) as process:
        answer(process, "begin")
        assert process.stdout is not None
        assert process.stdout.readline() == "done\n"
        process.send_signal(signal.SIGKILL)
    engine = make("turso")
    engine.start()
    kept = as_rows(engine.contents("t"))
    assert len(kept) == len(rows()) + 10
    assert kept.count((99, 99, 99, "committed")) == 10


@pytest.mark.slow
@pytest.mark.skipif(shutil.which("strace") is None, reason="strace is not installed")
@pytest.mark.parametrize(("durability", "least", "most"), [("full", 10, 30), ("none", 0, 1)])
def test_a_commit_waits_for_the_device_only_with_full_durability(
    scratch: Path, tmp_path: Path, durability: str, least: int, most: int
) -> None:
    """By its system calls, between the load and the end: a pragma that reads back what was set
    would say the same of one that nobody heeds. With `none` the first commit after a checkpoint
    begins the log anew, and waits all the same."""
    calls = tmp_path / "calls"
    traced = ("strace", "-f", "-e", "trace=fsync,fdatasync,write", "-o", str(calls))
    with worker(scratch, durability, *traced) as process:
        answer(process, "begin")
        answer(process, "done")
    lines = calls.read_text(encoding="utf-8").splitlines()
    (begin,) = (at for at, line in enumerate(lines) if '"begin' in line)
    (end,) = (at for at, line in enumerate(lines) if '"done' in line)
    waits = [line for line in lines[begin:end] if "sync(" in line]
    assert least <= len(waits) <= most


def test_nothing_of_a_stopped_one_is_open(make: MakeEngine, scratch: Path) -> None:
    engine = make("turso")
    engine.start()
    engine.load(table(), stream(rows()))
    assert as_rows(engine.contents("t"))
    assert engine.terms()
    assert opened(scratch)
    engine.stop()
    assert opened(scratch) == []


def opened(folder: Path) -> list[str]:
    entries = list(Path("/proc/self/fd").iterdir())
    targets = [str(each.readlink()) for each in entries if each.is_symlink() and each.exists()]
    return [target for target in targets if target.startswith(str(folder))]


def test_a_sort_that_does_not_fit_stays_in_the_scratch_folder(
    make: MakeEngine, scratch: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = os.environ.get("TMPDIR")
    elsewhere = set(Path(tempfile.gettempdir()).glob(".tmp*"))
    engine = make("turso", cache="1048576")
    engine.start()
    many = [(i % 30000, i, i * 7919 % 100_003, f"{i:012d}") for i in range(60_000)]
    engine.load(table(), stream(many, 10_000))
    found: list[Path] = []
    rows = engine.read("SELECT big, string FROM t ORDER BY string DESC")
    assert next(iter(rows))
    found = list((scratch / "turso-tmp").glob("*"))
    del rows
    assert found
    assert set(Path(tempfile.gettempdir()).glob(".tmp*")) == elsewhere
    other = make("turso")
    other.start()
    engine.stop()
    assert os.environ["TMPDIR"] == str(other.scratch / "turso-tmp"), "its own is not there any more"
    other.stop()
    assert os.environ.get("TMPDIR") == before


def test_a_locked_file_is_distinguished_from_a_broken_one(make: MakeEngine, scratch: Path) -> None:
    with worker(scratch, "full") as process:
        assert process.stdout is not None
        assert process.stdout.readline() == "begin\n"
        with pytest.raises(EngineError, match="locked") as caught:
            make("turso").start()
        assert "one at a time" in caught.value.hint
        process.kill()
    (scratch / "turso.db").write_bytes(b"no database at all\n" * 1000)
    (scratch / "turso.db-wal").unlink(missing_ok=True)
    with pytest.raises(EngineError, match="not a database"):
        engine = make("turso")
        engine.start()
        engine.tables()


def test_its_file_is_one_that_sqlite_reads(make: MakeEngine, scratch: Path) -> None:
    engine = make("turso", page_size="8192")
    engine.start()
    engine.load(table(indexes=("unique1",)), stream(rows()))
    engine.load(table("c", organisation="clustered", key="unique1"), stream(rows()))
    engine.settle(["t", "c"])
    engine.stop()
    with closing(sqlite3.connect(scratch / "turso.db")) as db:
        assert db.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
        assert db.execute("PRAGMA page_size").fetchall() == [(8192,)]
        kept = db.execute("SELECT * FROM c").fetchall()
    assert kept == sorted(rows())
    engine.start()


def test_a_bug_of_the_engines_is_an_error(
    make: MakeEngine, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its driver passes on a panic as what is no `Exception`."""
    panic = type("PanicException", (BaseException,), {"__module__": "pyo3_runtime"})
    engine = make("turso")
    engine.start()

    class Panicking:
        def execute(self, *_: object) -> None:
            raise panic("index out of bounds")

        def close(self) -> None:
            """Nothing to close."""

    whole = engine._connection
    monkeypatch.setattr(engine, "_connection", Panicking())
    with pytest.raises(EngineError, match="index out of bounds"):
        engine.fetch("SELECT 1")
    monkeypatch.setattr(engine, "_connection", whole)
    assert engine.fetch("SELECT 1") == [(1,)]


def test_an_index_that_turso_makes_for_a_statement_is_no_index_of_ours(make: MakeEngine) -> None:
    engine = make("turso")
    engine.start()
    engine.load(table("h"), stream(rows()))
    engine.settle(["h"])
    both = said(
        engine, "range of t is h range of u is h retrieve (t.all) where t.unique1 = u.unique2"
    )
    plan = engine.explain(both)
    assert "ephemeral" in plan
    assert engine.access_paths(both, plan) == ["heap"]
