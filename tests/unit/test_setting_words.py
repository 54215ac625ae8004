"""When a reading is the value that was requested, in an engine's other words."""

import pytest

from loadstone.engines import setting
from loadstone.errors import InputError
from loadstone.plan.variant import parse_variant

SETTINGS = setting.Settings("x", frozenset(), {}, {})
SAME = (
    ("64MB", "64MB"), ("65536kB", "64MB"), ("600s", "10min"), ("0.6s", "600ms"), ("on", "true"),
    ("OFF", "off"), ("1", "on"), ("1.10", "1.1"), ("16384", "16384"), ("64MiB", "64.0 MiB"),
)  # fmt: skip
OTHER = (
    ("64MB", "63MB"), ("64MB", "64"), ("on", "off"), ("5000", "4096"), ("1.1", "1.2"),
    ("hash", "merge"), ("64MB", "61.0 MiB"), ("1h", "1min"), ("", "0"),
)  # fmt: skip


@pytest.mark.parametrize(("asked", "reading"), SAME)
def test_the_same_in_other_words(asked: str, reading: str) -> None:
    assert setting.same(asked, reading)
    assert SETTINGS.shown(asked, reading).startswith(asked) or asked.casefold() == reading


@pytest.mark.parametrize(("asked", "reading"), OTHER)
def test_another_value_is_reported_as_it_is(asked: str, reading: str) -> None:
    assert not setting.same(asked, reading)
    assert SETTINGS.shown(asked, reading) == reading


def test_an_engine_whose_megabyte_is_decimal_rounds_what_it_prints() -> None:
    assert setting.same("64MB", "61.0 MiB", binary=False)
    assert not setting.same("64MB", "61.2 MiB", binary=False)


def test_settings_stay_as_they_are_written_and_tactics_become_bytes() -> None:
    variant = parse_variant("x?cache=1MiB&set.size=1MiB", frozenset({"cache"}))
    assert variant.tactics == (("cache", "1048576"), ("set.size", "1MiB"))
    assert setting.settings_of(variant) == {"size": "1MiB"}


def test_variants_that_differ_in_a_setting_have_names_and_slugs_of_their_own() -> None:
    texts = ("x?set.a=b.c", "x?set.a=b_c", "x?set.a=B_c", "x?set.a=%26b=c", "x?set.a=b%20c", "x")
    variants = [parse_variant(text, frozenset()) for text in texts]
    assert len({variant.name for variant in variants}) == len(texts)
    assert len({variant.slug for variant in variants}) == len(texts)
    assert [parse_variant(one.name, frozenset()) for one in variants] == variants


def test_a_setting_is_named_once() -> None:
    with pytest.raises(InputError, match="twice"):
        parse_variant("x?set.a=1&set.a=2", frozenset())
