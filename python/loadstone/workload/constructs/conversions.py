"""Numbers and truth values as text, numbers beside texts, and a NULL in a list."""

from collections.abc import Sequence

from sqlglot import exp

from loadstone.workload.constructs.construct import Construct, both, gap, written
from loadstone.workload.expression_types import (
    BOOLEAN,
    DECIMAL,
    FLOAT,
    TEXT,
    WHOLE,
    is_number,
    kind,
)

_TEXTS = {
    BOOLEAN: dict.fromkeys(("postgres", "duckdb", "clickhouse", "spark"), "true")
    | dict.fromkeys(("sqlite", "mysql"), "1"),
    FLOAT: dict.fromkeys(("postgres", "mysql", "clickhouse"), "without .0")
    | dict.fromkeys(("duckdb", "sqlite", "spark"), "1.0"),
    DECIMAL: dict.fromkeys(("postgres", "duckdb", "mysql", "spark"), "1.50")
    | {"clickhouse": "1.5", "sqlite": "of a float"},
}
_WORDS = {"true": ("'true'", "'false'"), "t": ("'t'", "'f'"), "1": ("'1'", "'0'")}
"""Of a truth value as text, by how a true one is written."""


def _kind(node: exp.Expr) -> str:
    """A sum of whole numbers has no fraction, whatever type it has."""
    return WHOLE if isinstance(node, exp.Sum) and kind(node.this) == WHOLE else kind(node)


def _texts(node: exp.Expr, dialect: str) -> str:
    """Of a number or a truth value as text."""
    if node.args["to"].this not in exp.DataType.TEXT_TYPES:
        return ""
    return _TEXTS.get(_kind(node.this), {}).get(dialect, "")


def _write_text(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if kind(node.this) != BOOLEAN:
        raise gap("a number with a fraction as text", target)
    yes, no = _WORDS[meaning]
    text = f"CASE WHEN {{0}} THEN {yes} WHEN NOT {{0}} THEN {no} END"
    return written(f"({text})", node, target, node.this)


def _operands(node: exp.Expr) -> Sequence[exp.Expr]:
    return both(node) if isinstance(node, exp.DPipe) else node.expressions


def _joined(one: exp.Expr, node: exp.Expr, dialect: str) -> str:
    """How a number or a truth value is written that is joined to a text; PostgreSQL's functions
    write a letter."""
    found = _TEXTS.get(_kind(one), {}).get(dialect, "")
    letter = found == "true" and dialect == "postgres" and not isinstance(node, exp.DPipe)
    return "t" if letter else found


def _joins(node: exp.Expr, dialect: str) -> str:
    found = [_joined(one, node, dialect) for one in _operands(node)]
    return ", ".join(found) if any(found) else ""


def _write_joins(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    found = node.copy()
    for one, written_as in zip(_operands(found), meaning.split(", "), strict=True):
        if written_as in _WORDS:
            yes, no = _WORDS[written_as]
            text = f"(CASE WHEN {{0}} THEN {yes} WHEN NOT {{0}} THEN {no} END)"
            one.replace(written(text, one, target, one))
        elif written_as != _joined(one, node, target):
            raise gap("a number with a fraction as text", target)
        elif isinstance(one, exp.Binary) and not isinstance(one, exp.DPipe):
            one.replace(exp.paren(one.copy()))
    return found


def _to_truth(node: exp.Expr, dialect: str) -> str:
    """Of a text that is cast to a truth value."""
    if node.args["to"].this != exp.DType.BOOLEAN or kind(node.this) != TEXT:
        return ""
    return "a number" if dialect in ("sqlite", "mysql") else "words"


def _write_truth(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    word = node.this.name.strip().lower() if isinstance(node.this, exp.Literal) else ""
    if meaning == "a number" or word not in ("t", "true", "1", "f", "false", "0"):
        raise gap("a text as a truth value", target)
    return exp.Boolean(this=word in ("t", "true", "1"))


def _to_json(node: exp.Expr, dialect: str) -> str:
    if node.args["to"].this not in (exp.DType.JSON, exp.DType.JSONB):
        return ""
    return "a number" if dialect == "sqlite" else "a type"


def _write_json(_node: exp.Expr, _meaning: str, target: str) -> exp.Expr | None:
    if target == "sqlite":
        raise gap("a cast to JSON", target)
    return None


def _has_null(node: exp.Expr, dialect: str) -> str:
    """Of a list behind IN."""
    if not any(isinstance(one, exp.Null) for one in node.expressions):
        return ""
    return "passed over" if dialect == "clickhouse" else "unknown"


def _write_in(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "passed over":
        raise gap("IN with a NULL", target)
    found = node.copy()
    found.set("expressions", [one for one in found.expressions if not isinstance(one, exp.Null)])
    return written("({0} OR NULL)" if found.expressions else "NULL", node, target, found)


def _compares(node: exp.Expr, dialect: str) -> str:
    """A number that is no column with a text that is written out."""
    sides = both(node)
    for number, text in (sides, sides[::-1]):
        written_out = isinstance(text, exp.Literal) and text.is_string
        if written_out and is_number(number) and not isinstance(number, exp.Column):
            return "never equal" if dialect == "sqlite" else "as numbers"
    return ""


def _write_comparison(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "never equal":
        raise gap("a number compared with a text", target)
    found = node.copy()
    for key in ("this", "expression"):
        side = found.args[key]
        if isinstance(side, exp.Literal) and side.is_string:
            try:
                float(side.name)
            except ValueError:
                return None
            found.set(key, exp.Literal.number(side.name.strip()))
    return found


CONVERSIONS = (
    Construct(
        "a number or a truth value as text", (exp.Cast,), _texts, _write_text,
        ("CAST(b AS VARCHAR(9))", "CAST(f AS VARCHAR(20))"),
    ),
    Construct(
        "a number or a truth value joined to a text", (exp.DPipe, exp.Concat, exp.ConcatWs),
        _joins, _write_joins, ("s || b", "concat(b, '-', s)", "i + 1 || s || b"),
    ),
    Construct(
        "a text as a truth value", (exp.Cast,), _to_truth, _write_truth, ("CAST('t' AS BOOLEAN)",)
    ),
    Construct("a cast to JSON", (exp.Cast,), _to_json, _write_json, ()),
    Construct("IN with a NULL", (exp.In,), _has_null, _write_in, ("i IN (5, NULL)",)),
    Construct(
        "a number compared with a text", (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
        _compares, _write_comparison, ("i + 1 = '2'", "i * 2 < '5'"),
    ),
)  # fmt: skip
