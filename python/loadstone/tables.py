"""Which tables a plan needs at a scale, and how each is asked of an engine."""

from collections.abc import Iterable
from typing import Any

from loadstone._core import attributes
from loadstone.benchmarks.base import Benchmark, StoredRelation
from loadstone.engines.base import Capabilities
from loadstone.plan import Plan


def table_of(relation: str, design: str, rows: int) -> str:
    """The physical name of a stored relation."""
    return f"{relation}_{design}_{rows}"


def stored(
    benchmark: Benchmark, plan: Plan, rows: int, variant: str, capabilities: Capabilities
) -> list[StoredRelation]:
    """The relations that a variant's cells of this scale touch, in the designs it supports."""
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
        if item.design in needed and capabilities.structures[item.organisation].supported
    ]


def load_request(plan: Plan, item: StoredRelation, rows: int) -> dict[str, Any]:
    """What a worker needs to make and fill a table."""
    pairs = attributes(plan.benchmark, plan.edition, item.relation)
    return {
        "table": {
            "name": table_of(item.relation, item.design, rows),
            "attributes": pairs,
            "organisation": item.organisation,
            "key": item.key,
            "tiebreaker": item.tiebreaker,
            "indexes": list(item.indexes),
        },
        "source": {
            "benchmark": plan.benchmark,
            "edition": plan.edition,
            "relation": item.relation,
            "rows": rows,
        },
    }


def relations(items: Iterable[StoredRelation]) -> list[str]:
    """Distinct relation names, in order."""
    return list(dict.fromkeys(item.relation for item in items))
