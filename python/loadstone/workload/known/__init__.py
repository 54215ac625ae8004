"""Workloads that others have made known, by name: `sysbench:oltp_read_write`, `pgbench:tpcb-like`.

Each is one statement of a file beside this one, which a user could have written as their own
`workload.toml`; docs/reference/workload.md says where ours differ from the originals.
"""

import re
import tomllib
from importlib.resources import files
from typing import Any

from loadstone.errors import InputError
from loadstone.text.near import nearest, question

DEFAULT_ROWS = {"sysbench": 10_000, "pgbench": 100_000}
"""Of each one's largest table, as theirs are by default."""
SCALE_ROWS = 100_000
"""Accounts for each unit of pgbench's scale."""


def is_known(name: str) -> bool:
    """Whether a benchmark is named in this way."""
    kind, colon, _ = name.partition(":")
    return bool(colon) and kind in DEFAULT_ROWS


def names() -> list[str]:
    """All of them."""
    found = []
    for kind in DEFAULT_ROWS:
        text = files(__package__).joinpath(f"{kind}.toml").read_text(encoding="utf-8")
        # Marks stand for numbers there.
        numbered = re.sub(r"\{(?!name\b)[a-z]+\}", "1", text)
        found += [f"{kind}:{one['name']}" for one in tomllib.loads(numbered)["statement"]]
    return found


def entries_of(name: str, rows: int | None) -> dict[str, Any]:
    """The entries of its `workload.toml`, with so many rows in the largest table. Raises
    `InputError`."""
    kind, _, script = name.partition(":")
    size = rows or DEFAULT_ROWS[kind]
    scale = size // SCALE_ROWS
    # A plan counts the rows of all tables: eleven more for each unit.
    if kind == "pgbench" and (not scale or size - scale * SCALE_ROWS not in (0, 11 * scale)):
        raise InputError(
            f"pgbench has {SCALE_ROWS:,} accounts for each unit of its scale, and {size:,} is no"
            " multiple",
            hint=f"write --rows {max(scale, 1) * SCALE_ROWS}",
        )
    text = files(__package__).joinpath(f"{kind}.toml").read_text(encoding="utf-8")
    values = {"{rows}": size, "{after}": size + 1, "{scale}": scale, "{name}": script}
    for mark, value in values.items():
        text = text.replace(mark, str(value))
    found = tomllib.loads(text)
    known = [one["name"] for one in found["statement"]]
    if script not in known:
        meant = question([f"{kind}:{name}" for name in nearest(script, known, most=1)])
        raise InputError(
            f"{kind} has no {script[:60]!r} that is read",
            hint=f"{meant}there are: {', '.join(known)}",
        )
    found["statement"] = [one for one in found["statement"] if one["name"] == script]
    return found
