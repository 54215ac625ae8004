"""The work of `--resume` on a record before anything is measured; and how a study's end is
reported."""

from dataclasses import replace

import pytest

from loadstone import measuring, registry
from loadstone.commands.run import started
from loadstone.diagnostics import Exit
from loadstone.errors import InputError
from loadstone.record import Recorder, Run, read
from loadstone.record.model import MEASURED, CellResult, OperationText, Sample
from loadstone.run import session
from loadstone.run.planned import plan_from
from loadstone.run.runner import overdue_statements, published_of

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
        plan, path = plan_from(choices, None).plan, tmp_path / "r.loadstone"
        benchmark = registry.load_benchmark(plan.benchmark)()
        reported = published_of(benchmark), benchmark.presentation()
        Recorder.create(path, plan, *reported, "0badcafe", "1", "loadstone").end("interrupted", 1)
        return path

    return made


def resumed(path, chosen=None, *, study, dry_run=False, **files):
    given = {"plan": None, "record": None, **files}
    return started(chosen or {}, *given.values(), path, dry_run=dry_run, page=False, study=study)


@pytest.mark.parametrize("kind", KINDS)
def test_a_dry_run_reports_what_is_left_and_leaves_the_record_as_it_was(kind, record, capsys):
    path = record(KINDS[kind])
    before = path.read_bytes()
    assert resumed(path, study=kind == "study", dry_run=True) == Exit.OK
    assert path.read_bytes() == before
    reported = capsys.readouterr().out
    cells = read(path).plan.cells
    assert f"{len(cells)} cells, 0 again, 0 load levels of {len(cells)} cells" in reported
    assert all(cell.variant in reported and cell.operation in reported for cell in cells)


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
        with pytest.raises(InputError, match=f"--{option} names another"):
            resumed(path, study=False, dry_run=dry_run, **{option: tmp_path / "other"})
    with pytest.raises(InputError, match="rows cannot be changed"):
        resumed(path, {"rows": [10]}, study=False, dry_run=dry_run)


def ended(record, statuses) -> Run:
    """A study whose cells end so, by variant; those of others are disturbed."""
    run = read(record(STUDY))

    def result(cell) -> CellResult:
        status = statuses(run).get(cell.variant, "disturbed")
        samples = tuple(Sample(n, n, 0, n, 1_000_000 + n) for n in range(8))
        ended_ns = 10_000_000 if status == "censored" else None
        kept = samples if status in MEASURED else ()
        return CellResult(cell, status, "", "", kept, longer_than_ns=ended_ns)

    texts = tuple(OperationText(name, 1000, place, name, "", "", "heap", "heap", "client", "")
                  for place, name in enumerate(STUDY["operations"]))  # fmt: skip
    return replace(run, operations=texts, results=tuple(map(result, run.plan.cells)))


def combination(run: Run, *flipped: str) -> str:
    return next(c.variant for c in run.plan.study.combinations if c.flipped == flipped)


def well(*sets: tuple[str, ...]):
    return lambda run: {combination(run, *flipped): "ok" for flipped in sets}


ENDS = {
    "the harness": (lambda run: {"null": "ok"}, Exit.NOTHING_USABLE),
    "the A/A control": (lambda run: {run.plan.aa_control: "ok"}, Exit.NOTHING_USABLE),
    "the base": (well(()), Exit.NOTHING_USABLE),
    "the base and its A/A control": (
        lambda run: {**well(())(run), run.plan.aa_control: "ok"}, Exit.NOTHING_USABLE),
    "the base, and a switch alone": (well((), ("a",)), Exit.OK),
    "a switch last, and the base": (well((), ("d",), ("a", "d")), Exit.OK),
    "the base, and a switch that was ended": (
        lambda run: {**well(())(run), combination(run, "a"): "censored"}, Exit.OK),
    "one of two was wrong": (
        lambda run: {**well((), ("a",))(run), combination(run, "d"): "failed"}, Exit.CELLS_FAILED),
    "all are gaps": (
        lambda run: dict.fromkeys(run.plan.variants, "gap"), Exit.NOTHING_MEASURED),
}  # fmt: skip
"""(what is in order, the exit code)."""


@pytest.mark.parametrize(("statuses", "code"), ENDS.values(), ids=ENDS.keys())
def test_a_study_is_judged_by_its_effects(record, statuses, code, capsys):
    """A base alone shows nothing of any switch."""
    assert measuring._judged(ended(record, statuses)) == code
    reported = "no effect of this study has a figure in order" in capsys.readouterr().err
    assert reported == (code == Exit.NOTHING_USABLE)


def test_the_statements_that_a_record_ended_are_known_to_its_next_session(record):
    run = read(record({**RUN, "temperature": ["warm", "cold"]}))
    ended = [
        CellResult(cell, "censored", "> 10 s", "2026-11-27T00:00:00.000Z", longer_than_ns=10**10)
        for cell in run.plan.cells
        if cell.variant == "sqlite"
    ]
    assert {one.cell.temperature for one in ended} == {"warm", "cold"}
    found = overdue_statements(replace(run, results=tuple(ended)))
    assert found == {1000: {("min-heap", "sqlite"): "> 10 s"}}
    cold = [one for one in ended if one.cell.temperature == "cold"]
    assert overdue_statements(replace(run, results=tuple(cold))) == {}


def test_a_session_knows_what_the_record_ended(record, monkeypatch):
    path = record({**RUN, "temperature": ["warm", "cold"]})
    warm = next(cell for cell in read(path).plan.cells if cell.variant == "sqlite")
    recorder = Recorder.resume(path, "loadstone")
    recorder.cell(CellResult(warm, "censored", "> 10 s", "2026-11-27T00:00:00.000Z",
                             longer_than_ns=10**10))  # fmt: skip
    recorder.end("interrupted", 1)
    runners = []
    monkeypatch.setattr(session, "Runner", lambda *given: runners.append(given[-1]) or 1 / 0)
    with pytest.raises(ZeroDivisionError):
        resumed(path, study=False)
    assert runners == [{1000: {("min-heap", "sqlite"): "> 10 s"}}]
