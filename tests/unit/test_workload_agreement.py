"""The answers on which engines agree are expected: each label, and what would make it false."""

import datetime as dt
from dataclasses import replace
from decimal import Decimal
from pathlib import Path

import pytest

from loadstone.errors import InputError
from loadstone.plan.variant import engine_of
from loadstone.plan.workload import (
    AGREED,
    ALONE,
    DIVIDED,
    OTHER_TYPE,
    REFERENCE,
    STORED,
    Workload,
    WorkloadStatement,
)
from loadstone.record.model import kind_of_label
from loadstone.workload import answers, expected
from loadstone.workload.agreement import AgreedAnswers
from loadstone.workload.readings import ITSELF, OWN, TRANSLATED
from loadstone.workload.votes import Vote

STATEMENT = WorkloadStatement("s", "s", "", ("SELECT 1", "SELECT 2"))
THREE, TWO = [(1,), (2,), (3,)], [(1,), (2,)]


def vote(variant: str, rows: list, *, shown: bool = True) -> Vote:
    answer = answers.checksum_of(rows, STATEMENT.digits)
    return Vote(variant, engine_of(variant), answer, lambda: rows if shown else None)


def settled(*votes: Vote, variation: int = 0, agreed: AgreedAnswers | None = None) -> AgreedAnswers:
    agreed = agreed or AgreedAnswers(Workload("w", "", (), (STATEMENT,)))
    agreed.settle("s", variation, votes)
    return agreed


def test_the_larger_number_of_engines_decides_and_the_odd_one_is_named() -> None:
    agreed = settled(vote("a", TWO), vote("b", THREE), vote("c", THREE))
    basis = agreed.bases["s"]
    assert (basis.basis, basis.engines) == (AGREED, ("b", "c"))
    odd = agreed.odd("s", "a")
    assert odd is not None
    assert "a gives 2 rows, b and c give 3 rows" in odd.words
    assert "(3) is in the answer of b and c alone" in odd.words
    assert odd.expected == agreed.of_variant("s", 0, "a") == agreed.of_variant("s", 0, "b")
    assert agreed.odd("s", "b") is agreed.odd("s", "c") is None
    assert not agreed.divided("s")


def test_two_that_differ_are_divided_and_neither_is_odd() -> None:
    agreed = settled(vote("a", TWO), vote("b", THREE))
    assert agreed.bases["s"].basis == DIVIDED
    assert agreed.odd("s", "a") is agreed.odd("s", "b") is None
    assert "b gives 3 rows, a gives 2 rows" in agreed.divided("s")


def test_variants_of_one_engine_are_one_voice() -> None:
    agreed = settled(vote("a", TWO), vote("a?x=1", TWO), vote("b", THREE))
    assert agreed.bases["s"].basis == DIVIDED
    assert settled(vote("a", TWO), vote("a?x=1", TWO)).bases["s"].basis == ALONE


def test_variants_of_one_engine_that_differ_are_divided() -> None:
    assert settled(vote("a", TWO), vote("a?x=1", THREE)).bases["s"].basis == DIVIDED


@pytest.mark.parametrize(
    ("before", "after"),
    [("duckdb@1.3.2", "duckdb@1.4.0"), ("duckdb", "duckdb@1.4.0"), ("duckdb?x=1", "duckdb?x=2"),
     ("duckdb@venv:/a", "duckdb"), ("duckdb@1.3.2?x=1", "duckdb@1.3.2")],
)  # fmt: skip
def test_releases_that_differ_are_each_called_by_their_names(before: str, after: str) -> None:
    words = settled(vote(before, THREE), vote(after, TWO)).divided("s")
    assert f"{after} gives 2 rows, {before} gives 3 rows" in words
    odd = settled(vote("lode", TWO), vote(before, THREE), vote(after, THREE), vote("sqlite", THREE))
    named = odd.odd("s", "lode")
    assert named is not None
    both = f"{before}, {after}" if "@" in before + after else "duckdb"
    assert f"lode gives 2 rows, {both} and sqlite give 3 rows" in named.words


def test_one_alone_is_not_compared() -> None:
    agreed = settled(vote("a", TWO))
    assert (agreed.bases["s"].basis, agreed.bases["s"].engines) == (ALONE, ("a",))


def test_answers_agree_by_their_values_where_checksums_differ() -> None:
    rows, others = [(1_000_000_000_000,)], [(1_000_000_000_000.25,)]
    assert vote("a", rows).answer != vote("b", others).answer
    agreed = settled(vote("a", rows), vote("b", others))
    assert agreed.bases["s"].basis == AGREED
    # Each is then held to its own way to give it.
    assert agreed.of_variant("s", 0, "a") == vote("a", rows).answer
    assert agreed.of_variant("s", 0, "b") == vote("b", others).answer


def test_answers_too_large_to_be_compared_are_not_said_to_differ() -> None:
    large = [vote(name, [(10**12,)], shown=False) for name in "ab"]
    other = vote("c", [(10**12 + 0.25,)], shown=False)
    agreed = settled(large[0], other)
    basis = agreed.bases["s"]
    assert (basis.basis, basis.engines) == (ALONE, ("a", "c"))
    assert "c and a give 1 row each, which are not compared" in basis.words
    assert agreed.of_variant("s", 0, "c") == other.answer
    agreed = settled(*large, other)
    basis = agreed.bases["s"]
    assert (basis.basis, basis.engines) == (AGREED, ("a", "b"))
    assert "not compared" in basis.words
    assert agreed.odd("s", "c") is None
    # Another number of rows is another answer, however large.
    assert settled(large[0], vote("c", TWO, shown=False)).bases["s"].basis == DIVIDED
    assert settled(*large, vote("c", TWO, shown=False)).odd("s", "c") is not None


def test_an_answer_too_large_to_be_compared_with_a_stored_one_is_not_odd() -> None:
    stored = replace(STATEMENT, expected=((answers.checksum_of([(10**12,)], 10),),))
    agreed = AgreedAnswers(Workload("w", "", (), (stored,)))
    settled(vote("a", [(10**12,)], shown=False), vote("b", [(10**12 + 0.25,)], shown=False),
            agreed=agreed)  # fmt: skip
    assert agreed.odd("s", "a") is agreed.odd("s", "b") is None
    assert (agreed.bases["s"].engines, agreed.bases["s"].basis) == (("a",), STORED)
    assert "not compared" in agreed.bases["s"].words


def asked(engine: str, rows: list, dialect: str, reading: str) -> Vote:
    return replace(vote(engine, rows), dialect=dialect, reading=reading)


def of_dialects(*votes: Vote, dialect: str = "postgres", text: str = "SELECT 1") -> AgreedAnswers:
    stated = replace(STATEMENT, texts=(text,), dialect=dialect)
    return settled(*votes, agreed=AgreedAnswers(Workload("w", "", (), (stated,))))


def test_the_dialect_s_own_engine_is_not_outvoted_by_translations() -> None:
    agreed = of_dialects(
        asked("postgresql", TWO, "postgres", OWN),
        asked("duckdb", THREE, "duckdb", TRANSLATED),
        asked("sqlite", THREE, "sqlite", TRANSLATED),
    )
    assert agreed.bases["s"].basis == REFERENCE
    assert agreed.bases["s"].engines == ("postgresql",)
    for name in ("postgresql", "duckdb", "sqlite"):
        assert agreed.odd("s", name) is None and not agreed.divided("s", name)
        assert agreed.is_apart("s", name) == (name != "postgresql")
    assert "duckdb gives 3 rows, postgresql gives 2 rows" in agreed.label("s", "duckdb")
    # Each is held to its own answer, and none but the reference's can be stored.
    assert agreed.of_variant("s", 0, "duckdb") == vote("a", THREE).answer
    assert agreed.accepted("s") == ((vote("a", TWO).answer,),)
    assert agreed.holds_to_itself("s", "duckdb")


def test_a_translation_that_agrees_is_a_witness_and_one_engine_s_other_release_is_wrong() -> None:
    agreed = of_dialects(
        asked("postgresql", TWO, "postgres", OWN),
        asked("duckdb@1.4.0", TWO, "duckdb", TRANSLATED),
        asked("duckdb@1.5.0", THREE, "duckdb", TRANSLATED),
        asked("sqlite", TWO, "sqlite", TRANSLATED),
    )
    assert agreed.bases["s"].basis == AGREED
    # It got the same text as the other release: the translation is not to blame.
    assert agreed.odd("s", "duckdb@1.5.0") is not None and not agreed.label("s", "duckdb@1.5.0")


def test_a_text_of_the_engine_s_own_is_held_to_the_others() -> None:
    agreed = of_dialects(
        asked("duckdb", THREE, "duckdb", OWN),
        asked("sqlite", TWO, "sqlite", OWN),
        asked("postgresql", TWO, "postgres", OWN),
        dialect="duckdb",
    )
    assert agreed.odd("s", "duckdb") is not None and not agreed.label("s", "duckdb")


def test_translations_that_differ_call_no_engine_wrong() -> None:
    agreed = of_dialects(
        asked("duckdb", THREE, "duckdb", TRANSLATED), asked("sqlite", TWO, "sqlite", TRANSLATED)
    )
    for name in ("duckdb", "sqlite"):
        assert agreed.is_apart("s", name) and not agreed.divided("s", name)
    agreed = of_dialects(
        asked("duckdb", THREE, "duckdb", TRANSLATED), asked("sqlite", TWO, "sqlite", TRANSLATED),
        asked("chdb", TWO, "clickhouse", TRANSLATED),
    )  # fmt: skip
    assert agreed.is_apart("s", "duckdb") and agreed.odd("s", "duckdb") is None
    assert agreed.bases["s"].engines == ("sqlite", "chdb")


@pytest.mark.parametrize(
    ("text", "labelled"), [("SELECT 7 / 2 AS q", True), ("SELECT 7 + 2 AS q", False)]
)
def test_a_text_without_a_dialect_is_read_otherwise_only_where_it_has_such_a_form(
    text: str, labelled: bool
) -> None:
    agreed = of_dialects(
        asked("sqlite", TWO, "sqlite", ITSELF), asked("postgresql", TWO, "postgres", ITSELF),
        asked("duckdb", THREE, "duckdb", ITSELF), dialect="", text=text,
    )  # fmt: skip
    assert agreed.is_apart("s", "duckdb") == labelled
    assert (agreed.odd("s", "duckdb") is None) == labelled
    agreed = of_dialects(
        asked("postgresql", TWO, "postgres", ITSELF), asked("duckdb", THREE, "duckdb", ITSELF),
        dialect="", text=text,
    )  # fmt: skip
    assert bool(agreed.divided("s", "duckdb")) != labelled


def test_a_null_in_an_order_is_read_otherwise_where_there_is_one() -> None:
    for values, labelled in (((None, 1), True), ((1, 2), False)):
        rows = [(value,) for value in values]
        first, second = (
            replace(asked(name, rows, dialect, ITSELF), rows=lambda shown=shown: shown,
                    answer=answers.checksum_of(shown, 10, (0,)))
            for name, dialect, shown in (("sqlite", "sqlite", rows),
                                         ("duckdb", "duckdb", rows[::-1]))
        )  # fmt: skip
        stated = replace(STATEMENT, dialect="", texts=("SELECT i FROM t ORDER BY i",), order=(0,))
        agreed = AgreedAnswers(Workload("w", "", (), (stated,)))
        agreed.settle("s", 0, [first, second])
        assert agreed.is_apart("s", "duckdb") == labelled


def test_a_translation_that_differs_from_the_stored_answer_has_a_label() -> None:
    stored = replace(
        STATEMENT, dialect="postgres", expected=((vote("a", TWO).answer,),), texts=("SELECT 1",)
    )
    agreed = AgreedAnswers(Workload("w", "", (), (stored,)))
    settled(asked("duckdb", THREE, "duckdb", TRANSLATED), agreed=agreed)
    assert agreed.odd("s", "duckdb") is None and agreed.is_apart("s", "duckdb")
    settled(asked("postgresql", THREE, "postgres", OWN), agreed=agreed)
    assert agreed.odd("s", "postgresql") is not None


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_a_statement_is_as_well_founded_as_its_worst_variation(order: tuple[int, int]) -> None:
    votes = {0: (vote("a", TWO), vote("b", TWO)), 1: (vote("a", TWO), vote("b", THREE))}
    agreed = None
    for variation in order:
        agreed = settled(*votes[variation], variation=variation, agreed=agreed)
    assert agreed is not None
    assert agreed.bases["s"].basis == DIVIDED


def test_an_engine_that_was_not_asked_is_held_to_the_answer_of_the_others() -> None:
    agreed = settled(vote("a", TWO), vote("b", TWO))
    assert agreed.of_variant("s", 0, "b?x=1") == vote("a", TWO).answer


def test_engines_that_agree_against_the_stored_answer_are_named() -> None:
    stored = replace(STATEMENT, expected=((answers.checksum_of(THREE, STATEMENT.digits),),))
    agreed = AgreedAnswers(Workload("w", "", (), (stored,)))
    settled(vote("a", TWO), vote("b", TWO), vote("c", THREE), agreed=agreed)
    odd = agreed.odd("s", "a")
    assert odd is not None and odd.words.endswith("has 3 rows; b gives the same as a")
    assert agreed.odd("s", "c") is None


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("{", "expected.json: it is not JSON"),
        ('{"statements": {"s": {"of": "OF", "answers": []}}}', "no answer to each variation"),
        ('{"statements": {"s": {"of": "OF", "answers": [[]]}}}', "no answer to each variation"),
    ],
)
def test_a_file_of_stored_answers_that_has_none_is_refused_by_its_name(
    tmp_path: Path, text: str, words: str
) -> None:
    workload = Workload("w", "", (), (STATEMENT,))
    of = expected._of(workload, STATEMENT)
    (tmp_path / "expected.json").write_text(text.replace("OF", of))
    with pytest.raises(InputError) as refused:
        expected.with_stored(workload, str(tmp_path))
    assert words in refused.value.message
    assert str(tmp_path) in refused.value.message
    assert "bless" in refused.value.hint


@pytest.mark.parametrize(
    ("others", "basis"),
    [((), DIVIDED), ((("b", THREE),), DIVIDED), ((("b", THREE), ("c", THREE)), AGREED),
     ((("b", THREE), ("c", TWO)), DIVIDED), ((("b", [(9,)]), ("c", [(9,)])), AGREED)],
)  # fmt: skip
def test_beside_an_engine_that_differs_from_itself_two_others_have_to_agree(
    others: tuple, basis: str
) -> None:
    votes = [vote("a@1", TWO), vote("a@2", THREE), *(vote(*one) for one in others)]
    agreed = settled(*votes)
    assert agreed.bases["s"].basis == basis
    kinds = {one.vote.variant: one.kind for one in agreed.given("s")}
    assert kinds["a@1"] != kinds["a@2"]
    if basis == AGREED:
        assert agreed.bases["s"].engines == ("b", "c"), "no release of a is a witness"
        assert agreed.odd("s", "a@1") is not None
    else:
        assert agreed.odd("s", "a@1") is agreed.odd("s", "a@2") is None


def test_a_variant_that_joins_later_is_held_against_those_before() -> None:
    agreed = settled(vote("a", TWO))
    agreed.join("s", 0, vote("a?x=1", TWO))
    assert not agreed.divided("s")
    agreed.join("s", 0, vote("a?x=2", THREE))
    assert agreed.divided("s")
    assert [one.kind for one in agreed.given("s")] == [0, 0, 1]


def test_the_same_value_in_another_type_is_labelled_and_nobody_is_wrong() -> None:
    day, moment = [(1, dt.date(2023, 9, 20))], [(1, dt.datetime(2023, 9, 20))]
    agreed = settled(vote("a", day), vote("b", moment), vote("c", moment))
    assert (agreed.bases["s"].basis, agreed.bases["s"].engines) == (AGREED, ("a", "b", "c"))
    assert [kind_of_label(agreed.label("s", name)) for name in "abc"] == [OTHER_TYPE, "", ""]
    assert "date" in agreed.label("s", "a") and "b and c timestamp" in agreed.label("s", "a")
    # Of another day it is another answer.
    other = settled(vote("a", [(1, dt.date(2023, 9, 21))]), vote("b", moment), vote("c", moment))
    assert other.odd("s", "a") is not None and not other.label("s", "a")
    assert not settled(vote("a", moment), vote("b", moment)).label("s", "a")


def test_numbers_of_any_type_are_one_type() -> None:
    agreed = settled(vote("a", [(1, 1)]), vote("b", [(1.0, True)]), vote("c", [(Decimal(1), 1.0)]))
    assert agreed.bases["s"].engines == ("a", "b", "c")
    assert not any(agreed.label("s", name) for name in "abc")


@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (1, 2, 0), (2, 1, 0)])
def test_an_engine_without_dates_calls_neither_a_date_nor_its_text_wrong(order: tuple) -> None:
    undated = Vote("sqlite", "sqlite", answers.checksum_of([("2024-01-31",)], 10, dates=False),
                   lambda: [(answers.Undated("2024-01-31"),)])  # fmt: skip
    votes = [undated, vote("a", [("2024-01-31",)]), vote("b", [(dt.date(2024, 1, 31),)])]
    agreed = settled(*(votes[place] for place in order))
    assert agreed.bases["s"].basis == AGREED
    assert not any(agreed.odd("s", name) for name in ("sqlite", "a", "b"))
    # Its text is of either type.
    assert not any(agreed.label("s", name) for name in ("sqlite", "a", "b"))
    assert not any(settled(undated, votes[1]).label("s", name) for name in ("sqlite", "a"))
    moment = settled(undated, vote("c", [(dt.datetime(2024, 1, 31),)]), votes[2])
    assert [name for name in ("sqlite", "b", "c") if moment.label("s", name)] == ["c"]
    # Without it they differ.
    assert settled(*votes[1:]).bases["s"].basis == DIVIDED
