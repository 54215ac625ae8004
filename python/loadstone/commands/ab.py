"""`loadstone ab`: before and after a change, interleaved in one run, and a verdict for a CI job."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadstone.commands.run import Page, PlanFile, PlanOnly, Record, made, taking
from loadstone.plan.choices import OF_LOOPS, RUN
from loadstone.planning.completion import engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadstone.run.planned import Planned

PRECISION_MOST = 0.015


@taking(RUN, without=("on", "precision", "overhead", *OF_LOOPS))
def ab(
    *,
    before: Annotated[
        str,
        typer.Option(
            metavar="VARIANT", help="Take this variant as the baseline.", autocompletion=engines
        ),
    ],
    after: Annotated[
        str,
        typer.Option(
            metavar="VARIANT",
            help="Compare this variant with it: another release (duckdb@2.0.0), a build"
            " (duckdb@venv:PATH, postgresql@PATH), or other tactics.",
            autocompletion=engines,
        ),
    ],
    fail_on: Annotated[
        str, typer.Option(metavar="SHARE", help="Fail on slowdowns beyond this share.")
    ] = "5%",
    across: Annotated[
        list[str] | None,
        typer.Option(metavar="TERM", help="Compare although this term differs; repeatable."),
    ] = None,
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help="Print a table, md or json.")
    ] = "table",
    plan: PlanFile = None,
    record: Record = None,
    dry_run: PlanOnly = False,
    page: Page = True,
    **given: Any,
) -> int:
    """Measure a change, before and after, for a CI job.

    Both variants run interleaved in one run, warm unless --temperature says otherwise, and are
    compared as by `loadstone compare`; a tactic that one of them names may differ. Without
    --operation: the quick preset's operations, each repeated for 5 s while it is undecided.

    Exit codes: 0 no regression: every cell excludes one; 11 an answer changed; 1 a regression; 9
    undecided: some cell may be slower; 5 nothing could be compared; 6 some cell failed or could not
    be compared; 2, 3 and 4 an error; 130 interrupted.
    """
    from loadstone import measuring
    from loadstone.diagnostics import Exit, say, show_result
    from loadstone.errors import InputError
    from loadstone.report.comparison import formats
    from loadstone.run import planned, session
    from loadstone.run.interrupts import Interrupts
    from loadstone.text.parsing import share

    if form not in formats.FORMATS:
        known = ", ".join(formats.FORMATS)
        raise InputError(f"no format {form!r}", hint=f"--format takes: {known}")
    threshold = share(fail_on, "--fail-on")
    try:
        with Interrupts():
            both = _planned(before, after, made(given), plan, threshold)
            if dry_run:
                show_result(planned.describe(both))
                return 0
            path = record or session.record_path([both])
            ended = measuring.measure([both], path, page=page)
    except KeyboardInterrupt:
        say("loadstone: interrupted")
        return Exit.INTERRUPTED
    code = measuring.conclude(path, ended, page=page)
    return code or _judged(path, both, threshold, across or (), form)


def _planned(
    before: str, after: str, chosen: dict[str, Any], plan: Path | None, threshold: float
) -> "Planned":
    """The plan of both variants."""
    from loadstone.errors import InputError
    from loadstone.plan.written_choices import read_given
    from loadstone.run.planned import COMPARED, plan_from, refuse_loops

    said = {**(read_given(plan) if plan else {}), **chosen}
    if said.get("on"):
        raise InputError(
            f"{plan}: the variants of before and after are options", hint="leave out its `on`"
        )
    refuse_loops(said)
    usual: dict[str, Any] = {
        "temperature": ("warm",),
        "precision": min(PRECISION_MOST, max(threshold / 2, 0.001)),
    }
    if not said.get("operations") and not said.get("sql") and "preset" not in said:
        usual |= COMPARED
    if before.strip() == after.strip():
        raise InputError(
            "before and after are the same variant",
            hint="name another release, build or tactic, or compare two records",
        )
    return plan_from({**usual, **said, "on": (before, after)}, None)


def _judged(
    path: Path, both: "Planned", threshold: float, across: "Sequence[str]", form: str
) -> int:
    """Print the comparison; returns the exit code."""
    import sys

    from loadstone.analysis.compare.chapters import compare_chapters
    from loadstone.analysis.compare.compare import NO_REGRESSION
    from loadstone.diagnostics import EXIT_OF_COMPARISON, say
    from loadstone.plan.plan import join_names
    from loadstone.plan.variant import tactics_of
    from loadstone.record import read_chapters
    from loadstone.report.comparison import formats, wording

    runs = read_chapters(path)
    a, b = both.plan.on[:2]
    meant = {name for one in (a, b) for name in tactics_of(one)}
    found = compare_chapters(
        runs, None, variants=(a, b), threshold=threshold, across=sorted({*across, *meant})
    )
    formats.write_chapters(found, form, sys.stdout)
    say(f"the record: {path}")
    if found.outcome != NO_REGRESSION:
        say(f"loadstone: {found.outcome}")
        reported = (wording.advice(comparison) for _, comparison in found.comparisons)
        for advice in dict.fromkeys(filter(None, reported)):
            say(f"  {advice}")
    without = [
        f"{result.cell.operation} on {result.cell.variant}"
        for run in runs
        for result in run.results
        if result.status in ("failed", "censored") and result.cell.variant in (a, b)
    ]
    if without:
        say(f"loadstone: no figure: {join_names(without)}")
    return EXIT_OF_COMPARISON[found.outcome]
