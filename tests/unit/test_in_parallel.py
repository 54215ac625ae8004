"""No thread is at work on a worker once an interruption has left it behind."""

import signal
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from loadstone.run import in_parallel as in_parallel_module
from loadstone.run.in_parallel import in_parallel

SOON_S = 0.3
END_S_MAX = 20


def test_each_has_its_result_or_its_error():
    def fail():
        raise ValueError("it fails")

    done = in_parallel({"well": lambda: 1, "ill": fail}, strikes=[lambda: pytest.fail("struck")])
    assert done["well"].result() == 1
    assert isinstance(done["ill"].exception(), ValueError)


def test_an_interruption_leaves_only_once_every_thread_has_ended():
    """The second request of a thread comes after the first strike."""
    ended, struck, never = [], threading.Semaphore(0), threading.Event()

    def two_requests():
        for _ in range(2):
            assert struck.acquire(timeout=END_S_MAX)
            assert not never.wait(timeout=SOON_S)
        ended.append(True)

    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(SOON_S, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        in_parallel({1: two_requests, 2: two_requests}, strikes=[struck.release])
    assert len(ended) == 2
    timer.join()


def test_an_interruption_before_all_are_started_begins_none(monkeypatch):
    begun, submitted = [], ThreadPoolExecutor.submit

    def interrupted(pool, *arguments):
        submitted(pool, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(ThreadPoolExecutor, "submit", interrupted)
    with pytest.raises(KeyboardInterrupt):
        in_parallel({1: lambda: begun.append(True)}, strikes=[])
    assert begun == []


def test_a_signal_just_before_the_waiting_is_heard_before_its_end(monkeypatch):
    """Python does not look for signals while it waits, so no waiting is without an end."""
    waits, whole = [], in_parallel_module.wait

    def listening(futures, timeout=None):
        waits.append(timeout)
        return whole(futures, timeout=timeout)

    monkeypatch.setattr(in_parallel_module, "wait", listening)
    monkeypatch.setattr(in_parallel_module, "LISTEN_S", 0.01)
    in_parallel({1: lambda: threading.Event().wait(SOON_S)}, strikes=[])
    assert None not in waits
    assert len(waits) > 1
