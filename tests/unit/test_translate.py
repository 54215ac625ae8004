"""QUEL to SQL: what SQL engines answer is what the oracle answers, construct by construct and for
random programs."""

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from quel_engines import ENGINES
from quel_programs import retrieves
from sqlglot import exp

from loadstone import _core
from loadstone.quel import patterns, tree
from loadstone.quel.dialect import dialect_named

ROWS = 200
RELATIONS = ("onektup", "tenktup1", "tenktup2", "bprime")
RANGES = "range of t is tenktup1 range of w is tenktup2 range of o is onektup range of b is bprime "
A_LETTERS = "A" * 7 + "x" * 45

RETRIEVES = [
    "retrieve (t.all)",
    "retrieve (t.all, w.all) where t.unique1 = w.unique2 and w.ten = 3",
    "retrieve (t.unique1, w.unique1, o.unique1) where t.unique2 = w.unique2 and w.two = o.unique2",
    "retrieve unique (t.two, t.string4)",
    "retrieve into r (x = t.unique1 + 1, y = -t.unique2) where not (t.two = 0 or t.four = 1)",
    "retrieve (x = 7 / 2, y = -7 / 2, z = -7 mod 3, u = 7.0 / 2, v = 2 ** 10)",
    "retrieve (x = t.unique1 / 7, y = t.unique1 mod 7, z = mod(t.unique1, 7)) where t.ten = 1",
    "retrieve (x = t.unique1 * (t.unique2 - 3) - (t.ten - (t.two - 1)))",
    "retrieve (x = sqrt(t.unique1), y = log(t.ten + 1), z = abs(t.ten - 5)) where t.two = 1",
    "retrieve (x = int4(t.ten / 4.0), y = int2(-2.5), z = float8(t.ten), v = exp(0))",
    "retrieve (t.unique1) where t.unique1 < 10.5 and t.unique1 > 2.5",
    # strings
    f'retrieve (t.unique1) where t.stringu1 = "{A_LETTERS}   "',
    'retrieve (t.unique1) where t.string4 = "A*" or t.string4 = "V???x*"',
    'retrieve (t.unique1) where t.string4 != "[A-H]*"',
    'retrieve (t.unique1) where t.string4 = "a*"',
    'retrieve (t.unique1) where "*[^]*" = t.string4',
    'retrieve (t.unique1) where t.stringu1 = "AAAAA[BC][^A-M]x*"',
    'retrieve (t.unique1) where t.stringu1 = "?????B*" and t.stringu1 > t.stringu2',
    'retrieve (t.unique1) where t.stringu1 >= "AAAAAC" and t.stringu1 < "AAAAAD"',
    'retrieve (t.unique1) where t.string4 = "100%" or t.string4 = "*_*" or t.string4 = "A\\*"',
    'retrieve (t.unique1) where t.stringu2 = "AAAAA[\\]-A^]?*" or t.stringu2 = "*[+-A]Cx*"',
    # aggregates
    "retrieve (x = min(t.unique2))",
    "retrieve (x = count(t.ten), y = countu(t.ten), z = any(t.ten where t.ten > 9))",
    "retrieve (x = sum(t.unique1 where t.two = 0), y = sum(t.unique1 where t.two = 1))",
    "retrieve (x = avg(t.unique1), y = avgu(t.ten), z = sumu(t.ten), m = max(t.stringu1))",
    "retrieve (x = min(t.unique1 where t.unique1 < 0), y = count(t.ten where t.ten < 0))",
    "retrieve (x = min(t.unique3 by t.onepercent))",
    "retrieve (x = min(t.unique3 by t.ten), y = sum(t.unique1 by t.ten where t.two = 0))",
    "retrieve (x = count(t.unique1 by t.ten, t.string4))",
    "retrieve (t.ten, x = min(t.unique3 by t.ten))",
    "retrieve unique (t.ten, x = max(t.unique3 by t.ten where t.unique1 > 150)) where t.two = 1",
    "retrieve (x = min(t.unique1 by t.ten), y = max(t.unique1 by t.four))",
    "retrieve (w.unique1, x = max(t.unique1 by t.four)) where w.ten = 1",
    "retrieve (t.unique1) where t.unique1 = max(t.unique1)",
    "retrieve (t.unique1) where t.unique1 > avg(t.unique1 by t.ten)",
    "retrieve (t.unique1, x = t.unique1 - min(t.unique1)) where t.ten = 1",
    "retrieve (x = count(w.unique1 by t.ten where t.unique1 = w.unique2 and w.two = 1))",
    "retrieve (t.four, x = sum(o.unique1 by t.four where o.unique2 = t.ten)) where t.ten < 3",
    "retrieve (x = count(t.unique1 where t.unique1 > avg(t.unique1)))",
    "retrieve (x = max(t.unique1 where t.ten = min(w.ten where w.ten > 2)))",
    "retrieve (x = min(t.unique1 by t.ten) + 1) where min(t.unique1 by t.ten) > 4",
    "retrieve (x = min(t.unique1) + count(w.two))",
    "retrieve (b.unique1, x = any(o.unique1 by b.two)) where b.unique1 < 50",
]
UPDATES = [
    'append to tenktup1 (unique1 = 999, string4 = "abc   ")',
    "append to tenktup1 (w.all) where w.unique1 < 10",
    "append to tenktup1 (unique1 = w.unique1 + o.unique1, ten = 7) where w.unique1 = o.unique2",
    "append to tenktup1 (unique1 = max(t.unique1) + 1)",
    "append to tenktup1 (unique1 = count(w.two by w.ten), ten = w.ten) where w.unique1 < 20",
    "replace t (unique2 = 10001, ten = t.ten + 1) where t.unique2 = 77",
    "replace t (unique1 = w.unique2 * 2) where t.unique2 = w.unique1 and w.two = 1",
    "replace t (ten = o.unique1 + b.ten) where t.unique1 = o.unique1 and b.unique1 = o.unique2",
    "replace t (ten = max(t.ten)) where t.ten = min(t.ten)",
    "replace t (ten = count(t.unique1 by t.four))",
    "delete t where t.unique1 = 3",
    "delete t where t.unique1 = o.unique1 and o.two = 0",
    "delete t where t.unique1 < avg(t.unique1)",
    "delete t",
]


@pytest.fixture(scope="module")
def oracle():
    made = _core.Oracle()
    for relation in RELATIONS:
        made.add("wisconsin", "1993", relation, ROWS)
    return made


@pytest.fixture(scope="module", params=ENGINES)
def engine(request):
    return ENGINES[request.param]("1993", RELATIONS, ROWS)


@pytest.mark.parametrize("text", RETRIEVES)
def test_sql_answers_as_the_oracle(engine, oracle, text):
    assert engine.answer(RANGES + text) == oracle.answer(RANGES + text), engine.translated(
        RANGES + text
    ).text


@pytest.mark.parametrize("text", UPDATES)
def test_an_update_leaves_what_the_oracle_says(engine, oracle, text):
    engine.rows("BEGIN")
    try:
        assert engine.answer(RANGES + text) == oracle.answer(RANGES + text), engine.translated(
            RANGES + text
        ).text
    finally:
        engine.rows("ROLLBACK")
    assert engine.contents("tenktup1") == oracle.contents("tenktup1")


# --- random programs ------------------------------------------------------------------------------


@settings(max_examples=60, deadline=None)
@given(statement=retrieves())
def test_random_programs_answer_as_the_oracle(engine, oracle, statement):
    text = tree.render([*tree.parse(RANGES), statement])
    assert engine.answer(text) == oracle.answer(text), engine.translated(text).text


# --- patterns -------------------------------------------------------------------------------------

LETTERS = "ab]-^*?[%_!\\. "


def escaped(text):
    return "".join("\\" + c if c in "*?[]\\" else c for c in text)


LETTER = st.sampled_from(LETTERS)
# A minus between two letters makes them a range: it stands in the examples alone.
IN_SET = LETTER.filter(lambda letter: letter != "-")
SPAN = st.one_of(
    IN_SET.map(escaped),
    st.tuples(IN_SET, IN_SET).map(lambda ends: "-".join(map(escaped, sorted(ends)))),
)
PIECES = st.one_of(
    LETTER.map(escaped),
    st.sampled_from("*?"),
    st.lists(SPAN, min_size=1, max_size=3).map(lambda spans: f"[{''.join(spans)}]"),
)


@settings(max_examples=400, deadline=None)
@example(text="^", pieces=["[^]"])
@example(text="?", pieces=["[--\\]]"])
@given(text=st.text(LETTERS, max_size=4), pieces=st.lists(PIECES, min_size=1, max_size=4))
def test_patterns_match_as_in_the_oracle(engine, text, pieces):
    pattern = "".join(pieces)
    value = patterns.plain(escaped(text))
    if not patterns.is_pattern(pattern):
        matches = value == patterns.plain(pattern)
    else:
        operand = exp.Literal.string(value)
        sql = patterns.match(operand, pattern, dialect_named(engine.dialect)).sql(engine.dialect)
        matches = bool(engine.rows(f"SELECT {sql}")[0][0])
    constant, condition = (quoted(escaped(text)), quoted(pattern))
    program = (
        f"create x (s = c9) append to x (s = {constant}) "
        f"range of t is x retrieve (t.s) where t.s = {condition}"
    )
    assert matches == bool(_core.Oracle().answer(program)[0]), (value, pattern)


def quoted(pattern):
    return f'"{pattern}"'


# --- the tree -------------------------------------------------------------------------------------


@given(statement=retrieves())
@settings(max_examples=50, deadline=None)
def test_a_rendered_tree_parses_back(statement):
    assert tree.parse(tree.render([statement])) == [statement]


def test_conjuncts_and_conjunction_are_inverse():
    where = tree.parse("range of t is r delete t where t.a = 1 and t.b = 2 and t.c = 3")[1]["where"]
    assert len(tree.conjuncts(where)) == 3
    assert tree.conjunction(tree.conjuncts(where)) == where
    assert tree.conjunction([]) is None


def test_an_aggregate_keeps_its_variables_to_itself():
    statement = tree.parse("range of t is r retrieve (w.a, x = min(t.b by t.c))")[1]
    assert tree.variables(statement) == ["w", "t"]
    assert tree.variables(statement, into_aggregates=False) == ["w"]


@pytest.mark.parametrize(
    ("text", "is_pattern", "plain"),
    [("a*", True, "a*"), ("a\\*  ", False, "a*"), ("a?", True, "a?"), ("ab", False, "ab")],
)
def test_patterns(text, is_pattern, plain):
    assert (patterns.is_pattern(text), patterns.plain(text)) == (is_pattern, plain)
