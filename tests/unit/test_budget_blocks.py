"""How much of a cell a time budget watches: by its time, and by all that goes with it."""

import pytest

from loadstone.run.budget_blocks import (
    FIRST_TURN_SAMPLES,
    FREQUENCY_HZ,
    TURN_NS,
    TURN_SAMPLES_MAX,
    TURN_WALL_NS,
    _Turn,
)


def turn(typical_ns: float, wall_ns: float | None) -> _Turn:
    return _Turn(block=1, seed=7, typical_ns=typical_ns, wall_ns=wall_ns)


@pytest.mark.parametrize(
    ("typical_ns", "wall_ns", "samples"),
    [
        (1e6, None, FIRST_TURN_SAMPLES),
        (TURN_NS / 3, None, 3),
        (TURN_NS * 9, None, 1),
        (1e6, 2e6, TURN_NS // 1e6),
        (12e3, 50e3, TURN_SAMPLES_MAX),
        (300e3, 40e6, TURN_WALL_NS // 40e6),
        (300e3, TURN_WALL_NS * 2, 1),
    ],
)
def test_a_turn_is_short_whatever_goes_with_a_statement(typical_ns, wall_ns, samples) -> None:
    assert len(turn(typical_ns, wall_ns).samples) == samples


def test_the_longer_a_statement_the_less_often_the_sampler_stops_it() -> None:
    rates = [turn(ns, None).frequency_hz for ns in (20e3, 300e3, 1e6, 5e6, 1e9)]
    assert rates == sorted(rates, reverse=True)
    assert rates[-1] == FREQUENCY_HZ
    assert len(set(rates)) == 4
