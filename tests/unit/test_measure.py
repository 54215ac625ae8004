"""The part that `crates/python` adds to `crates/measure`: types, defaults, errors."""

import mmap
import os
import subprocess
import sys
import time

import pytest

from loadstone import _core


def test_the_clock_is_the_monotonic_one_of_every_process():
    before = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    assert before <= _core.clock_ns() <= time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    assert _core.clock_resolution_ns() >= 1
    assert _core.clock_cost_ns() > 0


def test_statistics_cross_with_their_defaults():
    samples = [5, 1, 4, 2, 3, 6]
    assert _core.interval_of_median(samples) == (3.5, 1.0, 6.0)
    assert _core.interval_of_median(samples[:5]) == (3.0, None, None)
    assert _core.interval_of_median([7.5], confidence=0.5) == (7.5, None, None)
    assert _core.interval_of_paired_ratio([6] * 6, [3] * 6) == pytest.approx((2, 2, 2))
    assert _core.interval_of_paired_ratio([6], [3]) == (pytest.approx(2), None, None)
    assert _core.growth_exponent([10, 100], [1, 100]) == (pytest.approx(2), None)
    assert _core.growth_exponent([10], [1]) is None


@pytest.mark.parametrize(
    ("call", "reported"),
    [
        (lambda: _core.interval_of_median([]), "no samples"),
        (lambda: _core.interval_of_median([1.0, float("nan")]), "sample 1"),
        (lambda: _core.interval_of_median([1.0], confidence=95), "0.95"),
        (lambda: _core.growth_exponent([1.0], [1.0, 2.0]), "1 sizes but 2 times"),
        (lambda: _core.interval_of_paired_ratio([1.0], []), "1 numerators but 0 denominators"),
        (lambda: _core.interval_of_paired_ratio([1.0], [0.0]), "a denominator is 0"),
        (lambda: _core.effective_samples([]), "no samples"),
        (lambda: _core.outliers([1.0, float("inf")]), "sample 1"),
    ],
)
def test_bad_statistics_are_value_errors_that_say_what_to_give(call, reported):
    with pytest.raises(ValueError, match=reported):
        call()


def test_a_schedule_is_lists_of_numbers():
    assert _core.schedule(1983, 4, 3) == [[0, 1, 3, 2], [3, 1, 0, 2], [3, 2, 1, 0]]
    assert _core.schedule(0, 0, 2) == [[], []]


@pytest.mark.parametrize("ask", [_core.resident_pages, _core.evict])
def test_files_are_refused_with_number_and_name(tmp_path, ask):
    missing = str(tmp_path / "missing")
    with pytest.raises(FileNotFoundError) as caught:
        ask(missing)
    assert caught.value.filename == missing
    with pytest.raises(OSError, match="Invalid argument"):
        ask(str(tmp_path))


def test_a_path_need_not_be_text(tmp_path):
    odd = os.fsdecode(os.fsencode(tmp_path) + b"/\xff\xfe")
    with open(odd, "wb") as file:  # noqa: PTH123 - the name is no text
        file.write(b"x" * 5000)
    resident, total, method = _core.resident_pages(odd)
    assert total == -(-5000 // os.sysconf("SC_PAGE_SIZE"))
    assert 0 <= resident <= total
    assert method in {"cachestat", "mincore"}


def test_counters_are_none_for_a_process_that_is_gone():
    ended = subprocess.Popen(["true"])
    ended.wait()
    assert _core.cpu_ns(ended.pid) is None
    assert _core.io_bytes(ended.pid) is None
    used = _core.cpu_ns(os.getpid())
    assert used is not None
    assert used > 0


def test_reads_by_calls_and_by_mappings_are_reported_apart(tmp_path):
    own, size = os.getpid(), 64 * os.sysconf("SC_PAGE_SIZE")
    path = tmp_path / "a file of\ntwo lines"
    path.write_bytes(bytes(size))
    before = _core.called_bytes(own)
    assert len(path.read_bytes()) == size
    assert before is not None
    assert _core.called_bytes(own) >= before + size
    names = [str(path), str(tmp_path / "missing")]
    assert _core.mapped_bytes(own, names) == 0
    with path.open("rb") as file, mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as mapped:
        seen = mapped[:]
        assert _core.mapped_bytes(own, names) == size
        assert _core.mapped_bytes(own, names[1:]) == 0
        os.sync()
        _core.page_out(names)
        assert _core.mapped_bytes(own, names) == 0
        assert mapped[:] == seen, "what comes back is what was there"
    with pytest.raises(FileNotFoundError):
        _core.mapped_bytes(2**22 + 1, names)
    assert _core.called_bytes(2**22 + 1) is None
    assert _core.reads_past_calls(2**22 + 1) is None


def test_a_private_mapping_keeps_its_changes(tmp_path):
    """Pages of it that were written are in no file."""
    path = tmp_path / "file"
    path.write_bytes(b"x" * mmap.PAGESIZE)
    with path.open("r+b") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY) as mapped:
        mapped[:5] = b"mine!"
        _core.page_out([str(path)])
        assert mapped[:5] == b"mine!"
        assert _core.mapped_bytes(os.getpid(), [str(path)]) == mmap.PAGESIZE


def test_reads_that_no_call_shows_are_noticed():
    """An io_uring, also one of a child."""
    opened = (
        "import ctypes, sys\n"
        "ring = ctypes.CDLL(None).syscall(425, 1, ctypes.create_string_buffer(120))\n"
        "print(ring, flush=True)\n"
        "sys.stdin.read()\n"
    )
    assert _core.reads_past_calls(os.getpid()) is False
    pipe = subprocess.PIPE
    with subprocess.Popen([sys.executable, "-c", opened], stdin=pipe, stdout=pipe) as child:
        assert child.stdout is not None
        ring = int(child.stdout.readline())
        found = _core.reads_past_calls(child.pid), _core.reads_past_calls(os.getpid())
        child.communicate()
    if ring < 0:
        pytest.skip("no io_uring may be set up here")
    assert found == (True, True)


def test_idle_states_are_disabled_until_the_end_of_the_block():
    with _core.disable_idle_states() as idle_states:
        assert idle_states.held == (idle_states.reason == "")
    assert not idle_states.held
    assert idle_states.reason
    idle_states.close()


def test_memory_beyond_the_machine_is_a_memory_error():
    assert _core.pretouch(1 << 16) >= 0
    with pytest.raises(MemoryError, match="request less"):
        _core.pretouch(1 << 60)


def test_pairs_cross_with_their_defaults():
    assert _core.interval_of_paired_ratio([6] * 6, [6] * 6) == (1.0, 1.0, 1.0)
    assert _core.interval_of_paired_ratio([6], [6]) == (1.0, None, None)
    median, low, high = _core.interval_of_paired_ratio([2, 4, 6, 8, 10, 13], [1, 2, 3, 4, 5, 6])
    assert (median, low, high) == (pytest.approx(2), pytest.approx(2), pytest.approx(13 / 6))
    assert _core.interval_of_paired_ratio([6] * 6, [6] * 6, confidence=0.99) == (1.0, None, None)


def test_worth_and_outliers_are_numbers_and_positions():
    assert _core.effective_samples([1, 2] * 20) == 40.0
    assert _core.effective_samples(list(range(40))) < 5
    assert _core.outliers([5, 6, 7, 8, 900, 6, 7]) == [4]
    assert _core.outliers([]) == []


def test_a_spin_takes_time_and_processors_report_theirs():
    assert _core.spin_ns(1_000_000) > 0
    times = _core.processor_times()
    assert times is not None
    assert all(type(time_ns) is int for time_ns in times)
    busy, idle, stolen = times
    assert busy > 0
    assert min(idle, stolen) >= 0
