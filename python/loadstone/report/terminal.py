"""The terminal after a run: its summary on one screen (stdout)."""

from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone.record.changed_answers import changed_in, sentence
from loadstone.record.model import Run
from loadstone.report.legible import legible_run
from loadstone.report.screen import screen_of

if TYPE_CHECKING:
    from rich.console import Console, RenderableType


def print_summary(
    runs: Run | Sequence[Run],
    record: Path,
    page: Path | None = None,
    console: "Console | None" = None,
) -> None:
    """The page's order on one screen, on stdout: the verdict, the summary by groups, failures,
    growth, terms, and the next steps. Of several benchmarks the verdict on all, then each."""
    run = runs if isinstance(runs, Run) else runs[0]
    reported: Any = run
    parts: Callable[..., Iterable[RenderableType]]
    if not isinstance(runs, Run) and len(runs) > 1:
        from loadstone.report.terminal_summary import chapters_summary as parts

        reported = runs
    elif run.plan.study is not None:
        from loadstone.report.terminal_study import study_summary as parts
    else:
        from loadstone.report.terminal_summary import summary as parts

    target = console or screen_of(stderr=False)
    for one in runs if not isinstance(runs, Run) else [runs]:
        for changed in changed_in(legible_run(one, lines=False)):
            target.print(sentence(changed), style="bold red")
    for part in parts(reported, record, page):
        # Printing a text alone forgets how it wanted to be cut.
        target.print(
            part, no_wrap=getattr(part, "no_wrap", None), overflow=getattr(part, "overflow", None)
        )
