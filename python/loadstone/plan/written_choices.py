"""Choices read from a plan file or a command line, and written as either."""

import json
import shlex
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from loadstone.errors import InputError
from loadstone.plan.choices import (
    DEFINED,
    RUN,
    SHARE,
    STUDIED,
    STUDY,
    TWO_ENDED,
    Choice,
    Choices,
)
from loadstone.plan.idle_choices import idle
from loadstone.text.files import read_toml
from loadstone.text.near import did_you_mean
from loadstone.text.parsing import as_percentage, share
from loadstone.text.shape import fields_of, shaped

FILE_BYTES_MAX = 1 << 20
"""Of a plan file."""
LINE_LETTERS_MAX = 90
"""Of a list in a plan file, before each of its items gets a line."""
OF_A_STUDY = {"design": TWO_ENDED, "temperature": STUDIED}
"""Defaults of the command `study` that differ from those of the fields."""
COMMAND_LINE = "the command line"
"""The source of choices that are options."""


def read_given(path: Path) -> dict[str, Any]:
    """The entries of a plan file, without defaults; checked by name and type."""
    data = read_toml(path, FILE_BYTES_MAX, "the plan")
    checked = choices_from(data, str(path))
    return {name: getattr(checked, name) for name in data}


def choices_from(data: Mapping[str, Any], source: str) -> Choices:
    """Check names, types and bounds of choices given as plain values; `source` names their place. A
    single item may stand for a list."""
    hints = fields_of(Choices)
    unknown = sorted(set(data) - set(hints))
    if unknown:
        if isinstance(data[unknown[0]], Mapping):
            raise InputError(
                f"{source}: unknown choice {unknown[0]}; only a plan for --all has such tables",
                hint="add --all to run one",
            )
        raise InputError(
            f"{source}: unknown choice {unknown[0]}",
            hint=f"{did_you_mean(unknown[0], hints)}known: {', '.join(sorted(hints))}",
        )
    values = {}
    for choice in DEFINED:
        if choice.name in data:
            value = data[choice.name]
            alone = choice.many and not isinstance(value, list | tuple)
            where = _named(source, choice)
            if choice.option.metavar == SHARE and isinstance(value, str):
                value = share(value, where)
            values[choice.name] = shaped((value,) if alone else value, hints[choice.name], where)
    return Choices(**values)


def _named(source: str, choice: Choice) -> str:
    """A choice as its user wrote it: an option, or a name in a file."""
    option = choice.option.flag or choice.option.metavar
    return option if source == COMMAND_LINE else f"{source}: {choice.name}"


def command_of(choices: Choices) -> str:
    """The command that these choices are made for."""
    return STUDY if choices.design else RUN


def studied_only(data: Mapping[str, Any]) -> list[str]:
    """The choices given that only a study takes."""
    own = [choice.name for choice in DEFINED if choice.option.commands == (STUDY,)]
    return [name for name in own if data.get(name) not in (None, "", (), [])]


def _made(choices: Choices) -> Iterator[tuple[Choice, Any]]:
    """Every choice that is made and that the command takes. One that is None, empty or without
    effect is left to its default."""
    command, without_effect = command_of(choices), idle(choices)
    for choice in DEFINED:
        value = getattr(choices, choice.name)
        if choice.name == "benchmark" and choices.sql:
            continue
        if choice.name in without_effect:
            continue
        if value not in (None, "", ()) and command in choice.option.commands:
            yield choice, value


def as_toml(choices: Choices) -> str:
    """The choices as a plan file, defaults included."""
    return "".join(f"{choice.name} = {_toml(value)}\n" for choice, value in _made(choices))


def as_command(choices: Choices) -> str:
    """The choices as a command line."""
    command = command_of(choices)
    words = ["loadstone", command]
    for choice, value in _made(choices):
        option = choice.option
        if option.seldom and value == choice.default:
            continue
        if command == STUDY and value == OF_A_STUDY.get(choice.name):
            continue
        if isinstance(value, bool):
            words.append(option.flag if value else f"--no-{option.flag.removeprefix('--')}")
        else:
            for item in value if choice.many else (value,):
                text = as_percentage(item) if option.metavar == SHARE else str(item)
                words += [option.flag, text] if option.flag else [text]
    return shlex.join(words)


def _toml(value: object) -> str:
    match value:
        case bool():
            return str(value).lower()
        case str():
            # A JSON string is a TOML basic string, but for DEL, which JSON leaves bare.
            return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
        case tuple():
            items = [_toml(item) for item in value]
            plain = f"[{', '.join(items)}]"
            lines = "".join(f"  {item},\n" for item in items)
            return plain if len(plain) < LINE_LETTERS_MAX else f"[\n{lines}]"
        case int():
            return f"{value:_}"
    return str(value)
