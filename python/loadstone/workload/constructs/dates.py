"""Fields of dates, the days between two, and what is added to one."""

import re
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime

from sqlglot import exp

from loadstone.workload.constructs.construct import (
    Construct,
    Write,
    both,
    formed,
    gap,
    of_dialects,
    written,
)
from loadstone.workload.expression_types import DATE, TIMESTAMP, WHOLE, kind

_STRFTIME = "CAST(STRFTIME('{}', {{0}}) AS INTEGER)"
_SQLITE = {
    "year": "%Y", "month": "%m", "day": "%d", "hour": "%H", "minute": "%M", "doy": "%j",
    "dow": "%w", "isodow": "%u", "week": "%V", "isoyear": "%G",
}  # fmt: skip
_MICROSECONDS = "toUnixTimestamp64Micro(toDateTime64({0}, 6))"
_FIELDS: Mapping[str, Mapping[str, str]] = {
    "sqlite": {
        **{field: _STRFTIME.format(letter) for field, letter in _SQLITE.items()},
        "quarter": "((CAST(STRFTIME('%m', {0}) AS INTEGER) + 2) / 3)",
        # SQLite's own functions cut off what is less than a millisecond.
        "second": "CAST(SUBSTR({0}, 18) AS REAL)",
        "milliseconds": "(CAST(SUBSTR({0}, 18) AS REAL) * 1000)",
        "epoch": "(UNIXEPOCH(SUBSTR({0}, 1, 19)) + CAST('0' || SUBSTR({0}, 20) AS REAL))",
    },
    "duckdb": {
        "second": "(EXTRACT(microsecond FROM {0}) / 1000000.0)",
        "milliseconds": "(EXTRACT(microsecond FROM {0}) / 1000.0)",
    },
    "postgres": {},
    "mysql": {
        "dow": "(DAYOFWEEK({0}) - 1)", "isodow": "(WEEKDAY({0}) + 1)", "doy": "DAYOFYEAR({0})",
        "week": "WEEK({0}, 3)",
        "second": "(SECOND({0}) + MICROSECOND({0}) / 1000000e0)",
        "milliseconds": "(SECOND({0}) * 1000 + MICROSECOND({0}) / 1000e0)",
        "epoch": "(TIMESTAMPDIFF(MICROSECOND, '1970-01-01', {0}) / 1000000e0)",
    },
    "clickhouse": {
        "dow": "(toDayOfWeek({0}) % 7)", "isodow": "toDayOfWeek({0})", "doy": "toDayOfYear({0})",
        "week": "toISOWeek({0})", "isoyear": "toISOYear({0})",
        "second": f"(positiveModulo({_MICROSECONDS}, 60000000) / 1000000)",
        "milliseconds": f"(positiveModulo({_MICROSECONDS}, 60000000) / 1000)",
        "epoch": f"({_MICROSECONDS} / 1000000)",
    },
    "spark": {
        "dow": "(DAYOFWEEK({0}) - 1)", "isodow": "(WEEKDAY({0}) + 1)", "doy": "DAYOFYEAR({0})",
        "week": "WEEKOFYEAR({0})", "epoch": "(UNIX_MICROS(CAST({0} AS TIMESTAMP)) / 1000000)",
        "milliseconds": "(EXTRACT(second FROM {0}) * 1000)",
    },
}  # fmt: skip
"""By dialect, the fields that it does not have as PostgreSQL has them."""
_NAMES = {
    "dayofweek": "dow", "dayofyear": "doy", "weekday": "isodow", "dayofweekiso": "isodow",
    "millisecond": "milliseconds", "ms": "milliseconds", "msec": "milliseconds",
}  # fmt: skip
_ALIKE = frozenset({"year", "quarter", "month", "day", "hour", "minute"})
_KNOWN = frozenset({*_FIELDS["sqlite"]})


def _field(node: exp.Expr) -> str:
    name = node.name.lower()
    return _NAMES.get(name, name)


def _fields(node: exp.Expr, dialect: str) -> str:
    """MariaDB and Spark number days and weeks in their own ways."""
    field = _field(node)
    if field in _ALIKE:
        return "none" if dialect == "sqlite" else "the field"
    if field == "milliseconds" and dialect == "mysql":
        return "of mysql"  # which has none
    if field in ("second", "milliseconds") and dialect in ("duckdb", "mysql", "clickhouse"):
        return "whole seconds"
    if field == "epoch" and dialect == "clickhouse":
        return "whole seconds"
    return "as PostgreSQL" if dialect in ("postgres", "duckdb", "clickhouse") else f"of {dialect}"


def _write_field(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    field, known = _field(node), ("the field", "as PostgreSQL", "whole seconds")
    if meaning not in known or field not in _KNOWN:
        raise gap(f"the field {node.name} of a date", target)
    text = _FIELDS[target].get(field, f"EXTRACT({field} FROM {{0}})")
    if meaning == "whole seconds":
        text = f"FLOOR({text})"
    return written(text, node, target, node.expression)


def _is_between(node: exp.Expr) -> bool:
    kinds = {kind(node.this), kind(node.expression)}
    return TIMESTAMP in kinds and kinds <= {DATE, TIMESTAMP}


_WEEKDAY = {"duckdb": "0 is Sunday", "mysql": "1 is Sunday", "spark": "1 is Sunday"}


def _any(_node: exp.Expr) -> bool:
    return True


def _days(node: exp.Expr) -> bool:
    return kind(node.this) == kind(node.expression) == DATE


def _shifts(node: exp.Expr) -> bool:
    return kind(node.this) == DATE and kind(node.expression) == WHOLE


def _intervals(node: exp.Expr) -> bool:
    return isinstance(node.expression, exp.Interval) and kind(node.this) in (DATE, TIMESTAMP, "")


def _shift(sign: str) -> Mapping[str, Mapping[str, str]]:
    return {
        "days": {
            "sqlite": f"DATE({{0}}, ({sign}({{1}})) || ' days')",
            "mysql": f"DATE_ADD({{0}}, INTERVAL {sign}({{1}}) DAY)",
            "spark": f"DATE_ADD({{0}}, {sign}({{1}}))",
        }
    }


_DAYS = dict.fromkeys(("postgres", "duckdb", "clickhouse"), "days")
_INTERVAL = dict.fromkeys(("postgres", "duckdb"), "an interval")


_BEGINS = {
    "year": "%Y-01-01 00:00:00", "month": "%Y-%m-01 00:00:00", "day": "%Y-%m-%d 00:00:00",
    "hour": "%Y-%m-%d %H:00:00", "minute": "%Y-%m-%d %H:%M:00", "second": "%Y-%m-%d %H:%M:%S",
}  # fmt: skip


def _write_begin(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    """The begin of a date's year, month, …, as a timestamp."""
    unit = node.args["unit"].name.lower()
    if meaning != "a timestamp":
        raise gap("the begin of a date's unit", target)
    if target == "clickhouse":
        text = f"CAST(dateTrunc('{unit}', {{0}}) AS Nullable(DateTime64(6)))"
    elif target == "mysql" and unit == "week":
        text = "TIMESTAMP(DATE_SUB(DATE({0}), INTERVAL WEEKDAY({0}) DAY))"
    elif target == "sqlite" and unit == "week":
        text = "DATETIME({0}, '-6 days', 'weekday 1', 'start of day')"
    elif target == "sqlite" and unit in _BEGINS:
        text = f"STRFTIME('{_BEGINS[unit]}', {{0}})"
    elif target == "mysql" and unit in _BEGINS:
        form = _BEGINS[unit].replace("%M", "%i")
        text = f"CAST(DATE_FORMAT({{0}}, '{form}') AS DATETIME)"
    elif target == "mysql" and unit == "quarter":
        text = "TIMESTAMP(MAKEDATE(YEAR({0}), 1) + INTERVAL QUARTER({0}) - 1 QUARTER)"
    else:
        raise gap(f"the begin of a {unit}", target)
    return written(text, node, target, node.this)


_DIRECTIVES = re.compile(r"(?:%[YmdHMS]|[^A-Za-z%])*")


def _formats(node: exp.Expr, dialect: str) -> str:
    """Of a date as text: of PostgreSQL's templates sqlglot knows these letters."""
    form = node.args.get("format")
    known = isinstance(form, exp.Literal) and _DIRECTIVES.fullmatch(form.name)
    return "" if known else f"of {dialect}"


def _only(known: str, what: str, write: Write) -> Write:
    """Writes one meaning alone, and has no form for the others."""

    def of_known(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
        if meaning != known:
            raise gap(what, target)
        return write(node, meaning, target)

    return of_known


def _casts(node: exp.Expr, dialect: str) -> str:
    """To a date or a timestamp: SQLite has neither, and ClickHouse's reach from 1970 to 2106."""
    if not _is_cast(node):
        return ""
    return {"sqlite": "a number", "clickhouse": "from 1970 on"}.get(dialect, "any")


def _is_cast(node: exp.Expr) -> bool:
    return isinstance(node, exp.Cast) and kind(node) in (DATE, TIMESTAMP)


def _write_cast(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    if meaning != "any":
        raise gap("a cast to a date", target)
    date = kind(node) == DATE
    if target == "clickhouse":
        name = "Date32" if date else "DateTime64(6)"
        return written(f"CAST({{0}} AS Nullable({name}))", node, target, node.this)
    if isinstance(node.this, exp.Literal) and node.this.is_string:
        with suppress(ValueError):
            at = datetime.fromisoformat(node.this.name.strip())
            return exp.Literal.string(str(at.date() if date else at.replace(tzinfo=None)))
    if date:
        return written("DATE({0})", node, target, node.this)
    is_date = kind(node.this) == DATE
    return written("DATETIME({0})" if is_date else "{0}", node, target, node.this)


DATES = (
    Construct(
        "a field of a date", (exp.Extract,), _fields, _write_field,
        tuple(f"EXTRACT({field} FROM day)" for field in ("dow", "isodow", "week", "doy", "year"))
        + tuple(f"EXTRACT({field} FROM moment)"
                for field in ("second", "milliseconds", "epoch", "hour")),
    ),
    Construct(
        "the day of a week", (exp.DayOfWeek,),
        of_dialects(_WEEKDAY | dict.fromkeys(("postgres", "sqlite", "clickhouse"), "none"), _any),
        formed({
            "0 is Sunday": {
                "postgres": "EXTRACT(dow FROM {0})", "sqlite": _FIELDS["sqlite"]["dow"],
                "mysql": "(DAYOFWEEK({0}) - 1)", "spark": "(DAYOFWEEK({0}) - 1)",
                "clickhouse": "(toDayOfWeek({0}) % 7)",
            },
            "1 is Sunday": {
                "postgres": "(EXTRACT(dow FROM {0}) + 1)", "duckdb": "(DAYOFWEEK({0}) + 1)",
                "sqlite": f"({_FIELDS['sqlite']['dow']} + 1)",
                "clickhouse": "(toDayOfWeek({0}) % 7 + 1)",
            },
        }, lambda node: (node.this,)),
        (),
    ),
    Construct(
        "the days between two dates", (exp.Sub,),
        of_dialects(_DAYS | {"sqlite": "of texts", "mysql": "of numbers", "spark": "an interval",
                             "clickhouse": "of few types"}, _days),
        _only("days", "a date less another", formed({"days": {
            "sqlite": "CAST(JULIANDAY({0}) - JULIANDAY({1}) AS INTEGER)",
            "mysql": "DATEDIFF({0}, {1})", "spark": "DATEDIFF({0}, {1})",
            "clickhouse": "dateDiff('day', {1}, {0})",
        }}, both)),
        ("day - DATE '2024-01-01'",),
    ),
    Construct(
        "the time between two timestamps", (exp.Sub,),
        of_dialects(_INTERVAL | {"sqlite": "of texts", "mysql": "of numbers",
                                 "clickhouse": "seconds", "spark": "of Spark"}, _is_between),
        _only("", "a timestamp less another", formed({}, both)),
        ("EXTRACT(epoch FROM moment - TIMESTAMP '2024-01-01 00:00:00')",),
    ),
    Construct(
        "days added to a date", (exp.Add,),
        of_dialects(_DAYS | {"sqlite": "of texts", "mysql": "of numbers"}, _shifts),
        _only("days", "a number added to a date", formed(_shift(""), both)),
        ("day + 3",),
    ),
    Construct(
        "days taken from a date", (exp.Sub,),
        of_dialects(_DAYS | {"sqlite": "of texts", "mysql": "of numbers"}, _shifts),
        _only("days", "a number taken from a date", formed(_shift("-"), both)),
        ("day - 3",),
    ),
    Construct(
        "an interval added to a date", (exp.Add, exp.Sub),
        of_dialects({"sqlite": "none"} | dict.fromkeys(
            ("postgres", "duckdb", "mysql", "clickhouse", "spark"), "an interval"), _intervals),
        _only("", "an interval", formed({}, both)),
        (),
    ),
    Construct(
        "the begin of a date's unit", (exp.TimestampTrunc, exp.DateTrunc),
        of_dialects({"postgres": "a timestamp", "duckdb": "a timestamp", "spark": "a timestamp",
                     "clickhouse": "a date", "mysql": "none", "sqlite": "none"},
                    _any),
        _write_begin,
        ("date_trunc('month', moment)", "date_trunc('week', moment)", "date_trunc('day', moment)",
         "date_trunc('quarter', moment)",
         "date_trunc('hour', moment)"),
    ),
    Construct(
        "a date as text", (exp.TimeToStr,), _formats,
        _only("", "the form of a date", formed({}, both)),
        (),
    ),
    Construct(
        "a cast to a date or a timestamp", (exp.Cast,), _casts, _write_cast,
        ("CAST(moment AS DATE)", "day >= DATE '1965-02-03'",
         "moment < TIMESTAMP '2010-01-01 00:00:00'", "CAST(day AS TIMESTAMP) <= moment"),
    ),
)  # fmt: skip
