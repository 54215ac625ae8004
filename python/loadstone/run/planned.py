"""A plan with all that it takes to run it, from a user's choices; and what is said of it before it
runs."""

import dataclasses
import shlex
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone import registry, secret
from loadstone.benchmarks.base import Benchmark
from loadstone.diagnostics import say
from loadstone.engines.capabilities import Estimate, UrlUse
from loadstone.engines.system import System
from loadstone.errors import InputError, LoadstoneError, NotInstalledError, UnknownTacticError
from loadstone.plan.choices import OF_LOOPS, STUDIED, Choices, ramp_rates
from loadstone.plan.idle_choices import refuse_idle
from loadstone.plan.plan import Cell, Plan, join_names
from loadstone.plan.role import Role
from loadstone.plan.variant import Variant, differ_in_one_tactic, naming, parse_variant
from loadstone.plan.written_choices import COMMAND_LINE, choices_from, read_given, studied_only
from loadstone.planning.duration import (
    Pace,
    budget_seconds,
    has_budget,
    seconds_estimated,
    seconds_left,
)
from loadstone.planning.planner import NULL_ENGINE, make_plan
from loadstone.planning.recordable import check_recordable
from loadstone.planning.study import study_of
from loadstone.record.users import UsersPoint
from loadstone.run import builds
from loadstone.run.load_levels import loops_left
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN, OBSERVATIONS_MIN
from loadstone.text.numbers import listing, plural
from loadstone.workload.known import is_known

Variants = Mapping[str, tuple[Variant, type[System]]]

QUICK = {"repeat": INTERVAL_PAIRS_MIN, "repeat_cold": 1, "rounds": 1}
"""The defaults of the quick preset: fewer repetitions give no interval, and so no cause."""
COMPARED = {"preset": "quick", "repeat": 10, "rounds": 2, "repeat_s": 5.0}
"""Of two versions that are compared. More samples than an interval takes, in two rounds. An
operation is repeated for so long while it is undecided: a run has 0.3 s, by which few differences
of some percent are decided."""
STUDY = {
    "preset": "study",
    "temperature": STUDIED,
    "rounds": OBSERVATIONS_MIN,
    "repeat": 1,
    "repeat_cold": 1,
}
"""A study's choices where a run has others: one sample of a cell or more in each
block."""


@dataclass(frozen=True, slots=True)
class Planned:
    """A plan with the parts needed to run it: the benchmark, and each variant with its engine."""

    plan: Plan
    benchmark: Benchmark
    variants: Variants

    def seconds(
        self, cells: Sequence[Cell] | None = None, recorded: Sequence[UsersPoint] = ()
    ) -> float:
        """About how long it takes, or these of its cells, without the loops that are `recorded`."""
        engines = {name: engine for name, (_, engine) in self.variants.items()}
        paces = {
            name: _pace(engine.capabilities.estimate, engine.values_of(variant))
            for name, (variant, engine) in self.variants.items()
        }
        loops = loops_left(self.plan, self.benchmark, recorded)
        return seconds_estimated(self.plan, self.benchmark, engines, cells, paces, loops=loops)

    def seconds_left(
        self,
        cells: Sequence[Cell],
        executed: Mapping[tuple[str, str], float],
        recorded: Sequence[UsersPoint] = (),
    ) -> float:
        """About how long these cells of a user's workload take, each of whose statements was
        executed once: in so many s, by statement and variant. Loops that are `recorded` take
        none."""
        engines = {name: engine for name, (_, engine) in self.variants.items()}
        loops = loops_left(self.plan, self.benchmark, recorded)
        return seconds_left(self.plan, self.benchmark, engines, cells, executed, loops=loops)

    @property
    def is_open(self) -> bool:
        """Whether nobody knows how long its statements take: they are a user's own. A study ends
        when its time is over, whatever they take."""
        return self.benchmark.workload is not None and self.plan.study is None


def _pace(estimate: Estimate, values: Mapping[str, str]) -> Pace:
    tuples = estimate.pace(values) if estimate.pace else 1.0
    return Pace(tuples, estimate.commit_s(values))


def plan_from(chosen: Mapping[str, Any], file: Path | None) -> Planned:
    """Options, over the plan file, over the preset's defaults. Raises `InputError`."""
    base: dict[str, Any] = {}
    if file is not None:
        # The file's choices count, also where they are the defaults: a preset may have another.
        base = read_given(file)
    merged = base | dict(chosen)
    if merged.get("preset") == "quick":
        merged = QUICK | merged
    if merged.get("design"):
        merged = STUDY | merged
    choices = choices_from(merged, str(file or COMMAND_LINE))
    _refuse_those_of_a_study(merged, file)
    refuse_idle(chosen, choices)
    if choices.sql and "benchmark" in merged:
        raise InputError(
            f"--sql runs no benchmark, and {choices.benchmark} is one", hint="leave out one of them"
        )
    benchmark = registry.chosen_benchmark(choices)
    choices = _with_all_rows(choices, benchmark)
    if choices.design:
        choices = _of_the_paper(choices, benchmark)
    parsed = [variant_of(secret.admitted(text), benchmark.seam) for text in choices.on]
    parsed = parsed or _installed(benchmark)
    check_urls(benchmark, [variant for variant, _ in parsed], [kind for _, kind in parsed])
    if choices.design:
        return _study(choices, benchmark, parsed)
    # As a plan names them: an A/A control that was requested is known by its name.
    choices = dataclasses.replace(choices, on=tuple(variant.name for variant, _ in parsed))
    if choices.overhead and all(variant.name != NULL_ENGINE for variant, _ in parsed):
        parsed.append(variant_of(NULL_ENGINE, benchmark.seam))
    if choices.overhead:
        parsed = _with_aa_control(parsed)
    capabilities = {variant.engine: engine.capabilities for variant, engine in parsed}
    plan = make_plan(choices, benchmark, [variant for variant, _ in parsed], capabilities)
    check_recordable(plan, benchmark.presentation())
    if plan.budget and not any(has_budget(plan, cell) for cell in plan.cells):
        raise InputError(
            "--budget takes apart warm and hot cells of the largest scale, and this plan has none",
            hint="add --temperature warm, or leave out --budget",
        )
    return Planned(plan, benchmark, {variant.name: (variant, kind) for variant, kind in parsed})


def refuse_loops(chosen: Mapping[str, Any]) -> None:
    """Raise `InputError` where loops of users are chosen for a run whose cells alone are judged:
    what was measured and not judged would pass for unchanged."""
    for name in OF_LOOPS:
        if chosen.get(name):
            raise InputError(
                f"{name}: loops of users are not judged, so they are no part of this",
                hint=f"leave out {name}; run them apart, and set their tables side by side:"
                " loadstone run --users",
            )


def _with_all_rows(choices: Choices, benchmark: Benchmark) -> Choices:
    """Of a workload by name, `rows` is the size of its largest table; a plan counts all rows."""
    if benchmark.workload is None or not is_known(choices.benchmark):
        return choices
    return dataclasses.replace(choices, rows=(benchmark.workload.rows,))


def check_urls(
    benchmark: Benchmark, variants: Sequence[Variant], engines: Sequence[type[System]]
) -> None:
    """Raise `InputError` where tables are to be read as they stand, and a variant names no database
    in which they do; or where tables would be made in one that is only read; or where a query
    without a table, whose functions may write, would be asked in a session that may."""
    workload = benchmark.workload
    stands = workload is not None and workload.as_it_stands
    bare = workload is not None and not workload.tables and not stands
    for variant, engine in zip(variants, engines, strict=True):
        if stands and variant.url is None and engine.capabilities.role is Role.COMPETITOR:
            raise InputError(
                f"{benchmark.name} reads your tables as they stand, and {variant.name} names no"
                " database of yours",
                hint="name each by its URL: --on sqlite:///FILE --on postgresql://USER@…/DATABASE",
            )
        if variant.url is not None and engine.capabilities.url is UrlUse.READ and not stands:
            raise InputError(
                f"{engine.name}: no table of ours is made in a database of yours",
                hint="read its tables as they stand (docs/reference/workload.md), or drop the URL",
            )
        if variant.url is not None and bare:
            raise InputError(
                f"{variant.name} is a database of yours: a query without --data runs there only on"
                " the tables as they stand, and the other variants name no database",
                hint="name each by its URL; or leave out this one; or give the query --data FILE",
            )


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
        engines = dict.fromkeys(variant.engine for variant, _ in parsed)
        raise InputError(
            f"a study switches the tactics of one engine, not of {len(parsed)}",
            hint=f"name one: --on {' or '.join(engines)}",
        )
    if len({*choices.temperature}) != 1:
        raise InputError(
            f"a study measures at one temperature, not at {listing(choices.temperature)}",
            hint="choose one, as --temperature cold, and make a study of each",
        )
    base, engine = parsed[0]
    with _naming_the_road(base.engine, benchmark.seam), naming(base):
        lacking = builds.lacking(base, engine)
        study, variants = study_of(base, engine, choices.vary, choices.design, lacking)
    both = [(variant, engine) for variant in variants]
    both.insert(1, (dataclasses.replace(variants[0], aa_control=True), engine))
    if choices.overhead:
        both.append(variant_of(NULL_ENGINE, benchmark.seam))
    choices = dataclasses.replace(choices, on=(base.name,))
    capabilities = {variant.engine: kind.capabilities for variant, kind in both}
    plan = make_plan(choices, benchmark, [variant for variant, _ in both], capabilities, study)
    check_recordable(plan, benchmark.presentation())
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
    """Add an A/A control: a variant whose answers can be checked and that is not on the user's own
    server, a second time. Their difference is the noise of the instrument. The first of which
    another differs in one tactic, since a switch is held to its own engine's noise; else the first
    of all."""
    again = list(parsed)
    if any(variant.aa_control for variant, _ in parsed):
        return again
    names = [variant.name for variant, _ in parsed]
    able = [
        place
        for place, (variant, engine) in enumerate(parsed)
        if variant.url is None and engine.capabilities.answers and engine.capabilities.stoppable
    ]
    switched = [
        place for place in able if any(differ_in_one_tactic(names[place], other) for other in names)
    ]
    for place in (switched or able)[:1]:
        variant, engine = parsed[place]
        again.insert(place + 1, (dataclasses.replace(variant, aa_control=True), engine))
    return again


def variant_of(text: str, seam: str) -> tuple[Variant, type[System]]:
    """A variant as a user writes it, with its engine as benchmarks of a seam meet it."""
    name = registry.engine_named(text)
    engine = registry.load_system(seam, name)
    with _naming_the_road(name, seam):
        known = frozenset(engine.tactics())
        variant = parse_variant(
            text, known, takes_settings=engine.capabilities.settings is not None
        )
        with naming(variant):
            engine.check(variant)
    return variant, engine


@contextmanager
def _naming_the_road(engine: str, seam: str) -> Iterator[None]:
    """Say of a tactic that an engine lacks here, and has where the other road leads to it, which
    benchmarks take it. Raises `InputError`."""
    try:
        yield
    except UnknownTacticError as error:
        other = registry.OTHER_ROAD[seam]
        if not _has_tactic(other, engine, error.tactic):
            raise
        takers = registry.benchmarks_by_road()[other]
        raise InputError(
            f"{engine}'s tactic {error.tactic!r} is one of {registry.ROADS[other]}, and this"
            f" benchmark drives it by {registry.ROADS[seam]}",
            hint=f"{listing(takers)} can switch it; this one can switch: {error.known}",
        ) from error


def _has_tactic(seam: str, engine: str, tactic: str) -> bool:
    """Whether an engine has it where a benchmark of that seam meets it."""
    try:
        return tactic in registry.load_system(seam, engine).tactics()
    except LoadstoneError:  # no engine of that road, or one that cannot be loaded
        return False


def describe(planned: Planned) -> str:
    """A plan for people: every cell, and about how long it takes."""
    plan = planned.plan
    lines = [f"plan {plan.hash}: {plan.benchmark} {plan.edition}, seed {plan.seed}"]
    tables = plan.workload.tables if plan.workload is not None else ()
    lines += [f"table {table.in_words(len(table.columns))}" for table in tables]
    for cell in plan.cells:
        what = f"gap: {cell.gap}" if cell.gap else plural(cell.samples, "sample")
        lines.append(
            f"{cell.rows:>11,} {cell.temperature:<5} {cell.operation:<30} {cell.variant:<20} {what}"
        )
    lines += [
        f"{_users(users)}: a closed and an open loop of {plan.loop_s:g} s"
        f"{_ramped(plan)} for each operation to the client, on each variant"
        for users in plan.users
    ]
    if plan.users:
        lines += [
            f"    users of {name} are a gap: it serves {kind.capabilities.one_user}"
            for name, (variant, kind) in planned.variants.items()
            if kind.capabilities.one_user and not variant.aa_control
        ]
    lines += [
        f"{_users(users)} who read beside {plan.writers} who write: a closed loop of"
        f" {plan.loop_s:g} s"
        for users in (plan.users if plan.writers else ())
    ]
    gaps = sum(bool(cell.gap) for cell in plan.cells)
    estimate = f"about {planned.seconds():.0f} s on two cores"
    if planned.is_open:
        estimate += ", beside what its statements take: nobody knows it yet"
    counts = f"{plural(len(plan.cells), 'cell')}, {plural(gaps, 'declared gap')}"
    return "\n".join([*lines, f"{counts}; {estimate}"])


def _users(count: int) -> str:
    return f"{count:>3} {'user' if count == 1 else 'users'}"


def _ramped(plan: Plan) -> str:
    if not plan.ramp:
        return ""
    steps = ramp_rates(plan.ramp)
    return f" a step ({steps[0]:g} to {steps[-1]:g} requests a second in {len(steps)} steps)"


def announced_all(chapters: Sequence[Planned], path: Path) -> str:
    """Say the same of several benchmarks."""
    seconds = sum(one.seconds() for one in chapters)
    names = listing(one.plan.benchmark for one in chapters)
    lapse_s = max(round(seconds, -1), 10)
    return f"{names}, one after the other, about {lapse_s:.0f} s in all; the record: {path}"


def announced(
    planned: Planned,
    path: Path,
    pending: Sequence[Cell] | None = None,
    recorded: Sequence[UsersPoint] = (),
) -> str:
    """Say what is about to happen, before it does; `pending` cells, and loops that are `recorded`:
    of a plan that is resumed."""
    plan = planned.plan
    named = [v for v in plan.variants if plan.role_of(v) in (Role.COMPETITOR, Role.LIMIT)]
    cells = plural(sum(not cell.gap for cell in plan.cells), "cell")
    about = f"{plan.benchmark} {plan.edition} on {join_names(named or plan.variants)}: {cells}"
    if plan.study is not None:
        switches = plural(len(plan.study.switches), "switch", "switches")
        about = f"study of {plan.study.base}, {plan.benchmark} {plan.edition}: {switches}, {cells}"
    lapse_s = max(round(planned.seconds(pending, recorded), -1), 10)
    budget_s = budget_seconds(plan, pending)
    budget_s = round(budget_s, -1) or round(budget_s)
    of_it = f", {budget_s:.0f} s of them for time budgets" if budget_s else ""
    if planned.is_open:
        of_it += ", beside its statements, whose time is announced once each was executed"
    return f"{about}, about {lapse_s:.0f} s{of_it}; the record: {path}"
