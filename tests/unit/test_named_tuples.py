"""The check of an update by the tuples that it concerns: what it expects, and what it can miss."""

import pyarrow as pa
import pytest

from loadstone import registry
from loadstone._core import RelationStream, answer_of_rows, attributes
from loadstone.benchmarks.expected import QuelAnswers
from loadstone.engines.capabilities import Attribute, Table
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.plan.variant import Variant
from loadstone.protocol.parts import Block, Named, Variation
from loadstone.quel.named_tuples import named_tuples
from loadstone.worker.statement_timer import StatementTimer

ROWS = 1000
T = "range of t is onektup "
APPEND = "append to onektup (unique1 = 1000, unique2 = 1000)"
OFF = T + "delete t where t.unique1 = 1000"


def answers(edition="1993", rows=ROWS):
    benchmark = registry.load_benchmark("wisconsin")()
    relations = sorted({each.relation for each in benchmark.stored_relations(edition)})
    return benchmark, QuelAnswers("wisconsin", edition, rows, relations)


@pytest.mark.parametrize(("edition", "rows"), [("1993", ROWS), ("1983", 10_000)])
def test_what_is_expected_by_name_is_what_the_oracle_finds_there(edition, rows):
    benchmark, expected = answers(edition, rows)
    updates = [each for each in benchmark.operations(edition, rows) if each.undo]
    assert updates
    for operation in updates:
        for number in (0, 1, 9):
            named = expected.named(operation, number)
            assert named is not None, operation.name
            update = operation.texts[number]
            found = [expected._oracle.answer(f"{update}\n{query}")[1] for query in named.queries]
            reported = f"{sum(int(each, 16) for each in found) % 2**64:016x}"
            assert named.checksum == reported, f"{operation.name} {number}"


def test_an_append_and_its_undo_name_one_tuple():
    found = named_tuples(APPEND, OFF)
    assert (found.relation, found.growth) == ("onektup", 1)
    assert found.query == "range of t is onektup\nretrieve (t.all) where t.unique1 = 1000\n"


@pytest.mark.parametrize(
    ("text", "undo"),
    [
        (APPEND, T + "delete t where t.unique1 > 999"),
        (APPEND, T + "delete t where t.two = 1"),
        (APPEND, T + "delete t"),
        (T + "replace t (two = 1)", T + "replace t (two = 0) where t.two = 1"),
        (T + "replace t (two = t.four) where t.two = 1", T + "replace t (two = 1) where t.two = 0"),
        (APPEND, "range of t is bprime delete t where t.unique1 = 1000"),
        (T + "range of u is bprime delete t where t.unique1 = u.unique1", APPEND),
    ],
)
def test_where_the_texts_do_not_say_it_the_relation_is_read_whole(text, undo):
    assert named_tuples(text, undo) is None


class Silent(SqliteEngine):
    """SQLite, which does not say how many tuples it changed: it would count those of triggers."""

    def run(self, statement):
        super().run(statement)
        return -1


@pytest.fixture
def sqlite(tmp_path):
    engine = Silent(Variant("sqlite"), tmp_path, "owner")
    engine.start()
    pairs = [Attribute(*pair) for pair in attributes("wisconsin", "1993", "onektup")]
    stream = RelationStream("wisconsin", "1993", "onektup", ROWS)
    engine.load(
        Table(f"onektup_heap_{ROWS}", tuple(pairs)), pa.RecordBatchReader.from_stream(stream)
    )
    yield engine
    engine.remove()


def block(times):
    _, expected = answers()
    operation = type("Update", (), {"texts": (APPEND,), "undo": (OFF,)})
    named = expected.named(operation, 0)
    reported = Named(named.queries, named.checksum)
    variations = tuple(
        Variation(number, APPEND, OFF, *expected.of(operation, 0), named=reported)
        for number in range(times)
    )
    return Block("wisconsin", "1993", ROWS, "heap", "update", "warm", variations, 0, 0, 0)


def taken(engine, times=3):
    result = StatementTimer(engine, lambda _: None).take(block(times))
    return [answer.right for answer in result.answers]


def test_a_right_engine_is_right_by_name_and_as_a_whole(sqlite, monkeypatch):
    read, contents = [], sqlite.contents
    monkeypatch.setattr(sqlite, "contents", lambda table: read.append(table) or contents(table))
    assert taken(sqlite) == [True, True, True]
    assert read == [f"onektup_heap_{ROWS}"], "whole for the last one only"


TABLE = f"onektup_heap_{ROWS}"
OTHERS = f"UPDATE {TABLE} SET two = 1 - two WHERE unique1 = 5"
FAULTS = {
    "the tuple is another": (f"UPDATE {TABLE} SET four = 3 WHERE unique1 = 1000", "", 1),
    "a tuple too many is gone": (f"DELETE FROM {TABLE} WHERE unique1 = 6", "", 1),
    "another tuple is changed": (OTHERS, "", 3),
    "another is changed, and the undo takes it back": (OTHERS, OTHERS, 3),
}


@pytest.mark.parametrize("fault", FAULTS)
def test_what_a_wrong_engine_does_is_seen_at_once_or_by_the_end_of_the_block(sqlite, fault):
    inserted, deleted, seen = FAULTS[fault]
    for event, step in (("INSERT", inserted), ("DELETE", deleted)):
        if step:
            sqlite.run(f"CREATE TRIGGER on_{event} AFTER {event} ON {TABLE} BEGIN {step}; END")
    right = taken(sqlite)
    assert right == [True] * (seen - 1) + [False], fault


def test_the_number_of_all_tuples_is_part_of_what_is_expected():
    benchmark, expected = answers()
    operation = next(each for each in benchmark.operations("1993", ROWS) if each.undo)
    named = expected.named(operation, 0)
    tuples, counting = named.queries
    (changed,) = [expected._oracle.answer(f"{operation.texts[0]}\n{tuples}")]
    counted = answer_of_rows([(ROWS + 1,)])
    assert "count" in counting
    assert int(named.checksum, 16) == (int(changed[1], 16) + int(counted[1], 16)) % 2**64
