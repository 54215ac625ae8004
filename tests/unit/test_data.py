"""Datasets through the built module: published checksums, splits, threads, formats, failures."""

import hashlib
import re
import resource
import signal
from collections.abc import Iterator
from contextlib import contextmanager
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
CHECKSUM = re.compile(
    r"\| (\d{4}(?:-skewed)?) \| ([\d,]+|fixed) \| (\w+) \| ([\d,]+) \| `([0-9a-f]{64})` \|"
)


def published() -> list[tuple[str, int, str, int, str]]:
    return [
        (edition, int(rows.replace(",", "").replace("fixed", "10")), relation,
         int(size.replace(",", "")), digest)
        for edition, rows, relation, size, digest in CHECKSUM.findall(DOCUMENT.read_text())
    ]  # fmt: skip


def table_of(edition: str, relation: str, rows: int, **options: int) -> pa.Table:
    stream = _core.RelationStream("wisconsin", edition, relation, rows, **options)
    return pa.RecordBatchReader.from_stream(stream).read_all()


def read(path: Path, schema: pa.Schema) -> pa.Table:
    if path.suffix == ".csv":
        options = pyarrow.csv.ConvertOptions(column_types=schema)
        return pyarrow.csv.read_csv(path, convert_options=options).cast(schema)
    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    return pyarrow.ipc.open_file(path).read_all()


def test_the_document_publishes_every_relation() -> None:
    expected = [(edition, rows, name) for edition in ("1993", "1993-skewed")
                for rows in (1_000, 10_000, 100_000)
                for name in _core.relations("wisconsin", edition)]  # fmt: skip
    expected += [("1983", 10, name) for name in _core.relations("wisconsin", "1983")]
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
    result = _core.export("wisconsin", edition, relation, rows, str(path), "csv")
    text = path.read_bytes()
    assert hashlib.sha256(text).hexdigest() == digest
    assert (result["rows"], result["bytes"]) == (size, len(text))


@pytest.mark.parametrize("edition", ["1983", "1993"])
@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_files_hold_what_the_stream_gives(tmp_path: Path, edition: str, suffix: str) -> None:
    for relation in _core.relations("wisconsin", edition):
        table = table_of(edition, relation, 20_000)
        path = tmp_path / f"{relation}.{suffix}"
        _core.export("wisconsin", edition, relation, 20_000, str(path), suffix)
        again = read(path, table.schema)
        assert again.schema == table.schema
        assert again.equals(table)


@pytest.mark.parametrize(
    ("suffix", "compression"),
    [("csv", "none"), ("parquet", "none"), ("parquet", "snappy"), ("parquet", "zstd"),
     ("arrow", "none"), ("arrow", "zstd")],
)  # fmt: skip
def test_threads_change_no_byte(tmp_path: Path, suffix: str, compression: str) -> None:
    # More rows than one piece of any format, and a size whose generator skips most values.
    rows = 300_001
    contents = set()
    for threads in (1, 2, 5):
        path = tmp_path / f"{threads}.{suffix}"
        _core.export("wisconsin", "1993", "tenktup1", rows, str(path), suffix,
                     threads=threads, compression=compression)  # fmt: skip
        contents.add(hashlib.sha256(path.read_bytes()).hexdigest())
    assert len(contents) == 1
    first = table_of("1993", "tenktup1", rows, first=0, count=100)
    assert read(path, first.schema).slice(0, 100).equals(first)


@pytest.mark.parametrize("part_count", [2, 3, 7])
def test_parts_laid_end_to_end_are_the_whole(tmp_path: Path, part_count: int) -> None:
    rows = 10_007
    whole = tmp_path / "whole.csv"
    _core.export("wisconsin", "1993", "tenktup2", rows, str(whole), "csv", seed=3)
    header, _, body = whole.read_bytes().partition(b"\n")
    joined = b""
    for part in range(1, part_count + 1):
        path = tmp_path / f"{part}.csv"
        _core.export("wisconsin", "1993", "tenktup2", rows, str(path), "csv", seed=3,
                     part=part, part_count=part_count, threads=part)  # fmt: skip
        own_header, _, own_body = path.read_bytes().partition(b"\n")
        assert own_header == header
        joined += own_body
    assert joined == body


def test_a_part_may_be_empty(tmp_path: Path) -> None:
    for suffix in ("csv", "parquet", "arrow"):
        path = tmp_path / f"empty.{suffix}"
        result = _core.export("wisconsin", "1993", "onektup", 10, str(path), suffix,
                              part=1, part_count=2)  # fmt: skip
        assert result["rows"] == 0
        assert read(path, table_of("1993", "onektup", 10).schema).num_rows == 0


def test_a_stream_gives_its_range_in_batches() -> None:
    whole = table_of("1993", "tenktup1", 10_000)
    stream = _core.RelationStream(
        "wisconsin", "1993", "tenktup1", 10_000, first=123, count=1_000, batch_rows=300
    )
    assert stream.row_count == 1_000
    # A stream may be read again: it holds a recipe, not rows.
    for _ in range(2):
        batches = list(pa.RecordBatchReader.from_stream(stream))
        assert [batch.num_rows for batch in batches] == [300, 300, 300, 100]
        assert pa.Table.from_batches(batches).equals(whole.slice(123, 1_000))


def test_a_stream_ends_where_the_relation_does() -> None:
    stream = _core.RelationStream("wisconsin", "1993", "bprime", 10_000, first=990, count=50)
    assert stream.row_count == 10
    with pytest.raises(ValueError, match="has 1000 rows"):
        _core.RelationStream("wisconsin", "1993", "bprime", 10_000, first=1_001)


def test_the_stream_s_schema_is_that_of_the_attributes() -> None:
    for edition, integer in (("1983", pa.int16()), ("1993", pa.int32())):
        for relation in _core.relations("wisconsin", edition):
            stream = _core.RelationStream("wisconsin", edition, relation, 100)
            attributes = _core.attributes("wisconsin", edition, relation)
            assert pa.schema(stream) == pa.schema(
                pa.field(name, pa.string() if kind == "char(52)" else integer, nullable=False)
                for name, kind in attributes
            )


def test_the_largest_scale_reaches_its_last_row() -> None:
    last = table_of("1993", "tenktup1", 10**9, first=10**9 - 1)
    # The cycle ends with the generator, since it starts with its square.
    assert last.select(["unique1", "unique2"]).to_pylist() == [
        {"unique1": 31_624 - 1, "unique2": 10**9 - 1}
    ]


def test_seeds_keep_the_values_and_change_the_order() -> None:
    published_order = table_of("1993", "tenktup1", 1_000)["unique1"].to_pylist()
    other = table_of("1993", "tenktup1", 1_000, seed=1)["unique1"].to_pylist()
    assert other != published_order
    assert sorted(other) == sorted(published_order)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"format": "xlsx"}, "csv, parquet, arrow"),
        ({"compression": "gzip"}, "none, snappy, zstd"),
        ({"compression": "snappy"}, "csv cannot be compressed with snappy; it can be with: none"),
        ({"part": 3, "part_count": 2}, "part 3 of 2 does not exist"),
        ({"part": 0}, "part 0 of 1 does not exist"),
        ({"threads": 0}, "at least one thread"),
        ({"rows": 9}, "10 to 1000000000 rows, not 9"),
        ({"relation": "tenktup3"}, "it has: onektup"),
        ({"edition": "1984"}, "there is: wisconsin 1983, wisconsin 1993"),
    ],
)
def test_bad_input_is_explained_and_leaves_nothing(
    tmp_path: Path, change: dict[str, str | int], message: str
) -> None:
    arguments = {
        "benchmark": "wisconsin", "edition": "1993", "relation": "bprime", "rows": 100,
        "path": str(tmp_path / "r.csv"), "format": "csv",
    }  # fmt: skip
    with pytest.raises(ValueError, match=re.escape(message)):
        _core.export(**(arguments | change))  # type: ignore[arg-type]
    assert list(tmp_path.iterdir()) == []


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    path = tmp_path / "missing" / "r.csv"
    reason = f"cannot create {path}: No such file or directory (os error 2)"
    with pytest.raises(FileNotFoundError, match=f"^{re.escape(reason)}$"):
        _core.export("wisconsin", "1993", "bprime", 100, str(path), "csv")


def test_a_folder_in_the_file_s_place_stays(tmp_path: Path) -> None:
    with pytest.raises(OSError, match="cannot create"):
        _core.export("wisconsin", "1993", "bprime", 100, str(tmp_path), "csv")
    assert list(tmp_path.iterdir()) == []


@contextmanager
def file_size_limited(size_bytes: int) -> Iterator[None]:
    """A full disk's stand-in: writes beyond that fail with EFBIG instead of ENOSPC."""
    old = resource.getrlimit(resource.RLIMIT_FSIZE)
    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, old[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, old)
        signal.signal(signal.SIGXFSZ, handler)


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
@pytest.mark.parametrize("threads", [1, 3])
def test_a_failed_write_keeps_the_old_file(tmp_path: Path, suffix: str, threads: int) -> None:
    path = tmp_path / f"r.{suffix}"
    path.write_text("old")
    with file_size_limited(1 << 20), pytest.raises(OSError, match="cannot write"):
        _core.export("wisconsin", "1993", "tenktup1", 300_000, str(path), suffix, threads=threads)
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


@pytest.mark.parametrize("threads", [1, 2])
def test_an_error_of_the_progress_callback_ends_the_export(tmp_path: Path, threads: int) -> None:
    reported: list[int] = []

    def interrupt(rows: int) -> None:
        reported.append(rows)
        raise KeyboardInterrupt

    # Far more rows than any machine writes before the first call.
    with pytest.raises(KeyboardInterrupt):
        _core.export("wisconsin", "1993", "tenktup1", 10**9, str(tmp_path / "r.csv"), "csv",
                     threads=threads, progress=interrupt)  # fmt: skip
    assert len(reported) == 1
    assert list(tmp_path.iterdir()) == []


def test_the_command_writes_each_relation(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "new" / "folder"
    data("wisconsin", out, rows="1e3", part="2/4", threads=1)
    files = sorted(path.name for path in out.iterdir())
    relations = sorted(_core.relations("wisconsin", "1993"))
    assert files == [f"{relation}.part-2-of-4.csv" for relation in relations]
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["file", "rows", "bytes", "seconds"]
    assert [line.split()[1] for line in lines[1:]] == ["25", "250", "250", "25"]


@pytest.mark.parametrize(
    "change",
    [{"part": "5/4"}, {"part": "1"}, {"part": "a/b"}, {"rows": "many"}, {"relation": ["x"]},
     {"benchmark": "tpch"}, {"compression": "zstd"}, {"rows": "1e12"}, {"seed": 1 << 64}],
)  # fmt: skip
def test_the_command_explains_bad_input(tmp_path: Path, change: dict[str, object]) -> None:
    arguments: dict[str, object] = {"benchmark": "wisconsin", "out": tmp_path}
    with pytest.raises(InputError) as caught:
        data(**(arguments | change))  # type: ignore[arg-type]
    assert caught.value.hint
    assert list(tmp_path.iterdir()) == []


def test_the_command_names_a_folder_it_cannot_make(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(InputError, match="cannot make the folder"):
        data("wisconsin", tmp_path / "file" / "below")


def test_a_file_in_the_way_is_kept_unless_it_is_to_be_replaced(tmp_path: Path) -> None:
    mine = tmp_path / "bprime.csv"
    mine.write_text("mine")
    with pytest.raises(InputError, match="exists"):
        data("wisconsin", tmp_path, rows="1e3", threads=1)
    assert [path.name for path in tmp_path.iterdir()] == ["bprime.csv"]
    assert mine.read_text() == "mine"
    data("wisconsin", tmp_path, rows="1e3", threads=1, replace=True)
    assert mine.read_text().startswith("unique1,")


def test_a_last_batch_of_one_row_is_written(tmp_path) -> None:
    import pyarrow.parquet as parquet

    path = tmp_path / "t.parquet"
    _core.export("wisconsin", "1993", "tenktup1", 2_049, str(path), "parquet")
    stream = _core.RelationStream("wisconsin", "1993", "tenktup1", 2_049)
    assert _core.answer_of_stream(parquet.read_table(path)) == _core.answer_of_stream(stream)
