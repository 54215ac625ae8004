"""Studies of an engine of which every effect is known: what `calibrate.py` counts of them.

A study of all combinations of four switches of `planted` has the two-ended design in it, so the
same blocks report what both designs find. Every second study goes from all switches on to all off:
its other end is the faster one.
"""

import json
import random
import subprocess
import sys
import tempfile
from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from math import log
from pathlib import Path
from statistics import median
from unittest.mock import patch

from loadstone._core import clock_ns
from loadstone.analysis.findings.distance import in_order
from loadstone.analysis.findings.finding import Finding, Grade
from loadstone.analysis.findings.learned import learned
from loadstone.analysis.summary import summarise
from loadstone.engines.calibration import planted as planted_engine
from loadstone.engines.calibration.planted import OTHERWISE, PlantedEngine, planted
from loadstone.plan.variant import Variant, is_aa_control
from loadstone.record import CellResult, read
from loadstone.record.model import BELIEVED
from loadstone.statistics.estimate import Estimate
from loadstone.studies import contrasts
from loadstone.studies.design import factorial, grouped, parts_of, two_ended
from loadstone.studies.effects import study_effects
from loadstone.studies.observations import Block
from loadstone.studies.steering import to_open
from loadstone.studies.view import blocks

LOADSTONE = str(Path(sys.executable).parent / "loadstone")
SWITCHES, INTERACTING, IDLE = ("b", "c", "d", "e"), ("c", "d"), "e"
"""One that adds, two that multiply and interact, one that does nothing."""
CANCELLING = ("a", "f")
TIME_US = 300
"""So short that on a busy machine most statements end before another program gets their
processor: what is planted is a time, and not what a crowded machine makes of it."""
SECONDS = 30
"""Of an operation at most; most are known sooner."""
LATE_ROUNDS, LATE_STATEMENTS = 100, 8
"""As many statements in succession as a block has, so that the loop is as warm."""


INSIDE = "effects, alone and last, within their intervals"
SHARES = "shares by both ends within their intervals"
NULL = "a switch that does nothing called an effect"
FOUND = "an interaction of 10 % claimed"
INVENTED = "an interaction claimed that is none, or of one scale"
CALM = "operations on a machine calm enough for a finding"
GRADED = "a finding of the strongest switch, of these"
UNTRUE = "a finding called explained that is not"
OPENED = "a group opened in which two effects cancel"
APART = "such an effect called one, by itself"
WANTED = {INSIDE: "at least 93 %", SHARES: "at least 93 %", NULL: "at most 5 %",
          FOUND: "at least 90 %", INVENTED: "at most 5 %", CALM: "stated, whatever it is",
          GRADED: "at least 90 %", UNTRUE: "none", OPENED: "stated, whatever it is",
          APART: "stated, whatever it is"}  # fmt: skip
BESIDE_FULL = "a share by both ends beside that of all combinations"
BESIDE_TRUTH = "a share by both ends beside the truth"


@dataclass
class Counts:
    """Counts of an event and of its opportunities; and shares' errors, in points."""

    so: Counter[str] = field(default_factory=Counter)
    of: Counter[str] = field(default_factory=Counter)
    errors: dict[str, list[float]] = field(default_factory=lambda: defaultdict(list))

    def add(self, name: str, so: bool) -> None:
        """Count once more."""
        self.so[name] += so
        self.of[name] += 1

    def take_in(self, other: "Counts") -> None:
        """Add those of another run."""
        self.so.update(other.so)
        self.of.update(other.of)
        for name, points in other.errors.items():
            self.errors[name] += points

    def show(self) -> None:
        """Print what was found beside what must hold."""
        for name, must in WANTED.items():
            if self.of[name]:
                share = f"{self.so[name] / self.of[name]:.1%}"
                print(f"{name:<52} {self.so[name]} of {self.of[name]} ({share}); {must}")
        for name, points in self.errors.items():
            print(f"{name:<52} median {median(points):.2f} points, largest {max(points):.2f}",
                  flush=True)  # fmt: skip


@dataclass(frozen=True)
class Studied:
    """One operation of a study: its blocks, all combinations in each; the time that a statement
    takes beyond its time, as a share of the time at base; and what was found of it."""

    blocks: list[Block]
    overhead: float
    findings: list[Finding]
    calm: bool
    """Whether its cells can carry a finding: a busy machine forbids that, and is no fault."""
    at_base: frozenset[str]
    """The switches that are on at base: none or all."""

    def planted(self, flipped: Collection[str]) -> float:
        """The planted time with these flipped, over that with no switch on."""
        return planted(self.at_base ^ frozenset(flipped))


def count(operations: Sequence[str], runs: int, kept: Path | None = None) -> Counts:
    """Run the studies: of the switches that cancel in the first run only. `kept`: a file with the
    counts of the runs so far, a line each; those in it are not run again."""
    counts = Counts()
    done = kept.read_text(encoding="utf-8").splitlines() if kept and kept.exists() else []
    for line in done[:runs]:
        so, of, errors = json.loads(line)
        counts.take_in(Counts(Counter(so), Counter(of), errors))
    for number in range(len(done), runs):
        own = _run(operations, number)
        counts.take_in(own)
        if kept:
            with kept.open("a", encoding="utf-8") as file:
                file.write(json.dumps([own.so, own.of, own.errors]) + "\n")
        print(f"studies: run {number + 1} of {runs}", file=sys.stderr, flush=True)
    return counts


def _run(operations: Sequence[str], number: int) -> Counts:
    counts = Counts()
    for made in _studies(SWITCHES, operations, number, on=number % 2 == 1):
        _judge(made, counts)
        _judge_findings(made, counts)
    for made in _studies(CANCELLING, operations, number) if number == 0 else ():
        _judge_group(made.blocks, counts)
    return counts


def _studies(
    switches: Sequence[str], operations: Sequence[str], seed: int, *, on: bool = False
) -> Iterator[Studied]:
    """Each operation that was measured, with all combinations of these switches in each block.
    `on`: at base they are on."""
    values = "on,off" if on else "off,on"
    at_base = frozenset(switches) if on else frozenset()
    vary = [part for name in switches for part in ("--vary", f"{name}={values}")]
    named = [part for name in operations for part in ("--operation", name)]
    seconds = str(SECONDS * len(operations))
    base = f"planted?time_us={TIME_US}"
    with tempfile.TemporaryDirectory() as folder:
        record = Path(folder) / "study.loadstone"
        subprocess.run(
            [LOADSTONE, "study", "wisconsin", "--on", base, *vary, "--design", "factorial", *named,
             "--rows", "1000", "--seconds", seconds, "--seed", str(seed), "--no-limits",
             "--no-report", "--record", str(record)],
            check=False, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
        )  # fmt: skip
        run = read(record)
    if run.plan.study is None:
        sys.exit(f"{record} holds no study")
    cells: dict[str, dict[str, CellResult]] = defaultdict(dict)
    for result in run.results:
        if result.status in BELIEVED and result.samples:
            cells[result.cell.operation][result.cell.variant] = result
    findings = learned(summarise(run)).findings
    for operation, results in cells.items():
        yield Studied(
            [*blocks(run.plan.study.combinations, results)],
            _overhead_ns(results, planted(at_base)) / (TIME_US * 1000),
            [found for found in findings if found.operation == operation],
            all(map(in_order, results.values())),
            at_base,
        )


def _overhead_ns(results: Mapping[str, CellResult], base: float) -> float:
    """The time of a statement beyond its planted time, by the A/A control at base, whose samples
    are in no effect. The null engine's overhead would be too little: its code is always in the
    processor's caches."""
    control = next(result for name, result in results.items() if is_aa_control(name))
    return median(sample.elapsed_ns for sample in control.samples) - base * TIME_US * 1000


def _judge(studied: Studied, counts: Counts) -> None:
    made, parts = studied.blocks, parts_of(SWITCHES)
    truth = {one: log(studied.planted(one) + studied.overhead) for one in factorial(parts)}
    whole = contrasts.value(contrasts.whole(parts), truth)
    full = study_effects(parts, made)
    ends = study_effects(parts, only(made, two_ended(parts)))
    for name, part in ends.parts.items():
        alone, last, by_ends, by_orders = (
            contrasts.value(contrast(parts, name), truth)
            for contrast in (
                contrasts.alone, contrasts.last, contrasts.two_ended, contrasts.shapley,
            )
        )  # fmt: skip
        counts.add(INSIDE, _holds(part.alone, alone))
        counts.add(INSIDE, _holds(part.last, last))
        counts.add(SHARES, _holds(part.share, by_ends / whole))
        measured = full.parts[name].share
        if part.share and measured:
            counts.errors[BESIDE_FULL].append(100 * abs(part.share.value - measured.value))
            counts.errors[BESIDE_TRUTH].append(100 * abs(part.share.value - by_orders / whole))
    counts.add(NULL, ends.parts[IDLE].acts)
    for found in full.interactions:
        interacts = (found.one, found.other) == INTERACTING
        counts.add(FOUND if interacts else INVENTED, found.claimed)


def _judge_findings(studied: Studied, counts: Counts) -> None:
    """A finding is untrue where it says explained of a switch that does nothing, of one with which
    the plan changes, or of the other direction."""
    counts.add(CALM, studied.calm)
    if studied.calm:
        counts.add(GRADED, bool(studied.findings))
    for found in studied.findings:
        slower = found.numbers[0].figure.value > 1
        longer = studied.planted({found.kind}) > studied.planted(())
        holds = found.kind not in (IDLE, OTHERWISE) and slower == longer
        counts.add(UNTRUE, found.grade is Grade.EXPLAINED and not holds)


def _judge_group(made: list[Block], counts: Counts) -> None:
    """Two switches that cancel, flipped together as a group is, and apart."""
    group = grouped(CANCELLING, {"both": CANCELLING})
    together = study_effects(group, only(made, two_ended(group)))
    counts.add(OPENED, "both" in to_open(["both"], together))
    for part in study_effects(parts_of(CANCELLING), made).parts.values():
        counts.add(APART, part.acts)


def only(made: list[Block], design: Sequence[frozenset[str]]) -> list[Block]:
    """The blocks as a study of these combinations alone would have them."""
    return [{one: block[one] for one in design if one in block} for block in made]


def show_lateness() -> None:
    """Print by how much the planted engine's statements exceed their planted times, as its loop
    ends now and as it would without the spread."""
    for spread_ns in (0, planted_engine.SPREAD_NS):
        with patch.object(planted_engine, "SPREAD_NS", spread_ns):
            late = _lateness_ns()
        said = ", ".join(f"{ns:.0f} ns at {TIME_US * time:.0f} us" for time, ns in late.items())
        print(f"spread over {spread_ns} ns: {said}", flush=True)


def _lateness_ns() -> dict[float, float]:
    """Planted time, over that with no switch on -> the time that a statement takes beyond it in the
    median, called in this process with nothing around it; in rounds, in a random order."""
    draw, engines = random.Random(1), {}
    with tempfile.TemporaryDirectory() as folder:
        for on in factorial(parts_of(SWITCHES)):
            tactics = tuple((switch, "on") for switch in sorted(on))
            variant = Variant("planted", (("time_us", str(TIME_US)), *tactics))
            engine = PlantedEngine(variant, Path(folder), "calibrate")
            engine.start()
            engines[_time(on)] = engine
        found: dict[float, list[int]] = {time: [] for time in sorted(engines)}
        for _ in range(LATE_ROUNDS):
            for time in draw.sample(list(engines), len(engines)):
                for _ in range(LATE_STATEMENTS):
                    begin_ns = clock_ns()
                    engines[time].run("")
                    found[time].append(clock_ns() - begin_ns)
    return {time: median(own) - 1000 * TIME_US * time for time, own in found.items()}


def _time(on: Collection[str]) -> float:
    """Rounded, so that it does not depend on the order of the factors."""
    return round(planted(on), 6)


def _holds(estimate: Estimate | None, truth: float) -> bool:
    if estimate is None or estimate.low is None or estimate.high is None:
        return False
    return estimate.low <= truth <= estimate.high
