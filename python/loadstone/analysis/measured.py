"""Today's figures for a row of a paper's table: one operation, a sum, a size, a load."""

import math
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.standing import comparable, standing
from loadstone.analysis.summary import Summary, View
from loadstone.analysis.unequal import Unequal
from loadstone.analysis.user_points import throughput_per_s
from loadstone.plan.role import Role
from loadstone.record.model import BELIEVED, MEASURED
from loadstone.statistics.arithmetic import over, total
from loadstone.statistics.estimate import Estimate
from loadstone.text.numbers import digits, duration

SIZE = "size"
LOAD = "load"
USERS = re.compile(r"@(\d+) users?$")
BESIDE_OTHERS = (
    "most cells of this run are disturbed or invalid, and a load has no condition of its own"
)
WORST = ("failed", "pending", "gap", "invalid", "disturbed", "ok")
"""The first of these statuses among a sum's parts is the status of the sum."""


@dataclass(frozen=True, slots=True)
class Today:
    """One variant's figure: a time or a size; neither if there is none to show.

    `ratio` is to the row's best. `few_visits`: some sample of a normalised time is meaningless.
    """

    status: str
    reason: str = ""
    temperature: str = ""
    elapsed_ns: Estimate | None = None
    size_bytes: float | None = None
    ratio: Estimate | None = None
    best: bool = False
    few_visits: bool = False
    unequal: tuple[Unequal, ...] = ()

    @property
    def standing(self) -> str:
        """Its ratio to the row's best as it is printed, or the sign for why there is none."""
        return standing(self.ratio, best=self.best, exact=self.size_bytes is not None)

    @property
    def quantity(self) -> float | None:
        """The compared value: ns or bytes."""
        return self.elapsed_ns.value if self.elapsed_ns else self.size_bytes

    @property
    def interval(self) -> str:
        """The bounds of a disturbed time, in a unit of their own, or the word if they are unknown;
        empty for every other."""
        if self.status != "disturbed" or self.elapsed_ns is None:
            return ""
        low, high = self.elapsed_ns.low, self.elapsed_ns.high
        if low is None or high is None:
            return self.status
        return f"{duration(low)} … {duration(high)}"

    @property
    def text(self) -> str:
        """The printed figure; empty without one."""
        if self.elapsed_ns:
            return duration(self.elapsed_ns.value)
        return "" if self.size_bytes is None else f"{digits(self.size_bytes / 1e6)} MB"


@dataclass(frozen=True, slots=True)
class Source:
    """The source of a table's figures of today: a run at one scale.

    `view` is the one for rows that name no temperature, `variants` are those of the table's design.
    `apart`: the table has a database of its own. `requests`: of each of a row's concurrent users.
    """

    summary: Summary
    view: View
    variants: tuple[str, ...]
    apart: bool = False
    requests: int = 0

    def row(self, operation: str | None) -> Mapping[str, Today]:
        """Variant -> figure, of `a`, `a@cold`, `a+b+c@warm`, `a@8 users`, `size` or `load`."""
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
        parts = [figures.get(name) or {} for name in names.split("+")]
        found = {
            variant: _sum([part[variant] for part in parts])
            for variant in self.variants
            if all(variant in part for part in parts)
        }
        if len(parts) == 1 and self.variants == self.summary.columns:
            return found
        # The summary's ratio is to the best of all variants, which this table may not have.
        plain = {v: replace(one, ratio=None, best=False) for v, one in found.items()}
        return _ranked(plain, self.summary.competitors)

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
    elapsed = [figure.elapsed_ns for figure in figures if figure.elapsed_ns]
    whole = BELIEVED if len(figures) > 1 else MEASURED
    if len(elapsed) < len(figures) or worst.status not in whole:
        return reported
    if len(figures) == 1:
        return replace(reported, elapsed_ns=elapsed[0], ratio=worst.ratio, best=worst.best)
    return replace(reported, elapsed_ns=total(elapsed))


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
    if one.elapsed_ns and best.elapsed_ns:
        return over(one.elapsed_ns, best.elapsed_ns)
    return Estimate((one.quantity or 0.0) / max(best.quantity or 0.0, 1.0))
