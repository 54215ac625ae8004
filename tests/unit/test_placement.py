"""One processor for all engines of one thread while they are measured, else all of them."""

import os
import threading
from types import SimpleNamespace

import pytest

from loadstone.plan.variant import Variant
from loadstone.worker.affinity import placed


def system(*tactics, processes=()):
    return SimpleNamespace(variant=Variant("sqlite", tactics=tactics), processes=lambda: processes)


def usable():
    return os.sched_getaffinity(0)


@pytest.mark.parametrize("one", [system(), system(("parallelism", "1"))])
def test_an_engine_of_one_thread_has_one_processor_and_then_all_again(one):
    before = usable()
    with pytest.raises(ZeroDivisionError), placed(one):
        assert usable() == {max(before)}
        raise ZeroDivisionError
    assert usable() == before


def test_threads_that_are_there_go_along():
    before, seen, go, done = usable(), [], threading.Event(), threading.Event()

    def work():
        go.wait()
        seen.append(usable())
        done.wait()

    thread = threading.Thread(target=work)
    thread.start()
    with placed(system()):
        go.set()
        while not seen:
            done.wait(0.001)
    done.set()
    thread.join()
    assert seen == [{max(before)}]


@pytest.mark.parametrize("one", [system(("parallelism", "2")), system(processes=(1,))])
def test_a_server_and_an_engine_of_many_threads_stay_where_they_are(one):
    before = usable()
    with placed(one):
        assert usable() == before
