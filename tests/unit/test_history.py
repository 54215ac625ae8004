"""Records over time: what changed and from when on, and what cannot be said."""

import json
from dataclasses import replace
from pathlib import Path

import pytest
from compared_runs import altered, calm_run, on_machine, with_term

from loadstone.analysis.history import History, Trend, history
from loadstone.commands import log as command
from loadstone.errors import InputError
from loadstone.record.model import Run
from loadstone.report import history as text
from loadstone.report import history_page, terminal_history

THRESHOLD = 0.05


def named(number: int) -> str:
    """A record's name, by which days are in no order, neither forward nor backward."""
    return f"{number * 3 % 7}-day{number}.loadstone"


def day(number: int, run: Run) -> tuple[Path, tuple[Run, ...]]:
    at = f"2026-11-{number:02d}T09:00:00+00:00"
    return Path(named(number)), (replace(run, created_at=at, run_id=f"{number:08x}"),)


def of_factors(*factors: float) -> History:
    runs = [day(place + 1, calm_run(place, factor)) for place, factor in enumerate(factors)]
    return history(runs[::-1], THRESHOLD)  # in whatever order they are found


def trend(found: History, operation: str = "min-scalar", variant: str = "sqlite") -> Trend:
    (one,) = (t for t in found.trends if (t.operation, t.variant) == (operation, variant))
    return one


def changed(found: History) -> list[tuple[int, str]]:
    points = trend(found).points
    return [(points.index(p), p.change.verdict) for p in trend(found).changes if p.change]


def test_a_change_is_reported_once_from_when_on() -> None:
    assert changed(of_factors(1, 1, 1.5, 1.5, 1.5, 1, 1)) == [(2, "slower"), (5, "faster")]
    assert changed(of_factors(1, 1, 1, 1)) == []


def test_a_slow_creep_is_found_once_it_is_large_enough() -> None:
    found = changed(of_factors(1.0, 1.03, 1.06, 1.09, 1.12))
    assert found and all(verdict == "slower" for _, verdict in found)
    assert found[0][0] >= 2  # three percent alone is within the threshold


def test_records_are_in_the_order_of_their_time() -> None:
    found = of_factors(1, 2, 3)
    assert [reported.path.name for reported in found.reported] == [named(n) for n in (1, 2, 3)]
    values = [point.elapsed_ns.value for point in trend(found).points]
    assert values == sorted(values)


@pytest.mark.parametrize(
    ("other", "reason"),
    [
        (lambda run: on_machine(run, cpu__model="another"), "machine"),
        (lambda run: with_term(run, "durability", "none"), "durability"),
    ],
)
def test_a_record_that_is_not_comparable_is_a_break_and_no_change(other, reason: str) -> None:
    slow = other(calm_run(3, 5.0))
    found = history([day(1, calm_run(1)), day(2, slow), day(3, other(calm_run(4, 5.0)))], THRESHOLD)
    points = trend(found).points
    assert [point.change for point in points] == [None, None, None]
    assert reason in points[1].broken
    assert points[2].broken == ""  # the two of the other machine are comparable
    assert "break" in text.trend_row(trend(found))[-1]
    assert "could not all be compared" in text.sentence(found)
    assert "could not all be compared" not in text.sentence(of_factors(1, 1))


def test_a_cell_of_one_record_has_no_trend() -> None:
    assert history([day(1, calm_run(1))], THRESHOLD).trends == ()
    assert len(history([day(1, calm_run(1))], THRESHOLD).reported) == 1


def test_the_formats_report_each_change() -> None:
    found = of_factors(1, 1, 1.5)
    data = json.loads(text.as_json(found))
    reported = [p["change"] for t in data["trends"] if t["operation"] == "min-scalar"
            and t["variant"] == "sqlite" for p in t["points"]]  # fmt: skip
    assert reported == [None, None, "slower"]
    assert "slower 1.5" in text.markdown(found)
    assert "3 records" in text.sentence(found)
    page = history_page.render(found).decode()
    assert page.count('class="ring"') == sum(len(t.changes) for t in found.trends) > 0
    assert history_page.MARK.search(page.encode())
    assert "<script" not in page


def test_a_hostile_name_stays_text() -> None:
    path, runs = day(1, calm_run(1))
    evil = path.with_name("<script>alert(1)<.loadstone")
    page = history_page.render(history([(evil, runs), day(2, calm_run(2))], THRESHOLD)).decode()
    assert "<script>" not in page


def test_equal_heights_are_equal_ratios() -> None:
    drawn = history_page.dots(trend(of_factors(1, 2, 4)))
    steps = [drawn[0].y - drawn[1].y, drawn[1].y - drawn[2].y]
    assert steps[0] == pytest.approx(steps[1], rel=0.1) and steps[0] > 0
    assert drawn[0].joined == "" and drawn[1].joined


@pytest.mark.parametrize(
    ("status", "reason", "last"), [("censored", "> 10 s", "> 10 s"), ("failed", "no", "failed")]
)
def test_a_figure_that_is_lost_is_listed_and_changes_nothing_after_it(status, reason, last) -> None:
    """A slowdown to more than the limit would pass for no change."""
    ended = altered(
        calm_run(2), lambda r: replace(r, status=status, reason=reason, samples=(), answers=())
    )
    found = history([day(1, calm_run(1)), day(2, ended)], THRESHOLD)
    assert "failed in some record, or ended at the time limit" in text.sentence(found)
    row = text.trend_row(trend(found))
    assert (row[5], row[7]) == ("1", last)
    assert f"{status}: {reason} on 2026-11-02" in row[-1]
    assert f"| {row[4]} | 1 |" in text.markdown(found)
    data = json.loads(text.as_json(found))
    (point,) = (p for t in data["trends"] for p in t["points"] if p["broken"])
    assert (point["elapsed_ns"], point["status"]) == (None, status)
    assert history_page.render(found).decode().count('class="lost"') == 1
    slow = history([day(1, calm_run(1)), day(2, ended), day(3, calm_run(3, 5.0))], THRESHOLD)
    assert changed(slow) == [(2, "slower")]
    late = history([day(1, ended), day(2, calm_run(1)), day(3, calm_run(3))], THRESHOLD)
    assert changed(late) == []
    never = history([day(1, ended), day(2, ended)], THRESHOLD).trends
    assert ("min-scalar", "sqlite") not in {(t.operation, t.variant) for t in never}


def test_an_operation_that_no_trend_has_is_refused_with_the_one_meant(monkeypatch, tmp_path):
    records = [day(1, calm_run(1)), day(2, calm_run(2))]
    monkeypatch.setattr(command, "_read", lambda folder: (records, []))
    with pytest.raises(InputError, match="'min-scalr'") as refused:
        command.log(tmp_path, operations=["min-scalr"])
    assert refused.value.hint.startswith("did you mean min-scalar? they have ")


@pytest.mark.parametrize("columns", [40, 80])
def test_a_terminal_of_any_width_shows_every_name_and_figure(columns, capsys, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    found = of_factors(1, 1, 1.5)
    terminal_history.show(found)
    lines = capsys.readouterr().out.splitlines()
    assert max(map(len, lines)) <= columns
    one = trend(found)
    (point,) = one.changes
    shown = " ".join(line.strip() for line in lines)
    for whole in (
        *(each for reported in found.reported for each in text.record_row(reported)),
        f"{one.operation} (10,000 tuples, {one.temperature}) on {one.variant}",
        text.change(point),
        text.sentence(found),
    ):
        assert whole in shown
