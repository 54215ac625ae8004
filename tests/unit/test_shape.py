"""Values out of JSON and TOML are what is declared; what is wrong is said in the file's words."""

from typing import Annotated

import pytest
from msgspec import Meta

from loadstone.errors import InputError
from loadstone.plan.published import Published, PublishedTable
from loadstone.text.shape import fields_of, one_of, shaped, strict_json


@pytest.mark.parametrize("text", [
    "NaN", "[Infinity]", "-Infinity", "1e999", "[" * 100_000, "1" * 5000, '"\\ud800"',
    '{"\\ud800": 1}', "", "{", "[1,]",
])  # fmt: skip
def test_json_is_finite_numbers_and_characters(text):
    with pytest.raises(InputError, match="not JSON"):
        strict_json(text)


@pytest.mark.parametrize(("value", "wanted", "message"), [
    ("7", int, "it must be a whole number, not '7'"),
    (True, int, "it must be a whole number, not true"),
    (1, bool, "it must be true or false, not 1"),
    (7, tuple[int, ...], "it must be a list, not 7"),
    ([1, "a"], tuple[int, ...], "it must be a whole number, not 'a'"),
    ([1], tuple[int, int], "it must be a list of 2"),
    (0, Annotated[int, Meta(ge=1, le=9)], "it must be between 1 and 9, not 0"),
    (0.0, Annotated[float, Meta(gt=0, le=1)],
     "it must be more than 0 and at most 1, not 0.0"),
    (1.0, Annotated[float, Meta(ge=0, lt=1)],
     "it must be at least 0 and less than 1, not 1.0"),
    ("hot", Annotated[str, one_of(("warm", "cold"))], "it must be one of warm, cold, not 'hot'"),
    ({"a": "x"}, dict[str, int], "it must be a whole number, not 'x'"),
    ({"more": 1}, Published, "it: no such key: 'more'"),
    ({"tables": [{}]}, Published, "it.tables: number is missing"),
    ("x" * 999, int, "x…"),
])  # fmt: skip
def test_a_wrong_value_is_reported_with_the_allowed_ones(value, wanted, message):
    with pytest.raises(InputError) as caught:
        shaped(value, wanted, "it")
    assert message in caught.value.message
    assert "tuple" not in caught.value.message


@pytest.mark.parametrize("value", [[1], {}, None])
def test_of_several_kinds_of_value_all_are_named(value):
    with pytest.raises(InputError, match=r"a whole number, a number, a text or true or false, not"):
        shaped((value, 2), tuple[int | float | str | bool, ...], "w")


def test_a_right_value_is_taken():
    assert shaped([1, 2], tuple[int, ...] | None, "it") == (1, 2)
    assert shaped(None, tuple[int, ...] | None, "it") is None
    assert shaped([["a", None, {"s": 1, "t": "x"}]], fields_of(PublishedTable)["rows"], "it")
    assert shaped(3, Annotated[float, Meta(ge=0, le=9)], "it") == 3.0
