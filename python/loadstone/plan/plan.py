"""The plan of a run: a frozen, printable, hashable list of cells. A plan touches no engine."""

import dataclasses
import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from msgspec import Meta

from loadstone.errors import InputError
from loadstone.plan.choices import Choices, Repeat, Rows, Seconds, Temperature, TimeLimit
from loadstone.plan.idle_choices import DEFAULTS, idle
from loadstone.plan.role import Role
from loadstone.plan.study import Study
from loadstone.plan.workload import Workload, plain_fields
from loadstone.text.shape import one_of, shaped, strict_json

NAME_LETTERS_MAX, NAME_LETTERS_SHOWN = 4_000, 60
SAMPLES_MAX = 1_000_000
"""Of all cells of a plan, as often as they may be repeated: a record is read as a whole, and a
sample takes half a kilobyte of memory then."""


@dataclass(frozen=True, slots=True)
class Cell:
    """Operation x variant x scale x temperature: what is planned, run, verified and resumed."""

    operation: str
    variant: str
    rows: Rows
    temperature: Temperature
    samples: Annotated[int, Meta(ge=0, le=100_000)]
    gap: str = ""
    """Why the variant's engine cannot run it: declared, shown, never attempted."""

    @property
    def key(self) -> str:
        """Its identity in a plan and in a record."""
        return f"{self.operation}|{self.variant}|{self.rows}|{self.temperature}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Choices):
    """All choices, with no default left open, and the cells that follow from them, in the order of
    the paper.

    Planning these choices again gives the same plan: what the planner adds (the A/A control, the
    harness's overhead) stands in `variants` and not in `on`. `repeat` stays None where nobody
    chose it, because scales differ in it.
    """

    edition: str
    rows: tuple[Rows, ...]
    repeat_most: Repeat = 1
    repeat_s: Seconds = 0.0
    time_limit_s: TimeLimit = 60.0
    variants: tuple[str, ...]
    cells: tuple[Cell, ...]
    aa_control: str = ""
    """The A/A control that was added: its noise is that of planned samples, so an undecided
    comparison with it is not repeated."""
    roles: tuple[tuple[str, Annotated[str, one_of(tuple(Role))]], ...] = ()
    """(variant, role) of every variant that is no competitor; its engine declares the role."""
    study: Study | None = None
    """How the variants differ, if the plan is a study."""
    workload: Workload | None = None
    """The user's own, if the benchmark is none of the installed ones."""

    def role_of(self, variant: str) -> Role:
        """The role of a variant."""
        return Role(dict(self.roles).get(variant, Role.COMPETITOR))

    def to_json(self) -> str:
        """Canonical JSON: equal plans give equal text."""
        return json.dumps(self.fields(), sort_keys=True, separators=(",", ":"))

    def fields(self) -> dict[str, Any]:
        """Its fields as plain values, without those that only some plans have."""
        plain = dataclasses.asdict(self)
        left_out = {name for name in OF_SOME if not plain[name]}
        if self.workload is not None:
            plain["workload"] = plain_fields(self.workload)
            left_out -= {"sql", "data"}
        return {name: value for name, value in plain.items() if name not in left_out}

    @property
    def hash(self) -> str:
        """The short identity of what the plan fixes: choices, variants, cells. The reasons of gaps
        are no part of it, since another release may word them differently; nor are choices
        without effect."""
        cells = tuple(dataclasses.replace(cell, gap="") for cell in self.cells)
        effective: dict[str, Any] = {name: DEFAULTS[name] for name in idle(self)}
        text = dataclasses.replace(self, cells=cells, **effective).to_json()
        return hashlib.sha256(text.encode()).hexdigest()[:12]

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Read back what `to_json` wrote. Raises `InputError` where it is no plan."""
        data = strict_json(text)
        plan: Plan = shaped(data, Plan, "the plan")
        known = (each.name for each in dataclasses.fields(Plan))
        if missing := [name for name in known if name not in data and name not in OF_SOME]:
            raise InputError(f"the plan: {missing[0]} is missing")
        plan.check()
        return plan

    def check(self) -> None:
        """Raise `InputError` where its parts contradict each other, or a name is none."""
        self._check_names()
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
        for name in self.on:
            # A study's base may be the chosen variant with more tactics named.
            if name not in self.variants and self.study is None:
                raise InputError(f"the plan: {name} was chosen, but the plan lacks it")
        if self.study is not None:
            self._check_study(self.study)
        for statement in self.workload.statements if self.workload else ():
            if not all(start < 2**64 for start in statement.starts):
                raise InputError(f"the plan: {statement.name} draws from a start beyond 64 bits")

    def _check_names(self) -> None:
        names = [self.benchmark, self.edition, *self.variants, *self.operations, *self.on]
        names += [name for cell in self.cells for name in (cell.operation, cell.variant)]
        names += [name for name, _ in self.roles]
        # A plan without a control names none, and one of a study's own design no preset.
        names += [name for name in (self.preset, self.aa_control) if name]
        for name in dict.fromkeys(names):
            whole = name.isprintable() and 1 <= len(name) <= NAME_LETTERS_MAX
            if name.startswith("-") or not whole:
                raise InputError(f"the plan: {name[:NAME_LETTERS_SHOWN]!r} is not a valid name")

    def _check_study(self, study: Study) -> None:
        """Raise `InputError` where a study's combinations are none of its switches or variants."""
        if bool(self.design) is False or not study.switches or not study.combinations:
            raise InputError("the plan: a study needs a design, switches and combinations")
        names = [switch.key for switch in study.switches]
        seen = set()
        for each in study.combinations:
            if each.variant not in self.variants:
                raise InputError(f"the plan: its study has the variant {each.variant}, it does not")
            known = tuple(name for name in names if name in each.flipped)
            if each.flipped != known or each.flipped in seen:
                raise InputError(f"the plan: {each.variant} is no combination of its switches")
            seen.add(each.flipped)
        if study.combinations[0].flipped:
            raise InputError("the plan: the first combination of a study is its base")


OF_SOME = ("workload", "sql", "data", "dialect", "types", "ramp")
"""Fields that only some plans have: the others do without, and keep the hash that they had before
these fields existed."""


def join_names(names: Sequence[str], most: int = 8) -> str:
    """A list for a message, cut where it gets long."""
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
