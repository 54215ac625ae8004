"""One cell's figures: its median with an interval, and what belongs to them.

A failed cell has no time; a disturbed or invalid cell has a time and no ratio; if the number of
things that an operation visits varies, times are scaled to a fixed one.
"""

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from statistics import median

from loadstone._core import effective_samples, interval_of_median, outliers
from loadstone.analysis.standing import standing
from loadstone.analysis.unequal import Unequal
from loadstone.plan.plan import Cell
from loadstone.plan.presentation import Varying
from loadstone.plan.role import Role
from loadstone.record.model import (
    MEASURED,
    WORK,
    CellResult,
    Condition,
    Disturbance,
    Sample,
    kind_of_label,
)
from loadstone.statistics.disturbance import interval as disturbed_interval
from loadstone.statistics.drift import Speeds
from loadstone.statistics.estimate import Estimate
from loadstone.statistics.paired_ratio import INTERVAL_PAIRS_MIN

OVERHEAD_SHARE_MARKED = 0.1
"""Above this share of a figure, the harness overhead is marked beside it."""


FIXED = Varying()
"""Of a benchmark whose operations count the same at each sample."""


@dataclass(frozen=True, slots=True)
class CellSummary:
    """One planned cell's figures.

    `status` is a record's status, or `pending`. `elapsed_ns` is None without a time to show
    (failed, gap, pending); `ratio` compares it with the fastest competitor of its row, repetition
    by repetition, and is None if that would not be fair, and for other roles than competitor. The
    overhead share is the harness overhead's median for the same cell over this one's. `outliers`
    are positions in `samples`, of which none is dropped; `samples_effective` is the number of
    independent ones they are worth. `shown_ns` is each sample's elapsed time, or, if the number of
    visits varies, scaled to the nominal number; `visits_least` is then the fewest.
    """

    cell: Cell
    status: str
    reason: str
    temperature: str
    samples: tuple[Sample, ...] = ()
    elapsed_ns: Estimate | None = None
    ratio: Estimate | None = None
    best: bool = False
    overhead_share: float | None = None
    client_cpu_share: float | None = None
    server_cpu_share: float | None = None
    read_bytes: float | None = None
    written_bytes: float | None = None
    work: tuple[tuple[str, float], ...] = ()
    """Medians of what the engine counted, by its names; empty if it counts nothing."""
    answers_right: int = 0
    answers_checked: int = 0
    outliers: tuple[int, ...] = ()
    samples_effective: float | None = None
    condition: Condition | None = None
    shown_ns: tuple[float, ...] = ()
    visits_least: int | None = None
    few_visits: bool = False
    """Whether some sample visited so little that its normalised time is meaningless."""
    disturbance: Disturbance | None = None
    role: Role = Role.COMPETITOR
    unequal: tuple[Unequal, ...] = ()
    """Its terms that differ from its row's; only with a figure, or a lower bound."""
    longer_than_ns: int | None = None
    """Of a censored cell, whose statement was ended: its time is longer than this."""
    ratio_least: float | None = None
    """Of such a cell: its ratio to the row's best is larger than this."""
    label: str = ""
    """As `record.model.CellResult` has it."""

    @property
    def kind(self) -> str:
        """Of its label; empty without one."""
        return kind_of_label(self.label)

    @property
    def unproved(self) -> bool:
        """Whether it was planned as cold, and is not proved: shown wherever its time is."""
        return self.temperature == "unproved" and self.elapsed_ns is not None

    @property
    def has_few_samples(self) -> bool:
        """Whether order statistics give no 95 % interval of their median."""
        return len(self.samples) < INTERVAL_PAIRS_MIN

    @property
    def samples_worth(self) -> int | None:
        """The number of independent samples that these are worth, if fewer than there are."""
        worth = round(self.samples_effective or len(self.samples))
        return worth if worth < len(self.samples) else None

    @property
    def tied(self) -> bool:
        """Whether its ratio to the row's best may be 1."""
        ratio = self.ratio
        return not self.best and ratio is not None and ratio.low is not None and ratio.low <= 1

    @property
    def standing(self) -> str:
        """Its printed ratio to the row's best, or its lower bound, or the sign for none."""
        return standing(self.ratio, best=self.best, least=self.ratio_least)

    @property
    def near_overhead(self) -> bool:
        """Whether the harness overhead is a notable share of the figure."""
        return self.overhead_share is not None and self.overhead_share > OVERHEAD_SHARE_MARKED


def cell_summary(
    cell: Cell,
    result: CellResult | None,
    varying: Varying = FIXED,
    speeds: Speeds | None = None,
) -> CellSummary:
    """One cell by itself, without its row. `varying`: the numbers to which times are scaled where
    they vary; `speeds`: those of the whole run, if known."""
    if result is None:
        return CellSummary(cell, "pending", "not run yet", cell.temperature)
    right = sum(answer.right for answer in result.answers)
    if result.status not in MEASURED or not result.samples:
        return CellSummary(
            cell,
            result.status,
            result.reason,
            result.temperature_shown,
            answers_right=right,
            answers_checked=len(result.answers),
            condition=result.condition,
            longer_than_ns=result.longer_than_ns if result.status == "censored" else None,
        )
    elapsed = [sample.elapsed_ns for sample in result.samples]
    visits = varying.nominal.get(cell.operation)
    seen = [answer.rows for answer in result.answers] if visits else []
    shown = normalised_ns(result, visits) if visits else [float(one) for one in elapsed]
    median_ns = Estimate(*interval_of_median(shown))
    if result.disturbance is not None:
        median_ns = disturbed_interval(median_ns, shown, result.disturbance)
    return CellSummary(
        cell=cell,
        status=result.status,
        reason=result.reason,
        temperature=result.temperature_shown,
        samples=result.samples,
        elapsed_ns=speeds.interval(median_ns, result.condition) if speeds else median_ns,
        client_cpu_share=share_of_elapsed(result.samples, lambda s: s.client_cpu_ns),
        server_cpu_share=share_of_elapsed(result.samples, lambda s: s.server_cpu_ns),
        read_bytes=_median([sample.read_bytes for sample in result.samples]),
        written_bytes=_median([sample.written_bytes for sample in result.samples]),
        work=_work(result.samples),
        answers_right=right,
        answers_checked=len(result.answers),
        outliers=tuple(outliers(shown)),
        samples_effective=effective_samples(shown),
        condition=result.condition,
        shown_ns=tuple(shown),
        visits_least=min(seen, default=None),
        few_visits=min(seen, default=varying.least) < varying.least,
        disturbance=result.disturbance,
        label=result.label,
    )


def normalised_ns(result: CellResult, visits: int) -> list[float]:
    """Each sample's time, times the nominal number of visits over its own, which its answer gives.
    A sample without an answer (the harness overhead) has the nominal number."""
    own = {answer.variation: max(answer.rows, 1) for answer in result.answers}
    return [
        sample.elapsed_ns * visits / own.get(sample.variation, visits) for sample in result.samples
    ]


def share_of_elapsed(
    samples: Iterable[Sample], part_ns: Callable[[Sample], int | None]
) -> float | None:
    """The sum of a part of the elapsed times over their sum, of the samples that report the
    part."""
    known = [(part, s.elapsed_ns) for s in samples if (part := part_ns(s)) is not None]
    elapsed_ns = sum(whole for _, whole in known)
    return sum(part for part, _ in known) / elapsed_ns if elapsed_ns else None


def _work(samples: Sequence[Sample]) -> tuple[tuple[str, float], ...]:
    counted = ((name, _median([getattr(sample, name) for sample in samples])) for name in WORK)
    return tuple((name, value) for name, value in counted if value is not None)


def _median(values: Sequence[int | None]) -> float | None:
    known = [value for value in values if value is not None]
    return float(median(known)) if known else None
