"""MANGOS (UCB/ERL M81/62, 1981, section 5), the real thing: the nine queries where they are called,
in another thread, and in another process.

    python selfbench/places.py [--rows 3360] [--rounds 15]

INGRES was processes that sent each other messages; MANGOS was to run them in one address space,
where a message is a pointer. lode executes statements at either place (`loadstone tactics lode
place`), with the same database, caches and plans. Of each query the script counts, at each place,
what Table 8 counts: pages asked of the buffers, messages, and task switches (the kernel's count of
voluntary ones, in which a thread of either side begins to wait); and takes its time in rounds, in
each of which the places come in another order. The rows come to Python, as tuples, at all three.

It does so twice: with idle states left to the system, and held off as in a run of Loadstone. A side
that waits for the other's answer lets its processor sleep, and the longer the answer takes the
deeper; to wake it then costs more than the message.
"""

import argparse
import os
import random
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext
from pathlib import Path
from statistics import median

import pyarrow as pa

from loadstone._core import (
    RelationStream,
    attributes,
    built_and_late,
    clock_ns,
    disable_idle_states,
    interval_of_median,
)
from loadstone.benchmarks.ingres.benchmark import IngresBenchmark
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.lode.engine import LodeEngine
from loadstone.plan.variant import Variant

PLACES = ("embedded", "thread", "server")
MESSAGES = {"embedded": 0, "thread": 2, "server": 2}
"""Of a statement whose answer fits into one: it goes, and its answer comes."""
REPEATED = 5
"""Times of a query in a round, of which the median counts; counts are of all of them."""
EDITION = "1981"


@contextmanager
def opened(place: str, rows: int) -> Iterator[LodeEngine]:
    """Lode at a place, with both relations."""
    with tempfile.TemporaryDirectory(prefix="loadstone-places-") as folder:
        tactics = (("place", place), ("profile", "u-ingres"), ("statement", "text"))
        engine = LodeEngine(Variant("lode", tactics), Path(folder), "places")
        engine.start()
        try:
            load(engine, "parts", rows, organisation="heap")
            load(engine, "wideparts", rows, organisation="clustered")
            yield engine
        finally:
            engine.remove()


def load(engine: LodeEngine, name: str, rows: int, *, organisation: str) -> None:
    """As a run does: those rows that come late are inserted into the relation that is built."""
    relation = ("ingres", EDITION, name, rows)
    own = tuple(Attribute(*pair) for pair in attributes("ingres", EDITION, name))
    built, late = built_and_late(*relation)
    key = "pnum" if organisation == "clustered" else None
    first = pa.RecordBatchReader.from_stream(RelationStream(*relation, count=built))
    engine.load(Table(name, own, organisation, key), first)
    if late:
        rest = pa.RecordBatchReader.from_stream(RelationStream(*relation, first=built))
        engine.load(Table("late", own), rest)
        engine.run(f"range of l is late append to {name} (l.all)")
        engine.drop("late")
    engine.settle([name])


def switches(engine: LodeEngine) -> int:
    """Voluntary task switches of this process and of the engine's, so far."""
    return sum(
        int(line.split()[1])
        for pid in (os.getpid(), *engine.processes())
        for status in Path(f"/proc/{pid}/task").glob("*/status")
        for line in status.read_text(encoding="ascii", errors="replace").splitlines()
        if line.startswith("voluntary_ctxt_switches")
    )


def asked(engine: LodeEngine, text: str) -> tuple[float, float, float]:
    """The time of a query in ns, its pages and its task switches."""
    times = []
    work, before = engine.work(), switches(engine)
    for _ in range(REPEATED):
        begin_ns = clock_ns()
        engine.fetch(text)
        times.append(clock_ns() - begin_ns)
    waited = switches(engine) - before
    pages = engine.work().since(work).pages
    return median(times), pages / REPEATED, waited / REPEATED


def queries(rows: int) -> dict[str, str]:
    """The paper's letter and the text: b to d of the heap, e to i by the key's order."""
    found = {}
    for operation in IngresBenchmark().operations(EDITION, rows):
        if not operation.name.endswith("-hash"):
            found[operation.name[0]] = operation.texts[0]
    return found


def main() -> None:
    """Count and measure."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rows", type=int, default=3_360)
    parser.add_argument("--rounds", type=int, default=15)
    arguments = parser.parse_args()
    draw = random.Random(1981)
    with ExitStack() as stack:
        engines = {place: stack.enter_context(opened(place, arguments.rows)) for place in PLACES}
        print(f"{arguments.rows:,} tuples; us of a query, with the interval of the median")
        for held in (False, True):
            print("idle states " + ("held off" if held else "left to the system"))
            with disable_idle_states() if held else nullcontext():
                for letter, text in queries(arguments.rows).items():
                    found = in_rounds(engines, text, arguments.rounds, draw)
                    for place in PLACES:
                        print(reported(letter, place, found[place], found["embedded"]))


def in_rounds(
    engines: Mapping[str, LodeEngine], text: str, rounds: int, draw: random.Random
) -> Mapping[str, list[tuple[float, float, float]]]:
    """The figures of a query at each place, in rounds that ask all; the first is practice."""
    found: dict[str, list[tuple[float, float, float]]] = {place: [] for place in PLACES}
    for number in range(rounds + 1):
        for place in draw.sample(PLACES, len(PLACES)):
            one = asked(engines[place], text)
            if number:
                found[place].append(one)
    return found


def reported(
    letter: str,
    place: str,
    found: Sequence[tuple[float, float, float]],
    base: Sequence[tuple[float, float, float]],
) -> str:
    """One line of the table."""
    typical, low, high = interval_of_median([time / 1e3 for time, _, _ in found])
    bounds = "" if low is None or high is None else f"({low:,.1f} to {high:,.1f})"
    over = median(one[0] - other[0] for one, other in zip(found, base, strict=True)) / 1e3
    return (
        f"{letter} {place:9} {typical:10,.1f} {bounds:24} {over:+9.1f} over a call;"
        f" {median(pages for _, pages, _ in found):7,.0f} pages,"
        f" {MESSAGES[place]} messages, {median(waits for *_, waits in found):.1f} task switches"
    )


if __name__ == "__main__":
    main()
