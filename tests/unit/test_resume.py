"""What `--resume` does with a record before anything is measured; and how a study's end is told."""

from dataclasses import replace

import pytest

from loadstone import registry
from loadstone.commands.run import started
from loadstone.diagnostics import Exit
from loadstone.errors import InputError
from loadstone.plan.role import Role
from loadstone.plan.variant import is_aa_control
from loadstone.record import Recorder, Run, read
from loadstone.record.model import CellResult
from loadstone.run import session
from loadstone.run.runner import published_of

RUN = {"on": ["sqlite"], "rows": [1000], "operations": ["min-heap"], "temperature": ["warm"]}
STUDY = {
    "on": ["planted"], "vary": ["a", "d"], "design": "two-ended", "rows": [1000],
    "operations": ["min-heap", "select-1%-heap"],
}  # fmt: skip
KINDS = {"run": RUN, "study": STUDY}


@pytest.fixture
def record(tmp_path):
    """Makes a record of which nothing was measured yet."""

    def made(choices):
        plan, path = session.plan_from(choices, None).plan, tmp_path / "r.loadstone"
        benchmark = registry.load_benchmark(plan.benchmark)()
        told = published_of(benchmark), benchmark.presentation()
        Recorder.create(path, plan, *told, "0badcafe", "1", "loadstone").end("interrupted", 1)
        return path

    return made


def resumed(path, chosen=None, *, study, dry_run=False, **files):
    given = {"plan": None, "record": None, **files}
    return started(chosen or {}, *given.values(), path, dry_run=dry_run, page=False, study=study)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_tells_what_is_left_and_leaves_the_record_as_it_was(kind, record, capsys):
    path = record(KINDS[kind])
    before = path.read_bytes()
    assert resumed(path, study=kind == "study", dry_run=True) == Exit.OK
    assert path.read_bytes() == before
    told = capsys.readouterr().out
    cells = read(path).plan.cells
    assert f"{len(cells)} cells, 0 again, 0 load levels of {len(cells)} cells" in told
    assert all(cell.variant in told and cell.operation in told for cell in cells)


@pytest.mark.parametrize("dry_run", [False, True])
@pytest.mark.parametrize("kind", KINDS)
def test_each_kind_of_record_is_resumed_by_its_own_command(kind, dry_run, record):
    path = record(KINDS[kind])
    with pytest.raises(InputError, match=f"is the record of a {kind}, not") as refused:
        resumed(path, study=kind != "study", dry_run=dry_run)
    assert refused.value.hint == f"loadstone {kind} --resume {path}"


@pytest.mark.parametrize("dry_run", [False, True])
def test_nothing_that_resuming_would_drop_is_taken(dry_run, record, tmp_path):
    path = record(RUN)
    for option in ("plan", "record"):
        with pytest.raises(InputError, match=f"--{option} says other"):
            resumed(path, study=False, dry_run=dry_run, **{option: tmp_path / "other"})
    with pytest.raises(InputError, match="rows cannot be changed"):
        resumed(path, {"rows": [10]}, study=False, dry_run=dry_run)


def ended(record, usable) -> Run:
    """A study of which the cells of those variants are well, and all others disturbed."""
    run = read(record(STUDY))
    status = lambda cell: "ok" if usable(run, cell.variant) else "disturbed"  # noqa: E731
    results = tuple(CellResult(cell, status(cell), "", "") for cell in run.plan.cells)
    return replace(run, results=results)


@pytest.mark.parametrize(
    ("usable", "code"),
    [
        (lambda run, variant: run.plan.role_of(variant) is Role.OVERHEAD, Exit.NOTHING_USABLE),
        (lambda run, variant: is_aa_control(variant), Exit.NOTHING_USABLE),
        (lambda run, variant: variant == run.plan.study.base, Exit.OK),
    ],
)
def test_only_its_combinations_make_a_study_usable(record, usable, code):
    assert session._judged(ended(record, usable)) == code
