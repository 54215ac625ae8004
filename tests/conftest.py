"""Options of the whole suite; this folder is importable, so that tests share `report_fixture`.

Tests draw their cases at random, but the same ones in every run: chance is an option. `--seed N`
gives others, `--seed random` fresh ones, and the seed of these stands at the end of the output.

With `-n 2 --dist loadgroup` (pytest-xdist) files run side by side, each in one process, because its
tests share what its fixtures make; those marked `machine` all run in the same process.
"""

import random

import hypothesis
import postgresql_build
import pytest

SEED = 1983
"""The seed of every run that names none."""


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the expected bytes instead of comparing"
    )
    parser.addoption(
        "--kills", default="6", metavar="N", help="kill the run at N points (tests/cli, default 6)"
    )
    parser.addoption(
        "--tries", default="60", metavar="N", help="mutate a record N times (unit, default 60)"
    )
    parser.addoption(
        "--prepared",
        action="store_true",
        help="start commands where our modules are imported already (tests/cli)",
    )
    parser.addoption(
        "--seed", metavar="N", help=f"draw other cases: a number, or `random` (default {SEED})"
    )


@pytest.hookimpl(tryfirst=True)  # hypothesis reads its own option after this
def pytest_configure(config: pytest.Config) -> None:
    postgresql_build.start_it()
    config.addinivalue_line("markers", "random: draws its cases by --seed")
    asked = config.getoption("--seed")
    config.seed = seed_of(asked)
    # Without a seed, hypothesis derives its own from each test.
    # Nor does a busy machine fail one: how long a case takes is no property.
    hypothesis.settings.register_profile("same", derandomize=asked is None, deadline=None)
    hypothesis.settings.load_profile("same")
    if asked is not None:
        # In place of `random`, of which each process of pytest-xdist would make its own.
        config.option.seed = config.option.hypothesis_seed = str(config.seed)


def seed_of(asked: str | None) -> int:
    if asked is None:
        return SEED
    if asked == "random":
        return random.randrange(2**32)
    if not asked.isdecimal():
        raise pytest.UsageError(f"--seed is {asked!r}: give a number, or `random`")
    return int(asked)


def pytest_terminal_summary(terminalreporter, config: pytest.Config) -> None:
    if config.getoption("--seed") is not None:
        terminalreporter.write_line(f"drawn with --seed {config.seed}")


# Before pytest-xdist reads the groups.
@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        if config.pluginmanager.hasplugin("xdist"):
            is_alone = item.get_closest_marker("machine") is not None
            item.add_marker(pytest.mark.xdist_group("machine" if is_alone else item.path.name))
        if "seed" in getattr(item, "fixturenames", ()) or hypothesis.is_hypothesis_test(
            getattr(item, "obj", None)
        ):
            item.add_marker("random")


@pytest.fixture(scope="session")
def seed(pytestconfig: pytest.Config) -> int:
    """The seed of this run. Print none: `--seed` is in the output."""
    return pytestconfig.seed


@pytest.fixture
def chance(seed: int, request: pytest.FixtureRequest) -> random.Random:
    """The source of a test's draws: another sequence for each test, the same in every run of a
    seed."""
    return random.Random(f"{seed} {request.node.name}")
