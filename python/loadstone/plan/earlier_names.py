"""Names of choices, operations and values in earlier releases: refused, and the message says the
name of now."""

from collections.abc import Collection

CHOICES = {"panel": "preset", "floor": "overhead", "awake": "disable_idle_states"}

VALUES = {("locks", "table"): "database"}
"""(Tactic, its value in earlier releases) -> the value of now."""


def value_now(tactic: str, value: str) -> str:
    """The value that one of an earlier release became; empty where it was not renamed."""
    return VALUES.get((tactic, value), "")


def option_now(option: str) -> str:
    """The name of an option that was renamed; empty where it was not."""
    prefix = "--no-" if option.startswith("--no-") else "--"
    name = CHOICES.get(option.removeprefix(prefix).replace("-", "_"), "")
    return f"{prefix}{name.replace('_', '-')}" if name else ""


def operation_now(name: str, known: Collection[str]) -> tuple[str, ...]:
    """The known operations that one of an earlier release became; empty if it is none of these."""
    operation, _, _ = name.rpartition("-")
    now = {
        "host": (f"{operation}-client",),
        "indexed": (f"{operation}-clustered", f"{operation}-nonclustered"),
    }.get(name.rpartition("-")[2], ())
    return tuple(one for one in now if one in known)
