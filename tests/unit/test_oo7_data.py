"""OO7's relations through the built module: the whole database drawn again in Python; checksums."""

import hashlib
import re
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.csv
import pytest

from loadstone import _core

DOCUMENT = Path(__file__).parents[2] / "docs/reference/data.md"
CHECKSUM = re.compile(r"\| oo7 (\S+) \| ([\d,]+) \| (\w+) \| ([\d,]+) \| `([0-9a-f]{64})` \|")
MODULUS = 2**31 - 1
Rows = dict[str, list[tuple[int | str, ...]]]


class Original:
    """The original program's order of work: what it makes, one object after another."""

    def __init__(self, parts: int, fan_out: int, seed: int) -> None:
        self.state = seed
        self.fan_out = fan_out
        self.modules = max(1, -(-parts // 100_000))
        self.composites = 500 * self.modules
        self.each = parts // self.composites
        names = "module complexassembly baseassembly componentpriv componentshar"
        self.rows: Rows = {name: [] for name in names.split()}
        self.rows |= {"compositepart": [], "atomicpart": [], "connection": []}

    def draw(self, count: int) -> int:
        self.state = self.state * 16807 % MODULUS
        return 1 + self.state * count // MODULUS

    def design(self, low: int) -> tuple[str, int]:
        return f"type{self.draw(10) - 1:03}", low + self.draw(1000) - 1

    def make(self) -> Rows:
        for module in range(1, self.modules + 1):
            root = len(self.rows["complexassembly"]) + 1
            self.rows["module"].append((module, *self.design(1000), root))
            self.assembly(module, 0, 1)
        for composite in range(1, self.composites + 1):
            self.composite(composite)
        return self.rows

    def assembly(self, module: int, parent: int, level: int) -> None:
        name = "baseassembly" if level == 7 else "complexassembly"
        number = len(self.rows[name]) + 1
        described = (number, *self.design(1000), parent, module)
        if level < 7:
            self.rows[name].append((*described, level))
            for _ in range(3):
                self.assembly(module, number, level + 1)
            return
        self.rows[name].append(described)
        for place in (1, 2, 3):
            own = 500 * (module - 1) + self.draw(500)
            self.rows["componentpriv"].append((number, place, own))
        for place in (1, 2, 3):
            self.rows["componentshar"].append((number, place, self.draw(self.composites)))

    def composite(self, number: int) -> None:
        first = (number - 1) * self.each + 1
        described = self.design(0 if number % 10 else 2000)
        self.rows["compositepart"].append((number, *described, first))
        for part in range(first, first + self.each):
            drawn = (self.draw(100_000) - 1 for _ in "xy")
            row = (part, *self.design(1000), *drawn, self.draw(self.composites), number)
            self.rows["atomicpart"].append(row)
        for part in range(self.each):
            for place in range(1, self.fan_out + 1):
                to = (part + 1) % self.each if place == 1 else self.draw(self.each) - 1
                kind, length = f"type{self.draw(10) - 1:03}", self.draw(100_000) - 1
                self.rows["connection"].append((first + part, place, first + to, kind, length))


def rows_of(edition: str, relation: str, parts: int, seed: int) -> Iterator[tuple[object, ...]]:
    stream = _core.RelationStream("oo7", edition, relation, parts, seed)
    table = pa.RecordBatchReader.from_stream(stream).read_all()
    return zip(*(column.to_pylist() for column in table.columns), strict=True)


@pytest.mark.parametrize(
    ("parts", "fan_out", "seed"), [(10_000, 3, 1), (1_000, 9, 7), (101_000, 3, 2), (5_500, 6, 42)]
)
def test_objects_are_those_of_the_original_order_of_work(parts, fan_out, seed):
    for relation, expected in Original(parts, fan_out, seed).make().items():
        assert list(rows_of(f"1993-{fan_out}", relation, parts, seed)) == expected, relation


def test_documents_and_manuals(tmp_path):
    documents = list(rows_of("1993-3", "document", 1_000, 0))
    line = "I am the documentation for composite part #00000042.\n"
    assert documents[41] == (42, "Composite Part 00000042", 42, (line * 9)[:199])
    [manual] = rows_of("1993-3", "manual", 10_000, 0)
    line = "I am the manual for module #00000001.\n"
    assert manual == (1, "Module         00000001", 99_999, (line * 2_632)[:99_999])
    path = tmp_path / "document.csv"
    _core.export("oo7", "1993-3", "document", 1_000, str(path), "csv")
    several = pyarrow.csv.ParseOptions(newlines_in_values=True)
    read = pyarrow.csv.read_csv(path, parse_options=several).to_pylist()
    assert [tuple(row.values()) for row in read] == documents


def test_the_documents_checksums(tmp_path):
    known = CHECKSUM.findall(DOCUMENT.read_text())
    relations = _core.relations("oo7", "1993-3")
    assert [row[2] for row in known if row[:2] == ("1993-3", "10,000")] == relations
    for edition, parts, relation, rows, digest in known:
        path = tmp_path / f"{edition}-{relation}.csv"
        _core.export("oo7", edition, relation, int(parts.replace(",", "")), str(path), "csv")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest, relation
        stream = _core.RelationStream("oo7", edition, relation, int(parts.replace(",", "")))
        assert stream.row_count == int(rows.replace(",", ""))
