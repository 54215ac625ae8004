"""A study, and a run's budgets, in Markdown: the map, when a value pays off, the changes
and the profile of the benchmark's paper beside today's."""

from collections.abc import Iterable

from loadstone.analysis.break_even import break_evens, unreported
from loadstone.analysis.enhancements import enhanced, winners
from loadstone.analysis.routines import profiles
from loadstone.analysis.summary import Summary
from loadstone.report import break_even_words, enhancement_words, routine_words, study_words
from loadstone.report.markdown_text import plain, table
from loadstone.studies.view import StudyMap
from loadstone.text import numbers


def study_map_lines(found: StudyMap, whole: Summary) -> Iterable[str]:
    """The sensitivity map, and the strongest effects with their intervals."""
    headings = [plain(study_words.words(switch)) for switch in found.order]
    for rows in dict.fromkeys(one.rows for one in found.operations):
        at = f"{numbers.scaled(rows, whole.words.scale)}, {found.temperature}"
        yield from ("", plain(at), "")
        yield f"| operation | base | {' | '.join(headings)} |"
        yield f"|---|--:|{'--:|' * len(headings)}"
        for one in found.operations:
            if one.rows == rows:
                effects = {each.switch: each for each in one.switches}
                cells = " | ".join(study_words.cell(effects[switch]) for switch in found.order)
                base_ms = one.effects.base_ms
                base = study_words.UNKNOWN if base_ms is None else study_words.milliseconds(base_ms)
                yield f"| {plain(study_words.name_words(one))} | {base} | {cells} |"
    if found.operations:
        yield from ("", plain(study_words.legend(found.operations[0])))
    noise = study_words.noise_lines(found.operations)
    yield from (("", f"{noise[0]}:", "") if noise else ())
    yield from (f"- {plain(each)}" for each in noise[1:])
    strongest = found.strongest[: study_words.STRONGEST]
    if strongest:
        yield from ("", "Strongest effects:", "")
    for one, each in strongest:
        yield f"- {plain(study_words.line(study_words.place_words(one, found.operations), each))}"


def pays_off(found: StudyMap, whole: Summary) -> Iterable[str]:
    """After how many tuples a value is ahead, a table for each operation and tactic."""
    paying = break_evens(whole.run, found)
    for one in paying:
        yield from ("", f"**When it pays off: {plain(one.operation)}**", "")
        yield from table(break_even_words.headings(one, whole.words.scale),
                          break_even_words.rows(one))  # fmt: skip
    for missed in unreported(whole.run, found, paying):
        yield from ("", plain(break_even_words.unreported_line(missed, whole.words)))
    if paying:
        yield from ("", plain(break_even_words.note(paying[0].scales, whole.words)))
        if line := break_even_words.paper_line(paying, whole.words):
            yield from ("", plain(line))


def changes(found: StudyMap, whole: Summary) -> Iterable[str]:
    """The paper's changes then and now, a table for each."""
    own = enhanced(whole.run, found)
    if own:
        yield from ("", "**The paper's changes, then and now**", "", plain(enhancement_words.HOW))
    for one in own:
        yield from (
            "",
            f"**{plain(one.enhancement.name)}.** {plain(enhancement_words.lead(one))}",
            "",
        )
        if one.rows:
            yield from table(enhancement_words.headings(one), enhancement_words.rows(one))
    lines = list(enhancement_words.winner_lines(winners(own)))
    if lines:
        yield from ("", plain(lines[0]), "", *(f"- {plain(line)}" for line in lines[1:]))


def profile(whole: Summary) -> Iterable[str]:
    """The paper's profile beside today's, of a run with budgets."""
    found = profiles(whole.run)
    if found:
        yield from ("", "**The paper's profile, then and now**", "", plain(routine_words.HOW), "")
        yield from table(routine_words.headings(found, whole.labels), routine_words.rows(found))
