"""Like cells of two sides, paired: the ratio of equal repetitions with its interval, and the
verdict.

Like cells have the same operation and text, scale, temperature as proved, and expected answers;
both were measured, right and within the limits. Equal repetitions have the same ordinal and
variation. Within a record they were measured in the same round, so that pairing cancels drift and
differences between variations; between two records it cancels only the latter. What was measured on
one side and ended at the time limit on the other is a pair, too, where the limit lies beyond all of
the side that was measured.
"""

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import inf

from loadstone._core import interval_of_median
from loadstone.analysis.compare.bounded import bounded_ratio
from loadstone.analysis.compare.sides import Match
from loadstone.analysis.compare.terms import REFUSED, TermComparison
from loadstone.analysis.plans.difference import NO_PLANS, PlanDifference, plan_difference
from loadstone.plan.plan import Cell
from loadstone.record.changed_answers import Side
from loadstone.record.model import BELIEVED, CellResult, Run
from loadstone.statistics.disturbance import interval, ratio_between
from loadstone.statistics.drift import Speeds, ratio_across
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN, paired, paired_ratio

SLOWER, FASTER, SAME, UNDECIDED = VERDICTS = ("slower", "faster", "same", "undecided")

ENDED = ("failed", "censored", "spared")
"""Statuses of a cell whose statement came to no end of its own."""

PAIRS_MIN = INTERVAL_PAIRS_MIN
"""Of equal repetitions: fewer have no interval."""

Place = tuple[str, int, str]
"""(operation, rows, temperature as planned): a cell within its variant."""


@dataclass(frozen=True, slots=True)
class Pair:
    """Two like cells. `ratio` is B over A, of `pairs` equal repetitions; `a_ns` and `b_ns` are
    medians of the elapsed time over all `samples` whose variation both sides ran. `ended`: the side
    whose statement was ended, if one was, so that its time is only known to be larger, and the
    ratio to be larger, where that is B, or smaller."""

    operation: str
    rows: int
    temperature: str
    samples: tuple[int, int]
    a_ns: Estimate
    b_ns: Estimate
    ratio: Estimate
    verdict: str
    pairs: int
    ended: str = ""

    @property
    def has_interval(self) -> bool:
        """Whether there are pairs enough for the interval of their ratio."""
        return self.pairs >= PAIRS_MIN

    @property
    def shown_ratio(self) -> float:
        """B over A of pairs. Below six pairs that ratio may contradict the medians beside it: then
        it is their quotient."""
        if self.has_interval or self.ended:
            return self.ratio.value
        return self.b_ns.value / max(self.a_ns.value, 1.0)


@dataclass(frozen=True, slots=True)
class Unlike:
    """A cell that was not compared, and why. `owed`: both records planned it, so a comparison
    without it is incomplete; but for one that in A failed or is invalid and in B did not fail. One
    that failed on both sides was not looked at, and proves no regression away. `failed`: it did in
    B."""

    operation: str
    rows: int
    temperature: str
    reason: str
    owed: bool
    failed: bool = False


def judge(ratio: Estimate, threshold: float) -> str:
    """The verdict on B over A. `threshold` is a share: 0.05 is 5 %.

    `slower`: the whole interval lies above 1, so there is a difference, and the estimate lies
    beyond the threshold, so it matters; `faster` is the same of A over B. `same`: the whole
    interval lies within the threshold. Else `undecided`.
    """
    if ratio.low is None or ratio.high is None:
        return UNDECIDED
    above, below = 1 + threshold, 1 / (1 + threshold)
    if ratio.low > 1 and ratio.value > above:
        return SLOWER
    if ratio.high < 1 and ratio.value < below:
        return FASTER
    return SAME if below <= ratio.low and ratio.high <= above else UNDECIDED


def may_be_slower(ratio: Estimate, threshold: float) -> bool:
    """Whether its interval, or the lack of one, allows a slowdown beyond the threshold."""
    return ratio.high is None or ratio.high > 1 + threshold


def pair_cells(
    match: Match, terms: TermComparison, threshold: float
) -> tuple[tuple[Pair, ...], tuple[Unlike, ...]]:
    """Every cell of either side, as a pair or as unlike, in the order of A's plan."""
    pairs, unlike = [], []
    planned_a, planned_b = _planned(match.a), _planned(match.b)
    speeds = Speeds(match.a.run), Speeds(match.b.run)
    results_a, results_b = _results(match.a), _results(match.b)
    refused = "; ".join(entry.difference for entry in terms.with_verdict(REFUSED))
    for place in dict.fromkeys((*planned_a, *planned_b)):
        reason = _not_planned(planned_a.get(place), planned_b.get(place))
        if reason:
            unlike.append(Unlike(*place, reason, owed=False))
            continue
        a, b = results_a.get(place), results_b.get(place)
        other = refused or _other_text(match, place)
        if not other and a is not None and b is not None:
            ended = _slower(match, a, b, speeds, threshold) or _faster(
                match, a, b, speeds, threshold
            )
            if ended is not None:
                pairs.append(ended)
                continue
        reason = _unfit(a, b) or other
        if a is None or b is None or reason:
            lost = a is not None and a.status in (*ENDED, "invalid")
            fails = b is not None and b.status in ENDED
            unlike.append(Unlike(*place, reason, owed=fails or not lost, failed=fails))
            continue
        reason = _unlike(a, b)
        ratio = paired_ratio(b.samples, a.samples)
        if ratio is not None and match.a.run is not match.b.run:
            ratio = ratio_across(ratio, speeds[1].reach(b.condition), speeds[0].reach(a.condition))
        if ratio is not None:
            ratio = ratio_between(ratio, b.disturbance, a.disturbance)
        if reason or ratio is None:
            unlike.append(Unlike(*place, reason or "no repetition in common", owed=True))
        else:
            pairs.append(_pair(a, b, speeds, ratio, judge(ratio, threshold)))
    return tuple(pairs), tuple(unlike)


def plan_differences(match: Match) -> Mapping[Place, PlanDifference]:
    """What differs between the plans of each cell that both sides have."""
    first, second = _results(match.a), _results(match.b)
    found = {
        place: plan_difference(one, second[place])
        for place, one in first.items()
        if place in second and any(text.plan for text in one.statements)
    }
    return {place: each for place, each in found.items() if each is not NO_PLANS}


def _slower(
    match: Match, a: CellResult, b: CellResult, speeds: tuple[Speeds, Speeds], threshold: float
) -> Pair | None:
    """The pair of a cell that B's time limit ended, where that is certainly slower; else None."""
    least = bounded_ratio(a, b, speeds, match.b.run)
    if least is None or judge(Estimate(least.value, least.low, inf), threshold) != SLOWER:
        return None
    shown = _pair(a, a, (speeds[0], speeds[0]), least, SLOWER)
    limit = float(b.longer_than_ns or 0)
    return replace(
        shown, samples=(len(a.samples), 0), b_ns=Estimate(limit, limit), pairs=0, ended="B"
    )


def _faster(
    match: Match, a: CellResult, b: CellResult, speeds: tuple[Speeds, Speeds], threshold: float
) -> Pair | None:
    """The pair of a cell that A's time limit ended and that B has in order, where that is certainly
    faster: the same with the sides exchanged; else None."""
    other = Match(match.b, match.a)
    found = _slower(other, b, a, (speeds[1], speeds[0]), threshold)
    if found is None or not found.ratio.low:
        return None
    return replace(
        found,
        samples=(0, found.samples[0]),
        a_ns=found.b_ns,
        b_ns=found.a_ns,
        ratio=Estimate(1 / found.ratio.value, None, 1 / found.ratio.low),
        verdict=FASTER,
        ended="A",
    )


def _planned(side: Side) -> Mapping[Place, Cell]:
    cells = (cell for cell in side.run.plan.cells if cell.variant == side.variant)
    return {(cell.operation, cell.rows, cell.temperature): cell for cell in cells}


def _results(side: Side) -> Mapping[Place, CellResult]:
    return {
        (result.cell.operation, result.cell.rows, result.cell.temperature): result
        for result in side.run.results
        if result.cell.variant == side.variant
    }


def _not_planned(a: Cell | None, b: Cell | None) -> str:
    """Why a cell was never meant to be on both sides; else empty."""
    for letter, cell in (("A", a), ("B", b)):
        if cell is None:
            return f"not planned in {letter}"
        if cell.gap:
            return f"a declared gap in {letter}"
    return ""


def _unfit(a: CellResult | None, b: CellResult | None) -> str:
    for letter, result in (("A", a), ("B", b)):
        if result is None:
            return f"not run in {letter}"
        if result.status not in BELIEVED:
            return f"{result.status} in {letter}: {result.reason}"
        if not result.samples:
            return f"no samples in {letter}"
    return ""


def _other_text(match: Match, place: Place) -> str:
    operation, rows, _ = place
    a, b = (_text(side.run, operation, rows) for side in (match.a, match.b))
    return "" if a == b else "the operation differs in its text, design or destination"


def _text(run: Run, operation: str, rows: int) -> tuple[str, ...]:
    for text in run.operations:
        if (text.name, text.rows) == (operation, rows):
            return text.quel, text.design, text.storage, text.destination
    return ()


def _unlike(a: CellResult, b: CellResult) -> str:
    """Why two measured cells cannot be compared; empty if they can."""
    if a.temperature_shown != b.temperature_shown:
        return f"{a.temperature_shown} in A against {b.temperature_shown} in B"
    for letter, result in (("A", a), ("B", b)):
        if not all(answer.right for answer in result.answers):
            return f"wrong answers in {letter}"
    both = _variations(a) & _variations(b)
    if not both:
        return "no variation in common"
    # Artificial engines answer nothing: two of them agree in that.
    if any(_expected(a).get(variation) != _expected(b).get(variation) for variation in both):
        return "the expected answers differ"
    return ""


def _variations(result: CellResult) -> frozenset[int]:
    return frozenset(sample.variation for sample in result.samples)


def _expected(result: CellResult) -> Mapping[int, tuple[int, str]]:
    return {
        answer.variation: (answer.expected_rows, answer.expected_checksum)
        for answer in result.answers
    }


def _pair(
    a: CellResult,
    b: CellResult,
    speeds: tuple[Speeds, Speeds],
    ratio: Estimate,
    verdict: str,
) -> Pair:
    both = _variations(a) & _variations(b)
    a_ns, b_ns = (
        [float(sample.elapsed_ns) for sample in result.samples if sample.variation in both]
        for result in (a, b)
    )
    shown = [Estimate(*interval_of_median(a_ns)), Estimate(*interval_of_median(b_ns))]
    for place, (result, times_ns) in enumerate(((a, a_ns), (b, b_ns))):
        if result.disturbance is not None:
            shown[place] = interval(shown[place], times_ns, result.disturbance)
    return Pair(
        operation=a.cell.operation,
        rows=a.cell.rows,
        temperature=a.temperature_shown,
        samples=(len(a_ns), len(b_ns)),
        a_ns=speeds[0].interval(shown[0], a.condition),
        b_ns=speeds[1].interval(shown[1], b.condition),
        ratio=ratio,
        verdict=verdict,
        pairs=len(paired(b.samples, a.samples)),
    )
