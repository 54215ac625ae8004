"""Any setting of an engine by the engine's own name: `postgresql?set.work_mem=64MB`.

The name and the value are the user's text: a name must look like one, and an engine must know it,
before it comes near a statement. What is read back is the engine's word for it.
"""

import re
from collections.abc import Collection, Mapping

from loadstone import secret
from loadstone.errors import InputError
from loadstone.plan.variant import SETTING, Variant
from loadstone.text.near import did_you_mean

VALUE_LETTERS_MAX = 200

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
PARTS_MAX = 2
"""Of a name, with a dot between them."""
_QUANTITY = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", re.ASCII)
_KIB = 1024
_UNITS: Mapping[str, float] = {
    "": 1, "b": 1, "byte": 1, "bytes": 1, "kib": _KIB, "mib": _KIB**2, "gib": _KIB**3,
    "tib": _KIB**4, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400,
}  # fmt: skip
_POWERS = {"kb": 1, "mb": 2, "gb": 3, "tb": 4}
_YES, _NO = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_LAST_DIGIT = 0.06
"""Of a number that is reported with one digit behind the point."""


def settings_of(variant: Variant) -> dict[str, str]:
    """The settings that a variant names, without the prefix."""
    named = ((name, value) for name, value in variant.tactics if name.startswith(SETTING))
    return {name.removeprefix(SETTING): value for name, value in named}


def check(engine: str, name: str, value: str, parts_max: int = PARTS_MAX) -> None:
    """Raise `InputError` for what is no setting's name, or no value that one line can show."""
    parts = name.split(".")
    if len(parts) > parts_max or not all(map(_PART.fullmatch, parts)):
        raise InputError(
            f"{engine}: {name[:40]!r} is no setting's name",
            hint=f"write {engine}?{SETTING}NAME=VALUE, with the name as {engine} has it",
        )
    if secret.names_one(name):
        raise InputError(
            f"{engine}: {name} would hold a secret, and settings are recorded",
            hint="set it outside of Loadstone",
        )
    if not value.isprintable() or len(value) > VALUE_LETTERS_MAX:
        raise InputError(
            f"{engine}: the value of {name} is no text of one line",
            hint=f"write at most {VALUE_LETTERS_MAX} letters",
        )


def unknown(engine: str, name: str, known: Collection[str]) -> InputError:
    """The error for a setting that the engine has not."""
    meant = did_you_mean(name, known)
    return InputError(
        f"{engine} has no setting {name!r}", hint=f"{meant}see the manual of {engine}"
    )


def refused(engine: str, name: str, reason: str) -> InputError:
    """The error for a setting that a run must not change."""
    hint = f"leave out {SETTING}{name}"
    return InputError(f"{engine}: {name} cannot be set: {reason}", hint=hint)


def reported(asked: str, reading: str, *, binary: bool = True) -> str:
    """A reading for the terms: where it is the value requested, in the asker's words first, and the
    engine's after them if they are others. `binary`: 1 MB is 2^20 bytes to the engine."""
    if asked.casefold() == reading.casefold():
        return reading
    return f"{asked}: {reading}" if same(asked, reading, binary=binary) else reading


def same(asked: str, reading: str, *, binary: bool = True) -> bool:
    """Whether a reading is the value that was requested, in other words."""
    a, b = asked.strip("'\" ").casefold(), reading.strip().casefold()
    if a == b or {a, b} <= _YES or {a, b} <= _NO:
        return True
    left, right = _quantity(a, binary=binary), _quantity(b, binary=binary)
    if left is None or right is None:
        return False
    rounded = _LAST_DIGIT * right[1] if "." in b else 0.0
    return abs(left[0] - right[0]) <= max(rounded, 1e-9 * abs(left[0]))


def _quantity(text: str, *, binary: bool) -> tuple[float, float] | None:
    """(number times unit, unit)."""
    found = _QUANTITY.fullmatch(text)
    if not found:
        return None
    unit = found[2]
    scale = _UNITS.get(unit)
    if scale is None and unit in _POWERS:
        scale = float((_KIB if binary else 1000) ** _POWERS[unit])
    return None if scale is None else (float(found[1]) * scale, scale)
