"""A statement of a workload in QUEL: one text, translated for every dialect of SQL by the rules of
the papers' statements, and sent to lode as it is.

A parameter is `:name`, as in SQL, and stands for a whole number or a text.
"""

from collections.abc import Callable, Sequence

from loadstone.engines.capabilities import Attribute
from loadstone.errors import InputError, LoadstoneError
from loadstone.plan.workload import DataTable, Draw, DrawnText, OwnText, WorkloadStatement
from loadstone.quel import tree
from loadstone.quel.dialect import DUCKDB, OF_SQL, QUEL
from loadstone.quel.statement import Statement
from loadstone.quel.translate import translate
from loadstone.workload.parameters import filled, marked, named_in

LODE_TYPES = ("int2", "int4", "int8", "text")
"""Of the columns of a workload, those that lode has."""


def statement_of(
    text: str, draws: Sequence[Draw], variations: int, tables: Sequence[DataTable], where: str
) -> tuple[OwnText, tuple[OwnText, ...]]:
    """The text in the dialect that others are translated from, and in every other. Raises
    `InputError`."""
    missing = {draw.name for draw in draws} - named_in(text, QUEL.name, draws, where)
    if missing:
        raise InputError(f"{where} has no :{min(missing)}", hint="leave out that parameter")
    texts = filled(text, QUEL.name, draws, variations, where) if draws else (text,)
    drawn = (DrawnText(text, tuple(draws)),) if draws else ()
    each = {dialect.name: _into(dialect.name, tables, where) for dialect in OF_SQL}
    found = {
        name: OwnText(name, tuple(map(into, texts)), tuple(_drawn(one, into) for one in drawn))
        for name, into in each.items()
    }
    own = [one for name, one in found.items() if name != DUCKDB.name]
    return found[DUCKDB.name], (*own, OwnText(QUEL.name, texts, drawn))


def check(text: str, where: str) -> None:
    """Raise `InputError` where a text is no one query of QUEL."""
    statements = [one["kind"] for one in tree.parse(text) if one["kind"] not in ("range", "go")]
    if statements != ["retrieve"]:
        raise InputError(
            f"{where} is not one `retrieve` of QUEL", hint="write its changes in SQL: sql = '''…'''"
        )


def read_by(statement: WorkloadStatement) -> frozenset[str]:
    """The tables that a statement in QUEL reads; none of one in SQL."""
    own = [one.texts for one in statement.own if one.dialect == QUEL.name]
    return frozenset(
        one["relation"] for texts in own for one in tree.parse(texts[0]) if one["kind"] == "range"
    )


def for_engine(text: str, tables: Sequence[str], stored: Callable[[str], str]) -> Statement:
    """The text as an engine gets it that speaks QUEL, with the names that its tables have there."""
    known = {name: stored(name) for name in tables}
    return translate(text, QUEL.name, lambda name: known.get(name, name), lambda _: ())


def _into(dialect: str, tables: Sequence[DataTable], where: str) -> Callable[[str], str]:
    columns = {table.name: _attributes(table) for table in tables}

    def attributes_of(name: str) -> Sequence[Attribute]:
        if name not in columns:
            raise InputError(f"there is no table {name}", hint=f"there are: {', '.join(columns)}")
        return columns[name]

    def translated(text: str) -> str:
        try:
            check(text, where)
            return translate(text, dialect, lambda name: name, attributes_of).text
        except LoadstoneError as error:
            raise InputError(f"{where}: {error.message}", hint=error.hint) from error

    return translated


def _attributes(table: DataTable) -> tuple[Attribute, ...]:
    """Its columns, in the types that QUEL knows: texts have any length."""
    kinds = {"text": "char(1)", "bool": "int2"}
    return tuple(Attribute(one.name, kinds.get(one.type, one.type)) for one in table.columns)


def _drawn(drawn: DrawnText, into: Callable[[str], str]) -> DrawnText:
    """A drawn text, translated: the values' places are found again by their markers."""
    text, markers = marked(drawn.text, QUEL.name, drawn.draws)
    translated = into(text)
    for marker, place in markers.items():
        literal = f"'{marker[1:-1]}'" if marker.startswith('"') else marker
        translated = translated.replace(literal, f":{drawn.draws[place].name}")
    return DrawnText(translated, drawn.draws, drawn.weight)
