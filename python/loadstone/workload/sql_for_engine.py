"""A statement of a workload as each engine gets it.

A text in the dialect of its engine goes to the engine as it is written, but for the names of tables
where those of the engine are others, and for the columns' capitals; so does a text that names no
dialect, where the engine quotes names as the standard does: what has no form there is a gap. Any
other text is translated by sqlglot, and by `constructs` where sqlglot would change its meaning.
"""

from collections.abc import Iterator, Mapping, Sequence

from sqlglot import exp
from sqlglot.errors import UnsupportedError as Untranslatable

from loadstone.errors import InputError, UnsupportedError
from loadstone.quel.statement import Statement
from loadstone.workload.constructs import translated
from loadstone.workload.expression_types import Column
from loadstone.workload.sql import (
    GENERIC,
    STANDARD_QUOTES,
    Tree,
    changed_by,
    complaint,
    each_table,
    parsed,
    pieces,
)

_CASE_COUNTS = frozenset({"clickhouse"})
"""Dialects in which two names that differ in capitals are two names, without quotes, too."""
_QUOTES_COUNT = frozenset({"postgres", *_CASE_COUNTS})
"""Dialects that find a column with capitals only where it is written with them, in quotes."""


def for_engine(
    text: str,
    written_in: str,
    dialect: str,
    stored: Mapping[str, str],
    columns: Sequence[Column],
    schema: str,
) -> Statement:
    """A statement as an engine of a dialect gets it. `stored`: table -> its name there; `columns`:
    those of all tables; `schema`: where the tables are, if the statement is to say so. Raises
    `UnsupportedError` where no translation keeps its meaning."""
    same = all(name == there for name, there in stored.items()) and not schema
    written_in, tree = _read(text, written_in, dialect)
    changed = changed_by(tree)
    kind, target = ("update", stored.get(changed, changed)) if changed else ("retrieve", None)
    spelled = _spellings(columns) if dialect in _QUOTES_COUNT else {}
    if written_in == dialect and same:
        text = _with_capitals(text, tree, spelled)
        (written,) = pieces(text, written_in, "the statement")
        return Statement(kind, written, target=target)
    if dialect == "mysql" and any(join.side == "FULL" for join in tree.find_all(exp.Join)):
        # sqlglot joins it twice by UNION, of which an aggregate has two rows.
        raise UnsupportedError(f"no translation of it to {dialect}: there is no FULL JOIN")
    for identifier, name in _capitals(tree, spelled):
        identifier.replace(exp.to_identifier(name, quoted=True))
    if written_in != dialect:
        _quote_aliases(tree, fold=written_in not in _CASE_COUNTS)
    _rename(tree, stored, schema)
    try:
        return Statement(kind, translated(tree, columns, written_in, dialect), target=target)
    except Untranslatable as error:
        raise UnsupportedError(f"no translation of it to {dialect}: {complaint(error)}") from error


def _read(text: str, written_in: str, dialect: str) -> tuple[str, Tree]:
    """The dialect that a text is written in, seen from an engine's, and its tree. Raises
    `UnsupportedError` where it names none, and this is not read as the engine has it."""
    if written_in == GENERIC and dialect in STANDARD_QUOTES:
        try:
            return dialect, parsed(text, dialect, "the statement")
        except InputError as error:
            raise UnsupportedError(
                f"it names no dialect, so it is not translated to {dialect}, where"
                f" {error.message.replace('the statement', 'it', 1)}",
                hint='name the dialect that it is written in: dialect = "duckdb"',
            ) from error
    return written_in, parsed(text, written_in, "the statement")


def _rename(tree: Tree, stored: Mapping[str, str], schema: str) -> None:
    there = {name.lower(): name_there for name, name_there in stored.items()}
    for table in list(each_table(tree)):
        stored_name = there.get(table.name.lower())
        if stored_name is None or (stored_name == table.name and not schema):
            continue
        if not table.alias:
            table.set("alias", exp.TableAlias(this=table.this.copy()))
        table.set("this", exp.to_identifier(stored_name, quoted=True))
        if schema:
            table.set("db", exp.to_identifier(schema, quoted=True))


def _spellings(columns: Sequence[Column]) -> Mapping[str, str]:
    """Of each column that has capitals, its spelling, unless two differ in these alone."""
    found: dict[str, set[str]] = {}
    for _, name, _ in columns:
        found.setdefault(name.lower(), set()).add(name)
    return {
        lower: name
        for lower, names in found.items()
        if len(names) == 1
        for name in names
        if name != lower
    }


def _capitals(tree: Tree, spelled: Mapping[str, str]) -> Iterator[tuple[exp.Identifier, str]]:
    """What has the name of a column with capitals and no quotes, and how that is written: the
    column, and an alias, which must stay equal to what refers to it."""
    for identifier in [*tree.find_all(exp.Identifier)]:
        name = spelled.get(identifier.name.lower())
        if name is not None and not (identifier.quoted or isinstance(identifier.parent, exp.Table)):
            yield identifier, name


def _with_capitals(text: str, tree: Tree, spelled: Mapping[str, str]) -> str:
    """A text as it is written, but for these names."""
    places = {one.meta["start"]: (one.meta["end"], name) for one, name in _capitals(tree, spelled)}
    for start in sorted(places, reverse=True):
        end, name = places[start]
        text = f'{text[:start]}"{name}"{text[end + 1 :]}'
    return text


def _quote_aliases(tree: Tree, *, fold: bool) -> None:
    """Quote the names that a text gives by itself, and what refers to them: one may be a reserved
    word of another dialect. Without quotes, capitals do not count in most."""
    given = {
        identifier.name.lower()
        for one in tree.find_all(exp.Alias, exp.TableAlias)
        for identifier in (one.args.get("alias") or one.this, *(one.args.get("columns") or ()))
        if isinstance(identifier, exp.Identifier)
    }
    own = {id(table.this) for table in each_table(tree)}  # an alias may have the name of a table
    for identifier in [*tree.find_all(exp.Identifier)]:
        lower = identifier.name.lower()
        if lower in given and not identifier.quoted and id(identifier) not in own:
            identifier.replace(exp.to_identifier(lower if fold else identifier.name, quoted=True))
