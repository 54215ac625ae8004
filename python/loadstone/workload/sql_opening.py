"""What the text of a query leaves open: rows that LIMIT may choose, values that an aggregate or a
window may take or put in any order.

An order is total where no two rows can tie by it, or those that tie are equal: it names all columns
of the answer, all that the rows are grouped by, or the primary key of each table that is read (but
for one that is joined by its whole key). What is not known to be total is taken for open: a
difference that only a tie can explain is then no error of an engine.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce

import sqlglot
from sqlglot import TokenType, exp

from loadstone.plan.workload import WorkloadStatement
from loadstone.quel.dialect import is_quel
from loadstone.workload import script
from loadstone.workload.opening import Opening
from loadstone.workload.quel import read_by
from loadstone.workload.sql import Tree, is_read_as, may_be_volatile, order_of, tables_of

Keys = Mapping[str, Sequence[str]]
"""The primary key of each table that has one."""

JOINING = (
    exp.GroupConcat, exp.ArrayAgg, exp.ArrayConcatAgg, exp.JSONArrayAgg, exp.JSONObjectAgg,
    exp.JSONBObjectAgg, exp.ArrayUniqueAgg,
)  # fmt: skip
TAKING = (exp.First, exp.Last, exp.AnyValue, exp.ArgMax, exp.ArgMin, exp.Mode)
APPROXIMATE = (exp.ApproxDistinct, exp.ApproxQuantile, exp.ApproxTopK)
OTHERS = {
    "grouparray": JOINING, "array_agg": JOINING, "json_agg": JOINING, "jsonb_agg": JOINING,
    "json_group_array": JOINING, "json_group_object": JOINING, "xmlagg": JOINING,
    "anylast": TAKING, "any": TAKING, "arbitrary": TAKING, "groupuniqarray": JOINING,
}  # fmt: skip
"""Aggregates that sqlglot knows by their names alone."""
NUMBERING = (exp.RowNumber, exp.Ntile, exp.Lag, exp.Lead, exp.FirstValue, exp.LastValue,
             exp.NthValue)  # fmt: skip
"""Functions of windows that tell apart rows that tie."""
ADD_KEY = "add a key to its ORDER BY"


def each_tree(statement: WorkloadStatement) -> Iterator[Tree]:
    """The first text of a statement in each of its dialects of SQL; one in QUEL has those, too."""
    for dialect, texts in (
        (statement.dialect, statement.texts),
        *((own.dialect, own.texts) for own in statement.own if not is_quel(own.dialect)),
    ):
        yield from script.trees(texts[0], dialect, statement.name)


def tables_of_statement(statement: WorkloadStatement) -> frozenset[str]:
    """The tables that any text of a statement names; those of a mix name different ones."""
    texts = [(statement.dialect, text) for text in statement.texts]
    texts += [(own.dialect, text) for own in statement.own for text in own.texts]
    trees = (
        tree
        for dialect, text in texts
        if not is_quel(dialect)
        for tree in script.trees(text, dialect, statement.name)
    )
    return read_by(statement).union(*map(tables_of, trees))


def opening_of_statement(statement: WorkloadStatement, keys: Keys) -> Opening | None:
    """What some text of a statement leaves open; None: nothing. Of a script every answer counts."""
    if statement.script or statement.changes:
        return None
    found = [one for tree in each_tree(statement) if (one := opening_of(tree, keys))]
    return reduce(Opening.beside, found) if found else None


def without_cut(text: str, dialect: str) -> str | None:
    """A query without the LIMIT, OFFSET or FETCH at its end; None where it has none there."""
    depth = 0
    for token in sqlglot.tokenize(text, read=dialect or None):
        depth += {TokenType.L_PAREN: 1, TokenType.R_PAREN: -1}.get(token.token_type, 0)
        if depth == 0 and token.token_type in (TokenType.LIMIT, TokenType.OFFSET, TokenType.FETCH):
            rest = text[: token.start].rstrip()
            return rest if is_read_as(rest, dialect) else None
    return None


def opening_of(tree: Tree, keys: Keys) -> Opening | None:
    """What a query leaves open; None: nothing."""
    if not isinstance(tree, exp.Query):
        return None
    inner = next(_inner_reasons(tree, keys), None)
    if inner is not None:
        return Opening((f"within it, {inner[0]}",), (inner[1],), everything=True)
    found = _columns(tree, keys) if isinstance(tree, exp.Select) else None
    cut = _cut(tree, keys)
    return found.beside(cut) if found and cut else found or cut


def _inner_reasons(tree: exp.Query, keys: Keys) -> Iterator[tuple[str, str]]:
    """(reason, advice) of what is open in the queries within it: then nothing of the whole is
    known. Whether EXISTS finds a row does not depend on which, nor does how many there are."""
    for select in tree.find_all(exp.Select, exp.SetOperation):
        if select is tree or isinstance(select.parent, exp.Exists):
            continue
        if (cut := _cut(select, keys)) and not _is_counted(select, tree):
            yield cut.reasons[0], cut.advice[0]
        if isinstance(select, exp.Select):
            yield from ((reason, advice) for _, reason, advice, _ in _open_values(select, keys))


def _is_counted(query: exp.Query, tree: exp.Query) -> bool:
    """Whether nothing is asked of the rows of a query within but how many there are."""
    uses: list[exp.Expr | None] = [query.parent]
    if isinstance(query.parent, exp.CTE):
        name = query.parent.alias.lower()
        uses = [one for one in tree.find_all(exp.Table) if one.name.lower() == name]
    return bool(uses) and all(use is not None and _counts(use) for use in uses)


def _counts(use: exp.Expr) -> bool:
    select = use.parent.parent if isinstance(use.parent, exp.From) else None
    if not isinstance(select, exp.Select) or not isinstance(use, exp.Subquery | exp.Table):
        return False
    asked = {name for name, value in select.args.items() if value and name not in ("kind", "hint")}
    return asked <= {"expressions", "from_", "with_", "order", "limit"} and all(
        isinstance(item.unalias(), exp.Count) and isinstance(item.unalias().this, exp.Star)
        for item in select.selects
    )


def _cut(query: exp.Query, keys: Keys) -> Opening | None:
    """The rows that LIMIT, FETCH or OFFSET may choose."""
    limit, offset = query.args.get("limit"), query.args.get("offset")
    options = limit.args.get("limit_options") if limit is not None else None
    with_ties = options is not None and options.args.get("with_ties")
    first, last = offset is not None, limit is not None and not with_ties
    if limit is not None and limit.args.get("offset") is not None:
        first = True
    if not (first or last) or _is_one_row(query):
        return None
    order = query.args.get("order")
    if order is None:
        return Opening(
            ("LIMIT without ORDER BY may take any rows",), ("add an ORDER BY that names a key",),
            first=True, last=True,
        )  # fmt: skip
    if _is_total(query, [one.this for one in order.expressions], keys):
        return None
    if may_be_volatile(order):
        return Opening(
            ("LIMIT takes rows in an order drawn at random",), ("order by a key",),
            first=True, last=True,
        )  # fmt: skip
    places, _ = order_of(query)
    return Opening(
        ("LIMIT may take any of the rows that tie in its ORDER BY",), (ADD_KEY,),
        first=first, last=last, keys=places,
    )  # fmt: skip


def _columns(select: exp.Select, keys: Keys) -> Opening | None:
    """The columns of an answer whose values are open."""
    found = [*_open_values(select, keys)]
    if not found:
        return None
    reasons = tuple(dict.fromkeys(reason for _, reason, _, _ in found))
    advice = tuple(dict.fromkeys(each for _, _, each, _ in found))
    places = {place for place, *_ in found}
    order, unchecked = order_of(select)
    sorted_by = unchecked or not places.isdisjoint(order)
    if None in places or (select.args.get("distinct") and not _distinct_on(select)) or (
        sorted_by and select.args.get("limit") is not None
    ):  # fmt: skip
        return Opening(reasons, advice, everything=True)
    if select.is_star:
        return Opening(reasons, advice, others=True, keys=order)
    letters = {place for place, _, _, bare in found if bare and place is not None}
    letters -= {place for place, _, _, bare in found if not bare}
    return Opening(
        reasons, advice, columns=tuple(sorted({p for p in places if p is not None} - letters)),
        letters=tuple(sorted(letters)),
    )  # fmt: skip


def _open_values(select: exp.Select, keys: Keys) -> Iterator[tuple[int | None, str, str, bool]]:
    """(place, reason, advice, whether it is a joined text by itself) of each open value of a
    query's own; the place is None where it is no column of the answer."""
    for place, item in enumerate(select.selects):
        for node, reason, advice in _open_within(item, select, keys):
            yield (
                place,
                reason,
                advice,
                isinstance(node, exp.GroupConcat) and item.unalias() is node,
            )
    rest = ("where", "having", "qualify", "group")
    for part in filter(None, map(select.args.get, rest)):
        for _, reason, advice in _open_within(part, select, keys):
            yield None, reason, advice, False
    on = _distinct_on(select)
    order = select.args.get("order")
    if on and not (order and _is_total(select, [one.this for one in order.expressions], keys)):
        for place, item in enumerate(select.selects):
            if item.unalias() not in on:
                yield place, "DISTINCT ON may keep any of the rows that tie", ADD_KEY, False


def _distinct_on(select: exp.Query) -> Sequence[exp.Expr]:
    distinct = select.args.get("distinct")
    on = distinct.args.get("on") if isinstance(distinct, exp.Distinct) else None
    return on.expressions if isinstance(on, exp.Tuple) else [on] if on is not None else []


def _open_within(
    part: exp.Expr, select: exp.Select, keys: Keys
) -> Iterator[tuple[exp.Expr, str, str]]:
    """(node, reason, advice) of what is open in an expression, but for queries within it."""
    grouped = _group_of(select)
    is_grouped = grouped or _aggregates(select)
    for node in part.walk(prune=lambda one: isinstance(one, exp.Query)):
        if isinstance(node, exp.Window):
            if _is_open_window(node, select, keys):
                name = node.find(exp.Func)
                words = _name(name) if name is not None else "a window"
                yield node, f"{words} of a window tells apart rows that tie in its order", ADD_KEY
        elif _is(node, JOINING) and not _ordered_by_itself(node, keys, select):
            advice = "write an ORDER BY of a key within it"
            yield node, f"{_name(node)} joins values in any order", advice
        elif _is(node, TAKING) and not _ordered_by_itself(node, keys, select):
            yield node, f"{_name(node)} may take the value of any row", "write min or max"
        elif isinstance(node, APPROXIMATE):
            yield node, f"{_name(node)} is an approximation", "write the exact function"
        elif isinstance(node, exp.Column) and is_grouped and _is_loose(node, grouped, select, keys):
            reason = f"{node.name} is neither grouped by nor aggregated"
            yield node, reason, "name it in GROUP BY, or write min or max"


def _is(node: exp.Expr, kinds: tuple[type, ...]) -> bool:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return OTHERS.get(node.name.lower()) is kinds
    return isinstance(node, kinds)


def _name(node: exp.Expr) -> str:
    if isinstance(node, exp.Anonymous | exp.AnonymousAggFunc):
        return node.name.lower()
    return node.sql_name().lower() if isinstance(node, exp.Func) else node.key


def _ordered_by_itself(node: exp.Expr, keys: Keys, select: exp.Select) -> bool:
    """Whether an aggregate has an order in which equal values alone tie."""
    within = node.parent if isinstance(node.parent, exp.WithinGroup) else node
    order = next(within.find_all(exp.Order), None)
    if order is None or isinstance(node, exp.Mode):
        return False
    by = [one.this for one in order.expressions]
    value = node.this.this if isinstance(node.this, exp.Order) else node.this
    if isinstance(value, exp.Distinct) and value.expressions:
        (value, *_) = value.expressions
    return value in by or _has_keys(select, by, keys)


def _is_open_window(window: exp.Window, select: exp.Select, keys: Keys) -> bool:
    function = window.this
    while isinstance(function, exp.IgnoreNulls | exp.RespectNulls | exp.Filter):
        function = function.this
    named = next(
        (one for one in select.args.get("windows") or () if one.name == window.alias), None
    )
    parts = [each for each in (window, named) if each is not None]
    spec = next(filter(None, (one.args.get("spec") for one in parts)), None)
    rows = spec is not None and str(spec.args.get("kind", "")).upper() == "ROWS"
    whole = spec is not None and "UNBOUNDED" == spec.args.get("start") == spec.args.get("end")
    if not (_is(function, NUMBERING) or _is(function, JOINING) or (rows and not whole)):
        return False
    by = [key for one in parts for key in one.args.get("partition_by") or ()]
    by += [
        key.this for one in parts if one.args.get("order") for key in one.args["order"].expressions
    ]
    grouped = _group_of(select)
    return not (set(grouped) <= {*by} if grouped else _has_keys(select, by, keys))


def _is_loose(
    column: exp.Column, grouped: Sequence[exp.Expr], select: exp.Select, keys: Keys
) -> bool:
    """Whether a column of a grouped query stands for any of its group's rows."""
    above: exp.Expr | None = column
    while above is not None and above is not select:
        if isinstance(above, exp.AggFunc | exp.AnonymousAggFunc | exp.Window) or above in grouped:
            return False
        if isinstance(above, exp.Anonymous | exp.Group | exp.Where | exp.Star):
            return False  # an aggregate that sqlglot does not know, perhaps
        above = above.parent
    names = {one.name.lower() for one in grouped if isinstance(one, exp.Column)}
    return column.name.lower() not in names and not _has_keys(select, grouped, keys)


def _aggregates(select: exp.Select) -> bool:
    """Whether it has an aggregate that is no window."""
    return any(
        not isinstance(node.parent, exp.Window | exp.IgnoreNulls | exp.Filter)
        for item in select.selects
        for node in item.walk(prune=lambda one: isinstance(one, exp.Query))
        if isinstance(node, exp.AggFunc)
    )


def _group_of(select: exp.Query) -> list[exp.Expr]:
    """The expressions that it groups by, each as the list of columns has it."""
    group = select.args.get("group")
    if group is None:
        return []
    return [_resolved(one, select) for one in group.expressions]


def _resolved(key: exp.Expr, query: exp.Query) -> exp.Expr:
    """A key as an expression: a number or an alias stands for a column of the answer."""
    items = query.selects
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        place = int(key.name) - 1
        return items[place].unalias() if 0 <= place < len(items) else key
    if isinstance(key, exp.Column) and not key.table:
        for item in items:
            if isinstance(item, exp.Alias) and item.alias.lower() == key.name.lower():
                return item.unalias()
    return key


def _is_one_row(query: exp.Query) -> bool:
    grouped = query.args.get("group") is not None
    return isinstance(query, exp.Select) and not grouped and _aggregates(query)


def _is_total(query: exp.Query, by: Sequence[exp.Expr], keys: Keys) -> bool:
    """Whether rows that tie by these keys are equal."""
    own = {_resolved(key, query) for key in by}
    items = [one.unalias() for one in query.selects]
    names = {one.name.lower() for one in own if isinstance(one, exp.Column)}
    if not query.is_star and all(
        item in own or isinstance(item, exp.Literal)
        or (isinstance(item, exp.Column) and item.name.lower() in names)
        for item in items
    ):  # fmt: skip
        return True
    if isinstance(query, exp.SetOperation):
        named = [name.lower() for name in query.named_selects]
        return bool(named) and not query.is_star and {*named} <= names
    grouped = _group_of(query)
    if grouped:
        return all(
            one in own or (isinstance(one, exp.Column) and one.name.lower() in names)
            for one in grouped
        )
    return isinstance(query, exp.Select) and _has_keys(query, [*own], keys)


def _has_keys(select: exp.Select, by: Sequence[exp.Expr], keys: Keys) -> bool:
    """Whether the keys have the primary key of each table that is read, but for one that is joined
    by its whole key, which adds no row."""
    source = select.args.get("from_")
    if source is None or not isinstance(source.this, exp.Table):
        return source is None
    joins = select.args.get("joins") or ()
    own = {(one.table.lower(), one.name.lower()) for one in by if isinstance(one, exp.Column)}
    if not _names_key(source.this, own, keys):
        return False
    for join in joins:
        table = join.this
        on = join.args.get("on")
        equal = (
            [side for each in on.find_all(exp.EQ) for side in (each.left, each.right)] if on else []
        )
        joined = {(one.table.lower(), one.name.lower()) for one in equal
                  if isinstance(one, exp.Column) and one.table}  # fmt: skip
        if not isinstance(table, exp.Table):
            return False
        if not (_names_key(table, own, keys) or _names_key(table, joined, keys)):
            return False
    return True


def _names_key(table: exp.Table, own: set[tuple[str, str]], keys: Keys) -> bool:
    key = keys.get(table.name.lower(), ())
    alias = table.alias_or_name.lower()
    return bool(key) and all(
        (alias, name.lower()) in own or ("", name.lower()) in own for name in key
    )
