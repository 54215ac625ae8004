"""Studies with a known truth: times made up from effects, and from noise of several kinds."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import log, sqrt

from loadstone.studies.design import Combination
from loadstone.studies.observations import Block

NOISES = ("normal", "heavy", "spikes")


@dataclass(frozen=True)
class Truth:
    """ln of the time of a combination: its terms' sum. A term belongs to the switches that must all
    be flipped for it. `added_ms` are times that add, and do not multiply."""

    terms: Mapping[str, float] = field(default_factory=dict)
    added_ms: Mapping[str, float] = field(default_factory=dict)

    def __call__(self, chosen: Combination) -> float:
        added = sum(cost for of, cost in self.added_ms.items() if chosen >= set(of))
        return log(1.0 + added) + sum(t for of, t in self.terms.items() if chosen >= set(of))


def blocks(
    dice: random.Random, truth: Truth, design: Sequence[Combination], count: int,
    kind: str = "normal", noise: float = 0.03,
) -> list[Block]:  # fmt: skip
    """`count` blocks. Each has the speed of its fork in common (10 %), on a machine that slows down
    by a third from the first to the last; the combinations come in random order, while the machine
    slows down within the block, too."""
    made = []
    for place in range(count):
        fork = dice.gauss(0, 0.1) + place / count / 3
        order = dice.sample(design, len(design))
        made.append(
            {
                one: truth(one) + fork + at / len(order) / 3 / count + _noise(dice, kind, noise)
                for at, one in enumerate(order)
            }
        )
    return made


def _noise(dice: random.Random, kind: str, noise: float) -> float:
    """Heavy: Student's t with three degrees of freedom, of about the normal one's quartiles.
    Spikes: of twenty times one is up to twice as long."""
    one = dice.gauss(0, noise)
    if kind == "heavy":
        return 0.9 * one / sqrt(sum(dice.gauss(0, 1) ** 2 for _ in range(3)) / 3)
    if kind == "spikes" and dice.random() < 0.05:
        return one + log(1 + dice.random())
    return one
