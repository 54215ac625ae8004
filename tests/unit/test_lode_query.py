"""lode asked in QUEL from Python: relations, statements, parameters, plans, and what goes wrong."""

import threading

import pyarrow as pa
import pytest

from loadstone.engines.lode.engine import LodeEngine
from loadstone.lode import CancelledError, Database, LodeError, QueryError, Rows, profiles
from loadstone.plan.variant import parse_variant

PARTS = [(1, "wheel", 2.5), (2, "spoke", 0.25), (3, "rim", None)]
ATTRIBUTES = [("number", "i4"), ("name", "c12"), ("weight", "f8")]
NAMES = "range of p is parts retrieve (p.name) "
COUNT = "range of n is numbers retrieve (x = count(n.number))"
PRODUCT = """range of m is numbers range of n is numbers
    retrieve (x = m.number, y = n.number) where m.number < $1"""


@pytest.fixture
def database(tmp_path):
    with Database(tmp_path / "a.lode") as database:
        database.execute("create parts (number = i4, name = c12, weight = f8)")
        database.execute('append to parts (number = 1, name = "wheel", weight = 2.5)')
        database.execute('append to parts (number = 2, name = "spoke", weight = 0.25)')
        yield database


def numbers(database, count, **storage):
    rows = pa.table({"number": pa.array(range(count), pa.int32())})
    return database.load("numbers", [("number", "i4")], rows, **storage)


def test_a_query_gives_tuples_or_arrow_once(database):
    rows = database.query("range of p is parts retrieve (p.all, twice = 2 * p.weight)")
    assert isinstance(rows, Rows)
    assert rows.names == ["number", "name", "weight", "twice"]
    assert sorted(rows.fetch()) == [(1, "wheel", 2.5, 5.0), (2, "spoke", 0.25, 0.5)]
    with pytest.raises(LodeError, match="query again"):
        rows.fetch()
    table = pa.RecordBatchReader.from_stream(database.query(NAMES)).read_all()
    assert table.schema.names == ["name"]
    assert sorted(table.column("name").to_pylist()) == ["spoke", "wheel"]


def test_execute_says_how_many_tuples_changed(database):
    assert database.execute("range of p is parts replace p (weight = p.weight + 1)") == 2
    assert database.execute("range of p is parts retrieve into two (p.all)") == 2
    assert database.execute("delete p where p.number = 9", ranges={"p": "parts"}) == 0
    assert database.execute("destroy two") is None
    assert database.query("retrieve (x = sum(p.weight))", ranges={"p": "parts"}).fetch() == [
        (4.75,)
    ]


def test_a_query_gives_rows_and_an_execution_none(database):
    with pytest.raises(QueryError, match="gives no rows"):
        database.query("destroy parts")
    with pytest.raises(QueryError, match="would be lost"):
        database.execute(NAMES)
    assert len(database.query(NAMES).fetch()) == 2


def test_a_prepared_text_takes_other_values_each_time(database):
    append = database.prepare("append to parts (number = $1, name = $2, weight = $3)")
    assert append.execute(3, "rim*", 1.0) == 1
    named = database.prepare(NAMES + "where p.name = $1")
    assert [named.query(name).fetch() for name in ("rim*", "rim", "*")] == [[("rim*",)], [], []]
    by_weight = database.prepare("retrieve (p.number) where p.weight < $1", {"p": "parts"})
    assert by_weight.query(0.5).fetch() == [(2,)]
    assert database.query(NAMES + "where p.number = $1", [1]).fetch() == [("wheel",)]


@pytest.mark.parametrize(
    ("value", "error"), [(True, TypeError), (b"wheel", TypeError), (None, TypeError),
                         (float("nan"), ValueError), ("\ud800", ValueError), (2**63, ValueError)],
)  # fmt: skip
def test_a_parameter_that_is_no_value_is_refused(database, value, error):
    with pytest.raises(error):
        database.query(NAMES + "where p.number = $1", [value])


def test_a_missing_parameter_is_named(database):
    with pytest.raises(QueryError, match=r"no value for the parameter \$2"):
        database.query(NAMES + "where p.number = $1 or p.number = $2", [1])


def test_a_surplus_parameter_is_refused_with_what_is_expected(database):
    text = NAMES + "where p.number = $2"
    expected = r"3 values are given, and the text takes 2: give one for each parameter"
    for ask in (database.query, database.explain, database.access_paths):
        with pytest.raises(QueryError, match=expected):
            ask(text, [1, 2, 3])
    with pytest.raises(QueryError, match=expected):
        database.explain(text, [1, 2, 3], counted=True)
    with pytest.raises(QueryError, match=expected):
        database.prepare(text).query(1, 2, 3)
    for changes in ("append to parts (number = 9)", "range of q is parts"):
        with pytest.raises(QueryError, match="1 value is given, and the text has no parameter"):
            database.execute(changes, ["spare"])
    assert len(database.query(NAMES).fetch()) == 2


@pytest.mark.parametrize(
    ("text", "line", "word"),
    [
        ("range of p is parts\nretrieve (p.name", 2, ""),
        ("range of p is parts\nretrieve (p.colour)", 2, "colour"),
        ("range of p is\n  nothing retrieve (p.all)", 2, "nothing"),
        ("range of p is parts retrieve (x = p.number / (p.number - 1))", 1, "division by zero"),
    ],
)
def test_an_error_points_into_the_text(database, text, line, word):
    with pytest.raises(QueryError) as raised:
        database.query(text).fetch()
    message = str(raised.value)
    assert message.startswith(f"line {line}, column ")
    assert "^" in message
    assert word in message


def test_a_statement_that_fails_leaves_nothing(database):
    with pytest.raises(QueryError, match="division by zero"):
        database.execute("""range of p is parts
            delete p where p.number = 1
            retrieve into other (p.all)
            replace p (number = p.number / 0)""")
    assert sorted(database.query(NAMES).fetch()) == [("spoke",), ("wheel",)]
    assert [relation["name"] for relation in database.relations()] == ["parts"]


@pytest.mark.parametrize("organisation", ["heap", "clustered", "hash"])
def test_relations_are_loaded_and_listed(database, organisation):
    columns = [pa.array(column) for column in zip(*PARTS, strict=True)]
    rows = pa.table(columns, [name for name, _ in ATTRIBUTES]).slice(0, 2)
    key = [] if organisation == "heap" else ["number"]
    assert database.load("stock", ATTRIBUTES, rows, organisation, key, ["name"]) == 2
    database.settle("stock")
    (stock,) = [found for found in database.relations() if found["name"] == "stock"]
    assert stock.pop("pages") > 0
    assert stock == {
        "name": "stock",
        "attributes": ATTRIBUTES,
        "organisation": organisation,
        "layout": "rows",
        "key": key,
        "indexes": [["name"]],
        "rows": 2,
    }
    assert sorted(database.query("range of s is stock retrieve (s.all)").fetch()) == PARTS[:2]
    assert database.destroy("stock")
    assert not database.destroy("stock")


def test_loading_replaces_a_relation_or_changes_nothing(database):
    assert numbers(database, 10) == 10
    assert numbers(database, 20) == 20
    with pytest.raises(QueryError, match="does not fit"):
        database.load("numbers", [("number", "i1")], pa.table({"number": pa.array([1, 128])}))
    with pytest.raises(ValueError, match='no type "int"'):
        database.load("numbers", [("number", "int")], pa.table({"number": pa.array([1])}))
    assert database.query(COUNT).fetch() == [(20,)]


def test_a_plan_is_reported_and_follows_the_storage(database):
    one = "range of n is numbers retrieve (n.number) where n.number = 77"
    for organisation, key in (("heap", []), ("clustered", ["number"]), ("hash", ["number"])):
        numbers(database, 5000, organisation=organisation, key=key)
        database.settle("numbers")
        assert database.access_paths(one) == [organisation]
        assert "numbers" in database.explain(one)
    changing = "range of n is numbers delete n"
    assert database.explain(changing)
    assert database.query(COUNT).fetch() == [(5000,)]


def test_a_plan_that_was_run_shows_counted_beside_estimated_rows(database):
    numbers(database, 5000)
    plan = database.explain(
        "retrieve (n.number) where n.number < $1", [7], {"n": "numbers"}, counted=True
    )
    scan, where, rows, empty, work = plan.splitlines()
    assert scan == "1. scan a is numbers (counted 5000)"
    assert where == "   where a.number < $1 (counted 7)"
    assert rows.endswith(" rows, counted 7)")
    assert empty == ""
    assert work.startswith("5000 tuples, ")
    assert ", 5000 comparisons, " in work
    assert work.endswith(" 0 bytes spilled, 0 bytes logged")
    emptied = database.explain("range of n is numbers delete n", counted=True)
    assert "counted 5000)" in emptied
    assert " 0 bytes logged" not in emptied
    assert database.query(COUNT).fetch() == [(0,)]


def test_answers_are_there_when_it_is_opened_again(tmp_path):
    with Database(tmp_path / "b.lode") as database:
        numbers(database, 1000, organisation="hash", key=["number"])
        used = database.used_bytes()
        assert used > 4 * 1000
    with Database(tmp_path / "b.lode", "read") as database:
        assert database.query(COUNT).fetch() == [(1000,)]
        assert database.counters()["query"]["tuples"] >= 1000
        with pytest.raises(LodeError):
            database.execute("destroy numbers")


def test_rows_that_nobody_reads_on_let_the_database_close(tmp_path):
    with Database(tmp_path / "b.lode") as database:
        numbers(database, 1000)
        rows = database.query(PRODUCT, [1000])
        with pytest.raises(LodeError, match="has not ended"):
            database.close()
        del rows


def test_statements_are_cancelled_from_another_thread(database):
    numbers(database, 1000)
    endless = """range of k is numbers range of l is numbers range of m is numbers
        range of n is numbers retrieve (x = count(k.number where
        k.number + l.number + m.number + n.number < 0))"""
    raised = []

    def ask():
        try:
            database.query(endless)
        except CancelledError as error:
            raised.append(str(error))

    thread = threading.Thread(target=ask)
    thread.start()
    while thread.is_alive():
        database.cancel()
        thread.join(0.001)
    assert raised == ["the query was cancelled"]
    assert database.query(COUNT).fetch() == [(1000,)]


@pytest.mark.parametrize("profile", profiles())
def test_a_profile_is_read_back_as_the_values_in_force(tmp_path, profile):
    with Database(tmp_path / "a", profile=profile["name"], cache="2MiB") as database:
        reported = database.tactics
    asked = {name: value for name, value, _ in profile["settings"]}
    assert reported["profile"] == profile["name"]
    assert {name: reported[name] for name in asked} == asked | {
        name: "2097152" for name in asked if name == "cache"
    }


def test_a_profile_stands_between_the_defaults_and_what_a_variant_names():
    known = frozenset(LodeEngine.capabilities.tactics)
    asked = LodeEngine.values_of(parse_variant("lode?profile=u-ingres&join=hash", known))
    assert asked["profile"] == "u-ingres"
    assert (asked["join"], asked["execution"]) == ("hash", "interpreted")
    assert (asked["cache"], asked["durability"]) == ("1048576", "full")
    plain = LodeEngine.values_of(parse_variant("lode", known))
    assert plain == {name: tactic.default for name, tactic in LodeEngine.tactics().items()}
    columns = LodeEngine.values_of(parse_variant("lode?profile=modern-column", known))
    assert (columns["layout"], plain["layout"]) == ("columns", "rows")
