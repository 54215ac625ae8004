"""How to run it again: the command that was given, and the plan as a file."""

import json
from collections.abc import Sequence

from loadstone.record.model import Run
from loadstone.role import Role


def command(run: Run) -> str:
    """The first session's command line; the others only continued it."""
    said = next((session.command for session in run.sessions if session.command), "")
    return said or "loadstone run --plan plan.toml"


def plan_toml(run: Run) -> str:
    """The plan as a TOML file for `loadstone run --plan`, with every choice made explicit."""
    plan = run.plan
    cells = plan.cells
    temperatures = list(dict.fromkeys(cell.temperature for cell in cells))
    floor = any(plan.role_of(cell.variant) is Role.OVERHEAD for cell in cells)
    engines = [v for v in plan.variants if plan.role_of(v) is not Role.OVERHEAD]
    cold = next((cell.samples for cell in cells if cell.temperature == "cold"), None)
    # Scales differ in it where nobody chose: then the default says it best.
    warm = {cell.samples for cell in cells if cell.temperature != "cold"}
    lines = [
        f"# plan {plan.hash}",
        f"benchmark = {_text(plan.benchmark)}",
        f"edition = {_text(plan.edition)}",
        f"on = {_list(engines)}",
        f"rows = [{', '.join(f'{rows:_}' for rows in plan.rows)}]",
        f"temperature = {_list(temperatures)}",
        *([f"repeat = {warm.pop()}"] if len(warm) == 1 else []),
        *([f"repeat_cold = {cold}"] if cold is not None else []),
        *([f"repeat_most = {plan.repeat_most}"] if plan.repeat_most else []),
        f"repeat_s = {plan.repeat_s}",
        f"precision = {float(plan.precision)}",
        f"warm_up = {plan.warm_up}",
        f"rounds = {plan.rounds}",
        f"seed = {plan.seed}",
        f"time_limit_s = {float(plan.time_limit_s)}",
        f"floor = {str(floor).lower()}",
        f"limits = {str(plan.limits).lower()}",
        f"awake = {str(plan.awake).lower()}",
        f"operations = {_list(list(dict.fromkeys(cell.operation for cell in cells)))}",
    ]
    return "\n".join(lines) + "\n"


def _text(value: str) -> str:
    # A JSON string is a TOML basic string, but for DEL, which JSON leaves bare.
    return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")


def _list(values: Sequence[str]) -> str:
    if sum(map(len, values)) < 70:
        return f"[{', '.join(_text(value) for value in values)}]"
    return "[\n" + "".join(f"  {_text(value)},\n" for value in values) + "]"
