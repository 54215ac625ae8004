"""Engines under test, each in a scratch folder that must be empty afterwards."""

import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from engine_kinds import ENGINES, EVERY_ENGINE, ONE_A_PROCESS, THIRD_PARTY, MakeEngine
from trapped_server import Connect, sprung, trapped_server, variant_at
from user_server import UserServer

from loadstone.engines.base import Engine
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.plan.variant import Variant

KINDS = EVERY_ENGINE | THIRD_PARTY


def _folder() -> Path:
    """Not `tmp_path`: its parents are closed to the account that a server of root's drops to."""
    path = Path(tempfile.mkdtemp(prefix="loadstone-test-"))
    path.chmod(0o755)
    return path


@pytest.fixture
def scratch() -> Iterator[Path]:
    """A folder for engines of one test."""
    path = _folder()
    yield path
    shutil.rmtree(path, ignore_errors=True)


@pytest.fixture
def make(scratch: Path) -> Iterator[MakeEngine]:
    """Make engines of any kind on one scratch folder; all are removed in the end."""
    made: list[Engine] = []

    def build(name: str, **tactics: str) -> Engine:
        variant = Variant(name, tuple(sorted(tactics.items())))
        made.append(KINDS[name](variant, scratch, "run1"))
        return made[-1]

    yield build
    for engine in made:
        engine.remove()


@pytest.fixture(params=sorted(ENGINES))
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(scope="session")
def shared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, Engine]]:
    """One engine of each kind for all tests: making a server costs most of a test's time."""
    # Made before Turso, which names a folder of its own for what is temporary in its process.
    tmp_path_factory.getbasetemp()
    folders = {name: _folder() for name in KINDS}
    engines = {name: kind(Variant(name), folders[name], "shared") for name, kind in KINDS.items()}
    yield engines
    for name, engine in engines.items():
        engine.remove()
        folders[name].rmdir()


@pytest.fixture(scope="module")
def resting(shared: dict[str, Engine]) -> Iterator[dict[str, Engine]]:
    """The shared engines, none of which runs when the next file's tests begin: some of these look
    at all children of their process, and MariaDB's server reads by io_uring; Turso keeps what is
    temporary in its process in a folder that is removed with it."""
    yield shared
    for engine in shared.values():
        if engine.processes() or engine.name == "turso":
            engine.stop()


@pytest.fixture
def engine(resting: dict[str, Engine], name: str) -> Iterator[Engine]:
    """A started engine without tables. A test may stop it, but not remove it."""
    engine = resting[name]
    engine.start()
    yield engine
    engine.start()
    for table in engine.tables():
        engine.drop(table)
    if name in ONE_A_PROCESS:
        engine.stop()


@pytest.fixture
def own(make: MakeEngine, name: str) -> Engine:
    """A started engine that the test has to itself."""
    built = make(name)
    built.start()
    return built


@pytest.fixture(scope="session")
def trapped() -> Iterator[UserServer]:
    """A user's server with traps, for all tests of what a run does there."""
    with trapped_server() as running:
        yield running


@pytest.fixture
def nothing_sprang(trapped: UserServer) -> Iterator[None]:
    yield
    assert sprung(trapped) == []


@pytest.fixture
def connect(trapped: UserServer, tmp_path: Path) -> Iterator[Connect]:
    """Make engines on the server with traps, by URL."""
    made: list[PostgresqlEngine] = []

    def build(owner: str = "run1") -> PostgresqlEngine:
        made.append(PostgresqlEngine(variant_at(trapped.url()), tmp_path, owner))
        return made[-1]

    yield build
    for engine in made:
        engine.remove()
