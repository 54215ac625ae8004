"""Rounding, and casts to numbers with fewer digits.

A decimal is rounded away from zero by all; a float by some to even, as the processor does it, and
by others away from zero; a cast cuts the fraction off in some.
"""

from collections.abc import Mapping

from sqlglot import exp

from loadstone.workload.constructs.construct import (
    Construct,
    gap,
    written,
)
from loadstone.workload.expression_types import DECIMAL, FLOAT, is_number, kind

_ROUND: Mapping[str, Mapping[str, str]] = {
    "to even": {
        "sqlite": "(CASE WHEN ABS({0} - CAST({0} AS INTEGER)) = 0.5 THEN 2 * ROUND({0} / 2.0)"
        " ELSE ROUND({0}) END)",
        "duckdb": "ROUND_EVEN({0}, 0)",
        "spark": "RINT({0})",
    },
    "away from zero": {
        "postgres": "ROUND(CAST({0} AS numeric), {1})",
        "mysql": "(SIGN({0}) * TRUNCATE(ABS({0}) * POW(10, {1}) + 0.5, 0) / POW(10, {1}))",
        "clickhouse": "(sign({0}) * floor(abs({0}) * pow(10, {1}) + 0.5) / pow(10, {1}))",
    },
    "cut": {
        "postgres": "TRUNC({0})",
        "duckdb": "TRUNC({0})",
        "mysql": "TRUNCATE({0}, 0)",
    },
}
_EVEN = frozenset({"postgres", "mysql", "clickhouse"})
_CUT = frozenset({"sqlite", "clickhouse", "spark"})


def _rounds(node: exp.Expr, dialect: str) -> str:
    if kind(node.this) != FLOAT:
        return ""
    return "to even" if dialect in _EVEN else "away from zero"


def _write_round(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    digits = node.args.get("decimals")
    if meaning == "to even" and digits is not None:
        return None
    text = _ROUND[meaning].get(target)
    return None if text is None else written(text, node, target, node.this, digits or "0")


_DEFAULT_DIGITS = {"duckdb": (18, 3), "mysql": (10, 0), "clickhouse": (10, 0), "spark": (10, 0)}
_MOST_DIGITS = {
    "duckdb": "CAST({0} AS DECIMAL(38, 15))", "mysql": "CAST({0} AS DECIMAL(65, 20))",
    "clickhouse": "CAST({0} AS Nullable(Decimal(76, 20)))",
    "spark": "CAST({0} AS DECIMAL(38, 15))",
}  # fmt: skip


_ROUND_DECIMAL = "ROUND({0} + SIGN({0}) * 1e-10, {1})"
"""SQLite has decimals as floats: 0.35 is a little less than it shows, and would be rounded down."""


def _rounds_decimals(node: exp.Expr, dialect: str) -> str:
    if kind(node.this) != DECIMAL or node.args.get("decimals") is None:
        return ""
    return "of floats" if dialect == "sqlite" else "of decimals"


def _write_decimals(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "of floats":
        raise gap("the rounding of decimals", target)
    if target != "sqlite":
        return None
    return written(_ROUND_DECIMAL, node, target, node.this, node.args["decimals"])


def _casts(node: exp.Expr, dialect: str) -> str:
    """Of a number with a fraction to a whole number."""
    if node.args["to"].this not in exp.DataType.INTEGER_TYPES:
        return ""
    if kind(node.this) not in (FLOAT, DECIMAL):
        return ""
    if dialect in _CUT:
        return "cut"
    return "to even" if kind(node.this) == FLOAT else "away from zero"


def _write_cast(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "away from zero" or (meaning == "to even" and target == "clickhouse"):
        text: str | None = "ROUND({0})"
    else:
        text = _ROUND[meaning].get(target)
    if text is None:
        return None
    found = node.copy()
    found.set("this", written(text, node.this, target, node.this, "0"))
    return found


def _decimals(node: exp.Expr, dialect: str) -> str:
    """Of a cast to a decimal."""
    to = node.args["to"]
    if to.this != exp.DType.DECIMAL:
        return ""
    if to.expressions:
        return {"sqlite": "not rounded", "clickhouse": "cut"}.get(dialect, "rounded")
    digits = _DEFAULT_DIGITS.get(dialect)
    return "as many digits as there are" if digits is None else f"{digits[0]}, {digits[1]}"


def _write_decimal(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    to = node.args["to"]
    if meaning == "rounded":
        behind = to.expressions[1].name if len(to.expressions) > 1 else "0"
        if target == "sqlite":
            return written(_ROUND_DECIMAL, node, target, node.this, behind)
        if not is_number(node.this):
            return None
        found = node.copy()
        found.set("this", written("ROUND({0}, {1})", node.this, target, node.this, behind))
        return found
    if meaning in ("cut", "not rounded"):
        raise gap("a cast to a decimal", target)
    if to.expressions or target == "sqlite":
        return None
    if meaning == "as many digits as there are":
        return written(_MOST_DIGITS[target], node, target, node.this)
    found = node.copy()
    found.set("to", exp.DataType.build(f"DECIMAL({meaning})"))
    return found


ROUNDING = (
    Construct(
        "the rounding of floats", (exp.Round,), _rounds, _write_round, ("round(f)",)
    ),
    Construct(
        "a cast to a whole number", (exp.Cast,), _casts, _write_cast,
        ("CAST(f AS INTEGER)", "CAST(d AS INTEGER)"),
    ),
    Construct(
        "a cast to a decimal", (exp.Cast,), _decimals, _write_decimal,
        ("CAST(d AS DECIMAL(10, 1))", "CAST('2.5' AS DECIMAL(5, 1)) * 2"),
    ),
    Construct(
        "the rounding of decimals", (exp.Round,), _rounds_decimals, _write_decimals,
        ("round(d, 1)",),
    ),
)  # fmt: skip
