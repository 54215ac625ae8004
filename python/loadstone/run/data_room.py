"""The room that a run's tables take, before they are made: said where they are larger than memory,
and refused where the disk cannot hold them.

    cannot hold   the tables of one stage and the largest scale, on every engine at the least share
                  of their plain bytes that it stores, are larger than the disk's free space. False
                  if an engine stored them in less: the shares were measured, and are declared low.

What else a run writes (logs, results, sorts) comes on top, so a run that begins may still fill a
disk; then its cells fail with the engine's words.
"""

import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from loadstone._core import RelationStream, attributes
from loadstone.engines import tactic
from loadstone.errors import InputError
from loadstone.plan.role import Role
from loadstone.run.planned import Planned
from loadstone.run.scratch import parent
from loadstone.text.numbers import plural, size

_WIDTHS = {"int2": 2, "int4": 4, "int8": 8, "timestamp": 8}
_FIXED_TEXT = re.compile(r"char\(([0-9]+)\)")


@dataclass(frozen=True, slots=True)
class DataRoom:
    """`plain_bytes` are those of one variant's tables, `least_bytes` what all variants store at
    least."""

    plain_bytes: int
    least_bytes: int


def room_of(planned: Planned) -> DataRoom | None:
    """The room of the stage that takes most; None where the tables are no generated ones, or are
    loaded by a program."""
    plan, benchmark = planned.plan, planned.benchmark
    if benchmark.workload is not None or benchmark.seam != "engines":
        return None
    rows = max(plan.rows)
    used = {cell.operation for cell in plan.cells if cell.rows == rows and not cell.gap}
    operations = benchmark.operations(plan.edition, rows)
    designs = {one.design for one in operations if one.name in used}
    stored = benchmark.stored_relations(plan.edition)
    bytes_of = {item: _bytes(planned, item.relation, rows) for item in stored}
    plain_bytes = max(
        sum(bytes_of[item] for item in stored if item.design in stage & designs)
        for stage in benchmark.stages(plan.edition)
    )
    shares = [
        engine.capabilities.stored_share
        for name, (variant, engine) in planned.variants.items()
        if plan.role_of(name) in (Role.COMPETITOR, Role.LIMIT) and variant.url is None
    ]
    return DataRoom(plain_bytes, round(plain_bytes * sum(shares)))


def _bytes(planned: Planned, relation: str, rows: int) -> int:
    where = planned.plan.benchmark, planned.plan.edition, relation
    width = sum(_width(kind) for _, kind in attributes(*where))
    return width * RelationStream(*where, rows).row_count


def _width(kind: str) -> int:
    characters = _FIXED_TEXT.fullmatch(kind)
    return int(characters[1]) if characters else _WIDTHS[kind]


def larger_than_memory(planned: Planned, folder: Path | None = None) -> str:
    """The sentence about tables that are larger than memory; empty: they are not. Raises
    `InputError` where the disk cannot hold them."""
    room = room_of(planned)
    if room is None:
        return ""
    folder = _existing(folder or parent())
    free_bytes, memory_bytes = shutil.disk_usage(folder).free, tactic.memory_bytes()
    if room.least_bytes > free_bytes:
        raise InputError(
            f"the tables of {plural(max(planned.plan.rows), 'row')} take {size(room.least_bytes)}"
            f" at least, on all variants together, and {folder} has {size(free_bytes)} free",
            hint="lower --rows, name fewer variants or operations, or name a folder on a larger"
            " disk in LOADSTONE_SCRATCH",
        )
    if room.plain_bytes <= memory_bytes:
        return ""
    return (
        f"the tables are larger than memory: {size(room.plain_bytes)} for each variant, of"
        f" {size(memory_bytes)}; on disk at least {size(room.least_bytes)} in all, of"
        f" {size(free_bytes)} free in {folder}. Warm cells of them read from the disk, too"
    )


def _existing(folder: Path) -> Path:
    return next(each for each in (folder, *folder.parents) if each.exists())
