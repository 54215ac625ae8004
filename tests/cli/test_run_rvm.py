"""`loadstone run rvm`: engines behind the program of RVM's benchmark agree, in a run with its page;
`loadstone study` switches what Rhino compares."""

import pytest
from desk import Desk

from loadstone import _core

ACCOUNTS = 1_000


@pytest.mark.slow
def test_engines_agree_and_say_what_they_logged(desk: Desk) -> None:
    variants = ("sqlite?durability=none", "lmdb?durability=none", "lode?durability=none")
    on = [word for engine in (*variants, "duckdb") for word in ("--on", engine)]
    done = desk.run(
        "run", "rvm", "--rows", str(ACCOUNTS), "--record", "r.loadstone", "--no-limits",
        "--operation", "tpca-random", "--operation", "tpca-audit", *on, "--repeat", "2",
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    run = desk.read()
    assert run.pending == ()
    for result in run.results:
        cell = result.cell
        if cell.variant == "duckdb":
            assert result.reason == "it has no program for RVM's benchmark"
            continue
        assert result.status == "ok", result.reason
        for answer in result.answers:
            wanted = _core.rvm_answer(ACCOUNTS, 1, cell.operation, 1)
            assert (answer.rows, answer.checksum) == wanted
        logs = cell.variant.startswith("lode") and cell.operation == "tpca-random"
        assert all(bool(sample.log_bytes) == logs for sample in result.samples)
    page = (desk.folder / "r.html").read_text(encoding="utf-8")
    assert "RVM" in page
    assert "accounts" in page
    assert desk.leftovers() == []


def test_a_size_that_there_is_not_is_reported(desk: Desk) -> None:
    done = desk.run("run", "rvm", "--rows", "50")
    assert done.returncode == 2
    assert "32,768" in done.stderr


def test_quick_is_refused_by_name(desk: Desk) -> None:
    done = desk.run("run", "rvm", "--quick")
    assert done.returncode == 2
    assert "rvm has no operation in the preset 'quick'" in done.stderr
    assert "tpca-random" in done.stderr
