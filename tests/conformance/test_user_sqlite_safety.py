"""A SQLite file that is not ours: what the user made with our tables stays, and so does what a run
that lives has there, whichever run cleans."""

import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from samples import rows, stream, table
from user_file import UserFile, user_file

from loadstone.engines.sqlite.engine import SqliteEngine
from loadstone.errors import EngineError
from loadstone.plan.variant import Variant, parse_variant
from loadstone.run import scratch
from loadstone.run.planned import plan_from
from loadstone.run.variant_worker import VariantWorker

TACTICS = frozenset(SqliteEngine.capabilities.tactics)

Connect = Callable[[str], SqliteEngine]


@pytest.fixture(params=("delete", "wal"))
def user(request: pytest.FixtureRequest, tmp_path: Path) -> UserFile:
    return user_file(tmp_path / "user's.db", journal=request.param)


@pytest.fixture
def connect(user: UserFile, tmp_path: Path) -> Iterator[Connect]:
    made: list[SqliteEngine] = []

    def build(owner: str) -> SqliteEngine:
        made.append(SqliteEngine(parse_variant(user.url, TACTICS), tmp_path, owner))
        return made[-1]

    yield build
    for engine in made:
        engine.stop()


@pytest.mark.parametrize(
    "theirs",
    [
        "CREATE VIEW theirs AS SELECT * FROM {}",
        "CREATE TRIGGER theirs AFTER INSERT ON {} BEGIN SELECT 1; END",
        "CREATE TRIGGER theirs AFTER INSERT ON customers BEGIN DELETE FROM {}; END",
        "CREATE INDEX theirs ON {} (unique1)",
        "CREATE TABLE theirs (a REFERENCES {} (unique1))",
    ],
    ids=["view", "trigger", "trigger-elsewhere", "index", "reference"],
)
def test_objects_that_the_user_made_with_our_tables_are_kept_and_named(
    user: UserFile, connect: Connect, theirs: str
) -> None:
    before = user.fingerprint()
    engine = connect("used")
    engine.start()
    engine.load(table(engine.stored_name("t")), stream(rows()))
    with closing(user.open()) as db:
        db.execute(theirs.format(engine.stored_name("t").upper()))
    loaded = user.fingerprint()
    with pytest.raises(EngineError, match="theirs") as caught:
        engine.remove()
    assert "loadstone clean" in caught.value.hint
    assert user.fingerprint() == loaded
    with closing(user.open()) as db:
        db.execute(f"DROP {theirs.split()[1]} theirs")
    engine.remove()
    assert user.fingerprint() == before


def test_a_living_run_keeps_its_tables_whichever_run_cleans(
    user: UserFile, connect: Connect
) -> None:
    before = user.fingerprint()
    engine = connect("living")
    hold = SqliteEngine.hold(engine.variant, "living")
    engine.start()
    engine.load(table(engine.stored_name("t")), stream(rows()))
    engine.stop()  # as for every cold sample
    # In a process of its own, as `clean` is.
    script = (
        "import sys; from loadstone.engines.sqlite.engine import SqliteEngine as E\n"
        "from loadstone.plan.variant import parse_variant\n"
        f"v = parse_variant(sys.argv[1], frozenset({sorted(TACTICS)}))\n"
        "(left,) = E.sweep(v); print(left.alive, flush=True); E.clear(v, left)"
    )
    command = [sys.executable, "-c", script, user.url]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.stdout == "True\n"
    assert "is in use: run living" in refused.stderr
    assert user.fingerprint() != before
    worker = subprocess.Popen(["cat"], stdin=subprocess.PIPE, pass_fds=hold.descriptors)
    hold.close()  # as a killed runner does: its worker still tidies up
    assert subprocess.run(command, capture_output=True, check=False).returncode != 0
    worker.communicate(b"")
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"
    assert user.fingerprint() == before


def crew_of(url: str, claim: scratch.Claim) -> VariantWorker:
    chosen = {"rows": [1000], "on": [url], "operations": ["min-heap"], "overhead": False}
    planned = plan_from(chosen, None)
    ((variant, engine),) = planned.variants.values()
    return VariantWorker((variant,), engine, claim, planned.plan, planned.benchmark)


def test_what_cannot_be_reached_after_a_worker_was_replaced_is_reported(
    user: UserFile, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LOADSTONE_SCRATCH", str(tmp_path / "scratch"))
    before = user.fingerprint()
    away = user.path.with_name("away.db")
    with scratch.claimed("lost") as claim:
        worker = crew_of(user.url, claim)
        worker.open()
        worker.abandon()
        user.path.rename(away)
        with pytest.raises(EngineError):
            worker.open()
        reported = worker.close()
        assert "may be left" in reported
        assert f"loadstone clean --on {user.url}" in reported
        away.rename(user.path)
        variant: Variant = worker.variant
        for left in SqliteEngine.sweep(variant):
            SqliteEngine.clear(variant, left)
    assert user.fingerprint() == before
