"""Table I is complete for every engine behind a calling program."""

import pytest

from loadstone import registry
from loadstone.clients.oo1.table_one import ITEMS, REPORTABLES, reportables

NULL_CLIENTS = {"null", "python-null"}


@pytest.mark.parametrize("engine", sorted(set(registry.client_names()) - NULL_CLIENTS))
def test_every_item_is_reported_of_every_engine(engine):
    assert tuple(REPORTABLES[engine]) == ITEMS
    assert all(REPORTABLES[engine].values())
    assert set(reportables(engine)) == {f"setting.{item}" for item in ITEMS}


def test_nothing_is_made_up_for_others():
    assert reportables("null") == {}
    assert set(REPORTABLES) <= set(registry.client_names())
