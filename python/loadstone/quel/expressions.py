"""QUEL expressions as sqlglot trees, with types where the dialects would differ."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from sqlglot import exp

from loadstone.engines.capabilities import Attribute
from loadstone.errors import InputError, UnsupportedError
from loadstone.quel import patterns
from loadstone.quel.dialect import Dialect
from loadstone.quel.tree import Node

COMPARISONS: dict[str, type[exp.Binary]] = {
    "=": exp.EQ,
    "!=": exp.NEQ,
    "<": exp.LT,
    "<=": exp.LTE,
    ">": exp.GT,
    ">=": exp.GTE,
}
ARITHMETIC: dict[str, type[exp.Binary]] = {"+": exp.Add, "-": exp.Sub, "*": exp.Mul}
REAL_FUNCTIONS: dict[str, type[exp.Func]] = {
    "atan": exp.Atan,
    "cos": exp.Cos,
    "exp": exp.Exp,
    "log": exp.Ln,
    "sin": exp.Sin,
    "sqrt": exp.Sqrt,
}
AGGREGATES: dict[str, type[exp.AggFunc]] = {
    "avg": exp.Avg,
    "count": exp.Count,
    "max": exp.Max,
    "min": exp.Min,
    "sum": exp.Sum,
}


@dataclass(frozen=True, slots=True)
class Scope:
    """The meaning of the names of one program, and the dialect it is translated to."""

    dialect: Dialect
    ranges: Mapping[str, str]
    """Range variable -> relation, in the order of declaration."""
    table_of: Callable[[str], str]
    attributes_of: Callable[[str], Sequence[Attribute]]
    schema: str = ""
    """That of every table, by name; empty where the session's own is meant."""

    def table(self, relation: str) -> exp.Table:
        """The table that holds a relation, or is to hold it."""
        return exp.table_(self.table_of(relation), db=self.schema or None, quoted=True)

    def relation(self, variable: str) -> str:
        """The relation of a variable. Raises `InputError` where it was not declared."""
        if variable not in self.ranges:
            raise InputError(
                f"there is no range variable {variable!r}",
                hint=f"declare it: range of {variable} is …",
            )
        return self.ranges[variable]

    def attributes(self, variable: str) -> Sequence[Attribute]:
        """The attributes of a variable's relation."""
        return self.attributes_of(self.relation(variable))

    def attribute(self, variable: str, name: str) -> Attribute:
        """One attribute. Raises `InputError` where the relation has none of that name."""
        relation = self.relation(variable)
        return attribute_named(relation, self.attributes_of(relation), name)


def attribute_named(relation: str, attributes: Sequence[Attribute], name: str) -> Attribute:
    """The attribute of that name. Raises `InputError`, which lists those there are."""
    for attribute in attributes:
        if attribute.name == name:
            return attribute
    known = ", ".join(attribute.name for attribute in attributes)
    raise InputError(f"{relation} has no attribute {name!r}", hint=f"it has {known}")


def column(variable: str, name: str) -> exp.Column:
    """A column of a range variable."""
    return exp.column(name, table=variable, quoted=True)


def type_of(node: Node, scope: Scope) -> str:
    """`integer`, `real` or `text`; conditions count as integers."""
    match node["kind"]:
        case "text" | "real" | "integer" as kind:
            return str(kind)
        case "parameter":
            raise _no_value(node)
        case "attribute":
            stored = scope.attribute(node["variable"], node["name"]).type
            return "text" if stored.startswith("c") else "real" if stored[0] == "f" else "integer"
        case "unary":
            return type_of(node["operand"], scope)
        case "binary":
            if node["operator"] == "**":
                return "real"
            sides = {type_of(node["left"], scope), type_of(node["right"], scope)}
            return "real" if "real" in sides else "integer"
        case "aggregate":
            return _type_of_aggregate(node, scope)
        case _:
            return _type_of_call(node, scope)


def _type_of_aggregate(node: Node, scope: Scope) -> str:
    if node["function"] in ("count", "countu", "any"):
        return "integer"
    return "real" if node["function"].startswith("avg") else type_of(node["argument"], scope)


def _type_of_call(node: Node, scope: Scope) -> str:
    function = node["function"]
    if function in ("abs", "mod") and node["arguments"]:
        return type_of(node["arguments"][0], scope)
    is_real = function in REAL_FUNCTIONS or function in ("bcdflt", "float4", "float8")
    return "real" if is_real else "integer"


@dataclass(frozen=True, slots=True)
class Expressions:
    """Renders expressions in a scope. `aggregate` says what stands where an aggregate is used."""

    scope: Scope
    aggregate: Callable[[Node], exp.Expr]

    def value(self, node: Node) -> exp.Expr:
        """The expression of a node."""
        match node["kind"]:
            case "integer":
                return exp.Literal.number(int(node["value"]))
            case "real":
                # A bare 0.1 is a decimal to DuckDB and PostgreSQL.
                literal = exp.Literal.number(repr(float(node["value"])))
                return _cast(literal, "DOUBLE") if self.scope.dialect.types_its_values else literal
            case "parameter":
                raise _no_value(node)
            case "text":
                return exp.Literal.string(patterns.plain(node["value"]))
            case "attribute":
                self.scope.attribute(node["variable"], node["name"])
                return column(node["variable"], node["name"])
            case "unary":
                operand = _grouped(self.value(node["operand"]))
                return (exp.Not if node["operator"] == "not" else exp.Neg)(this=operand)
            case "binary":
                return self._binary(node)
            case "call":
                return self._call(node)
            case "aggregate":
                return self.aggregate(node)
            case kind:
                raise InputError(f"cannot translate a node of kind {kind!r}")

    def _binary(self, node: Node) -> exp.Expr:
        operator, left, right = node["operator"], node["left"], node["right"]
        if operator in ("and", "or"):
            kind = exp.And if operator == "and" else exp.Or
            return kind(
                this=_term(self.value(left), kind), expression=_term(self.value(right), kind)
            )
        if operator in COMPARISONS:
            return self._comparison(operator, left, right)
        if operator == "**":
            return exp.Pow(this=self._real(left), expression=self._real(right))
        if operator == "/":
            return self._division(left, right)
        if operator == "mod":
            return exp.Mod(this=self._wide(left), expression=self._wide(right))
        return ARITHMETIC[operator](this=self._wide(left), expression=self._wide(right))

    def _comparison(self, operator: str, left: Node, right: Node) -> exp.Expr:
        types = {type_of(left, self.scope), type_of(right, self.scope)}
        if "text" in types and len(types) > 1:
            raise InputError(
                "a text is compared with a number", hint="quote the number, or drop the quotes"
            )
        if operator in ("=", "!="):
            for pattern, other in ((right, left), (left, right)):
                if pattern["kind"] == "text" and patterns.is_pattern(pattern["value"]):
                    operand = _grouped(self.value(other))
                    matches = patterns.match(operand, pattern["value"], self.scope.dialect)
                    return matches if operator == "=" else exp.Not(this=exp.Paren(this=matches))
        sides = [_grouped(self.value(side)) for side in (left, right)]
        if "text" in types and operator not in ("=", "!="):
            sides[0] = self.ordered(sides[0])
        return COMPARISONS[operator](this=sides[0], expression=sides[1])

    def ordered(self, text: exp.Expr) -> exp.Expr:
        """A text to be put in order: by code point, whatever the database's own collation."""
        if not self.scope.dialect.orders_by_collation:
            return text
        return exp.Collate(this=text, expression=exp.to_identifier("C", quoted=True))

    def _division(self, left: Node, right: Node) -> exp.Expr:
        sides = {"this": self._wide(left), "expression": self._wide(right)}
        whole = {type_of(left, self.scope), type_of(right, self.scope)} == {"integer"}
        if whole and not self.scope.dialect.divides_whole:
            return exp.IntDiv(**sides)
        return exp.Div(**sides, typed=True, safe=False)

    def _wide(self, node: Node) -> exp.Expr:
        """An operand of arithmetic: two bytes must not overflow on the way to a larger result."""
        value = _grouped(self.value(node))
        narrow = node["kind"] == "attribute" and type_of(node, self.scope) == "integer"
        return _cast(value, "BIGINT") if narrow and self.scope.dialect.types_its_values else value

    def _real(self, node: Node) -> exp.Expr:
        value = _grouped(self.value(node))
        return value if type_of(node, self.scope) == "real" else _cast(value, "DOUBLE")

    def _call(self, node: Node) -> exp.Expr:
        function, arguments = node["function"], node["arguments"]
        count = 2 if function in ("bcdflt", "mod") else 1
        if len(arguments) != count:
            raise InputError(f"{function} takes {count} argument(s), not {len(arguments)}")
        if function in REAL_FUNCTIONS:
            return REAL_FUNCTIONS[function](this=self._real(arguments[0]))
        if function == "abs":
            return exp.Abs(this=self._wide(arguments[0]))
        if function == "mod":
            return exp.Mod(this=self._wide(arguments[0]), expression=self._wide(arguments[1]))
        if function in ("float4", "float8", "bcdflt"):
            return self._real(arguments[-1])
        if function in ("int1", "int2", "int4", "int8"):
            return self._whole(arguments[0])
        raise InputError(
            f"there is no function {function!r}",
            hint="there are abs, bcdflt, float4, float8, int1, int2, int4, int8, mod, "
            + ", ".join(REAL_FUNCTIONS),
        )

    def _whole(self, node: Node) -> exp.Expr:
        value = _grouped(self.value(node))
        if type_of(node, self.scope) == "real" and self.scope.dialect.casts_round:
            value = self._cut(value)
        return _cast(value, "BIGINT")

    def _cut(self, value: exp.Expr) -> exp.Expr:
        """A number without its fraction."""
        if not self.scope.dialect.cuts_to_digits:
            return exp.Anonymous(this="TRUNC", expressions=[value])
        return exp.Anonymous(this="TRUNCATE", expressions=[value, exp.Literal.number(0)])

    def aggregated(self, node: Node, *, filtered: bool) -> exp.Expr:
        """An aggregate's own SQL function over its rows. With `filtered` its qualification is part
        of it; otherwise the caller puts that in a WHERE."""
        function, argument = node["function"], node["argument"]
        if function == "any":
            some = exp.GT(this=self._count(node, filtered), expression=exp.Literal.number(0))
            return exp.case().when(some, "1").else_("0")
        value = self.value(argument)
        kind = type_of(argument, self.scope)
        if kind == "text" and function in ("min", "max"):
            value = self.ordered(value)
        if function.startswith("avg") and not self.scope.dialect.means_are_exact:
            value = _cast(value, "DOUBLE")
        if function.endswith("u"):
            value = exp.Distinct(expressions=[value])
        result = self._filtered(AGGREGATES[function.removesuffix("u")](this=value), node, filtered)
        if not self.scope.dialect.types_its_values:
            return result
        if function.startswith("sum") and kind == "integer":
            # DuckDB sums to 128 bits, PostgreSQL sums 64 bits to a decimal.
            return _cast(result, "BIGINT")
        return _cast(result, "DOUBLE") if function.startswith("avg") else result

    def _count(self, node: Node, filtered: bool) -> exp.Expr:
        return self._filtered(exp.Count(this=exp.Star()), node, filtered)

    def _filtered(self, call: exp.Expr, node: Node, filtered: bool) -> exp.Expr:
        if not filtered or node["where"] is None:
            return call
        if not self.scope.dialect.filters_aggregates:
            return _of_some(call, self.value(node["where"]))
        return exp.Filter(this=call, expression=exp.Where(this=self.value(node["where"])))


def _of_some(call: exp.Expr, condition: exp.Expr) -> exp.Expr:
    """An aggregate of the tuples that meet a condition: of the others its argument is missing."""
    argument, distinct = call.this, isinstance(call.this, exp.Distinct)
    if distinct:
        (argument,) = argument.expressions
    some = exp.Literal.number(1) if isinstance(argument, exp.Star) else argument
    value: exp.Expr = exp.Case(ifs=[exp.If(this=condition, true=some)])
    call.set("this", exp.Distinct(expressions=[value]) if distinct else value)
    return call


def _no_value(parameter: Node) -> UnsupportedError:
    return UnsupportedError(
        f"SQL is made of programs without parameters such as ${parameter['number']}",
        hint="write its value into the text",
    )


def _cast(value: exp.Expr, kind: str) -> exp.Expr:
    return exp.Cast(this=value, to=exp.DataType.build(kind))


def _grouped(value: exp.Expr) -> exp.Expr:
    grouped = exp.Binary | exp.Not | exp.Neg | exp.Escape | exp.Connector
    return exp.Paren(this=value) if isinstance(value, grouped) else value


def _term(value: exp.Expr, kind: type[exp.Expr]) -> exp.Expr:
    mixed = isinstance(value, exp.Connector) and not isinstance(value, kind)
    return exp.Paren(this=value) if mixed else value
