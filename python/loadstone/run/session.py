"""One session of a run: plan it or take the plan from its record, measure, write the report."""

import dataclasses
import re
import secrets
import shlex
import sys
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from loadstone import __version__, registry, secret
from loadstone._core import clock_ns
from loadstone.analysis.study import has_undisturbed_effect
from loadstone.benchmarks.base import Benchmark
from loadstone.diagnostics import Exit, masked, say
from loadstone.engines.system import System
from loadstone.errors import InputError, LoadstoneError, NotInstalledError, RecordError
from loadstone.plan.choices import COMMAND_LINE, Choices, choices_from, read_given, studied_only
from loadstone.plan.plan import Cell, Plan, join_names
from loadstone.plan.role import Role
from loadstone.plan.variant import Variant, engine_of, is_aa_control, parse_variant
from loadstone.planning.duration import budget_seconds, seconds_estimated
from loadstone.planning.planner import NULL_ENGINE, check_plan, make_plan
from loadstone.planning.study import study_of
from loadstone.record import Recorder, Run, read_chapters
from loadstone.record.model import LEFT_BEHIND, Event
from loadstone.record.writer import Chapter, begin, now, refuse_existing
from loadstone.report.terminal import Progress, print_summary
from loadstone.report.terminal_study import StudyProgress
from loadstone.run import scratch
from loadstone.run.interrupts import Interrupts
from loadstone.run.progress_listener import ProgressListener
from loadstone.run.resumption import is_left, refuse_other_choices, resuming
from loadstone.run.runner import Runner, disturbed_groups, published_of
from loadstone.statistics.paired_ratio import OBSERVATIONS_MIN
from loadstone.text.files import check_replaceable, write_atomically
from loadstone.text.numbers import listing, plural

Variants = Mapping[str, tuple[Variant, type[System]]]

QUICK = {"repeat": 5, "repeat_cold": 1, "rounds": 1}
"""The defaults of the quick preset."""
STUDY = {"preset": "study", "temperature": ("warm",), "rounds": OBSERVATIONS_MIN, "repeat": 1}
"""What the choices of a study are where a run has others: one sample of a cell or more in each
block."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with the parts needed to run it: the benchmark, and each variant with its engine."""

    plan: Plan
    benchmark: Benchmark
    variants: Variants

    def seconds(self, cells: Sequence[Cell] | None = None) -> float:
        """About how long it takes, or these of its cells."""
        engines = {name: engine for name, (_, engine) in self.variants.items()}
        return seconds_estimated(self.plan, self.benchmark, engines, cells)


def plan_from(chosen: Mapping[str, Any], file: Path | None) -> Planned:
    """Options, over the plan file, over the preset's defaults. Raises `InputError`."""
    base: dict[str, Any] = {}
    if file is not None:
        # What it says counts, also where that is the default: a preset may have another.
        base = read_given(file)
    merged = base | dict(chosen)
    if merged.get("preset") == "quick":
        merged = QUICK | merged
    if merged.get("design"):
        merged = STUDY | merged
    choices = choices_from(merged, str(file or COMMAND_LINE))
    _refuse_those_of_a_study(merged, file)
    if choices.sql and "benchmark" in merged:
        raise InputError(
            f"--sql runs no benchmark, and {choices.benchmark} is one", hint="leave out one of them"
        )
    benchmark = registry.chosen_benchmark(choices)
    if choices.design:
        choices = _of_the_paper(choices, benchmark)
    parsed = [variant_of(secret.admitted(text), benchmark.seam) for text in choices.on]
    parsed = parsed or _installed(benchmark)
    if choices.design:
        return _study(choices, benchmark, parsed)
    # As a plan names them: an A/A control that was asked for is known by its name.
    choices = dataclasses.replace(choices, on=tuple(variant.name for variant, _ in parsed))
    if choices.overhead and all(variant.name != NULL_ENGINE for variant, _ in parsed):
        parsed.append(variant_of(NULL_ENGINE, benchmark.seam))
    if choices.overhead:
        parsed = _with_aa_control(parsed)
    capabilities = {variant.engine: engine.capabilities for variant, engine in parsed}
    plan = make_plan(choices, benchmark, [variant for variant, _ in parsed], capabilities)
    return Planned(plan, benchmark, {variant.name: (variant, kind) for variant, kind in parsed})


def _refuse_those_of_a_study(merged: Mapping[str, Any], file: Path | None) -> None:
    """A run that is no study would drop what only a study takes."""
    names = () if merged.get("design") else studied_only(merged)
    if names:
        raise InputError(
            f"{file or COMMAND_LINE}: {names[0]} is a choice of a study, and this is none",
            hint=f"loadstone study{f' --plan {shlex.quote(str(file))}' if file else ''}",
        )


def _of_the_paper(choices: Choices, benchmark: Benchmark) -> Choices:
    """A study's choices, with the benchmark's own for what the user left open."""
    if choices.on or not benchmark.study_on:
        return choices
    vary = choices.vary or benchmark.study_vary
    return dataclasses.replace(choices, on=(benchmark.study_on,), vary=vary)


def _study(
    choices: Choices, benchmark: Benchmark, parsed: Sequence[tuple[Variant, type[System]]]
) -> Planned:
    """The plan of a study: the combinations of one variant's switches, the base twice, and the
    harness overhead."""
    if len(parsed) != 1:
        raise InputError(
            f"a study switches the tactics of one engine, not of {len(parsed)}",
            hint="name one: --on postgresql",
        )
    base, engine = parsed[0]
    study, variants = study_of(base, engine, choices.vary, choices.design)
    both = [(variant, engine) for variant in variants]
    both.insert(1, (dataclasses.replace(variants[0], aa_control=True), engine))
    if choices.overhead:
        both.append(variant_of(NULL_ENGINE, benchmark.seam))
    choices = dataclasses.replace(choices, on=(base.name,))
    capabilities = {variant.engine: kind.capabilities for variant, kind in both}
    plan = make_plan(choices, benchmark, [variant for variant, _ in both], capabilities, study)
    return Planned(plan, benchmark, {variant.name: (variant, kind) for variant, kind in both})


def _installed(benchmark: Benchmark) -> list[tuple[Variant, type[System]]]:
    """The installed ones among a benchmark's own choice of variants; the others are reported, with
    the command to install them."""
    found = []
    for text in benchmark.default_variants:
        try:
            found.append(variant_of(text, benchmark.seam))
        except NotInstalledError as error:
            say(f"loadstone: skipping {text}: {error.message}")
            say(f"  {error.hint}")
    return found


def _with_aa_control(
    parsed: Sequence[tuple[Variant, type[System]]],
) -> list[tuple[Variant, type[System]]]:
    """Add an A/A control: the first variant whose answers can be checked and that is not on the
    user's own server, a second time. Their difference is the noise of the instrument."""
    again = list(parsed)
    for position, (variant, engine) in enumerate(parsed):
        controls = any(other.aa_control for other, _ in parsed)
        may = engine.capabilities.answers and engine.capabilities.stoppable
        if not controls and variant.url is None and may:
            again.insert(position + 1, (dataclasses.replace(variant, aa_control=True), engine))
            break
    return again


def variant_of(text: str, seam: str) -> tuple[Variant, type[System]]:
    """A variant as a user writes it, with its engine as benchmarks of a seam meet it."""
    engine = registry.load_system(seam, registry.engine_named(text))
    variant = parse_variant(text, frozenset(engine.tactics()))
    engine.check(variant)
    return variant, engine


def command() -> str:
    """The user's command line, without secrets."""
    return masked(shlex.join(["loadstone", *sys.argv[1:]]))


def describe(planned: Planned) -> str:
    """A plan for people: every cell, and about how long it takes."""
    plan = planned.plan
    lines = [f"plan {plan.hash}: {plan.benchmark} {plan.edition}, seed {plan.seed}"]
    for cell in plan.cells:
        what = f"gap: {cell.gap}" if cell.gap else plural(cell.samples, "sample")
        lines.append(
            f"{cell.rows:>11,} {cell.temperature:<5} {cell.operation:<30} {cell.variant:<20} {what}"
        )
    lines += [
        f"{users:>3} users: a closed and an open loop of {plan.loop_s:g} s for each operation"
        " to the client, on each variant"
        for users in plan.users
    ]
    lines += [
        f"{users:>3} users who look up beside {plan.writers} who insert: a closed loop of"
        f" {plan.loop_s:g} s"
        for users in (plan.users if plan.writers else ())
    ]
    gaps = sum(bool(cell.gap) for cell in plan.cells)
    estimate = f"about {planned.seconds():.0f} s on two cores"
    return "\n".join([*lines, f"{len(plan.cells)} cells, {gaps} declared gaps; {estimate}"])


def start(planned: Planned | Sequence[Planned], path: Path | None, *, page: bool) -> int:
    """Run a plan, or several one after the other, into a new record. Returns the exit code."""
    chapters = [planned] if isinstance(planned, Planned) else [*planned]
    if path is None:
        stamp = datetime.now(UTC).strftime("%Y%m%d-%H%M%S")
        first = chapters[0].plan
        named = re.sub("[^A-Za-z0-9.-]+", "-", first.benchmark).strip("-.") or "workload"
        about = f"{named}-{first.edition}" if len(chapters) == 1 else "all"
        path = Path("runs") / f"{about}-{stamp}.loadstone"
    if page:
        _page_of(path)  # before anything is measured: what is in its way is told now
    refuse_existing(path)  # before an engine is started for nothing
    run_id = secrets.token_hex(4)
    if len(chapters) > 1:
        say(_announced_all(chapters, path))

    def create() -> Recorder:
        begin(path, [_chapter(one) for one in chapters], run_id, __version__)
        return Recorder.resume(path, command())

    with Interrupts() as interrupts, scratch.claimed(run_id) as claim:
        outcome, left = "complete", []
        for number, one in enumerate(chapters):
            say(_announced(one, path))
            record = partial(Recorder.resume, path, command(), number) if number else create
            try:
                outcome, more = _measure(one, one.plan.cells, claim, record, interrupts)
            except LoadstoneError:
                if number:
                    say(f"to continue: loadstone {resuming(path, 'run')}")
                raise
            left += more
            if outcome != "complete":
                break
    return _finish(path, outcome, left, page=page)


def _chapter(planned: Planned) -> Chapter:
    benchmark = planned.benchmark
    return Chapter(planned.plan, published_of(benchmark), benchmark.presentation())


def _announced_all(chapters: Sequence[Planned], path: Path) -> str:
    seconds = sum(one.seconds() for one in chapters)
    names = listing(one.plan.benchmark for one in chapters)
    lapse_s = max(round(seconds, -1), 10)
    return f"{names}, one after the other, about {lapse_s:.0f} s in all; the record: {path}"


def _announced(planned: Planned, path: Path, pending: Sequence[Cell] | None = None) -> str:
    """Say what is about to happen, before it does; `pending`: of a plan that is resumed."""
    plan = planned.plan
    named = [v for v in plan.variants if plan.role_of(v) in (Role.COMPETITOR, Role.LIMIT)]
    cells = plural(sum(not cell.gap for cell in plan.cells), "cell")
    about = f"{plan.benchmark} {plan.edition} on {join_names(named or plan.variants)}: {cells}"
    if plan.study is not None:
        switches = plural(len(plan.study.switches), "switch", "switches")
        about = f"study of {plan.study.base}, {plan.benchmark} {plan.edition}: {switches}, {cells}"
    lapse_s = max(round(planned.seconds(pending), -1), 10)
    budget_s = round(budget_seconds(plan), -1)
    of_it = f", {budget_s:.0f} s of them for time budgets" if budget_s else ""
    return f"{about}, about {lapse_s:.0f} s{of_it}; the record: {path}"


def resume(path: Path, chosen: Mapping[str, Any], *, page: bool) -> int:
    """Continue an interrupted or killed run with the plans that its record holds.

    `chosen` may name variants again (`on`), because a record holds no URL and no password.
    """
    refuse_other_choices(chosen)
    runs = read_chapters(path)
    if page:
        _page_of(path)
    benchmarks = [registry.benchmark_of_plan(run.plan) for run in runs]
    for run, benchmark in zip(runs, benchmarks, strict=True):
        check_plan(run.plan, benchmark)
    if not any(map(is_left, runs, benchmarks)):
        say(f"{path} is complete: nothing to do")
        return _finish(path, "complete", [], page=page)
    on = chosen.get("on", ())
    planned = [
        Planned(run.plan, own, _variants_again(run, on, own.seam, alone=len(runs) == 1))
        for run, own in zip(runs, benchmarks, strict=True)
    ]
    outcome, left = "complete", []
    with Interrupts() as interrupts, scratch.claimed(runs[0].run_id, resumed=True) as claim:
        # Asked again: until the claim was ours, another session may have measured.
        for number, run in enumerate(read_chapters(path)):
            if not is_left(run, benchmarks[number]):
                continue
            own = planned[number]
            if len(runs) > 1:
                say(_announced(own, path, run.pending))
            record = partial(Recorder.resume, path, command(), number)
            outcome, more = _measure(own, run.pending, claim, record, interrupts, run)
            left += more
            if outcome != "complete":
                break
    return _finish(path, outcome, left, page=page)


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


def _measure(
    planned: Planned,
    cells: Sequence[Cell],
    claim: scratch.Claim,
    record: Callable[[], Recorder],
    interrupts: Interrupts,
    earlier: Run | None = None,
) -> tuple[str, list[str]]:
    """Measure. Returns how the session ended, `complete` or `interrupted`; and messages about
    leftovers."""
    disturbed = disturbed_groups(earlier, planned.benchmark) if earlier else []
    total = len(cells) + sum(map(len, disturbed))
    shown = StudyProgress if planned.plan.study is not None else Progress
    progress = shown(planned.plan, planned.benchmark.presentation(), total)
    listener = ProgressListener(progress.on_status, progress.on_result)
    if isinstance(progress, StudyProgress):
        listener.on_effects = progress.on_effects
    users = earlier.users if earlier else ()
    runner = Runner(
        planned.plan, cells, planned.benchmark, planned.variants, claim, listener, users, disturbed
    )
    start_ns = clock_ns()
    outcome = "failed"
    left: list[str] = []
    recorder: Recorder | None = None
    try:
        progress.open()
        runner.open()
        recorder = record()
        runner.run(recorder)
        outcome = "complete"
    except KeyboardInterrupt:
        if recorder is None:
            raise
        outcome = "interrupted"
    finally:
        for name, told in _ended(runner, progress, interrupts).items():
            say(told)
            left.append(told)
            if recorder is not None:
                recorder.event(Event(now(), LEFT_BEHIND, name, told))
        if recorder is not None:
            recorder.end(outcome, clock_ns() - start_ns)
    return outcome, left


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


def _ended(runner: Runner, progress: Progress, interrupts: Interrupts) -> dict[str, str]:
    """End all workers, in good order unless the user interrupts again. Returns messages about
    leftovers."""
    try:
        with interrupts.removing():
            progress.close()
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
    write_atomically(target, content)
    return target


def _finish(path: Path, outcome: str, left: Sequence[str], *, page: bool) -> int:
    runs = read_chapters(path)
    target = _write_page(path, runs) if page else None
    print_summary(runs, path, target)
    run = runs[0]
    if outcome == "interrupted":
        kind = "run" if run.plan.study is None else "study"
        say(f"interrupted; continue with: loadstone {resuming(path, kind)}")
        return Exit.INTERRUPTED
    if run.plan.study is not None and run.pending:
        _say_left(run, path)
    judged = [_judged(one) for one in runs]
    # Whatever the cells are: somebody has to look into that database.
    return Exit.LEFT_BEHIND if left else min(judged, key=_WORST.index)


_WORST = (Exit.CELLS_FAILED, Exit.NOTHING_USABLE, Exit.OK)
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
    counts += Counter(point.status for point in run.users)
    if counts["failed"]:
        return Exit.CELLS_FAILED
    kinds = [status for status in counts if study or status in ("disturbed", "invalid")]
    if has_undisturbed_effect(run) if study else counts["ok"] or not kinds:
        return Exit.OK
    said = " and ".join(f"{counts[status]:,} {status}" for status in kinds)
    what = "effect of this study has a figure in order" if study else "figure of this run is usable"
    say(f"loadstone: no {what}: {said or 'no cell'}")
    return Exit.NOTHING_USABLE
