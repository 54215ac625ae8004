"""Numbers and truth values as text, numbers beside texts, and a NULL in a list."""

from sqlglot import exp

from loadstone.workload.constructs.construct import Construct, both, gap, written
from loadstone.workload.expression_types import BOOLEAN, DECIMAL, FLOAT, is_number, kind

_TEXTS = {
    BOOLEAN: dict.fromkeys(("postgres", "duckdb", "clickhouse", "spark"), "true")
    | dict.fromkeys(("sqlite", "mysql"), "1"),
    FLOAT: dict.fromkeys(("postgres", "mysql", "clickhouse"), "1")
    | dict.fromkeys(("duckdb", "sqlite", "spark"), "1.0"),
    DECIMAL: dict.fromkeys(("postgres", "duckdb", "mysql", "spark"), "1.50")
    | {"clickhouse": "1.5", "sqlite": "of a float"},
}


def _texts(node: exp.Expr, dialect: str) -> str:
    """Of a number or a truth value as text."""
    if node.args["to"].this not in exp.DataType.TEXT_TYPES:
        return ""
    return _TEXTS.get(kind(node.this), {}).get(dialect, "")


def _write_text(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if kind(node.this) != BOOLEAN:
        raise gap("a number with a fraction as text", target)
    yes, no = ("'true'", "'false'") if meaning == "true" else ("'1'", "'0'")
    text = f"CASE WHEN {{0}} THEN {yes} WHEN NOT {{0}} THEN {no} END"
    return written(f"({text})", node, target, node.this)


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
    Construct("IN with a NULL", (exp.In,), _has_null, _write_in, ("i IN (5, NULL)",)),
    Construct(
        "a number compared with a text", (exp.EQ, exp.NEQ, exp.LT, exp.LTE, exp.GT, exp.GTE),
        _compares, _write_comparison, ("i + 1 = '2'", "i * 2 < '5'"),
    ),
)  # fmt: skip
