"""A command that begins in a prepared process is the command that a user starts."""

import sys

import pytest
from desk import Desk
from prepared_desk import PreparedDesk


@pytest.fixture
def desks(desk: Desk) -> tuple[Desk, PreparedDesk]:
    return Desk(desk.folder, desk.environment), PreparedDesk(desk.folder, desk.environment)


@pytest.mark.parametrize(
    "arguments",
    [
        (),
        ("--version",),
        ("run", "--help"),
        ("run", "--no-such-option"),
        ("report", "absent.loadstone"),
        ("report", "\udcff.loadstone"),
        ("run", "--on", "postgresql://u:hunter2@h1:1,h2:2/db"),
        ("quel", "range of t is tenktup1 retrieve (t.unique2)", "--on", "sqlite"),
    ],
)
def test_it_ends_and_says_the_same(desks: tuple[Desk, PreparedDesk], arguments: tuple[str, ...]):
    user_s, prepared = (desk.run(*arguments, COLUMNS="60") for desk in desks)
    assert (prepared.returncode, prepared.stdout, prepared.stderr) == (
        user_s.returncode, user_s.stdout, user_s.stderr,
    )  # fmt: skip


def test_it_reads_its_input_and_starts_workers(desks: tuple[Desk, PreparedDesk]):
    run = ("run", "--rows", "1000", "--on", "sqlite", "--operation", "min-heap", "--repeat", "1",
           "--temperature", "warm", "--no-overhead", "--no-limits", "--no-report")  # fmt: skip
    done = desks[1].run(*run, "--record", "r.loadstone")
    assert done.returncode == 0, done.stderr
    assert len(desks[1].read().results) == 1
    assert desks[1].leftovers() == []
    said = [
        desk.run("quel", "-", stdin="range of t is tenktup1 retrieve (t.unique2)") for desk in desks
    ]
    assert said[0].stdout == said[1].stdout


def test_another_interpreter_s_variables_start_another_interpreter(
    desks: tuple[Desk, PreparedDesk],
):
    (desks[0].folder / "sitecustomize.py").write_text("print('here')")
    done = desks[1].run("--version", PYTHONPATH=f"{desks[0].folder}:{':'.join(sys.path)}")
    assert done.stdout.startswith("here")
