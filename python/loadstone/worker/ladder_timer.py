"""Timing the rungs of the ladder of statements: each asks the engine for a little more.

    for each rung: each variation once, in later blocks one, uncounted unless it is long; then, for
    each variation:
    counters -> CLOCK rung CLOCK -> counters -> take back what it did

The rung that is the statement itself is a sample like any other (`statement_timer.py`), and as
there it follows upon itself: a durable commit right after another one takes less than one after a
pause, and a statement less where the one before left the catalog as it was.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from statistics import median
from typing import Any

from loadstone._core import clock_ns
from loadstone.engines.abilities import (
    BareRequests,
    CountsWork,
    KeepsPlans,
    OwnTimes,
    Plans,
    RemovesDead,
    RollsBack,
)
from loadstone.engines.base import Engine
from loadstone.errors import EngineError, UnsupportedError
from loadstone.machine.counters import Meter
from loadstone.plan import statement_ladder as ladder
from loadstone.plan.statement_ladder import WARMED_NS_MAX
from loadstone.protocol.parts import Block, RungTimes, Variation
from loadstone.quel import counting
from loadstone.quel.statement import Statement
from loadstone.record.budget import BudgetRung, BudgetTimer
from loadstone.text.numbers import plural

OUTSIDE = "outside its phases"
"""The time of a sample that is in no phase of the engine's: the call, and the client's rows."""
OWN_TIMES_MOST = 5
OWN_TIMES_NS = 100_000_000
"""After so much of a cell's time its engine's own timers are asked no more."""

GAPS: Mapping[str, str] = {
    ladder.EMPTY: "has no empty request",
    ladder.CONSTANT: "has no constant to request",
    ladder.PLANNED: "cannot plan a statement alone",
    ladder.UNCOMMITTED: "commits each statement by itself",
}
"""Why an engine without the ability lacks a rung."""

Translate = Callable[[Block, str], Statement]
Whole = Callable[[Block, Variation, dict[str, int] | None], int]


class LadderTimer:
    """Climbs the ladders of statements on an engine."""

    def __init__(
        self, engine: Engine, mark: Callable[[str], None], translate: Translate, whole: Whole
    ) -> None:
        """`whole` takes a sample of the statement itself, gives its time, and puts the engine's
        phases of it where it is reported."""
        self._engine = engine
        self._mark = mark
        self._translate = translate
        self._whole = whole

    def climb(self, block: Block, rungs: Sequence[str]) -> tuple[RungTimes, ...]:
        """One sample of each variation on each rung. A rung that the engine lacks has the reason.
        Raises `EngineError` for a wrong count."""
        times: dict[str, list[int]] = {rung: [] for rung in rungs}
        reasons: dict[str, str] = {}
        for rung in rungs:
            # The first of its kind finds cold caches, and prepares what stays prepared: in the
            # first block each text does. Those of the statement itself ran often, as the samples
            # beside.
            prepared = rung == ladder.WHOLE or block.round > 0
            warming = block.variations[: 1 if prepared else None]
            for number, variation in enumerate((*warming, *block.variations)):
                if len(times[rung]) == len(block.variations):
                    break
                try:
                    elapsed_ns = self._timed(block, rung, variation)
                except UnsupportedError as error:
                    reasons[rung] = error.message
                    break
                if number >= len(warming) or elapsed_ns > WARMED_NS_MAX:
                    times[rung].append(elapsed_ns)
        return tuple(RungTimes(rung, tuple(times[rung]), reasons.get(rung, "")) for rung in rungs)

    def texts(self, block: Block, rungs: Sequence[str]) -> tuple[BudgetRung, ...]:
        """The statement of each rung that has one of its own, with its plan."""
        if ladder.COUNTED not in rungs:
            return ()
        statement = self._translate(block, block.variations[0].text)
        try:
            text = counting.counting(statement.text, self._engine.dialect)
        except UnsupportedError:
            return ()
        return (BudgetRung(ladder.COUNTED, text, self._engine.explain(text)),)

    def own_times(self, block: Block) -> tuple[BudgetTimer, ...]:
        """The engine's own times of the first variation; empty for one that has none.
        Once at least, and no more often than in a part of a second."""
        engine = self._engine
        if isinstance(engine, CountsWork):
            return self._phases(block)
        if not (isinstance(engine, OwnTimes) and isinstance(engine, RollsBack)):
            return ()
        statement = self._translate(block, block.variations[0].text)
        reported: dict[str, list[int]] = {}
        begun_ns = clock_ns()
        self._mark("start")
        for _ in range(OWN_TIMES_MOST):
            try:
                with engine.taken_back():
                    found = engine.own_times(statement.text)
            except EngineError:
                # A cross-check that the engine refuses takes no rung's text and plan with it.
                found = {}
            for name, ns in found.items():
                reported.setdefault(name, []).append(ns)
            if not found or clock_ns() - begun_ns > OWN_TIMES_NS:
                break
        self._mark("end")
        return tuple(BudgetTimer(name, len(ns), round(median(ns))) for name, ns in reported.items())

    def _phases(self, block: Block) -> tuple[BudgetTimer, ...]:
        """The phases of the first variation's sample of median time, and what of that time is in
        none of them: together they are its time to the nanosecond."""
        found: list[tuple[int, dict[str, int]]] = []
        begun_ns = clock_ns()
        while len(found) < OWN_TIMES_MOST and (not found or clock_ns() - begun_ns < OWN_TIMES_NS):
            phases: dict[str, int] = {}
            found.append((self._whole(block, block.variations[0], phases), phases))
        found.sort(key=lambda sample: sample[0])
        elapsed_ns, phases = found[(len(found) - 1) // 2]
        phases[OUTSIDE] = elapsed_ns - sum(phases.values())
        return tuple(BudgetTimer(name, len(found), ns) for name, ns in phases.items() if ns)

    def _timed(self, block: Block, rung: str, variation: Variation) -> int:
        statement = self._translate(block, variation.text)
        engine = self._engine
        match rung:
            case ladder.EMPTY if isinstance(engine, BareRequests):
                return self._clocked(engine.ask_nothing)
            case ladder.CONSTANT if isinstance(engine, BareRequests):
                return self._clocked(engine.ask_constant)
            case ladder.PLANNED if isinstance(engine, Plans):
                query = counting.query_of(statement.text, engine.dialect)
                return self._clocked(lambda: engine.plan(statement.text, query))
            case ladder.COUNTED:
                return self._counted(block, statement, variation)
            case ladder.UNCOMMITTED if isinstance(engine, RollsBack):
                return self._uncommitted(statement, engine)
            case ladder.WHOLE:
                return self._whole(block, variation, None)
        raise UnsupportedError(f"{engine.name} {GAPS[rung]}")

    def _fetched(self, query: str) -> int:
        return int(self._engine.fetch(query)[0][0])

    def _uncommitted(self, statement: Statement, engine: RollsBack) -> int:
        changed: list[int] = []
        with engine.taken_back():
            elapsed_ns = self._clocked(lambda: changed.append(self._engine.run(statement.text)))
        if isinstance(self._engine, RemovesDead) and statement.target:
            self._engine.remove_dead(statement.target, max(*changed, 0))
        return elapsed_ns

    def _counted(self, block: Block, statement: Statement, variation: Variation) -> int:
        text = counting.counting(statement.text, self._engine.dialect)
        found: list[int] = []
        planned = block.destination not in ("client", "file")
        count: Callable[[str], int] = self._fetched
        if isinstance(self._engine, KeepsPlans):
            count = partial(self._engine.count, planned=planned)

        def ask() -> None:
            found.append(count(text))

        elapsed_ns = self._clocked(ask)
        if found != [variation.rows]:
            raise EngineError(
                f"{self._engine.name} counts {found[0]:,}, not {plural(variation.rows, 'row')}"
            )
        return elapsed_ns

    def _clocked(self, ask: Callable[[], Any]) -> int:
        meter = Meter(self._engine.processes())
        self._mark("start")
        start = clock_ns()
        ask()
        elapsed_ns = clock_ns() - start
        self._mark("end")
        meter.read()
        return max(elapsed_ns, 1)
