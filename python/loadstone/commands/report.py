"""`loadstone report`: a record as a page, a table or data."""

from pathlib import Path
from typing import Annotated

import typer

from loadstone.planning.completion import reports


def report(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="Read the record of this run.")],
    form: Annotated[
        str,
        typer.Option(
            "--format",
            "-f",
            metavar="NAME",
            help="Write html, md, csv, json or parquet.",
            autocompletion=reports,
        ),
    ] = "html",
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="Write this file; - is stdout. By default html and parquet go to a file beside"
            " the record, and all else to stdout.",
        ),
    ] = None,
) -> int:
    """Turn a record into a report.

    The record is only read, also while its run goes on. The path of a file is printed.
    """
    import sys

    from loadstone import registry
    from loadstone.diagnostics import show_result
    from loadstone.record import read_chapters
    from loadstone.text.files import check_replaceable, write_atomically

    renderer = registry.load_report(form)()
    data = renderer.of(read_chapters(record))
    if out == Path("-") or (out is None and renderer.printable):
        sys.stdout.buffer.write(data)
        sys.stdout.buffer.flush()
        return 0
    target = out or record.with_suffix(renderer.suffix)
    check_replaceable(target, renderer.mark, record)
    write_atomically(target, data)
    show_result(str(target))
    return 0
