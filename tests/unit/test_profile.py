"""A block that is profiled has the samples of any block, and the functions of its time."""

import pytest

from loadstone import _core
from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.errors import InputError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Load, Open, Profile, ReportTerms, TakeBlock
from loadstone.protocol.parts import Block, StoredAt, Variation
from loadstone.worker import profile
from loadstone.worker.statement_requests import StatementRequests

ROWS = 1000
TEXT = "range of t is tenktup1 retrieve into tmp (t.all) where t.unique2 < 900"


def block(temperature="warm", times=5):
    oracle = _core.Oracle()
    oracle.add("wisconsin", "1993", "tenktup1", ROWS)
    variation = Variation(0, TEXT, "", *oracle.answer(TEXT))
    return Block(
        benchmark="wisconsin",
        edition="1993",
        rows=ROWS,
        design="heap",
        destination="relation",
        temperature=temperature,
        variations=(variation,) * times,
        warm_up=1,
        first_ordinal=0,
        round=0,
    )


@pytest.fixture
def worker(tmp_path):
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    for item in WisconsinBenchmark().stored_relations("1993"):
        if (item.relation, item.design) == ("tenktup1", "heap"):
            worker.load(Load(StoredAt("wisconsin", "1993", ROWS, item)))
    yield worker
    worker.remove()


def test_a_profile_is_of_the_samples_that_count_and_of_nothing_else(worker):
    found = worker.answer(Profile(block(times=20), frequency_hz=5000))
    assert len(found.result.samples) == len(found.result.answers) == 20
    assert all(answer.right for answer in found.result.answers)
    assert found.elapsed_ns == sum(sample.elapsed_ns for sample in found.result.samples)
    assert found.executing in [thread.thread for thread in found.threads]
    if found.reason and not found.counts:
        pytest.skip(found.reason)
    assert found.period_ns == 200_000
    assert "executor" in {count.component for count in found.counts}
    named = {count.function for count in found.counts if "__init__" in count.object}
    assert any(name.startswith("sqlite3") for name in named), named


def test_samples_are_held_against_the_clocks_of_the_threads(worker):
    """At the rate of a time budget, where a period is a tenth of a block: none is forgiven."""
    found = worker.answer(Profile(block(times=100), frequency_hz=397))
    if found.sampled_ns is None:
        pytest.skip(found.reason)
    cpu_ns = sum(thread.cpu_ns for thread in found.threads) - found.reading_ns
    assert found.sampled_ns == pytest.approx(cpu_ns, rel=0.05)
    assert abs(found.sampled_ns - cpu_ns) > 10, "two clocks do not agree to the nanosecond"


def test_blocks_that_are_shorter_than_a_period_are_sampled_in_proportion(worker):
    """A sampler that began anew with each would have its first sample in none of them."""
    samples = cpu_ns = 0
    for _ in range(60):
        found = worker.answer(Profile(block(times=2), frequency_hz=100))
        worker.answer(TakeBlock(block(times=1)))
        samples += sum(count.samples for count in found.counts)
        cpu_ns += sum(thread.cpu_ns for thread in found.threads) - found.reading_ns
    if found.sampled_ns is None:
        pytest.skip(found.reason)
    assert cpu_ns < 60 * found.period_ns / 2, "else each block is long enough by itself"
    assert samples >= cpu_ns / found.period_ns / 3


def test_a_sampler_rests_between_blocks_and_ends_with_other_work(worker):
    worker.answer(Profile(block(), frequency_hz=100))
    first = worker._sampler._sampler
    worker.answer(TakeBlock(block()))
    worker.answer(Profile(block(), frequency_hz=100))
    assert worker._sampler._sampler is first is not None
    worker.answer(ReportTerms())
    assert worker._sampler._sampler is None


def test_a_block_afterwards_is_not_watched(worker):
    worker.answer(Profile(block(), frequency_hz=5000))
    assert len(worker.answer(TakeBlock(block())).samples) == 5
    assert worker._timer().observer is None


def test_a_cell_that_cannot_be_profiled_is_refused_before_anything_runs(worker):
    with pytest.raises(InputError, match="cold"):
        worker.answer(Profile(block("cold")))
    for frequency in (0, 10_001):
        with pytest.raises(InputError, match="samples a second"):
            worker.answer(Profile(block(), frequency_hz=frequency))


def test_lode_s_functions_have_their_names(tmp_path):
    """The package's library keeps its table of symbols: without it all of lode is one function."""
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("lode"), str(tmp_path), "owner"))
    try:
        for item in WisconsinBenchmark().stored_relations("1993"):
            if (item.relation, item.design) == ("tenktup1", "heap"):
                worker.load(Load(StoredAt("wisconsin", "1993", ROWS, item)))
        found = worker.answer(Profile(block(times=50), frequency_hz=5000))
    finally:
        worker.remove()
    if found.reason and not found.counts:
        pytest.skip(found.reason)
    named = {count.function for count in found.counts if count.object.startswith("_core")}
    assert any("lode" in name for name in named), named


@pytest.mark.parametrize(
    ("sample_ns", "share_max", "wanted", "taken"),
    [
        (20_000.0, 0.01, 997, 500),
        (1_000.0, 0.01, 997, 997),
        (500_000.0, 0.01, 997, profile.FREQUENCY_HZ_MIN),
        (20_000.0, 1.0, 9_973, 9_973),
        (0.0, 0.01, 997, 997),
    ],
    ids=["a hundredth", "all that are wanted", "never none", "whatever they cost", "cost unknown"],
)
def test_samples_are_as_many_as_the_share_of_time_that_they_may_take(
    monkeypatch, sample_ns, share_max, wanted, taken
):
    monkeypatch.setattr(profile, "sample_ns", lambda: sample_ns)
    assert profile.affordable_hz(Profile(block(), wanted, share_max)) == taken


def test_the_cost_of_a_sample_is_measured_where_there_are_samples():
    profile.sample_ns.cache_clear()
    cost_ns = profile.sample_ns()
    sampler = _core.Sampler([], 997)
    try:
        if not sampler.samples_programs:
            assert cost_ns == 0
        else:
            # An interrupt takes a microsecond on bare metal, and no machine takes a whole period.
            assert 100 < cost_ns < 1e9 / profile.DENSE_HZ
    finally:
        sampler.close()
