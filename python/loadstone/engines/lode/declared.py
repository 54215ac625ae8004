"""The tactics of lode as its own code has them, and how each is changed."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from loadstone import lode
from loadstone.engines import tactic
from loadstone.engines.tactic import CACHE_BYTES_DEFAULT, Level, Tactic
from loadstone.errors import InputError

_BOUNDS = re.compile(r"(?:bytes|a number) from ([0-9]+)(?: to ([0-9]+))?")
"""The value that stands for a number, with its bounds, as lode describes it."""
ELSEWHERE = ("place", "swizzle", "prefetch", "detect")
"""Tactics of lode that no statement can determine apart: of clients, of walks along references, and
of pages that a program maps as memory. `place` is another for statements."""
PLACES = tactic.declared(Path(__file__).with_name("place.toml"))
OF_FILES = frozenset({"extent", "layout", "mirror"})
"""The tactics by which files look otherwise. Contents do not depend on any other."""

STUDIES: Mapping[str, Mapping[str, Any]] = tomllib.loads(
    Path(__file__).with_name(tactic.FILE).read_text(encoding="utf-8")
)
"""A study's declarations of each tactic, beside those of lode's own code."""


def described(
    values: Mapping[str, Sequence[str]], others: Mapping[str, Tactic] | None = None
) -> dict[str, Tactic]:
    """Tactics with these values, the default first, in the words of lode's code, or of `others`."""
    rows = {row["name"]: row for row in lode.tactics()}
    return {
        name: (others or {}).get(name) or _tactic(rows[name], named)
        for name, named in values.items()
    }


def check_together(values: Mapping[str, str]) -> None:
    """Raise `InputError` for values that lode refuses together, in its own words. Names that its
    database does not have, as `place`, are left out."""
    known = {name for name, _ in lode.tactics_of("")}
    text = "&".join(f"{name}={value}" for name, value in values.items() if name in known)
    try:
        lode.tactics_of(text)
    except ValueError as error:
        message, _, hint = str(error).partition(": ")
        raise InputError(f"lode: {message}", hint=hint) from None


def level_of(name: str) -> Level:
    """The least that another value of lode's tactic takes."""
    return Level.LOAD if name in OF_FILES else Level.START


def declared() -> dict[str, Tactic]:
    """The tactics as lode's code has them, the default first."""
    found: dict[str, Sequence[str]] = {}
    for row in lode.tactics():
        if row["name"] in ELSEWHERE:
            continue
        values = [str(name) for name, _ in row["values"]]
        default = str(row["default"])
        if len(values) == 1 and default not in values:
            kind = "<bytes>" if "bytes" in values[0] else "<n>"
            values = _sizes(values[0]) or [default, kind]
        values = ["<bytes>" if value.startswith("bytes ") else value for value in values]
        found[row["name"]] = (default, *(value for value in values if value != default))
    found["cache"] = (str(CACHE_BYTES_DEFAULT), "<bytes>")
    return described(found) | PLACES


def from_row(row: Mapping[str, Any], values: Mapping[str, str]) -> Tactic:
    """A tactic in the words of a row of lode's, with these values and their meanings."""
    texts = {key: row[key] for key in tactic.SENTENCES}
    table = {"level": level_of(row["name"]), "values": values, **texts}
    return tactic.from_table(row["name"], table)


def _tactic(row: Mapping[str, Any], values: Sequence[str]) -> Tactic:
    """With a study's declarations; a number's meaning is what the row says of its one value."""
    meanings = {str(name): str(about) for name, about in row["values"]}
    number = next((about for name, about in meanings.items() if name not in values), "")
    found = from_row(row, {value: meanings.get(value, number) for value in values})
    for bounds in filter(None, map(_BOUNDS.fullmatch, meanings)):
        most = int(bounds[2]) if bounds[2] else None
        found = replace(found, least=int(bounds[1]), most=most)
    own = STUDIES.get(row["name"], {})
    return replace(found, **{**own, "counters": tuple(own.get("counters", ()))})


def _sizes(values: str) -> list[str]:
    """The numbers of a value that lists all there are: `4, 8 or 16 pages`."""
    return re.findall("[0-9]+", values) if " or " in values else []
