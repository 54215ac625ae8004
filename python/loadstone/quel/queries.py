"""Target lists, qualifications and aggregates of QUEL as SELECTs.

An aggregate's range variables are its own. Where the statement uses none of the variables of its
`by` list, the statement runs over the partitions; where it does, each tuple outside looks up the
aggregate of its own partition. A partition is there even if no tuple of it meets the aggregate's
own qualification.
"""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from sqlglot import exp

from loadstone.errors import InputError, UnsupportedError
from loadstone.quel import tree
from loadstone.quel.expressions import Expressions, Scope, column
from loadstone.quel.tree import Node

Named = tuple[str | None, Node]
"""An attribute of a result; a whole relation, which keeps its names, has none."""


@dataclass(frozen=True, slots=True)
class Queries:
    """Builds SELECTs in a scope."""

    scope: Scope

    def select(self, targets: Sequence[Named], where: Node | None) -> exp.Select:
        """The query for a target list and a qualification."""
        clauses = [*(value for _, value in targets), *([] if where is None else [where])]
        mentioned = tree.variables(clauses, into_aggregates=False)
        aggregates = tree.aggregates(clauses)
        if not mentioned and where is None and _one_group(aggregates):
            return self._grouped(targets, aggregates[0])
        return _Joined(self, mentioned, aggregates).select(targets, where)

    def _grouped(self, targets: Sequence[Named], first: Node) -> exp.Select:
        """Nothing but aggregates over the same rows: they are the query itself."""
        own = _own_variables(first)
        inside = Expressions(self.scope, self.nested(own))
        filtered = bool(first["by"])
        render = Expressions(self.scope, lambda node: inside.aggregated(node, filtered=filtered))
        select = exp.select(*[item(name, value, render) for name, value in targets])
        select = self.from_tables(select, own)
        if first["where"] is not None and not filtered:
            select = select.where(inside.value(first["where"]), copy=False)
        return select.group_by(*[inside.value(part) for part in first["by"]], copy=False)

    def subquery(self, node: Node, keys: Sequence[exp.Expr] | None = None) -> exp.Subquery:
        """An aggregate as a scalar subquery. With a `by` list it is that of the partition given by
        `keys`, or by the tuple outside."""
        outside = Expressions(self.scope, self.subquery)
        if keys is None:
            keys = [outside.value(part) for part in node["by"]]
        own = {name: f"{name}_of_{node['function']}" for name in _own_variables(node)}
        local = _renamed(node, own)
        relations = {inner: self.scope.relation(name) for name, inner in own.items()}
        scope = replace(self.scope, ranges={**self.scope.ranges, **relations})
        inside = Queries(scope)
        render = Expressions(scope, inside.nested(list(relations)))
        select = exp.select(render.aggregated(local, filtered=False))
        select = inside.from_tables(select, list(relations))
        if local["where"] is not None:
            select = select.where(render.value(local["where"]), copy=False)
        for part, key in zip(local["by"], keys, strict=True):
            select = select.where(exp.EQ(this=render.value(part), expression=key), copy=False)
        return exp.Subquery(this=select)

    def nested(self, variables: Sequence[str]) -> Callable[[Node], exp.Expr]:
        """The expression for an aggregate in a place that runs over `variables` and cannot run over
        its partitions."""

        def stand_in(node: Node) -> exp.Expr:
            if not set(tree.variables(node["by"])) <= set(variables):
                raise UnsupportedError(
                    f"{node['function']} … by: the statement does not use its range variables",
                    hint="retrieve it into a relation first",
                )
            return self.subquery(node)

        return stand_in

    def from_tables(self, select: exp.Select, variables: Sequence[str]) -> exp.Select:
        """The query over the tables of range variables, separated by commas."""
        for table in self.tables(variables):
            select = add_table(select, table)
        return select

    def tables(self, variables: Sequence[str]) -> list[exp.Expr]:
        """The tables of range variables under their names, in the order of their declaration."""
        for variable in variables:
            self.scope.relation(variable)
        return [self.table(variable) for variable in self.scope.ranges if variable in variables]

    def table(self, variable: str) -> exp.Expr:
        """The table of a range variable, under its name."""
        table = self.scope.table(self.scope.relation(variable))
        return exp.alias_(table, variable, quoted=True, table=True)


class _Joined:
    """A query that runs over tuples, or over several partitionings.

    The aggregates of one partitioning become one derived table, joined on the partition where its
    range variables are used outside. Scalar ones are subqueries.
    """

    def __init__(
        self, queries: Queries, mentioned: Sequence[str], aggregates: Sequence[Node]
    ) -> None:
        self.queries = queries
        self.mentioned = set(mentioned)
        linked = [node for node in aggregates if self._is_linked(node)]
        self.outer = self.mentioned.union(*(tree.variables(node["by"]) for node in linked))
        self.groups: list[list[Node]] = []
        """Aggregates with equal `by` lists; their derived tables are counted from 1."""

    def select(self, targets: Sequence[Named], where: Node | None) -> exp.Select:
        render = Expressions(self.queries.scope, self._aggregate)
        items = [item(name, value, render) for name, value in targets]
        condition = None if where is None else render.value(where)
        select = self.queries.from_tables(exp.select(*items), list(self.outer))
        for number, members in enumerate(self.groups, 1):
            select = self._attach(select, number, members)
        return select if condition is None else select.where(condition, copy=False)

    def _is_linked(self, node: Node) -> bool:
        return not self.mentioned.isdisjoint(tree.variables(node["by"]))

    def _aggregate(self, node: Node) -> exp.Expr:
        if not node["by"] or (self._is_linked(node) and not _stays_in_partition(node)):
            return self.queries.subquery(node)
        number = self._group(node["by"])
        members = self.groups[number - 1]
        members.append(node)
        if not _stays_in_partition(node):
            keys = [column(f"partition{number}", f"key{at + 1}") for at in range(len(node["by"]))]
            return self.queries.subquery(node, keys)
        return column(f"partition{number}", f"value{len(members)}")

    def _group(self, by: list[Node]) -> int:
        """The number of the partitioning by these expressions."""
        known = [members[0]["by"] for members in self.groups]
        if by not in known:
            self.groups.append([])
            return len(self.groups)
        return known.index(by) + 1

    def _attach(self, select: exp.Select, number: int, members: list[Node]) -> exp.Select:
        alias, by = f"partition{number}", members[0]["by"]
        derived = exp.Subquery(this=self._derived(by, members))
        select = add_table(select, exp.alias_(derived, alias, quoted=True, table=True))
        if not self._is_linked(members[0]):
            return select
        render = Expressions(self.queries.scope, self.queries.nested(list(self.outer)))
        for at, part in enumerate(by, 1):
            same = exp.EQ(this=column(alias, f"key{at}"), expression=render.value(part))
            select = select.where(same, copy=False)
        return select

    def _derived(self, by: Sequence[Node], members: Sequence[Node]) -> exp.Select:
        """The partitions, with the values of the aggregates that need no more than their own
        partition's tuples."""
        variables = tree.variables(by)
        render = Expressions(self.queries.scope, self.queries.nested(variables))
        keys = [render.value(part) for part in by]
        items = [exp.alias_(key, f"key{at}", quoted=True) for at, key in enumerate(keys, 1)]
        items += [
            exp.alias_(render.aggregated(node, filtered=True), f"value{at}", quoted=True)
            for at, node in enumerate(members, 1)
            if _stays_in_partition(node)
        ]
        select = self.queries.from_tables(exp.select(*items), variables)
        return select.group_by(*[key.copy() for key in keys], copy=False)


def item(name: str | None, value: Node, render: Expressions) -> exp.Expr:
    """One item of a SELECT's list."""
    if name is None:
        variable = exp.to_identifier(value["variable"], quoted=True)
        return exp.Column(this=exp.Star(), table=variable)
    rendered = render.value(value)
    if isinstance(rendered, exp.Column) and rendered.name == name:
        return rendered
    return exp.alias_(rendered, name, quoted=True)


def result_names(targets: Sequence[Node], scope: Scope) -> list[Named]:
    """The attributes of a result. Where a name is taken, an attribute is called after its range
    variable, too; a relation without such clashes stays whole."""
    found: list[Named] = []
    taken: set[str] = set()
    for target in targets:
        if target["kind"] == "all":
            variable = target["variable"]
            names = [attribute.name for attribute in scope.attributes(variable)]
            if taken.isdisjoint(names):
                found.append((None, target))
                taken.update(names)
                continue
            parts = [(name, tree.attribute(variable, name)) for name in names]
        else:
            parts = [(target["name"] or own_name(target["value"]), target["value"])]
        for name, value in parts:
            free = _free_name(name, value, taken)
            taken.add(free)
            found.append((free, value))
    return found


def own_name(value: Node) -> str:
    """The name of a value to which the text gives none."""
    return str(value["name"] if value["kind"] == "attribute" else value.get("function", "value"))


def add_table(select: exp.Select, table: exp.Expr) -> exp.Select:
    """The query with one more table behind a comma."""
    if not select.args.get("from_"):
        return select.from_(table, copy=False)
    select.append("joins", exp.Join(this=table))
    return select


def _free_name(name: str, value: Node, taken: set[str]) -> str:
    if name in taken and value["kind"] != "attribute":
        raise InputError(f"two results have the name {name!r}", hint="give one another name")
    while name in taken:
        name = f"{value['variable']}_{name}"
    return name


def _own_variables(node: Node) -> list[str]:
    """Range variables that an aggregate runs over: those of aggregates inside are theirs."""
    parts = [node["argument"], *node["by"], *([node["where"]] if node["where"] else [])]
    return tree.variables(parts, into_aggregates=False)


def _stays_in_partition(node: Node) -> bool:
    """Whether an aggregate runs over the variables of its `by` list and no others."""
    return set(_own_variables(node)) <= set(tree.variables(node["by"]))


def _one_group(aggregates: Sequence[Node]) -> bool:
    """Whether all the aggregates run over the same rows in the same partitions."""
    kinds = {
        json.dumps(
            [sorted(_own_variables(node)), node["by"], None if node["by"] else node["where"]]
        )
        for node in aggregates
    }
    return len(kinds) == 1 and (not aggregates[0]["by"] or _stays_in_partition(aggregates[0]))


def _renamed(node: Node, names: dict[str, str]) -> Node:
    def rename(part: Node) -> Node:
        if part["kind"] != "attribute" or part["variable"] not in names:
            return part
        return {**part, "variable": names[part["variable"]]}

    renamed: Node = tree.rebuild(node, rename)
    return renamed
