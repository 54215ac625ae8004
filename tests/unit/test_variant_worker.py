"""A variant's worker: the reason that all its other cells fail with if it cannot be replaced, and
what it is after a switch that failed."""

import os
import sys
from types import SimpleNamespace

import pytest

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError, LoadstoneError, WorkerDiedError
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import (
    ExportState,
    Open,
    Opened,
    ReportTerms,
    Restart,
    State,
    Switch,
    TermsReported,
)
from loadstone.run import variant_worker
from loadstone.run.variant_worker import REPLACEMENTS_MAX, VariantWorker

VARIANTS = (Variant("sqlite"), Variant("sqlite", (("durability", "none"),)))


@pytest.fixture
def worker(tmp_path, monkeypatch):
    """One whose engine never starts, because the disk is full."""

    def full(self):
        raise EngineError("sqlite: database or disk is full")

    monkeypatch.setattr(VariantWorker, "open", full)
    claim = SimpleNamespace(path=tmp_path, resumed=False)
    return VariantWorker(VARIANTS, SqliteEngine, claim, None, WisconsinBenchmark())


def test_the_first_reason_against_an_engines_start_stays(worker):
    events = []
    recorder = SimpleNamespace(event=events.append)
    for failure in range(REPLACEMENTS_MAX + 5):
        worker.replace([], 10, None, recorder, WorkerDiedError(f"failure {failure}"))
        assert "disk is full" in worker.given_up
    assert [event.kind for event in events] == ["worker lost", "given up"], "each is reported once"
    with pytest.raises(WorkerDiedError, match="disk is full"):
        worker.ask(Restart())


class ScriptedProcess:
    """Becomes what it is asked to, unless that is `broken`."""

    def __init__(self, name, seam, log, held, environment):
        self.broken = ""
        self.switched = []

    def ask(self, request, limit_s=None, untimed_s=None):
        if not isinstance(request, Switch):
            return Opened({}, {"durability": "full"})
        self.switched.append(request.variant.name)
        if request.variant.name == self.broken:
            raise EngineError("it cannot")
        return TermsReported(dict(request.variant.tactics))


def test_a_switch_is_asked_for_once_and_again_after_one_that_failed(tmp_path, monkeypatch):
    monkeypatch.setattr(variant_worker, "Worker", ScriptedProcess)
    claim = SimpleNamespace(path=tmp_path, resumed=False, lock=-1)
    plan = SimpleNamespace(time_limit_s=1.0, workload=None)
    worker = VariantWorker(VARIANTS, SqliteEngine, claim, plan, WisconsinBenchmark())
    worker.open()
    process = worker._worker
    base, other = (variant.name for variant in VARIANTS)
    worker.become(base)
    assert process.switched == [], "it is that already"
    worker.become(other)
    worker.become(other)
    assert process.switched == [other]
    assert {t.key: t.read_back for t in worker.terms(other)}["durability"] == "none"
    process.broken = base
    with pytest.raises(EngineError, match="it cannot"):
        worker.become(base)
    worker.become(other)
    assert process.switched == [other, base, other], "a switch that failed left it stopped"


def test_a_new_process_opens_as_the_variant_that_named_the_data(tmp_path, monkeypatch):
    """A PostgreSQL schema bears its name: opened as another variant, it would be empty."""
    opened = []

    class Process(ScriptedProcess):
        def ask(self, request, limit_s=None, untimed_s=None):
            if isinstance(request, Open):
                opened.append(request.variant.name)
            return State() if isinstance(request, ExportState) else super().ask(request)

        def kill(self):
            return []

    monkeypatch.setattr(variant_worker, "Worker", Process)
    claim = SimpleNamespace(path=tmp_path, resumed=False, lock=-1)
    plan = SimpleNamespace(time_limit_s=1.0, workload=None)
    worker = VariantWorker(VARIANTS, SqliteEngine, claim, plan, WisconsinBenchmark())
    worker.open()
    base, other = (variant.name for variant in VARIANTS)
    worker.become(other)
    worker.refork()
    assert opened == [base, base]
    worker.become(other)
    assert worker._worker.switched == [other], "the new process is not yet the other"


def test_a_replaced_worker_has_the_terms_of_a_loaded_database(tmp_path, monkeypatch):
    """A database just opened is empty, or of no benchmark yet: its terms are not the run's."""

    class Process(ScriptedProcess):
        def ask(self, request, limit_s=None, untimed_s=None):
            if isinstance(request, ReportTerms):
                return TermsReported({"durability": "full", "design": "of the benchmark"})
            return super().ask(request, limit_s)

        def kill(self):
            return []

    monkeypatch.setattr(variant_worker, "Worker", Process)
    claim = SimpleNamespace(path=tmp_path, resumed=False, lock=-1)
    plan = SimpleNamespace(time_limit_s=1.0, workload=None)
    worker = VariantWorker(VARIANTS[:1], SqliteEngine, claim, plan, WisconsinBenchmark())
    worker.open()
    recorder = SimpleNamespace(event=lambda event: None)
    worker.replace([], 10, None, recorder, WorkerDiedError("killed"))
    reported = {term.key: term.read_back for term in worker.terms("sqlite")}
    assert reported["design"] == "of the benchmark"


@pytest.mark.parametrize(("does", "reported"), [
    ("import time; time.sleep(1000)", "hangs: its engine did not start within 2 s"),
    ("sys.exit('no such mount')", "died"),
])  # fmt: skip
def test_a_worker_that_hangs_or_dies_before_its_engine_is_named(
    tmp_path, monkeypatch, does, reported
):
    (tmp_path / "sitecustomize.py").write_text(
        "import sys\n"
        "if 'loadstone.worker.main' in sys.orig_argv:\n"
        f"    print('here', flush=True); {does}\n"
    )
    monkeypatch.setenv("PYTHONPATH", os.pathsep.join([str(tmp_path), *sys.path]))
    monkeypatch.setattr(variant_worker, "OPEN_S_MAX", 2.0)
    claim = SimpleNamespace(path=tmp_path, resumed=False, lock=0)
    plan = SimpleNamespace(time_limit_s=60.0, workload=None)
    worker = VariantWorker(VARIANTS[:1], SqliteEngine, claim, plan, WisconsinBenchmark())
    try:
        with pytest.raises(LoadstoneError, match=reported) as caught:
            worker.open()
        assert "sqlite" in caught.value.message
        assert "here" in caught.value.hint or "no such mount" in caught.value.hint
    finally:
        worker.kill()
