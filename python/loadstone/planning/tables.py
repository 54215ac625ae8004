"""The tables that a plan needs at a stage of a scale."""

from collections.abc import Collection, Iterable

from loadstone.benchmarks.base import Benchmark, StoredRelation
from loadstone.benchmarks.operation import Operation
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.plan import Plan
from loadstone.workload.quel import read_by


def stored(
    benchmark: Benchmark,
    plan: Plan,
    rows: int,
    stage: Collection[str],
    variant: str,
    capabilities: Capabilities,
) -> list[StoredRelation]:
    """The relations that a variant's cells of this scale touch, in the designs of a stage that the
    variant supports."""
    known = {operation.name: operation for operation in benchmark.operations(plan.edition, rows)}
    operations = [
        known[cell.operation]
        for cell in plan.cells
        if cell.variant == variant and cell.rows == rows and not cell.gap
    ]
    needed = {operation.design for operation in operations}
    read = _read(operations) if capabilities.no_sql else None
    return [
        item
        for item in benchmark.stored_relations(plan.edition)
        if item.design in needed and item.design in stage and _supported(item, capabilities)
        if read is None or item.data is None or item.data.name in read
    ]


def _read(operations: Iterable[Operation]) -> frozenset[str]:
    """The tables of a workload that statements in QUEL read: an engine without SQL may be unable to
    hold the others."""
    statements = (operation.statement for operation in operations)
    return frozenset(name for one in statements if one is not None for name in read_by(one))


def _supported(item: StoredRelation, capabilities: Capabilities) -> bool:
    """A relation without an organisation is the client program's own."""
    return not item.organisation or capabilities.structures[item.organisation].supported


def relations(items: Iterable[StoredRelation]) -> list[str]:
    """Distinct relation names, in order."""
    return list(dict.fromkeys(item.relation for item in items))
