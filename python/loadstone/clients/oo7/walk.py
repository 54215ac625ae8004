"""The walk down the tree of assemblies, and through the graph of each composite part: the
counterpart of `crates/clients/src/oo7/traversal.rs`."""

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from loadstone.clients.oo7.driver import Driver, Row

MODULE = 1
"""The module whose tree the traversals walk, but for T10."""


class Walk:
    """A program on its way through the database, and the calls that it made."""

    def __init__(self, driver: Driver) -> None:
        self.driver = driver
        self.calls = 0

    def components(self, module: int = MODULE) -> Iterator[Any]:
        """Depth first through the tree of a module: each private component of each base assembly,
        as often as it is named."""
        driver = self.driver
        above = [driver.design_root(module)]
        self.calls += 1
        while above:
            below, bases = driver.subassemblies(above.pop())
            above.extend(reversed(below))
            self.calls += 1 + len(bases)
            for base in bases:
                yield from driver.components(base)

    def base_at(self, path: Sequence[int]) -> Any:
        """The base assembly at the end of a way from the root, by the child to go on to at each
        complex assembly."""
        here = self.driver.design_root(MODULE)
        self.calls += 1
        for child in path:
            below, bases = self.driver.subassemblies(here)
            self.calls += 1
            here = (below or bases)[child]
        return here

    def components_of(self, base: Any, kind: str) -> Iterator[Any]:
        """The components of a base assembly, "private" or "shared"."""
        self.calls += 1
        driver = self.driver
        yield from driver.components(base) if kind == "private" else driver.shared_components(base)

    def graph(self, composite: Any, at: Callable[[Any, bool], None]) -> None:
        """Depth first along the connections from a composite part's root, each atomic part once.
        `at` is reported whether a part is the root."""
        driver = self.driver
        connected, part_id = driver.connected, driver.part_id
        root = driver.root_part(composite)
        self.calls += 1
        seen = {part_id(root)}
        at(root, True)
        way = [iter(connected(root))]
        self.calls += 1
        while way:
            for part in way[-1]:
                number = part_id(part)
                if number not in seen:
                    seen.add(number)
                    at(part, False)
                    way.append(iter(connected(part)))
                    self.calls += 1
                    break
            else:
                way.pop()


def t1(driver: Driver, modules: range, visited: list[Row]) -> int:
    """All private components of some modules, each with its whole graph; the calls made."""
    walk = Walk(driver)
    read, keep = driver.read, visited.append

    def visit(part: Any, is_root: bool) -> None:
        del is_root
        row = read(part)
        null(row[0], row[3])
        keep(row)

    for module in modules:
        for composite in walk.components(module):
            walk.graph(composite, visit)
    return walk.calls + len(visited)


def null(number: int, value: int) -> None:
    """OO7's null operation in the client's language."""
