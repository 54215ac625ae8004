"""A variant's worker that cannot be replaced: the reason that all its other cells fail with."""

from types import SimpleNamespace

import pytest

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError, WorkerDiedError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Restart
from loadstone.run.variant_worker import REPLACEMENTS_MAX, VariantWorker


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """One whose engine never starts, because the disk is full."""

    def full(self):
        raise EngineError("sqlite: database or disk is full")

    monkeypatch.setattr(VariantWorker, "open", full)
    claim = SimpleNamespace(path=tmp_path, resumed=False)
    return VariantWorker(Variant("sqlite"), SqliteEngine, claim, None, WisconsinBenchmark())


def test_what_kept_an_engine_from_starting_stays_the_reason(worker):
    recorder = SimpleNamespace(event=lambda event: None)
    for failure in range(REPLACEMENTS_MAX + 5):
        worker.replace([], 10, None, recorder, WorkerDiedError(f"failure {failure}"))
        assert "disk is full" in worker.given_up
    with pytest.raises(WorkerDiedError, match="disk is full"):
        worker.ask(Restart())
