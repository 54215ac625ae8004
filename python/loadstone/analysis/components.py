"""A step of the cost ladder taken apart, in its own unit.

Its parts are the calls and statements that the client counted while it was measured, each at the
price of its rung; and the time of the same work in one call, if an engine can be asked so. The
remainder is `unexplained`, negative if the parts sum up to more; without such a measure the last
part is the difference, and nothing can be unexplained. Parts that exceed the whole, or leave too
much of it, are no explanation: such a whole is not taken apart, and the reason is given.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone._core import interval_of_median
from loadstone.analysis.calls import Counts, Part, Way, priced
from loadstone.analysis.cell_summary import CellSummary
from loadstone.plan.presentation import VALUES, CostLadder, Whole
from loadstone.statistics.arithmetic import less, scaled, total
from loadstone.statistics.estimate import Estimate

LEFT_SHARE_MAX = 0.25
"""Share of a whole: parts that leave more, or exceed it by more, do not explain it."""


@dataclass(frozen=True, slots=True)
class Account:
    """The components of a whole: the parts and `unexplained_ns` sum up to it. `by_difference`: the
    last part is the remainder, and nothing else can be."""

    name: str
    whole_ns: Estimate
    parts: tuple[Part, ...]
    unexplained_ns: Estimate
    by_difference: bool

    @property
    def closes(self) -> bool:
        """Whether these can be the components of this whole."""
        left = self.parts[-1].elapsed_ns if self.by_difference else self.unexplained_ns
        share = self.share(left)
        return share >= 0 if self.by_difference else abs(share) <= LEFT_SHARE_MAX

    @property
    def unclosed(self) -> str:
        """Why a whole is not taken apart."""
        if self.by_difference:
            known = total(part.elapsed_ns for part in self.parts[:-1])
            return (
                f"its calls at the price of their rungs cost {self.share(known):.1f} times as much"
            )
        return f"its parts leave {self.share(self.unexplained_ns):.0%} of it"

    def share(self, part: Estimate) -> float:
        """A part, or the unexplained rest, as a share of the whole."""
        return part.value / (self.whole_ns.value or 1.0)


@dataclass(frozen=True, slots=True)
class Measured:
    """The figures of one variant: by operation, its figure, the time of each of its things, and
    the client's counts for each."""

    figures: Mapping[str, CellSummary | None]
    each_ns: Mapping[str, Estimate]
    counts: Mapping[str, Counts]
    way: Way


def part_names(accounts: Iterable[Account]) -> dict[str, None]:
    """The names of all their parts, each once: the fullest account knows the order of all."""
    fullest = sorted((account.parts for account in accounts), key=len, reverse=True)
    return dict.fromkeys(part.name for parts in fullest for part in parts)


def account_of(whole: Whole, ladder: CostLadder, measured: Measured) -> Account | None:
    """The components of one of a ladder's wholes; None where it was not measured, or not
    counted."""
    whole_ns, counts = measured.each_ns.get(whole.operation), measured.counts.get(whole.operation)
    if whole_ns is None or counts is None:
        return None
    things = next(step.count for step in ladder.steps if step.operation == whole.operation)
    if whole.commit:
        return _written(whole, ladder, measured, things)
    parts = priced([step for step in ladder.steps if step.prices], measured.each_ns, counts,
                   measured.way)  # fmt: skip
    if (batch := each_of(measured.figures.get(whole.batch), things)) is not None:
        access = Part(whole.rest, "one of them, all fetched in one call", batch)
        reported = _summed(whole.name, whole_ns, [*parts, access], by_difference=False)
        if reported.closes:
            return reported
    return _by_difference(whole, whole_ns, parts, "the rest, beyond its calls")


def _written(whole: Whole, ladder: CostLadder, measured: Measured, things: int) -> Account | None:
    """A thing written: the commit, the calls, and the writing, which is the rest."""
    commit = _commit(measured.figures.get(whole.operation), things)
    if commit is None:
        return None
    # The statement that commits, and its way, are in the commit's own time; and no value comes back
    # to what writes.
    counts = measured.counts[whole.operation].less_commit(1 / things)
    steps = [step for step in ladder.steps if step.prices and step.prices != VALUES]
    parts = priced(steps, measured.each_ns, counts, measured.way)
    parts.append(Part("commit", whole.commit, commit))
    whole_ns = measured.each_ns[whole.operation]
    return _by_difference(whole, whole_ns, parts, "the rest, beyond its calls and the commit")


def each_of(figure: CellSummary | None, count: int) -> Estimate | None:
    """A measure's time for each of its things; None where it has none that counts."""
    if figure is None or figure.status != "ok" or figure.elapsed_ns is None:
        return None
    return scaled(figure.elapsed_ns, 1 / count)


def _commit(figure: CellSummary | None, things: int) -> Estimate | None:
    """A written thing's share of the commit; None if the client did not measure it separately."""
    if figure is None or figure.status != "ok":
        return None
    reported = [float(sample.commit_ns) for sample in figure.samples if sample.commit_ns]
    if not reported or len(reported) < len(figure.samples):
        return None
    return scaled(Estimate(*interval_of_median(reported)), 1 / things)


def _by_difference(
    whole: Whole, whole_ns: Estimate, parts: Sequence[Part], reported: str
) -> Account:
    left = less(whole_ns, total(part.elapsed_ns for part in parts))
    rest = Part(whole.rest, reported, left)
    return _summed(whole.name, whole_ns, [*parts, rest], by_difference=True)


def _summed(
    name: str, whole_ns: Estimate, parts: Sequence[Part], *, by_difference: bool
) -> Account:
    left = less(whole_ns, total(part.elapsed_ns for part in parts))
    return Account(name, whole_ns, tuple(parts), left, by_difference)
