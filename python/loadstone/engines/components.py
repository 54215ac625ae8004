"""Which component of a database engine a function of its program belongs to.

The rules are data: `components.toml` in the engine's folder, then the one beside this file, which
all engines share. The first rule that fits a function counts; no rule, and it is `UNCLASSIFIED`.
"""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from loadstone.errors import EngineError
from loadstone.plan.statement_ladder import UNCLASSIFIED

_HERE = Path(__file__).parent
_BETWEEN = re.compile(r"\[between (.*) and (.*)\]")
_KEYS = {"component", "objects", "functions", "entries"}


@dataclass(frozen=True, slots=True)
class Rule:
    """A component, and patterns of the functions that belong to it. `None` fits all."""

    component: str
    objects: re.Pattern[str] | None
    functions: re.Pattern[str] | None
    entries: re.Pattern[str] | None


@dataclass(frozen=True, slots=True)
class Components:
    """All rules of an engine, in order."""

    rules: tuple[Rule, ...]

    def of(self, object_: str, function: str, entry: str = "") -> str:
        """The component of a function in an object file; of the kernel's by its `entry`. One
        without a name belongs where its neighbours do: the linker keeps source files together."""
        is_kernel = object_ == "[kernel]"
        neighbours = _BETWEEN.fullmatch(function)
        for name in neighbours.groups() if neighbours else (function,):
            for rule in self.rules:
                pattern, text = (rule.entries, entry) if is_kernel else (rule.functions, name)
                if pattern is None or (rule.objects and not rule.objects.match(object_)):
                    continue
                if pattern.match(text):
                    return rule.component
        return UNCLASSIFIED


@lru_cache(maxsize=16)
def components_of(engine: str) -> Components:
    """The rules for an engine; the common ones alone for one that has none."""
    own = _HERE / engine / "components.toml"
    files = [own] if re.fullmatch(r"\w+", engine) and own.is_file() else []
    return Components(
        tuple(rule for file in [*files, _HERE / "components.toml"] for rule in _rules(file))
    )


def _rules(file: Path) -> Sequence[Rule]:
    table: Mapping[str, Any] = tomllib.loads(file.read_text(encoding="utf-8"))
    try:
        return [_rule(rule) for rule in table["rule"]]
    except (KeyError, TypeError, re.error) as error:
        raise EngineError(
            f"{file.parent.name}/{file.name}: {error}",
            hint="a rule has `component`, and `functions` or `entries`: regular expressions",
        ) from error


def _rule(rule: Mapping[str, Any]) -> Rule:
    if set(rule) - _KEYS or not {"functions", "entries"} & set(rule):
        raise KeyError(f"the rule of {rule.get('component')!r} has {', '.join(rule)}")
    patterns = [
        re.compile("|".join(f"(?:{text})" for text in rule[key])) if key in rule else None
        for key in ("objects", "functions", "entries")
    ]
    return Rule(rule["component"], *patterns)
