"""Any setting of an engine by the engine's own name: `postgresql?set.work_mem=64MB`.

The name and the value are the user's text: a name must look like one, and an engine must know it,
before it comes near a statement. What is read back is the engine's word for it.

Each engine that takes settings has a `settings.toml` beside its `tactics.toml`: which settings
change the loaded data, and which are refused, by the reason. The engine itself adds how to find
out what its release knows, how to set one, and how to read it back.
"""

import re
import tomllib
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Self

from loadstone import secret
from loadstone.errors import InputError
from loadstone.plan.variant import SETTING, Variant
from loadstone.text.near import did_you_mean

VALUE_LETTERS_MAX = 200

_PART = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,62}", re.ASCII)
_QUANTITY = re.compile(r"([+-]?[0-9]+(?:\.[0-9]+)?) ?([A-Za-z]*)", re.ASCII)
_KIB = 1024
_UNITS: Mapping[str, float] = {
    "": 1, "b": 1, "byte": 1, "bytes": 1, "kib": _KIB, "mib": _KIB**2, "gib": _KIB**3,
    "tib": _KIB**4, "us": 1e-6, "ms": 1e-3, "s": 1, "min": 60, "h": 3600, "d": 86_400,
}  # fmt: skip
_POWERS = {"kb": 1, "mb": 2, "gb": 3, "tb": 4}
_YES, _NO = frozenset({"on", "true", "yes", "1"}), frozenset({"off", "false", "no", "0"})
_LAST_DIGIT = 0.06
"""The rounding error of a number that is printed with one decimal."""


def settings_of(variant: Variant) -> dict[str, str]:
    """The settings that a variant names, without the prefix."""
    named = ((name, value) for name, value in variant.tactics if name.startswith(SETTING))
    return {name.removeprefix(SETTING): value for name, value in named}


@dataclass(frozen=True, slots=True)
class Settings:
    """The rules for an engine's settings, from its `settings.toml`."""

    engine: str
    of_data: frozenset[str]
    """Settings that change the loaded data or its statistics: another value needs a new load."""
    refused: Mapping[str, tuple[str, ...]]
    """Patterns of names that a run must not change, by the reason; `*` stands for any letters."""
    groups: Mapping[str, frozenset[str]]
    """Other sets of names that only this engine distinguishes."""
    name_parts: int = 2
    """The most parts of a name, with dots between them."""
    binary_units: bool = True
    """Whether 1 MB is 2^20 bytes to the engine."""

    @classmethod
    def beside(cls, code: str, engine: str) -> Self:
        """The rules of the engine that `code`, a module's `__file__`, is part of."""
        rules = tomllib.loads(Path(code).with_name("settings.toml").read_text(encoding="utf-8"))
        return cls(
            engine,
            of_data=frozenset(rules.get("of_data", ())),
            refused={reason: tuple(names) for reason, names in rules.get("refused", {}).items()},
            groups={name: frozenset(names) for name, names in rules.get("groups", {}).items()},
            name_parts=rules.get("name_parts", 2),
            binary_units=rules.get("binary_units", True),
        )

    def check(self, name: str, value: str) -> None:
        """Raise `InputError` for a malformed name, a value that one line cannot show, or a setting
        that a run must not change."""
        parts = name.split(".")
        if len(parts) > self.name_parts or not all(map(_PART.fullmatch, parts)):
            raise InputError(
                f"{self.engine}: {name[:40]!r} is no setting's name",
                hint=f"write {self.engine}?{SETTING}NAME=VALUE, with the name as {self.engine}"
                " has it",
            )
        if secret.names_one(name):
            raise InputError(
                f"{self.engine}: {name} would hold a secret, and settings are recorded",
                hint="set it outside of Loadstone",
            )
        if not value.isprintable() or len(value) > VALUE_LETTERS_MAX:
            raise InputError(
                f"{self.engine}: the value of {name} is no text of one line",
                hint=f"write at most {VALUE_LETTERS_MAX} letters",
            )
        for reason, patterns in self.refused.items():
            if any(fnmatchcase(name.casefold(), pattern.casefold()) for pattern in patterns):
                raise self.refusal(name, reason)

    def refusal(self, name: str, reason: str) -> InputError:
        """The error for a setting that cannot be set."""
        hint = f"leave out {SETTING}{name}"
        return InputError(f"{self.engine}: {name} cannot be set: {reason}", hint=hint)

    def unknown(self, name: str, known: Collection[str]) -> InputError:
        """The error for a setting that the engine does not have."""
        hint = f"{did_you_mean(name, known)}see the manual of {self.engine}"
        return InputError(f"{self.engine} has no setting {name!r}", hint=hint)

    def shown(self, wanted: str, reading: str) -> str:
        """A reading as the terms show it: the engine's own words, after the wanted value if that
        is the same in other words."""
        if wanted.casefold() == reading.casefold():
            return reading
        equal = same(wanted, reading, binary=self.binary_units)
        return f"{wanted}: {reading}" if equal else reading


def same(wanted: str, reading: str, *, binary: bool = True) -> bool:
    """Whether a reading is the wanted value in other words. `binary`: 1 MB is 2^20 bytes."""
    a, b = wanted.strip("'\" ").casefold(), reading.strip().casefold()
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
