"""The answers of OO1, recomputed by the code that docs/reference/oo1.md prints, from files that
anybody can have: no line of the benchmark's own is in it."""

import csv
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from loadstone import _core
from loadstone.benchmarks.oo1.benchmark import Oo1Benchmark

PARTS, DEPTH = 1_000, 7
MASK = 2**64 - 1
DOCUMENT = Path(__file__).parents[2] / "docs/reference/oo1.md"
BENCHMARK = Oo1Benchmark()
OPERATIONS = {operation.name: operation for operation in BENCHMARK.operations("1992", PARTS)}
PLACE = 99_999
BUILD_SUM_S = int(datetime(1980, 1, 1, tzinfo=UTC).timestamp()) + int(
    datetime(1989, 12, 31, 23, 59, 59, tzinfo=UTC).timestamp()
)


def printed() -> dict[str, Any]:
    """The functions of the document."""
    (code,) = re.findall(r"```python\n(.*?)```", DOCUMENT.read_text("utf-8"), re.DOTALL)
    found: dict[str, Any] = {}
    exec(code, found)  # noqa: S102 - the document's own example
    return found


CODE = printed()


class Stranger:
    """Somebody with the CSV files and the page."""

    def __init__(self, folder: Path) -> None:
        self.parts = {
            int(row["id"]): (int(row["id"]), int(row["x"]), int(row["y"]), row["type"].strip())
            for row in rows_of(folder / "part.csv")
        }
        self.build_s = {
            int(row["id"]): int(
                datetime.fromisoformat(row["build"]).replace(tzinfo=UTC).timestamp()
            )
            for row in rows_of(folder / "part.csv")
        }
        self.to: dict[int, list[tuple[int, int, str]]] = defaultdict(list)
        self.back: dict[int, list[int]] = defaultdict(list)
        for row in rows_of(folder / "connection.csv"):
            frm, too = int(row["frm"]), int(row["too"])
            self.to[frm].append((too, int(row["length"]), row["type"].strip()))
            self.back[too].append(frm)

    def part(self, number: int) -> int:
        return int(CODE["part"](*self.parts[number]))

    def built(self, first_s: int, end_s: int) -> list[int]:
        return [number for number, at_s in self.build_s.items() if first_s <= at_s < end_s]

    def walk(self, start: int, follow: Callable[[int], list[int]]) -> Iterator[int]:
        level = [start]
        for _ in range(DEPTH + 1):
            yield from map(self.part, level)
            level = [end for number in level for end in follow(number)]

    def forward(self, number: int) -> list[int]:
        return [too for too, _, _ in self.to[number]]

    def in_order(self, number: int, depth: int) -> Iterator[int]:
        yield number
        if depth:
            for _, too in sorted((length, too) for too, length, _ in self.to[number]):
                yield from self.in_order(too, depth - 1)

    def links(self, number: int) -> Iterator[int]:
        for too, length, kind in self.to[number]:
            yield int(CODE["link"](number, too, length, kind))

    def inserted(self, new_parts: list[Any]) -> Iterator[int]:
        for number, x, y, kind, build_s, links in new_parts:
            self.parts[number], self.build_s[number] = (number, x, y, kind), build_s
            self.to[number] = [tuple(link) for link in links]
            for too, _, _ in links:
                self.back[too].append(number)
        for number, *_ in new_parts:
            yield self.part(number)
            yield from map(self.part, self.built(self.build_s[number], self.build_s[number] + 1))
            yield from self.links(number)
            for too in self.forward(number):
                yield self.part(too)
                yield from map(self.part, self.back[too])

    def updated(self, before: list[list[int]]) -> Iterator[int]:
        for number, _ in before:
            _, x, y, kind = self.parts[number]
            self.parts[number] = (number, PLACE - x, PLACE - y, kind)
            self.build_s[number] = BUILD_SUM_S - self.build_s[number]
        for number, before_s in before:
            yield self.part(number)
            for second in (before_s, BUILD_SUM_S - before_s):
                yield from map(self.part, self.built(second, second + 1))

    def seen(self, measure: str, asked: Any) -> Iterator[int]:
        if measure in ("lookup", "lookup-batch"):
            yield from map(self.part, asked)
        elif measure.startswith("traversal"):
            yield from self.walk(asked[0], self.forward)
        elif measure.startswith("reverse"):
            yield from self.walk(asked[0], lambda number: self.back[number])
        elif measure == "range":
            yield from map(self.part, self.built(*asked))
        elif measure == "scan":
            yield from (int(CODE["point"](x, y)) for _, x, y, _ in self.parts.values())
        elif measure == "reference":
            yield from (self.part(too) for _, too in asked)
        elif measure == "group":
            yield from (link for number in asked for link in self.links(number))
        else:
            yield from (self.inserted if measure == "insert" else self.updated)(asked)

    def answer(self, measure: str, asked: Any) -> tuple[int, str]:
        total = count = 0
        if measure == "ordered":
            for number in self.in_order(asked[0], DEPTH):
                turned = CODE["rotated"](total, 7) * CODE["ODD"] & MASK
                total, count = turned ^ self.part(number), count + 1
            return count, f"{total:016x}"
        for one in self.seen(measure, asked):
            total, count = (total + one) & MASK, count + 1
        return count, f"{total:016x}"


def rows_of(path: Path) -> list[dict[str, str]]:
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return exported(tmp_path_factory.mktemp("data"), PARTS)


def exported(made: Path, parts: int) -> Path:
    subprocess.run(
        [sys.executable, "-m", "loadstone", "data", "oo1", "--rows", str(parts),
         "--format", "csv", "--out", str(made)],
        check=True, capture_output=True,
    )  # fmt: skip
    return made


@pytest.mark.parametrize(
    "measure",
    [name for name in _core.oo1_measures() if name not in ("nothing", "empty", "constant")],
)
def test_a_stranger_finds_the_same_answer(folder: Path, measure: str) -> None:
    oracle = _core.Oo1Oracle(PARTS)
    for variation in range(2):
        asked = json.loads(BENCHMARK.input("1992", PARTS, OPERATIONS[measure], variation))
        assert Stranger(folder).answer(measure, asked) == oracle.answer(measure, variation + 1)


def test_a_part_drawn_twice_is_as_before_and_looked_at_twice(tmp_path: Path) -> None:
    """In every draw the second looked at is S - before, although it is not built in that now."""
    parts, variation = 20_000, 3
    updates = next(o for o in BENCHMARK.operations("1992", parts) if o.name == "update")
    asked = json.loads(BENCHMARK.input("1992", parts, updates, variation))
    drawn = [number for number, _ in asked]
    (twice,) = {number for number in drawn if drawn.count(number) > 1}
    folder = exported(tmp_path / "data", parts)
    stranger = Stranger(folder)
    as_it_was = stranger.parts[twice], stranger.build_s[twice]
    expected = _core.Oo1Oracle(parts).answer("update", variation + 1)
    assert stranger.answer("update", asked) == expected
    assert (stranger.parts[twice], stranger.build_s[twice]) == as_it_was
    once = [draw for place, draw in enumerate(asked) if draw not in asked[:place]]
    assert Stranger(folder).answer("update", once) != expected


def test_the_inputs_can_be_printed() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "loadstone", "benchmarks", "oo1", "--inputs", "traversal",
         "--rows", "1000", "--count", "3"],
        check=True, capture_output=True, text=True,
    )  # fmt: skip
    lines = [line.split("\t") for line in done.stdout.splitlines()]
    assert [int(number) for number, _ in lines] == [0, 1, 2]
    assert [json.loads(text) for _, text in lines] == [
        _core.oo1_inputs(1_000, 1, True, "traversal", number + 1) for number in range(3)
    ]
