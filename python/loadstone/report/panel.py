"""The details of a row of the summary: samples, figures, statements, plans, answers.

One panel serves every temperature of an operation at one scale, so that warm and cold have one axis
and no statement is repeated.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from loadstone.analysis.agreement import of_statement
from loadstone.analysis.cell_summary import CellSummary
from loadstone.analysis.consistency import answers_words, proof_words, samples_checked
from loadstone.analysis.summary import Summary
from loadstone.plan.presentation import Lesson
from loadstone.plan.role import Role
from loadstone.plan.variant import AA_SUFFIX, is_aa_control
from loadstone.record.changed_answers import given_answers
from loadstone.record.model import CellResult, OperationText
from loadstone.report.axis import Axis, lane
from loadstone.report.page_room import dots_cap, text_cap
from loadstone.text.numbers import Unit, scaled, unit_for

DISTURBED = "range that the disturbance leaves"
STRIP_PX = 320


@dataclass(frozen=True, slots=True)
class Strip:
    """One cell's samples on the panel's axis, in pixels; None if there is nothing to draw.

    A dot is (x, y, whether it is an outlier).
    """

    figure: CellSummary
    series: int
    dots: tuple[tuple[float, float, bool], ...]
    median: float | None
    low: float | None
    high: float | None

    @property
    def dots_left_out(self) -> int:
        """Samples that are not drawn."""
        return len(self.figure.samples) - len(self.dots)

    @property
    def interval_is(self) -> str:
        """The kind of its interval; empty without one."""
        found = self.figure.elapsed_ns
        if found is None or found.low is None or found.high is None:
            return ""
        if self.figure.disturbance is not None:
            few = self.figure.has_few_samples
            return f"range of the samples, {DISTURBED}" if few else DISTURBED
        return "95 %"

    @property
    def samples_worth(self) -> int | None:
        """The number of independent samples these are worth, if fewer than there are."""
        return self.figure.samples_worth


@dataclass(frozen=True, slots=True)
class Text:
    """One variant's statement and plan, both cut if very long."""

    variant: str
    statement: str
    plan: str
    variations: int


@dataclass(frozen=True, slots=True)
class Panel:
    """Everything about one operation at one scale."""

    id: str
    operation: OperationText
    rows: int
    unit: Unit
    strips: tuple[Strip, ...]
    ticks: tuple[tuple[float, str], ...]
    texts: tuple[Text, ...]
    proofs: tuple[tuple[str, str], ...]
    expected: str
    agreed: bool = False
    """Whether engines' agreement, and no oracle, says what is expected."""
    nominal: int | None = None
    """The number that times are scaled to, if it varies."""
    drawn: str = ""
    """The inputs that each iteration of a client's measure draws."""
    answers: tuple[tuple[str, str], ...] = ()
    """(variants, first rows) of each different answer."""
    lesson: Lesson | None = None
    """The mechanism that the operation isolates, as its benchmark declares it."""

    @property
    def asked(self) -> str:
        """The measure's first iteration, for a client program, which has no statement."""
        measure, _, iteration = self.operation.quel.partition(" ")
        if measure != self.operation.storage or not iteration.isdigit():
            return ""
        return f"The client's measure {measure}; every iteration draws its own {self.drawn}."

    @property
    def about(self) -> tuple[str, ...]:
        """The kind of operation, in a few words."""
        text = self.operation
        if self.asked:
            return tuple(words for words in (text.query,) if words)
        written = text.destination in ("relation", "client", "file")
        into = f"into {text.destination}" if written else ""
        return tuple(words for words in (text.storage, into, text.query) if words)


def panels(summary: Summary, at: str = "", among: int = 1) -> tuple[Panel, ...]:
    """A panel for every operation at every scale. `at` begins their names on a page of so many
    chapters, each of which has a like share of it."""
    found: dict[tuple[int, str], tuple[OperationText, list[CellSummary]]] = {}
    for view in summary.views:
        for row in view.all_rows:
            key = (view.rows, row.operation.name)
            found.setdefault(key, (row.operation, []))[1].extend(row.figures.values())
    results = {result.cell.key: result for result in summary.run.results}
    caps = text_cap(summary.run.results, among), dots_cap(summary.run.results, among)
    return tuple(
        _panel(f"{at}p{index}", text, figures, results, summary, caps)
        for index, (text, figures) in enumerate(found.values())
    )


def _panel(
    name: str,
    text: OperationText,
    figures: Sequence[CellSummary],
    results: Mapping[str, CellResult],
    summary: Summary,
    caps: tuple[int, int],
) -> Panel:
    text_letters, dots = caps
    words = summary.words
    # The harness's own time would stretch the axis; it has its column in the summary.
    peers = [figure for figure in figures if figure.role is not Role.OVERHEAD]
    ordered = sorted(peers, key=lambda figure: summary.variants.index(figure.cell.variant))
    elapsed = [shown_ns for figure in ordered for shown_ns in figure.shown_ns]
    axis = Axis.of_samples(elapsed, STRIP_PX)
    reported = [results[f.cell.key] for f in ordered if f.cell.key in results]
    return Panel(
        id=name,
        operation=text,
        rows=text.rows,
        unit=unit_for(elapsed),
        strips=tuple(_strip(figure, axis, summary.columns, dots) for figure in ordered),
        ticks=axis.decades() if elapsed else (),
        texts=tuple(_texts(reported, text_letters)),
        proofs=tuple(_proofs(reported)),
        expected=_expected(reported, words.answer, of_statement(summary.run, text.name)),
        agreed=summary.run.plan.workload is not None,
        answers=given_answers(summary.run, text.name, text.rows),
        nominal=words.varying.nominal.get(text.name),
        drawn=words.scale,
        lesson=words.lesson_of(text.name),
    )


def _strip(figure: CellSummary, axis: Axis, columns: Sequence[str], dots: int) -> Strip:
    estimate = figure.elapsed_ns
    place = axis.place_ns
    first = figure.cell.variant.removesuffix(AA_SUFFIX)
    return Strip(
        figure=figure,
        series=columns.index(first) if first in columns else 0,
        dots=tuple(
            (place(shown_ns), lane(sample.ordinal, 6.0, 2), position in figure.outliers)
            for position in _drawn(figure.shown_ns, dots)
            for sample, shown_ns in [(figure.samples[position], figure.shown_ns[position])]
        ),
        median=place(estimate.value) if estimate else None,
        low=place(estimate.low) if estimate and estimate.low else None,
        high=place(estimate.high) if estimate and estimate.high else None,
    )


def _drawn(elapsed_ns: Sequence[float], most: int) -> Sequence[int]:
    """The places of those that are drawn: of more than `most` the least, the greatest, and others
    evenly in the order of their size, so that the drawing keeps its shape."""
    count = len(elapsed_ns)
    if count <= most:
        return range(count)
    order = sorted(range(count), key=elapsed_ns.__getitem__)
    return sorted(order[step * (count - 1) // (most - 1)] for step in range(most))


def _texts(results: Iterable[CellResult], cap: int) -> Iterable[Text]:
    seen = set()
    for result in results:
        variant = result.cell.variant
        if variant in seen or not result.statements or is_aa_control(variant):
            continue
        seen.add(variant)
        first = result.statements[0]
        variations = len({sample.variation for sample in result.samples})
        yield Text(variant, _cut(first.text, cap), _cut(first.plan, cap), variations)


def _cut(text: str, most: int) -> str:
    if len(text) <= most:
        return text
    return f"{text[:most]}\n… {len(text) - most:,} characters more; the record has them all"


def _proofs(results: Iterable[CellResult]) -> Iterable[tuple[str, str]]:
    """(variant, observations) for every cold cell."""
    for result in results:
        if result.evidence:
            yield result.cell.variant, proof_words(result)


def _expected(results: Sequence[CellResult], unit: str, basis: str) -> str:
    answer = next((answer for result in results for answer in result.answers), None)
    if answer is None:
        return ""
    words = answers_words(*samples_checked(results))
    expected = f"{scaled(answer.expected_rows, unit)}, checksum {answer.expected_checksum}"
    # An answer on which engines agree may still be wrong.
    return f"{words} against the answer {basis}: {expected}" if basis else f"{words}: {expected}"
