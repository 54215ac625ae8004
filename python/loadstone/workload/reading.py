"""A workload as its user wrote it: a folder with `workload.toml`, one such file, or one statement
with files of data. docs/reference/workload.md describes the file."""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path
from typing import Any

from loadstone.diagnostics import say
from loadstone.errors import InputError
from loadstone.plan.workload import (
    COPY_SUFFIX,
    TITLE_LETTERS_MAX,
    DataTable,
    DrawnText,
    OwnText,
    Workload,
    WorkloadStatement,
)
from loadstone.quel.dialect import is_quel
from loadstone.text import zone
from loadstone.text.files import read_text, read_toml
from loadstone.text.near import question
from loadstone.text.numbers import listing
from loadstone.text.shape import shaped
from loadstone.workload import data, mixes, quel, script, sql
from loadstone.workload import pgbench as pgbench_scripts
from loadstone.workload.entries import TRANSACTION, StatementToml, TableToml, WorkloadToml
from loadstone.workload.parameters import (
    Asked,
    draws_of,
    filled,
    named_in,
    start_of,
    with_values,
)
from loadstone.workload.places import FILE, near_places

ONE = "query"
"""The name of a statement that is given alone."""
STATEMENTS = "statements"
"""The folder of texts beside the file."""
FILE_BYTES_MAX = 1 << 20
_NAME = re.compile(r"[a-z][a-z0-9_-]{0,59}")
_TABLE = re.compile(r"[a-z_][a-z0-9_]{0,59}")


def read_workload(place: str) -> Workload:
    """The workload at a path, as the user wrote it. Raises `InputError`."""
    path = Path(place)
    file = path / FILE if path.is_dir() else path
    if not file.exists():
        inside = f"a folder of a workload holds {FILE}" if path.is_dir() else "look at its path"
        if ":" in place:
            inside = "it is none of sysbench:NAME and pgbench:NAME, and no path"
        elif not path.is_dir() and (near := near_places(path.name, path.parent)):
            inside = question(near).strip()
        raise InputError(f"there is no workload {file}", hint=inside)
    folder = Path(place) if path.is_dir() else path.parent
    return _workload(_stated(read_toml(file, FILE_BYTES_MAX, "the workload"), file), folder, file)


def known_to_all(name: str, rows: int | None) -> Workload:
    """A workload that others have made known: `sysbench:oltp_read_write`. Raises `InputError`."""
    from loadstone.workload.known import entries_of

    file = Path(name)
    found = _workload(_stated(entries_of(name, rows), file), Path(), file)
    return replace(found, folder="")


def _workload(stated: WorkloadToml, folder: Path, file: Path) -> Workload:
    if not stated.statement:
        raise InputError(f"{file} has no statement", hint="add one: [[statement]]")
    if stated.as_it_stands and stated.data:
        raise InputError(
            f"{file} reads tables as they stand, and has data of its own",
            hint="leave out as_it_stands, or [data]: write two workloads",
        )
    tables = tuple(_table(name, one, str(folder), file) for name, one in stated.data.items())
    names = [one.name for one in stated.statement]
    for name in names:
        _check_name(name, _NAME, f"{file}: statement")
        if names.count(name) > 1:
            raise InputError(f"{file} has two statements called {name}")
    asked = partial(data.values_of, tables=tables, folder=str(folder))
    alone = {
        one.name: _statement(one, stated, folder, file, asked, tables)
        for one in stated.statement
        if not one.mix
    }
    statements = tuple(
        mixes.mixed(one, alone, stated.seed, f"{file}: statement {one.name}")
        if one.mix
        else alone[one.name]
        for one in stated.statement
    )
    title = stated.title or folder.resolve().name[:TITLE_LETTERS_MAX]
    zone.check(stated.timezone, str(file))
    workload = Workload(
        title, str(folder), tables, statements, stated.timezone, stated.as_it_stands
    )
    check(workload, str(file))
    return workload


def of_one(
    text_or_file: str,
    files: Sequence[str],
    types: Sequence[str] = (),
    *,
    may_stand: bool = False,
    written_in: str = "",
    among: Sequence[str] = (),
) -> Workload:
    """The workload of one statement: its text, or a file that ends in `.sql`; each file of data is
    a table called as the file; `types` are those of columns, as `COLUMN=TYPE`. `may_stand`: without
    data, it asks the user's own databases, as they stand. `written_in`: the dialect that the user
    names; `among`: those of the run's engines, empty where nobody chose them."""
    text, title = text_or_file, "One statement"
    if text_or_file.endswith(".sql"):
        text = read_text(Path(text_or_file), FILE_BYTES_MAX, "the statement")
        title = Path(text_or_file).name[:TITLE_LETTERS_MAX]
    elif not re.search(r"\s", text_or_file.strip()):
        raise InputError(
            f"--sql {text_or_file!r} is neither a statement nor a file that ends in .sql",
            hint="write --sql 'SELECT …', or --sql FILE.sql",
        )
    by_name = _tables_of(files)
    named = _types_of(types, tuple(by_name))
    tables = tuple(data.described(name, "", [one], named[name]) for name, one in by_name.items())
    own: tuple[OwnText, ...] = ()
    if written_in:
        dialect = sql.dialect_named(written_in, "--dialect")
    else:
        engines = tuple(one for one in among if not is_quel(one)) or sql.STANDARD_QUOTES
        dialect = sql.dialect_of(text, "--sql", engines)
        own = _as_written(text, dialect, engines)
    tree = sql.parsed(text, dialect, "--sql")
    order, unchecked = sql.order_of(tree)
    statement = WorkloadStatement(
        ONE, title, dialect, (text,), own, order=order,
        order_unchecked=unchecked, changes=sql.changed_by(tree),
    )  # fmt: skip
    # One that names no table, too: a function of the user's may write.
    stands = may_stand and not tables
    workload = Workload(title, "", tables, (statement,), as_it_stands=stands)
    check(workload, "--sql")
    return workload


def _tables_of(files: Sequence[str]) -> dict[str, str]:
    """The files of --data by the names of their tables."""
    by_name: dict[str, str] = {}
    for file in files:
        name = re.sub(r"[^a-z0-9_]", "_", Path(file).stem.lower())
        _check_name(name, _TABLE, f"the table of --data {file}", "name the file otherwise: ")
        if name in by_name:
            raise InputError(
                f"--data {by_name[name]} and --data {file} are both the table {name}",
                hint="rename one; or write a workload.toml, where a table may have several files",
            )
        by_name[name] = file
    return by_name


def _types_of(types: Sequence[str], tables: Sequence[str]) -> dict[str, dict[str, str]]:
    """By table, the types that --types names."""
    found: dict[str, dict[str, str]] = {name: {} for name in tables}
    for one in types:
        column, _, kind = one.rpartition("=")
        table, dot, rest = column.partition(".")
        if not (dot and table in found):
            table, rest = tables[0] if len(tables) == 1 else "", column
        if not (table and rest and kind):
            raise InputError(
                f"--types {one!r} does not name a column of --data and its type",
                hint=f"write --types '{tables[0]}.COLUMN=TYPE'; the tables are {listing(tables)}",
            )
        if found[table].setdefault(rest, kind) != kind:
            raise InputError(
                f"--types names two types of {table}.{rest}: {found[table][rest]} and {kind}",
                hint="leave one out",
            )
    return found


def _as_written(text: str, dialect: str, among: Sequence[str]) -> tuple[OwnText, ...]:
    """The text of `--sql` for each engine that reads it by its own rules, where not all do: nobody
    named a dialect from which it would be translated for those. Who gets what is said."""
    if dialect not in sql.STANDARD_QUOTES:
        return ()
    own = tuple(
        OwnText(name, (text,))
        for name in sql.STANDARD_QUOTES
        if name != dialect and sql.is_read_as(text, name)
    )
    readers = (dialect, *(one.dialect for one in own))
    names = [one.replace("postgres", "postgresql") for one in readers if one in among]
    if not {*among} <= {*readers}:
        say(
            "loadstone: --sql has a form that not all dialects have: it is sent as it is written to"
            f" {listing(names)}, and translated from {names[0]} for any other engine; --dialect"
            " names the one that it is written in"
        )
    return own


def _stated(found: dict[str, Any], file: Path) -> WorkloadToml:
    stated: WorkloadToml = shaped({"statement": []} | found, WorkloadToml, str(file))
    return stated


def _check_name(name: str, pattern: re.Pattern[str], what: str, way: str = "") -> None:
    if not pattern.fullmatch(name):
        raise InputError(
            f"{what}: {name[:60]!r} is no name",
            hint=way
            + "up to 60 small letters, digits and _ (of a statement also -), a letter first",
        )


def _table(name: str, stated: TableToml, folder: str, file: Path) -> DataTable:
    where = f"{file}: data.{name}"
    _check_name(name, _TABLE, where)
    files = (stated.file,) if isinstance(stated.file, str) else stated.file
    if bool(files) == bool(stated.sql):
        raise InputError(
            f"{where} has {'both a file and' if files else 'neither a file nor'} a query",
            hint='write file = "FILE", or sql = "SELECT …", which makes its rows',
        )
    key = (stated.primary_key,) if isinstance(stated.primary_key, str) else stated.primary_key
    indexes = [(one,) if isinstance(one, str) else one for one in stated.indexes]
    if stated.sql:
        sql.check_making(stated.sql, where)
        return data.made(name, stated.sql, stated.types, key, indexes)
    return data.described(name, folder, files, stated.types, key, indexes)


def _statement(
    stated: StatementToml,
    whole: WorkloadToml,
    folder: Path,
    file: Path,
    asked: Asked,
    tables: Sequence[DataTable],
) -> WorkloadStatement:
    where = f"{file}: statement {stated.name}"
    if stated.pgbench:
        written = _of_pgbench(stated, whole, folder, where)
        several = not isinstance(stated.pgbench, str) and len(stated.pgbench) > 1
        shapes = sql.of_each_shape(written.texts, written.dialect, where)
        if several or any(_is_script(text, stated, written, where) for text in shapes):
            return _script(stated, whole, written, where)
    elif stated.quel:
        written = _of_quel(stated, whole, folder, where, asked, tables)
    else:
        written = _of_sql(stated, whole, folder, where, asked)
        (shape,) = sql.of_each_shape(written.texts[:1], written.dialect, where)
        if _is_script(shape, stated, written, where):
            return _script(stated, whole, written, where)
    if stated.volatile or stated.same or stated.grows:
        raise InputError(
            f"{where} has volatile, same or grows, and is no script of several statements",
            hint="leave them out",
        )
    tree = sql.parsed(written.texts[0], written.dialect, where)
    order, unchecked = sql.order_of(tree)
    title = stated.title or stated.name
    return WorkloadStatement(
        stated.name, title, written.dialect, written.texts, written.own, stated.digits, order,
        unchecked, changes=sql.changed_by(tree), drawn=written.drawn,
    )  # fmt: skip


def _is_script(text: str, stated: StatementToml, written: "_Written", where: str) -> bool:
    """Whether it has several statements; so has a single change beside what users must leave."""
    if sql.count(text, written.dialect) > 1:
        return True
    return bool(stated.same or stated.grows) and bool(
        sql.changed_by(sql.parsed(text, written.dialect, where))
    )


def _script(
    stated: StatementToml, whole: WorkloadToml, written: "_Written", where: str
) -> WorkloadStatement:
    """One whose texts are scripts of several statements."""
    dialect, texts = written.dialect, written.texts
    start = start_of(whole.seed, stated.name, mixes.MIX) if len(written.drawn) > 1 else 0
    made = WorkloadStatement(
        stated.name, stated.title or stated.name, dialect, texts, written.own, stated.digits,
        script=True, volatile=stated.volatile, same=stated.same, grows=stated.grows,
        drawn=written.drawn, drawn_start=start,
    )  # fmt: skip
    # Of several scripts by weights, no variation may have drawn the one that changes a table.
    (_, every), *_ = mixes.texts_of(made)
    shapes = sql.of_each_shape(every, dialect, where)
    names = (name for text in shapes for name in script.changed_by(text, dialect, where))
    return replace(made, script_changes=tuple(dict.fromkeys(names)))


@dataclass(frozen=True, slots=True)
class _Written:
    """A statement's dialect, the texts of all variations, those in other dialects, and what users
    draw."""

    dialect: str
    texts: tuple[str, ...]
    own: tuple[OwnText, ...] = ()
    drawn: tuple[DrawnText, ...] = ()


def _of_sql(
    stated: StatementToml, whole: WorkloadToml, folder: Path, where: str, asked: Asked
) -> _Written:
    dialect = sql.dialect_named(stated.dialect or whole.dialect, where)
    text = stated.sql
    beside = folder / STATEMENTS / f"{stated.name}.sql"
    if text and beside.exists():
        raise InputError(f"{where} has a text there, and one in {beside}", hint="keep one of them")
    if not text:
        if not beside.exists():
            raise InputError(f"{where} has no text", hint=f"write sql = '''…''', or {beside}")
        text = read_text(beside, FILE_BYTES_MAX, "the statement")

    def valued(each: str, written_in: str) -> tuple[str, ...]:
        return with_values(
            each, written_in, stated.parameters, stated.name, whole.seed, stated.variations, folder,
            where, asked,
        )  # fmt: skip

    def drawn(each: str) -> tuple[DrawnText, ...]:
        anew = stated.parameters and stated.drawn == TRANSACTION
        return (DrawnText(each, draws),) if anew else ()

    draws = draws_of(stated.parameters, stated.name, whole.seed, folder, where, asked)
    own = {sql.dialect_named(name, where): one for name, one in stated.text.items()}
    others = tuple(OwnText(name, valued(one, name), drawn(one)) for name, one in own.items())
    return _Written(dialect, valued(text, dialect), others, drawn(text))


def _of_quel(
    stated: StatementToml,
    whole: WorkloadToml,
    folder: Path,
    where: str,
    asked: Asked,
    tables: Sequence[DataTable],
) -> _Written:
    for name in ("sql", "text", "dialect"):
        if getattr(stated, name):
            raise InputError(f"{where} has {name} beside a text in QUEL", hint="keep one")
    draws = draws_of(stated.parameters, stated.name, whole.seed, folder, where, asked)
    first, others = quel.statement_of(stated.quel, draws, stated.variations, tables, where)
    if stated.drawn != TRANSACTION:
        first, others = replace(first, drawn=()), tuple(replace(one, drawn=()) for one in others)
    return _Written(first.dialect, first.texts, others, first.drawn)


def _of_pgbench(stated: StatementToml, whole: WorkloadToml, folder: Path, where: str) -> _Written:
    for name in ("sql", "parameters", "text"):
        if getattr(stated, name):
            raise InputError(f"{where} has {name} beside a script of pgbench", hint="keep one")
    dialect = sql.dialect_named(stated.dialect or whole.dialect or "postgresql", where)
    given = (stated.pgbench,) if isinstance(stated.pgbench, str) else stated.pgbench
    scripts = {}
    for each in given:
        name, weight = pgbench_scripts.weighted(each, where)
        text = pgbench_scripts.BUILT_IN.get(name) or read_text(
            folder / name, FILE_BYTES_MAX, "the script"
        )
        scripts[name] = pgbench_scripts.script_of(text, f"{where}, {name}"), weight
    if len(scripts) < len(given):
        raise InputError(f"{where} names a script twice", hint="name each once, with its weight")
    filled_in, drawn = {}, []
    for name, (one, weight) in scripts.items():
        draws = one.draws(whole.seed, stated.name, stated.scale)
        varies = len(scripts) > 1 or named_in(one.text, dialect, draws, where)
        variations = stated.variations if varies else 1
        filled_in[name] = filled(one.text, dialect, draws, variations, where)
        if varies and stated.drawn == TRANSACTION:
            drawn.append(DrawnText(one.text, draws, weight))
    weights = {name: weight for name, (_, weight) in scripts.items()}
    if len(scripts) == 1:
        return _Written(dialect, next(iter(filled_in.values())), drawn=tuple(drawn))
    order = mixes.drawn(weights, whole.seed, stated.name, stated.variations)
    texts = tuple(filled_in[name][n] for n, name in enumerate(order))
    return _Written(dialect, texts, drawn=tuple(drawn))


def _where(where: str, statement: WorkloadStatement) -> str:
    return where if where == sql.ALONE else f"{where}: statement {statement.name}"


def check(workload: Workload, where: str) -> None:
    """Raise `InputError` where a statement is none that is measured, or reads or changes a table
    that is not there."""
    known = [table.name for table in workload.tables]
    for table in workload.tables:
        if table.sql:
            sql.check_making(table.sql, f"{where}: data.{table.name}")
    for name in workload.changed:
        if name + COPY_SUFFIX in known:
            raise InputError(
                f"{where}: the table {name}{COPY_SUFFIX} has the name that the copy of {name} gets",
                hint="call it otherwise",
            )
    for one in workload.statements:
        checked = mixes.check_script if one.script else _check_statement
        checked(workload, one, known, _where(where, one))


def _check_statement(
    workload: Workload, one: WorkloadStatement, known: Sequence[str], where: str
) -> None:
    first: sql.Tree | None = None
    for dialect, texts in mixes.texts_of(one):
        for text in texts:
            if is_quel(dialect):
                quel.check(text, where)
                continue
            tree = sql.parsed(text, dialect, where)
            first = first or tree
            sql.check_alike(first, tree, where)
            if workload.as_it_stands:
                sql.check_reading(tree, where)
                continue
            sql.check_tables(tree, known, where)
            if (changed := sql.changed_by(tree)) != one.changes:
                raise InputError(
                    f"{where}: a text of the statement {one.name} changes"
                    f" {changed or 'no table'}, another {one.changes or 'none'}",
                    hint="its texts are one statement in several dialects: all change one table",
                )
