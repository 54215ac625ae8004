"""Text of a record as people may see it: characters that would steer a terminal, or hide or reorder
text, become visible. Line ends and tabs stay; a format decides about them.

Names, errors, plans and settings come from outside. Every format that people read passes its record
through here, once.
"""

import dataclasses
import re
from collections.abc import Callable, Mapping
from typing import Any

from loadstone.control_characters import legible
from loadstone.record.model import Condition, Run, Sample, StatementText

FORMULA = re.compile(r"^[\s'\"]*[=+\-@]|^[\t\r\n]")
"""Texts that a spreadsheet would compute."""
NUMBERS_ONLY = (Sample, Condition)
PLANS = StatementText
"""Its lines are what plans are compared by; no format prints one where a line must be one."""


def legible_run(run: Run, *, lines: bool = True) -> Run:
    """A record of which every text is legible; without `lines` each but statements and their plans
    is of one line."""
    mended: Run = _mend(run, legible if lines else _flat)
    return mended


def _flat(text: str) -> str:
    return legible(text).replace("\n", " ").replace("\t", " ")


def _mend(value: Any, how: Callable[[str], str]) -> Any:
    match value:
        case str():
            return how(value)
        case tuple() | list():
            return type(value)(_mend(item, how) for item in value)
        case Mapping():
            return {_mend(key, how): _mend(item, how) for key, item in value.items()}
    if not dataclasses.is_dataclass(value) or isinstance(value, (*NUMBERS_ONLY, type)):
        return value
    if isinstance(value, PLANS):
        how = legible
    fields = dataclasses.fields(value)
    return dataclasses.replace(
        value, **{field.name: _mend(getattr(value, field.name), how) for field in fields}
    )


def inert(text: str) -> str:
    """One line that a spreadsheet takes for text: an apostrophe stands before a formula."""
    line = legible(text).replace("\n", "\N{SYMBOL FOR NEWLINE}").replace("\t", " ")
    return f"'{line}" if FORMULA.match(text) else line
