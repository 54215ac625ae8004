"""OO1's relations through the built module: the rules drawn again in Python, checksums, files."""

import hashlib
import re
from collections.abc import Iterator
from datetime import datetime, timedelta
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pyarrow.ipc
import pyarrow.parquet
import pytest

from loadstone import _core
from loadstone.commands.data import data
from loadstone.errors import InputError

DOCUMENT = Path(__file__).parents[2] / "docs/reference/data.md"
CHECKSUM = re.compile(r"\| oo1 (\S+) \| ([\d,]+) \| (\w+) \| ([\d,]+) \| `([0-9a-f]{64})` \|")
EDITIONS = ("1992", "1992-no-locality")
MODULUS = 2**31 - 1
PARTS_STREAM = 1_200_000_000


def published() -> list[tuple[str, int, str, int, str]]:
    return [
        (edition, int(rows.replace(",", "")), relation, int(size.replace(",", "")), digest)
        for edition, rows, relation, size, digest in CHECKSUM.findall(DOCUMENT.read_text())
    ]


def table_of(edition: str, relation: str, rows: int, **options: int) -> pa.Table:
    stream = _core.RelationStream("oo1", edition, relation, rows, **options)
    return pa.RecordBatchReader.from_stream(stream).read_all()


def states(seed: int, skipped: int) -> Iterator[int]:
    state = seed * pow(16807, skipped, MODULUS) % MODULUS
    while True:
        state = state * 16807 % MODULUS
        yield state


def connections_drawn(parts: int, seed: int, edition: str) -> list[dict[str, object]]:
    """As `docs/reference/data.md` states the rule, one draw after another."""
    stream = states(seed, 0)

    def draw(count: int) -> int:
        return 1 + next(stream) * count // MODULUS

    rows = []
    for part in range(1, parts + 1):
        for _ in range(3):
            if draw(10) > 1 and edition == "1992":
                to = part + draw(parts // 100) - 1 - parts // 200
                if to < parts // 200:
                    to += parts // 200
                if to > parts - parts // 200:
                    to -= parts // 200
            else:
                to = draw(parts)
            kind = f"part-type{draw(10) - 1}"
            rows.append({"frm": part, "too": to, "type": kind, "length": draw(100_000) - 1})
    return rows


def parts_drawn(parts: int, seed: int) -> list[dict[str, object]]:
    stream = states(seed, PARTS_STREAM)

    def draw(count: int) -> int:
        return 1 + next(stream) * count // MODULUS

    first, seconds = datetime(1980, 1, 1), 3_653 * 86_400
    return [
        {
            "id": part,
            "type": f"part-type{draw(10) - 1}",
            "x": draw(100_000) - 1,
            "y": draw(100_000) - 1,
            "build": first + timedelta(seconds=draw(seconds) - 1),
        }
        for part in range(1, parts + 1)
    ]


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize(("parts", "seed"), [(200, 1), (299, 2), (1_000, 1992), (3_001, 42)])
def test_rows_are_those_of_the_rule(edition: str, parts: int, seed: int) -> None:
    expected = connections_drawn(parts, seed, edition)
    assert table_of(edition, "connection", parts, seed=seed).to_pylist() == expected
    assert table_of(edition, "part", parts, seed=seed).to_pylist() == parts_drawn(parts, seed)


def test_the_document_publishes_every_relation() -> None:
    expected = [(edition, rows, relation) for edition in EDITIONS for rows in (200, 20_000)
                for relation in _core.relations("oo1", edition)]  # fmt: skip
    assert [line[:3] for line in published()] == expected


@pytest.mark.parametrize(
    ("edition", "rows", "relation", "size", "digest"),
    published(),
    ids=lambda value: str(value)[:12],
)
def test_published_checksum(
    tmp_path: Path, edition: str, rows: int, relation: str, size: int, digest: str
) -> None:
    path = tmp_path / "r.csv"
    result = _core.export("oo1", edition, relation, rows, str(path), "csv")
    text = path.read_bytes()
    assert hashlib.sha256(text).hexdigest() == digest
    assert (result["rows"], result["bytes"]) == (size, len(text))


def test_types_are_declared_and_kept() -> None:
    part, connection = (_core.attributes("oo1", "1992", name) for name in ("part", "connection"))
    assert part == [("id", "int4"), ("type", "char(10)"), ("x", "int4"), ("y", "int4"),
                    ("build", "timestamp")]  # fmt: skip
    assert connection == [("frm", "int4"), ("too", "int4"), ("type", "char(10)"),
                          ("length", "int4")]  # fmt: skip
    arrow = {"int4": pa.int32(), "char(10)": pa.string(), "timestamp": pa.timestamp("s")}
    for relation, attributes in (("part", part), ("connection", connection)):
        stream = _core.RelationStream("oo1", "1992", relation, 200)
        assert pa.schema(stream) == pa.schema(
            pa.field(name, arrow[kind], nullable=False) for name, kind in attributes
        )


@pytest.mark.parametrize("edition", EDITIONS)
@pytest.mark.parametrize("relation", ["part", "connection"])
def test_files_hold_what_the_stream_gives(tmp_path: Path, edition: str, relation: str) -> None:
    table = table_of(edition, relation, 20_000)
    for suffix in ("csv", "parquet", "arrow"):
        path = tmp_path / f"r.{suffix}"
        _core.export("oo1", edition, relation, 20_000, str(path), suffix, threads=2)
        if suffix == "csv":
            # No types given: what stands in the file must say what it is.
            again = pyarrow.csv.read_csv(path)
            assert [str(kind) for kind in again.schema.types] == [
                str(kind).replace("int32", "int64") for kind in table.schema.types
            ]
        elif suffix == "parquet":
            again = pyarrow.parquet.read_table(path)
        else:
            again = pyarrow.ipc.open_file(path).read_all()
            assert again.schema == table.schema
        assert again.cast(table.schema).equals(table)


def test_parquet_says_that_a_timestamp_is_one(tmp_path: Path) -> None:
    path = tmp_path / "part.parquet"
    _core.export("oo1", "1992", "part", 200, str(path), "parquet")
    build = pyarrow.parquet.ParquetFile(path).schema.column(4)
    assert build.name == "build"
    assert build.logical_type.type == "TIMESTAMP"


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_threads_change_no_byte(tmp_path: Path, suffix: str) -> None:
    # More rows than one piece of any format.
    contents = set()
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.{suffix}"
        _core.export("oo1", "1992", "connection", 100_001, str(path), suffix, threads=threads)
        contents.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(contents) == 1


@pytest.mark.parametrize("part_count", [2, 7])
@pytest.mark.parametrize("relation", ["part", "connection"])
def test_parts_laid_end_to_end_are_the_whole(
    tmp_path: Path, part_count: int, relation: str
) -> None:
    def body(part: int, count: int) -> bytes:
        path = tmp_path / f"{part}-of-{count}.csv"
        _core.export("oo1", "1992-no-locality", relation, 10_007, str(path), "csv", seed=3,
                     part=part, part_count=count, threads=part)  # fmt: skip
        return path.read_bytes().partition(b"\n")[2]

    pieces = [body(part, part_count) for part in range(1, part_count + 1)]
    assert b"".join(pieces) == body(1, 1)


def test_the_command_writes_both_relations_of_the_small_database(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data("oo1", tmp_path, threads=1)
    assert sorted(path.name for path in tmp_path.iterdir()) == ["connection.csv", "part.csv"]
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[1] for line in lines[1:]] == ["20,000", "60,000"]
    digests = {
        relation: digest
        for edition, rows, relation, _, digest in published()
        if (edition, rows) == ("1992", 20_000)
    }
    for relation, digest in digests.items():
        text = (tmp_path / f"{relation}.csv").read_bytes()
        assert hashlib.sha256(text).hexdigest() == digest


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"rows": "199"}, "oo1 1992 is defined for 200 to 100000000 rows, not 199"),
        ({"rows": "1e9"}, "200 to 100000000 rows, not 1000000000"),
        ({"seed": 2**31 - 1}, "seeds up to 2147483646, not 2147483647"),
        ({"relation": ["parts"]}, "no relation 'parts'; it has: part, connection"),
        ({"edition": "1993"}, "there is: oo1 1992, oo1 1992-no-locality"),
    ],
)
def test_the_command_explains_bad_input(
    tmp_path: Path, change: dict[str, object], message: str
) -> None:
    with pytest.raises(InputError, match=re.escape(message)) as caught:
        data("oo1", tmp_path, **change)  # type: ignore[arg-type]
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []
