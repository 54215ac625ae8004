"""One data file of a workload, Parquet, CSV or Arrow: its identity, its columns, and its rows in
the file's own types. An error names the file."""

import hashlib
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv
import pyarrow.parquet

from loadstone.errors import InputError
from loadstone.plan.workload import DataFile
from loadstone.text import csv_file

SUFFIXES = (".parquet", ".csv", ".arrow", ".feather", ".ipc")
BATCH_ROWS = 1 << 16


def suffix(path: Path) -> str:
    """The ending that says the format, in small letters."""
    return path.suffix.lower()


def schema_of(path: Path) -> Any:
    """Its columns and their types; those of a CSV are texts."""
    if suffix(path) == ".csv":
        return pa.schema([(name, pa.string()) for name in csv_file.header_of(path)])
    if suffix(path) == ".parquet":
        _check_int96(path)
        return pyarrow.parquet.read_schema(path)
    with pa.memory_map(str(path)) as source:
        return _ipc(source).schema


def batches_of(path: Path) -> Iterator[Any]:
    """The rows of a file, whose types are the file's: of a CSV, texts."""
    if suffix(path) == ".csv":
        yield from csv_batches(path, csv_file.header_of(path))
    elif suffix(path) == ".parquet":
        yield from _parquet(path)
    else:
        with pa.memory_map(str(path)) as source:
            opened = _ipc(source)
            if isinstance(opened, pa.RecordBatchStreamReader):
                yield from opened
            else:
                yield from map(opened.get_batch, range(opened.num_record_batches))


def csv_batches(path: Path, names: Sequence[str]) -> Iterator[Any]:
    """An empty field is NULL, a quoted empty one a text without letters. Only of a file that was
    checked: this reader takes what is no CSV, too."""
    convert = pyarrow.csv.ConvertOptions(
        column_types=dict.fromkeys(names, pa.string()), strings_can_be_null=True,
        quoted_strings_can_be_null=False, null_values=[""],
    )  # fmt: skip
    parse = pyarrow.csv.ParseOptions(newlines_in_values=True, ignore_empty_lines=len(names) > 1)
    read = pyarrow.csv.ReadOptions(block_size=csv_file.BLOCK_BYTES)
    with path.open("rb") as file:
        for block in pyarrow.csv.open_csv(
            pa.PythonFile(csv_file.Pieces(file), mode="r"),
            convert_options=convert, parse_options=parse, read_options=read,
        ):  # fmt: skip
            for first in range(0, block.num_rows, BATCH_ROWS):
                yield block.slice(first, BATCH_ROWS)


def _parquet(path: Path) -> Iterator[Any]:
    """Times in INT96 are nanoseconds of a day: as nanoseconds of 64 bits they would end in the year
    2262, and be other times beyond."""
    with pyarrow.parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as file:
        yield from file.iter_batches(BATCH_ROWS)


def _check_int96(path: Path) -> None:
    """Raise `InputError` where a time in INT96 is finer than a microsecond: `_parquet` cuts it."""
    with (
        pyarrow.parquet.ParquetFile(path, coerce_int96_timestamp_unit="us") as coarse,
        pyarrow.parquet.ParquetFile(path) as fine,
    ):
        flat = [fine.schema.column(number) for number in range(len(fine.schema))]
        names = [one.name for one in flat if one.physical_type == "INT96" and one.path == one.name]
        before = 0
        both = (each.iter_batches(BATCH_ROWS, columns=names) for each in (coarse, fine))
        for micros, nanos in zip(*both, strict=True) if names else ():
            for name, cut, whole in zip(names, micros.columns, nanos.columns, strict=True):
                # Beyond 64 bits both go round.
                same = pc.equal(pc.multiply(cut.cast(pa.int64()), 1000), whole.cast(pa.int64()))
                if (place := pc.index(same, value=False).as_py()) >= 0:
                    raise InputError(
                        f"{path}, row {before + place + 1:,}, column {name}: a time of INT96 that"
                        f" is finer than a microsecond, just after {cut[place].cast(pa.string())}",
                        hint="write the file again with times cut to microseconds",
                    )
            before += micros.num_rows


def _ipc(source: Any) -> Any:
    try:
        return pa.ipc.open_file(source)
    except pa.ArrowInvalid:
        source.seek(0)
        return pa.ipc.open_stream(source)


def identity(name: str, path: Path) -> DataFile:
    """What a plan keeps of it."""
    try:
        if not path.is_file() and path.exists():  # a device or a pipe may have no end
            raise InputError(
                f"{path} is no file of data that can be read: it is not a file",
                hint="name its files one by one: --data FILE, or file = [FILE, …] in workload.toml",
            )
        with path.open("rb") as file:
            digest = hashlib.file_digest(file, "sha256").hexdigest()
        return DataFile(name, path.stat().st_size, digest)
    except OSError as error:
        raise _unreadable(path, error) from error


@contextmanager
def errors_of(path: Path) -> Iterator[None]:
    """A file's contents are the user's: an error names it."""
    if suffix(path) not in SUFFIXES:
        raise InputError(
            f"{path}: its name ends in none of {', '.join(SUFFIXES)}, which say a file's format",
            hint="write the data again in one of these formats, or rename a file that has one",
        )
    try:
        yield
    except OSError as error:
        raise _unreadable(path, error) from error
    except (pa.ArrowException, UnicodeDecodeError) as error:
        stated = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise _broken(path, stated) from error


def _broken(path: Path, stated: str) -> InputError:
    return InputError(
        f"{path} cannot be read: {stated}",
        hint=f"is it a whole {suffix(path)[1:]} file? Its name's ending says so",
    )


def _unreadable(path: Path, error: OSError) -> InputError:
    words = error.strerror or str(error).partition(". Detail")[0].partition("\n")[0]
    if error.errno is None:  # Arrow's, of the contents
        return _broken(path, words)
    return InputError(
        f"the data file {path} cannot be read: {words}",
        hint="names of files begin in the folder of workload.toml, those of --data in this one",
    )
