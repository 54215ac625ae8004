"""The part that `crates/python` adds to open loops and their tallies: types, defaults, errors."""

import zlib

import pytest

from loadstone import _core


def tally_of(*requests):
    tally = _core.Tally()
    for request in requests:
        tally.add(*request)
    return tally


def test_starts_are_random_unless_asked_otherwise():
    starts = _core.intended_starts(1983, 1000.0, 4_000_000)
    assert starts == [460_519, 478_354, 1_108_941, 1_512_291, 2_876_760, 2_901_158]
    assert starts == _core.intended_starts(1983, 1000, 4_000_000, model="poisson")
    assert _core.intended_starts(0, 500, 4_000_000, "uniform") == [0, 2_000_000]


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (lambda: _core.intended_starts(0, 0.0, 1), "above zero"),
        (lambda: _core.intended_starts(0, 1.0, 0), "at least 1"),
        (lambda: _core.intended_starts(0, 1e12, 10**9), "lower the rate"),
        (lambda: _core.intended_starts(0, 1.0, 1, "bursts"), "`poisson` or `uniform`"),
        (lambda: _core.Tally().add(0, 10, 9), "before it started"),
        (lambda: _core.Tally().latency_ns(101), "between 0 and 100"),
    ],
)
def test_what_cannot_be_is_a_value_error_that_says_what_to_give(call, reported):
    with pytest.raises(ValueError, match=reported):
        call()


def test_latency_counts_from_the_intended_start():
    tally = tally_of((0, 3_000_000, 5_000_000))
    tally.skip()
    assert tally.latency_ns(50) == pytest.approx(5_000_000, rel=1e-3)
    assert tally.lag_ns(50) == pytest.approx(3_000_000, rel=1e-3)
    assert tally.service_ns(50) == pytest.approx(2_000_000, rel=1e-3)
    assert (tally.completed, tally.late, tally.skipped) == (1, 1, 1)


def test_an_empty_tally_knows_nothing():
    tally = _core.Tally()
    assert (tally.latency_ns(50), tally.lag_ns(50), tally.service_ns(50)) == (None, None, None)
    assert (tally.completed, tally.late, tally.skipped) == (0, 0, 0)


def test_merging_adds_the_other_and_leaves_it():
    tally, other = tally_of((0, 0, 10)), tally_of((0, 0, 20), (0, 0, 30))
    tally.merge(other)
    assert (tally.completed, other.completed) == (3, 2)
    assert tally.latency_ns(100) == 30
    tally.merge(tally)
    assert tally.completed == 6


def test_the_bytes_are_the_published_format():
    written = tally_of((0, 0, 10)).to_bytes()
    # Cookie of V2 deflate, length, then a zlib stream with the cookie of V2.
    assert int.from_bytes(written[:4], "big") & ~0xF0 == 0x1C849304
    assert int.from_bytes(written[4:8], "big") == len(written) - 8
    assert int.from_bytes(zlib.decompress(written[8:])[:4], "big") & ~0xF0 == 0x1C849303
