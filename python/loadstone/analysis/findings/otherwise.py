"""A plan that is not the expected one: the structure that a row is about is not used, or does not
pay.

Of a row: the plans of the slowest and the fastest differ in whether they reach the relation by the
structure in the row's name; the slowest is either of the two. Of a variant: of two or more rows
about a structure, none uses it.

False where the plan shown is not the plan executed: a plan is requested after the last sample.
Silent where an engine does not report its access, and where the structure cannot be seen in plans.
"""

from collections.abc import Iterator

from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.findings.distance import Distance, measured
from loadstone.analysis.findings.evidence import Evidence
from loadstone.analysis.findings.finding import Finding, Grade, terms_of
from loadstone.analysis.findings.said import said_ratio
from loadstone.text.numbers import number, plural

RULE = "otherwise"
ROWS_MIN = 2
"""That never use a structure: one alone may be the rare case for which a scan is right."""


def find(seen: Evidence) -> Iterator[Finding]:
    """Of the rows first, then of the variants."""
    for far in seen.far():
        found = _row(seen, far)
        if found:
            yield found
    yield from _never(seen)


def _reached(seen: Evidence, figure: CellSummary, storage: str) -> bool | None:
    """Whether every plan that is reported uses the structure; None where none is reported, or where
    plans of one cell differ in it."""
    reported = [text for text in seen.statements(figure) if text.paths]
    otherwise = [text.planned_otherwise(storage) for text in reported]
    if not reported or any(otherwise) != all(otherwise):
        return None
    return not otherwise[0]


def _row(seen: Evidence, far: Distance) -> Finding | None:
    text = far.row.operation
    used = _reached(seen, far.slow, text.storage), _reached(seen, far.fast, text.storage)
    if None in used or used[0] == used[1]:
        return None
    slow, fast = far.names
    own, other = _paths(seen, far.slow), _paths(seen, far.fast)
    return far.finding(
        RULE,
        f"{text.storage} used" if used[0] else f"{text.storage} not used",
        brief=f"its plan takes {own}, that of {fast} {other}",
        sentence=f"{slow} takes {said_ratio(far.ratio)} the time of {fast}: its plan reaches the"
        f" relation by {own}, that of {fast} by {other}.",
    )


def _paths(seen: Evidence, figure: CellSummary) -> str:
    reported = next(text for text in seen.statements(figure) if text.paths)
    return " and ".join(
        "a scan of all tuples" if path == "heap" else f"the {path} structure"
        for path in reported.paths
    )


def _never(seen: Evidence) -> Iterator[Finding]:
    whole = seen.whole
    found: dict[tuple[str, str], list[tuple[CellSummary, bool]]] = {}
    for row in seen.rows:
        for figure in measured(row):
            used = _reached(seen, figure, row.operation.storage)
            if row.operation.storage != "heap" and used is not None:
                key = figure.cell.variant, row.operation.storage
                found.setdefault(key, []).append((figure, used))
    for (variant, storage), cells in found.items():
        operations = {figure.cell.operation for figure, _ in cells}
        if len(operations) < ROWS_MIN or any(used for _, used in cells):
            continue
        figures = [figure for figure, _ in cells]
        best = sum(figure.best for figure in figures)
        name = whole.labels[variant]
        fastest = f"; it is the fastest of the row in {number(best)} of them" if best else ""
        cell = figures[0].cell
        yield Finding(
            rule=RULE,
            kind=f"never {storage}",
            grade=Grade.UNEXPLAINED,
            operation=cell.operation,
            rows=cell.rows,
            temperature=cell.temperature,
            variant=variant,
            against="",
            brief=f"{name} never uses a {storage} structure",
            sentence=f"In none of {plural(len(figures), 'row')} about a {storage} structure does"
            f" the plan of {name} use it{fastest}. The plans do not show why.",
            numbers=(),
            cells=tuple(figure.cell.key for figure in figures),
            terms=terms_of(whole.labels, figures[:1]),
            weight=0.5,
        )
