"""A run's own objects in a user's database are known by their name and their mark, and by nothing
less."""

import pytest

from loadstone.engines.ownership import Space, mark_of, owner_of
from loadstone.engines.postgresql.schema import Schema
from loadstone.engines.sqlite.user_file import OwnTables

KINDS = (Schema, OwnTables)


@pytest.mark.parametrize("kind", KINDS)
def test_a_space_is_recognised_by_its_name(kind: type[Space]) -> None:
    space = kind.of("run1", "postgresql?cache=1")
    assert kind.named(space.name) == space
    assert type(kind.named(space.name)) is kind
    assert owner_of(space.mark) == "run1"


def test_each_variant_has_a_space_of_its_own_whatever_the_engine() -> None:
    names = {kind.of("run1", variant).name for kind in KINDS for variant in ("one", "another")}
    assert len(names) == 2
    assert names.isdisjoint({Schema.of("run2", "one").name})


@pytest.mark.parametrize(
    "name",
    ["loadstone_run1", "loadstone_run1_0123456", "loadstone_Run1_01234567", "notes",
     "loadstone_run1_01234567_onek", "my_loadstone_run1_01234567", "loadstone_run1_01234567\n"],
)  # fmt: skip
def test_a_name_like_ours_is_not_ours(name: str) -> None:
    assert Schema.named(name) is None


@pytest.mark.parametrize("mark", ["", "run1", "loadstone", "a loadstone run run1"])
def test_a_note_like_a_mark_is_none(mark: str) -> None:
    assert owner_of(mark) is None
    assert owner_of(mark_of("run1")) == "run1"
