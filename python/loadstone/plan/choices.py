"""A user's choices, each defined once: its type and bounds, its default, its option.

A choice is made as an option of `loadstone run` or `loadstone study`, or in a plan file: TOML whose
keys are the fields of `Choices`. `written_choices.py` reads them from either and writes them as
either, field by field, and a plan keeps them in its record; so none can be known in one place and
forgotten in another.
"""

import dataclasses
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Annotated, Any, get_args, get_origin

from msgspec import Meta

from loadstone.errors import InputError
from loadstone.text.shape import fields_of, one_of

TEMPERATURES = ("warm", "cold", "hot")
TWO_ENDED, WALK, BOTH, FACTORIAL = "two-ended", "walk", "both", "factorial"
"""The designs of a study: each switch alone and last; one after the other, in an order and its
reverse; both; every combination."""
STUDIED = ("warm",)
"""The temperature of a study for which none is chosen."""
RUN, STUDY = "run", "study"
"""The commands that take choices."""
OF_LOOPS = ("users", "rate_per_s", "ramp", "writers", "loop_s")
"""Choices of loops of concurrent users. What compares two variants takes none: a loop has one
measurement a side, so no interval and no verdict."""

USERS_MAX = 256
RATE_PER_S_MAX = 100_000
LOOP_S_MAX = 300
"""Long enough for a p99.99 of a slow server; and a worker may be silent for three times that."""

RAMP_STEPS = 10
"""The steps of a ramp, an open loop whose rate rises: each is a tenth of the range."""
REQUESTS_MAX = 5_000_000
"""Due in one open loop: each is a number in memory before the loop begins."""
_RAMP = re.compile(r"([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)\.\.([0-9]+(?:\.[0-9]+)?(?:e[0-9]+)?)")

# The values that a choice may have, wherever it is made: an option, a plan file, the plan in a
# record.
Rows = Annotated[int, Meta(ge=1, le=10**12)]
Temperature = Annotated[str, one_of(TEMPERATURES)]
Repeat = Annotated[int, Meta(ge=1, le=100_000)]
RepeatCold = Annotated[int, Meta(ge=1, le=1_000)]
WarmUp = Annotated[int, Meta(ge=0, le=1_000)]
Rounds = Annotated[int, Meta(ge=1, le=1_000)]
Seed = Annotated[int, Meta(ge=0, le=2**63 - 1)]
Seconds = Annotated[float, Meta(ge=0, le=86_400)]
TimeLimit = Annotated[float, Meta(gt=0, le=1e6)]
SHARE = "SHARE"
"""Stands for a share in help: a percentage on the command line, also a number in a plan file."""
Precision = Annotated[float, Meta(ge=0, lt=1)]
Users = Annotated[int, Meta(ge=1, le=USERS_MAX)]
Writers = Annotated[int, Meta(ge=0, le=USERS_MAX)]
Rate = Annotated[float, Meta(gt=0, le=RATE_PER_S_MAX)]
LoopSeconds = Annotated[float, Meta(gt=0, le=LOOP_S_MAX)]
Design = Annotated[str, one_of(("", TWO_ENDED, WALK, BOTH, FACTORIAL))]


@dataclass(frozen=True, slots=True)
class Option:
    """How `commands` take a choice: as an option, or as an argument if `flag` is empty. A truth has
    no `metavar` and is switched off by `--no-…`. `seldom`: a printed command leaves it out where it
    is the default; only for a choice that has the same default in every preset."""

    flag: str
    metavar: str
    help: str
    seldom: bool = False
    commands: tuple[str, ...] = (RUN, STUDY)


@dataclass(frozen=True, slots=True)
class Choices:
    """A user's choices. Every field has a default; None means the benchmark's default."""

    benchmark: Annotated[
        str,
        Option(
            "",
            "BENCHMARK",
            "Run this: wisconsin, another of `loadstone benchmarks`, or the folder or TOML file of"
            " a workload of your own.",
        ),
    ] = "wisconsin"
    sql: Annotated[
        str,
        Option(
            "--sql",
            "TEXT",
            "Run this query, or the one in FILE.sql, and no benchmark.",
            seldom=True,
        ),
    ] = ""
    data: Annotated[
        tuple[str, ...],
        Option(
            "--data",
            "FILE",
            "Load a table for --sql from this Parquet, CSV or Arrow file, under the file's name;"
            " repeatable.",
        ),
    ] = ()
    dialect: Annotated[
        str,
        Option(
            "--dialect",
            "NAME",
            "Read --sql as written in this dialect: sqlite, duckdb, postgresql, mysql, spark or"
            " clickhouse.",
            seldom=True,
        ),
    ] = ""
    types: Annotated[
        tuple[str, ...],
        Option(
            "--types",
            "COLUMN=TYPE",
            "Take a column of --data in this type, as 'total=decimal(10,2)'; of several tables"
            " TABLE.COLUMN=TYPE; repeatable.",
            seldom=True,
        ),
    ] = ()
    on: Annotated[
        tuple[str, ...],
        Option(
            "--on",
            "VARIANT",
            "Measure this variant: ENGINE, ENGINE?tactic=value, postgresql://…, sqlite:///…;"
            " repeatable.",
        ),
    ] = ()
    edition: Annotated[
        str | None, Option("--edition", "NAME", "Choose an edition of the benchmark.")
    ] = None
    rows: Annotated[
        tuple[Rows, ...] | None,
        Option("--rows", "N", "Choose a scale, as 10000 or 1e5; repeatable."),
    ] = None
    operations: Annotated[
        tuple[str, ...],
        Option(
            "--operation", "NAME", "Measure only this operation, or all like 'join-*'; repeatable."
        ),
    ] = ()
    temperature: Annotated[
        tuple[Temperature, ...],
        Option(
            "--temperature",
            "NAME",
            "Measure warm, cold or hot; repeatable, but of a study one: warm by default.",
        ),
    ] = ("warm", "cold")
    preset: Annotated[
        str,
        Option(
            "--preset",
            "NAME",
            "Choose the operations: default, quick, full or study.",
            commands=(RUN,),
        ),
    ] = "default"
    repeat: Annotated[
        Repeat | None,
        Option("--repeat", "N", "Take N samples of each warm or hot cell.", commands=(RUN,)),
    ] = None
    """By default 10 times at the first scale and 6, the fewest that give a 95 % interval, at the
    others."""
    repeat_cold: Annotated[
        RepeatCold | None,
        Option("--repeat-cold", "N", "Take N samples of each cold cell.", commands=(RUN,)),
    ] = None
    """By default 3 times, or what the paper's protocol has."""
    warm_up: Annotated[
        WarmUp,
        Option("--warm-up", "N", "Run each text N times unmeasured before timing it.", seldom=True),
    ] = 1
    repeat_most: Annotated[
        Repeat | None,
        Option(
            "--repeat-most",
            "N",
            "Stop repeating an undecided comparison at N samples.",
            commands=(RUN,),
        ),
    ] = None
    """By default 1,000; where `repeat` is given, as many as that."""
    repeat_s: Annotated[
        Seconds | None,
        Option(
            "--repeat-seconds",
            "SECONDS",
            "Stop repeating after this time for each operation: by default 0.3, in ab and bisect 5,"
            " in a run of named operations 20.",
            commands=(RUN,),
        ),
    ] = None
    precision: Annotated[
        Precision,
        Option(
            "--precision",
            SHARE,
            "Repeat until a ratio's interval is within ± this share: 1.5% by default.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = 0.015
    rounds: Annotated[
        Rounds,
        Option("--rounds", "N", "Measure N interleaved blocks of each variant.", commands=(RUN,)),
    ] = 2
    seed: Annotated[
        Seed, Option("--seed", "N", "Draw the order of the blocks from this seed.", seldom=True)
    ] = 1983
    time_limit_s: Annotated[
        TimeLimit | None,
        Option("--time-limit", "SECONDS", "End a statement that takes longer.", seldom=True),
    ] = None
    """By default 60; 10 in a preset of the papers' statements at up to 100,000 tuples."""
    overhead: Annotated[
        bool,
        Option(
            "--overhead",
            "",
            "Measure the harness overhead and the A/A noise, too.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = True
    limits: Annotated[
        bool,
        Option(
            "--limits",
            "",
            "Mark cells beyond the quality limits as disturbed or invalid.",
            seldom=True,
        ),
    ] = True
    disable_idle_states: Annotated[
        bool,
        Option(
            "--disable-idle-states",
            "",
            "Disable the processors' idle states during the run.",
            seldom=True,
        ),
    ] = True
    users: Annotated[
        tuple[Users, ...],
        Option(
            "--users",
            "N",
            "Run a closed and an open loop with N concurrent users; repeatable.",
            commands=(RUN,),
        ),
    ] = ()
    rate_per_s: Annotated[
        Rate | None,
        Option(
            "--rate",
            "N",
            "Send N requests a second in open loops, all users together.",
            commands=(RUN,),
        ),
    ] = None
    """By default a share of what the closed loop reached."""
    ramp: Annotated[
        str,
        Option(
            "--ramp",
            "LOW..HIGH",
            "Let the rate of open loops rise from LOW to HIGH requests a second in ten steps, each"
            " as long as a loop.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = ""
    writers: Annotated[
        Writers,
        Option(
            "--writers",
            "N",
            "Add N users who write to those of each --users, who read. The plan must hold an"
            " operation for readers and one for writers.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = 0
    loop_s: Annotated[
        LoopSeconds,
        Option(
            "--loop-seconds",
            "SECONDS",
            "Run each loop of users for this time.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = 2.0
    budget: Annotated[
        bool,
        Option(
            "--budget",
            "",
            "Measure, too, where the time of each warm or hot cell of the largest scale goes.",
            seldom=True,
            commands=(RUN,),
        ),
    ] = False
    design: Annotated[
        Design,
        Option(
            "--design",
            "NAME",
            "Measure each switch alone and as the last (two-ended), all of them one after the other"
            " and back (walk), both, or every combination (factorial).",
            commands=(STUDY,),
        ),
    ] = ""
    """Of a study: two-ended, walk, both or factorial. Empty in a run that is none."""
    vary: Annotated[
        tuple[str, ...],
        Option(
            "--vary",
            "TACTIC=A,B",
            "Switch this tactic, or set.SETTING, from A to B, and to each further value (A,B,C)."
            " TACTIC alone: to its first other value; all: every tactic. Repeatable.",
            commands=(STUDY,),
        ),
    ] = ()
    """By default every tactic that the engine declares for studies."""
    within_s: Annotated[
        Seconds,
        Option(
            "--seconds",
            "SECONDS",
            "Measure for about this time, one operation at least.",
            commands=(STUDY,),
        ),
    ] = 60.0


@dataclass(frozen=True, slots=True)
class Choice:
    """One field of `Choices`. `item` is the type of its value, or of each value if it takes
    `many`."""

    name: str
    item: type
    many: bool
    default: Any
    option: Option


def _defined() -> Iterator[Choice]:
    hints = fields_of(Choices)
    for each in dataclasses.fields(Choices):
        option = next(m for m in hints[each.name].__metadata__ if isinstance(m, Option))
        plain = _without(hints[each.name])
        many = get_origin(plain) is tuple
        item = _without(get_args(plain)[0]) if many else plain
        yield Choice(each.name, item, many, each.default, option)


def _without(annotation: Any) -> Any:
    """A type without its bounds, and without None."""
    if get_origin(annotation) is Annotated:
        return _without(get_args(annotation)[0])
    kinds = [kind for kind in get_args(annotation) if kind is not type(None)]
    return _without(kinds[0]) if type(None) in get_args(annotation) else annotation


DEFINED: tuple[Choice, ...] = tuple(_defined())
"""Every choice, in the order of the options."""


def ramp_rates(text: str) -> tuple[float, ...]:
    """The rates of the steps, in requests a second: from the first to the last, evenly apart.
    Raises `InputError`."""
    stated = _RAMP.fullmatch(text.strip())
    if stated is None:
        raise InputError(f"--ramp {text[:60]!r} is no range", hint="write LOW..HIGH: 100..1000")
    low, high = float(stated[1]), float(stated[2])
    if not 0 < low < high <= RATE_PER_S_MAX:
        raise InputError(
            f"--ramp {text[:60]} does not rise, or not from above 0 to {RATE_PER_S_MAX:,} at most",
            hint="write LOW..HIGH in requests a second: 100..1000",
        )
    return tuple(low + (high - low) * step / (RAMP_STEPS - 1) for step in range(RAMP_STEPS))
