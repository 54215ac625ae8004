"""Today's figures for a row of a paper's table: one operation, a sum, a size, a load."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from loadstone._core import interval_of_median
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.standing import comparable, standing
from loadstone.analysis.summary import Summary, View
from loadstone.analysis.unequal import Unequal
from loadstone.analysis.user_points import throughput_per_s
from loadstone.plan.role import Role
from loadstone.plan.variant import is_users_server
from loadstone.record.model import BELIEVED, MEASURED, Sample
from loadstone.statistics.arithmetic import over, total
from loadstone.statistics.disturbance import COUNTED_NS_MIN
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits, duration

AT_MOST = "\N{LESS-THAN OR EQUAL TO} "
SIZE = "size"
LOAD = "load"
PARTS = re.compile(r"[+/]")
USERS = re.compile(r"@(\d+) users?$")
BESIDE_OTHERS = (
    "most cells of this run are disturbed or invalid, and a load has no condition of its own"
)
SERVER_UNKNOWN = "the server's is not counted"
CPU_UNKNOWN = "not counted"
WORST = ("failed", "pending", "gap", "censored", "spared", "invalid", "disturbed", "ok")
"""The first of these statuses among a sum's parts is the status of the sum."""


@dataclass(frozen=True, slots=True)
class Today:
    """One variant's figure: a time, a size or a quotient of times; none of them if there is none to
    show.

    `cpu_ns` is a processor time, `at_most` marks it as an upper bound, and `unknown` says why there
    is none. `ratio` is to the row's best. `few_visits`: some sample of a normalised time is
    meaningless.
    """

    status: str
    reason: str = ""
    temperature: str = ""
    elapsed_ns: Estimate | None = None
    cpu_ns: Estimate | None = None
    at_most: bool = False
    unknown: str = ""
    size_bytes: float | None = None
    quotient: Estimate | None = None
    ratio: Estimate | None = None
    best: bool = False
    few_visits: bool = False
    kind: str = ""
    """Of its label, if it has one."""
    unequal: tuple[Unequal, ...] = ()
    longer_than_ns: int | None = None
    """The lower bound of a time: its statement was ended, or one of those of a sum."""
    ratio_least: float | None = None

    @property
    def standing(self) -> str:
        """Its ratio to the row's best as it is printed, or the sign for why there is none."""
        exact = self.size_bytes is not None
        return standing(self.ratio, best=self.best, exact=exact, least=self.ratio_least)

    @property
    def time_ns(self) -> Estimate | None:
        """Its time, elapsed or of processors."""
        return self.elapsed_ns or self.cpu_ns

    @property
    def known(self) -> bool:
        """Whether there is a figure to show."""
        return bool(self.time_ns or self.quotient or self.size_bytes)

    @property
    def quantity(self) -> float | None:
        """The compared value: ns or bytes; None for what is compared with nothing."""
        if self.at_most:
            return None
        return self.time_ns.value if self.time_ns else self.size_bytes

    @property
    def interval(self) -> str:
        """The bounds of a disturbed time, each in its unit, or of a quotient of such; the word if
        they are unknown; empty for every other."""
        figure = self.time_ns or self.quotient
        if self.status != "disturbed" or figure is None:
            return ""
        if figure.low is None or figure.high is None:
            return self.status
        written = duration if self.time_ns else digits
        return f"{written(figure.low)} … {written(figure.high)}"

    @property
    def text(self) -> str:
        """The printed figure, or the lower bound of one that was ended; empty without either."""
        if self.longer_than_ns is not None:
            return f"> {duration(self.longer_than_ns)}"
        if self.time_ns:
            return f"{AT_MOST if self.at_most else ''}{duration(self.time_ns.value)}"
        if self.quotient:
            return digits(self.quotient.value)
        return self.unknown if self.size_bytes is None else f"{digits(self.size_bytes / 1e6)} MB"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a table's figures of today: a run at one scale.

    `view` is the one for rows that name no temperature, `variants` are those of the table's design.
    `apart`: the table has a database of its own. `requests`: of each of a row's concurrent users.
    `quantity`: as that of `benchmarks.base.PublishedTable`.
    """

    summary: Summary
    view: View
    variants: tuple[str, ...]
    apart: bool = False
    requests: int = 0
    quantity: str = "elapsed"

    def row(self, operation: str | None) -> Mapping[str, Today]:
        """Variant -> figure, of `a`, `a@cold`, `a+b+c@warm`, `a/b`, `a@8 users`, `size` or
        `load`."""
        if operation is None:
            return {}
        if operation in (SIZE, LOAD):
            whole = (_sizes if operation == SIZE else _loads)(self.summary, self.view.rows)
            own = {variant: whole[variant] for variant in self.variants if variant in whole}
            # Those that a record shows are of the database that a run loads first.
            return {} if self.apart else _ranked(own, self.summary.competitors)
        names, _, temperature = operation.partition("@")
        if (users := users_of(operation)) is not None:
            return _ranked(self._loops(names, users), self.summary.competitors)
        view = self.summary.view(self.view.rows, temperature or self.view.temperature)
        if view is None:
            return {}
        figures = {row.operation.name: row.figures for row in view.all_rows}
        parts = [figures.get(name) or {} for name in operations_of(operation)]
        known = {
            variant: [part[variant] for part in parts]
            for variant in self.variants
            if all(variant in part for part in parts)
        }
        if "/" in names:
            return {variant: _quotient(*own) for variant, own in known.items()}
        if self.quantity == "cpu":
            found = {variant: processor_time(own) for variant, own in known.items()}
            return _ranked(found, self.summary.competitors)
        found = {variant: _sum(own) for variant, own in known.items()}
        if len(parts) == 1 and self.variants == self.summary.columns:
            return found
        # The summary's ratio is to the best of all variants, which this table may not have.
        plain = {v: replace(one, ratio=None, best=False) for v, one in found.items()}
        return _ranked(plain, self.summary.competitors)

    def cells(self, operation: str) -> Mapping[str, CellSummary]:
        """Variant -> its figure of a row of one operation; empty for a row of another kind."""
        name, _, temperature = operation.partition("@")
        view = self.summary.view(self.view.rows, temperature or self.view.temperature)
        if view is None:
            return {}
        row = next((row for row in view.all_rows if row.operation.name == name), None)
        return row.figures if row else {}

    def _loops(self, operation: str, users: int) -> dict[str, Today]:
        """The time until that many concurrent users have all their answers, of each variant's
        closed loop."""
        found = {}
        for point in self.summary.run.users:
            place = point.operation, point.rows, point.model, point.users, point.beside
            if place == (operation, self.view.rows, "closed", users, ""):
                rate = throughput_per_s(point)
                elapsed = Estimate(users * self.requests / rate * 1e9) if rate else None
                reported = elapsed if point.status in MEASURED else None
                found[point.variant] = Today(point.status, point.reason, elapsed_ns=reported)
        return {variant: found[variant] for variant in self.variants if variant in found}

    def why(self, operation: str | None) -> str:
        """Why a row has no figure of today."""
        if operation in (SIZE, LOAD) and self.apart:
            return "no counterpart: known only for the database that a run loads first"
        users = users_of(operation or "")
        if users is not None:
            return f"no closed loop of {users}: add --users {users}"
        return "no such measure here" if operation is None else "not in this run"


def operations_of(row: str) -> list[str]:
    """The operations that a row is of."""
    return PARTS.split(row.partition("@")[0])


def users_of(operation: str) -> int | None:
    """The users that a row names, as `script@8 users`; None where it names none."""
    named = USERS.search(operation)
    return int(named[1]) if named else None


def _sum(figures: Sequence[CellSummary]) -> Today:
    """Medians added up, and so their bounds: see `arithmetic`. A sum with a part that has no time
    has none; one part alone keeps its own ratio, which is of pairs."""
    worst = min(figures, key=lambda figure: WORST.index(figure.status))
    reported = Today(
        worst.status,
        worst.reason,
        "unproved" if any(f.temperature == "unproved" for f in figures) else worst.temperature,
        few_visits=any(figure.few_visits for figure in figures),
        unequal=tuple(dict.fromkeys(term for figure in figures for term in figure.unequal)),
    )
    if worst.status == "censored":
        least = sum(figure.longer_than_ns or _least_ns(figure) for figure in figures)
        alone = worst.ratio_least if len(figures) == 1 else None
        return replace(reported, longer_than_ns=least, ratio_least=alone)
    elapsed = [figure.elapsed_ns for figure in figures if figure.elapsed_ns]
    whole = BELIEVED if len(figures) > 1 else MEASURED
    if len(elapsed) < len(figures) or worst.status not in whole:
        return reported
    if len(figures) == 1:
        return replace(reported, elapsed_ns=elapsed[0], ratio=worst.ratio, best=worst.best)
    return replace(reported, elapsed_ns=total(elapsed))


def _least_ns(figure: CellSummary) -> int:
    return int(figure.elapsed_ns.low or 0) if figure.elapsed_ns else 0


def _quotient(above: CellSummary, below: CellSummary) -> Today:
    """One operation's time over another's; of figures that are in order or disturbed."""
    parts = _sum([above, below])
    parts = replace(parts, longer_than_ns=None)  # of a quotient it bounds nothing
    if parts.elapsed_ns is None or above.elapsed_ns is None or below.elapsed_ns is None:
        return parts
    return replace(parts, elapsed_ns=None, quotient=over(above.elapsed_ns, below.elapsed_ns))


def processor_time(figures: Sequence[CellSummary]) -> Today:
    """The processor time of client and server, added up; an upper bound where it is so short that
    reading the counters may be more than a tenth of it."""
    worst = min(figures, key=lambda figure: WORST.index(figure.status))
    reported = Today(
        worst.status,
        worst.reason,
        "unproved" if any(f.temperature == "unproved" for f in figures) else worst.temperature,
        unequal=tuple(dict.fromkeys(term for figure in figures for term in figure.unequal)),
    )
    if worst.status not in MEASURED or any(figure.elapsed_ns is None for figure in figures):
        return reported
    if any(is_users_server(figure.cell.variant) for figure in figures):
        return replace(reported, unknown=SERVER_UNKNOWN)
    each = [[cpu_ns(sample) for sample in figure.samples] for figure in figures]
    if any(value is None for own in each for value in own):
        return replace(reported, unknown=CPU_UNKNOWN)
    known = [[value for value in own if value is not None] for own in each]
    cpu = total([Estimate(*interval_of_median([float(one) for one in own])) for own in known])
    return replace(reported, cpu_ns=cpu, at_most=cpu.value < COUNTED_NS_MIN * len(figures))


def cpu_ns(sample: Sample) -> int | None:
    """The processor time of client and server. An embedded engine works in the client."""
    if sample.client_cpu_ns is None:
        return None
    return sample.client_cpu_ns + (sample.server_cpu_ns or 0)


def _sizes(summary: Summary, rows: int) -> dict[str, Today]:
    return {
        variant: Today("ok", size_bytes=float(size_bytes))
        for variant, at, size_bytes in summary.run.sizes
        if at == rows and variant in summary.columns
    }


def _loads(summary: Summary, rows: int) -> dict[str, Today]:
    """All relations of a scale together; for one that was loaded again, the last time."""
    found: dict[str, dict[tuple[str, str], int]] = {}
    for load in summary.run.loads:
        asked = load.rows == rows and load.variant in summary.columns
        if asked and load.answer_ok and load.design not in summary.words.apart:
            found.setdefault(load.variant, {})[load.relation, load.design] = load.elapsed_ns
    status, reason = ("disturbed", BESIDE_OTHERS) if _mostly_disturbed(summary) else ("ok", "")
    return {
        variant: Today(status, reason, elapsed_ns=Estimate(float(sum(relations.values()))))
        for variant, relations in found.items()
    }


def _mostly_disturbed(summary: Summary) -> bool:
    """Whether most cells of a run that have a figure are disturbed or invalid. No condition is
    recorded of a load: it is trusted as far as the cells are."""
    rated = (Role.COMPETITOR, Role.LIMIT)
    figures = [figure for figure in summary.figures.values() if figure.role in rated]
    measured = [figure.status for figure in figures if figure.elapsed_ns]
    return sum(status != "ok" for status in measured) * 2 > len(measured)


def _ranked(found: Mapping[str, Today], competitors: Collection[str]) -> Mapping[str, Today]:
    """With ratios to the best, of the competitors that may be compared."""
    fair = comparable(
        one for variant, one in found.items() if variant in competitors and one.quantity
    )
    best = min(fair, key=lambda one: one.quantity or math.inf, default=None)
    if best is None:
        return found
    return {
        variant: replace(one, ratio=_ratio(one, best), best=one is best)
        if variant in competitors and one in fair
        else one
        for variant, one in found.items()
    }


def _ratio(one: Today, best: Today) -> Estimate:
    if one is best:
        return Estimate(1.0)
    if one.time_ns and best.time_ns:
        return over(one.time_ns, best.time_ns)
    return Estimate((one.quantity or 0.0) / max(best.quantity or 0.0, 1.0))
