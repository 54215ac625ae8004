"""The operators of a plan, by the names that `operators.toml` in its engine's folder gives them.

Each line of a plan must be known: an operator, or something that describes one. A plan with a line
that is not known was not fully read, and nothing that it lacks may be claimed.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache
from itertools import takewhile
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parents[2] / "engines"
"""Of the data alone: no engine is imported to read a record."""
FILE = "operators.toml"

FEW_OUTER = "nested loop from an index search"
TABLE_FUNCTION = "nested loop over a virtual table"
READS = {
    "full scan": "nested loop",
    "index scan": "nested loop",
    "subquery scan": "nested loop",
    "virtual table": TABLE_FUNCTION,
    "rows from memory": "nested loop",
    "result of another step": "nested loop",
    "keyed result of another step": "nested loop over an index",
    "index search": "nested loop over an index",
    "search of an end": "nested loop over an index",
    "multi-index search": "nested loop over an index",
    "automatic index search": "nested loop over an index made for it",
}
"""How a table is read -> the join of which it is the inner side."""
KEPT = "materialised CTE"
TOPICS: Mapping[str, tuple[str, ...]] = {
    "joins": (
        "hash join", "merge join", "nested loop", "nested loop over an index",
        "nested loop over an index made for it", "nested loop over kept rows",
        FEW_OUTER, TABLE_FUNCTION,
        "blockwise nested loop", "block nested loop", "index join with a buffer",
        "piecewise merge join", "inequality join", "ASOF join", "positional join",
        "cross product", "tuple substitution",
    ),
    "reads": ("full scan", "index scan", "index search", "multi-index search"),
    "groups": ("hash table", "array over the values", "sorted rows", "temporary B-tree"),
    "sorts": ("sort", "top-N sort", "incremental sort"),
    "keeps": (KEPT,),
    "evaluates": ("correlated subquery",),
}  # fmt: skip
"""What a plan of one engine can be held against in a plan of another."""
ALIKE = {
    "top-N sort": "sort",
    "incremental sort": "sort",
    "multi-index search": "index search",
}
"""Not all engines write the difference into their plans."""
QUADRATIC = ("nested loop", "blockwise nested loop", "block nested loop", "cross product")
"""Joins that look at each pair of rows."""
PROJECTION = "projection"
PASSING = ("result written", PROJECTION)
"""Operators that give on as many rows as they get."""
SINGLE = "aggregate without groups"
SCAN = "table scan"


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator of a plan: our name for its kind, the table or index that it reads, the rows
    that the engine expects of it, and the indentation of its line."""

    kind: str
    target: str = ""
    rows: int | None = None
    depth: int = 0

    @property
    def topic(self) -> str:
        """Under which it is compared with another engine's; empty where it is not."""
        return next((topic for topic, kinds in TOPICS.items() if self.kind in kinds), "")


@dataclass(frozen=True, slots=True)
class ReadPlan:
    """A plan as it was read. `unread` is the reason for which it is not known whole; empty where
    every line was understood. `unwritten` are the topics on which its engine may be silent."""

    engine: str
    operators: tuple[Operator, ...]
    unread: str
    unwritten: frozenset[str] = frozenset()

    @property
    def kinds(self) -> frozenset[str]:
        """The names of its operators."""
        return frozenset(operator.kind for operator in self.operators)

    @property
    def rows_expected(self) -> int | None:
        """The rows of the answer, as the topmost operator expects them; None where it expects
        nothing."""
        at = 0
        while at < len(self.operators):
            operator = self.operators[at]
            if operator.kind == KEPT:
                # The answer is that of its second input.
                at = self._last_input(at)
            elif operator.rows is not None or operator.kind not in PASSING:
                return operator.rows
            else:
                at += 1
        return None

    def _last_input(self, at: int) -> int:
        """The place of the last operator directly below another one; the next one without any."""
        return max(_inputs(self.operators, at), default=at + 1)

    @property
    def pair_joins(self) -> tuple[str, ...]:
        """Its joins that look at each pair of rows, without those of which one side is expected to
        have one row."""
        return tuple(
            operator.kind
            for at, operator in enumerate(self.operators)
            if operator.kind in QUADRATIC
            and not any(self._is_one_row(place) for place in _inputs(self.operators, at))
        )

    def _is_one_row(self, at: int) -> bool:
        for operator in self.operators[at:]:
            if operator.kind == SINGLE or operator.rows == 1:
                return True
            if operator.kind not in PASSING:
                return False
        return False


def _inputs(operators: Sequence[Operator], at: int) -> list[int]:
    """The places of the operators directly below another one."""
    below = _below(operators, at)
    level = min((one.depth for one in below), default=0)
    return [at + 1 + place for place, one in enumerate(below) if one.depth == level]


def _below(operators: Sequence[Operator], at: int) -> list[Operator]:
    depth = operators[at].depth
    return list(takewhile(lambda one: one.depth > depth, operators[at + 1 :]))


@dataclass(frozen=True)
class Rules:
    """An engine's `operators.toml`."""

    operators: tuple[tuple[str, re.Pattern[str]], ...]
    other: re.Pattern[str]
    ignored: re.Pattern[str] | None
    table: re.Pattern[str] | None
    pieces: re.Pattern[str] | None
    scope: re.Pattern[str] | None
    estimate: re.Pattern[str] | None
    refined: Mapping[str, tuple[tuple[re.Pattern[str], str], ...]]
    doubted: Mapping[str, tuple[re.Pattern[str], str]]
    implied: Mapping[str, str]
    unwritten: frozenset[str]
    siblings_join: bool
    inner_index: bool
    tree_begins: re.Pattern[str] | None


@lru_cache(maxsize=32)
def rules_of(engine: str) -> Rules | None:
    """The rules for an engine's plans; None where it has none."""
    path = FOLDER / engine / FILE
    if not re.fullmatch(r"\w+", engine) or not path.is_file():
        return None
    text: dict[str, Any] = tomllib.loads(path.read_text(encoding="utf-8"))
    other = text["other"]

    def pattern(value: str | None) -> re.Pattern[str] | None:
        return re.compile(value) if value else None

    return Rules(
        operators=tuple((kind, _any_of(one)) for kind, one in text["operators"].items()),
        other=_any_of(other["lines"]),
        ignored=pattern(text.get("ignored")),
        table=pattern(other.get("table")),
        pieces=pattern(text.get("pieces")),
        scope=pattern(text.get("scope")),
        estimate=pattern(text.get("estimate")),
        refined={
            kind: tuple((re.compile(one["line"]), one["becomes"]) for one in several)
            for kind, several in text.get("refined", {}).items()
        },
        doubted={
            kind: (re.compile(one["where"]), one["becomes"])
            for kind, one in text.get("doubted", {}).items()
        },
        implied=text.get("implied", {}),
        unwritten=frozenset(text.get("unwritten", ())),
        siblings_join=text.get("siblings_join", False),
        inner_index=text.get("inner_index", False),
        tree_begins=pattern(text.get("tree_begins")),
    )


def _any_of(patterns: str | list[str]) -> re.Pattern[str]:
    return re.compile(patterns if isinstance(patterns, str) else "|".join(patterns))


_HEAD = re.compile(r"(?:[\s:]*(?:[+:]- |->)\s*)?[\s│├└─]*(?:\d+\. )?(?:\* )?\s*")
"""Before an operator: the branch of a tree, a number, and Spark's mark of generated code."""


@lru_cache(maxsize=4096)
def read(engine: str, plan: str) -> ReadPlan:
    """The operators of a plan in the order of its lines."""
    rules = rules_of(engine)
    if rules is None:
        return ReadPlan(engine, (), f"the plans of {engine} are not read")
    if not plan.strip():
        return ReadPlan(engine, (), f"{engine} shows no plan", rules.unwritten)
    found: list[Operator] = []
    unread = ""
    # An empty line stands between the plans of two statements.
    for statement in re.split(r"\n\s*\n", plan):
        if rules.tree_begins and not rules.tree_begins.search(statement):
            continue
        operators, unknown = _statement(rules, statement)
        found += operators
        unread = unread or (unknown and f"a line of {engine} is not known here: {unknown}")
    doubted = {kind: other for kind, (where, other) in rules.doubted.items() if where.search(plan)}
    whole = tuple(replace(one, kind=doubted.get(one.kind, one.kind)) for one in found)
    return ReadPlan(engine, whole, unread, rules.unwritten)


def _statement(rules: Rules, text: str) -> tuple[list[Operator], str]:
    """The operators of one statement, and the first line that is not known."""
    found: list[Operator] = []
    levels: dict[tuple[int, str], bool] = {}
    """Those with a table that was read, and whether one is read whole: the next table at the same
    level is joined with it."""
    unknown = ""
    for line in text.splitlines():
        depth = _depth(line)
        begins = len(found)
        levels = {level: whole for level, whole in levels.items() if level[0] <= depth}
        for piece in _pieces(rules, line):
            operator = _operator(rules, piece, depth)
            if operator is None:
                if not (_describes(rules, piece, found) or rules.other.match(piece)):
                    unknown = unknown or line.strip()
                continue
            if rules.siblings_join and operator.kind in READS:
                level = depth, _scope(rules, line)
                join = READS[operator.kind]
                if level in levels:
                    few = join == "nested loop" and not levels[level]
                    found.append(Operator(FEW_OUTER if few else join, "", None, depth))
                levels[level] = levels.get(level, False) or join in ("nested loop", TABLE_FUNCTION)
            if operator.topic == "joins":
                # Of one line that says how it joins, as by a buffer, no other join is inferred.
                found[begins:] = [one for one in found[begins:] if one.topic != "joins"]
            found.append(operator)
            if operator.kind in rules.implied:
                found.append(replace(operator, kind=rules.implied[operator.kind]))
    return (list(_over_indexes(found)) if rules.inner_index else found), unknown


def _describes(rules: Rules, piece: str, found: list[Operator]) -> bool:
    """Whether a line says something of the last operator that makes it another one, or names its
    table; it is changed then."""
    if not found:
        return False
    last = found[-1]
    for line, becomes in rules.refined.get(last.kind, ()):
        if line.match(piece):
            found[-1] = replace(last, kind=becomes)
            return True
    if rules.table and last.kind == SCAN and (named := rules.table.match(piece)):
        found[-1] = replace(last, target=named[1])
        return True
    return False


def _pieces(rules: Rules, line: str) -> Iterator[str]:
    parts = rules.pieces.split(line) if rules.pieces else [line]
    for part in parts:
        if bare := _HEAD.sub("", part, count=1).strip():
            yield bare


def _operator(rules: Rules, piece: str, depth: int) -> Operator | None:
    rows = None
    if rules.estimate and (estimated := rules.estimate.search(piece)):
        # An estimate of no rows is one that was never made.
        rows = int(re.sub(r"\D", "", estimated[1])) or None
        piece = piece[: estimated.start()].strip()
    if rules.ignored:
        piece = rules.ignored.sub("", piece)
    for kind, pattern in rules.operators:
        if fits := pattern.match(piece):
            names = fits.groupdict()
            target = " by ".join(filter(None, map(names.get, ("table", "index"))))
            return Operator(kind, target, rows, depth)
    return None


def _depth(line: str) -> int:
    """Where a line's words begin."""
    begins = re.search(r"\w", line)
    return begins.start() if begins else 0


def _scope(rules: Rules, line: str) -> str:
    named = rules.scope.search(line) if rules.scope else None
    return named[1] if named else ""


def _over_indexes(found: list[Operator]) -> Iterator[Operator]:
    """With the nested loops whose inner side searches an index called so."""
    for at, operator in enumerate(found):
        if operator.kind != "nested loop":
            yield operator
            continue
        inner = max(_inputs(found, at), default=at)
        side = [found[inner], *_below(found, inner)]
        read = next((one.kind for one in side if one.kind in READS), "")
        over = read == "index search"
        yield replace(operator, kind="nested loop over an index") if over else operator
