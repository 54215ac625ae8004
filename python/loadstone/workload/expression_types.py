"""The types of a statement's expressions, as the dialect has them in which it is written.

They follow from the types of the workload's columns; of tables as they stand none are known.
sqlglot derives them; what it has otherwise than an engine is in `_OWN`. A type that is wrong here
makes a translation that means something else, where a construct of `constructs/` depends on it.
"""

from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from sqlglot import exp
from sqlglot.dialects.dialect import Dialect
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.annotate_types import annotate_types
from sqlglot.optimizer.qualify_columns import qualify_columns
from sqlglot.optimizer.qualify_tables import qualify_tables
from sqlglot.schema import MappingSchema

Column = tuple[str, str, str]
"""A table, its column, and the column's type, as `engines.capabilities.Attribute` has it."""
WHOLE, DECIMAL, FLOAT, TEXT, BOOLEAN = "whole", "decimal", "float", "text", "truth value"
DATE, TIMESTAMP = "date", "timestamp"
_SQL = {
    "int2": "SMALLINT", "int4": "INT", "int8": "BIGINT", "float8": "DOUBLE", "bool": "BOOLEAN",
    "date": "DATE",
}  # fmt: skip
_TIMESTAMP = {"mysql": "DATETIME", "spark": "TIMESTAMP_NTZ"}
"""By dialect, the name of one without a zone where TIMESTAMP has one."""
_KINDS: Mapping[str, frozenset[exp.DType]] = {
    WHOLE: frozenset(exp.DataType.INTEGER_TYPES),
    FLOAT: frozenset(exp.DataType.FLOAT_TYPES),
    DECIMAL: frozenset({exp.DType.DECIMAL}),
    TEXT: frozenset(exp.DataType.TEXT_TYPES),
    BOOLEAN: frozenset({exp.DType.BOOLEAN}),
    DATE: frozenset({exp.DType.DATE, exp.DType.DATE32}),
    TIMESTAMP: frozenset(
        {exp.DType.TIMESTAMP, exp.DType.TIMESTAMPNTZ, exp.DType.TIMESTAMPTZ}
        | {exp.DType.TIMESTAMPLTZ, exp.DType.DATETIME, exp.DType.DATETIME64}
    ),
}
_PLACE = "loadstone.place"
"""Marks a node, to find it again in the copy on which the types are derived."""


def kind(node: exp.Expr | None) -> str:
    """The kind of an expression's type; empty where it is not known."""
    if node is None or node.type is None:
        return ""
    return next((name for name, types in _KINDS.items() if node.type.this in types), "")


def is_number(node: exp.Expr | None) -> bool:
    """Whether it is known to be a number."""
    return kind(node) in (WHOLE, DECIMAL, FLOAT)


def annotate(tree: exp.Expr, columns: Sequence[Column], dialect: str) -> None:
    """Give each node of a tree its type, where it is known."""
    for place, node in enumerate(tree.walk()):
        node.meta[_PLACE] = place
    found = _types(tree.copy(), columns, dialect)
    for node in tree.walk():
        place = node.meta.pop(_PLACE)
        if place in found:
            node.type = found[place]


def _types(tree: exp.Expr, columns: Sequence[Column], dialect: str) -> dict[int, Any]:
    tables: dict[str, Any] = {}
    names = _SQL | {"timestamp": _TIMESTAMP.get(dialect, "TIMESTAMP")}
    for table, column, type_name in columns:
        tables.setdefault(table.lower(), {})[column.lower()] = names.get(
            type_name, type_name.upper()
        )
    schema = MappingSchema(tables, dialect=dialect or None)
    try:
        _lower(tree)
        if isinstance(tree, exp.Query):
            tree = qualify_tables(tree, dialect=dialect or None)
            tree = qualify_columns(tree, schema, allow_partial_qualification=True)
        annotated = annotate_types(
            tree, schema=schema, expression_metadata=_metadata(dialect), dialect=dialect or None
        )
    except (SqlglotError, RecursionError):
        return {}  # nothing is known of it, and the engines decide
    return {
        node.meta[_PLACE]: node.type
        for node in annotated.walk()
        if _PLACE in node.meta and node.type is not None
    }


def _lower(tree: exp.Expr) -> None:
    """Names without quotes are those of the columns, whatever their capitals are."""
    for identifier in tree.find_all(exp.Identifier):
        identifier.set("this", identifier.name.lower())


def _larger(annotator: Any, node: Any) -> Any:
    """PostgreSQL's sum of bigint is a decimal, as that of decimals."""
    whole = node.this.type is not None and node.this.type.this == exp.DType.BIGINT
    if whole or kind(node.this) == DECIMAL:
        annotator._set_type(node, exp.DType.DECIMAL)  # noqa: SLF001 - the way of its own annotators
        return node
    return annotator._annotate_by_args(node, "this", promote=True)  # noqa: SLF001


def _mean(annotator: Any, node: Any) -> Any:
    exact = kind(node.this) in (WHOLE, DECIMAL)
    annotator._set_type(node, exp.DType.DECIMAL if exact else exp.DType.DOUBLE)  # noqa: SLF001
    return node


def _of_argument(annotator: Any, node: Any) -> Any:
    return annotator._annotate_by_args(node, "this")  # noqa: SLF001


def _literal(annotator: Any, node: Any) -> Any:
    """A bare 0.1 is a decimal; with an exponent it is a float, but for PostgreSQL."""
    if node.is_string:
        annotator._set_type(node, exp.DType.VARCHAR)  # noqa: SLF001
    elif node.name.isdigit():
        small = int(node.name) < 1 << 31
        annotator._set_type(node, exp.DType.INT if small else exp.DType.BIGINT)  # noqa: SLF001
    else:
        annotator._set_type(node, exp.DType.DECIMAL)  # noqa: SLF001
    return node


def _decimal(annotator: Any, node: Any) -> Any:
    annotator._set_type(node, exp.DType.DECIMAL)  # noqa: SLF001
    return node


def _difference(annotator: Any, node: Any) -> Any:
    """Of two dates it is a number of days."""
    if kind(node.this) == kind(node.expression) == DATE:
        annotator._set_type(node, exp.DType.INT)  # noqa: SLF001
        return node
    return annotator._annotate_binary(node)  # noqa: SLF001


_Annotator = Callable[[Any, Any], Any]
_ROUNDED: dict[type[exp.Expr], _Annotator] = dict.fromkeys(
    (exp.Round, exp.Ceil, exp.Floor, exp.Trunc), _of_argument
)
_EXACT: dict[type[exp.Expr], _Annotator] = {exp.Literal: _literal, **_ROUNDED}
_DAYS: dict[type[exp.Expr], _Annotator] = {exp.Sub: _difference}
_OWN: Mapping[str, Mapping[type[exp.Expr], _Annotator]] = {
    "postgres": {**_EXACT, **_DAYS, exp.Sum: _larger, exp.Avg: _mean, exp.Extract: _decimal},
    "duckdb": {**_EXACT, **_DAYS},
    "mysql": {**_EXACT, exp.Avg: _mean},
    "spark": _EXACT,
    "clickhouse": {**_ROUNDED, **_DAYS},
}
"""By dialect, the types that it gives otherwise than sqlglot has it."""


@cache
def _metadata(dialect: str) -> Any:
    own = {node: {"annotator": given} for node, given in _OWN.get(dialect, {}).items()}
    return {**Dialect.get_or_raise(dialect or None).EXPRESSION_METADATA, **own}
