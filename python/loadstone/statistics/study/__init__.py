"""The statistics of a study: what each of several switches does to one operation, alone and beside
the others, with intervals. Numbers only: no engine, no record.

In: `parts` (`parts_of(["jit", "join"])`; a name -> the switches flipped together) and, in time
order, one `Block` for each block: combination (the frozenset of switches at their other value) ->
ln of its median time in ms; a combination that failed is absent.

    two_ended(parts)                      combinations to measure, each in every block (design.py)
    study_effects(parts, blocks, control) what was found, with intervals (effects.py)
    waterfall(found)                      from one end to the other, part by part (waterfall.py)
    too_wide, escalation, to_open, prunable   what to do next (decisions.py)
    crossing                              from what size on the other side is ahead (break_even.py)
    Design, to_hold                       what an operation's blocks measure (steering.py)

Effects are on ln: `as_ratio` makes ratios of them.
"""

from loadstone.statistics.study.break_even import Crossing, crossing
from loadstone.statistics.study.decisions import (
    TOGETHER_BLOCKS,
    Escalation,
    blocks_least,
    escalation,
    hidden_share,
    is_known,
    prunable,
    to_open,
    too_wide,
    too_wide_together,
)
from loadstone.statistics.study.design import (
    PARTS_MAX,
    confirming,
    factorial,
    two_ended,
    two_ended_and_walk,
    walk,
)
from loadstone.statistics.study.effects import (
    Interaction,
    PartEffect,
    StudyEffects,
    as_ratio,
    is_beyond,
    study_effects,
)
from loadstone.statistics.study.observations import Block
from loadstone.statistics.study.parts import (
    BASE,
    Combination,
    Parts,
    every,
    grouped,
    opened,
    parts_of,
)
from loadstone.statistics.study.steering import DESIGNS, Design, to_hold
from loadstone.statistics.study.waterfall import Step, Waterfall, waterfall

__all__ = [
    "BASE",
    "DESIGNS",
    "PARTS_MAX",
    "TOGETHER_BLOCKS",
    "Block",
    "Combination",
    "Crossing",
    "Design",
    "Escalation",
    "Interaction",
    "PartEffect",
    "Parts",
    "Step",
    "StudyEffects",
    "Waterfall",
    "as_ratio",
    "blocks_least",
    "confirming",
    "crossing",
    "escalation",
    "every",
    "factorial",
    "grouped",
    "hidden_share",
    "is_beyond",
    "is_known",
    "opened",
    "parts_of",
    "prunable",
    "study_effects",
    "to_hold",
    "to_open",
    "too_wide",
    "too_wide_together",
    "two_ended",
    "two_ended_and_walk",
    "walk",
    "waterfall",
]
