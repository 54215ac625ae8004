"""The end of a run: its workers are closed side by side, and no message about leftovers is lost."""

import signal
import threading
from types import SimpleNamespace

import pytest

from loadstone.run.runner import Runner
from loadstone.run.variant_worker import VariantWorker

END_S_MAX = 20


class Ending:
    """A worker that closes once it may; one of a user's database at once."""

    def __init__(self, name, may_close, url=None):
        self.variant = SimpleNamespace(name=name, url=url)
        self._may_close = may_close
        self.struck = threading.Event()
        self.closed_by = None

    def close(self):
        self._may_close(self)
        self.closed_by = threading.current_thread()
        return f"left of {self.variant.name}" if self.variant.url else ""

    def strike(self):
        self.struck.set()


def runner(*workers):
    made = Runner.__new__(Runner)
    made._each = workers
    return made


def test_workers_are_closed_side_by_side_and_reported_in_the_plans_order():
    both = threading.Barrier(2, timeout=END_S_MAX)
    one, other = (Ending(name, lambda _: both.wait()) for name in ("one", "other"))
    users = Ending("users", lambda _: None, url="postgresql://u@h/d")
    assert runner(one, users, other).close() == {"users": "left of users"}
    assert users.closed_by is threading.main_thread(), "an interruption must reach it"
    assert one.closed_by is not threading.main_thread()


def test_an_interruption_strikes_those_that_are_being_closed():
    begun = threading.Semaphore(0)

    def wait(worker):
        begun.release()
        assert worker.struck.wait(END_S_MAX)

    one, other = Ending("one", wait), Ending("other", wait)
    main = threading.main_thread().ident

    def interrupt():
        for _ in range(2):
            begun.acquire(timeout=END_S_MAX)
        signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=interrupt)
    thread.start()
    with pytest.raises(KeyboardInterrupt):
        runner(one, other).close()
    thread.join()
    assert one.closed_by and other.closed_by


def test_a_second_close_reports_the_same(tmp_path):
    engine = SimpleNamespace(
        hold=None, abandon=lambda _: None, end_sessions=lambda *_: None, sweep=lambda _: ()
    )
    variant = SimpleNamespace(name="sqlite", slug="sqlite", url=None)
    claim = SimpleNamespace(path=tmp_path, resumed=False)
    worker = VariantWorker([variant], engine, claim, SimpleNamespace(), None)
    worker._remain = [7]
    reported = worker.close()
    assert "could not be ended: 7" in reported
    assert worker.kill() == reported
