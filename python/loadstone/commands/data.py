"""`loadstone data`: a benchmark's relations as files, one file a relation."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

if TYPE_CHECKING:
    from rich.progress import Progress


_Format = Literal["csv", "parquet", "arrow"]
DEFAULTS = {
    "wisconsin": ("1993", "10000"),
    "oo1": ("1992", "20000"),
    "ingres": ("1981", "3360"),
    "idm": ("1986", "10000"),
    "oo7": ("1993-3", "10000"),
}
"""The edition and scale for which a benchmark's name alone stands."""


@dataclass(frozen=True, slots=True)
class _File:
    """A file to be."""

    relation: str
    path: Path
    rows: int


@dataclass(frozen=True, slots=True)
class _Written:
    """A file that is."""

    path: Path
    rows: int
    bytes: int
    elapsed_ns: int


@dataclass(frozen=True, slots=True)
class _Order:
    """The options that are the same for every relation."""

    benchmark: str
    edition: str
    rows: int
    seed: int
    format: str
    compression: str
    part: int
    part_count: int
    threads: int

    def files(self, names: Sequence[str], out: Path) -> list[_File]:
        """The files to write; every name and size is checked before the first is begun."""
        from loadstone import _core

        with _refused():
            known = _core.relations(self.benchmark, self.edition)
            chosen = list(dict.fromkeys(names)) or known
            sizes = [
                _core.RelationStream(
                    self.benchmark, self.edition, name, self.rows, self.seed
                ).row_count
                for name in chosen
            ]
        part = f".part-{self.part}-of-{self.part_count}" if self.part_count > 1 else ""
        return [
            _File(name, out / f"{name}{part}.{self.format}", self._rows_of_part(size))
            for name, size in zip(chosen, sizes, strict=True)
        ]

    def _rows_of_part(self, rows: int) -> int:
        return rows * self.part // self.part_count - rows * (self.part - 1) // self.part_count

    def write(self, file: _File, progress: Callable[[int], object]) -> _Written:
        """Write one file. Raises `InputError`."""
        from loadstone import _core

        with _refused():
            result = _core.export(
                self.benchmark,
                self.edition,
                file.relation,
                self.rows,
                str(file.path),
                self.format,
                seed=self.seed,
                part=self.part,
                part_count=self.part_count,
                threads=self.threads,
                compression=self.compression,
                progress=progress,
            )
        return _Written(file.path, result["rows"], result["bytes"], result["elapsed_ns"])


@contextmanager
def _refused() -> Iterator[None]:
    """Whatever the core refuses of an order, as `InputError`."""
    from loadstone.errors import InputError

    try:
        yield
    except OSError as error:
        hint = "make room there, or choose another folder with --out"
        raise InputError(str(error), hint=hint) from error
    except OverflowError as error:
        raise InputError(
            "--rows, --seed, --part or --threads is larger than any of them can be",
            hint="see loadstone data --help",
        ) from error
    except ValueError as error:
        raise InputError(str(error), hint="see loadstone data --help") from error


def data(
    benchmark: Annotated[
        str,
        typer.Argument(
            metavar="BENCHMARK", help="Write the database of wisconsin, oo1, ingres, idm or oo7."
        ),
    ],
    out: Annotated[
        Path, typer.Option(metavar="FOLDER", help="Write into this folder; create it if missing.")
    ],
    edition: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Choose the edition. wisconsin: 1983, 1993 (default), -skewed; oo1: 1992,"
            " 1992-no-locality; ingres: 1981 (default), large; idm: 1986; oo7: 1993-3, -6, -9.",
        ),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(
            metavar="N",
            help="Choose the scale, as 10000, 1e7 or 10k, of oo1 in parts; by default 10000, of oo1"
            " 20000, of ingres 3360. The sizes of 1983 are fixed.",
        ),
    ] = None,
    format_: Annotated[
        _Format, typer.Option("--format", "-f", help="Choose the file format.")
    ] = "csv",
    relation: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="Write only this relation; repeatable.")
    ] = None,
    part: Annotated[
        str, typer.Option(metavar="I/N", help="Write only the I-th of N parts, to split the work.")
    ] = "1/1",
    threads: Annotated[
        int | None,
        typer.Option(min=1, metavar="N", help="Use N threads; by default one for each processor."),
    ] = None,
    seed: Annotated[
        int, typer.Option(min=0, metavar="N", help="Draw another order; 0 is the published one.")
    ] = 0,
    compression: Annotated[
        Literal["none", "snappy", "zstd"] | None,
        typer.Option(help="Compress; by default snappy for parquet, none for csv and arrow."),
    ] = None,
    replace: Annotated[bool, typer.Option("--replace", help="Overwrite existing files.")] = False,
) -> None:
    """Write a benchmark's relations to files.

    Memory stays constant, whatever the size. Any split into parts and any number of threads give
    the same rows in the same order.
    """
    from loadstone.text.parsing import whole_number

    part_number, part_count = _part(part)
    edition_default, rows_default = DEFAULTS.get(benchmark, ("(any edition)", "10000"))
    order = _Order(
        benchmark=benchmark,
        edition=edition or edition_default,
        rows=whole_number(rows or rows_default, "--rows"),
        seed=seed,
        format=format_,
        compression=compression or ("snappy" if format_ == "parquet" else "none"),
        part=part_number,
        part_count=part_count,
        threads=threads or _processors(),
    )
    files = order.files(relation or [], out)
    _print_table(_write_all(order, files, out, replace=replace))


def _check_free(files: Sequence[_File]) -> None:
    """Raise `InputError` if a file exists: nothing shows whether it is one of ours."""
    from loadstone.errors import InputError

    for file in files:
        if file.path.is_symlink() or file.path.exists():
            raise InputError(
                f"{file.path} exists",
                hint="choose another folder with --out, or overwrite files with --replace",
            )


def _part(text: str) -> tuple[int, int]:
    from loadstone.errors import InputError

    number, slash, count = text.partition("/")
    if not (slash and number.isdecimal() and count.isdecimal()):
        raise InputError(f"--part: {text!r} is not i/n", hint="write --part 1/4 … --part 4/4")
    if not 1 <= int(number) <= int(count):
        raise InputError(
            f"--part: there is no part {number} of {count}", hint=f"parts are 1 to {count}"
        )
    return int(number), int(count)


def _processors() -> int:
    import os

    # Not cpu_count(): a container or taskset may leave us fewer.
    return len(os.sched_getaffinity(0))


def _write_all(
    order: _Order, files: Sequence[_File], out: Path, *, replace: bool
) -> list[_Written]:
    from loadstone.errors import InputError

    if not replace:
        _check_free(files)
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        hint = "choose a folder that you may write to with --out"
        raise InputError(f"cannot make the folder {out}: {error.strerror}", hint=hint) from error
    with _progress() as progress:
        return [_write_one(order, file, progress) for file in files]


def _write_one(order: _Order, file: _File, progress: "Progress") -> _Written:
    task = progress.add_task(file.relation, total=file.rows)
    written = order.write(file, lambda done: progress.update(task, completed=done))
    progress.update(task, completed=file.rows)
    return written


def _progress() -> "Progress":
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        ProgressColumn,
        Task,
        TextColumn,
        TimeRemainingColumn,
    )
    from rich.text import Text

    from loadstone.diagnostics import console

    class Rate(ProgressColumn):
        """Rows a second."""

        def render(self, task: Task) -> Text:
            speed = task.finished_speed or task.speed
            return Text("" if speed is None else f"{speed / 1e6:.2f} M rows/s")

    screen = console(stderr=True)
    return Progress(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        Rate(),
        TimeRemainingColumn(),
        console=screen,
        disable=not screen.is_terminal,
    )


def _print_table(written: Sequence[_Written]) -> None:
    """File, rows, bytes and seconds, aligned; plain text, so that it can be piped."""
    from loadstone.control_characters import legible_line
    from loadstone.diagnostics import show_result

    table = [("file", "rows", "bytes", "seconds")]
    table += [
        (
            legible_line(str(each.path)),
            f"{each.rows:,}",
            f"{each.bytes:,}",
            f"{each.elapsed_ns / 1e9:.3f}",
        )
        for each in written
    ]
    widths = [max(len(line[column]) for line in table) for column in range(4)]
    for name, *numbers in table:
        cells = [f"{text:>{width}}" for text, width in zip(numbers, widths[1:], strict=True)]
        show_result("  ".join([f"{name:<{widths[0]}}", *cells]))
