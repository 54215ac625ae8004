"""`loadstone log`: the records of a folder, what each found, and what changed between them."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadstone.analysis.history import History
    from loadstone.record.model import Run

FORMATS = ("table", "md", "json", "html")


def log(
    folder: Annotated[
        Path, typer.Argument(metavar="FOLDER", help="Read the records of this folder.")
    ] = Path("runs"),
    operations: Annotated[
        list[str] | None,
        typer.Option(
            "--operation",
            metavar="NAME",
            help="Show only trends of this operation, or of all like 'join-*'; repeatable.",
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option(metavar="SHARE", help="Count a difference beyond this share as a change.")
    ] = "5%",
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help="Print a table, md, json or html.")
    ] = "table",
    out: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Write to this file, not to stdout.")
    ] = None,
) -> int:
    """List the records of a folder, what each found, and what changed.

    Each cell is followed from record to record. A change is a figure that certainly differs, by
    more than --fail-on, from the first figure since the last change. Records of other machines or
    on other terms are not compared. Records are only read; other files are named and left out.
    """
    from loadstone.analysis import history as analysis
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError
    from loadstone.report import history as text
    from loadstone.text.files import check_replaceable, write_atomically
    from loadstone.text.parsing import share

    if form not in FORMATS:
        raise InputError(f"no format {form!r}", hint=f"--format takes: {', '.join(FORMATS)}")
    records, left_out = _read(folder)
    found = analysis.history(records, share(fail_on, "--fail-on"), left_out)
    if operations:
        found = _of_operations(found, operations)
    if form == "table" and out is None:
        from loadstone.report import terminal_history

        terminal_history.show(found)
        return 0
    mark = None
    if form == "html":
        from loadstone.report import history_page

        content, mark = history_page.render(found), history_page.MARK
    else:
        content = (text.as_json(found) + "\n" if form == "json" else text.markdown(found)).encode()
    if out is None:
        show_result(content.decode().rstrip("\n"))
        return 0
    check_replaceable(out, mark, folder)
    write_atomically(out, content)
    show_result(str(out))
    return 0


def _of_operations(found: "History", operations: "Sequence[str]") -> "History":
    """The history with only the trends of these. Raises `InputError` where there are none."""
    from dataclasses import replace
    from fnmatch import fnmatchcase

    from loadstone.errors import InputError
    from loadstone.plan.plan import join_names
    from loadstone.text.near import did_you_mean

    known = list(dict.fromkeys(trend.operation for trend in found.trends))
    wanted = {name for name in known for like in operations if fnmatchcase(name, like)}
    if known and not wanted:
        raise InputError(
            f"no operation that two records have is like {join_names(operations)!r}",
            hint=f"{did_you_mean(operations[0], known, most=1)}they have {join_names(known)}",
        )
    return replace(found, trends=tuple(one for one in found.trends if one.operation in wanted))


def _read(
    folder: Path,
) -> "tuple[Sequence[tuple[Path, Sequence[Run]]], Sequence[tuple[Path, str]]]":
    """The folder's records, and the files that are none. Raises `InputError` where there is no
    record."""
    from loadstone.diagnostics import say
    from loadstone.errors import InputError, RecordError
    from loadstone.record import read_chapters

    if not folder.is_dir():
        raise InputError(
            f"there is no folder {folder}", hint="loadstone run writes its records to runs"
        )
    records, left_out = [], []
    for path in sorted(folder.glob("*.loadstone")):
        try:
            records.append((path, read_chapters(path)))
        except RecordError as error:
            say(f"loadstone: left out: {error.message}")
            left_out.append((path, error.message))
    if not records:
        raise InputError(f"there is no record in {folder}", hint="records end in .loadstone")
    return records, left_out
