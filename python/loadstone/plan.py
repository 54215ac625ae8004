"""What will be run: a frozen, printable, hashable list of cells. A plan touches no engine.

The same choices can be written on the command line or in a TOML file whose keys are the fields of
`Choices`.
"""

import dataclasses
import hashlib
import json
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.errors import InputError
from loadstone.role import Role, roles_before

TEMPERATURES = ("warm", "cold", "hot")

USERS_MAX = 256
RATE_PER_S_MAX = 100_000
LOOP_S_MAX = 300
"""Long enough for a p99.99 of a slow server; and a worker may be silent for three times that."""


@dataclass(frozen=True, slots=True)
class Choices:
    """What a user may choose. Every field has a default; None means the benchmark's default.

    `repeat` counts samples of a warm or hot cell (by default 10 at the first scale and 6, the
    fewest that give a 95 % interval, at the others), `repeat_cold` of a cold one (3, or what the
    paper's protocol has), `warm_up` the unmeasured rounds before a warm block's samples. Where a
    comparison is undecided, a warm or hot cell is repeated until its interval is within `precision`
    (a share) of its middle, or to `repeat_most` samples (1,000; with `repeat` given, as many as
    that), or for `repeat_s` an operation (0.3 s; 20 s where operations are named).
    `time_limit_s` holds for one statement.
    `floor`: calibrate the harness; `limits`: a cell beyond a limit is invalid;
    `awake`: keep idle processors from sleeping where that is permitted.
    """

    benchmark: str = "wisconsin"
    edition: str | None = None
    on: tuple[str, ...] = ()
    rows: tuple[int, ...] | None = None
    operations: tuple[str, ...] = ()
    temperature: tuple[str, ...] = ("warm", "cold")
    panel: str = "default"
    repeat: int | None = None
    repeat_cold: int | None = None
    warm_up: int = 1
    rounds: int = 2
    seed: int = 1983
    repeat_most: int | None = None
    repeat_s: float | None = None
    precision: float = 0.015
    time_limit_s: float = 60.0
    floor: bool = True
    limits: bool = True
    awake: bool = True
    users: tuple[int, ...] = ()
    """How many at once, for each operation whose rows go to the host: none, unless named."""
    rate_per_s: float | None = None
    """Of an open loop's requests, all users together; by default a share of the closed loop's."""
    loop_s: float = 2.0


@dataclass(frozen=True, slots=True)
class Cell:
    """Operation x variant x scale x temperature: what is planned, run, verified and resumed."""

    operation: str
    variant: str
    rows: int
    temperature: str
    samples: int
    gap: str = ""
    """Why the variant's engine cannot run it: declared, shown, never attempted."""

    @property
    def key(self) -> str:
        """Its identity in a plan and in a record."""
        return f"{self.operation}|{self.variant}|{self.rows}|{self.temperature}"


@dataclass(frozen=True, slots=True)
class Plan:
    """Choices made definite, and the cells that follow from them, in the order of the paper."""

    benchmark: str
    edition: str
    variants: tuple[str, ...]
    rows: tuple[int, ...]
    seed: int
    warm_up: int
    rounds: int
    time_limit_s: float
    cells: tuple[Cell, ...]
    precision: float = 0.0
    """Repetition goes on until a ratio's interval is within this share; 0: not at all."""
    repeat_most: int = 0
    repeat_s: float = 0.0
    twin: str = ""
    """The variant that was added to be measured twice: its noise is that of planned samples, so an
    undecided comparison with it is not repeated."""
    limits: bool = True
    awake: bool = True
    users: tuple[int, ...] = ()
    rate_per_s: float | None = None
    loop_s: float = 2.0
    roles: tuple[tuple[str, str], ...] = ()
    """(variant, role) of every variant that is no competitor, as its engine declares it."""
    panel: str = "default"
    operations: tuple[str, ...] = ()
    """Those that the user named, and the panel where none was: what a temperature's cells follow
    from. An older plan tells no panel: it is empty."""

    def role_of(self, variant: str) -> Role:
        """What a variant is for."""
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
        """Read back what `to_json` wrote."""
        data = json.loads(text)
        data["cells"] = tuple(Cell(**cell) for cell in data["cells"])
        for name in ("variants", "rows", "users", "operations"):
            data[name] = tuple(data.get(name, ()))
        data.setdefault("panel", "")
        names = (*data["variants"], *(cell.variant for cell in data["cells"]))
        told = data.get("roles")
        data["roles"] = roles_before(names) if told is None else tuple(map(tuple, told))
        return Plan(**data)


def read_choices(path: Path) -> Choices:
    """Read a plan file (TOML, the fields of `Choices`)."""
    return choices_from(read_given(path), str(path))


def read_given(path: Path) -> dict[str, Any]:
    """What a plan file says, and nothing that it leaves to a default; checked by name and type."""
    try:
        data = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"cannot read the plan {path}: {error.strerror}") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise InputError(f"{path} is not a TOML file: {error}") from error
    checked = choices_from(data, str(path))
    return {name: getattr(checked, name) for name in data}


def choices_from(data: Mapping[str, Any], source: str) -> Choices:
    """Check names and types of choices given as plain values; `source` says where they stand."""
    fields = {field.name: field for field in dataclasses.fields(Choices)}
    unknown = sorted(set(data) - set(fields))
    if unknown:
        known = ", ".join(sorted(fields))
        raise InputError(f"{source}: no such choice: {unknown[0]}", hint=f"known are: {known}")
    values = {name: _typed(value, fields[name].type, source, name) for name, value in data.items()}
    return _checked(Choices(**values), source)


def _typed(value: Any, annotation: Any, source: str, name: str) -> Any:
    """A value of the type that a field of `Choices` wants; a single item may stand for a list."""
    plain = annotation.__name__ if isinstance(annotation, type) else str(annotation)
    kind = plain.removesuffix(" | None")
    if kind.startswith("tuple"):
        items = tuple(value) if isinstance(value, list | tuple) else (value,)
        wanted: type = int if "int" in kind else str
        _expect(all(type(item) is wanted for item in items), source, name, kind)
        return items
    if kind == "float" and type(value) is int:
        return float(value)
    _expect(type(value).__name__ == kind, source, name, kind)
    return value


def _expect(holds: bool, source: str, name: str, kind: str) -> None:
    if not holds:
        raise InputError(f"{source}: {name} must be {kind}")


def _checked(choices: Choices, source: str) -> Choices:
    """Bounds that hold whatever the benchmark."""
    for name, low, high in (
        ("repeat", 1, 100_000),
        ("repeat_cold", 1, 1_000),
        ("warm_up", 0, 1_000),
        ("rounds", 1, 1_000),
        ("repeat_most", 1, 100_000),
    ):
        value = getattr(choices, name)
        if value is not None and not low <= value <= high:
            raise InputError(
                f"{_named(source, name)} must be between {low:,} and {high:,}, not {value:,}"
            )
    if not 0 <= choices.precision < 1:
        raise InputError(
            f"{_named(source, 'precision')} must be a share from 0 to below 1,"
            f" not {choices.precision:g}"
        )
    if choices.time_limit_s <= 0:
        raise InputError(
            f"{_named(source, 'time_limit_s')} must be positive, not {choices.time_limit_s:g}"
        )
    _check_users(choices, source)
    for temperature in choices.temperature:
        if temperature not in TEMPERATURES:
            known = ", ".join(TEMPERATURES)
            raise InputError(
                f"{_named(source, 'temperature')}: there is no temperature {temperature!r}",
                hint=f"known: {known}",
            )
    return choices


COMMAND_LINE = "the command line"
"""Where choices stand that are options."""
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


def _check_users(choices: Choices, source: str) -> None:
    for users in choices.users:
        if not 1 <= users <= USERS_MAX:
            raise InputError(
                f"{_named(source, 'users')} must be between 1 and {USERS_MAX}, not {users}"
            )
    rate_per_s, loop_s = choices.rate_per_s, choices.loop_s
    if rate_per_s is not None and not 0 < rate_per_s <= RATE_PER_S_MAX:
        raise InputError(
            f"{_named(source, 'rate_per_s')} must be above 0, to {RATE_PER_S_MAX:,},"
            f" not {rate_per_s:g}"
        )
    if not 0 < loop_s <= LOOP_S_MAX:
        raise InputError(
            f"{_named(source, 'loop_s')} must be above 0, to {LOOP_S_MAX}, not {loop_s:g}"
        )


def join_names(names: Sequence[str], most: int = 8) -> str:
    """A list for a message, cut where it gets long."""
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
