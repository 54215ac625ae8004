"""A run or a study as a person starts it: its progress on the terminal, and at the end the page,
the summary and the exit code. The measuring itself is in `run/session.py`."""

import shlex
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from loadstone import interruption, registry
from loadstone.diagnostics import Exit, exit_of, masked, say
from loadstone.errors import InputError, RecordError
from loadstone.plan.plan import Cell
from loadstone.plan.role import Role
from loadstone.plan.variant import engine_of, is_aa_control
from loadstone.planning.planner import NULL_ENGINE
from loadstone.record import Run, read_chapters
from loadstone.record.changed_answers import changed_in
from loadstone.record.users import UsersPoint
from loadstone.report.terminal import print_summary
from loadstone.report.terminal_progress import Progress
from loadstone.report.terminal_study import StudyProgress
from loadstone.run import session
from loadstone.run.planned import Planned
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.resumption import refuse_other_choices, resuming
from loadstone.run.session import Ended
from loadstone.studies.view import has_undisturbed_effect
from loadstone.text.files import check_replaceable, write_atomically
from loadstone.text.numbers import listing, plural

if TYPE_CHECKING:
    from loadstone.report.base import Report


def command() -> str:
    """The user's command line, without secrets."""
    return masked(shlex.join(["loadstone", *sys.argv[1:]]))


def start(planned: Planned | Sequence[Planned], path: Path | None, *, page: bool) -> int:
    """Run a plan, or several one after the other, into a new record. Returns the exit code."""
    chapters = [planned] if isinstance(planned, Planned) else [*planned]
    path = path or session.record_path(chapters)
    return _finish(path, measure(chapters, path, page=page), page=page)


def measure(
    chapters: Sequence[Planned], path: Path, *, page: bool, as_command: str | None = None
) -> Ended:
    """Run plans one after the other into a new record; nothing is printed of what was found.
    `as_command`: the command that does the same, where the caller is no command line."""
    if page:
        _page_of(path)  # before anything is measured: what is in its way is reported now
    return session.measure(chapters, path, _listener, as_command or command())


def resume(path: Path, chosen: Mapping[str, Any], *, page: bool) -> int:
    """Continue an interrupted or killed run; `chosen` may name variants again (`on`). Returns the
    exit code."""
    refuse_other_choices(chosen)
    if page:
        _page_of(path)
    ended = session.resume(path, chosen.get("on", ()), _listener, command())
    if ended is None:
        say(f"{path} is complete: nothing to do")
    return _finish(path, ended or Ended(), page=page)


def _listener(
    planned: Planned, cells: Sequence[Cell], users: Sequence[UsersPoint], total: int
) -> ProgressListener:
    """The listener that shows on the terminal what the runner reports."""
    words = planned.benchmark.presentation()
    if planned.plan.study is not None:
        study = StudyProgress(planned.plan, words, total)
        listener = _showing(study)
        listener.on_effects = study.on_effects
        return listener
    progress = Progress(planned.plan, words, total)
    listener = _showing(progress)
    if planned.is_open:
        listener.on_executed = lambda executed: progress.on_expected(
            planned.seconds_left(cells, executed, users)
        )
    return listener


def _showing(progress: Progress) -> ProgressListener:
    def on_status(text: str) -> None:
        interruption.check()
        progress.on_status(text)

    return ProgressListener(on_status, progress.on_result, open=progress.open, close=progress.close)


def _page_of(path: Path) -> Path:
    """The path of a record's page. Raises `InputError` if something else is there."""
    report: type[Report] = registry.load_report("html")
    if not path.name or path.suffix == report.suffix:
        raise InputError(
            f"the record {path} and its page cannot have the same name",
            hint="name another record with --record, or leave out the page: --no-report",
        )
    target = path.with_suffix(report.suffix)
    check_replaceable(target, report.mark, path)
    return target


def _write_page(path: Path, runs: Sequence[Run]) -> Path | None:
    """Write a record's page; where it would be too long, say so: the record is what counts."""
    target = _page_of(path)
    try:
        report: type[Report] = registry.load_report("html")
        content = report().of(runs)
    except RecordError as error:
        say(f"loadstone: no page was written: {error.message}")
        say(f"  {error.hint}")
        return None
    write_atomically(target, content, hint="make room there, or leave it out: --no-report")
    return target


def conclude(path: Path, ended: Ended, *, page: bool) -> int:
    """Write the page of a record whose figures another command shows. Returns `Exit.OK` where it
    was measured to its end, and nothing is left behind."""
    runs = read_chapters(path)
    if page:
        _write_page(path, runs)
    if ended.outcome == "interrupted":
        say(f"interrupted; continue with: loadstone {resuming(path, 'run')}")
        return Exit.INTERRUPTED
    return Exit.LEFT_BEHIND if ended.left else Exit.OK


def _finish(path: Path, ended: Ended, *, page: bool) -> int:
    runs = read_chapters(path)
    target = _write_page(path, runs) if page else None
    print_summary(runs, path, target)
    run = runs[0]
    if ended.outcome == "interrupted":
        kind = "run" if run.plan.study is None else "study"
        say(f"interrupted; continue with: loadstone {resuming(path, kind)}")
        return Exit.INTERRUPTED
    if run.plan.study is not None and run.pending:
        _say_left(run, path)
    judged = [_judged(one) for one in runs]
    # Whatever the cells are: somebody has to look into that database.
    if ended.left:
        return Exit.LEFT_BEHIND
    if ended.error is not None:
        say(f"to measure the missing cells: loadstone {resuming(path, 'run')}")
        return exit_of(ended.error)
    return min(judged, key=_WORST.index)


_WORST = (
    Exit.ANSWER_CHANGED,
    Exit.CELLS_FAILED,
    Exit.NOTHING_USABLE,
    Exit.OK,
    Exit.NOTHING_MEASURED,
)
"""Exit codes of a run: that of several benchmarks has the first that one of them has."""


def _say_left(run: Run, path: Path) -> None:
    """A study's time is over before all its operations have begun."""
    left = dict.fromkeys((cell.operation, cell.rows) for cell in run.pending)
    names = listing(f"{name} at {rows:,}" for name, rows in left)
    say(f"loadstone: {run.plan.within_s:g} s were over before {plural(len(left), 'operation')} had"
        f" begun: {names}")  # fmt: skip
    say(f"  measure more: loadstone {resuming(path, 'study')}; or give it --seconds")


def _judged(run: Run) -> int:
    """The exit code of a complete run. Only engines' figures make a run usable; a study's figures
    are its effects, and its cells those of its combinations, whatever its engine is."""
    about = (Role.COMPETITOR, Role.LIMIT)
    study = run.plan.study is not None
    counts = Counter(
        result.status
        for result in run.results
        for variant in [result.cell.variant]
        if run.plan.role_of(variant) in about
        or (study and engine_of(variant) != NULL_ENGINE and not is_aa_control(variant))
    )
    loops = [point for point in run.users if run.plan.role_of(point.variant) in about]
    counts += Counter(point.status for point in loops)
    if changed_in(run):
        return Exit.ANSWER_CHANGED
    if counts["failed"]:
        return Exit.CELLS_FAILED
    if refused := [point for point in loops if point.has_failed_requests]:
        count = plural(sum(point.failed for point in refused), "request")
        say(f"loadstone: {count} of users failed, in {plural(len(refused), 'loop')}; the first:"
            f" {refused[0].reason}")  # fmt: skip
        return Exit.CELLS_FAILED
    if counts["gap"] == counts.total() > 0:
        reasons = dict.fromkeys(each.reason for each in run.results if each.status == "gap")
        say(
            f"loadstone: nothing was measured: every cell is a declared gap ({next(iter(reasons))})"
        )
        return Exit.NOTHING_MEASURED
    no_figure = ("disturbed", "invalid", "censored", "spared")
    kinds = [status for status in counts if study or status in no_figure]
    if has_undisturbed_effect(run) if study else counts["ok"] or not kinds:
        return Exit.OK
    said = " and ".join(f"{counts[status]:,} {status}" for status in kinds)
    what = "effect of this study has a figure in order" if study else "figure of this run is usable"
    say(f"loadstone: no {what}: {said or 'no cell'}")
    return Exit.NOTHING_USABLE
