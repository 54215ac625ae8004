"""The query in a statement, alone, and one that only counts its rows."""

from functools import lru_cache

from sqlglot import exp, parse_one

from loadstone.errors import UnsupportedError
from loadstone.quel import tree
from loadstone.quel.dialect import is_quel


@lru_cache(maxsize=512)
def query_of(text: str, dialect: str) -> str:
    """The query of a statement that makes a relation of it; any other statement as it is."""
    if is_quel(dialect):
        return text
    found = parse_one(text, read=dialect)
    made = found.expression if isinstance(found, exp.Create) else None
    return text if made is None else made.sql(dialect=dialect)


@lru_cache(maxsize=512)
def counting(text: str, dialect: str) -> str:
    """The statement that answers with the number of a retrieval's rows, alone. Raises
    `UnsupportedError` for a statement that retrieves nothing, or that QUEL cannot count."""
    if is_quel(dialect):
        return _in_quel(text)
    found = parse_one(text, read=dialect)
    query = found.expression if isinstance(found, exp.Create) else found
    if not isinstance(query, exp.Query):
        raise UnsupportedError("only the tuples of a retrieve can be counted")
    counted = exp.select(exp.Count(this=exp.Star())).from_(query.subquery("counted"))
    return counted.sql(dialect=dialect)


def _in_quel(text: str) -> str:
    """As an aggregate over the first range variable: a retrieval keeps its duplicates, and so does
    `count`."""
    program = tree.parse(text)
    *ranges, query = program
    if query["kind"] != "retrieve":
        raise UnsupportedError("only the tuples of a retrieve can be counted")
    if query["unique"] or tree.aggregates(query):
        raise UnsupportedError("QUEL cannot count the rows of a retrieval with aggregates")
    attribute = next((part for part in tree.walk(query) if part["kind"] == "attribute"), None)
    if attribute is None:
        raise UnsupportedError("QUEL counts an attribute, and the statement names none")
    aggregate = {
        "kind": "aggregate", "function": "count", "argument": attribute, "by": [],
        "where": query["where"],
    }  # fmt: skip
    counted = {**query, "into": None, "where": None, "targets": [tree.named("counted", aggregate)]}
    return tree.render([*ranges, counted]).rstrip("\n")
