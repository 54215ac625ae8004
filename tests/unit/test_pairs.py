"""The samples that make a ratio: pairs of samples, and blocks where there are enough of them."""

from math import isclose

from loadstone.record.model import Sample
from loadstone.statistics.paired_ratio import FORK_NS, OBSERVATIONS_MIN, paired, paired_ratio


def samples(*blocks: tuple[int, ...]) -> list[Sample]:
    """One tuple of elapsed ns a block; ordinals go on from block to block."""
    found = []
    for number, block in enumerate(blocks):
        for elapsed_ns in block:
            ordinal = len(found)
            found.append(Sample(ordinal, number, ordinal % 10, ordinal, elapsed_ns))
    return found


def test_only_equal_repetitions_are_a_pair() -> None:
    first, second = samples((1, 2, 3)), samples((4, 5))
    assert [(a.elapsed_ns, b.elapsed_ns) for a, b in paired(first, second)] == [(1, 4), (2, 5)]


def test_nothing_in_common_is_no_ratio() -> None:
    assert paired_ratio(samples((1, 2)), []) is None


def test_samples_of_one_block_are_one_observation() -> None:
    """The same noise in all samples of a block must not look like many observations of it."""
    noise = [100, 140, 95, 130, 90, 120, 110, 105, 135, 92]
    apart = paired_ratio(samples(*((n,) for n in noise)), samples(*((100,) for _ in noise)))
    alike = paired_ratio(samples(*((n,) * 8 for n in noise)), samples(*((100,) * 8 for _ in noise)))
    assert apart == alike


def test_blocks_of_one_fork_are_one_observation() -> None:
    """A process keeps what it drew when it started: many blocks of it are no many observations."""
    drawn = (100, 140, 95, 130, 90, 120, 110, 105, 135, 92)
    a_block_each, ten_blocks_each = ([], []), ([], [])
    for number, elapsed_ns in enumerate(drawn):
        for repeated, sides in ((1, a_block_each), (10, ten_blocks_each)):
            for side, reported_ns in zip(sides, (elapsed_ns, 100), strict=True):
                for block in range(repeated):
                    at = len(side)
                    side.append(Sample(at, at, 0, number * FORK_NS + block, reported_ns))
    assert paired_ratio(*a_block_each) == paired_ratio(*ten_blocks_each)


def test_few_blocks_count_their_samples_one_by_one() -> None:
    scatter = (3, 9, 1, 7, 4, 8, 2, 6, 5)
    blocks = [
        tuple(100 + scatter[(4 * n + i) % 9] for i in range(4)) for n in range(OBSERVATIONS_MIN - 1)
    ]
    estimate = paired_ratio(samples(*blocks), samples(*((50,) * 4 for _ in blocks)))
    assert estimate is not None and estimate.low is not None and estimate.low < estimate.value


def test_swapped_sides_give_the_reciprocal() -> None:
    blocks = [(100 + n, 90 + 2 * n, 120) for n in range(12)]
    others = [(95, 100 + n, 101) for n in range(12)]
    one, other = (
        paired_ratio(samples(*blocks), samples(*others)),
        paired_ratio(samples(*others), samples(*blocks)),
    )
    assert one is not None and other is not None
    assert isclose(one.value, 1 / other.value)
    assert one.low is not None and other.high is not None and isclose(one.low, 1 / other.high)


def test_a_time_of_zero_counts_as_one_nanosecond() -> None:
    estimate = paired_ratio(samples((0,)), samples((8,)))
    assert estimate is not None and isclose(estimate.value, 1 / 8)
