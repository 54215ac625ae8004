"""The tables that a plan needs at a stage of a scale."""

from collections.abc import Collection, Iterable

from loadstone.benchmarks.base import Benchmark, StoredRelation
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.plan import Plan


def stored(
    benchmark: Benchmark,
    plan: Plan,
    rows: int,
    stage: Collection[str],
    variant: str,
    capabilities: Capabilities,
) -> list[StoredRelation]:
    """The relations that a variant's cells of this scale touch, in those designs of a stage that it
    supports."""
    designs = {
        operation.name: operation.design for operation in benchmark.operations(plan.edition, rows)
    }
    needed = {
        designs[cell.operation]
        for cell in plan.cells
        if cell.variant == variant and cell.rows == rows and not cell.gap
    }
    return [
        item
        for item in benchmark.stored_relations(plan.edition)
        if item.design in needed and item.design in stage and _supported(item, capabilities)
    ]


def _supported(item: StoredRelation, capabilities: Capabilities) -> bool:
    """A relation without an organisation is the client program's own."""
    return not item.organisation or capabilities.structures[item.organisation].supported


def relations(items: Iterable[StoredRelation]) -> list[str]:
    """Distinct relation names, in order."""
    return list(dict.fromkeys(item.relation for item in items))
