"""The plans of a run of several benchmarks: those that are installed and have the preset, or those
that a plan file names."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone import registry, secret
from loadstone.benchmarks.base import Benchmark
from loadstone.diagnostics import say
from loadstone.errors import InputError, NothingToMeasureError
from loadstone.plan.chapters import FOR_ALL, hash_of, read_chapters, refuse_own
from loadstone.plan.idle_choices import DEFAULTS, OF_USERS
from loadstone.plan.plan import SAMPLES_MAX
from loadstone.plan.written_choices import COMMAND_LINE, studied_only
from loadstone.planning.planner import shared_operations
from loadstone.run.planned import Planned, describe, plan_from, variant_of
from loadstone.text.numbers import listing, plural

PRESET = "quick"
"""Of a run of all benchmarks, where the user names none."""


def plan_all(chosen: Mapping[str, Any], file: Path | None) -> tuple[Planned, ...]:
    """A plan for each benchmark, the oldest first. Raises `InputError`."""
    refuse_own(chosen, COMMAND_LINE)
    common, tables = read_chapters(file) if file else ({}, {})
    merged = {"preset": PRESET} | common | dict(chosen)
    if studied_only(merged) or any(studied_only(own) for own in tables.values()):
        raise InputError(f"{FOR_ALL} runs no study", hint="loadstone study BENCHMARK")
    planned = tuple(_planned(merged, tables, chosen))
    if not planned:
        raise InputError("no benchmark fits these choices", hint="loadstone benchmarks lists all")
    if merged.get("users") and not any(one.plan.users for one in planned):
        raise InputError(
            "no benchmark has an operation that concurrent users can run", hint="leave out --users"
        )
    samples = sum(cell.samples for one in planned for cell in one.plan.cells)
    if samples > SAMPLES_MAX:
        raise InputError(
            f"the plans come to {samples:,} samples; a record holds those of {SAMPLES_MAX:,}",
            hint="choose a lower --repeat, or run the benchmarks one by one",
        )
    return planned


def _planned(
    merged: Mapping[str, Any], tables: Mapping[str, Mapping[str, Any]], chosen: Mapping[str, Any]
) -> Iterator[Planned]:
    for benchmark in _benchmarks(tables, merged["preset"]):
        own = {**merged, **tables.get(benchmark.name, {}), **chosen, "benchmark": benchmark.name}
        if "on" in own:
            own["on"] = _those_it_takes(benchmark, own["on"])
            if not own["on"]:
                say(f"loadstone: {benchmark.name} is left out: it has none of these engines")
                continue
        try:
            yield plan_from(own | _of_users(own, benchmark), None)
        except NothingToMeasureError as error:
            say(f"loadstone: {benchmark.name} is left out: {error.message}")


_NO_USERS: dict[str, Any] = {"users": (), **{name: DEFAULTS[name] for name in OF_USERS}}


def _of_users(own: Mapping[str, Any], benchmark: Benchmark) -> dict[str, Any]:
    """Without users, or without writers, where a benchmark has no operation for them: it is run
    without, and that is said."""
    if not own.get("users"):
        return {}
    plan = plan_from({**own, **_NO_USERS}, None).plan
    if not any(shared_operations(plan, benchmark, rows) for rows in plan.rows):
        say(f"loadstone: {benchmark.name} without --users: none of its operations is for several")
        return _NO_USERS
    planned = {cell.operation for cell in plan.cells}
    if own.get("writers") and not planned.issuperset(benchmark.mixed or ("",)):
        say(f"loadstone: {benchmark.name} without --writers: it has no loop of readers and writers")
        return {"writers": 0}
    return {}


def _benchmarks(tables: Mapping[str, Any], preset: str) -> list[Benchmark]:
    """Those of a plan file in its order; else the installed ones that have operations in the
    preset, by the year of their paper."""
    if tables:
        return [registry.load_benchmark(name)() for name in tables]
    found = [registry.load_benchmark(name)() for name in registry.benchmark_names()]
    fit = [one for one in found if preset != PRESET or _has_quick(one)]
    return sorted(fit, key=lambda one: (one.year, one.name))


def _has_quick(benchmark: Benchmark) -> bool:
    edition, rows = benchmark.default_edition, benchmark.default_scales[0]
    return any(PRESET in one.presets for one in benchmark.operations(edition, rows))


def _those_it_takes(benchmark: Benchmark, on: Sequence[str]) -> tuple[str, ...]:
    """The variants among these that a benchmark's engines are; of the others it is said why not."""
    fit = []
    for text in map(secret.admitted, on):
        try:
            variant_of(text, benchmark.seam)
        except InputError as error:
            say(f"loadstone: {benchmark.name} without {text}: {error.message}")
        else:
            fit.append(text)
    return tuple(fit)


def describe_all(chapters: Sequence[Planned]) -> str:
    """The plans for people: each benchmark's cells, and all together."""
    plans = [one.plan for one in chapters]
    cells = plural(sum(len(plan.cells) for plan in plans), "cell")
    seconds = sum(one.seconds() for one in chapters)
    names = listing(plan.benchmark for plan in plans)
    last = f"plan {hash_of(plans)}: {names}, one after the other: {cells}; about {seconds:.0f} s"
    return "\n\n".join([*map(describe, chapters), last])
