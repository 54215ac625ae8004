"""No report says two things of which one must be false, whatever the record holds."""

import re
from dataclasses import replace

import pytest
from contradictions import contradictions
from hypothesis import Phase, given, settings
from hypothesis import strategies as st
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run

from loadstone import registry
from loadstone.analysis.consistency import busy
from loadstone.analysis.summary import summarise
from loadstone.record.model import AnswerCheck, CellResult, ColdEvidence, Run, Sample

NAMES = ("html", "md", "csv")
SMALL = ("select-1%-heap", "project-1%")
BASE = replace(make_run(SMALL, scales=(10_000,)), published={})
"""Without the paper's tables, whose drawings take most of a page's time."""


def rendered(run: Run) -> list[str]:
    return [registry.load_report(name)().render(run).decode() for name in NAMES]


def found(run: Run) -> list[str]:
    return contradictions(run, *rendered(run))


def changed(run: Run, operation: str, variant: str, temperature: str, **values: object) -> Run:
    cell = (operation, variant, temperature)
    return replace(run, results=tuple(
        replace(r, **values)
        if (r.cell.operation, r.cell.variant, r.cell.temperature) == cell else r
        for r in run.results
    ))  # fmt: skip


def of(run: Run, operation: str, variant: str, temperature: str) -> CellResult:
    cell = (operation, variant, temperature)
    return next(r for r in run.results
                if (r.cell.operation, r.cell.variant, r.cell.temperature) == cell)  # fmt: skip


@pytest.mark.parametrize("run", [make_run(FEW), make_oo1_run(), make_oo1_run("1992-no-locality")])
def test_the_fixtures_contradict_themselves_nowhere(run: Run) -> None:
    assert found(run) == []


def test_a_cell_that_read_nothing_is_not_called_cold() -> None:
    cold = of(BASE, "select-1%-heap", "sqlite", "cold")
    samples = tuple(replace(s, read_bytes=0) for s in cold.samples)
    run = changed(BASE, "select-1%-heap", "sqlite", "cold", samples=samples)
    figure = summarise(run).figures["select-1%-heap|sqlite|10000|cold"]
    assert figure.temperature == "unproved"
    page, _, _ = rendered(run)
    assert "nothing was read from storage inside the clock" in page
    assert found(run) == []
    unreported = tuple(replace(s, read_bytes=None) for s in cold.samples)
    run = changed(BASE, "select-1%-heap", "sqlite", "cold", samples=unreported)
    assert summarise(run).figures["select-1%-heap|sqlite|10000|cold"].temperature == "cold"


@pytest.mark.parametrize(
    "odd",
    [
        {"engine_dead": False},
        {"resident_after": 3},
        {"resident_at_clock": 3},
        {"resident_at_clock": None},
    ],
)
def test_evidence_that_contradicts_itself_proves_nothing(odd: dict[str, object]) -> None:
    cold = of(BASE, "select-1%-heap", "sqlite", "cold")
    evidence = tuple(replace(item, **odd) for item in cold.evidence)
    run = changed(BASE, "select-1%-heap", "sqlite", "cold", evidence=evidence)
    assert summarise(run).figures["select-1%-heap|sqlite|10000|cold"].temperature == "unproved"
    assert "0 of 3 samples proved" in rendered(run)[0]
    assert found(run) == []


def test_an_ok_cell_with_a_wrong_answer_has_no_time() -> None:
    warm = of(BASE, "select-1%-heap", "sqlite", "warm")
    answers = (*warm.answers[:-1], replace(warm.answers[-1], rows=99))
    run = changed(BASE, "select-1%-heap", "sqlite", "warm", answers=answers)
    figure = summarise(run).figures["select-1%-heap|sqlite|10000|warm"]
    assert (figure.status, figure.elapsed_ns) == ("failed", None)
    assert figure.reason == "recorded as ok, but 1 of 10 answers wrong"
    assert found(run) == []


def test_an_ok_cell_without_a_sample_has_failed() -> None:
    run = changed(BASE, "select-1%-heap", "sqlite", "warm", samples=())
    assert summarise(run).figures["select-1%-heap|sqlite|10000|warm"].status == "failed"
    assert found(run) == []


def test_a_failed_cell_is_no_cold_proof() -> None:
    run = changed(BASE, "select-1%-heap", "sqlite", "cold", status="failed", reason="crashed")
    _, text, _ = rendered(run)
    assert "4 of 5 cold cells proved cold" in text
    assert found(run) == []


@pytest.mark.parametrize(
    ("client", "server", "parallelism", "said"),
    [
        (0.46, None, "1", "the client computes for 46 % of the elapsed time"),
        (1.46, None, "1", "the client computes all the time (its counters are read just outside"),
        (1.46, None, "2", "the client keeps 1.5 processors busy"),
        (0.2, 1.8, "1", "the client computes for 20 % of the elapsed time, the server keeps 1.8"),
    ],
)
def test_nobody_computes_for_more_than_all_the_time(
    client: float, server: float | None, parallelism: str, said: str
) -> None:
    assert busy(client, server, parallelism).startswith(said)


def test_more_than_all_processors_is_not_believed() -> None:
    warm = of(BASE, "select-1%-heap", "sqlite", "warm")
    samples = tuple(replace(s, client_cpu_ns=12 * s.elapsed_ns) for s in warm.samples)
    run = changed(BASE, "select-1%-heap", "sqlite", "warm", samples=samples)
    assert summarise(run).figures["select-1%-heap|sqlite|10000|warm"].client_cpu_share is None
    assert "12 processors" not in rendered(run)[0]


def test_answers_that_were_not_checked_are_not_said_to_be() -> None:
    run = BASE
    for variant in ("sqlite", "sqlite#2", "duckdb", "postgresql?parallelism=2"):
        for temperature in ("warm", "cold"):
            if variant == "sqlite#2" and temperature == "cold":
                continue
            answers = of(run, "select-1%-heap", variant, temperature).answers[:1]
            run = changed(run, "select-1%-heap", variant, temperature, answers=answers)
    page = rendered(run)[0]
    assert re.search(r"answers? of \d+ samples (was|were) checked", page)
    assert found(run) == []


SAMPLES = st.lists(
    st.builds(
        Sample,
        ordinal=st.just(0), round=st.integers(0, 3), variation=st.integers(0, 9),
        started_ns=st.integers(0, 10**12), elapsed_ns=st.integers(1, 10**11),
        client_cpu_ns=st.none() | st.integers(0, 10**12),
        server_cpu_ns=st.none() | st.integers(0, 10**12),
        read_bytes=st.none() | st.integers(0, 10**6), written_bytes=st.none() | st.just(0),
    ),
    max_size=8,
)  # fmt: skip
EVIDENCE = st.builds(
    ColdEvidence, ordinal=st.integers(0, 3), proved=st.booleans(), reason=st.just(""),
    method=st.just("mincore"), files=st.just(1), bytes=st.just(1),
    resident_before=st.none() | st.integers(0, 9), resident_after=st.none() | st.integers(0, 9),
    engine_dead=st.booleans(), resident_at_clock=st.none() | st.integers(0, 2),
)  # fmt: skip


@st.composite
def results(draw: st.DrawFn, result: CellResult) -> CellResult:
    """Whatever a record could say of a cell."""
    samples = [replace(s, ordinal=place) for place, s in enumerate(draw(SAMPLES))]
    answers = tuple(
        AnswerCheck(s.ordinal, s.variation, 100, "a", draw(st.sampled_from((100, 99))), "a")
        for s in samples[: draw(st.integers(0, 8))]
    )
    status = draw(st.sampled_from(("ok", "ok", "ok", "failed", "invalid", "disturbed", "gap")))
    evidence = draw(st.lists(EVIDENCE, max_size=4)) if result.cell.temperature == "cold" else []
    return replace(result, status=status, reason="" if status == "ok" else "because",
                   samples=tuple(samples), answers=answers, evidence=tuple(evidence),
                   condition=None, disturbance=None)  # fmt: skip


class Drawn:
    """A run that shows what was drawn of it. All of a record would be hundreds of kB, of which
    hypothesis warns instead of naming the contradiction."""

    def __init__(self, run: Run) -> None:
        self.run = run

    def __repr__(self) -> str:
        return "\n".join(
            f"{r.cell.key} {r.status}:"
            f" samples {[(s.elapsed_ns, s.client_cpu_ns, s.read_bytes) for s in r.samples]}"
            f" answers {[a.right for a in r.answers]}"
            f" proved {[e.proved for e in r.evidence]}"
            for r in self.run.results
        )


@st.composite
def runs(draw: st.DrawFn) -> Drawn:
    kept = [r for r in BASE.results if draw(st.integers(0, 9))]
    return Drawn(replace(BASE, results=tuple(draw(results(r)) for r in kept)))


@pytest.mark.slow
@settings(max_examples=25, deadline=None, phases=(Phase.generate,))
@given(runs())
def test_no_record_makes_a_report_contradict_itself(drawn: Drawn) -> None:
    assert found(drawn.run) == []
