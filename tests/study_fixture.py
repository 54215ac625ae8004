"""The record of a made-up study: what each switch does to each operation is known."""

import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from math import exp

from report_fixture import make_run

from loadstone.plan.plan import Plan
from loadstone.record.model import (
    AnswerCheck,
    CellResult,
    OperationText,
    Run,
    Sample,
    StatementText,
    Term,
)
from loadstone.run.planned import plan_from

OPERATIONS = ("min-heap", "select-1%-heap")
FACTORS = {
    "min-heap": {"durability": 0.5, "parallelism": 1.0, "cache": 1.0, "join": 1.0},
    "select-1%-heap": {"durability": 1.0, "parallelism": 4.0, "cache": 1.25, "join": 1.0},
}
"""The factor by which each switch multiplies an operation's time."""
TOGETHER: dict[str, float] = {"min-heap": 1.0, "select-1%-heap": 1.0}
"""And all of them, besides."""
NOISE: dict[str, float] = {"min-heap": 0.003, "select-1%-heap": 0.003}
"""By how much each sample differs, besides what is common to its block."""
BLOCKS = 12


VARY = ("durability", "parallelism=1,2", "cache=268435456,1048576", "join=auto,hash")


def plan(vary: Sequence[str] = VARY, temperature: str = "warm") -> Plan:
    return plan_from(
        {"benchmark": "wisconsin", "on": ["postgresql"], "design": "two-ended", "vary": list(vary),
         "operations": OPERATIONS, "temperature": temperature}, None).plan  # fmt: skip


def result(plan: Plan, operation: str, variant: str, flipped: tuple[str, ...]) -> CellResult:
    """Samples with a factor common to each block, and a little noise of their own."""
    found = next(c for c in plan.cells if (c.operation, c.variant) == (operation, variant))
    chance, noise = random.Random(f"{operation} {variant}"), NOISE[operation]
    factor = 1.0
    for tactic in flipped:
        factor *= FACTORS[operation][tactic]
    factor *= TOGETHER[operation] if len(flipped) == len(FACTORS[operation]) else 1.0
    samples = [
        Sample(block * 2 + at, block, 0, block, round(
            2e6 * factor * exp(random.Random(block).gauss(0, 0.3) + chance.gauss(0, noise))),
            client_cpu_ns=round(1e6 * factor), tuples=10_000,
            written_bytes=0 if "durability" in flipped else 8192)
        for block in range(BLOCKS) for at in range(2)
    ]  # fmt: skip
    scan = "parallel" if "parallelism" in flipped else "sequential"
    text = StatementText(0, "SELECT", f"{scan} scan (cost=0..{round(99 * factor)})\n  ~{variant}")
    text = replace(text, plan=text.plan.splitlines()[0])
    answers = tuple(AnswerCheck(s.ordinal, 0, 100, "1f", 100, "1f") for s in samples)
    return CellResult(
        found, "ok", "", "2026-11-23T00:00:00Z", tuple(samples), answers=answers, statements=(text,)
    )


def terms(plan: Plan, flipped: Mapping[str, tuple[str, ...]]) -> Iterator[Term]:
    """Each switch as it was asked, a setting that follows one of them, and a term of all."""
    assert plan.study is not None
    for variant, own in flipped.items():
        for switch in plan.study.switches:
            value = switch.other if switch.tactic in own else switch.base
            yield Term(variant, switch.tactic, value, value)
        yield Term(variant, "setting.fsync", None, "off" if "durability" in own else "on")
        yield Term(variant, "version", None, "18.6")


def record(changed: Mapping[tuple[str, str], CellResult | None] = {}) -> Run:
    made = plan()
    assert made.study is not None
    flipped = {each.variant: each.flipped for each in made.study.combinations}
    flipped[made.aa_control] = ()
    results = [
        changed.get((operation, variant), result(made, operation, variant, flipped[variant]))
        for operation in OPERATIONS for variant in flipped
    ]  # fmt: skip
    texts = [OperationText(name, 10_000, place, name, "", "", "heap", "heap", "client", "")
             for place, name in enumerate(OPERATIONS)]  # fmt: skip
    return replace(
        make_run(("select-1%-heap",), scales=(10_000,)), plan=made, operations=tuple(texts),
        terms=tuple(terms(made, flipped)),
        results=tuple(one for one in results if one is not None),
    )  # fmt: skip
