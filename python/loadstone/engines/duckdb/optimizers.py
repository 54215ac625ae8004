"""DuckDB's optimizers as tactics: each can be left out of planning (`disabled_optimizers`)."""

import tomllib
from collections.abc import Collection, Mapping
from pathlib import Path

from loadstone.engines.tactic import Level, Tactic

PREFIX = "optimizer."

_VALUES = (("on", "It works on each plan."), ("off", "It is left out."))


def tactics() -> dict[str, Tactic]:
    """One for each, in the order in which DuckDB lists them."""
    table = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
    studied = frozenset(table.pop("studied"))
    return {
        f"{PREFIX}{name}": _tactic(name, " ".join(does.split()), studied=name in studied)
        for name, does in table.items()
    }


def disabled(values: Mapping[str, str]) -> str:
    """The value of `disabled_optimizers` for the tactics' values."""
    off = (name for name, value in values.items() if name.startswith(PREFIX) and value == "off")
    return ",".join(name.removeprefix(PREFIX) for name in off)


def read_back(
    disabled_optimizers: str, names: Mapping[str, Tactic], known: Collection[str]
) -> dict[str, str]:
    """Each tactic's value, from the setting; nothing of one that the release lacks."""
    off = {name.strip().lower() for name in disabled_optimizers.split(",")}
    return {
        name: "off" if name.removeprefix(PREFIX) in off else "on"
        for name in names
        if name.startswith(PREFIX) and name.removeprefix(PREFIX) in known
    }


def _tactic(name: str, does: str, *, studied: bool) -> Tactic:
    return Tactic(
        PREFIX + name,
        Level.SESSION,
        _VALUES,
        does=f"{does} Switched by `disabled_optimizers`.",
        buys="`off`: the price of a plan without it, on the same data, and the time that it takes"
        " itself. Plans show whether it had anything to do.",
        costs="`on`: time for planning each statement, whether it finds something or not.",
        loses="Nothing.",
        excludes="Others: one optimizer prepares plans for the next, so that two effects together"
        " may be more, or less, than their sum.",
        source="https://duckdb.org/docs/stable/configuration/pragmas (Optimizer)",
        studied="off" if studied else "",
        group="execution",
    )
