"""`loadstone bless`: the answers of a record become the expected ones of its workload."""

from pathlib import Path
from typing import Annotated

import typer


def bless(
    record: Annotated[Path, typer.Argument(metavar="RECORD", help="Read the record of this run.")],
    replace: Annotated[
        bool,
        typer.Option("--replace", help="Overwrite a stored answer that the record contradicts."),
    ] = False,
) -> int:
    """Store the answers of a run of your own workload.

    Look at the run first: from then on its answers are the expected ones, also of an engine alone.
    They are written to expected.json beside workload.toml. Where another answer is stored there,
    nothing is written, and both are shown; --replace stores the record's.
    """
    from loadstone.diagnostics import show_result
    from loadstone.record import read
    from loadstone.workload.expected import bless as stored

    show_result(stored(read(record), replace=replace))
    return 0
