"""Choices without effect, because of other choices. A user who makes one is refused; a plan's hash,
its command and its file leave them out."""

from collections.abc import Mapping
from typing import Any

from loadstone.errors import InputError
from loadstone.plan.choices import DEFINED, Choices

OF_USERS = ("rate_per_s", "ramp", "writers", "loop_s")
OF_COLD = ("repeat_cold",)
NOT_OF_COLD = ("repeat", "repeat_most", "precision")
"""A cold cell has its own number of samples, and keeps to it."""
OPTIONS = {choice.name: choice.option.flag for choice in DEFINED}
DEFAULTS: Mapping[str, Any] = {choice.name: choice.default for choice in DEFINED}


def idle(choices: Choices) -> dict[str, tuple[str, str]]:
    """The choices that have no effect, by name: what they need, and an example."""
    found: dict[str, tuple[str, str]] = {}
    if not choices.users:
        found |= dict.fromkeys(OF_USERS, ("--users", "--users 8"))
    if "cold" not in choices.temperature:
        found |= dict.fromkeys(OF_COLD, ("cold cells", "--temperature cold"))
    if set(choices.temperature) == {"cold"}:
        found |= dict.fromkeys(NOT_OF_COLD, ("warm or hot cells", "--temperature warm"))
    return found


def refuse_idle(given: Mapping[str, Any], choices: Choices) -> None:
    """Raise `InputError` for the first choice that the user made and that has no effect."""
    for name, (needed, example) in idle(choices).items():
        if given.get(name) not in (None, (), [], "", DEFAULTS[name]):
            option = OPTIONS[name]
            raise InputError(
                f"{option} needs {needed}", hint=f"add for example {example}, or leave out {option}"
            )
