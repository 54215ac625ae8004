"""QUEL to SQL: one program, ending in one statement, for one dialect. (To an engine that speaks
QUEL it goes as it is, by way of `stored`.)

The statement is built as a sqlglot tree and rendered once; names are quoted identifiers.

* `retrieve` keeps duplicates, `retrieve unique` removes them.
* `retrieve into r` makes a new table. Where two of its attributes would have the same name, the
  later one is prefixed by its range variable: `t.all, w.all` gives `unique1` and `w_unique1`.
* An aggregate whose range variables are used nowhere else in the statement stands for one row per
  partition (GROUP BY). Otherwise it is computed separately and joined on its partition.
* `append` fills attributes that it does not name with 0 or blanks.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from sqlglot import exp

from loadstone.engines.capabilities import Attribute
from loadstone.errors import InputError, UnsupportedError
from loadstone.quel import stored, tree
from loadstone.quel.dialect import dialect_named
from loadstone.quel.expressions import Expressions, Scope, attribute_named
from loadstone.quel.queries import Named, Queries, add_table, own_name, result_names
from loadstone.quel.statement import Statement
from loadstone.quel.tree import Node

_COLUMN_TYPES = {
    "i1": "SMALLINT",
    "i2": "SMALLINT",
    "i4": "INT",
    "i8": "BIGINT",
    "f4": "DOUBLE",
    "f8": "DOUBLE",
}
_ASK_THE_ENGINE = "a storage structure is chosen when a table is loaded"


def translate(
    text: str,
    dialect: str,
    table_of: Callable[[str], str],
    attributes_of: Callable[[str], Sequence[Attribute]],
    schema: str = "",
) -> Statement:
    """The last statement of a program, the only one besides `range of`, in a dialect of SQL, or in
    QUEL.

    `table_of` gives the table that holds a relation, `attributes_of` a relation's attributes;
    `schema` is where the tables are, if the statement is to say so.
    Raises `InputError` for a text that is not QUEL or means nothing, `UnsupportedError` for a
    statement that SQL has no word for.
    """
    return translate_tree(tree.parse(text), dialect, table_of, attributes_of, schema)


def translate_tree(
    program: Sequence[Node],
    dialect: str,
    table_of: Callable[[str], str],
    attributes_of: Callable[[str], Sequence[Attribute]],
    schema: str = "",
) -> Statement:
    """`translate`, from a tree."""
    rules = dialect_named(dialect)
    ranges = {s["variable"]: s["relation"] for s in program if s["kind"] == "range"}
    statements = [s for s in program if s["kind"] not in ("range", "go")]
    if len(statements) != 1:
        raise InputError(
            f"the program has {len(statements)} statements besides `range of`",
            hint="translate one statement at a time",
        )
    scope = Scope(rules, ranges, table_of, attributes_of, schema)
    if rules.is_quel:
        return stored.stored(program, scope)
    return _Translation(scope, Queries(scope)).statement(statements[0])


@dataclass(frozen=True, slots=True)
class _Translation:
    scope: Scope
    queries: Queries

    def statement(self, node: Node) -> Statement:
        match node["kind"]:
            case "retrieve":
                return self._retrieve(node)
            case "append":
                return self._updated(self._append(node), node["relation"])
            case "replace":
                return self._updated(self._replace(node), self.scope.ranges[node["variable"]])
            case "delete":
                return self._updated(self._delete(node), self.scope.ranges[node["variable"]])
            case "create":
                return self._rendered("definition", self._create(node))
            case "index":
                return self._rendered("definition", self._index(node))
            case "destroy":
                return self._rendered("definition", self._destroy(node))
            case kind:
                raise UnsupportedError(f"SQL has no statement for `{kind}`", hint=_ASK_THE_ENGINE)

    def _rendered(self, kind: str, statement: exp.Expr, result: str | None = None) -> Statement:
        return Statement(kind, statement.sql(dialect=self.scope.dialect.name), result)

    def _updated(self, statement: exp.Expr, relation: str) -> Statement:
        sql = statement.sql(dialect=self.scope.dialect.name)
        return Statement("update", sql, target=self.scope.table_of(relation))

    def _table(self, relation: str) -> exp.Table:
        return self.scope.table(relation)

    def _retrieve(self, node: Node) -> Statement:
        select = self.queries.select(result_names(node["targets"], self.scope), node["where"])
        if node["unique"]:
            select = select.distinct(copy=False)
        if node["into"] is None:
            return self._rendered("retrieve", select)
        create = exp.Create(kind="TABLE", this=self._table(node["into"]), expression=select)
        return self._rendered("into", create, self.scope.table_of(node["into"]))

    # --- updates --------------------------------------------------------------------------

    def _append(self, node: Node) -> exp.Expr:
        relation = node["relation"]
        attributes = self.scope.attributes_of(relation)
        given: dict[str, Node] = {}
        for name, value in self._assignments(node["targets"]):
            given[attribute_named(relation, attributes, name).name] = value
        targets: list[Named] = [(a.name, given.get(a.name) or _blank(a)) for a in attributes]
        values = [value for _, value in targets]
        names = [exp.to_identifier(attribute.name, quoted=True) for attribute in attributes]
        table = exp.Schema(this=self._table(relation), expressions=names)
        if node["where"] is None and not any(map(tree.variables, values)):
            render = Expressions(self.scope, self.queries.subquery)
            row = exp.Tuple(expressions=[render.value(value) for value in values])
            return exp.Insert(this=table, expression=exp.Values(expressions=[row]))
        return exp.Insert(this=table, expression=self.queries.select(targets, node["where"]))

    def _assignments(self, targets: Sequence[Node]) -> list[tuple[str, Node]]:
        assignments: list[tuple[str, Node]] = []
        for target in targets:
            if target["kind"] == "all":
                variable = target["variable"]
                names = [attribute.name for attribute in self.scope.attributes(variable)]
                assignments += [(name, tree.attribute(variable, name)) for name in names]
            else:
                value = target["value"]
                assignments.append((target["name"] or own_name(value), value))
        return assignments

    def _replace(self, node: Node) -> exp.Expr:
        others = self._others(node)
        render = Expressions(self.scope, self.queries.nested([node["variable"], *others]))
        assignments = []
        for name, value in self._assignments(node["targets"]):
            self.scope.attribute(node["variable"], name)
            target = exp.column(name, quoted=True)
            assignments.append(exp.EQ(this=target, expression=render.value(value)))
        update = exp.Update(this=self.queries.table(node["variable"]), expressions=assignments)
        if others:
            first, *rest = self.queries.tables(others)
            first.set("joins", [exp.Join(this=table) for table in rest])
            update.set("from_", exp.From(this=first))
        if node["where"] is not None:
            update.set("where", exp.Where(this=render.value(node["where"])))
        return update

    def _delete(self, node: Node) -> exp.Expr:
        delete = exp.Delete(this=self.queries.table(node["variable"]))
        if node["where"] is None:
            whole = self._table(self.scope.relation(node["variable"]))
            return delete if self.scope.dialect.deletes_by_alias else exp.Delete(this=whole)
        others = self._others(node)
        render = Expressions(self.scope, self.queries.nested([node["variable"], *others]))
        condition = render.value(node["where"])
        if others:
            inner = exp.select("1").where(condition, copy=False)
            for table in self.queries.tables(others):
                inner = add_table(inner, table)
            condition = exp.Exists(this=inner)
        delete.set("where", exp.Where(this=condition))
        return delete if self.scope.dialect.deletes_by_alias else self._unaliased(delete, node)

    def _unaliased(self, delete: exp.Delete, node: Node) -> exp.Delete:
        """A DELETE whose table has no other name; where a query inside may have a table of the
        same name, the table is named as the one of several to delete from."""
        variable = exp.to_identifier(node["variable"], quoted=True)
        if delete.find(exp.Select):
            delete.set("tables", [exp.Table(this=variable)])
            return delete
        table = self._table(self.scope.relation(node["variable"]))
        delete.set("this", table)
        for column in delete.find_all(exp.Column):
            column.set("table", table.this.copy())
        return delete

    def _others(self, node: Node) -> list[str]:
        """Range variables used besides the one that is updated."""
        clauses = [*node.get("targets", []), *([node["where"]] if node["where"] else [])]
        used = tree.variables(clauses, into_aggregates=False)
        return [variable for variable in used if variable != node["variable"]]

    # --- definitions ----------------------------------------------------------------------

    def _create(self, node: Node) -> exp.Expr:
        columns = [
            exp.ColumnDef(
                this=exp.to_identifier(attribute["name"], quoted=True),
                kind=_column_type(attribute["type"]),
            )
            for attribute in node["attributes"]
        ]
        schema = exp.Schema(this=self._table(node["relation"]), expressions=columns)
        return exp.Create(kind="TABLE", this=schema)

    def _index(self, node: Node) -> exp.Expr:
        if node["clustered"]:
            raise UnsupportedError("SQL cannot cluster a table", hint=_ASK_THE_ENGINE)
        table = self._table(node["relation"])
        keys = [exp.column(name, quoted=True) for name in node["attributes"]]
        name = "_".join([table.name, *node["attributes"]])
        index = exp.Index(
            this=exp.to_identifier(name, quoted=True),
            table=table,
            params=exp.IndexParameters(columns=keys),
        )
        return exp.Create(kind="INDEX", unique=node["unique"], this=index)

    def _destroy(self, node: Node) -> exp.Expr:
        if len(node["relations"]) != 1:
            raise UnsupportedError(
                "to destroy several relations takes several statements in SQL",
                hint="destroy one at a time",
            )
        return exp.Drop(kind="TABLE", tables=[self._table(node["relations"][0])])


def _blank(attribute: Attribute) -> Node:
    return tree.text("") if attribute.type.startswith("c") else tree.integer(0)


def _column_type(name: str) -> exp.DataType:
    if name in _COLUMN_TYPES:
        return exp.DataType.build(_COLUMN_TYPES[name])
    if name.startswith("c") and name[1:].isdigit():
        return exp.DataType.build(f"CHAR({name[1:]})")
    raise InputError(f"no type {name!r}", hint="there are i1, i2, i4, i8, f4, f8, and c30 …")
