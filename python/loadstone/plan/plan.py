"""The plan of a run: a frozen, printable, hashable list of cells. A plan touches no engine."""

import dataclasses
import hashlib
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

from loadstone.errors import InputError
from loadstone.plan.choices import Choices, Repeat, Rows, Seconds, Temperature, TimeLimit
from loadstone.plan.idle_choices import DEFAULTS, idle
from loadstone.plan.role import Role, roles_before
from loadstone.plan.study import Study
from loadstone.plan.workload import Workload, workload_fields
from loadstone.text.shape import OneOf, Within, shaped, strict_json

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
    samples: Annotated[int, Within(0, 100_000)]
    gap: str = ""
    """Why the variant's engine cannot run it: declared, shown, never attempted."""

    @property
    def key(self) -> str:
        """Its identity in a plan and in a record."""
        return f"{self.operation}|{self.variant}|{self.rows}|{self.temperature}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Choices):
    """Definite choices, and the cells that follow from them, in the order of the paper.

    Planned again, these choices give the same plan: what the planner adds (the A/A control, the
    harness's overhead) stands in `variants`, and not in `on`. `repeat` stays None where nobody
    chose it, because scales differ in it. An older plan has no `preset`: it is empty.
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
    roles: tuple[tuple[str, Annotated[str, OneOf(tuple(Role))]], ...] = ()
    """(variant, role) of every variant that is no competitor, as its engine declares it."""
    study: Study | None = None
    """The difference of the variants, if the plan is a study."""
    workload: Workload | None = None
    """The user's own, if the benchmark is none of the installed ones."""

    def role_of(self, variant: str) -> Role:
        """The role of a variant."""
        return Role(dict(self.roles).get(variant, Role.COMPETITOR))

    def to_json(self) -> str:
        """Canonical JSON: equal plans give equal text."""
        return json.dumps(self.fields(), sort_keys=True, separators=(",", ":"))

    def fields(self) -> dict[str, Any]:
        """Its fields as plain values. What only a workload has is left out of other plans, whose
        hashes are as before there were any; so is a ramp where there is none."""
        reported = dataclasses.asdict(self)
        if not self.ramp:
            del reported["ramp"]
        if self.workload is None:
            reported = {name: value for name, value in reported.items() if name not in OF_WORKLOADS}
        else:
            for name in ("dialect", "types"):
                if not reported[name]:
                    del reported[name]
            reported["workload"] = workload_fields(self.workload)
        return reported

    @property
    def hash(self) -> str:
        """Short identity of all that the plan fixes: choices, variants, cells. No part of it are
        the reasons of gaps, which another release may word differently, and choices without an
        effect."""
        cells = tuple(dataclasses.replace(cell, gap="") for cell in self.cells)
        effective: dict[str, Any] = {name: DEFAULTS[name] for name in idle(self)}
        return digest_of(dataclasses.replace(self, cells=cells, **effective).to_json())

    @staticmethod
    def from_json(text: str) -> "Plan":
        """Read back what `to_json` wrote. Raises `InputError` where it is no plan."""
        data = strict_json(text)
        earlier = isinstance(data, dict) and "on" not in data
        reported = UNREPORTED | data if earlier else LATER | data
        plan: Plan = shaped(reported, Plan, "the plan")
        missing = [each.name for each in dataclasses.fields(Plan) if each.name not in reported]
        if missing:
            raise InputError(f"the plan: {missing[0]} is missing")
        plan = _completed(plan, data) if earlier else plan
        plan.check()
        return plan

    def check(self) -> None:
        """Raise `InputError` where its parts contradict each other, or a name is none."""
        names = [self.benchmark, self.edition, *self.variants, *self.operations, *self.on]
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
        for name in self.on:
            # A study's base may be the chosen variant with more tactics named.
            if name not in self.variants and self.study is None:
                raise InputError(f"the plan: {name} was chosen, but the plan lacks it")
        if self.study is not None:
            self._check_study(self.study)

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


OF_WORKLOADS: dict[str, Any] = {"workload": None, "sql": "", "data": (), "dialect": "", "types": ()}
"""The fields that only a plan of a user's workload keeps, with the values that others have."""

UNREPORTED: dict[str, Any] = OF_WORKLOADS | {
    "on": (), "operations": (), "temperature": (), "preset": "", "repeat": None,
    "repeat_cold": None, "repeat_most": 1, "repeat_s": 0.0, "precision": 0.0, "overhead": False,
    "limits": True, "disable_idle_states": True, "users": (), "rate_per_s": None, "loop_s": 2.0,
    "writers": 0, "aa_control": "", "roles": (), "design": "", "vary": (), "within_s": 60.0,
    "study": None, "budget": False, "ramp": "",
}  # fmt: skip
"""The fields that plans of earlier releases may lack, with the values that they then have."""


LATER: dict[str, Any] = OF_WORKLOADS | {
    name: UNREPORTED[name] for name in ("design", "vary", "within_s", "study", "budget", "ramp")
}
"""Those that plans lack which keep their choices, but are older than studies, or time budgets."""


def digest_of(text: str) -> str:
    """The digits by which a plan is named, and by which a record checks its text."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def _completed(plan: Plan, data: Mapping[str, Any]) -> Plan:
    """A plan of before choices were kept, with those that its cells show."""
    warm = {cell.samples for cell in plan.cells if cell.temperature != "cold"}
    cold = {cell.samples for cell in plan.cells if cell.temperature == "cold"}
    if "roles" not in data:
        names = (*plan.variants, *(cell.variant for cell in plan.cells))
        plan = dataclasses.replace(plan, roles=roles_before(names))
    if not plan.preset:
        operations = tuple(dict.fromkeys(cell.operation for cell in plan.cells))
        plan = dataclasses.replace(plan, operations=operations)
    return dataclasses.replace(
        plan,
        on=_named(plan),
        temperature=tuple(dict.fromkeys(cell.temperature for cell in plan.cells)),
        # Scales differ in it where nobody chose: then the default says it best.
        repeat=(warm.pop() or None) if len(warm) == 1 else None,
        repeat_cold=(cold.pop() or None) if len(cold) == 1 else None,
        # The harness comes with a control. Without one, what was named says it all.
        overhead=bool(plan.aa_control),
    )


def _named(plan: Plan) -> tuple[str, ...]:
    """The named variants: without the A/A control and the harness overhead at the end."""
    named = [variant for variant in plan.variants if variant != plan.aa_control]
    alone = bool(plan.aa_control and named) and "?" not in named[-1]
    came_along = alone and plan.role_of(named[-1]) is Role.OVERHEAD
    return tuple(named[:-1] if came_along else named)


def join_names(names: Sequence[str], most: int = 8) -> str:
    """A list for a message, cut where it gets long."""
    shown = ", ".join(names[:most])
    return f"{shown}, … ({len(names)} in all)" if len(names) > most else shown
