"""Scripts, and mixes of statements with weights: what each variation is, and what they may be."""

from collections.abc import Iterator, Mapping, Sequence
from math import lcm

from loadstone.errors import InputError
from loadstone.plan.workload import (
    WEIGHT_MAX,
    DrawnText,
    OwnText,
    Workload,
    WorkloadStatement,
)
from loadstone.quel.dialect import is_quel
from loadstone.workload import script, sql
from loadstone.workload.entries import TRANSACTION, StatementToml
from loadstone.workload.parameters import marked, random_bits, start_of

MIX = "mix"
"""Names the place where the random bits of a mix begin."""


def drawn(weights: Mapping[str, int], seed: int, name: str, variations: int) -> list[str]:
    """Which of these each variation is, drawn by their weights."""
    start, total = start_of(seed, name, MIX), sum(weights.values())
    found = []
    for number in range(variations):
        at = random_bits(start, number) * total >> 64
        for one, weight in weights.items():
            at -= weight
            if at < 0:
                found.append(one)
                break
    return found


def mixed(
    stated: StatementToml, alone: Mapping[str, WorkloadStatement], seed: int, where: str
) -> WorkloadStatement:
    """A statement whose variations are those of others, drawn by weights. Raises `InputError`."""
    if stated.sql or stated.pgbench or stated.parameters or stated.text:
        raise InputError(f"{where} is a mix, and has a text of its own", hint="keep one")
    parts = []
    for name in stated.mix:
        if name not in alone:
            raise InputError(
                f"{where} mixes {name[:60]!r}, and there is no such statement",
                hint=f"there are: {', '.join(alone)}",
            )
        parts.append(alone[name])
    dialect = max(one.dialect for one in parts)  # one in no dialect is read in the others'
    if {one.dialect for one in parts} - {sql.GENERIC, dialect}:
        raise InputError(
            f"{where} mixes statements that are written in several dialects",
            hint="write all in one; each may have texts for other engines",
        )
    order = drawn(stated.mix, seed, stated.name, stated.variations)
    # A mix is a script, and lode has none.
    dialects = dict.fromkeys(
        own.dialect for one in parts for own in one.own if not is_quel(own.dialect)
    )
    given = {one.name: one for one in parts}

    def texts(dialect: str) -> tuple[str, ...]:
        found = []
        for number, name in enumerate(order):
            written_in, own = given[name].texts_for(dialect)
            if dialect and written_in != dialect and dialect in dialects:
                raise InputError(
                    f"{where}: {name} has no text for {dialect}, and another of its statements has",
                    hint="give all of them one, or none",
                )
            found.append(own[number % len(own)])
        return tuple(found)

    changed = (
        name for one in parts for name in (*filter(None, [one.changes]), *one.script_changes)
    )
    return WorkloadStatement(
        stated.name, stated.title or stated.name, dialect, texts(""),
        tuple(
            OwnText(dialect, texts(dialect), _drawn_of(stated, given, dialect))
            for dialect in dialects
        ),
        min(one.digits for one in parts), script=True,
        script_changes=tuple(dict.fromkeys(changed)),
        volatile=_each_once(stated.volatile, *(one.volatile for one in parts)),
        same=_each_once(stated.same, *(one.same for one in parts)), grows=stated.grows,
        drawn=_drawn_of(stated, given, ""), drawn_start=start_of(seed, stated.name, MIX),
    )  # fmt: skip


def _drawn_of(
    stated: StatementToml, given: Mapping[str, WorkloadStatement], dialect: str
) -> tuple[DrawnText, ...]:
    """The texts that users of a mix draw in a dialect: of each statement those of its own users, or
    its one text; none where one goes round several."""
    each: dict[str, tuple[DrawnText, ...]] = {}
    for name in stated.mix:
        _, texts = given[name].texts_for(dialect)
        each[name] = given[name].drawn_for(dialect)
        if not each[name] and len(texts) == 1:
            each[name] = (DrawnText(texts[0]),)
    if stated.drawn != TRANSACTION or not all(each.values()):
        return ()
    sums = {name: sum(one.weight for one in drawn) for name, drawn in each.items()}
    whole = lcm(*sums.values())
    if max(stated.mix.values()) * whole > WEIGHT_MAX:
        raise InputError(f"the weights of {stated.name} have no small common multiple",
                         hint="write rounder ones, or drawn = \"run\"")  # fmt: skip
    return tuple(
        DrawnText(one.text, one.draws, stated.mix[name] * one.weight * (whole // sums[name]))
        for name, drawn in each.items()
        for one in drawn
    )


def _each_once(*lists: Sequence[str]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(one for each in lists for one in each))


def texts_of(stated: WorkloadStatement) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each dialect, and all texts that it has: those of the variations, and those that users draw,
    with some value."""
    for dialect, texts, drawn in (
        (stated.dialect, stated.texts, stated.drawn),
        *((own.dialect, own.texts, own.drawn) for own in stated.own),
    ):
        yield dialect, (*texts, *(marked(one.text, dialect, one.draws)[0] for one in drawn))


def check_script(
    workload: Workload, stated: WorkloadStatement, known: Sequence[str], where: str
) -> None:
    """Raise `InputError` where a script is none that is measured."""
    changed: dict[str, None] = {}
    for dialect, texts in texts_of(stated):
        for text in sql.of_each_shape(texts, dialect, where):
            for tree in script.trees(text, dialect, where):
                if workload.as_it_stands:
                    sql.check_reading(tree, where)
                    continue
                sql.check_tables(tree, known, where)
                changed |= dict.fromkeys(filter(None, [sql.changed_by(tree)]))
    if {*changed} != {*stated.script_changes}:
        raise InputError(f"{where} changes other tables than are declared")
    columns = {
        f"{table.name}.{column.name}" for table in workload.tables for column in table.columns
    }
    for each in stated.volatile:
        if each not in columns:
            raise InputError(
                f"{where}: volatile names {each[:60]!r}, no column of the workload's tables",
                hint="write TABLE.COLUMN",
            )
    for text in (*stated.same, *stated.grows):
        tree = sql.parsed(text, stated.dialect, f"{where}, same or grows")
        if sql.changed_by(tree):
            raise InputError(f"{where}: same and grows are queries", hint="write SELECT …")
        sql.check_tables(tree, known, where)
