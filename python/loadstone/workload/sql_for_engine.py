"""A statement of a workload as each engine gets it.

A text in the dialect of its engine goes to the engine as it is written, but for the names of tables
where those of the engine are others; so does a text that names no dialect, where the engine quotes
names as the standard does: what has no form there is a gap. Any other text is translated by
sqlglot.
"""

from collections.abc import Mapping, Sequence

from sqlglot import ErrorLevel, exp
from sqlglot.errors import UnsupportedError as Untranslatable

from loadstone.errors import InputError, UnsupportedError
from loadstone.quel.statement import Statement
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
    named = bool(written_in)
    written_in, tree = _read(text, written_in, dialect)
    changed = changed_by(tree)
    kind, target = ("update", stored.get(changed, changed)) if changed else ("retrieve", None)
    # Loaded tables have their columns' capitals; a text of the engine's own dialect quotes them.
    quoted = (not named or written_in != dialect) and _write_capitals(tree, columns)
    if written_in == dialect and same and not quoted:
        (written,) = pieces(text, written_in, "the statement")
        return Statement(kind, written, target=target)
    if dialect == "mysql" and any(join.side == "FULL" for join in tree.find_all(exp.Join)):
        # sqlglot joins it twice by UNION, of which an aggregate has two rows.
        raise UnsupportedError(f"no translation of it to {dialect}: there is no FULL JOIN")
    _rename(tree, stored, schema)
    try:
        # Names of functions that sqlglot does not know stay as they are written: quoted, capitals
        # would name another.
        written = tree.sql(
            dialect=dialect, unsupported_level=ErrorLevel.RAISE, normalize_functions=False
        )
    except Untranslatable as error:
        raise UnsupportedError(f"no translation of it to {dialect}: {complaint(error)}") from error
    return Statement(kind, written, target=target)


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


def _write_capitals(tree: Tree, columns: Sequence[str]) -> bool:
    """Quote the columns whose names have capitals, since unquoted an engine may take them for
    others; whether there was one."""
    found = False
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
                found = True
    return found
