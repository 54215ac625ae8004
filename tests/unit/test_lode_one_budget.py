"""`memory=cache`: one figure bounds what a process that asks has in memory.

Each question is asked in a process of its own, whose resident set the kernel shows. Beside the
budget it has the rows on their way and what `docs/reference/lode-query.md` names; the same question
with memory for everything must go beyond the bound, or the test would show nothing.
"""

import json
import subprocess
import sys
from pathlib import Path
from typing import Final

import pyarrow as pa
import pytest

from loadstone.lode import Database

MIB: Final = 1 << 20
ROWS: Final = 1_000_000
BUDGET_BYTES: Final = 8 * MIB
BESIDE_BYTES: Final = 20 * MIB

PROGRAM: Final = """
import json, sys
from pathlib import Path
import pyarrow as pa
from loadstone.lode import Database

def resident(what):
    status = Path("/proc/self/status").read_text(encoding="ascii")
    return int(status.partition(what + ":")[2].split()[0]) * 1024

def counted(database, text):
    rows = pa.RecordBatchReader.from_stream(database.query(text))
    return sum(batch.num_rows for batch in rows)

path, text, tactics = sys.argv[1], sys.argv[2], json.loads(sys.argv[3])
with Database(path, "any", **tactics) as database:
    counted(database, "range of c is few retrieve (c.k)")
    before = resident("VmRSS")
    rows = counted(database, text)
    counters = dict(database.counters())
    reported = {
        "rows": rows,
        "grown": resident("VmHWM") - before,
        "spilled": counters["query"]["spilled_bytes"],
        **{name: counters["buffer"][name] for name in ("pages_lent_max", "pages_resident_max")},
    }
    print(json.dumps(reported))
"""

QUESTIONS: Final = {
    "sort": ("retrieve unique (a.k, a.v)", {"distinct": "sort"}),
    "distinct": ("retrieve unique (a.k, a.v)", {"distinct": "hash"}),
    "join": ("retrieve (a.k, b.v) where a.k = b.k", {"join": "hash"}),
    "merge join": ("retrieve (a.k, b.v) where a.k = b.k", {"join": "merge"}),
}


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("budget") / "many.lode"
    with Database(path, "create", durability="none") as database:
        for name, factor, rows in (("a", 7_919, ROWS), ("b", 104_729, ROWS), ("few", 1, 1)):
            keys = [number * factor % ROWS for number in range(rows)]
            data = pa.table({"k": pa.array(keys, pa.int32()), "v": pa.array(keys, pa.int64())})
            database.load(name, [("k", "i4"), ("v", "i8")], data)
        database.settle("a", "b", "few")
    assert path.stat().st_size > 2 * BUDGET_BYTES
    return path


def asked(path: Path, question: str, **memory: str) -> dict[str, int]:
    text, tactics = QUESTIONS[question]
    arguments = [f"range of a is a range of b is b {text}", json.dumps(tactics | memory)]
    command = [sys.executable, "-c", PROGRAM, str(path), *arguments]
    reported = subprocess.run(command, check=True, capture_output=True, text=True)
    found: dict[str, int] = json.loads(reported.stdout)
    assert found["rows"] == ROWS
    return found


@pytest.mark.slow
@pytest.mark.parametrize("question", QUESTIONS)
def test_one_figure_bounds_pages_and_what_a_question_keeps(path: Path, question: str) -> None:
    found = asked(path, question, memory="cache", cache=str(BUDGET_BYTES))
    assert found["spilled"] > 0
    assert found["grown"] <= BUDGET_BYTES + BESIDE_BYTES
    assert 0 < found["pages_lent_max"] <= found["pages_resident_max"] * 3 // 4
    assert found["pages_resident_max"] * 4096 == BUDGET_BYTES
    roomy = asked(path, question, memory=str(1 << 30), cache=str(256 * MIB))
    assert roomy["spilled"] == 0
    assert roomy["grown"] > BUDGET_BYTES + BESIDE_BYTES
