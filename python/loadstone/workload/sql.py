"""A statement of a workload: its dialect, what it may be, which tables it reads, what it answers.
`sql_for_engine.py` writes it for each engine."""

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence

import sqlglot
from sqlglot import Token, TokenType, exp
from sqlglot.errors import SqlglotError
from sqlglot.optimizer.scope import traverse_scope

from loadstone.errors import InputError
from loadstone.text.numbers import plural

logging.getLogger("sqlglot").setLevel(logging.CRITICAL)
"""It warns of what it parses as a command; `parsed` says what that is."""
Tree = exp.Query | exp.Insert | exp.Update | exp.Delete
"""A statement that can be measured."""
GENERIC = ""
"""The dialect of a text that names none: SQL as most engines have it."""
DIALECTS: Mapping[str, str] = {
    GENERIC: GENERIC, "sqlite": "sqlite", "duckdb": "duckdb", "postgresql": "postgres",
    "postgres": "postgres", "mysql": "mysql", "mariadb": "mysql", "spark": "spark",
    "clickhouse": "clickhouse", "chdb": "clickhouse",
}  # fmt: skip
"""As a workload names them, and as sqlglot does."""
STANDARD_QUOTES = ("sqlite", "duckdb", "postgres")
"""Dialects in which "x" is a name and || joins strings. A text that names no dialect means to each
of them what it means there: a translation would write what its user did not (`NULLS FIRST`, by
which PostgreSQL uses no index for an order; a cast, by which integers divide as floats do)."""


def dialect_named(name: str, where: str) -> str:
    """The name that sqlglot has for a dialect. Raises `InputError`."""
    if name not in DIALECTS:
        known = ", ".join(filter(None, DIALECTS))
        raise InputError(f"{where}: there is no dialect {name!r}", hint=f"there are {known}")
    return DIALECTS[name]


def dialect_of(text: str, where: str, among: Sequence[str] = STANDARD_QUOTES) -> str:
    """The dialect of a text that names none, for engines of the dialects `among`: that of the only
    one, where it quotes names in its own way; else SQL as most have it, or the first of the
    engines' that quote as the standard does. Never any other: to MySQL, `#` begins a comment.
    Raises `InputError` where the text cannot be read so."""
    if len(among) == 1 and among[0] not in STANDARD_QUOTES:
        return among[0]
    for name in (GENERIC, *(one for one in STANDARD_QUOTES if one in among)):
        if is_read_as(text, name):
            return name
    parsed(text, GENERIC, where)
    return GENERIC


def is_read_as(text: str, dialect: str) -> bool:
    """Whether a text can be read in a dialect."""
    try:
        parsed(text, dialect, "the statement")
    except InputError:
        return False
    return True


def parsed(text: str, dialect: str, where: str) -> Tree:
    """The one query of a text, or its one change of a table. Raises `InputError`; `where` names the
    statement in its message."""
    try:
        found = _trees(text, dialect)
    except SqlglotError as error:
        raise InputError(
            f"{where} cannot be read: {complaint(error)}", hint=_hint(where, _DIALECT)
        ) from error
    except RecursionError as error:
        raise InputError(f"{where} is nested too deeply") from error
    if len(found) != 1:
        many = f"has {len(found)} statements" if found else "is empty"
        raise InputError(f"{where} {many}", hint=_hint(where, _ONE))
    (tree,) = found
    _check_comments(text, dialect, where)
    if not isinstance(tree, exp.Query | exp.Insert | exp.Update | exp.Delete):
        tokens = _tokens(text, dialect, where)
        first = next(t.text for t in tokens if t.token_type != TokenType.SEMICOLON)
        raise InputError(
            f"{where} is no query and no change of a table's rows (it begins with"
            f" {first[:20].upper()})",
            hint="write SELECT, INSERT, UPDATE or DELETE; its data are loaded for it",
        )
    if (mark := tree.find(exp.Placeholder, exp.Parameter)) is not None:
        shown = mark.sql()
        shown = shown if shown in text else "$" + shown[1:]  # `$1` of PostgreSQL comes as `@1`
        raise InputError(
            f"{where} uses {shown[:60]}, which is no parameter of it",
            hint=_hint(where, _PARAMETER),
        )
    inner = (one for one in tree.find_all(exp.Insert, exp.Update, exp.Delete, exp.Into))
    if any(one is not tree for one in inner):
        raise InputError(
            f"{where} changes data within a query",
            hint="write the INSERT, UPDATE or DELETE alone",
        )
    if not isinstance(tree, exp.Query):
        _check_change(tree, where)
    return tree


def count(text: str, dialect: str) -> int:
    """The number of statements that a text has."""
    try:
        return len(pieces(text, dialect, ""))
    except InputError:
        return 1  # `parsed` shows what it is


def _trees(text: str, dialect: str) -> list[exp.Expr]:
    """The statements of a text. A comment behind the last semicolon is none."""
    found = sqlglot.parse(text, read=dialect or None)
    return [one for one in found if one is not None and not isinstance(one, exp.Semicolon)]


def pieces(text: str, dialect: str, where: str) -> list[str]:
    """The statements of a text as they are written, without semicolons, and without comments that
    stand alone. Raises `InputError`."""
    tokens = _tokens(text, dialect, where)
    ends = [token.start for token in tokens if token.token_type == TokenType.SEMICOLON]
    begins = [0, *(end + 1 for end in ends)]
    starts = [token.start for token in tokens if token.token_type != TokenType.SEMICOLON]
    return [
        text[a:b].strip()
        for a, b in zip(begins, [*ends, len(text)], strict=True)
        if any(a <= start < b for start in starts)
    ]


def words(text: str, dialect: str, where: str) -> str:
    """The words of a text, in small letters, without its comments. Raises `InputError`."""
    return " ".join(token.text.lower() for token in _tokens(text, dialect, where))


def _tokens(text: str, dialect: str, where: str) -> list[Token]:
    try:
        return sqlglot.tokenize(text, read=dialect or None)
    except SqlglotError as error:
        raise InputError(f"{where} cannot be read: {complaint(error)}") from error


def of_each_shape(texts: Iterable[str], dialect: str, where: str) -> list[str]:
    """The first of those texts that differ in nothing but numbers and strings. Raises
    `InputError`."""
    first: dict[tuple[str, ...], str] = {}
    for text in texts:
        tokens = _tokens(text, dialect, where)
        values = (TokenType.NUMBER, TokenType.STRING)
        shape = tuple("?" if one.token_type in values else one.text for one in tokens)
        first.setdefault(shape, text)
    return [*first.values()]


def _check_change(tree: exp.Expr, where: str) -> None:
    """Raise `InputError` for a change that cannot be compared and taken back."""
    if not isinstance(_target(tree), exp.Table):
        raise InputError(f"{where} changes no table", hint="name one of the workload's")
    if tree.args.get("returning"):
        raise InputError(
            f"{where} has RETURNING", hint="leave it out: the rows that it changed are compared"
        )
    if tree.args.get("tables"):
        raise InputError(f"{where} changes several tables", hint="write a statement for each")


def _target(tree: exp.Expr) -> exp.Expr | None:
    """The table that a change is of; beside its columns it stands within a schema."""
    found: exp.Expr | None = tree.this
    inner: exp.Expr | None = found.this if isinstance(found, exp.Schema) else found
    return inner


def changed_by(tree: Tree) -> str:
    """The name of the table that a statement changes; empty where it is a query."""
    if isinstance(tree, exp.Query):
        return ""
    found = _target(tree)
    return found.name.lower() if found is not None else ""


ALONE = "--sql"
"""The place where a statement stands that is given alone, without a file of a workload."""
_DIALECT = 'name the dialect it is written in: dialect = "duckdb" (or sqlite, postgresql)'
_ONE = "write one statement, and others beside it"
_PARAMETER = "declare it under parameters: docs/reference/workload.md"
_IN_A_FILE: Mapping[str, str] = {
    _DIALECT: "name the dialect that it is written in: --dialect postgresql; what cannot be read is"
    " not sent, since it may write",
    _ONE: "write one statement; a workload's folder has several: docs/reference/workload.md",
    _PARAMETER: "write a value; in a workload's folder a statement has parameters:"
    " docs/reference/workload.md",
}
"""The advice about a statement alone, which has no keys, in place of that about a file's."""


def _hint(where: str, advice: str) -> str:
    return _IN_A_FILE[advice] if where == ALONE else advice


def complaint(error: SqlglotError) -> str:
    """The words of sqlglot, without the codes of a terminal."""
    for one in getattr(error, "errors", ()):
        place = f"line {one.get('line')}, column {one.get('col')}"
        what = str(one.get("description")).partition(" but got <")[0]
        if what.startswith("Required keyword"):  # in the words of sqlglot's own classes
            what = "something is missing"
        return f"{what}, at {one.get('highlight')!r} ({place})"
    return str(error).splitlines()[0][:200]


_NO_DATA = (
    "give it the table's file by --data; or name the database in which it stands, in each --on:"
    " sqlite:///FILE, duckdb:///FILE, postgresql://…, mariadb://…"
)


def _check_comments(text: str, dialect: str, where: str) -> None:
    """Raise `InputError` for a comment that MariaDB and MySQL execute: nothing here has read it."""
    if "/*!" not in text and "/*m!" not in text.lower():
        return
    tokens = _tokens(text, dialect, where)
    if any(one.lower().startswith(("!", "m!")) for token in tokens for one in token.comments):
        raise InputError(
            f"{where} has a comment /*! … */, which MariaDB and MySQL execute",
            hint="write what is in it as a part of the statement, or leave it out",
        )


def check_tables(tree: Tree, known: Sequence[str], where: str) -> None:
    """Raise `InputError` where it reads a table that the workload does not have."""
    names = {name.lower() for name in known}
    for table in each_table(tree):
        if table.name.lower() not in names or table.db:
            has = f"it has {', '.join(known)}" if known else _NO_DATA
            shown = table.sql()[:60]
            raise InputError(f"{where} reads {shown}, no table of this workload", hint=has)


WRITING = frozenset(
    {"set_config", "nextval", "setval", "dblink", "dblink_exec", "dblink_send_query", "lo_import"}
    | {"lo_export", "lo_create", "lo_creat", "lo_unlink", "lo_put", "lo_from_bytea", "lowrite"}
    | {"pg_notify", "pg_terminate_backend", "pg_cancel_backend", "pg_reload_conf", "query_to_xml"}
    | {"pg_advisory_lock", "pg_switch_wal", "pg_promote", "load_extension", "writefile", "edit"}
    | {"checkpoint", "force_checkpoint", "write_log", "enable_logging", "disable_logging"}
    | {"enable_profiling", "disable_profiling", "truncate_duckdb_logs", "get_lock", "release_lock"}
    | {"release_all_locks", "load_file"}
)
"""Functions that write, or reach past a session that only reads, and are refused before anything is
sent. They are the ones that a text shows by name: what holds is that the engine, in a session in a
user's database, refuses the kind."""


def check_reading(tree: Tree, where: str) -> None:
    """Raise `InputError` for what would write, in a database of the user's own."""
    if not isinstance(tree, exp.Query):
        raise InputError(
            f"{where} would change a table of yours: tables as they stand are only read",
            hint="give it copies, which it may change: [data.NAME], or --data FILE",
        )
    for call in tree.find_all(exp.Func):
        name = (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
        if name in WRITING:
            raise InputError(
                f"{where} calls {name}, which may write: tables as they stand are only read",
                hint="leave it out",
            )
    if any(one.args.get("locks") for one in tree.find_all(exp.Select)):
        raise InputError(f"{where} locks rows", hint="leave out FOR UPDATE")


VOLATILE = frozenset(
    {
        "now",
        "clock_timestamp",
        "statement_timestamp",
        "transaction_timestamp",
        "timeofday",
        "random",
    }
    | {
        "random_normal",
        "randomblob",
        "gen_random_uuid",
        "uuid",
        "uuidv4",
        "uuidv7",
        "rand",
        "randn",
    }
    | {"current_timestamp", "current_time", "current_datetime", "localtime", "localtimestamp"}
    | {"nextval", "txid_current", "get_current_timestamp", "generate_uuid", "last_insert_rowid"}
)
"""Functions that give another value each time. SQLite's dates have the time by the text `'now'`."""


def may_be_volatile(tree: exp.Expr) -> bool:
    """Whether a text draws random numbers or requests the time, so that its answer may change from
    one execution to the next: it need not, as with `placed < now()`."""
    if any(True for _ in tree.find_all(exp.TableSample)):
        return True
    if any(one.is_string and one.name.lower() == "now" for one in tree.find_all(exp.Literal)):
        return True
    calls = (
        (call.name if isinstance(call, exp.Anonymous) else call.sql_name()).lower()
        for call in tree.find_all(exp.Func)
    )
    return any(name in VOLATILE for name in calls)


def checked_query(text: str, known: Sequence[str], where: str) -> Tree:
    """A query over the workload's tables that is executed when it is planned, by DuckDB."""
    tree = parsed(text, "duckdb", where)
    if not isinstance(tree, exp.Query):
        raise InputError(f"{where} is no query", hint="write SELECT …")
    check_tables(tree, known, where)
    return tree


def form_of(tree: Tree) -> tuple[int | None, tuple[int, ...], bool]:
    """The form that all texts of a statement for several dialects share: the number of columns of
    the answer, where it shows in the text; and by which of them it is sorted."""
    if not isinstance(tree, exp.Query):
        return None, (), False
    starred = any(isinstance(one, exp.Star) or one.is_star for one in tree.selects)
    return None if starred else len(tree.selects), *order_of(tree)


def check_alike(tree: Tree, other: Tree, where: str) -> None:
    """Raise `InputError` where the texts of a statement request answers of another form: their
    rows would be compared without what only one of them requests, or, where there are none, be the
    same."""
    (columns, order, unchecked), (others, other_order, other_unchecked) = map(
        form_of, (tree, other)
    )
    if columns is not None and others is not None and columns != others:
        raise InputError(
            f"{where}: one of its texts returns {plural(columns, 'column')}, another {others}",
            hint="its texts are one statement in several dialects: let all return the same columns",
        )
    is_known = not (unchecked or other_unchecked)
    sorts, other_sorts = bool(order) or unchecked, bool(other_order) or other_unchecked
    if sorts != other_sorts or (is_known and order != other_order):
        raise InputError(
            f"{where}: its texts request other orders: ORDER BY stands in one alone, or names other"
            " columns",
            hint="its texts are one statement in several dialects: order all alike, or none",
        )


def tables_of(tree: Tree) -> frozenset[str]:
    """The names of the tables that it reads."""
    return frozenset(table.name.lower() for table in each_table(tree))


def check_making(text: str, where: str) -> None:
    """Raise `InputError` for a text that does not make a table's rows out of nothing."""
    tree = parsed(text, "duckdb", where)
    if not isinstance(tree, exp.Query):
        raise InputError(f"{where} is no query", hint="write SELECT …")
    if (table := next(each_table(tree), None)) is not None:
        raise InputError(
            f"{where} reads {table.sql()[:60]}: a query that makes a table reads none",
            hint="make its rows of range(…), or give the table a file",
        )


def each_table(tree: exp.Expr) -> Iterator[exp.Table]:
    """The tables it reads or changes: no common table expression, no table function."""
    if not isinstance(tree, exp.Query):
        yield from _tables_of_change(tree)
        return
    try:
        scopes = traverse_scope(tree)
    except SqlglotError:
        return
    seen: set[int] = set()
    for scope in scopes:
        for table in scope.tables:
            source = scope.sources.get(table.alias_or_name)
            own = isinstance(source, exp.Table) and isinstance(table.this, exp.Identifier)
            if own and id(table) not in seen:
                seen.add(id(table))
                yield table


def _tables_of_change(tree: exp.Expr) -> Iterator[exp.Table]:
    target = _target(tree)
    for table in tree.find_all(exp.Table):
        if isinstance(table.this, exp.Identifier) and (
            table is target or table.db or table.name.lower() not in _named_queries(table)
        ):
            yield table


def _named_queries(node: exp.Expr) -> set[str]:
    """The common table expressions that can be read where a node stands."""
    found: set[str] = set()
    above: exp.Expr | None = node
    while above is not None:
        named = above.args.get("with_")
        if named is not None:
            found |= {one.alias.lower() for one in named.expressions}
        above = above.parent
    return found


def quoted(name: str, dialect: str) -> str:
    """A column's name as it is written in a statement."""
    return exp.to_identifier(name, quoted=True).sql(dialect=dialect)


def order_of(tree: Tree) -> tuple[tuple[int, ...], bool]:
    """The places of the columns by which the answer is sorted; and whether it is also sorted by
    something else, so that only its beginning can be checked."""
    order = tree.args.get("order") if isinstance(tree, exp.Query) else None
    if order is None or not isinstance(tree, exp.Query):
        return (), False
    names = [name.lower() for name in tree.named_selects]
    selects = [one.unalias() for one in tree.selects]
    places: list[int] = []
    for ordered in order.expressions:
        place = _place(ordered.this, names, selects)
        if place is None:
            return tuple(places), True
        places.append(place)
    return tuple(places), False


def _place(key: exp.Expr, names: Sequence[str], selects: Sequence[exp.Expr]) -> int | None:
    if any(isinstance(one, exp.Star) or one.is_star for one in selects):
        return None  # how many columns stand before another, only the engine knows
    if isinstance(key, exp.Literal) and not key.is_string and key.name.isdigit():
        return int(key.name) - 1 if 1 <= int(key.name) <= len(names) else None
    if isinstance(key, exp.Column) and not key.table and key.name.lower() in names:
        one = names.count(key.name.lower()) == 1  # of several, engines differ in which is meant
        return names.index(key.name.lower()) if one else None
    return next((place for place, one in enumerate(selects) if one == key), None)
