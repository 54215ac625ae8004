"""A run of several benchmarks: a plan for each, one after the other, and their common name.

Each plan is complete, with its own hash. A variant's name may mean an engine under one benchmark
and a client under the next, so only a plan says what its cells are."""

import hashlib
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from loadstone.errors import InputError
from loadstone.plan.plan import Plan
from loadstone.plan.written_choices import FILE_BYTES_MAX, as_toml, choices_from
from loadstone.text.files import read_toml

OWN = ("benchmark", "sql", "data", "dialect", "types", "edition", "rows", "operations")
"""The choices that belong to one benchmark: a plan file makes them in the table of its name."""
FOR_ALL = "--all"


def hash_of(plans: Sequence[Plan]) -> str:
    """The short identity of these plans in their order; a single plan keeps its own."""
    if len(plans) == 1:
        return plans[0].hash
    return hashlib.sha256("".join(plan.hash for plan in plans).encode()).hexdigest()[:12]


def file_of(plans: Sequence[Plan]) -> str:
    """The plans as a file for `--all --plan`: a table for each benchmark."""
    lines = [f"# plan {hash_of(plans)}\n"]
    for plan in plans:
        lines_of_plan = as_toml(plan).splitlines(keepends=True)
        own = [line for line in lines_of_plan if not line.startswith("benchmark = ")]
        lines += [f"\n[{json.dumps(plan.benchmark)}]\n", *own]
    return "".join(lines)


def file_name(plans: Sequence[Plan]) -> str:
    """The name of that file in a command."""
    return f"all-{hash_of(plans)}.toml"


def command_of(plans: Sequence[Plan]) -> str:
    """A command that plans the same again from that file, whatever is installed by then."""
    return f"loadstone run {FOR_ALL} --plan {file_name(plans)}"


def read_chapters(path: Path) -> tuple[dict[str, Any], dict[str, dict[str, Any]]]:
    """Read a plan file for all benchmarks: the choices for all of them, and those of each one's
    table. Raises `InputError`."""
    data = read_toml(path, FILE_BYTES_MAX, "the plan")
    tables = {name: value for name, value in data.items() if isinstance(value, Mapping)}
    common = {name: value for name, value in data.items() if name not in tables}
    refuse_own(common, str(path))
    given = {name: _checked(table, f"{path}: {name}") for name, table in tables.items()}
    for name, table in given.items():
        if table.get("benchmark", name) != name:
            raise InputError(f"{path}: its table {name} names another benchmark")
    return _checked(common, str(path)), given


def refuse_own(common: Mapping[str, Any], source: str) -> None:
    """Raise `InputError` where a choice for all belongs to one benchmark."""
    for name in OWN:
        if common.get(name) not in (None, "", (), []):
            raise InputError(
                f"{source}: {FOR_ALL} runs several benchmarks, and {name} is for one alone",
                hint=f"leave out {FOR_ALL}, or {name}",
            )


def _checked(data: Mapping[str, Any], source: str) -> dict[str, Any]:
    choices = choices_from(data, source)
    return {name: getattr(choices, name) for name in data}
