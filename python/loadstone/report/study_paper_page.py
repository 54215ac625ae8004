"""A paper's experiments beside the page's own figures: when a value pays off, the paper's
changes, and its profile."""

from typing import Any

from markupsafe import Markup

from loadstone.analysis.break_even import break_evens, unreported
from loadstone.analysis.enhancements import enhanced, scales, winners
from loadstone.analysis.routines import profiles
from loadstone.analysis.summary import Summary
from loadstone.record.model import Run
from loadstone.report import break_even_words, enhancement_words, routine_words
from loadstone.report.drawing import svg_of
from loadstone.report.enhancement_chart import then_and_now
from loadstone.studies.view import StudyMap


def paper_context(run: Run, found: StudyMap) -> dict[str, Any]:
    """The values of the two templates; empty lists where there is nothing to say."""
    paying = break_evens(run, found)
    changes = enhanced(run, found)
    sizes = scales(changes)
    drawn = enhancement_words.drawn(changes, sizes[0]) if sizes else []
    lines = list(enhancement_words.winner_lines(winners(changes)))
    words = run.presentation
    return {
        "paying": [
            (one, break_even_words.headings(one, words.scale), list(break_even_words.rows(one)))
            for one in paying
        ],
        "paying_note": break_even_words.note(paying[0].scales, words) if paying else "",
        "paying_unreported": [
            break_even_words.unreported_line(one, words) for one in unreported(run, found, paying)
        ],
        "paying_line": break_even_words.paper_line(paying, words),
        "changes": [
            (one.enhancement.name, enhancement_words.lead(one), enhancement_words.headings(one),
             list(enhancement_words.rows(one)))
            for one in changes
        ],
        "changes_how": enhancement_words.HOW,
        "changes_scale": sizes[0] if sizes else 0,
        "changes_drawing": _drawing(drawn),
        "winner_lines": lines,
    }  # fmt: skip


def routines_context(whole: Summary) -> dict[str, Any]:
    """The paper's profile beside today's; no headings where there is none."""
    found = profiles(whole.run)
    return {
        "routine_headings": routine_words.headings(found, whole.labels) if found else (),
        "routine_rows": list(routine_words.rows(found)),
        "routine_how": routine_words.HOW,
    }


def _drawing(drawn: Any) -> Markup:
    if not drawn:
        return Markup("")
    return Markup(svg_of(*then_and_now(drawn)))  # noqa: S704 - Vega escapes every text in it
