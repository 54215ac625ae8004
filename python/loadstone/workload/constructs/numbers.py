"""Division, remainders, logarithms, the greatest of several, means, and bits."""

from collections.abc import Mapping

from sqlglot import exp

from loadstone.workload.constructs.construct import (
    Construct,
    both,
    gap,
    of_dialects,
    operand,
    written,
)
from loadstone.workload.expression_types import DECIMAL, FLOAT, WHOLE, is_number, kind

_INFINITE = "CASE WHEN {{1}} = 0 THEN {{0}} * {infinity} ELSE {float} / {{1}} END"
_FRACTION = {
    "sqlite": "(CAST({0} AS REAL) / {1})",
    "postgres": "(CAST({0} AS double precision) / NULLIF({1}, 0))",
    "mysql": "(CAST({0} AS DOUBLE) / {1})",
    "duckdb": "({0} / NULLIF({1}, 0))",
    "clickhouse": "({0} / NULLIF({1}, 0))",
}
_WHOLE = {
    "duckdb": "({0} // {1})",
    "mysql": "({0} DIV {1})",
    "clickhouse": "intDiv({0}, {1})",
    "spark": "({0} DIV {1})",
}
_DIVISION: Mapping[str, Mapping[str, str]] = {
    "whole": _WHOLE,
    "whole, NULL by 0": {
        **_WHOLE,
        "postgres": "({0} / NULLIF({1}, 0))",
        "duckdb": "({0} // NULLIF({1}, 0))",
        "clickhouse": "intDiv({0}, NULLIF({1}, 0))",
    },
    "fraction, NULL by 0": _FRACTION,
    "fraction, infinite by 0": {
        "mysql": _FRACTION["mysql"],
        "spark": "({0} / {1})",
        "sqlite": _INFINITE.format(infinity="9e999", float="CAST({0} AS REAL)"),
        "postgres": _INFINITE.format(
            infinity="CAST('Infinity' AS double precision)", float="CAST({0} AS double precision)"
        ),
    },
}
_EXACT = _FRACTION | {
    "postgres": "(CAST({0} AS numeric) / NULLIF({1}, 0))",
    "clickhouse": "(toFloat64({0}) / NULLIF(toFloat64({1}), 0))",
    "spark": "({0} / {1})",
}
"""Of decimals: SQLite may keep one as a whole number, ClickHouse keeps the dividend's digits."""


def _write_division(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == _MORE_DIGITS:
        text = f"ROUND({_EXACT[target]}, {_digits(node.this, target) + 4})"
    elif meaning in _DIVISION:
        if target not in _DIVISION[meaning]:
            return None
        text = _DIVISION[meaning][target]
    elif meaning == "of floats":
        infinite = _DIVISION["fraction, infinite by 0"]
        text = infinite.get(target, "(toFloat64({0}) / toFloat64({1}))")
    elif meaning == "exact":
        text = _EXACT[target]
    else:
        raise gap("the division of decimals", target)
    return written(text, node, target, *both(node))


_MORE_DIGITS = "with four digits more"
"""As MariaDB divides exact numbers, and takes their mean."""


def _digits(node: exp.Expr, target: str) -> int:
    """Behind the point. Raises `UnsupportedError` where the type does not tell."""
    if kind(node) == WHOLE:
        return 0
    parts = node.type.expressions if node.type is not None else ()
    if len(parts) < 2:
        raise gap("the digits of a quotient", target)
    return int(parts[1].name)


def _divides_whole(node: exp.Expr) -> bool:
    return kind(node.this) == kind(node.expression) == WHOLE


def _divides_decimals(node: exp.Expr) -> bool:
    kinds = {kind(node.this), kind(node.expression)}
    return DECIMAL in kinds and kinds <= {DECIMAL, WHOLE}


def _extremes(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    """The greatest or the least of several values, of which some may be NULL."""
    every = [node.this, *node.expressions]
    name = "GREATEST" if isinstance(node, exp.Greatest) else "LEAST"
    if target == "sqlite":
        name = "MAX" if isinstance(node, exp.Greatest) else "MIN"
    texts = [operand(one, target) for one in every]
    if meaning == "NULL left out":
        others = ([*texts[n:], *texts[:n]] for n in range(len(texts)))
        values = ", ".join(f"COALESCE({', '.join(each)})" for each in others)
        return exp.Var(this=f"{name}({values})")
    missing = " OR ".join(f"{one} IS NULL" for one in texts)
    return exp.Var(this=f"(CASE WHEN {missing} THEN NULL ELSE {name}({', '.join(texts)}) END)")


_BITS: Mapping[type[exp.Expr], Mapping[str, str]] = {
    exp.BitwiseAnd: {"clickhouse": "bitAnd({0}, {1})", "mysql": "CAST({0} & {1} AS SIGNED)"},
    exp.BitwiseOr: {"clickhouse": "bitOr({0}, {1})", "mysql": "CAST({0} | {1} AS SIGNED)"},
    exp.BitwiseXor: {
        "clickhouse": "bitXor({0}, {1})", "mysql": "CAST({0} ^ {1} AS SIGNED)",
        "sqlite": "(({0} | {1}) - ({0} & {1}))",
    },
    exp.BitwiseNot: {"clickhouse": "bitNot({0})", "mysql": "CAST(~{0} AS SIGNED)"},
    exp.BitwiseLeftShift: {
        "clickhouse": "bitShiftLeft({0}, {1})", "mysql": "CAST({0} << {1} AS SIGNED)",
        "duckdb": "({0} * CAST(POW(2, {1}) AS BIGINT))",
    },
    exp.BitwiseRightShift: {
        "clickhouse": "bitShiftRight({0}, {1})", "mysql": "FLOOR({0} / POW(2, {1}))",
    },
}  # fmt: skip


def _bits(node: exp.Expr, dialect: str) -> str:
    return dialect if dialect in _BITS[type(node)] else "signed"


def _write_bits(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    text = _BITS[type(node)].get(target)
    if text is None or meaning == "mysql":
        raise gap("bits", target)
    operands = (node.this, node.expression) if node.args.get("expression") else (node.this,)
    return written(text, node, target, *operands)


def _mean(node: exp.Expr, dialect: str) -> str:
    if kind(node.this) not in (WHOLE, DECIMAL) or isinstance(node.this, exp.Distinct):
        return ""
    if dialect == "sqlite" and not isinstance(node, exp.Avg):
        return "none"
    return _MORE_DIGITS if dialect == "mysql" else "all digits"


def _write_mean(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == _MORE_DIGITS and not isinstance(node, exp.Avg):
        raise gap("the spread of exact numbers", target)
    if meaning == _MORE_DIGITS:
        text = f"ROUND(AVG({{0}}), {_digits(node.this, target) + 4})"
        return written(text, node, target, node.this)
    if target == "sqlite" and not isinstance(node, exp.Avg):
        raise gap("the spread of numbers", target)
    if target != "mysql":
        return None
    name = "AVG" if isinstance(node, exp.Avg) else _SPREADS[type(node)]
    return written(f"{name}(CAST({{0}} AS DOUBLE))", node, target, node.this)


_SPREADS: Mapping[type[exp.Expr], str] = {
    exp.Stddev: "STDDEV_SAMP", exp.StddevSamp: "STDDEV_SAMP", exp.StddevPop: "STDDEV_POP",
    exp.Variance: "VAR_SAMP", exp.VariancePop: "VAR_POP",
}  # fmt: skip


def _remainder(node: exp.Expr, dialect: str) -> str:
    if _divides_whole(node) or not all(map(is_number, both(node))):
        return ""
    if dialect == "clickhouse" and _divides_decimals(node):
        return "of digits"
    if dialect == "postgres" and FLOAT in map(kind, both(node)):
        return "none"
    return "of whole numbers" if dialect == "sqlite" else "of all"


def _write_remainder(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "of digits":
        raise gap("the remainder of decimals", target)
    text = _REMAINDER[meaning].get(target)
    return None if text is None else written(text, node, target, *both(node))


_REMAINDER: Mapping[str, Mapping[str, str]] = {
    "of all": {
        "sqlite": "MOD({0}, {1})",
        "clickhouse": "(toFloat64({0}) % toFloat64({1}))",
        "postgres": "MOD(CAST({0} AS numeric), CAST({1} AS numeric))",
    },
    "of whole numbers": {
        "postgres": "(CAST(TRUNC({0}) AS bigint) % CAST(TRUNC({1}) AS bigint))",
        "duckdb": "(CAST(TRUNC({0}) AS BIGINT) % CAST(TRUNC({1}) AS BIGINT))",
        "mysql": "(TRUNCATE({0}, 0) % TRUNCATE({1}, 0))",
        "clickhouse": "(toInt64({0}) % toInt64({1}))",
        "spark": "(CAST({0} AS BIGINT) % CAST({1} AS BIGINT))",
    },
}


def _logarithm(node: exp.Expr, dialect: str) -> str:
    """Sqlglot has the natural one, which others call LOG, as another node."""
    if node.args.get("expression") is None:
        return "natural" if dialect in ("mysql", "clickhouse", "spark") else "to 10"
    return "none" if dialect == "clickhouse" else "to a base"


def _write_logarithm(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning == "to 10":
        return written("LOG10({0})", node, target, node.this)
    return written("(LN({1}) / LN({0}))", node, target, node.this, node.expression)


NUMBERS = (
    Construct(
        "the division of whole numbers", (exp.Div,),
        of_dialects({
            "sqlite": "whole, NULL by 0", "postgres": "whole", "mysql": _MORE_DIGITS,
            "duckdb": "fraction, infinite by 0", "clickhouse": "fraction, infinite by 0",
            "spark": "fraction, NULL by 0",
        }, _divides_whole),
        _write_division,
        ("i / 2", "i / -2", "(i + 1) / 3", "sum(i) / count(*)"),
    ),
    Construct(
        "the division of decimals", (exp.Div,),
        of_dialects({
            "sqlite": "as they are stored", "postgres": "exact", "mysql": _MORE_DIGITS,
            "duckdb": "of floats", "clickhouse": "of digits", "spark": "exact",
        }, _divides_decimals),
        _write_division,
        ("d / 4", "d / 3"),
    ),
    Construct(
        "the remainder of numbers with a fraction", (exp.Mod,),
        _remainder, _write_remainder, ("d % 2", "f % 2"),
    ),
    Construct(
        "a logarithm to a base", (exp.Log,),
        _logarithm, _write_logarithm,
        ("log(2, i * i + 1)",),
    ),
    Construct(
        "the greatest or least of several with a NULL", (exp.Greatest, exp.Least),
        of_dialects(
            dict.fromkeys(("postgres", "duckdb", "clickhouse", "spark"), "NULL left out")
            | dict.fromkeys(("sqlite", "mysql"), "NULL"),
            lambda node: bool(node.expressions),
        ),
        _extremes,
        ("greatest(i, 2)", "least(i, n, 3)"),
    ),
    Construct(
        "the mean or spread of exact numbers", (exp.Avg, *_SPREADS), _mean, _write_mean,
        ("avg(i)", "avg(d)", "stddev_samp(i)"),
    ),
    Construct(
        "bits of a number", (*_BITS,), _bits, _write_bits,
        ("i & 3", "i | 1", "~i", "i << 1", "i >> 1"),
    ),
)  # fmt: skip
