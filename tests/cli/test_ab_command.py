"""`loadstone ab`: a change measured and judged in one command."""

import json

import pytest
from desk import Desk

from loadstone.diagnostics import EXIT_OF_COMPARISON

SIDES = ("ab", "--before", "sqlite", "--after", "sqlite?durability=none", "--rows", "1000",
         "--repeat", "6", "--operation", "select-1%-heap", "--repeat-seconds", "0.1",
         "--record", "r.loadstone", "--no-report")  # fmt: skip


@pytest.mark.slow
def test_one_command_measures_and_judges(desk: Desk):
    done = desk.run(*SIDES, "--fail-on", "9999%", "--format", "json")
    reported = json.loads(done.stdout)  # nothing but the comparison is on stdout
    # On a machine that is too busy nothing can be compared: that has a code of its own.
    assert done.returncode == EXIT_OF_COMPARISON[reported["outcome"]], done.stderr
    assert reported["outcome"] != "regression"
    assert "refused" not in done.stdout
    again = desk.run("compare", "r.loadstone", "--variants", "sqlite", "sqlite?durability=none",
                     "--across", "durability", "--fail-on", "9999%")  # fmt: skip
    assert again.returncode == done.returncode


@pytest.mark.slow
def test_a_cell_without_a_figure_on_both_sides_does_not_pass(desk: Desk):
    done = desk.run(*SIDES, "--time-limit", "0.00001")
    assert done.returncode == 6
    assert "no figure: select-1%-heap on sqlite" in done.stderr


def test_a_wrong_option_is_reported_before_anything_runs(desk: Desk):
    done = desk.run("ab", "--before", "sqlite", "--after", "sqlite", "--fail-on", "5%")
    assert done.returncode == 2
    assert "the same" in done.stderr
    done = desk.run("ab", "--before", "sqlite", "--after", "duckdb", "--fail-on", "5")
    assert done.returncode == 2
    assert "is not a percentage" in done.stderr
    done = desk.run("ab", "--before", "sqlite", "--after", "duckdb", "--users", "4")
    assert done.returncode == 2
    assert "not judged" in done.stderr
    assert not (desk.folder / "runs").exists()
