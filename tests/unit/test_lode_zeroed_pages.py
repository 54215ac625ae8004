"""A page of a volume that something overwrote: the answer is right, or the damage is reported."""

from pathlib import Path

import pyarrow as pa
import pytest

from loadstone.lode import Database, LodeError

PAGE_BYTES = 4096
ROWS = 300
QUERIES = {
    "range of t is t retrieve (n = count(t.a), x = sum(t.a))": [(ROWS, ROWS * (ROWS - 1) // 2)],
    "range of t is t retrieve (t.a) where t.a = 77": [(77,)],
    "range of t is t retrieve (n = count(t.a where t.a >= 100 and t.a < 120))": [(20,)],
    "range of t is t retrieve (t.a) where t.b = 5": [(5,)],
}
"""Of all tuples, by the key, by a range of it, by an index."""


def fill(path: Path, layout: str, organisation: str) -> None:
    rows = pa.table({
        "a": pa.array(range(ROWS), pa.int32()),
        "b": pa.array(range(ROWS), pa.int32()),
        "s": [f"text {number}" for number in range(ROWS)],
    })  # fmt: skip
    attributes = [("a", "i4"), ("b", "i4"), ("s", "c60")]
    with Database(path, layout=layout) as database:
        database.load("t", attributes, rows, organisation=organisation,
                      key=None if organisation == "heap" else ["a"], indexes=["b"])  # fmt: skip


@pytest.mark.parametrize("parallelism", ["1", "2"])
@pytest.mark.parametrize("organisation", ["heap", "clustered", "hash"])
@pytest.mark.parametrize("layout", ["rows", "columns"])
def test_no_page_of_zeros_is_taken_for_an_empty_one(
    tmp_path: Path, layout: str, organisation: str, parallelism: str
):
    """Zeros need no checksum, and read as a relation without tuples where nobody looks."""
    made = tmp_path / "made.lode"
    fill(made, layout, organisation)
    whole, log = made.read_bytes(), (tmp_path / "made.lode-log").read_bytes()
    (damaged := tmp_path / "damaged.lode").touch()
    reported = 0
    for at in range(0, len(whole), PAGE_BYTES):
        if not any(whole[at : at + PAGE_BYTES]):
            continue
        damaged.write_bytes(whole[:at] + bytes(PAGE_BYTES) + whole[at + PAGE_BYTES :])
        (tmp_path / "damaged.lode-log").write_bytes(log)
        for query, right in QUERIES.items():
            try:
                with Database(damaged, parallelism=parallelism) as database:
                    assert database.query(query).fetch() == right, (at // PAGE_BYTES, query)
            except LodeError as error:
                assert "damaged" in str(error)
                reported += 1
    assert reported > len(QUERIES)
