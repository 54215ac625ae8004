"""A paper's changes to its own system beside the switches that make them today: how many times as
fast each operation became, then and now.

Then: the unchanged system's printed time over the changed one's. Now: of a study, the time at base
over that with the switch alone at its other value. A switch that acts only with the others (vector
instructions, under vectorised execution) has that ratio instead, and says so. Different machines,
data in different places and other bases stand beside each other here: what may be compared is which
change wins where, not one number with another.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from loadstone.plan.presentation import Enhancement
from loadstone.plan.study import Switch
from loadstone.record.model import Run
from loadstone.statistics.estimate import Estimate
from loadstone.studies.view import StudiedOperation, StudyMap, SwitchEffect

LEAST = 0.03
"""A smaller gain wins nothing: 3 %."""


@dataclass(frozen=True, slots=True)
class Then:
    """A published gain: so many times as fast by a table, whose times are elapsed or of `cpu`."""

    table: str
    gain: float
    quantity: str = "elapsed"


@dataclass(frozen=True, slots=True)
class Now:
    """Today's gain by one switch. `last`: measured with all other switches flipped. `called`:
    whether the study calls it an effect; if not, it is none that was found."""

    switch: Switch
    gain: Estimate
    last: bool
    called: bool


@dataclass(frozen=True, slots=True)
class EnhancedRow:
    """One operation of the paper at one scale."""

    label: str
    operation: str | None
    scale: int
    then: tuple[Then, ...]
    now: tuple[Now, ...]

    @property
    def best_now(self) -> Now | None:
        """The largest of today's gains that are called effects."""
        called = [one for one in self.now if one.called]
        return max(called, key=lambda one: one.gain.value, default=None)


@dataclass(frozen=True, slots=True)
class Enhanced:
    """One change: its rows, and the switches of this study that make it (none:
    `enhancement.command` measures it)."""

    enhancement: Enhancement
    rows: tuple[EnhancedRow, ...]
    switches: tuple[Switch, ...]


@dataclass(frozen=True, slots=True)
class Winner:
    """The change with the largest gain on one operation, then and now; empty where none gains."""

    label: str
    scale: int
    then: str
    then_gain: float | None
    now: str
    now_gain: Estimate | None

    @property
    def turned(self) -> bool:
        """Whether another one wins today."""
        return bool(self.then and self.now) and self.then != self.now

    @property
    def then_share(self) -> float | None:
        """The gain of the paper's change, as the share by which it is faster; None without one."""
        return None if self.then_gain is None else self.then_gain - 1


def scales(changes: Iterable[Enhanced]) -> list[int]:
    """The scales of all rows, the largest first."""
    return sorted({row.scale for one in changes for row in one.rows}, reverse=True)


def enhanced(run: Run, found: StudyMap) -> tuple[Enhanced, ...]:
    """Every change that the record's benchmark declares; empty where it declares none."""
    operations = {(one.name, one.rows): one for one in found.operations}
    return tuple(
        _enhanced(run, reported, found, operations) for reported in run.presentation.enhancements
    )


def winners(changes: tuple[Enhanced, ...]) -> tuple[Winner, ...]:
    """Of each row that a change of the paper has a time for, by elapsed times."""
    rows: dict[tuple[str, int], list[tuple[str, EnhancedRow]]] = {}
    for one in changes:
        for row in one.rows:
            rows.setdefault((row.label, row.scale), []).append((one.enhancement.name, row))
    return tuple(_winner(label, scale, own) for (label, scale), own in rows.items())


def _winner(label: str, scale: int, own: list[tuple[str, EnhancedRow]]) -> Winner:
    then = [(row.then[0].gain, name) for name, row in own if row.then]
    now = [(row.best_now.gain, name) for name, row in own if row.best_now]
    then = [one for one in then if one[0] > 1 + LEAST]
    now = [one for one in now if one[0].value > 1 + LEAST]
    gain, name = max(then, default=(None, ""))
    best, now_name = max(now, key=lambda one: one[0].value, default=(None, ""))
    return Winner(label, scale, name, gain, now_name, best)


def _enhanced(
    run: Run,
    reported: Enhancement,
    found: StudyMap,
    operations: Mapping[tuple[str, int], StudiedOperation],
) -> Enhanced:
    named = {switch.name: switch for switch in found.study.switches}
    switches = tuple(named[name] for name in reported.switches if name in named)
    rows: dict[tuple[str, int], EnhancedRow] = {}
    for one, label, operation, scale in _published(run.published, reported, found):
        if _named(operation, scale) not in operations:
            continue  # of the paper's others this study could say nothing
        then = (*rows[label, scale].then, one) if (label, scale) in rows else (one,)
        studied = _studied(operations, operation, scale)
        now = tuple(_now(studied, switches)) if studied else ()
        rows[label, scale] = EnhancedRow(label, operation, scale, then, now)
    if not rows:
        rows = dict(_without_table(run, switches, operations))
    return Enhanced(reported, tuple(rows.values()), switches)


def _studied(
    operations: Mapping[tuple[str, int], StudiedOperation], operation: str | None, scale: int
) -> StudiedOperation | None:
    """A study's figures for a row: a study is warm, so for a row that is warm, or names no
    temperature."""
    _, _, temperature = (operation or "").partition("@")
    return operations.get(_named(operation, scale)) if temperature in ("", "warm") else None


def _named(operation: str | None, scale: int) -> tuple[str, int]:
    """The operation of a published row, whatever its temperature, and its scale."""
    return (operation or "").partition("@")[0], scale


def _published(
    published: Mapping[str, Any], reported: Enhancement, found: StudyMap
) -> Iterator[tuple[Then, str, str | None, int]]:
    """(gain, label, operation, scale) of each row that has both times; a table whose relations have
    one size stands at the study's least scale."""
    least = min((one.rows for one in found.operations), default=0)
    for table in published.get("tables", ()):
        if table["number"] not in reported.tables:
            continue
        for label, operation, values in table["rows"]:
            after, before = values.get(reported.name), values.get(reported.before)
            if isinstance(after, int | float) and isinstance(before, int | float) and after > 0:
                scale = least if table.get("fixed") else int(table["scale"])
                quantity = table.get("quantity", "elapsed")
                yield Then(table["number"], before / after, quantity), label, operation, scale


def _without_table(
    run: Run,
    switches: tuple[Switch, ...],
    operations: Mapping[tuple[str, int], StudiedOperation],
) -> Iterator[tuple[tuple[str, int], EnhancedRow]]:
    """The rows of all tables, for a change that the paper measured by none."""
    for table in run.published.get("tables", ()):
        for label, operation, _ in table["rows"]:
            scale = int(table["scale"])
            studied = _studied(operations, operation, scale)
            now = tuple(_now(studied, switches)) if studied else ()
            if now:
                yield (label, scale), EnhancedRow(label, operation, scale, (), now)


def _now(studied: StudiedOperation, switches: tuple[Switch, ...]) -> Iterator[Now]:
    effects = {each.switch.key: each for each in studied.switches}
    for switch in switches:
        each = effects.get(switch.key)
        found = _gain(each) if each and not each.failure else None
        if found is not None:
            yield Now(switch, *found)


def _gain(each: SwitchEffect) -> tuple[Estimate, bool, bool] | None:
    if each.alone is not None and each.acts_alone:
        return _inverse(each.alone), False, True
    if each.last is not None and each.acts_last:
        return _inverse(each.last), True, True
    return (_inverse(each.alone), False, False) if each.alone is not None else None


def _inverse(ratio: Estimate) -> Estimate:
    """Of times, as a gain: bounds change places."""
    return Estimate(
        1 / ratio.value,
        None if ratio.high is None else 1 / ratio.high,
        None if ratio.low is None else 1 / ratio.low,
    )
