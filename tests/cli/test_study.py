"""`loadstone study`, as a user runs it: each block whole, each setting read back, each answer
checked; killed at any moment, continued with whole blocks."""

import os
import random
import select
import signal
from collections import defaultdict
from collections.abc import Iterator

import pytest
from desk import Desk

from loadstone.record.model import Run

pytestmark = pytest.mark.machine

OPERATIONS = ("min-partitions-heap", "append-indexed")
CHOICES = ("wisconsin", "--rows", "1000", "--seconds", "40", "--no-limits",
           *(word for name in OPERATIONS for word in ("--operation", name)))  # fmt: skip
ON = {
    "sqlite": ("--on", "sqlite", "--vary", "durability", "--vary", "cache=268435456,1048576"),
    # Two servers, of which one is two sessions after each other.
    "postgresql": ("--on", "postgresql", "--vary", "join=hash,merge", "--vary", "index=all,none"),
}
BLOCKS_MIN = 8


def blocks(run: Run) -> Iterator[tuple[str, int, set[str], set[tuple[int, ...]]]]:
    """(operation, block, its variants, the variations that each of them ran)."""
    found: dict[tuple[str, int], dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
    for result in run.results:
        if result.cell.variant == "null":
            continue
        for sample in result.samples:
            place = result.cell.operation, sample.round
            found[place][result.cell.variant].append(sample.variation)
    for (operation, number), ran in found.items():
        yield operation, number, set(ran), {tuple(one) for one in ran.values()}


def check(run: Run) -> None:
    """Every block has every combination once, with the same work; every answer is right; every
    variant's settings are what was asked."""
    assert not run.pending
    assert run.plan.study is not None
    assert all(answer.right for result in run.results for answer in result.answers)
    seen = defaultdict(set)
    variants = set(run.plan.variants) - {"null"}
    for operation, number, ran, variations in blocks(run):
        assert ran == variants, (operation, number)
        assert len(variations) == 1
        seen[operation].add(number)
    assert set(seen) == set(OPERATIONS)
    assert all(len(numbers) >= BLOCKS_MIN for numbers in seen.values())
    terms = {(term.variant, term.key): term for term in run.terms}
    for combination in run.plan.study.combinations:
        for switch in run.plan.study.switches:
            wanted = switch.other if switch.tactic in combination.flipped else switch.base
            term = terms[combination.variant, switch.tactic]
            assert (term.asked, term.read_back) == (wanted, wanted)


@pytest.mark.slow
@pytest.mark.parametrize("engine", sorted(ON))
def test_a_study_measures_whole_blocks_and_shows_its_map(desk: Desk, engine: str) -> None:
    done = desk.run("study", *ON[engine], *CHOICES, "--record", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    check(desk.read())
    for operation in OPERATIONS:
        assert f"\n{operation}: " in done.stderr, "reported as it ended"
        assert f"\n{operation} " in done.stdout
    assert f"wisconsin on {engine}" in done.stdout
    assert ": 2 switches, two-ended" in done.stdout
    assert desk.leftovers() == []


@pytest.mark.slow
def test_a_killed_study_continues_with_whole_blocks(desk: Desk, chance: random.Random) -> None:
    process = desk.start("study", *ON["sqlite"], *CHOICES, "--record", "r.loadstone", "--no-report")
    assert process.stderr is not None
    while "min-partitions-heap" not in (line := process.stderr.readline()) or "after 1" in line:
        assert line, "it ended before its first operation did"
    select.select([], [], [], chance.random() * 4)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate(timeout=60)
    before = desk.read().results
    assert before, "the first operation was recorded as it ended"
    done = desk.run("study", "--resume", "r.loadstone", "--no-report")
    assert done.returncode == 0, done.stderr
    run = desk.read()
    check(run)
    assert run.results[: len(before)] == before or len(before) % len(run.plan.variants)
