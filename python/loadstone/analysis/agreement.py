"""The words on the answers to a user's statements: that engines agree on them, or that nothing
was there to compare with; never that they are right, which only an oracle could determine."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple

from loadstone.plan.variant import engine_of, is_aa_control
from loadstone.plan.workload import (
    AGREED,
    ALONE,
    DIVIDED,
    OPEN_ANSWER,
    REFERENCE,
    STORED,
    UNRANKED,
)
from loadstone.record.model import Agreement, Run, kind_of_label
from loadstone.text.numbers import listing, number, plural


class Clause(NamedTuple):
    """A clause of the verdict, and whether it is in order."""

    words: str
    fine: bool


def clauses(run: Run) -> tuple[Clause, ...]:
    """Of a run of a user's workload; empty for any other."""
    return () if run.plan.workload is None else tuple(_clauses(run))


def _clauses(run: Run) -> Iterator[Clause]:
    reported = {one.operation: one for one in run.agreements}
    checked: dict[str, list[bool]] = {}
    for result in run.results:
        apart = kind_of_label(result.label) in UNRANKED  # it was held to its own answer alone
        for answer in () if apart else result.answers:
            checked.setdefault(_basis(reported, result.cell.operation), []).append(answer.right)
    yield from _counted(run, checked)
    large = sum(_several(one) for one in run.agreements)
    if large:
        answers = "statement whose answer is" if large == 1 else "statements whose answers are"
        yield Clause(f"{number(large)} {answers} too large to be compared", False)
    yield from _alone(run, checked.get(ALONE, ()))
    if divided := sum(one.basis == DIVIDED for one in run.agreements):
        answered = "statement whose answer is" if divided == 1 else "statements whose answers are"
        yield Clause(f"{number(divided)} {answered} disputed, without a majority", False)
    yield from _labelled(run)
    if count := len(_unordered(run)):
        whose = "a statement's" if count == 1 else f"{number(count)} statements'"
        yield Clause(f"the order of {whose} rows not compared", True)
    if not run.agreements:
        yield Clause("no answer was compared", False)
    if _read_by_own_rules(run):
        yield Clause("no dialect named: each engine read the text by its own rules", True)


def _counted(run: Run, checked: Mapping[str, Sequence[bool]]) -> Iterator[Clause]:
    """The number of answers that are as expected, by the basis of what is expected."""
    for basis, agree in (
        (STORED, "as stored"),
        (AGREED, f"as {_engines(run.agreements)} agree"),
        (REFERENCE, f"as {_whose(run.agreements, REFERENCE)} alone gives"),
    ):
        if basis in checked:
            own, total = sum(checked[basis]), len(checked[basis])
            yield Clause(f"{number(own)} of {plural(total, 'answer')} {agree}", own == total)


def _read_by_own_rules(run: Run) -> bool:
    """Whether several engines were asked a text that names no dialect."""
    statements = run.plan.workload.statements if run.plan.workload is not None else ()
    engines = {engine_of(variant) for variant in run.plan.variants}
    return len(engines) > 1 and not all(one.names_dialect for one in statements)


def _alone(run: Run, checked: Sequence[bool]) -> Iterator[Clause]:
    """The statements that one engine alone answered; `checked`: whether each sample did so in the
    same way."""
    alone = {one.operation: one for one in run.agreements
             if one.basis == ALONE and not _several(one)}  # fmt: skip
    if not alone:
        return
    each = "the same each time" if all(checked) else "not the same each time"
    labels = {kind_of_label(r.label) for r in run.results if r.cell.operation in alone}
    if OPEN_ANSWER in labels:
        each += ", as far as the query determines it"
    who = listing(dict.fromkeys(one.engines for one in alone.values()))
    words = f"{plural(len(alone), 'statement')} answered by {who} alone ({each}), and not"
    yield Clause(f"{words} compared with another engine", False)


def _labelled(run: Run) -> Iterator[Clause]:
    """The number of answers with each kind of label: of a statement, each variant's is one."""
    labels = {
        (r.cell.operation, r.cell.variant): r.label
        for r in run.results
        if r.label and not is_aa_control(r.cell.variant)
    }
    for kind, count in Counter(map(kind_of_label, labels.values())).items():
        yield Clause(f"{plural(count, 'answer')} labelled {kind}", kind not in UNRANKED)


def _unordered(run: Run) -> frozenset[str]:
    """The statements that request an order of which not all can be seen in the answer."""
    statements = run.plan.workload.statements if run.plan.workload is not None else ()
    return frozenset(one.name for one in statements if one.order_unchecked)


def _several(one: Agreement) -> bool:
    """Whether several engines answered, and could not be compared."""
    return one.basis == ALONE and "," in one.engines


def _basis(reported: Mapping[str, Agreement], operation: str) -> str:
    return reported[operation].basis if operation in reported else ALONE


def _whose(agreements: Iterable[Agreement], basis: str) -> str:
    return listing(dict.fromkeys(one.engines for one in agreements if one.basis == basis))


def _engines(agreements: tuple[Agreement, ...]) -> str:
    counts = {one.engines.count(",") + 1 for one in agreements if one.basis == AGREED}
    low, high = min(counts, default=0), max(counts, default=0)
    return f"{low} engines" if low == high else f"{low} to {high} engines"


def of_statement(run: Run, operation: str) -> str:
    """The basis of a statement's expected answer; empty for a benchmark's operation."""
    found = next((one for one in run.agreements if one.operation == operation), None)
    if found is None:
        return ""
    words = {
        STORED: "that is stored",
        AGREED: f"agreed by {listing(found.engines.split(', '))}",
        REFERENCE: f"of {found.engines} alone, of several different ones",
        ALONE: f"of {listing(found.engines.split(', '))}, not compared with each other"
        if _several(found)
        else f"of {found.engines} alone, compared with no other engine's",
        DIVIDED: "disputed",
    }[found.basis]
    more = [found.words] if found.words else []
    if operation in _unordered(run):
        more.append("the order of its rows is not compared: none of its columns shows all of it")
    return f"{words} ({'; '.join(more)})" if more else words
