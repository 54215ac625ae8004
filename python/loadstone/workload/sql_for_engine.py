"""A statement of a workload as each engine gets it.

A text in the dialect of its engine goes to the engine as it is written, but for the names of tables
where those of the engine are others. Any other text is translated by sqlglot.
"""

from collections.abc import Mapping, Sequence

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as Untranslatable

from loadstone.errors import UnsupportedError
from loadstone.quel.statement import Statement
from loadstone.workload.sql import Tree, changed_by, complaint, each_table, parsed, pieces


def for_engine(
    text: str,
    written_in: str,
    dialect: str,
    stored: Mapping[str, str],
    columns: Sequence[str],
    schema: str,
) -> Statement:
    """A statement as an engine of a dialect gets it. `stored`: table -> its name there; `columns`:
    the names of all columns; `schema`: where the tables are, if the statement is to say so. Raises
    `UnsupportedError` where sqlglot knows no translation."""
    same = all(name == there for name, there in stored.items()) and not schema
    tree = parsed(text, written_in, "the statement")
    changed = changed_by(tree)
    kind, target = ("update", stored.get(changed, changed)) if changed else ("retrieve", None)
    if written_in == dialect and same:
        (written,) = pieces(text, written_in, "the statement")
        return Statement(kind, written, target=target)
    _rename(tree, stored, schema)
    if written_in != dialect:
        _write_capitals(tree, columns)
    try:
        # Names of functions that sqlglot does not know stay as they are written: quoted, capitals
        # would name another.
        written = tree.sql(
            dialect=dialect, unsupported_level=ErrorLevel.RAISE, normalize_functions=False
        )
    except Untranslatable as error:
        raise UnsupportedError(f"no translation of it to {dialect}: {complaint(error)}") from error
    return Statement(kind, written, target=target)


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


def _write_capitals(tree: Tree, columns: Sequence[str]) -> None:
    """Quote the columns whose names have capitals: unquoted, an engine may take them for others."""
    spelled: dict[str, set[str]] = {}
    for name in columns:
        spelled.setdefault(name.lower(), set()).add(name)
    named = [column.this for column in tree.find_all(exp.Column)]
    if isinstance(tree, exp.Insert) and isinstance(tree.this, exp.Schema):
        named += tree.this.expressions
    for identifier in named:
        own = spelled.get(identifier.name.lower(), set())
        if len(own) == 1 and isinstance(identifier, exp.Identifier) and not identifier.quoted:
            (name,) = own
            if name != name.lower():
                identifier.replace(exp.to_identifier(name, quoted=True))
