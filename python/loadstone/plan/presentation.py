"""What a benchmark declares for the readers of its figures: its words, how to read its counts, and
its cost ladder. A record keeps it, and a report knows nothing else of a benchmark.
"""

import dataclasses
import json
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated

from msgspec import Meta

from loadstone.errors import InputError
from loadstone.text.shape import one_of, shaped, strict_json

Word = Annotated[str, Meta(max_length=200)]
Sentence = Annotated[str, Meta(max_length=2_000)]
Words = Annotated[tuple[Word, ...], Meta(max_length=1_000)]
Variants = Annotated[Mapping[Word, Word], Meta(max_length=100)]
Count = Annotated[int, Meta(ge=1, le=10**9)]

CALLS, STATEMENTS, VALUES = "calls", "statements", "values"


@dataclass(frozen=True, slots=True)
class Varying:
    """Operations whose answers count more things at one sample than at another, so that their times
    are scaled to one count.

    `nominal`: operation -> that count. Below `least` things a scaled time is mostly that of the
    start, and marked; `few` says so, as "some traversal visited fewer than 100 parts"; `own` names
    a sample's own things: "the parts it visited".
    """

    nominal: Annotated[Mapping[Word, Count], Meta(max_length=1_000)] = field(default_factory=dict)
    least: Annotated[int, Meta(ge=0, le=10**9)] = 0
    few: Sentence = ""
    own: Sentence = ""

    @property
    def sentence(self) -> str:
        """`few` as a sentence begins."""
        return self.few[:1].upper() + self.few[1:]


@dataclass(frozen=True, slots=True)
class Step:
    """A rung by definition: an operation, how often its measure does one thing, that thing's name,
    and the cost beyond the rung below.

    `prices`: the client's count of which this rung is the price, for a rung that touches no data:
    calls; statements, their way to a server included; or values, statements that fetch one.
    """

    operation: Word
    count: Count
    name: Word
    attributed: Word
    prices: Annotated[str, one_of(("", CALLS, STATEMENTS, VALUES))] = ""


@dataclass(frozen=True, slots=True)
class Whole:
    """A step whose cost is taken apart: `rest` names the cost that its calls do not explain.

    `batch`: the operation that does the same work in one call; empty if there is none. `commit`:
    what the step's share of a commit is called, for one that writes, to which no value comes back.
    """

    name: Word
    operation: Word
    rest: Word
    batch: Word = ""
    commit: Word = ""


@dataclass(frozen=True, slots=True)
class Total:
    """Steps whose time together is compared with their calls at the price of a rung."""

    name: Word
    operations: Annotated[tuple[Word, ...], Meta(max_length=100)]


@dataclass(frozen=True, slots=True)
class CostLadder:
    """Operations that are the rungs of a ladder, the lowest first, and the steps that it takes
    apart; empty for a benchmark without a ladder. `paper`: what the paper says about it."""

    steps: Annotated[tuple[Step, ...], Meta(max_length=100)] = ()
    wholes: Annotated[tuple[Whole, ...], Meta(max_length=100)] = ()
    totals: Annotated[tuple[Total, ...], Meta(max_length=100)] = ()
    paper: Sentence = ""

    @property
    def flat(self) -> frozenset[str]:
        """The rungs that touch no data, and so cannot grow with it."""
        return frozenset(step.operation for step in self.steps if step.prices)

    def check(self) -> None:
        """Raise `InputError` if it names a step that it does not have, or has one twice."""
        names = [step.operation for step in self.steps]
        prices = [step.prices for step in self.steps if step.prices]
        for listed in (names, prices):
            if len(set(listed)) < len(listed):
                raise InputError("a cost ladder has two steps of one operation or one price")
        used = [whole.operation for whole in self.wholes]
        used += [name for total in self.totals for name in total.operations]
        if unknown := [name for name in used if name not in names]:
            raise InputError(f"a cost ladder has no step {unknown[0]!r}")


@dataclass(frozen=True, slots=True)
class Lesson:
    """For learners, about operations of one kind: the mechanism that they isolate, what the paper
    said or predicted about it, and what would refute that."""

    operations: Annotated[tuple[Word, ...], Meta(max_length=1_000)]
    isolates: Sentence
    paper: Sentence
    refuted: Sentence


@dataclass(frozen=True, slots=True)
class Enhancement:
    """A change that a paper made to its own system, and the switches of an engine that make it
    today.

    The paper's `tables` have the changed system under `name` and the unchanged one under `before`.
    `switches` are written as in the command of a study: `execution=interpreted,closures`. `found`
    is the paper's conclusion, `command` what measures the switches. `pays_after`: the paper's
    break-even, where it has one.
    """

    name: Word
    what: Sentence
    found: Sentence
    before: Word = ""
    tables: Words = ()
    switches: Words = ()
    command: Sentence = ""
    pays_after: Count | None = None


@dataclass(frozen=True, slots=True)
class Routine:
    """A line of a paper's profile: a routine's share of the run time in percent, and the functions
    of today that do its work: as expressions that match the beginning of a name, and as components
    of a time budget of which all functions do."""

    name: Word
    what: Sentence
    share_percent: Annotated[float, Meta(ge=0, le=100)]
    functions: Words
    components: Words = ()


@dataclass(frozen=True, slots=True)
class Presentation:
    """The declaration of one benchmark.

    `scale`, `answer` and `stored` name the units of a scale, an answer and a load. `basis` is a
    note on today's figures beside the paper's; `reimplemented` maps a system of the paper to a
    variant. `apart` are the designs that replace the database of which sizes and loads are
    reported; `writes` are the client's measures that commit, `harness` those that call no engine:
    their rows are not ranked. `lessons` are for those who learn or teach with a row;
    `enhancements` are what a study's effects stand beside, `routines` what sampled functions do.
    """

    title: Word
    scale: Word = "tuples"
    answer: Word = "tuples"
    stored: Word = "tuples"
    basis: Sentence = ""
    reimplemented: Variants = field(default_factory=dict)
    apart: Words = ()
    writes: Words = ()
    harness: Words = ()
    varying: Varying = field(default_factory=Varying)
    ladder: CostLadder = field(default_factory=CostLadder)
    lessons: Annotated[tuple[Lesson, ...], Meta(max_length=1_000)] = ()
    enhancements: Annotated[tuple[Enhancement, ...], Meta(max_length=100)] = ()
    routines: Annotated[tuple[Routine, ...], Meta(max_length=100)] = ()

    def lesson_of(self, operation: str) -> Lesson | None:
        """The lesson of an operation, if there is one."""
        return next((one for one in self.lessons if operation in one.operations), None)

    def to_json(self) -> str:
        """As a record keeps it. Raises `InputError` for what `from_json` would refuse."""
        text = json.dumps(dataclasses.asdict(self))
        self.from_json(text)
        return text

    @classmethod
    def from_json(cls, text: str) -> "Presentation":
        """As `to_json` wrote it. Raises `InputError` naming the value that it may not have."""
        found: Presentation = shaped(strict_json(text), cls, "presentation")
        found.ladder.check()
        return found


def lessons_from(text: str) -> tuple[Lesson, ...]:
    """The lessons of a TOML file: tables called `lesson`. Raises `InputError` naming the value that
    it may not have."""
    found: tuple[Lesson, ...] = shaped(
        tomllib.loads(text).get("lesson", []), tuple[Lesson, ...], "lesson"
    )
    return found
