"""The plan of a run: a frozen, printable, hashable list of cells.

A plan touches no engine. The same choices can be written on the command line or in a TOML file
whose keys are the fields of `Choices`.
"""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin

from loadstone.errors import InputError
from loadstone.plan.earlier_names import CHOICES
from loadstone.plan.role import Role, roles_before
from loadstone.text.files import read_text
from loadstone.text.shape import OneOf, Within, fields_of, shaped, strict_json

TEMPERATURES = ("warm", "cold", "hot")

USERS_MAX = 256
RATE_PER_S_MAX = 100_000
LOOP_S_MAX = 300
"""Long enough for a p99.99 of a slow server; and a worker may be silent for three times that."""
NAME_LETTERS_MAX, NAME_LETTERS_SHOWN = 4_000, 60
SAMPLES_MAX = 1_000_000
"""Of all cells of a plan, as often as they may be repeated: a record is read as a whole, and a
sample takes half a kilobyte of memory then."""
FILE_BYTES_MAX = 1 << 20
"""Of a plan file."""

# What a choice may be, wherever it is made: an option, a plan file, the plan in a record.
Rows = Annotated[int, Within(1, 10**12)]
Temperature = Annotated[str, OneOf(TEMPERATURES)]
Repeat = Annotated[int, Within(1, 100_000)]
RepeatCold = Annotated[int, Within(1, 1_000)]
WarmUp = Annotated[int, Within(0, 1_000)]
Rounds = Annotated[int, Within(1, 1_000)]
Seed = Annotated[int, Within(0, 2**63 - 1)]
Seconds = Annotated[float, Within(0, 86_400)]
TimeLimit = Annotated[float, Within(0, 1e6, above=True)]
Precision = Annotated[float, Within(0, 1, below=True)]
Users = Annotated[int, Within(1, USERS_MAX)]
Writers = Annotated[int, Within(0, USERS_MAX)]
Rate = Annotated[float, Within(0, RATE_PER_S_MAX, above=True)]
LoopSeconds = Annotated[float, Within(0, LOOP_S_MAX, above=True)]


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user may choose. Every field has a default; None means the benchmark's default.

    `repeat` counts samples of a warm or hot cell (by default 10 at the first scale and 6, the
    fewest that give a 95 % interval, at the others), `repeat_cold` of a cold one (3, or what the
    paper's protocol has), `warm_up` the unmeasured rounds before a warm block's samples. Where a
    comparison is undecided, a warm or hot cell is repeated until its interval is within `precision`
    (a share) of its median, or to `repeat_most` samples (1,000; with `repeat` given, as many as
    that), or for `repeat_s` an operation (0.3 s; 20 s where operations are named).
    `time_limit_s` holds for one statement.
    `overhead`: calibrate the harness; `limits`: a cell beyond a limit is invalid;
    `disable_idle_states`: disable the idle states of processors where that is permitted.
    """

    benchmark: str = "wisconsin"
    edition: str | None = None
    on: tuple[str, ...] = ()
    rows: tuple[Rows, ...] | None = None
    operations: tuple[str, ...] = ()
    temperature: tuple[Temperature, ...] = ("warm", "cold")
    preset: str = "default"
    repeat: Repeat | None = None
    repeat_cold: RepeatCold | None = None
    warm_up: WarmUp = 1
    rounds: Rounds = 2
    seed: Seed = 1983
    repeat_most: Repeat | None = None
    repeat_s: Seconds | None = None
    precision: Precision = 0.015
    time_limit_s: TimeLimit = 60.0
    overhead: bool = True
    limits: bool = True
    disable_idle_states: bool = True
    users: tuple[Users, ...] = ()
    """Load levels, for each operation whose rows go to the client; none unless named."""
    rate_per_s: Rate | None = None
    """Of an open loop's requests, all users together; by default a share of the closed loop's."""
    loop_s: LoopSeconds = 2.0
    writers: Writers = 0
    """The number of users who insert, beside each number of `users` who look up, in loops of their
    own."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Operation x variant x scale x temperature: what is planned, run, verified and resumed."""

    operation: str
    variant: str
    rows: Rows
    temperature: Temperature
    samples: Annotated[int, Within(0, 100_000)]
    gap: str = ""
    """Why the variant's engine cannot run it: declared, shown, never attempted."""

    @property
    def key(self) -> str:
        """Its identity in a plan and in a record."""
        return f"{self.operation}|{self.variant}|{self.rows}|{self.temperature}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Definite choices, and the cells that follow from them, in the order of the paper."""

    benchmark: str
    edition: str
    variants: tuple[str, ...]
    rows: tuple[Rows, ...]
    seed: Seed
    warm_up: WarmUp
    rounds: Rounds
    time_limit_s: TimeLimit
    cells: tuple[Cell, ...]
    precision: Precision = 0.0
    """Repeat until a ratio's interval is within this share; 0: do not repeat."""
    repeat_most: Annotated[int, Within(0, 100_000)] = 0
    repeat_s: Seconds = 0.0
    aa_control: str = ""
    """The A/A control that was added: its noise is that of planned samples, so an undecided
    comparison with it is not repeated."""
    limits: bool = True
    disable_idle_states: bool = True
    users: tuple[Users, ...] = ()
    rate_per_s: Rate | None = None
    loop_s: LoopSeconds = 2.0
    writers: Writers = 0
    roles: tuple[tuple[str, Annotated[str, OneOf(tuple(Role))]], ...] = ()
    """(variant, role) of every variant that is no competitor, as its engine declares it."""
    preset: str = "default"
    operations: tuple[str, ...] = ()
    """The operations that the user named, and the preset if none was named. An older plan has no
    preset: it is empty."""

    def role_of(self, variant: str) -> Role:
        """The role of a variant."""
        return Role(dict(self.roles).get(variant, Role.COMPETITOR))

    def to_json(self) -> str:
        """Canonical JSON: equal plans give equal text."""
        return json.dumps(dataclasses.asdict(self), sort_keys=True, separators=(",", ":"))

    @property
    def hash(self) -> str:
        """Short identity of everything the plan fixes."""
        return hashlib.sha256(self.to_json().encode()).hexdigest()[:12]

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Read back what `to_json` wrote. Raises `InputError` where it is no plan."""
        data = strict_json(text)
        plan: Plan = shaped(data, Plan, "the plan")
        if "preset" not in data:
            plan = dataclasses.replace(plan, preset="")
        if "roles" not in data:
            names = (*plan.variants, *(cell.variant for cell in plan.cells))
            plan = dataclasses.replace(plan, roles=roles_before(names))
        plan.check()
        return plan

    def check(self) -> None:
        """Raise `InputError` where its parts contradict each other, or a name is none."""
        names = [self.benchmark, self.edition, *self.variants, *self.operations]
        names += [name for cell in self.cells for name in (cell.operation, cell.variant)]
        names += [name for name, _ in self.roles]
        # A plan without a control names none, an older one no preset.
        names += [name for name in (self.preset, self.aa_control) if name]
        for name in dict.fromkeys(names):
            if (
                name.startswith("-")
                or not name.isprintable()
                or not 1 <= len(name) <= NAME_LETTERS_MAX
            ):
                raise InputError(f"the plan: {name[:NAME_LETTERS_SHOWN]!r} is not a valid name")
        for what, values in (
            ("variants", self.variants),
            ("rows", self.rows),
            ("cells", [cell.key for cell in self.cells]),
        ):
            if not values or len(set(values)) < len(values):
                raise InputError(f"the plan: {what} must be a list of one or more different values")
        known = {(variant, rows) for variant in self.variants for rows in self.rows}
        for cell in self.cells:
            if (cell.variant, cell.rows) not in known:
                raise InputError(f"the plan: {cell.key} has a variant or scale that the plan lacks")


def read_choices(path: Path) -> Choices:
    """Read a plan file (TOML, the fields of `Choices`)."""
    return choices_from(read_given(path), str(path))


def read_given(path: Path) -> dict[str, Any]:
    """The entries of a plan file, without defaults; checked by name and type."""
    text = read_text(path, FILE_BYTES_MAX, "the plan")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{path} is not a TOML file: {str(error).partition(';')[0]}") from error
    checked = choices_from(data, str(path))
    return {name: getattr(checked, name) for name in data}


def choices_from(data: Mapping[str, Any], source: str) -> Choices:
    """Check names, types and bounds of choices given as plain values; `source` names their place. A
    single item may stand for a list."""
    hints = fields_of(Choices)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        if unknown[0] in CHOICES:
            raise InputError(
                f"{source}: {unknown[0]} is no choice any more",
                hint=f"it is called {CHOICES[unknown[0]]} now",
            )
        known = ", ".join(sorted(hints))
        raise InputError(f"{source}: unknown choice {unknown[0]}", hint=f"known: {known}")
    values = {}
    for name, value in data.items():
        alone = _is_list(hints[name]) and not isinstance(value, list | tuple)
        values[name] = shaped((value,) if alone else value, hints[name], _named(source, name))
    return Choices(**values)


COMMAND_LINE = "the command line"
"""The source of choices that are options."""
_OPTIONS = {
    "operations": "operation",
    "rate_per_s": "rate",
    "loop_s": "loop-seconds",
    "repeat_s": "repeat-seconds",
    "time_limit_s": "time-limit",
}


def _named(source: str, name: str) -> str:
    """A choice as its user wrote it: an option, or a name in a file."""
    if source == COMMAND_LINE:
        return f"--{_OPTIONS.get(name, name.replace('_', '-'))}"
    return f"{source}: {name}"


def _is_list(annotation: Any) -> bool:
    kinds = (annotation, *get_args(annotation))
    return any(get_origin(kind) is tuple for kind in kinds)


def join_names(names: Sequence[str], most: int = 8) -> str:
    """A list for a message, cut where it gets long."""
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
