"""The stored functions that a user's statement calls on a server of theirs, also by way of views,
and whether each may be called.

A transaction that only reads stops what changes tables, and no more: a function of theirs may write
a file (`INTO OUTFILE`). So only those are called that are declared to read: `READS SQL DATA` or
`NO SQL`. The server resolves no call without executing some of the statement, so its words are
compared with the catalog's names.

Not seen: a loadable function (`CREATE FUNCTION … SONAME`), and a view whose text the server does
not show to the account.
"""

import re
from collections.abc import Callable, Iterator, Sequence
from itertools import pairwise
from typing import Any

from loadstone.errors import EngineError

_TOKEN = re.compile(
    r"""
    (?P<apart> \s+ | --(?=\s|$)[^\n]* | \#[^\n]* | /\*(?!!|M!).*?\*/ )
    | (?P<executed> /\*M?! )
    | (?P<literal> '(?:[^'\\]|\\.|'')*' | \d[\w$.]* )
    | `(?P<ticked> (?:[^`]|``)+ )`
    | "(?P<quoted> (?:[^"]|"")+ )"
    | (?P<word> [\w$]+ )
    | (?P<mark> . )
    """,
    re.DOTALL | re.VERBOSE,
)
_FUNCTIONS = """
SELECT routine_schema, routine_name, sql_data_access FROM information_schema.routines
WHERE (routine_schema = DATABASE() OR routine_schema IN ({names}))
AND (routine_type = 'FUNCTION' AND routine_name IN ({called})
     OR routine_type = 'PACKAGE' AND routine_name IN ({names}))
AND sql_data_access NOT IN ('READS SQL DATA', 'NO SQL')
"""
"""The server compares the names, as it does where it resolves them."""
_VIEWS = """
SELECT table_schema, table_name, view_definition FROM information_schema.views
WHERE (table_schema = DATABASE() OR table_schema IN ({names})) AND table_name IN ({names})
"""

Ask = Callable[..., Sequence[tuple[Any, ...]]]
"""The rows of a statement with a value in place of each %s."""


def shape(statement: str) -> tuple[str, ...]:
    """The shape that statements share which differ in literals and blanks alone."""
    return tuple("?" if kind == "literal" else value for kind, value in _tokens(statement))


def check(ask: Ask, statement: str) -> None:
    """Raise `EngineError` where a statement, or a view that it reads, calls a stored function that
    may write."""
    seen: set[tuple[str, str]] = set()
    texts = [("it", statement)]
    while texts:
        reads, text = texts.pop()
        called, names = _named(text)
        if called:
            for schema, name, access in _asked(ask, _FUNCTIONS, names, called):
                raise EngineError(
                    f"mariadb: {reads} calls the stored function {schema}.{name}, which may write:"
                    f" it is declared {access}",
                    hint="leave it out; or, where it only reads, let its owner say so: ALTER"
                    f" FUNCTION {name} READS SQL DATA",
                )
        for schema, name, definition in _asked(ask, _VIEWS, names, ()) if names else ():
            if (schema, name) not in seen:
                seen.add((schema, name))
                texts.append((f"the view {schema}.{name}", str(definition or "")))


def _asked(
    ask: Ask, query: str, names: Sequence[str], called: Sequence[str]
) -> Sequence[tuple[Any, ...]]:
    values: list[str] = []

    def marks(found: re.Match[str]) -> str:
        own = called if found[1] == "called" else names
        values.extend(own)
        return ", ".join(["%s"] * len(own))

    text = re.sub(r"\{(names|called)\}", marks, query)
    return ask(text, *values)


def _named(text: str) -> tuple[list[str], list[str]]:
    """The names of a text that stand before a parenthesis, and all."""
    tokens = [*_tokens(text), ("mark", "")]
    names: dict[str, None] = {}
    called: dict[str, None] = {}
    for (kind, value), (_, after) in pairwise(tokens):
        if kind == "name":
            names[value] = None
            if after == "(":
                called[value] = None
    return [*called], [*names]


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    """(`name`, `literal` or `mark`, and the text) of each, without comments."""
    for found in _TOKEN.finditer(text):
        kind, value = str(found.lastgroup), found[str(found.lastgroup)]
        if kind == "executed":
            raise EngineError(
                "mariadb: it has a comment /*! … */, which the server executes",
                hint="write what is in it as a part of the statement, or leave it out",
            )
        if kind in ("word", "ticked", "quoted"):
            mark = {"ticked": "`", "quoted": '"'}.get(kind, "")
            yield "name", value.replace(mark * 2, mark) if mark else value
        elif kind != "apart":
            yield kind, value
