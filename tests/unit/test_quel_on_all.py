"""lode beside other engines: a random QUEL program gives in lode, which runs QUEL, what its
translation gives in DuckDB and in SQLite. No oracle is asked."""

import itertools
from collections.abc import Iterator

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from quel_engines import ENGINES, InMemory, updated
from quel_programs import retrieves, updates

from loadstone import _core
from loadstone.lode import Database, tactics
from loadstone.quel import tree

ROWS = 200
RELATIONS = ("onektup", "tenktup1", "tenktup2", "bprime")
RANGES = "range of t is tenktup1 range of w is tenktup2 range of o is onektup range of b is bprime "
KINDS = {"int2": "i2", "int4": "i4"}
OF_QUERIES = ("execution", "join", "optimizer", "aggregate", "distinct", "accelerator", "simd")
"""Of these tactics each value is paired with each of another at least in the crate's own tests;
here each is there once."""

DESIGNS = itertools.cycle(
    [
        {},
        {"organisation": "clustered", "key": ["unique2"], "indexes": ["unique1", "ten"]},
        {"organisation": "hash", "key": ["unique1"], "indexes": ["two"]},
    ]
)


def variants() -> list[dict[str, str]]:
    """Tactics in which every value of each is once."""
    known = {one["name"]: [value for value, _ in one["values"]] for one in tactics()}
    values = {name: known[name] for name in OF_QUERIES if name in known}
    values["parallelism"] = ["1", "2"]
    longest = max(map(len, values.values()))
    return [{name: of[at % len(of)] for name, of in values.items()} for at in range(longest)]


class Lode:
    """The relations in a database of lode, under some tactics."""

    def __init__(self, database: Database, design: dict[str, object]) -> None:
        self.database = database
        for relation in RELATIONS:
            stream = _core.RelationStream("wisconsin", "1993", relation, ROWS)
            attributes = [
                (name, KINDS.get(kind, "c52"))
                for name, kind in _core.attributes("wisconsin", "1993", relation)
            ]
            database.load(relation, attributes, pa.RecordBatchReader.from_stream(stream), **design)
        database.settle(*RELATIONS)

    def answer(self, text: str) -> tuple[int, str]:
        """As of the engines of SQL."""
        if tree.parse(text)[-1]["kind"] == "retrieve":
            return _core.answer_of_stream(self.database.query(text))
        changed = self.database.execute(text)
        contents = self.database.query(f"range of x is {updated(text)} retrieve (x.all)")
        return changed, _core.answer_of_stream(contents)[1]


@pytest.fixture(scope="module", params=variants(), ids=lambda one: "&".join(one.values()))
def lode(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Lode]:
    path = tmp_path_factory.mktemp("lode") / "a.lode"
    with Database(path, durability="none", cache="4MiB", extent=4, **request.param) as database:
        yield Lode(database, next(DESIGNS))


@pytest.fixture(scope="module")
def engines() -> list[InMemory]:
    return [made("1993", RELATIONS, ROWS) for made in ENGINES.values()]


@settings(max_examples=40)
@given(statement=retrieves())
def test_a_query_has_one_answer(lode, engines, statement):
    text = tree.render([*tree.parse(RANGES), statement])
    answer = lode.answer(text)
    for engine in engines:
        assert engine.answer(text) == answer, (engine.dialect, text, engine.translated(text).text)


@settings(max_examples=15)
@given(statements=st.lists(updates(), min_size=1, max_size=4))
def test_updates_leave_the_same(lode, engines, statements):
    texts = [tree.render([*tree.parse(RANGES), statement]) for statement in statements]
    lode.database.execute(f"{RANGES} retrieve into kept (t.all)")
    for engine in engines:
        engine.rows("BEGIN")
    try:
        for text in texts:
            answer = lode.answer(text)
            for engine in engines:
                assert engine.answer(text) == answer, (engine.dialect, texts)
    finally:
        for engine in engines:
            engine.rows("ROLLBACK")
        again = "range of k is kept delete t append to tenktup1 (k.all) destroy kept"
        lode.database.execute(RANGES + again)
    assert lode.answer(f"{RANGES} retrieve (t.all)") == engines[0].contents("tenktup1")
