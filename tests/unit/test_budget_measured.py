"""The sampler finds each cost planted in an artificial engine, with the right share; and the rungs
of a real engine's ladder are what they are called."""

import hashlib
import os
import re
import subprocess
import sys
import zlib
from itertools import groupby
from pathlib import Path
from time import thread_time_ns

import apsw
import msgspec
import pytest
from test_profile import ROWS, block

from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.engines.calibration.artificial import ArtificialEngine
from loadstone.engines.capabilities import Work
from loadstone.engines.components import Components, Rule
from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError
from loadstone.plan.statement_ladder import rungs_of
from loadstone.plan.variant import Variant
from loadstone.protocol.messages import Climb, Load, Open, Profile, ReportRungs
from loadstone.protocol.parts import StoredAt
from loadstone.worker import ladder_timer, profile
from loadstone.worker.ladder_timer import LadderTimer
from loadstone.worker.statement_requests import StatementRequests

DATA = os.urandom(1 << 16)
PLANTED = {"checksums": zlib.crc32, "digests": lambda data: hashlib.sha256(data).digest()}
OBJECTS = {"checksums": "zlib|libz", "digests": "libcrypto|_hashlib|_sha"}
SHARE = 0.3
"""Of a statement's time, spent on checksums; the rest is spent on digests."""


class TwoParts(ArtificialEngine):
    """Every statement takes 4 ms, in two libraries, and counts the time that each took."""

    name = "two-parts"
    spent_ns = dict.fromkeys(PLANTED, 0)

    def run(self, statement: str) -> int:
        for part, share in (("checksums", SHARE), ("digests", 1 - SHARE)):
            # CPU time: by the clock the shares would be those of a busy machine's others, too.
            begun_ns = now_ns = thread_time_ns()
            while now_ns - begun_ns < 4_000_000 * share:
                PLANTED[part](DATA)
                now_ns = thread_time_ns()
            self.spent_ns[part] += now_ns - begun_ns
        return -1

    def fetch(self, statement: str) -> list:
        raise NotImplementedError(statement)


def test_planted_components_are_found_with_their_shares(tmp_path, monkeypatch):
    rules = tuple(
        Rule(part, re.compile(objects), re.compile(""), None) for part, objects in OBJECTS.items()
    )
    monkeypatch.setattr(profile, "components_of", lambda engine: Components(rules))
    worker = StatementRequests(lambda kind: None)
    worker._system = engine = TwoParts(Variant("two-parts"), tmp_path, "owner")
    found = worker.answer(Profile(block(times=100), frequency_hz=3989))
    if found.sampled == "nothing":
        pytest.skip(found.reason)
    seen = dict.fromkeys(PLANTED, 0)
    for count in found.counts:
        if count.component in seen:
            seen[count.component] += count.samples
    total = sum(seen.values())
    spent_ns = sum(engine.spent_ns.values())
    for part in PLANTED:
        # Four times what chance does to 1,600 samples.
        assert seen[part] / total == pytest.approx(engine.spent_ns[part] / spent_ns, abs=0.05), seen


@pytest.fixture
def worker(tmp_path):
    worker = StatementRequests(lambda kind: None)
    worker.open(Open(Variant("sqlite"), str(tmp_path), "owner"))
    for item in WisconsinBenchmark().stored_relations("1993"):
        if (item.relation, item.design) == ("tenktup1", "heap"):
            worker.load(Load(StoredAt("wisconsin", "1993", ROWS, item)))
    yield worker
    worker.remove()


RUNGS = tuple(each.rung for each in rungs_of("relation"))


def test_every_rung_is_climbed_once_for_each_variation_and_leaves_nothing(worker):
    climbed = worker.answer(Climb(block(times=3), tuple(reversed(RUNGS))))
    assert [each.rung for each in climbed.rungs] == list(reversed(RUNGS))
    assert all(len(each.elapsed_ns) == 3 and min(each.elapsed_ns) > 0 for each in climbed.rungs)
    assert worker.engine.tables() == ["tenktup1_heap_1000"]


@pytest.mark.parametrize(
    ("warmed_ns_max", "number", "most", "of_whole"),
    # Each of three variations, uncounted and counted; of the whole one is uncounted, and of all
    # rungs in a later block.
    [(10**18, 0, 6, 4), (10**18, 1, 4, 4), (-1, 0, 3, 3)],
    ids=["short", "short, in a later block", "so long that the first time counts"],
)
def test_each_sample_of_a_rung_follows_upon_the_same_rung(
    worker, monkeypatch, warmed_ns_max, number, most, of_whole
):
    """As the samples of the statement itself do, that the highest rung must agree with."""
    monkeypatch.setattr(ladder_timer, "WARMED_NS_MAX", warmed_ns_max)
    asked = []
    timed = LadderTimer._timed
    monkeypatch.setattr(LadderTimer, "_timed", lambda self, block, rung, variation: (
        asked.append(rung), timed(self, block, rung, variation))[1])  # fmt: skip
    worker.answer(Climb(msgspec.structs.replace(block(times=3), round=number), RUNGS))
    assert [(rung, len(list(own))) for rung, own in groupby(asked)] == [
        (rung, of_whole if rung == "whole" else most) for rung in RUNGS
    ]


def test_a_change_that_is_taken_back_leaves_the_next_statement_nothing_to_do(worker):
    """SQLite forgets its schema with it, and would read it inside the next clock."""
    used = lambda: worker.engine.connection.status(apsw.SQLITE_DBSTATUS_SCHEMA_USED)[0]  # noqa: E731
    worker.engine.fetch("SELECT 1 FROM tenktup1_heap_1000 LIMIT 0")
    known = used()
    assert known
    with worker.engine.taken_back():
        worker.engine.run("CREATE TABLE made AS SELECT 1")
    assert used() > 0.9 * known


def test_a_count_that_is_wrong_is_an_error(worker):
    right = block(times=1)
    wrong = type(right.variations[0])(0, right.variations[0].text, "", 899, "")
    with pytest.raises(EngineError, match="counts 900, not 899 rows"):
        worker.answer(Climb(msgspec.structs.replace(right, variations=(wrong,)), ("counted",)))


def test_the_counting_rung_reports_its_statement_and_plan(worker):
    (reported,) = worker.answer(ReportRungs(block(times=1), RUNGS)).rungs
    assert (reported.rung, reported.plan) == ("counted", "SCAN t")
    assert reported.text.startswith("SELECT COUNT(*) FROM (SELECT")


@pytest.mark.parametrize("planning_ns", [[7, 9, 8, 40, 1], []])
def test_own_times_are_medians_and_one_that_is_refused_leaves_the_rungs(
    worker, monkeypatch, planning_ns
):
    left = iter(planning_ns)

    def own_times(self, statement):
        for ns in left:
            return {"planning": ns}
        raise EngineError("it has no such right")

    monkeypatch.setattr(SqliteEngine, "own_times", own_times, raising=False)
    reported = worker.answer(ReportRungs(block(times=1), RUNGS))
    assert [rung.rung for rung in reported.rungs] == ["counted"]
    assert [(one.name, one.executions, one.elapsed_ns) for one in reported.own_times] == (
        [("planning", 5, 8)] if planning_ns else []
    )


def test_phases_are_of_the_median_sample_and_add_up_to_its_time(worker, monkeypatch):
    counted_ns = {"rows": 0, "waiting": 0}
    monkeypatch.setattr(SqliteEngine, "phases", lambda _: dict(counted_ns), raising=False)
    monkeypatch.setattr(SqliteEngine, "work", lambda _: Work(*[0] * 10), raising=False)
    run = SqliteEngine.run

    def phased(self, text):
        counted_ns["rows"] += 70
        return run(self, text)

    monkeypatch.setattr(SqliteEngine, "run", phased)
    monkeypatch.setattr(ladder_timer, "OWN_TIMES_NS", 10**12)
    reported = worker.answer(ReportRungs(block(times=1), RUNGS)).own_times
    (rows, outside) = reported
    assert (rows.name, rows.executions, rows.elapsed_ns) == ("rows", 5, 70)
    assert (outside.name, outside.executions) == ("outside its phases", 5)
    assert outside.elapsed_ns > 0


UNPRIVILEGED = """
import os, sys
os.setgid(65534); os.setuid(65534)
from loadstone._core import Sampler
sampler = Sampler([], 1009)
print(sampler.samples_programs, sampler.samples_kernel, sampler.reason)
"""


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can become nobody")
def test_a_user_who_may_not_sample_the_kernel_is_reported_so():
    paranoid = int(Path("/proc/sys/kernel/perf_event_paranoid").read_text())
    done = subprocess.run(
        [sys.executable, "-c", UNPRIVILEGED], capture_output=True, text=True, check=False
    )
    if "ModuleNotFoundError" in done.stderr or "Permission" in done.stderr:
        pytest.skip("nobody cannot read this checkout")
    programs, kernel, reason = done.stdout.strip().split(" ", 2)
    if programs == "True":
        assert kernel == str(paranoid <= 1)
    if kernel == "False":
        assert "perf_event_paranoid" in reason
