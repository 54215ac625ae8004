"""The findings in words, the same for every format."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

from loadstone.analysis.chapters import Chapter, themes
from loadstone.analysis.findings.finding import Finding, Grade
from loadstone.analysis.findings.learned import Learned, Theme, Why
from loadstone.analysis.summary import Summary
from loadstone.text.numbers import plural, scaled

GRADES = {
    Grade.EXPLAINED: "a switch of the engine was turned, read back, and took the stated part away,"
    " in eight processes or more and by more than the same variant differs from itself",
    Grade.CONSISTENT: "the record shows the mechanism at work where the time goes; or a switch"
    " moves it, and something that explained requires is missing",
    Grade.UNEXPLAINED: "seen, and the record has no cause for it",
}
"""The claim of each grade."""
NONE = "No rule found anything that the record can carry."
OPEN_MOST = 4
"""Themes that stand open on a page."""
NAMED_MOST = 12
"""Rows of a theme that are named."""


@dataclass(frozen=True, slots=True)
class Place:
    """A row that a finding is about: its words, and the row's scale and operation."""

    words: str
    rows: int
    operation: str


@dataclass(frozen=True, slots=True)
class ThemeWords:
    """A theme: its weightiest finding, where it holds, and where else."""

    grade: Grade
    sentence: str
    place: Place
    others: tuple[Place, ...]
    more: int
    """Rows beyond `others`, which are not named."""
    terms: str
    """The unequal terms of the first; empty if none."""
    chapter: int = 0
    """Which benchmark of the record it is about."""

    @property
    def likewise(self) -> str:
        """`Likewise in 4 more rows`; empty for one row alone."""
        count = len(self.others) + self.more
        return f"Likewise in {plural(count, 'more row')}" if count else ""


def theme_words(whole: Summary, found: Learned) -> list[ThemeWords]:
    """All of them, in their order."""
    titles = {text.name: text.title for text in whole.run.operations}
    return [_theme(whole, titles, theme) for theme in found.themes]


def chapters_words(found: Sequence[Chapter]) -> list[ThemeWords]:
    """Those of all benchmarks of a record, each place with its benchmark."""
    titles = [{text.name: text.title for text in one.whole.run.operations} for one in found]
    return [
        _in_chapter(_theme(chapter.whole, titles[chapter.number], theme), chapter)
        for chapter, theme in themes(found)
    ]


def _in_chapter(reported: ThemeWords, chapter: Chapter) -> ThemeWords:
    name = chapter.whole.words.title
    place = replace(reported.place, words=f"{name}: {reported.place.words}")
    return replace(reported, place=place, chapter=chapter.number)


def _theme(whole: Summary, titles: Mapping[str, str], theme: Theme) -> ThemeWords:
    first = theme.first
    others = [_place(whole, titles, each) for each in theme.findings[1:]]
    return ThemeWords(
        theme.grade,
        first.sentence,
        _place(whole, titles, first),
        tuple(others[:NAMED_MOST]),
        max(0, len(others) - NAMED_MOST),
        terms_words(first),
    )


def _place(whole: Summary, titles: Mapping[str, str], found: Finding) -> Place:
    title = titles.get(found.operation, found.operation)
    at = f"{scaled(found.rows, whole.words.scale)}, {found.temperature}"
    return Place(f"{title}; {at}", found.rows, found.operation)


def terms_words(found: Finding) -> str:
    """`Not on equal terms: …`; empty where they are equal."""
    return f"Not on equal terms: {'; '.join(found.terms)}." if found.terms else ""


def why_words(why: Why) -> str:
    """A row's line, with the grade behind it, and a mark if the terms are not equal."""
    unequal = " ≠" if why.finding and why.finding.terms else ""
    return f"{why.words}{unequal} · {why.grade}" if why.grade else why.words


def brief_lines(whole: Summary, found: Learned) -> list[str]:
    """A line for each theme, for a terminal: what matters first, since its end may be cut."""
    return [_brief(whole, theme) for theme in found.themes]


def chapters_lines(found: Sequence[Chapter]) -> list[tuple[Chapter, str]]:
    """As `brief_lines`, of all benchmarks of a record."""
    return [(chapter, _brief(chapter.whole, theme)) for chapter, theme in themes(found)]


def _brief(whole: Summary, theme: Theme) -> str:
    first = theme.first
    name = whole.labels.get(first.variant, first.variant)
    own = first.brief if first.brief.startswith(name) else f"{name}: {first.brief}"
    more = f" and {len(theme.findings) - 1} more" if len(theme.findings) > 1 else ""
    return f"{theme.grade}: {first.operation}{more}: {own}"
