"""The value of `:name`: equal for equal seeds, as its distribution has it, and a literal."""

import sqlite3
from collections import Counter
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from loadstone.errors import InputError
from loadstone.workload import sql
from loadstone.workload.parameters import Parameter, random_bits, with_values


def texts(text: str, number: int = 200, seed: int = 1, dialect: str = "sqlite",
          folder: Path = Path(), **parameters: Parameter) -> tuple[str, ...]:  # fmt: skip
    where = "w: statement s"
    return with_values(text, dialect, parameters, "s", seed, number, folder, where, _asked)


def _asked(query: str, where: str) -> tuple[int, ...]:
    assert where == "w: statement s, parameter x"
    return (7, 9) if query == "SELECT n" else ()


def values(number: int = 200, seed: int = 1, **stated) -> list:
    own = {
        name: tuple(value) if isinstance(value, list) else value for name, value in stated.items()
    }
    folder = own.pop("folder", Path())
    found = texts("SELECT :x", number, seed, folder=folder, x=Parameter(**own))
    with closing(sqlite3.connect(":memory:")) as db:
        return [db.execute(text).fetchone()[0] for text in found]


def test_values_are_those_of_a_query() -> None:
    assert {*values(query="SELECT n")} == {7, 9}
    assert values(query="SELECT n") == values(query="SELECT n")
    with pytest.raises(InputError, match="has no value"):
        values(query="SELECT none")
    with pytest.raises(InputError, match="in one way"):
        values(query="SELECT n", list=[1])


def test_the_bits_are_those_of_splitmix64() -> None:
    assert [random_bits(1234567, n) for n in range(3)] == [
        6457827717110365317, 3203168211198807973, 9817491932198370423
    ]  # fmt: skip


def test_a_seed_draws_the_same_and_another_draws_others() -> None:
    first = values(uniform=[1, 10**9])
    assert first == values(uniform=[1, 10**9]) != values(uniform=[1, 10**9], seed=2)
    assert first[:50] == values(50, uniform=[1, 10**9])


def test_parameters_of_a_statement_are_drawn_apart() -> None:
    found = texts("SELECT :a = :b", a=Parameter(uniform=(1, 9)), b=Parameter(uniform=(1, 9)))
    with closing(sqlite3.connect(":memory:")) as db:
        equal = [db.execute(text).fetchone()[0] for text in found]
    assert 0 < sum(equal) < 60


def test_uniform_takes_both_ends_and_each_alike() -> None:
    counts = Counter(values(4_000, uniform=[-1, 2]))
    assert set(counts) == {-1, 0, 1, 2}
    assert all(850 < count < 1150 for count in counts.values())


def test_zipf_halves_for_the_second() -> None:
    counts = Counter(values(8_000, zipf=[5, 1_004]))
    assert 5 <= min(counts) <= max(counts) <= 1_004
    # The shares of 1/n among a thousand: 1 / 7.4855, and so on.
    assert all(abs(counts[4 + n] / 8_000 - 1 / n / 7.4855) < 0.015 for n in (1, 2, 3, 10))


def test_a_sequence_a_list_and_a_file(tmp_path: Path) -> None:
    assert values(4, sequence=[10, -5]) == [10, 5, 0, -5]
    assert set(values(list=["a", 2, 0.5, True])) == {"a", 2, 0.5, 1}
    (tmp_path / "ids").write_text("3\n7\n")
    assert set(values(file="ids", folder=tmp_path)) == {3, 7}
    (tmp_path / "ids").write_text("3\nx\n")
    assert set(values(file="ids", folder=tmp_path)) == {"3", "x"}
    for odd in ("007", "+7", "1_000", "3\u20287"):
        (tmp_path / "ids").write_text(f"\ufeff3\r\n{odd}\r\n", encoding="utf-8")
        assert set(values(file="ids", folder=tmp_path)) == {"3", odd}


@given(st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=20)
       | st.integers(-(2**62), 2**62))  # fmt: skip
def test_a_value_comes_out_as_it_went_in(value) -> None:
    assert values(1, list=[value]) == [value]


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_float_comes_out_as_it_went_in(value: float) -> None:
    assert values(1, list=[value]) == [pytest.approx(value, rel=1e-15)]


def test_only_the_token_is_replaced() -> None:
    text = "SELECT ':x', a::x, :x2 -- :x\n, -:x FROM t"
    (found,) = texts(text, 1, x=Parameter(sequence=(-4, 1)))
    assert found == "SELECT ':x', a::x, :x2 -- :x\n, -(-4) FROM t"


@pytest.mark.parametrize(
    ("stated", "words"),
    [
        ({}, "drawn in one way"), ({"uniform": (1, 2), "file": "x"}, "drawn in one way"),
        ({"uniform": (2, 1)}, "there is no number"), ({"list": ()}, "has no value"),
        ({"zipf": (1, 10**7)}, "at most 1,000,000"), ({"file": "none"}, "none"),
    ],
)  # fmt: skip
def test_an_impossible_distribution_is_refused(stated: dict, words: str) -> None:
    with pytest.raises(InputError, match=words):
        texts("SELECT :x", x=Parameter(**stated))


def test_a_parameter_that_the_text_does_not_have_is_refused() -> None:
    with pytest.raises(InputError, match="has no :y"):
        texts("SELECT ':y'", y=Parameter(sequence=(1, 1)))


@pytest.mark.parametrize(
    ("text", "dialect", "named"),
    [("SELECT $1", "postgres", "$1"), ("SELECT @x", "postgres", "@x"), ("SELECT :b", "", ":b"),
     ("SELECT :b", "duckdb", "line 1"), ("SELECT %s", "", "line 1")],
)  # fmt: skip
def test_what_stands_for_a_value_is_named_as_it_is_written(
    text: str, dialect: str, named: str
) -> None:
    with pytest.raises(InputError) as caught:
        sql.parsed(text, dialect, "it")
    assert named in caught.value.message
    assert "sqlglot" not in caught.value.message
