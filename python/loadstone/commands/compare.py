"""`loadstone compare`: two records, or two variants of one, beside each other on equal terms."""

from pathlib import Path
from typing import Annotated

import typer


def compare(
    a: Annotated[Path, typer.Argument(metavar="A", help="Take this record as the baseline.")],
    b: Annotated[
        Path | None, typer.Argument(metavar="B", help="Compare this record with it.")
    ] = None,
    variants: Annotated[
        tuple[str, str] | None,
        typer.Option(
            metavar="A-VARIANT B-VARIANT",
            help="Compare these two: one of A and one of B, or both of A. By default each variant"
            " with itself. An engine's name is enough where it has one variant.",
        ),
    ] = None,
    fail_on: Annotated[
        str, typer.Option(metavar="SHARE", help="Fail on slowdowns beyond this share.")
    ] = "3%",
    across: Annotated[
        list[str] | None,
        typer.Option(
            metavar="TERM",
            help="Compare although this term differs: durability, machine …; repeatable.",
        ),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help="Print a table, md or json.")
    ] = "table",
) -> int:
    """Compare two records, or variants of one.

    Cells are compared that measured one operation of a benchmark at one scale and temperature, on
    equal terms. Records are only read.

    Exit codes: 0 no regression in any cell; 11 an answer changed; 1 a regression; 9 undecided, some
    cell may be slower; 5 nothing could be compared; 6 some cells failed in B, or could not be
    compared though both planned them; 2 and 4 an error.
    """
    import sys

    from loadstone.analysis.compare.chapters import compare_chapters
    from loadstone.analysis.compare.compare import NO_REGRESSION
    from loadstone.diagnostics import EXIT_OF_COMPARISON, say
    from loadstone.errors import InputError
    from loadstone.record import read_chapters
    from loadstone.report.comparison import formats, wording
    from loadstone.run.naming import pair_in
    from loadstone.text.parsing import share

    if form not in formats.FORMATS:
        known = ", ".join(formats.FORMATS)
        raise InputError(f"no format {form!r}", hint=f"--format takes: {known}")
    threshold = share(fail_on, "--fail-on")
    first, second = read_chapters(a), read_chapters(b) if b else None
    found = compare_chapters(
        first,
        second,
        variants=pair_in(first, second, variants),
        threshold=threshold,
        across=across or (),
    )
    formats.write_chapters(found, form, sys.stdout)
    if found.outcome != NO_REGRESSION:
        say(f"loadstone: {found.outcome}")
        reported = (wording.advice(comparison) for _, comparison in found.comparisons)
        for advice in dict.fromkeys(filter(None, reported)):
            say(f"  {advice}")
    return EXIT_OF_COMPARISON[found.outcome]
