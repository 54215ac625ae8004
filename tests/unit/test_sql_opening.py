"""A query's text shows which part of its answer is open; a total order leaves nothing open. The
part that the query determines is compared all the same."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from loadstone.plan.variant import engine_of
from loadstone.plan.workload import (
    AGREED,
    DIVIDED,
    OPEN_ANSWER,
    Column,
    DataTable,
    Workload,
    WorkloadStatement,
)
from loadstone.record.model import kind_of_label
from loadstone.workload import answers, comparison
from loadstone.workload.agreement import AgreedAnswers
from loadstone.workload.opening import Opening
from loadstone.workload.sql import order_of, parsed
from loadstone.workload.sql_opening import opening_of, without_cut
from loadstone.workload.votes import Vote

KEYS = {"t": ("id",), "c": ("id",), "line": ("a", "b")}


def opening(text: str, dialect: str = "") -> Opening | None:
    return opening_of(parsed(text, dialect, "it"), KEYS)


@pytest.mark.parametrize(
    "text",
    [
        "SELECT g, count(*) AS n FROM t GROUP BY g ORDER BY n DESC, g LIMIT 10",
        "SELECT g, v FROM t ORDER BY 2, 1 LIMIT 10",
        "SELECT * FROM t ORDER BY v, id LIMIT 10 OFFSET 3",
        "SELECT v FROM t ORDER BY g",
        "SELECT v FROM line ORDER BY b, a LIMIT 2",
        "SELECT t.*, c.name FROM t JOIN c ON t.c = c.id ORDER BY t.id LIMIT 3",
        "SELECT DISTINCT g FROM t ORDER BY g LIMIT 3",
        "SELECT g FROM t UNION SELECT v FROM c ORDER BY 1 LIMIT 3",
        "SELECT max(v) FROM t LIMIT 1",
        "SELECT EXISTS (SELECT 1 FROM t LIMIT 1) AS e",
        "SELECT (SELECT v FROM t ORDER BY v DESC LIMIT 1) AS m",
        "SELECT count(*) AS n FROM (SELECT v FROM t LIMIT 5) x",
        "WITH x AS (SELECT v FROM t ORDER BY g LIMIT 5) SELECT count(*) AS n FROM x",
        "SELECT id, row_number() OVER (PARTITION BY g ORDER BY v, id) AS r FROM t",
        "SELECT id, rank() OVER (ORDER BY v) AS r, sum(v) OVER (ORDER BY v) AS s FROM t",
        "SELECT g, string_agg(v, ',' ORDER BY v) AS s FROM t GROUP BY g",
        "SELECT g + 1 AS h, upper(g) AS u, count(*) AS n FROM t GROUP BY g",
        "SELECT id, v, count(*) AS n FROM t GROUP BY id",
    ],
)
def test_a_total_order_leaves_nothing_open(text: str) -> None:
    assert opening(text) is None


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("SELECT g, count(*) AS n FROM t GROUP BY g ORDER BY n LIMIT 9",
         Opening(last=True, keys=(1,))),
        ("SELECT g, v FROM t LIMIT 9", Opening(first=True, last=True)),
        ("SELECT v, id FROM t ORDER BY v LIMIT 9 OFFSET 2",
         Opening(first=True, last=True, keys=(0,))),
        ("SELECT v FROM line ORDER BY b LIMIT 2", Opening(last=True)),
        ("SELECT t.v, c.v FROM t JOIN c ON t.g = c.g ORDER BY t.id LIMIT 3", Opening(last=True)),
        ("SELECT g, string_agg(v, ',') AS s FROM t GROUP BY g", Opening(letters=(1,))),
        ("SELECT g, upper(string_agg(v, ',')) AS s FROM t GROUP BY g", Opening(columns=(1,))),
        ("SELECT string_agg(v, ',' ORDER BY g) AS s FROM t", Opening(letters=(0,))),
        ("SELECT g, any_value(v) AS a FROM t GROUP BY g", Opening(columns=(1,))),
        ("SELECT g, v, max(id) AS m FROM t GROUP BY g", Opening(columns=(1,))),
        ("SELECT id, row_number() OVER (ORDER BY v) AS r FROM t", Opening(columns=(1,))),
        ("SELECT id, lag(id) OVER w AS r FROM t WINDOW w AS (ORDER BY v)", Opening(columns=(1,))),
        ("SELECT id, sum(v) OVER (ORDER BY g ROWS UNBOUNDED PRECEDING) AS s FROM t",
         Opening(columns=(1,))),
        ("SELECT * FROM (SELECT id, row_number() OVER (ORDER BY v) AS r FROM t) x WHERE r < 3",
         Opening(everything=True)),
        ("SELECT count(*) AS n FROM (SELECT v FROM t LIMIT 5) x WHERE v > 3",
         Opening(everything=True)),
        ("SELECT count(v) AS n FROM (SELECT v FROM t LIMIT 5) x", Opening(everything=True)),
        ("SELECT count(*) AS n FROM t JOIN (SELECT g FROM t LIMIT 5) x ON t.g = x.g",
         Opening(everything=True)),
        ("WITH x AS (SELECT v FROM t LIMIT 5) SELECT count(*) AS n FROM x JOIN x AS y ON x.v = y.v",
         Opening(everything=True)),
        ("SELECT (SELECT v FROM t ORDER BY g LIMIT 1) AS m", Opening(everything=True)),
    ],
)  # fmt: skip
def test_what_may_tie_is_open(text: str, expected: Opening) -> None:
    found = opening(text)
    assert found is not None and found.reasons and found.advice
    assert replace(found, reasons=(), advice=()) == expected


def test_rows_with_ties_are_determined_and_those_distinct_on_are_not() -> None:
    assert opening("SELECT v FROM t ORDER BY g FETCH FIRST 3 ROWS WITH TIES", "postgres") is None
    found = opening("SELECT DISTINCT ON (g) g, v FROM t ORDER BY g", "postgres")
    assert found is not None and found.columns == (1,)
    assert opening("SELECT DISTINCT ON (g) g, v FROM t ORDER BY g, id", "postgres") is None


@pytest.mark.parametrize(
    ("text", "uncut"),
    [
        ("SELECT a FROM t ORDER BY a LIMIT 3 OFFSET 2", "SELECT a FROM t ORDER BY a"),
        ("SELECT a FROM (SELECT a FROM t LIMIT 9) AS x", None),
        ("SELECT a FROM (SELECT a FROM t LIMIT 9) x OFFSET 1",
         "SELECT a FROM (SELECT a FROM t LIMIT 9) x"),
        ("SELECT 'a LIMIT 3' AS a", None),
    ],
)  # fmt: skip
def test_the_limit_at_its_end_is_taken_off(text: str, uncut: str | None) -> None:
    assert without_cut(text, "") == uncut


TOP = "SELECT g, count(*) AS n FROM t GROUP BY g ORDER BY n DESC LIMIT 3"
ALL = [("a", 5), ("b", 4), ("c", 3), ("d", 3), ("e", 1)]
ONE, OTHER = [*ALL[:2], ("c", 3)], [*ALL[:2], ("d", 3)]


def settled(*given: tuple[str, Sequence, Sequence | None], text: str = TOP) -> AgreedAnswers:
    """Variants' answers, each beside the one without LIMIT."""
    order, _ = order_of(parsed(text, "", "s"))
    statement = WorkloadStatement("s", "s", "", (text,), order=order)
    columns = (Column("id", "int8"), Column("g", "text"))
    table = DataTable("t", columns, (), 5, primary_key=("id",))
    agreed = AgreedAnswers(Workload("w", "", (table,), (statement,)))
    found = agreed.opening("s")
    votes = [
        Vote(name, engine_of(name), answers.checksum_of(rows, 10, order), lambda rows=rows: rows,
             determined=answers.checksum_of(comparison.determined(rows, found, 10), 10, order)
             if found else None,
             uncut=lambda whole=whole: whole)
        for name, rows, whole in given
    ]  # fmt: skip
    agreed.settle("s", 0, votes)
    return agreed


def labels(agreed: AgreedAnswers, names: str = "abc") -> set[str]:
    return {kind_of_label(agreed.label("s", name)) for name in names}


def test_a_tie_at_the_cut_is_an_open_answer_and_nobody_is_wrong() -> None:
    agreed = settled(("a", ONE, ALL), ("b", OTHER, ALL), ("c", ONE, ALL))
    assert labels(agreed) == {OPEN_ANSWER}
    assert agreed.bases["s"].basis == AGREED and agreed.bases["s"].engines == ("a", "b", "c")
    assert agreed.odd("s", "b") is None and not agreed.divided("s")
    # A later sample of one may be the answer of another: what is determined is the same.
    assert agreed.determined("s", 0, "a") == agreed.determined("s", 0, "b")


def test_a_tie_that_all_answer_alike_has_no_label() -> None:
    assert labels(settled(("a", ONE, ALL), ("b", ONE, ALL))) == {""}


@pytest.mark.parametrize(
    "wrong",
    [
        [("a", 5), ("x", 4), ("c", 3)],  # above the cut
        [("a", 5), ("b", 4), ("d", 2)],  # another value to sort by
        [("a", 5), ("b", 4)],  # another number of rows
        [("a", 5), ("b", 4), ("x", 3)],  # a row that there is not
    ],
)
def test_what_the_query_determines_is_held_against_an_engine(wrong: list) -> None:
    agreed = settled(("a", ONE, ALL), ("b", wrong, ALL), ("c", OTHER, ALL))
    odd = agreed.odd("s", "b")
    assert odd is not None
    assert labels(agreed, "ac") == {OPEN_ANSWER}
    assert agreed.odd("s", "a") is agreed.odd("s", "c") is None


def test_the_rows_among_which_engines_choose_are_compared() -> None:
    other = [*ALL[:3], ("x", 3), ("e", 1)]
    wrong = [*ALL[:2], ("x", 3)]
    agreed = settled(("a", ONE, ALL), ("b", wrong, other), ("c", OTHER, ALL))
    assert agreed.odd("s", "b") is not None
    # Where they are too many, nobody is accused of what cannot be seen.
    unseen = settled(("a", ONE, None), ("b", wrong, None), ("c", OTHER, None))
    assert unseen.odd("s", "b") is None
    assert labels(unseen) == {OPEN_ANSWER}


def test_the_same_difference_in_a_total_order_divides_the_engines() -> None:
    total = TOP.replace("n DESC", "n DESC, g")
    agreed = settled(("a", ONE, ALL), ("b", OTHER, ALL), text=total)
    assert agreed.bases["s"].basis == DIVIDED
    assert labels(agreed) == {""}


def test_letters_of_a_joined_text_are_compared_and_their_order_is_not() -> None:
    text = "SELECT g, string_agg(v, ',') AS s FROM t GROUP BY g"
    a, b, wrong = [("x", "1,22,3")], [("x", "3,1,22")], [("x", "1,2,23,")]
    agreed = settled(("a", a, None), ("b", b, None), text=text)
    assert labels(agreed, "ab") == {OPEN_ANSWER}
    assert agreed.bases["s"].basis == AGREED
    assert settled(("a", a, None), ("b", wrong, None), text=text).bases["s"].basis == DIVIDED
