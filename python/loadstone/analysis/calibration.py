"""A run's measurements of its own instrument, in numbers: from its sessions' calibration and from
its cells. Rule 6 of the method. `calibration_table` words them."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from statistics import median
from typing import ClassVar

from loadstone.analysis.noise import AACell, Noise, aa_cells, noise_of
from loadstone.analysis.summary import Summary
from loadstone.plan.variant import is_aa_control
from loadstone.record.model import Condition, Session
from loadstone.statistics.validity import (
    AA_RATIO_MAX,
    CLOCK_SHARE_MAX,
    FOREIGN_SHARE_MAX,
    OVERHEAD_SHARE_MAX,
    SPEED_DRIFT_MAX,
    STOLEN_SHARE_MAX,
)

SEEN_SHARE = 0.5
"""An open loop whose p99 is below this share of a pause did not see it."""
WAKE_UP_RATIO_MIN = 1.5
"""From this ratio on round trips differ by idle states beyond their noise."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The median, minimum and maximum of a figure over cells."""

    median: float
    least: float
    most: float
    cells: int

    @property
    def worst(self) -> float:
        """The one further from zero, with its sign."""
        return max(self.least, self.most, key=abs)

    @property
    def ratio(self) -> float:
        """The maximum over the minimum."""
        return self.most / self.least


@dataclass(frozen=True, slots=True)
class Limited:
    """A figure over all cells, None where it was not measured, and the limit beyond which a cell is
    disturbed or invalid."""

    spread: Spread | None
    limit: float

    @property
    def is_beyond(self) -> bool:
        """Whether some cell is."""
        return self.spread is not None and abs(self.spread.worst) > self.limit


@dataclass(frozen=True, slots=True)
class Measured:
    """One session's measurements of the instrument before its first cell: figures by key."""

    session_id: int
    started_at: str
    figures: Mapping[str, float | None]

    def figure(self, key: str) -> float | None:
        """A figure, None where it was not measured."""
        return self.figures.get(key)

    @property
    def pause_seen(self) -> bool | None:
        """Whether the open loop's tail shows the stalling engine's pause; None if not measured."""
        pause_ns = self.figure("stalling.pause_ns")
        p99_ns = self.figure("stalling.open_latency_ns_p99")
        return None if pause_ns is None or p99_ns is None else p99_ns >= SEEN_SHARE * pause_ns

    @property
    def wake_up_ratio(self) -> float | None:
        """The ratio of a round trip with idle states to one without; None if not
        measured."""
        idle_ns = self.figure("wake_up.round_trip_idle_ns")
        held_ns = self.figure("wake_up.round_trip_held_ns")
        return idle_ns / held_ns if idle_ns and held_ns else None

    @property
    def wake_up_matters(self) -> bool:
        """Whether round trips differ by idle states beyond their noise."""
        return self.wake_up_ratio is not None and self.wake_up_ratio > WAKE_UP_RATIO_MIN

    @property
    def observed_share(self) -> float | None:
        """The cost of reading the counters around a statement that does nothing, as a share of it;
        None if not measured."""
        bare_ns = self.figure("overhead.statement_ns")
        observed_ns = self.figure("overhead.statement_observed_ns")
        if bare_ns is None or observed_ns is None:
            return None
        return observed_ns / max(bare_ns, 1.0) - 1


@dataclass(frozen=True, slots=True)
class Calibration:
    """The instrument of a run. `sessions` are those that calibrated, the latest first; the rest is
    over all cells with samples. Shares are of all processors' time, `headroom` is the client's
    share of a cell's elapsed time that was left, of each variant with a server."""

    sessions: tuple[Measured, ...]
    overhead_ns: Spread | None
    aa_cells: tuple[AACell, ...]
    noise: Noise | None
    has_aa_control: bool
    """Whether an A/A control has samples, in order or not."""
    headroom: Mapping[str, Spread]
    stolen_share: Spread | None
    foreign_share: Spread | None
    speed_drift: Spread | None
    speed_probe_ns: Spread | None

    clock_share_max: ClassVar[float] = CLOCK_SHARE_MAX
    """Of a cell: the clock's step and one reading."""
    overhead_share_max: ClassVar[float] = OVERHEAD_SHARE_MAX
    aa_share_max: ClassVar[float] = AA_RATIO_MAX - 1

    @property
    def stolen(self) -> Limited:
        """The processors' time that the hypervisor took."""
        return Limited(self.stolen_share, STOLEN_SHARE_MAX)

    @property
    def foreign(self) -> Limited:
        """The processors' time that other programs took."""
        return Limited(self.foreign_share, FOREIGN_SHARE_MAX)

    @property
    def drift(self) -> Limited:
        """The slowdown of the machine since the start."""
        return Limited(self.speed_drift, SPEED_DRIFT_MAX)

    @property
    def is_noisy(self) -> bool:
        """Whether some A/A difference is beyond its limit."""
        return self.noise is not None and self.noise.worst > self.aa_share_max


def calibration(whole: Summary) -> Calibration:
    """Gather it."""
    run = whole.run
    rows = [row for view in whole.views for row in view.all_rows]
    overheads = [figure for row in rows for figure in row.overheads.values()]
    conditions = [f.condition for f in whole.figures.values() if f.condition and f.samples]

    def over_cells(share: Callable[[Condition], float | None]) -> Spread | None:
        return _spread([share(condition) for condition in conditions])

    return Calibration(
        sessions=tuple(_measured(s) for s in reversed(run.sessions) if s.calibration),
        overhead_ns=_spread([f.elapsed_ns.value if f.elapsed_ns else None for f in overheads]),
        aa_cells=aa_cells(run),
        noise=noise_of(run),
        has_aa_control=any(is_aa_control(r.cell.variant) and r.samples for r in run.results),
        headroom=_headroom(whole),
        stolen_share=over_cells(lambda condition: condition.stolen_share),
        foreign_share=over_cells(lambda condition: condition.foreign_share),
        speed_drift=over_cells(lambda condition: condition.speed_drift),
        speed_probe_ns=over_cells(lambda condition: condition.speed_probe_ns),
    )


def _measured(session: Session) -> Measured:
    return Measured(session.session_id, session.started_at, session.calibration)


def _spread(values: list[float | None]) -> Spread | None:
    known = [value for value in values if value is not None]
    return Spread(median(known), min(known), max(known), len(known)) if known else None


def _headroom(whole: Summary) -> Mapping[str, Spread]:
    """An embedded engine works in the client's own process: only a server's client has any."""
    found = {}
    for variant in whole.competitors:
        own = [figure for figure in whole.figures.values() if figure.cell.variant == variant]
        left = _spread(
            [
                max(0.0, 1 - figure.client_cpu_share)
                for figure in own
                if figure.client_cpu_share is not None and figure.server_cpu_share is not None
            ]
        )
        if left:
            found[variant] = left
    return found
