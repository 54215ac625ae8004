"""No thread is at work on a worker once an interruption has left it behind."""

import signal
import threading
import time

import pytest

from loadstone.run.in_parallel import in_parallel

SOON_S = 0.3
END_S_MAX = 20


def test_each_has_its_result_or_its_error():
    def fail():
        raise ValueError("it fails")

    done = in_parallel({"well": lambda: 1, "ill": fail}, strike=lambda: pytest.fail("struck"))
    assert done["well"].result() == 1
    assert isinstance(done["ill"].exception(), ValueError)


def test_an_interruption_leaves_only_once_every_thread_has_ended():
    """The second request of a thread comes after the first strike."""
    ended, struck = [], threading.Semaphore(0)

    def two_requests():
        for _ in range(2):
            assert struck.acquire(timeout=END_S_MAX)
            time.sleep(SOON_S)
        ended.append(True)

    main = threading.main_thread().ident
    assert main is not None
    timer = threading.Timer(SOON_S, signal.pthread_kill, (main, signal.SIGINT))
    timer.start()
    with pytest.raises(KeyboardInterrupt):
        in_parallel({1: two_requests, 2: two_requests}, strike=struck.release)
    assert len(ended) == 2
    timer.join()
