"""The declarations of a benchmark: kept as they are, refused where they say what nobody
may."""

import json
import sqlite3
from dataclasses import replace

import pytest
from oo1_report_fixture import make_oo1_run
from report_fixture import FEW, make_run, write_record

from loadstone import registry
from loadstone.analysis.ladder import ladders
from loadstone.analysis.summary import summarise
from loadstone.errors import InputError, RecordError
from loadstone.plan.presentation import (
    CALLS,
    CostLadder,
    Presentation,
    Step,
    Total,
    Varying,
    Whole,
)
from loadstone.record import Recorder, Run, read

HOSTILE = "<script>alert(1)</script>\x1b[31m|`x` [bold]"
THIRD = Presentation(
    title="Thirds",
    scale="kegs",
    answer="sips",
    varying=Varying({"reverse": 1_000}, 50, "some walk met fewer than 50 kegs", "the kegs it met"),
    ladder=CostLadder(
        steps=(
            Step("nothing", 500, "a nod", "nodding", CALLS),
            Step("lookup", 500, "a keg found", "finding"),
        ),
        wholes=(Whole("a keg", "lookup", "the cellar"),),
        totals=(Total("a keg", ("lookup",)),),
        paper="Of kegs nothing was published.",
    ),
)


def of_a_third_party(declared: Presentation) -> Run:
    """A record of a benchmark that no one here knows."""
    run = make_oo1_run()
    return replace(run, plan=replace(run.plan, benchmark="thirds"), presentation=declared)


@pytest.mark.parametrize("name", registry.benchmark_names())
def test_each_benchmark_declares_what_a_record_can_hold(name: str) -> None:
    declared = registry.load_benchmark(name)().presentation()
    assert Presentation.from_json(declared.to_json()) == declared
    assert declared.title.casefold() == name


@pytest.mark.parametrize("run", [make_run(FEW[:1]), of_a_third_party(THIRD)])
def test_a_record_keeps_it(run: Run, tmp_path) -> None:
    path = tmp_path / "r.loadstone"
    write_record(run, path)
    assert read(path).presentation == run.presentation


def test_a_ladder_that_a_third_party_declares_is_reported_in_its_words() -> None:
    run = of_a_third_party(THIRD)
    found = {ladder.variant: ladder for ladder in ladders(summarise(run))}
    assert [rung.step.name for rung in found["sqlite"].rungs] == ["a nod", "a keg found"]
    each = found["sqlite"].rungs[1].each_ns
    assert each is not None
    assert each.value == pytest.approx(330e3 / 500, rel=0.01)
    assert [account.name for account in found["sqlite"].accounts] == ["a keg"]

    assert found["zodb"].arguments[0].calls == 1_000
    page = registry.load_report("html")().render(run).decode()
    for text in ("Of kegs nothing was published.", "Components of a keg", "the components of a keg",
                 "Scaled to 1,000 sips, but some walk met fewer than 50 kegs.",
                 "/ the kegs it met."):  # fmt: skip
        assert text in page
    for own in ("look-up</h3>", "to 3,280", "fewer than 100 parts"):
        assert own not in page
    text = registry.load_report("md")().render(run).decode()
    assert "Thirds (1992)" in text
    assert "| a keg found |" in text
    assert "Some walk met fewer than 50 kegs: its time is mostly the start's." in text


def test_a_benchmark_that_declares_nothing_counts_tuples_and_has_no_ladder() -> None:
    run = of_a_third_party(Presentation("Thirds"))
    assert ladders(summarise(run)) == ()
    assert "20,000 tuples, warm" in registry.load_report("md")().render(run).decode()


def test_what_it_says_is_shown_and_not_obeyed() -> None:
    words = replace(THIRD, title=HOSTILE, scale=HOSTILE, answer=HOSTILE, stored=HOSTILE,
                    basis=HOSTILE, varying=replace(THIRD.varying, few=HOSTILE, own=HOSTILE),
                    ladder=replace(THIRD.ladder, paper=HOSTILE,
                                   wholes=(Whole(HOSTILE, "lookup", HOSTILE),)))  # fmt: skip
    # A Parquet file holds cells, and nothing of what a benchmark declares.
    for name in set(registry.report_names()) - {"parquet"}:
        data = registry.load_report(name)().render(of_a_third_party(words))
        assert b"\x1b" not in data
        assert name == "json" or b"<script>alert" not in data


def changed(**values: object) -> str:
    return json.dumps(json.loads(THIRD.to_json()) | values)


STEP = {"operation": "a", "count": 1, "name": "a", "attributed": "a"}
REFUSED = {
    "a text for a number": changed(varying={"nominal": {"reverse": "3280"}}),
    "no number at all": changed(varying={"nominal": {"reverse": 0}}),
    "too long a word": changed(scale="x" * 201),
    "too many words": changed(writes=["x"] * 1_001),
    "an unknown word": changed(colour="red"),
    "a number for a text": changed(title=3),
    "no title": json.dumps({"scale": "parts"}),
    "no declaration": "[]",
    "no JSON": "{",
    "a step that does nothing": changed(ladder={"steps": [STEP | {"count": 0}]}),
    "an unknown price": changed(ladder={"steps": [STEP | {"prices": "sips"}]}),
    "a step twice": changed(ladder={"steps": [STEP, STEP]}),
    "a price twice": changed(
        ladder={"steps": [STEP | {"prices": CALLS}, STEP | {"prices": CALLS, "operation": "b"}]}
    ),
    "a whole without its step": changed(
        ladder={"steps": [STEP], "wholes": [{"name": "b", "operation": "b", "rest": "b"}]}
    ),
    "a total without its step": changed(
        ladder={"steps": [STEP], "totals": [{"name": "b", "operations": ["a", "b"]}]}
    ),
    "too many steps": changed(
        ladder={"steps": [STEP | {"operation": str(number)} for number in range(101)]}
    ),
}


@pytest.mark.parametrize("text", REFUSED.values(), ids=REFUSED)
def test_a_record_that_declares_otherwise_is_refused(text: str, tmp_path) -> None:
    with pytest.raises(InputError):
        Presentation.from_json(text)


def test_a_benchmark_that_declares_otherwise_begins_no_record(tmp_path) -> None:
    path = tmp_path / "r.loadstone"
    ladder = CostLadder(totals=(Total("x", ("nowhere",)),))
    wrong = Presentation("X", ladder=ladder)
    with pytest.raises(InputError, match="no step 'nowhere'"):
        Recorder.create(path, make_run(FEW[:1]).plan, {}, wrong, "a", "1")
    assert not path.exists()


def test_a_record_with_a_forged_declaration_is_damaged(tmp_path) -> None:
    path = tmp_path / "r.loadstone"
    write_record(make_run(FEW[:1]), path)
    with sqlite3.connect(path) as db:
        db.execute("UPDATE run SET presentation = ?", (changed(scale=7),))
    db.close()
    with pytest.raises(RecordError, match=r"is damaged: presentation.scale must be a text, not 7"):
        read(path)
