"""One session of a run: the plans of its benchmarks, new or of a record, measured one by one."""

import re
import secrets
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from itertools import count
from pathlib import Path

from loadstone import __version__, interruption, registry
from loadstone._core import clock_ns
from loadstone.diagnostics import masked, say, say_error
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
from loadstone.planning.planner import check_plan
from loadstone.record import Recorder, Run, read_chapters
from loadstone.record.model import LEFT_BEHIND, NOT_MEASURED, Event
from loadstone.record.users import UsersPoint
from loadstone.record.writer import RUNS, Chapter, begin, now, refuse_existing
from loadstone.run import builds, scratch
from loadstone.run.data_room import larger_than_memory
from loadstone.run.interrupts import Interrupts
from loadstone.run.planned import Planned, Variants, announced, announced_all, variant_of
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.resumption import (
    is_left,
    refuse_other_variants,
)
from loadstone.run.runner import Runner, disturbed_groups, overdue_statements, published_of
from loadstone.run.variant_worker import VariantWorker

OF_AN_ENGINE = (EngineError, UnsupportedError, WorkerDiedError, TimeLimitError)
"""Errors that end one benchmark and not those after it."""

Watch = Callable[[Planned, Sequence[Cell], Sequence[UsersPoint], int], ProgressListener]
"""Makes the listener for one benchmark: its plan, the cells that are due, the loops that its record
holds, and the number of results to come."""


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


def measure(chapters: Sequence[Planned], path: Path, watch: Watch, command: str) -> Ended:
    """Run plans one after the other into a new record. `command`: the one that does the same."""
    refuse_existing(path)  # before an engine is started for nothing
    run_id = secrets.token_hex(4)
    for sentence in filter(None, map(larger_than_memory, chapters)):
        say(sentence)
    if len(chapters) > 1:
        say(announced_all(chapters, path))

    def create() -> Recorder:
        begin(path, [_chapter(one) for one in chapters], run_id, __version__)
        return Recorder.resume(path, command)

    due = [
        Due(one, one.plan.cells, partial(Recorder.resume, path, command, number))
        for number, one in enumerate(chapters)
    ]
    due[0] = Due(chapters[0], chapters[0].plan.cells, create, begun=False)
    try:
        with Interrupts() as interrupts, scratch.claimed(run_id) as claim:
            return _measure_each(due, path, claim, interrupts, watch, several=len(chapters) > 1)
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


def resume(path: Path, on: Sequence[str], watch: Watch, command: str) -> Ended | None:
    """Continue an interrupted or killed run with the plans that its record holds; None where
    nothing is left to be done. `on` names variants again, because a record holds no URL and no
    password."""
    runs = read_chapters(path)
    refuse_other_variants(path, runs, on)
    benchmarks = [registry.benchmark_of_plan(run.plan) for run in runs]
    for run, benchmark in zip(runs, benchmarks, strict=True):
        check_plan(run.plan, benchmark)
    if not any(map(is_left, runs, benchmarks)):
        return None
    planned = [
        Planned(run.plan, own, _variants_again(run, on, own.seam, alone=len(runs) == 1))
        for run, own in zip(runs, benchmarks, strict=True)
    ]
    with Interrupts() as interrupts, scratch.claimed(runs[0].run_id, resumed=True) as claim:
        # Asked again: until the claim was ours, another session may have measured.
        due = [
            Due(planned[number], run.pending, partial(Recorder.resume, path, command, number), run)
            for number, run in enumerate(read_chapters(path))
            if is_left(run, benchmarks[number])
        ]
        return _measure_each(due, path, claim, interrupts, watch, several=len(runs) > 1)


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
    due: Iterable[Due],
    path: Path,
    claim: scratch.Claim,
    interrupts: Interrupts,
    watch: Watch,
    *,
    several: bool,
) -> Ended:
    """Measure one benchmark after the other. Of several one that an engine ends is recorded as not
    measured, and the next one begins."""
    whole = Ended()
    for one in due:
        if several or one.earlier is None:
            say(announced(one.planned, path, one.cells if one.earlier else None, one.users))
        ended = _measure(one, claim, interrupts, watch, several=several)
        whole.left += ended.left
        whole.error = whole.error or ended.error
        if ended.error is not None:
            say_error(ended.error)
        whole.outcome = ended.outcome
        if ended.outcome == "interrupted":
            break
    return whole


def _measure(
    due: Due, claim: scratch.Claim, interrupts: Interrupts, watch: Watch, *, several: bool
) -> Ended:
    """Measure one benchmark. An engine's error is raised where it is the only one."""
    planned, earlier = due.planned, due.earlier
    builds.prepare(planned.variants.values())
    disturbed = disturbed_groups(earlier, planned.benchmark) if earlier else []
    total = len(due.cells) + sum(map(len, disturbed))
    listener = watch(planned, due.cells, due.users, total)
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
            listener.open()
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
        for name, reported in _ended(runner, listener, interrupts, is_interrupted).items():
            say(reported)
            ended.left.append(reported)
            if recorder is not None:
                recorder.event(Event(now(), LEFT_BEHIND, name, reported))
        if recorder is not None:
            recorder.end(ended.outcome, clock_ns() - start_ns)
    return ended


def _ended(
    runner: Runner, listener: ProgressListener, interrupts: Interrupts, is_interrupted: bool
) -> dict[str, str]:
    """End all workers, in good order unless the user interrupts again. Returns messages about
    leftovers."""
    try:
        with interruption.Recognised(), interrupts.removing():
            listener.close()
            if is_interrupted:
                # Statements are ended, but a client's program and large data take their time.
                say("interrupted: waiting until the engines have removed their data")
                say("  (once more ends them at once)")
            return runner.close()
    except KeyboardInterrupt:
        say("interrupted again: the workers are ended at once")
        return runner.kill()
