"""The space that repeated changes leave behind stays bounded, on every engine: a sample finds no
more than the one before it found."""

from samples import as_rows, said, stream, table

from loadstone.engines.abilities import RemovesDead
from loadstone.engines.base import Engine

ROWS = [(i, i, i, "x") for i in range(5_000)]
REPLACE = "range of t is t replace t (big = t.big)"
TIMES = 12
GROWN_MAX = 3
"""Times the space after the first: twice the tuples, and space that is kept for the next."""


def test_repeated_changes_of_a_whole_table_do_not_grow_it(engine: Engine) -> None:
    engine.load(table("t", indexes=("unique2",)), stream(ROWS))
    engine.settle(["t"])
    statement = said(engine, REPLACE)
    sizes = []
    for _ in range(TIMES):
        changed = engine.run(statement)
        if isinstance(engine, RemovesDead):
            engine.remove_dead("t", max(changed, 0))
        sizes.append(engine.size_bytes())
    assert sizes[-1] <= GROWN_MAX * sizes[0]
    assert sorted(as_rows(engine.contents("t"))) == ROWS
