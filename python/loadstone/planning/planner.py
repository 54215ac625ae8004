"""From choices to a plan: the cells, their order, and the declared gaps."""

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import Any

from loadstone.benchmarks.base import Benchmark, Operation
from loadstone.engines.capabilities import Capabilities
from loadstone.errors import InputError, NothingToMeasureError
from loadstone.plan.choices import DEFINED, LOOP_S_MAX, REQUESTS_MAX, Choices, ramp_rates
from loadstone.plan.plan import Cell, Plan, join_names
from loadstone.plan.role import Role
from loadstone.plan.study import Study
from loadstone.plan.variant import Variant
from loadstone.plan.workload import Workload, WorkloadStatement
from loadstone.planning import repetition
from loadstone.quel.dialect import is_quel
from loadstone.text.near import did_you_mean
from loadstone.workload.quel import read_by

NULL_ENGINE = "null"
"""The engine that answers at once: planned beside the others to measure the harness overhead."""

AA_OPERATIONS = 8
"""Operations of a plan that are measured both on a variant and on its A/A control."""

GAPS_SHOWN = 3
"""Variants whose reason is shown where all cells are gaps."""

PRESETS = ("default", "quick", "full", "study")


def make_plan(
    choices: Choices,
    benchmark: Benchmark,
    variants: Sequence[Variant],
    capabilities: Mapping[str, Capabilities],
    study: Study | None = None,
) -> Plan:
    """Choose the cells and freeze them. `capabilities` is keyed by engine name; `study` says how
    the variants differ, if they are its combinations. Raises `InputError`."""
    edition = _edition(choices, benchmark)
    choices = _each_once(choices)
    scales = choices.rows or _scales(choices, benchmark, edition)
    for rows in scales:
        benchmark.check_scale(edition, rows)
    names = [variant.name for variant in variants]
    control = next((v.name for v in variants if v.aa_control and v.name not in choices.on), "")
    again = _measured_again(choices, benchmark, edition, scales[0])
    _check_names(names)
    cells = [
        _cell(
            operation,
            variant,
            rows,
            temperature,
            repetition.samples(choices, benchmark, temperature, first=rows == scales[0]),
            capabilities[variant.engine],
            benchmark.workload,
        )
        for rows in scales
        for temperature in choices.temperature
        for operation in _chosen(
            choices, benchmark.operations(edition, rows), temperature, benchmark.name
        )
        for variant in variants
        if (temperature == "warm" or capabilities[variant.engine].answers)
        and (
            variant.name != control
            or study is not None
            or (rows == scales[0] and temperature == "warm" and operation.name in again)
        )
    ]
    if not cells:
        raise _empty(choices, benchmark, edition, scales[0])
    roles = _roles(variants, capabilities)
    subjects = [one for one in variants if dict(roles).get(one.name, Role.LIMIT) == Role.LIMIT]
    _check_gaps(cells, subjects)
    given = {each.name: getattr(choices, each.name) for each in DEFINED}
    definite: dict[str, Any] = {
        "benchmark": benchmark.name,
        "edition": edition,
        "rows": tuple(scales),
        "repeat_cold": choices.repeat_cold or benchmark.cold_samples,
        "repeat_most": repetition.repeat_most(choices, cells),
        "repeat_s": repetition.repeat_s(choices, cells),
        "time_limit_s": repetition.time_limit_s(choices, benchmark, scales),
    }
    plan = Plan(
        **given | definite,
        variants=tuple(names),
        cells=tuple(cells),
        aa_control=control,
        roles=roles,
        study=study,
        workload=benchmark.workload,
    )
    _check_users(plan, benchmark)
    _check_served(plan, subjects, capabilities)
    return plan


def _empty(choices: Choices, benchmark: Benchmark, edition: str, rows: int) -> InputError:
    operations = benchmark.operations(edition, rows)
    preset = choices.preset
    if preset in ("quick", "study") and not any(preset in one.presets for one in operations):
        return InputError(
            f"{benchmark.name} has no operation in the preset {preset!r}",
            hint=f"leave it out, or choose from {join_names([one.name for one in operations])}",
        )
    return InputError("the plan is empty", hint="no operation fits these choices")


def _each_once(choices: Choices) -> Choices:
    """The choices with each item of a list once."""
    lists: dict[str, Any] = {
        each.name: tuple(dict.fromkeys(made))
        for each in DEFINED
        if each.many and (made := getattr(choices, each.name))
    }
    return replace(choices, **lists)


def _check_names(names: Sequence[str]) -> None:
    twice = sorted({name for name in names if names.count(name) > 1})
    if twice:
        raise InputError(f"the variant {twice[0]} is named twice", hint="name each --on once")


def _roles(
    variants: Sequence[Variant], capabilities: Mapping[str, Capabilities]
) -> tuple[tuple[str, str], ...]:
    """An A/A control has the role of a control, whatever its engine's role is."""
    roles = {
        variant.name: Role.CONTROL if variant.aa_control else capabilities[variant.engine].role
        for variant in variants
    }
    return tuple((name, r.value) for name, r in roles.items() if r is not Role.COMPETITOR)


def _check_gaps(cells: Sequence[Cell], subjects: Sequence[Variant]) -> None:
    """Raise `NothingToMeasureError` if none of the `subjects`, the variants measured for their own
    sake, can execute any operation."""
    own = {
        variant.name: Counter(cell.gap for cell in cells if cell.variant == variant.name)
        for variant in subjects
    }
    if not own or any("" in gaps for gaps in own.values()):
        return
    most = {name: gaps.most_common(1)[0][0] for name, gaps in own.items() if gaps}
    shown = "; ".join(f"{name}: {gap}" for name, gap in [*most.items()][:GAPS_SHOWN])
    raise NothingToMeasureError(
        f"there is nothing to measure, for every cell is a gap: {shown}",
        hint="choose other operations, another engine, or another value of the tactic named",
    )


def _check_served(
    plan: Plan, subjects: Sequence[Variant], capabilities: Mapping[str, Capabilities]
) -> None:
    """Raise `InputError` if none of the subjects serves concurrent users."""
    alone = {v.name: why for v in subjects if (why := capabilities[v.engine].one_user)}
    if plan.users and subjects and len(alone) == len(subjects):
        name, why = next(iter(alone.items()))
        raise InputError(
            f"{name} cannot have --users: it serves {why}",
            hint="leave out --users, or add an engine that serves several users at once",
        )


def check_plan(plan: Plan, benchmark: Benchmark) -> None:
    """Raise `InputError` if a plan from a record names something that its benchmark lacks."""
    if plan.edition not in benchmark.editions:
        raise InputError(
            f"{benchmark.name} has no edition {plan.edition!r}",
            hint=f"it has: {', '.join(benchmark.editions)}",
        )
    benchmark.check_unchanged()
    for rows in plan.rows:
        benchmark.check_scale(plan.edition, rows)
        known = {operation.name for operation in benchmark.operations(plan.edition, rows)}
        for cell in plan.cells:
            if cell.rows == rows and cell.operation not in known:
                raise InputError(
                    f"{benchmark.name} {plan.edition} has no operation {cell.operation!r}",
                    hint="continue the record with the Loadstone that wrote it",
                )


def _check_users(plan: Plan, benchmark: Benchmark) -> None:
    """Raise `InputError` if concurrent users would have nothing to do."""
    if not plan.users:
        for option, value in (
            ("--rate", plan.rate_per_s), ("--writers", plan.writers), ("--ramp", plan.ramp)
        ):  # fmt: skip
            if value:
                raise InputError(f"{option} needs --users", hint="add for example --users 8")
        return
    if plan.writers:
        _check_mix(plan, benchmark)
    if plan.ramp:
        _check_ramp(plan)
    if not any(shared_operations(plan, benchmark, rows) for rows in plan.rows):
        first = benchmark.operations(plan.edition, plan.rows[0])
        known = [item.name for item in first if item.concurrent_users]
        choose = f"choose one of {join_names(known)}, or " if known else ""
        raise InputError(
            "no operation can be run by concurrent users: they would get into each other's way",
            hint=f"{choose}leave out --users",
        )


def _check_ramp(plan: Plan) -> None:
    """Raise `InputError` for a ramp that no loop can run, or not in time."""
    steps = ramp_rates(plan.ramp)
    if plan.rate_per_s is not None:
        raise InputError("--ramp and --rate are two rates of one loop", hint="leave out one")
    if len(steps) * plan.loop_s > LOOP_S_MAX:
        most_s = LOOP_S_MAX / len(steps)
        raise InputError(
            f"a ramp of {len(steps)} steps of {plan.loop_s:g} s takes more than {LOOP_S_MAX} s",
            hint=f"--loop-seconds {most_s:g} at most",
        )
    if steps[-1] * plan.loop_s * len(steps) > REQUESTS_MAX:
        raise InputError(
            f"a ramp up to {steps[-1]:,.0f} requests a second for {plan.loop_s:g} s a step has more"
            f" than {REQUESTS_MAX:,} requests",
            hint="lower its end, or --loop-seconds",
        )


def _check_mix(plan: Plan, benchmark: Benchmark) -> None:
    planned = {cell.operation for cell in plan.cells}
    if benchmark.mixed is None:
        raise InputError(
            f"{benchmark.name} has no loop of readers and writers", hint="leave out --writers"
        )
    missing = [name for name in benchmark.mixed if name not in planned]
    if missing:
        raise InputError(
            f"--writers mixes users of {' and '.join(benchmark.mixed)}, and the plan lacks"
            f" {missing[0]}",
            hint=f"add {' '.join(f'--operation {name}' for name in missing)}",
        )


def shared_operations(plan: Plan, benchmark: Benchmark, rows: int) -> list[str]:
    """Names of a plan's operations of a scale that concurrent users can run, in the plan's
    order."""
    to_client = {
        operation.name
        for operation in benchmark.operations(plan.edition, rows)
        if operation.concurrent_users
    }
    planned = dict.fromkeys(cell.operation for cell in plan.cells if cell.rows == rows)
    return [name for name in planned if name in to_client]


def _edition(choices: Choices, benchmark: Benchmark) -> str:
    edition = choices.edition or benchmark.default_edition
    if edition not in benchmark.editions and benchmark.workload is not None:
        raise InputError(
            f"{benchmark.name} is {benchmark.default_edition} now, not {edition!r}: its statements"
            " or its data have changed",
            hint="leave out --edition to measure it as it is",
        )
    if edition not in benchmark.editions:
        raise InputError(
            f"{benchmark.name} has no edition {edition!r}",
            hint=f"it has: {', '.join(benchmark.editions)}",
        )
    return edition


def _scales(choices: Choices, benchmark: Benchmark, edition: str) -> tuple[int, ...]:
    if choices.preset == "study" and edition == benchmark.default_edition:
        return benchmark.study_scales or benchmark.default_scales[:1]
    if edition != benchmark.default_edition or choices.preset == "quick":
        return benchmark.default_scales[:1]
    return benchmark.default_scales


def _like(name: str, known: Collection[str]) -> list[str]:
    """The operations of this name, or of this pattern: `join-*`."""
    return [name] if name in known else [one for one in known if fnmatchcase(one, name)]


def _meant(name: str, known: Collection[str]) -> str:
    """A question for names like that of an unknown operation."""
    like: Collection[str] = known
    if any(letter in name for letter in "*?["):  # a pattern is like one of a group's
        like = dict.fromkeys(f"{each.partition('-')[0]}-*" for each in known if "-" in each)
    return did_you_mean(name, like, cutoff=0.4)


def _chosen(
    choices: Choices, operations: Sequence[Operation], temperature: str, benchmark: str
) -> Sequence[Operation]:
    """The operations of a preset; those named by the user instead, if any."""
    if choices.preset not in PRESETS:
        raise InputError(
            f"there is no preset {choices.preset!r}", hint=f"presets: {', '.join(PRESETS)}"
        )
    if choices.operations:
        known = {operation.name: operation for operation in operations}
        named = {name: _like(name, known) for name in choices.operations}
        unknown = [name for name, found in named.items() if not found]
        if unknown:
            listed = f"loadstone benchmarks {benchmark} lists all {len(known)}"
            if any(operation.statement is not None for operation in operations):
                listed = f"it has {join_names([*known])}"
            raise InputError(
                f"there is no operation {unknown[0]!r}", hint=_meant(unknown[0], known) + listed
            )
        return [known[name] for name in dict.fromkeys(one for own in named.values() for one in own)]
    if choices.preset != "full":
        operations = [item for item in operations if "full" not in item.presets]
    if choices.preset in ("quick", "study"):
        operations = [item for item in operations if choices.preset in item.presets]
    if temperature == "cold" and choices.preset != "full":
        operations = [item for item in operations if "cold" in item.presets]
    return operations


def _measured_again(
    choices: Choices, benchmark: Benchmark, edition: str, rows: int
) -> frozenset[str]:
    """The operations that the A/A control measures, too; those of the quick preset come first."""
    operations = _chosen(choices, benchmark.operations(edition, rows), "warm", benchmark.name)
    ranked = sorted(operations, key=lambda operation: "quick" not in operation.presets)
    return frozenset(operation.name for operation in ranked[:AA_OPERATIONS])


def _untyped(
    workload: Workload | None, statement: WorkloadStatement, capabilities: Capabilities
) -> str:
    """The reason of a gap: the first column of a statement's tables for which the engine has no
    type."""
    known = capabilities.column_types
    read = read_by(statement)
    for table in workload.tables if workload and known else ():
        for column in table.columns if table.name in read else ():
            if column.type not in known:
                return f"it has no column of type {column.type}, as {table.name}.{column.name} is"
    return ""


def _cell(
    operation: Operation,
    variant: Variant,
    rows: int,
    temperature: str,
    samples: int,
    capabilities: Capabilities,
    workload: Workload | None = None,
) -> Cell:
    gap = capabilities.gap(operation.storage, dict(variant.tactics))
    if operation.statement is not None and capabilities.no_sql:
        quel = any(is_quel(own.dialect) for own in operation.statement.own)
        gap = gap or ("" if quel else capabilities.no_sql)
        gap = gap or _untyped(workload, operation.statement, capabilities)
    if operation.changes_tuples:
        gap = gap or capabilities.no_updates
    if temperature == "cold" and not capabilities.stoppable:
        gap = gap or "it keeps nothing on a disk, so nothing can be cold"
    return Cell(operation.name, variant.name, rows, temperature, samples, gap)
