"""A comparison as Markdown, for a pull request."""

from collections.abc import Iterable, Sequence

from loadstone.analysis.compare.cells import SLOWER
from loadstone.analysis.compare.compare import Comparison, Matched
from loadstone.analysis.compare.terms import shown
from loadstone.control_characters import legible
from loadstone.record.changed_answers import sentence
from loadstone.report.comparison import wording
from loadstone.report.markdown import shorten
from loadstone.report.markdown_text import plain
from loadstone.text.numbers import plural


def render(comparison: Comparison) -> bytes:
    """UTF-8, GitHub's Markdown."""
    return legible("\n".join(_lines(comparison)) + "\n").encode()


def _lines(comparison: Comparison) -> Iterable[str]:
    yield from (f"**{plain(sentence(each))}**  " for each in comparison.changed)
    yield f"**{plain(comparison.sentence())}**  "
    yield plain(wording.runs(comparison))
    for matched in comparison.matched:
        yield from _matched(matched)


def _matched(matched: Matched) -> Iterable[str]:
    yield from ("", f"### {plain(matched.match.name)}")
    if flag := wording.flag(matched):
        yield from ("", f"**{plain(flag)}**")
    if matched.pairs:
        yield ""
        yield from _table(wording.HEADINGS, "|---|--:|---|--:|--:|--:|---|---|")
        for pair in matched.pairs:
            *figures, verdict = wording.cells(pair)
            yield _row((*map(plain, figures), f"**{verdict}**" if verdict == SLOWER else verdict))
    if plans := list(wording.plans(matched)):
        yield from ("", "Plans:", "", *(f"- {plain(line)}" for line in plans))
    left = list(wording.remainders(matched))
    if left:
        yield from ("", "Not compared:", "")
        for rest in left:
            reason = plain(shorten(rest.reason, 200))
            yield f"- {plural(rest.count, 'cell')}: {reason} ({plain(rest.operations)})"
    yield from ("", "<details><summary>Terms</summary>", "")
    yield from _table(wording.TERM_HEADINGS, "|---|---|---|---|")
    for entry in wording.terms(matched):
        values = (shorten(shown(side)) for side in (entry.a, entry.b))
        yield _row((plain(entry.key), *map(plain, values), wording.MARKS[entry.verdict]))
    if settings := wording.equal_settings(matched):
        yield from ("", f"{settings}.")
    yield from ("", "</details>")


def _table(headings: Sequence[str], alignment: str) -> Iterable[str]:
    yield _row(headings)
    yield alignment


def _row(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
