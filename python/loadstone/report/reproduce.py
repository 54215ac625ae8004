"""How to run it again: the plan as a command, and as a file. Both give the plan's own hash."""

import json
import shlex
from typing import Any

from loadstone.plan.plan import Choices, Plan
from loadstone.plan.role import Role
from loadstone.record.model import Run

OPTIONS = {
    "on": "--on", "edition": "--edition", "rows": "--rows", "operations": "--operation",
    "temperature": "--temperature", "preset": "--preset", "repeat": "--repeat",
    "repeat_cold": "--repeat-cold", "warm_up": "--warm-up", "repeat_most": "--repeat-most",
    "repeat_s": "--repeat-seconds", "precision": "--precision", "rounds": "--rounds",
    "seed": "--seed", "time_limit_s": "--time-limit", "overhead": "--overhead",
    "limits": "--limits", "disable_idle_states": "--disable-idle-states", "users": "--users",
    "rate_per_s": "--rate", "loop_s": "--loop-seconds", "writers": "--writers",
}  # fmt: skip
"""Choice -> the option of `loadstone run` that makes it."""
SELDOM = ("warm_up", "precision", "seed", "time_limit_s", "overhead", "limits",
          "disable_idle_states", "loop_s", "writers")  # fmt: skip
"""Left out of a command if they are the default; no preset has another default for them."""


def typed(run: Run) -> str:
    """The first session's command line; the others only continued it."""
    return next((session.command for session in run.sessions if session.command), "")


def command(run: Run) -> str:
    """A command that plans the same again, on the same engines."""
    chosen, plain = choices_of(run.plan), Choices()
    words = ["loadstone", "run", str(chosen.pop("benchmark"))]
    for name, value in chosen.items():
        if name in SELDOM and value == getattr(plain, name):
            continue
        option = OPTIONS[name]
        if isinstance(value, bool):
            words.append(option if value else f"--no-{option.removeprefix('--')}")
        else:
            items = value if isinstance(value, list) else [value]
            words += [word for item in items for word in (option, str(item))]
    return shlex.join(words)


def plan_toml(run: Run) -> str:
    """The plan as a TOML file for `loadstone run --plan`, with every choice made explicit."""
    lines = [f"# plan {run.plan.hash}"]
    if not run.plan.preset:
        lines.append("# An older record without its preset: cold cells may differ.")
    lines += [f"{name} = {_toml(value)}" for name, value in choices_of(run.plan).items()]
    return "\n".join(lines) + "\n"


def choices_of(plan: Plan) -> dict[str, Any]:
    """The choices that give a plan, by the fields of `Choices`, in an order to be read."""
    cells = plan.cells
    # Scales differ in it where nobody chose: then the default says it best.
    warm = {cell.samples for cell in cells if cell.temperature != "cold"}
    cold = next((cell.samples for cell in cells if cell.temperature == "cold"), None)
    operations = list(plan.operations)
    if not plan.preset:
        operations = list(dict.fromkeys(cell.operation for cell in cells))
    chosen: dict[str, Any] = {
        "benchmark": plan.benchmark,
        "edition": plan.edition,
        "on": _engines(plan),
        "rows": list(plan.rows),
        "temperature": list(dict.fromkeys(cell.temperature for cell in cells)),
        "preset": plan.preset or None,
        "operations": operations,
        "repeat": warm.pop() if len(warm) == 1 else None,
        "repeat_cold": cold,
        "repeat_most": plan.repeat_most or None,
        "repeat_s": float(plan.repeat_s),
        "precision": float(plan.precision),
        "warm_up": plan.warm_up,
        "rounds": plan.rounds,
        "seed": plan.seed,
        "time_limit_s": float(plan.time_limit_s),
        # The harness comes with a control. Without one, what was named says it all.
        "overhead": bool(plan.aa_control),
        "limits": plan.limits,
        "disable_idle_states": plan.disable_idle_states,
        "users": list(plan.users),
        "rate_per_s": plan.rate_per_s,
        "loop_s": float(plan.loop_s),
        "writers": plan.writers,
    }
    return {name: value for name, value in chosen.items() if value not in (None, [])}


def _engines(plan: Plan) -> list[str]:
    """The named variants: without the A/A control and the harness overhead at the end."""
    named = [variant for variant in plan.variants if variant != plan.aa_control]
    if plan.aa_control and plan.role_of(named[-1]) is Role.OVERHEAD and "?" not in named[-1]:
        named.pop()
    return named


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            return _text(value)
        case list():
            items = [_toml(item) for item in value]
            plain = f"[{', '.join(items)}]"
            return plain if len(plain) < 90 else "[\n" + "".join(f"  {i},\n" for i in items) + "]"
        case int():
            return f"{value:_}"
    return str(value)


def _text(value: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
