"""The INGRES queries: they give the counts that follow from the paper, SQL and the oracle answer
alike, rows are inserted late, and the published tables are whole."""

import hashlib
import re
import tomllib
from pathlib import Path

import pytest
from pyarrow import csv, ipc, parquet
from quel_engines import ENGINES

from loadstone import _core
from loadstone.benchmarks.ingres import benchmark as module
from loadstone.benchmarks.ingres.benchmark import PUBLISHED_ROWS, IngresBenchmark
from loadstone.errors import InputError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Found, Load, LookUp, Open
from loadstone.protocol.parts import Block, StoredAt, Variation
from loadstone.quel import tree
from loadstone.worker.statement_requests import StatementRequests

BENCHMARK = IngresBenchmark()
RELATIONS = ("parts", "wideparts")
COUNTS = {"a": 1, "b": 3_360, "c": 3_358, "d": 2_400, "e": 2_499, "f": 3_360, "g": 240, "h": 2_499,
          "i": 240}  # fmt: skip
"""Rows of each query at 3,360 tuples."""
MISPRINTS = {
    ("2", "b", 1): -8.9,
    ("5", "g", PUBLISHED_ROWS): 83.3,
    ("6", "c", 1): 4.3,
    ("6", "i", PUBLISHED_ROWS): 41.0,
    ("6", "d", PUBLISHED_ROWS): 7.4,
}
"""(Table, query, tuples) -> the improvement that follows from the printed times, in %."""
KEYED = ("keyed", "hash")
DOCUMENT = Path(__file__).parents[2] / "docs/reference/data.md"


def oracle(edition, rows):
    made = _core.Oracle()
    for relation in RELATIONS:
        made.add("ingres", edition, relation, rows)
    return made


@pytest.mark.parametrize("edition", BENCHMARK.editions)
def test_the_queries_give_the_counts_that_follow_from_the_paper(edition):
    truth = oracle(edition, PUBLISHED_ROWS)
    for operation in BENCHMARK.operations(edition, PUBLISHED_ROWS):
        rows, _ = truth.answer(operation.texts[0])
        assert rows == COUNTS[operation.query], operation.name


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("rows", [1, 210, PUBLISHED_ROWS])
def test_sql_and_oracle_agree(engine, rows):
    sql = ENGINES[engine]("1981", RELATIONS, rows, benchmark="ingres")
    truth = oracle("1981", rows)
    for text in {operation.texts[0] for operation in BENCHMARK.operations("1981", rows)}:
        assert sql.answer(text) == truth.answer(text), text


def test_a_range_of_part_numbers_scales_with_the_relation():
    operations = {op.name: op for op in BENCHMARK.operations("large", 10 * PUBLISHED_ROWS)}
    assert "p.pnum < 25000" in operations["e-range-isam"].texts[0]
    assert "p.pnum > 3 " in operations["c-select-any-of-three"].texts[0]


def test_operations_are_well_formed():
    operations = BENCHMARK.operations("1981", PUBLISHED_ROWS)
    assert len({op.name for op in operations}) == len(operations)
    assert "".join(op.query for op in operations) == "abcdefghi" + "efghi"
    designs = {(item.relation, item.design) for item in BENCHMARK.stored_relations("1981")}
    for op in operations:
        assert op.storage in ("heap", "clustered", "hash")
        for statement in tree.parse(op.texts[0]):
            if statement["kind"] == "range":
                assert (statement["relation"], op.design) in designs
    same = {op.query: op.texts[0] for op in operations}
    assert all(op.texts[0] == same[op.query] for op in operations), "ISAM and hash differ"


def test_the_documents_checksums(tmp_path):
    known = re.findall(
        r"\| ingres 1981 \| 3,360 \| (\w+) \| 3,360 \| `(\w{64})`", DOCUMENT.read_text()
    )
    assert [relation for relation, _ in known] == list(RELATIONS)
    for relation, digest in known:
        path = tmp_path / f"{relation}.csv"
        _core.export("ingres", "1981", relation, PUBLISHED_ROWS, str(path), "csv")
        assert hashlib.sha256(path.read_bytes()).hexdigest() == digest


@pytest.mark.parametrize("suffix", ["csv", "parquet", "arrow"])
def test_files_hold_texts_without_their_blanks(tmp_path, suffix):
    path = tmp_path / f"parts.{suffix}"
    _core.export("ingres", "1981", "parts", 14, str(path), suffix)
    readers = {"csv": csv.read_csv, "parquet": parquet.read_table}
    table = readers[suffix](path) if suffix in readers else ipc.open_file(path).read_all()
    assert table.column("pname").to_pylist()[:2] == ["central processor", "memory"]


@pytest.mark.parametrize(("edition", "rows"), [("1981", 0), ("1981", 32_768), ("1995", 10)])
def test_a_scale_or_edition_that_is_not_defined(edition, rows):
    with pytest.raises(InputError) as raised:
        BENCHMARK.operations(edition, rows)
    assert raised.value.hint


def test_published_tables():
    published = BENCHMARK.published()
    names = {op.name for op in BENCHMARK.operations("1981", PUBLISHED_ROWS)}
    timed = [table for table in published.tables if table.unit == "s"]
    others = {table.number for table in published.tables} - {table.number for table in timed}
    assert others == {"3", "4", "8"}
    assert {table.number for table in timed} == {"1", "2", "5", "6", "9"}
    assert {table.scale for table in timed} == set(BENCHMARK.default_scales)
    assert sum(len(table.rows) for table in timed) == 5 * 15
    for table in timed:
        assert {row[1] for row in table.rows} <= names
        assert set(table.systems) <= set(published.systems)


def test_the_estimates_of_mangos_follow_from_reads_and_messages():
    """CPU time less 0.260 ms a read and 1.391 ms a message, which the paper's text says."""
    tables = BENCHMARK.published().tables
    counted = {(row[0], t.scale): row[2] for t in tables if t.number == "8" for row in t.rows}
    estimated = {(row[0], t.scale): row[2] for t in tables if t.number == "9" for row in t.rows}
    assert counted.keys() == estimated.keys()
    for place, times in estimated.items():
        reads, messages = counted[place].values()
        saved = reads * 0.260e-3 + messages * 1.391e-3
        digits = 3 if times["INGRES"] < 1 else 2 if times["INGRES"] < 10 else 1
        found = times["INGRES"] - saved
        # Rounded, or cut off after its last digit.
        assert found == pytest.approx(times["MANGOS"], abs=10**-digits), place


def test_the_gains_of_microcode_follow_from_shares_and_savings():
    tables = {table.number: table for table in BENCHMARK.published().tables}
    shares = {row[0].partition(":")[0]: row[2] for row in tables["3"].rows}
    for routine, _, values in tables["4"].rows:
        _, saved, each, faster, gain = values.values()
        assert faster == pytest.approx(100 * saved / each, abs=0.1)
        share = next(iter(shares[routine].values()))
        assert gain == pytest.approx(share * faster / 100, abs=0.13), routine


def test_the_printed_improvements_follow_from_the_printed_times():
    """A slip in the transcription would show here; those of the paper are known."""
    file = Path(module.__file__).with_name("published.toml")
    for table in tomllib.loads(file.read_text("utf-8"))["table"]:
        for row in table["rows"]:
            if "improvement" not in row:
                continue
            new, old = row["values"]
            # The paper divides the small rows of its Table 9 by the old time.
            of_old = table["number"] == "9" and old < 0.2
            found = 100 * (old - new) / (old if of_old else new)
            place = (table["number"], row["query"], row["tuples"])
            printed = MISPRINTS.get(place, row["improvement"])
            assert found == pytest.approx(printed, abs=0.9, rel=0.01), place
            if place in MISPRINTS:
                assert found != pytest.approx(row["improvement"], abs=0.3), place


@pytest.mark.parametrize("engine", ["sqlite", "duckdb", "lode"])
@pytest.mark.parametrize("design", KEYED)
def test_late_rows_are_inserted_and_all_are_there(tmp_path, engine, design):
    stored = next(item for item in BENCHMARK.stored_relations("1981") if item.design == design)
    at = StoredAt("ingres", "1981", PUBLISHED_ROWS, stored)
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant(engine), str(tmp_path), "owner"))
    try:
        if not worker.engine.capabilities.structures[stored.organisation].supported:
            pytest.skip(f"{engine} has no such structure")
        assert worker.load(Load(at)).tuples == PUBLISHED_ROWS
        truth = oracle("1981", PUBLISHED_ROWS).contents("wideparts")
        assert worker.look_up(LookUp(at)) == Found(truth)
        assert len(worker.engine.tables()) == 1
    finally:
        worker.remove()


def test_late_rows_lie_behind_the_others(tmp_path):
    """If nothing has room between, the insertion order shows: else they were never late."""
    stored = next(item for item in BENCHMARK.stored_relations("1981") if item.design == "keyed")
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("duckdb"), str(tmp_path), "owner"))
    try:
        at = StoredAt("ingres", "1981", PUBLISHED_ROWS, stored)
        worker.load(Load(at))
        table = worker.engine.quote(worker.engine.stored_name(at.table))
        order = f"SELECT pnum FROM {table} ORDER BY rowid LIMIT 3 OFFSET 3229"
        assert [row[0] for row in worker.engine.fetch(order)] == [3360, 13, 39]
    finally:
        worker.remove()


def test_a_querys_rows_are_written_to_a_file(tmp_path):
    operation = BENCHMARK.operations("1981", 210)[2]
    stored = BENCHMARK.stored_relations("1981")[0]
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    try:
        worker.load(Load(StoredAt("ingres", "1981", 210, stored)))
        answer = oracle("1981", 210).answer(operation.texts[0])
        variation = Variation(0, operation.texts[0], "", *answer)
        block = Block(
            benchmark="ingres", edition="1981", rows=210, design="heap", destination="file",
            storage="heap", temperature="warm", variations=(variation,), warm_up=0,
            first_ordinal=0, round=0,
        )  # fmt: skip
        result = worker._timer().take(block)
        assert all(check.right for check in result.answers)
        lines = (tmp_path / "rows.txt").read_text("utf-8").splitlines()
        assert lines[:2] == ["disk drive\t3", "tape drive\t4"]
        assert len(lines) == answer[0]
    finally:
        worker.remove()
