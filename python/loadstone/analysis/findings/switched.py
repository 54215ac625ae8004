"""Which switch moves a time, turned on the engine itself: the slowest of a row is faster with it,
or the fastest slower.

In a study each switch is turned alone; in any run two competitors of one engine may differ in
nothing but one tactic. A finding needs all of: the tactic reads back as asked on both sides and
differs; no other term differs but settings that say the same thing; both cells are in order, so
every answer was right; the ratio's whole interval excludes 1, and the ratio is beyond the
threshold. It is `explained` where, besides, the plans are reported and are the same, and it shows
what `required` asks for: enough processes, an A/A control of the same row, a difference that is not
waiting. Else it is `consistent with`, and says why.

False where the state that one value leaves behind slows the other, or where the switch changes
something that no term shows.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import log

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.compare.threshold import DEFAULT
from loadstone.analysis.findings import required
from loadstone.analysis.findings.distance import Distance, measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, Number
from loadstone.analysis.findings.said import said_ratio, said_share
from loadstone.analysis.noise import noise_of
from loadstone.analysis.terms import SETTING, TermValue
from loadstone.plan.variant import engine_of
from loadstone.record.model import MEASURED_KEYS, Term
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import paired_ratio
from loadstone.studies.plan_shape import same_plans

RULE = "switched"
PLAN_DOUBTS = {
    True: "",
    False: "the plan changes with it",
    None: "the engine shows no plan",
}


def find(seen: Evidence) -> Iterator[Finding]:
    """For each row the switch that takes most of its distance away, of the slowest or of the
    fastest. Of a study the map says it: `studied`."""
    if seen.whole.run.plan.study is not None:
        return
    reported = _reported(seen)
    for far in seen.far():
        others = measured(far.row)
        tried = [_turned(seen, far, other, reported) for other in others]
        tried += [_lost(seen, far, other, reported) for other in others]
        found = [each for each in tried if each]
        if found:
            yield max(found, key=lambda each: (each.grade is Grade.EXPLAINED, each.weight))


def threshold_of(seen: Evidence) -> float:
    """The ratio beyond which a difference is a finding at all: the threshold, or the certain part
    of the run's A/A difference."""
    noise = noise_of(seen.whole.run)
    return 1 + max(DEFAULT, noise.certain if noise else 0.0)


def _reported(seen: Evidence) -> dict[str, dict[str, Term]]:
    found: dict[str, dict[str, Term]] = {}
    for term in seen.whole.run.terms:
        found.setdefault(term.variant, {})[term.key] = term
    return found


def _switch(own: dict[str, Term], other: dict[str, Term]) -> str:
    """The one term, neither a setting nor a measurement, that was requested and in which two
    variants differ; empty if there is none, if there are more, or if one does not obey."""
    differ = [
        key
        for key in own.keys() | other.keys()
        if key not in MEASURED_KEYS and not key.startswith(SETTING)
        if _read(own, key) != _read(other, key)
    ]
    if len(differ) != 1 or differ[0] not in own or differ[0] not in other:
        return ""
    pair = own[differ[0]], other[differ[0]]
    asked = all(term.asked is not None and term.read_back is not None for term in pair)
    obeys = not any(TermValue(term.asked, term.read_back).disobeyed for term in pair)
    return differ[0] if asked and obeys else ""


def _read(reported: dict[str, Term], key: str) -> str | None:
    term = reported.get(key)
    return term.read_back if term else None


@dataclass(frozen=True, slots=True)
class _Flip:
    """One switch of one variant: its words, by how much it moves the time, and why that may not be
    called explained; empty if it may."""

    switch: str
    words: str
    ratio: Estimate
    doubts: str


def _flip(
    seen: Evidence,
    base: CellSummary,
    other: CellSummary,
    reported: dict[str, dict[str, Term]],
    *,
    faster: bool,
) -> _Flip | None:
    """The switch from `base` to `other`, if that is the one difference, and it is certainly and
    beyond the threshold faster, or slower."""
    own, others = (reported.get(figure.cell.variant, {}) for figure in (base, other))
    if base is other or engine_of(other.cell.variant) != engine_of(base.cell.variant):
        return None
    switch = _switch(own, others)
    longer, shorter = (base, other) if faster else (other, base)
    ratio = paired_ratio(longer.samples, shorter.samples)
    if not switch or ratio is None or ratio.low is None or ratio.high is None:
        return None
    if ratio.low <= 1 or ratio.value <= threshold_of(seen):
        return None
    plans = PLAN_DOUBTS[same_plans(seen.statements(base), seen.statements(other))]
    found = [doubt for doubt in (plans, *required.doubts(seen, longer, shorter, ratio)) if doubt]
    words = f"{switch} from {own[switch].read_back} to {others[switch].read_back}"
    return _Flip(switch, words, ratio, "; ".join(found))


def _turned(
    seen: Evidence, far: Distance, other: CellSummary, reported: dict[str, dict[str, Term]]
) -> Finding | None:
    """The slowest is faster with a switch."""
    flip = _flip(seen, far.slow, other, reported, faster=True)
    if flip is None:
        return None
    whole = other.cell.variant == far.fast.cell.variant
    share = Estimate(1.0) if whole else _share(flip.ratio, far.ratio)
    slow, fast = far.names
    part = "" if whole else f", {said_share(share)} of its distance to {fast} (on ln)"
    ratio = said_ratio(flip.ratio)
    words = f"makes it {ratio} faster{part}", f"makes {slow} {ratio} faster{part}"
    return _finding(far, other, flip, words, share)


def _lost(
    seen: Evidence, far: Distance, other: CellSummary, reported: dict[str, dict[str, Term]]
) -> Finding | None:
    """The fastest is slower with a switch: so much of its lead is that switch's."""
    flip = _flip(seen, far.fast, other, reported, faster=False)
    if flip is None or other.cell.variant == far.slow.cell.variant:
        return None
    share = _share(flip.ratio, far.ratio)
    slow, fast = far.names
    part = f"makes {fast} {said_ratio(flip.ratio)} slower, {said_share(share)} of its lead over"
    words = f"{part} {slow} (on ln)"
    return _finding(far, other, flip, (words, words), share)


def _share(part: Estimate, whole: Estimate) -> Estimate:
    """Of the ratio on its logarithm; its bounds are the widest, since the two were not paired."""
    low = high = None
    if part.low and part.high and whole.low and whole.high and whole.low > 1:
        low, high = log(part.low) / log(whole.high), log(part.high) / log(whole.low)
    return Estimate(log(part.value) / log(whole.value), low, high)


def _finding(
    far: Distance, other: CellSummary, flip: _Flip, words: tuple[str, str], share: Estimate
) -> Finding:
    brief, sentence = words
    return far.finding(
        RULE,
        flip.switch,
        grade=Grade.CONSISTENT if flip.doubts else Grade.EXPLAINED,
        brief=f"{flip.words} {brief}",
        sentence=f"Switching {flip.words} {sentence}."
        + (f" Not called explained: {flip.doubts}." if flip.doubts else ""),
        numbers=(
            Number(flip.words, flip.ratio, "ratio"),
            Number("share of ln(ratio)", share, "share"),
        ),
        cells=(*far.cells, other.cell.key) if other is not far.fast else far.cells,
        share=share,
    )
