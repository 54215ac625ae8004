"""Continuous integration runs every test: what `make check` leaves out is left out nowhere else."""

import re
from collections.abc import Mapping

import pytest


def recipe(makefile: str, target: str) -> list[str]:
    """The commands of a target."""
    found = re.search(rf"^{target}:[^\n]*\n((?:\t[^\n]*\n)+)", makefile, re.MULTILINE)
    return found[1].strip().split("\n\t") if found else []


def left_out(texts: Mapping[str, str]) -> list[str]:
    complaints = []
    commands = recipe(texts["Makefile"], "test")
    if not any("cargo test --workspace" in command for command in commands):
        complaints.append("`make test` does not run all tests in Rust")
    chosen = re.compile(r"-m pytest(?: \$\(SIDE_BY_SIDE\))?$")
    if not any(chosen.search(command) for command in commands):
        complaints.append("`make test` does not run all tests in Python")
    if not re.search(r"^make test$", texts[".ci/run"], re.MULTILINE):
        complaints.append(".ci/run does not run `make test`")
    return complaints


def test_continuous_integration_runs_every_test(texts):
    assert left_out(texts) == []


ALL = (
    "test: .done ## all\n\tcargo test --workspace --locked\n\tpython -m pytest $(SIDE_BY_SIDE)\n\n"
)


@pytest.mark.parametrize(
    ("makefile", "script", "told"),
    [
        (ALL.replace("SIDE)\n", 'SIDE) -m "not slow"\n'), "make test\n", "all tests in Python"),
        (ALL.replace("--workspace", "-p lode"), "make test\n", "all tests in Rust"),
        (ALL, "make check\n", ".ci/run"),
    ],
)
def test_what_is_left_out_is_seen(makefile, script, told):
    (complaint,) = left_out({"Makefile": makefile, ".ci/run": script})
    assert told in complaint
    assert left_out({"Makefile": ALL, ".ci/run": "make test\n"}) == []
