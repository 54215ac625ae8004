"""Set operations, aggregates with a condition, and what joins texts."""

from sqlglot import exp

from loadstone.workload.constructs.construct import Construct, gap, operand


def _precedence(node: exp.Expr, dialect: str) -> str:
    """Of a set operation that has another one beside it, or one in parentheses."""
    assert isinstance(node, exp.SetOperation)  # noqa: S101 - the construct's nodes
    in_order = isinstance(node, exp.Intersect) and isinstance(node.this, exp.Union | exp.Except)
    if not (in_order or isinstance(node.expression, exp.SetOperation | exp.Subquery)
            or isinstance(node.this, exp.Subquery)):  # fmt: skip
        return ""
    return "from left to right" if dialect == "sqlite" else "INTERSECT first"


def _write_sets(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    del meaning
    found = node.copy()
    for key in ("this", "expression"):
        side = found.args[key]
        inner = side.this if isinstance(side, exp.Subquery) else side
        if target == "sqlite":
            nested = key == "expression" and isinstance(inner, exp.SetOperation)
            if nested or isinstance(side, exp.Subquery):
                found.set(key, exp.select("*").from_(exp.Subquery(this=inner.copy())))
        elif isinstance(side, exp.SetOperation):
            found.set(key, exp.Subquery(this=side.copy()))
    return found


def _write_filter(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    del meaning
    call: exp.Expr = node.this.copy()
    condition = operand(node.expression.this, target)
    own = call.this
    value = "1" if own is None or isinstance(own, exp.Star) else operand(own, target)
    call.set("this", exp.Var(this=f"CASE WHEN {condition} THEN {value} END"))
    return call


NULL_ORDER = "the place of NULL in an order"
_SMALLEST = frozenset({"sqlite", "mysql", "spark"})


def _null_order(node: exp.Expr, dialect: str) -> str:
    """Of it, sqlglot knows each dialect's, and writes it in a translation."""
    descends = bool(node.args.get("desc"))
    return "first" if _has_nulls_first(dialect, descends=descends) else "last"


def _has_nulls_first(dialect: str, *, descends: bool) -> bool:
    if dialect in _SMALLEST:
        return not descends
    return dialect == "postgres" and descends


def _distinct_on(node: exp.Expr, dialect: str) -> str:
    """Of a query with an order: sqlglot writes a window, and no order behind it, for dialects that
    have no DISTINCT ON."""
    distinct = node.args.get("distinct")
    if distinct is None or distinct.args.get("on") is None or node.args.get("order") is None:
        return ""
    return "none" if dialect in ("sqlite", "mysql", "spark") else "a clause"


def _write_distinct_on(node: exp.Expr, meaning: str, target: str) -> exp.Expr | None:
    """One row is left of each group, so the keys of the groups are the order of all. It is written
    around the query, and the LIMIT with it."""
    assert isinstance(node, exp.Select)  # noqa: S101 - the construct's nodes
    if meaning == "none" or node.is_star:
        raise gap("DISTINCT ON", target)
    on, kept = node.args["distinct"].args["on"], node.copy()
    order, items = kept.args["order"].expressions, [one.unalias() for one in node.selects]
    for one in order:  # a number names no column in a window
        if isinstance(one.this, exp.Literal) and one.this.name.isdigit():
            one.set("this", items[int(one.this.name) - 1].copy())
    keys = [one.copy() for one in order[: len(on.expressions) or 1]]
    for key in keys:
        if key.this not in items:
            raise gap("DISTINCT ON", target)
        name = node.selects[items.index(key.this)].alias_or_name
        key.set("this", exp.column(name, quoted=True))
    around = exp.select("*")
    for part in ("limit", "offset"):
        around.set(part, kept.args.get(part))
        kept.set(part, None)
    around.set("order", exp.Order(expressions=keys))
    return around.from_(kept.subquery("kept"))


QUERIES = (
    Construct(
        "DISTINCT ON", (exp.Select,), _distinct_on, _write_distinct_on,
        ("SELECT DISTINCT ON (i) i FROM t", "SELECT DISTINCT ON (n) n FROM t"),
    ),
    Construct(NULL_ORDER, (exp.Ordered,), _null_order, lambda *_: None,
              ("SELECT i FROM t", "SELECT DISTINCT n FROM t")),
    Construct(
        "UNION beside INTERSECT", (exp.SetOperation,), _precedence, _write_sets,
        ("SELECT 1 AS x UNION SELECT 2 INTERSECT SELECT 2",
         "SELECT 2 AS x INTERSECT SELECT 2 UNION SELECT 1"),
    ),
    Construct(
        "an aggregate with FILTER", (exp.Filter,),
        lambda node, dialect: "" if isinstance(node.this.this, exp.Distinct)
        else "none" if dialect == "mysql" else "filtered",
        _write_filter,
        ("count(*) FILTER (WHERE i > 1)", "sum(i) FILTER (WHERE i > 1)"),
    ),
)  # fmt: skip
