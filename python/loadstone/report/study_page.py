"""A study on the page: the sensitivity map, what opens behind its cells, and the waterfalls, placed
in pixels."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from loadstone.plan.study import Switch
from loadstone.record.model import OperationText
from loadstone.report import study_words
from loadstone.report.axis import Axis, lane
from loadstone.report.page_room import plan_letters, plan_lines
from loadstone.report.shades import DARKEST_EFFECT, depth
from loadstone.statistics.estimate import Estimate
from loadstone.studies.details import SwitchDetail
from loadstone.studies.plan_shape import PlanLine
from loadstone.studies.view import StudiedOperation, StudyMap, SwitchEffect
from loadstone.studies.waterfall import Contribution, Descent
from loadstone.text.numbers import NS_PER_MS, duration

STRIP_PX = 320
FALL_PX = 260
DOTS_MAX = 60
"""Of one contrast: a study has eight to some dozens of blocks."""


@dataclass(frozen=True, slots=True)
class MapCell:
    """A cell as it is drawn; `side` is `slower`, `faster` or empty, `depth` 0 to 8."""

    switch: Switch
    text: str
    side: str
    depth: int
    says: str
    """Its text on hover: the effect with its interval, or why there is none."""
    panel: str


@dataclass(frozen=True, slots=True)
class MapRow:
    """An operation."""

    operation: StudiedOperation
    title: str
    base: str
    cells: tuple[MapCell, ...]


@dataclass(frozen=True, slots=True)
class Strip:
    """The contrasts of one kind, a dot for each block, in pixels; None for what is not known."""

    name: str
    ratio: Estimate
    dots: tuple[tuple[float, float], ...]
    blocks: int
    median: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class StudyPanel:
    """The details that open behind a cell."""

    id: str
    detail: SwitchDetail
    title: str
    strips: tuple[Strip, ...]
    ticks: tuple[tuple[float, str], ...]
    none_at: float
    """The place of 1, no effect."""
    plan: tuple[PlanLine, ...]
    plan_left_out: int
    """Lines that are not shown."""


@dataclass(frozen=True, slots=True)
class Bar:
    """A step of a waterfall, in pixels: from the time before it to the time after it."""

    step: Contribution
    side: str
    before: float
    after: float
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Fall:
    """One operation's waterfall."""

    descent: Descent
    title: str
    base: float
    bars: tuple[Bar, ...]
    end: float
    ticks: tuple[tuple[float, str], ...]


def side_of(each: SwitchEffect) -> tuple[str, int]:
    """The side and the depth of a cell's shade; none unless it is called an effect."""
    found = study_words.shown(each)
    if found is None:
        return "", 0
    return _side(found.ratio), depth(found.ratio, DARKEST_EFFECT)


def _side(ratio: float) -> str:
    return "slower" if ratio > 1 else "faster"


def study_context(
    found: StudyMap,
    details: Sequence[SwitchDetail],
    falls: Sequence[Descent],
    texts: Sequence[OperationText],
) -> dict[str, Any]:
    """The values of a study's templates."""
    titles = {(text.rows, text.name): text.title for text in texts}
    named = {
        (one.operation.rows, one.operation.name, one.effect.switch.key): f"p{number}"
        for number, one in enumerate(details)
    }
    scales = dict.fromkeys(operation.rows for operation in found.operations)
    unproved = ["unproved"] if found.temperature == "cold" else []
    unsound = ["disturbed", *unproved, "invalid", "failed"]
    return {
        "map": found,
        "map_views": [
            (
                rows,
                [_row(found, one, titles, named) for one in found.operations if one.rows == rows],
            )
            for rows in scales
        ],
        "map_legend": (
            study_words.legend(found.operations[0], unsound=f"{', '.join(unsound)}:")
            if found.operations
            else ""
        ),
        "unfit": [one for one in found.operations if one.status != "ok"],
        "falls": [_fall(one, titles) for one in falls],
        "study_words": study_words,
        "strip_px": STRIP_PX,
        "fall_px": FALL_PX,
    }


def _row(
    found: StudyMap,
    operation: StudiedOperation,
    titles: Mapping[tuple[int, str], str],
    named: Mapping[tuple[int, str, str], str],
) -> MapRow:
    effects = {each.switch: each for each in operation.switches}
    base_ms = operation.effects.base_ms
    return MapRow(
        operation=operation,
        title=titles.get((operation.rows, operation.name), operation.name),
        base=study_words.UNKNOWN if base_ms is None else duration(base_ms * NS_PER_MS),
        cells=tuple(
            _cell(effects[switch], named[operation.rows, operation.name, switch.key])
            for switch in found.order
        ),
    )


def _cell(each: SwitchEffect, panel: str) -> MapCell:
    side, depth = side_of(each)
    plan = {True: "same plan", False: "another plan", None: "plan not shown"}[each.same_plan]
    why = study_words.failure_words(each)
    found = study_words.shown(each)
    ratio = each.last if found and found.when == study_words.LAST else each.alone
    when = found.when if found else ""
    says = f"{study_words.words(each.switch)}: {why or when + study_words.ratio_words(ratio)}"
    if not why:
        says += f"; {plan}" if found else f"; not called an effect; {plan}"
    return MapCell(each.switch, study_words.cell(each), side, depth, says, panel)


def study_panels(
    details: Sequence[SwitchDetail], texts: Sequence[OperationText], *, plans: bool = True
) -> tuple[StudyPanel, ...]:
    """A panel for each cell of the map; without plans where they take too much."""
    titles = {(text.rows, text.name): text.title for text in texts}
    letters = plan_letters([one.plan for one in details]) if plans else 0
    return tuple(_panel(f"p{number}", one, titles, letters) for number, one in enumerate(details))


def _panel(
    name: str, detail: SwitchDetail, titles: Mapping[tuple[int, str], str], letters: int
) -> StudyPanel:
    effect = detail.effect
    # A figure that the map denies has no detail behind it.
    reported = [] if effect.failure else [("alone", effect.alone, detail.alone),
                                      ("last", effect.last, detail.last)]  # fmt: skip
    shown = [(kind, ratio, dots) for kind, ratio, dots in reported if ratio is not None]
    axis = Axis.over([x for _, ratio, dots in shown for x in (1.0, *_known(ratio), *dots)],
                     STRIP_PX)  # fmt: skip
    kept = plan_lines(detail.plan, letters)
    operation = detail.operation
    return StudyPanel(
        id=name,
        detail=detail,
        title=titles.get((operation.rows, operation.name), operation.name),
        strips=tuple(_strip(kind, ratio, dots, axis) for kind, ratio, dots in shown),
        ticks=axis.ratios() if shown else (),
        none_at=axis.place(1.0),
        plan=detail.plan[:kept],
        plan_left_out=len(detail.plan) - kept,
    )


def _known(ratio: Estimate) -> list[float]:
    return [value for value in (ratio.value, ratio.low, ratio.high) if value is not None]


def _strip(kind: str, ratio: Estimate, dots: Sequence[float], axis: Axis) -> Strip:
    return Strip(
        name=kind,
        ratio=ratio,
        dots=tuple((axis.place(x), lane(n, 5.0, 3)) for n, x in enumerate(dots[:DOTS_MAX])),
        blocks=len(dots),
        median=axis.place(ratio.value),
        low=None if ratio.low is None else axis.place(ratio.low),
        high=None if ratio.high is None else axis.place(ratio.high),
    )


def _fall(one: Descent, titles: Mapping[tuple[int, str], str]) -> Fall:
    operation = one.operation
    axis = Axis.over(one.reached_ms, FALL_PX)
    return Fall(
        descent=one,
        title=titles.get((operation.rows, operation.name), operation.name),
        base=axis.place(one.base_ms),
        bars=tuple(_bar(step, axis) for step in one.steps),
        end=axis.place(one.end_ms),
        ticks=axis.times(),
    )


def _bar(step: Contribution, axis: Axis) -> Bar:
    low, high = (None if ms is None else axis.place(ms) for ms in step.after_ms_bounds)
    side = _side(step.ratio.value) if step.called else "uncalled"
    return Bar(step, side, axis.place(step.before_ms), axis.place(step.after_ms), low, high)
