"""A block of a program's measures: what is warmed up, and what is metered."""

import resource
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark, call_of
from loadstone.benchmarks.oo1.database import Database
from loadstone.clients.oo1.loops import run
from loadstone.clients.oo1.null import NullDriver
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Load, Open, TakeBlock
from loadstone.protocol.parts import Block, StoredAt, Variation
from loadstone.statistics import validity
from loadstone.worker.client_requests import ClientRequests

PARTS = 200
OPERATIONS = {item.name: item for item in Oo1Benchmark().operations("1992", PARTS)}
STORED = StoredAt("oo1", "1992", PARTS, Oo1Benchmark().stored_relations("1992")[0])
SPIN_NS = 1_000_000


def worker_in(folder: Path, engine: str = "sqlite") -> ClientRequests:
    worker = ClientRequests(lambda kind: None)
    worker.open(Open(Variant(engine), str(folder), "owner"))
    worker.load(Load(STORED))
    return worker


def block(operation: str, first: int, count: int, **values: Any) -> TakeBlock:
    """As the runner requests it."""
    texts = OPERATIONS[operation].texts[first : first + count]
    values = {"temperature": "warm", "round": 0, "warming": OPERATIONS[operation].warming} | values
    warming = tuple(Variation(-1, text, "", 0, "") for text in values.pop("warming"))
    return TakeBlock(
        Block(
            benchmark="oo1",
            edition="1992",
            rows=PARTS,
            design="oo1",
            destination="client",
            variations=tuple(
                Variation(first + at, text, "", 0, "") for at, text in enumerate(texts)
            ),
            warm_up=1,
            first_ordinal=first,
            warming=warming,
            **values,
        )
    )


def asked_by(worker: ClientRequests) -> list[tuple[str, int]]:
    """Every measure from here on, warm-up included."""
    asked: list[tuple[str, int]] = []
    measure = worker.client.measure

    def listen(name: str, iteration: int) -> Any:
        asked.append((name, iteration))
        return measure(name, iteration)

    worker.client.measure = listen  # type: ignore[method-assign]
    return asked


def test_no_sample_repeats_what_was_asked_before_it(tmp_path: Path) -> None:
    worker = worker_in(tmp_path)
    asked = asked_by(worker)
    for number in range(8):
        worker.take_block(block("lookup", 4 * number, 4, round=number))
    sampled = [call_of(OPERATIONS["lookup"].texts[number]) for number in range(32)]
    warmed = [each for each in asked if each not in sampled]
    assert [each for each in asked if each in sampled] == sampled
    assert len(warmed) == 3 + 7, "all of them for an engine that was just loaded, then one a block"
    worker.remove()


def test_an_engine_that_was_started_is_warmed_up_anew(tmp_path: Path) -> None:
    worker = worker_in(tmp_path)
    asked = asked_by(worker)
    counts = []
    for number, restarted in enumerate((False, False, True, False)):
        if restarted:
            worker.restart()
        asked.clear()
        worker.take_block(block("lookup", number, 1, round=number))
        counts.append(len(asked) - 1)
    assert counts == [3, 1, 3, 1]
    worker.remove()


def test_a_hot_block_is_warmed_up_on_its_own_input(tmp_path: Path) -> None:
    worker = worker_in(tmp_path)
    asked = asked_by(worker)
    worker.take_block(block("lookup", 0, 1, temperature="hot", warming=[]))
    assert asked == [("lookup", 1), ("lookup", 1)]
    worker.remove()


def test_a_clock_too_coarse_for_a_measure_counts_as_one_nanosecond(tmp_path: Path) -> None:
    worker = worker_in(tmp_path)
    measure = worker.client.measure
    worker.client.measure = lambda *asked: replace(  # type: ignore[method-assign]
        measure(*asked), elapsed_ns=0
    )
    (sample,) = worker.take_block(block("lookup", 0, 1)).samples
    assert sample.elapsed_ns == 1
    worker.remove()


class Thinker(NullDriver):
    """Writes at once; computes when it is looked at, and when what it wrote is taken back."""

    def find(self, number: int) -> Any:
        spin()
        return super().find(number)

    def remove(self, first: int, last: int) -> None:
        spin()


def spin() -> None:
    until_ns = own_ns() + SPIN_NS
    while own_ns() < until_ns:
        pass


def own_ns() -> int:
    used = resource.getrusage(resource.RUSAGE_THREAD)
    return round((used.ru_utime + used.ru_stime) * 1e9)


@pytest.mark.parametrize("measure", ["insert", "update"])
def test_the_look_at_what_was_written_is_nobodys_work(measure: str) -> None:
    before_ns = own_ns()
    found = run(Thinker(), Database(PARTS), measure, 1)
    assert own_ns() - before_ns >= 100 * SPIN_NS, "it was not looked at"
    assert found.work.client_cpu_ns is not None
    assert found.work.client_cpu_ns < 20 * SPIN_NS


@pytest.mark.parametrize("engine", ["memory", "sqlite", "lmdb", "lode"])
@pytest.mark.parametrize("measure", ["insert", "update", "lookup"])
def test_no_thread_computes_for_longer_than_the_clock_ran(
    engine: str, measure: str, tmp_path: Path
) -> None:
    worker = worker_in(tmp_path, engine)
    reply = worker.take_block(block(measure, 0, 10))
    assert all(sample.client_cpu_ns for sample in reply.samples)
    assert validity.of_work(reply.samples) == ""
    worker.remove()


def test_the_counts_of_a_program_are_in_each_sample(tmp_path: Path) -> None:
    worker = worker_in(tmp_path)
    found = {
        measure: worker.take_block(block(measure, 0, 1)).samples[0]
        for measure in ("lookup", "traversal", "insert", "nothing")
    }
    # SQLite's own: BEGIN and COMMIT around each, and a part and three connections a new part.
    assert {name: sample.statements for name, sample in found.items()} == {
        "lookup": 1_002, "traversal": 3_280 + 1_093 + 2, "insert": 402, "nothing": 2,
    }  # fmt: skip
    assert {sample.round_trips for sample in found.values()} == {None}
    assert (found["lookup"].calls, found["traversal"].calls) == (1_000, 4_373)
    worker.remove()


def test_terms_are_of_the_loaded_database(tmp_path: Path) -> None:
    worker = ClientRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite", (("access", "objects"),)), str(tmp_path), "owner"))
    assert worker.terms().terms["setting.access"] == "none"
    worker.load(Load(STORED))
    reported = worker.terms().terms
    assert reported["setting.access"] == "object (rowid), object_build (build)"
    assert reported["access"] == "objects"
    worker.remove()
