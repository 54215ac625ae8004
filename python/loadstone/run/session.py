"""One session of a run: take a plan, or that of a record, measure, write the report."""

import re
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path
from typing import Any

from loadstone import __version__, interruption, registry
from loadstone._core import clock_ns
from loadstone.diagnostics import Exit, exit_of, masked, say, say_error
from loadstone.errors import (
    EngineError,
    InputError,
    LoadstoneError,
    RecordError,
    TimeLimitError,
    UnsupportedError,
    WorkerDiedError,
)
from loadstone.plan.plan import Cell
from loadstone.plan.role import Role
from loadstone.plan.variant import engine_of, is_aa_control
from loadstone.planning.planner import NULL_ENGINE, check_plan
from loadstone.record import Recorder, Run, read_chapters
from loadstone.record.changed_answers import changed_in
from loadstone.record.model import LEFT_BEHIND, NOT_MEASURED, Event
from loadstone.record.users import UsersPoint
from loadstone.record.writer import RUNS, Chapter, begin, now, refuse_existing
from loadstone.report.terminal import print_summary
from loadstone.report.terminal_progress import Progress
from loadstone.report.terminal_study import StudyProgress
from loadstone.run import builds, scratch
from loadstone.run.data_room import larger_than_memory
from loadstone.run.interrupts import Interrupts
from loadstone.run.planned import Planned, Variants, announced, announced_all, variant_of
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.resumption import (
    is_left,
    refuse_other_choices,
    refuse_other_variants,
    resuming,
)
from loadstone.run.runner import Runner, disturbed_groups, overdue_statements, published_of
from loadstone.run.variant_worker import VariantWorker
from loadstone.study.view import has_undisturbed_effect
from loadstone.text.files import check_replaceable, write_atomically
from loadstone.text.numbers import listing, plural

OF_AN_ENGINE = (EngineError, UnsupportedError, WorkerDiedError, TimeLimitError)
"""Errors that end one benchmark and not those after it."""


@dataclass(frozen=True, slots=True)
class Due:
    """One benchmark's part of a session."""

    planned: Planned
    cells: Sequence[Cell]
    record: Callable[[], Recorder]
    earlier: Run | None = None
    """Its part of the record, where it is resumed."""
    begun: bool = True
    """Whether the record exists before it is measured."""

    @property
    def users(self) -> Sequence[UsersPoint]:
        """The loops that the record holds."""
        return self.earlier.users if self.earlier is not None else ()


@dataclass(slots=True)
class Ended:
    """The way in which a session, or one benchmark of it, ended."""

    outcome: str = "complete"
    """Or `interrupted`, or `failed`: an engine could not be worked with."""
    left: list[str] = field(default_factory=list)
    """Messages about leftovers."""
    error: LoadstoneError | None = None
    """The first error of an engine that ended a benchmark."""


def command() -> str:
    """The user's command line, without secrets."""
    return masked(shlex.join(["loadstone", *sys.argv[1:]]))


def start(planned: Planned | Sequence[Planned], path: Path | None, *, page: bool) -> int:
    """Run a plan, or several one after the other, into a new record. Returns the exit code."""
    chapters = [planned] if isinstance(planned, Planned) else [*planned]
    path = path or record_path(chapters)
    return _finish(path, measure(chapters, path, page=page), page=page)


def record_path(chapters: Sequence[Planned]) -> Path:
    """The place where a run's record lies that nobody named: an empty file that is there now, so
    that no run that begins within the same second takes it, too."""
    moment = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
    first = chapters[0].plan
    named = re.sub("[^A-Za-z0-9.-]+", "-", first.benchmark).strip("-.") or "workload"
    about = f"{named}-{first.edition}" if len(chapters) == 1 else "all"
    for number in count(1):
        suffix = f"-{number}" if number > 1 else ""
        path = RUNS / f"{about}-{moment}{suffix}.loadstone"
        try:
            RUNS.mkdir(exist_ok=True)
            path.touch(exist_ok=False)
        except FileExistsError as error:
            if not RUNS.is_dir():
                raise _no_record(path, error) from error
            continue
        except OSError as error:
            raise _no_record(path, error) from error
        return path
    raise AssertionError("numbers have no end")


def _no_record(path: Path, error: OSError) -> RecordError:
    return RecordError(
        f"cannot write the record {path}: {error.strerror}",
        hint="make room, or name another place with --record; then start the run again",
    )


def _give_back(path: Path) -> None:
    """Remove a record's file that no run began to fill: a name that `record_path` took."""
    if path.parent == RUNS and path.is_file() and not path.stat().st_size:
        path.unlink()


def measure(
    chapters: Sequence[Planned], path: Path, *, page: bool, reported: str | None = None
) -> Ended:
    """Run plans one after the other into a new record; nothing is printed of what was found.
    `reported`: the command that does the same, where the caller is no command line."""
    reported = reported or command()
    if page:
        _page_of(path)  # before anything is measured: what is in its way is reported now
    refuse_existing(path)  # before an engine is started for nothing
    run_id = secrets.token_hex(4)
    for sentence in filter(None, map(larger_than_memory, chapters)):
        say(sentence)
    if len(chapters) > 1:
        say(announced_all(chapters, path))

    def create() -> Recorder:
        begin(path, [_chapter(one) for one in chapters], run_id, __version__)
        return Recorder.resume(path, reported)

    due = [
        Due(one, one.plan.cells, partial(Recorder.resume, path, reported, number))
        for number, one in enumerate(chapters)
    ]
    due[0] = Due(chapters[0], chapters[0].plan.cells, create, begun=False)
    try:
        with Interrupts() as interrupts, scratch.claimed(run_id) as claim:
            return _measure_each(due, path, claim, interrupts, several=len(chapters) > 1)
    finally:
        _give_back(path)


def not_starting(planned: Planned) -> dict[str, LoadstoneError]:
    """The variants of a plan whose engine does not start, each with its error."""
    found: dict[str, LoadstoneError] = {}
    with Interrupts(), scratch.claimed(secrets.token_hex(4)) as claim:
        for name, (variant, kind) in planned.variants.items():
            worker = VariantWorker((variant,), kind, claim, planned.plan, planned.benchmark)
            try:
                builds.prepare([(variant, kind)])
                worker.open()
            except OF_AN_ENGINE as error:
                found[name] = error
            finally:
                worker.close()
    return found


def _chapter(planned: Planned) -> Chapter:
    benchmark = planned.benchmark
    return Chapter(planned.plan, published_of(benchmark), benchmark.presentation())


def resume(path: Path, chosen: Mapping[str, Any], *, page: bool) -> int:
    """Continue an interrupted or killed run with the plans that its record holds.

    `chosen` may name variants again (`on`), because a record holds no URL and no password.
    """
    refuse_other_choices(chosen)
    runs = read_chapters(path)
    refuse_other_variants(path, runs, chosen.get("on", ()))
    if page:
        _page_of(path)
    benchmarks = [registry.benchmark_of_plan(run.plan) for run in runs]
    for run, benchmark in zip(runs, benchmarks, strict=True):
        check_plan(run.plan, benchmark)
    if not any(map(is_left, runs, benchmarks)):
        say(f"{path} is complete: nothing to do")
        return _finish(path, Ended(), page=page)
    on = chosen.get("on", ())
    planned = [
        Planned(run.plan, own, _variants_again(run, on, own.seam, alone=len(runs) == 1))
        for run, own in zip(runs, benchmarks, strict=True)
    ]
    with Interrupts() as interrupts, scratch.claimed(runs[0].run_id, resumed=True) as claim:
        # Asked again: until the claim was ours, another session may have measured.
        due = [
            Due(
                planned[number], run.pending, partial(Recorder.resume, path, command(), number), run
            )
            for number, run in enumerate(read_chapters(path))
            if is_left(run, benchmarks[number])
        ]
        ended = _measure_each(due, path, claim, interrupts, several=len(runs) > 1)
    return _finish(path, ended, page=page)


def _variants_again(run: Run, on: Sequence[str], seam: str, *, alone: bool = True) -> Variants:
    """The variants of a plan. Those named again may be of another benchmark of its record."""
    known = {}
    for text in on:
        try:
            variant, kind = variant_of(text, seam)
        except InputError:
            if alone:
                raise
            continue
        known[variant.name] = variant, kind
    for name in run.plan.variants:
        if name not in known and "://" in name:
            raise InputError(
                f"the record does not hold the URL of {name}", hint="name it again with --on"
            )
        if name not in known:
            known[name] = variant_of(name, seam)
    return {name: known[name] for name in run.plan.variants}


def _measure_each(
    due: Iterable[Due], path: Path, claim: scratch.Claim, interrupts: Interrupts, *, several: bool
) -> Ended:
    """Measure one benchmark after the other. Of several one that an engine ends is recorded as not
    measured, and the next one begins."""
    whole = Ended()
    for one in due:
        if several or one.earlier is None:
            say(announced(one.planned, path, one.cells if one.earlier else None, one.users))
        ended = _measure(one, claim, interrupts, several=several)
        whole.left += ended.left
        whole.error = whole.error or ended.error
        if ended.error is not None:
            say_error(ended.error)
        whole.outcome = ended.outcome
        if ended.outcome == "interrupted":
            break
    return whole


def _measure(due: Due, claim: scratch.Claim, interrupts: Interrupts, *, several: bool) -> Ended:
    """Measure one benchmark. An engine's error is raised where it is the only one."""
    planned, earlier = due.planned, due.earlier
    builds.prepare(planned.variants.values())
    disturbed = disturbed_groups(earlier, planned.benchmark) if earlier else []
    total = len(due.cells) + sum(map(len, disturbed))
    shown = StudyProgress if planned.plan.study is not None else Progress
    progress = shown(planned.plan, planned.benchmark.presentation(), total)

    listener = _listener(due, progress)
    runner = Runner(
        planned.plan, due.cells, planned.benchmark, planned.variants, claim, listener,
        due.users, disturbed,
        overdue_statements(earlier) if earlier else {},
    )  # fmt: skip
    start_ns = clock_ns()
    ended = Ended("failed")
    recorder: Recorder | None = None
    try:
        with interruption.Recognised():
            interrupts.measuring()
            progress.open()
            runner.open()
            recorder = due.record()
            runner.run(recorder)
        ended.outcome = "complete"
    except KeyboardInterrupt:
        if recorder is None and not due.begun:
            raise
        ended.outcome = "interrupted"
    except OF_AN_ENGINE as error:
        if not several:
            raise
        ended.error = error
        recorder = recorder or due.record()
        recorder.event(Event(now(), NOT_MEASURED, "", masked(error.message)))
    finally:
        is_interrupted = ended.outcome == "interrupted"
        for name, reported in _ended(runner, progress, interrupts, is_interrupted).items():
            say(reported)
            ended.left.append(reported)
            if recorder is not None:
                recorder.event(Event(now(), LEFT_BEHIND, name, reported))
        if recorder is not None:
            recorder.end(ended.outcome, clock_ns() - start_ns)
    return ended


def _listener(due: Due, progress: Progress) -> ProgressListener:
    """The listener that has `progress` show what the runner reports."""

    def on_status(text: str) -> None:
        interruption.check()
        progress.on_status(text)

    listener = ProgressListener(on_status, progress.on_result)
    if isinstance(progress, StudyProgress):
        listener.on_effects = progress.on_effects
    elif due.planned.is_open:
        listener.on_executed = lambda executed: progress.on_expected(
            due.planned.seconds_left(due.cells, executed, due.users)
        )
    return listener


def _page_of(path: Path) -> Path:
    """The path of a record's page. Raises `InputError` if something else is there."""
    report = registry.load_report("html")
    if not path.name or path.suffix == report.suffix:
        raise InputError(
            f"the record {path} and its page cannot have the same name",
            hint="name another record with --record, or leave out the page: --no-report",
        )
    target = path.with_suffix(report.suffix)
    check_replaceable(target, report.mark, path)
    return target


def _ended(
    runner: Runner, progress: Progress, interrupts: Interrupts, is_interrupted: bool
) -> dict[str, str]:
    """End all workers, in good order unless the user interrupts again. Returns messages about
    leftovers."""
    try:
        with interruption.Recognised(), interrupts.removing():
            progress.close()
            if is_interrupted:
                # Statements are ended, but a client's program and large data take their time.
                say("interrupted: waiting until the engines have removed their data")
                say("  (once more ends them at once)")
            return runner.close()
    except KeyboardInterrupt:
        say("interrupted again: the workers are ended at once")
        return runner.kill()


def _write_page(path: Path, runs: Sequence[Run]) -> Path | None:
    """Write a record's page; where it would be too long, say so: the record is what counts."""
    target = _page_of(path)
    try:
        content = registry.load_report("html")().of(runs)
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
