"""A study on the terminal: a line for each operation while it goes on, and the sensitivity map."""

import shlex
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from rich.table import Table
from rich.text import Text

from loadstone.analysis.break_even import break_evens
from loadstone.analysis.enhancements import enhanced, winners
from loadstone.analysis.verdict import circumstances
from loadstone.control_characters import legible
from loadstone.plan.choices import FACTORIAL
from loadstone.plan.plan import Plan
from loadstone.plan.presentation import Presentation
from loadstone.plan.written_choices import as_command
from loadstone.record.model import CellResult, Run
from loadstone.report.break_even_words import crossing_words, paper_line
from loadstone.report.enhancement_words import winner_lines
from loadstone.report.legible import legible_run
from loadstone.report.reproduce import tables
from loadstone.report.screen import COLUMNS_MAX, folded, lines_left, one_line
from loadstone.report.study_words import (
    NOTHING,
    STRONGEST,
    TO,
    UNKNOWN,
    cell,
    legend,
    line,
    milliseconds,
    name_words,
    noise_lines,
    place_words,
    value_words,
    words,
    work_words,
)
from loadstone.report.terminal_figures import FiguresTable
from loadstone.report.terminal_progress import Progress, Unit, unit_of
from loadstone.studies.details import work_changed
from loadstone.studies.view import StudiedOperation, StudyMap, operation_effects, study_map
from loadstone.text.numbers import beyond_one, listing, plural, scaled, times

if TYPE_CHECKING:
    from loadstone.plan.study import Decision, Switch

WORK_MOST = 3
"""Counts that are reported with an effect."""
SWITCHES_SHOWN = 7
"""Columns of the map, of what matters most; more would not be legible on a terminal."""
COLUMN = 12
"""Characters of a switch's column."""
STYLES: Mapping[bool, str] = {True: "bold", False: "dim"}


class StudyProgress(Progress):
    """The progress of a study: the effects of each operation as soon as it has ended."""

    def __init__(self, plan: Plan, words: Presentation, total: int) -> None:
        super().__init__(plan, words, total)
        self._results: dict[Unit, dict[str, CellResult]] = defaultdict(dict)
        self._lines: dict[Unit, Text] = {}
        """Each is computed once: while others are measured, the screen is drawn many times."""
        self._decisions: dict[Unit, Sequence[Decision]] = {}
        self._planned = frozenset(cell.variant for cell in plan.cells)
        self._has_begun = False

    def on_effects(self, found: StudiedOperation) -> None:
        """The state of an operation after a block: shown, and not yet a result."""
        unit = found.rows, self._plan.temperature[0], found.name
        self._decisions[unit] = found.decisions
        self._lines[unit] = Text(so_far(found), style="dim")
        if self._live is None and not self._has_begun:
            # Elsewhere than on a terminal each line stays: the first says that there are effects.
            self._console.print(self._lines[unit], soft_wrap=True)
        self._has_begun = True
        self._draw()

    def on_result(self, result: CellResult) -> None:
        """A cell has a result; those that the plan does not list come first."""
        unit = unit_of(result.cell)
        self._results[unit][result.cell.variant] = result
        if result.cell.variant not in self._planned:
            return
        planned = self._planned.intersection(self._results[unit])
        if len(planned) == self._expected[unit]:
            self._lines[unit] = self._line_of(unit)
        super().on_result(result)

    def _say(self, unit: Unit, variant: str, *, again: bool) -> None:
        del variant
        if again or len(self._rows[unit]) == self._expected[unit]:
            self._console.print(self._lines[unit], soft_wrap=True)

    def _line_of(self, unit: Unit) -> Text:
        study = self._plan.study
        results = self._results[unit]
        if study is None or study.base not in results:
            return Text(f"{unit[2]}: …", style="dim")
        decided = self._decisions.get(unit, ())
        return Text(ended_line(operation_effects(self._plan, study, results, decided)))

    def _table(self) -> Table:
        table = Table.grid()
        for unit in list(self._lines)[-lines_left(self._console) :]:
            table.add_row(self._lines[unit])
        return table


def study_summary(run: Run, record: Path, page: Path | None) -> Iterable[Text | Table]:
    """The parts of the summary of a study, from top to bottom."""
    run = legible_run(run, lines=False)
    found = study_map(run)
    if found is None:
        return
    count = plural(len(found.study.switches), "switch", "switches")
    yield Text(
        f"{run.plan.benchmark} on {found.study.base}: {count}, {run.plan.design}", style="bold"
    )
    yield Text(circumstances(run), style="dim")
    for rows in dict.fromkeys(operation.rows for operation in found.operations):
        yield Text("")
        yield _map(found, rows, scaled(rows, run.presentation.scale))
        if others := _others(found, rows):
            yield Text(others, style="dim")
    if found.operations:
        yield Text(legend(found.operations[0]), style="dim")
    for place, text in enumerate(noise_lines(found.operations)):
        yield Text(text if place else f"\n{text}", style="dim" if place else "bold")
    yield from _strongest(run, found)
    yield from _pays_off(run, found)
    yield from _winners(run, found)
    yield from _further(run, found)
    yield from _problems(found, record)
    yield from (Text(f"\n{line}") for line in tables(run, COLUMNS_MAX))
    yield Text("")
    if page is not None:
        yield Text("report  ").append(legible(str(page)), style="bold")
    yield Text(f"record  {legible(str(record))}")


def _map(found: StudyMap, rows: int, at: str) -> Table:
    """Operations x switches: what matters first."""
    table = FiguresTable(
        box=None,
        pad_edge=False,
        padding=(0, 2, 0, 0),
        title=f"Effect of each switch: {at}, {found.temperature}",
        title_justify="left",
        title_style="dim",
    )
    table.add_column("", no_wrap=True)
    table.add_column("base", justify="right", no_wrap=True)
    for switch in found.order[:SWITCHES_SHOWN]:
        table.add_column(_heading(switch), justify="right")
    for operation in found.operations:
        if operation.rows != rows:
            continue
        effects = {each.switch: each for each in operation.switches}
        shown = [cell(effects[switch]) for switch in found.order[:SWITCHES_SHOWN]]
        base_ms = operation.effects.base_ms
        table.add_row(
            one_line(name_words(operation), 42),
            Text(UNKNOWN if base_ms is None else milliseconds(base_ms), style="dim"),
            *(Text(text, style=STYLES[text[0] not in (NOTHING, UNKNOWN)]) for text in shown),
        )
    return table


def _heading(switch: "Switch") -> str:
    """A switch over its other value; a group by its name."""
    lines = [switch.tactic, f"{TO} {value_words(switch.tactic, switch.other)}"]
    return "\n".join(folded(line, COLUMN) for line in lines[: 1 + bool(switch.other)])


def _others(found: StudyMap, rows: int) -> str:
    """The switches that the map has no column for; empty where it has all."""
    left = found.order[SWITCHES_SHOWN:]
    acting = {
        each.switch
        for operation in found.operations
        for each in operation.switches
        if operation.rows == rows and each.strength
    }
    reported = [
        f"{'with' if acts else 'without'} an effect: {listing(each.key for each in own)}"
        for acts in (True, False)
        if (own := [each for each in left if (each in acting) is acts])
    ]
    return (
        f"{plural(len(left), 'switch', 'switches')} more, {'; '.join(reported)}" if reported else ""
    )


def _strongest(run: Run, found: StudyMap) -> Iterable[Text]:
    """The strongest effects, each with its intervals, and what the engine did otherwise."""
    effects = found.strongest
    if effects:
        yield Text("")
        yield Text("Strongest effects", style="bold")
    for operation, each in effects[:STRONGEST]:
        work = work_words(work_changed(run, found, operation, each.switch.key)[:WORK_MOST])
        yield Text(
            "; ".join(filter(None, (line(place_words(operation, found.operations), each), work)))
        )


def _pays_off(run: Run, found: StudyMap) -> Iterable[Text | Table]:
    """After how many tuples a value is ahead of the base: a line for each operation."""
    paying = break_evens(run, found)
    if not paying:
        return
    yield Text("")
    yield Text(f"Ahead after so many {run.presentation.scale}", style="bold")
    for one in paying:
        base = one.values[0].value
        reported = [(each.value, one.pair(base, each.value)) for each in one.values[1:]]
        words = [f"{name} {crossing_words(pair.tuples)}" for name, pair in reported if pair]
        yield Text(f"{one.operation}, {one.tactic} over {base}: {', '.join(words)}")
    if paper := paper_line(paying, run.presentation):
        yield Text(paper, style="dim")


def _winners(run: Run, found: StudyMap) -> Iterable[Text | Table]:
    """Which change of the paper gains most, then and now."""
    for place, reported in enumerate(winner_lines(winners(enhanced(run, found)))):
        yield Text(reported if place else f"\n{reported}", style="" if place else "bold")


def _further(run: Run, found: StudyMap) -> Iterable[Text]:
    """The factorial studies that operations call for."""
    switches = {switch.key: switch.name for switch in found.study.switches}
    calls: dict[tuple[tuple[str, ...], bool], list[str]] = defaultdict(list)
    for operation in found.operations:
        if operation.escalate:
            calls[operation.escalate, operation.hidden is not None].append(operation.name)
    for (tactics, hidden), operations in calls.items():
        further = replace(
            run.plan, design=FACTORIAL, operations=tuple(operations),
            vary=tuple(switches[name] for name in tactics),
        )  # fmt: skip
        why = "three or more switches act together, so that their shares depend on the order"
        if hidden:
            why = "whether three or more switches act together is undecided, and so are the shares"
        yield Text("")
        yield Text(f"{listing(operations)}: {why}. To take them apart: ").append(
            as_command(further), style="bold"
        )


def _problems(found: StudyMap, record: Path) -> Iterable[Text]:
    """Operations whose combinations were not all in order."""
    bad = [operation for operation in found.operations if operation.status != "ok"]
    if bad:
        yield Text("")
        yield Text("Problems", style="bold")
    for operation in bad:
        yield Text(f"{operation.name}: {operation.status}: {one_line(operation.reason, 200)}",
                   style="red" if operation.status == "failed" else "yellow")  # fmt: skip
    if any(operation.status == "disturbed" for operation in bad):
        again = Text("To measure the disturbed operations again: ")
        yield again.append(f"loadstone study --resume {shlex.quote(str(record))}", style="bold")


def ended_line(operation: StudiedOperation) -> str:
    """The effects found for an operation, as soon as it has ended."""
    if operation.effects.base_ms is None:
        return _at_base(operation)
    reported = [f"{words(each.switch)} {cell(each)}" for each in operation.acting]
    return f"{_at_base(operation)}; {', '.join(reported) or none_found(operation)}"


def none_found(operation: StudiedOperation) -> str:
    """That no switch is seen to act, and how large an effect may be there all the same."""
    unfit = [each.switch.key for each in operation.switches if each.failure]
    if unfit:
        return f"no effect found; no figure for {listing(unfit)}"
    if operation.unseen is None:
        return "too few blocks to find an effect"
    if operation.unseen_is_small:
        return f"no switch changes it by more than {beyond_one(operation.threshold_ratio)}"
    return f"no effect found; one of {times(operation.unseen)} might be missed"


def so_far(operation: StudiedOperation) -> str:
    """The effects in its blocks so far: figures without intervals, the largest first."""
    reported = [
        f"{words(each.switch)} {'~' if each.alone_beyond is None else '>'}{times(ratio)}"
        for each, ratio in operation.so_far[:STRONGEST]
    ]
    blocks = plural(operation.effects.blocks, "block")
    return f"{_at_base(operation)}; after {blocks} {', '.join(reported) or 'none is seen yet'}"


def _at_base(operation: StudiedOperation) -> str:
    base_ms = operation.effects.base_ms
    if base_ms is None:
        why = next((each.failure for each in operation.switches if each.failure), "")
        return f"{operation.name}: its base has no figure: {why or 'not measured'}"
    disturbed = "" if operation.status == "ok" else f" ({operation.status})"
    return f"{operation.name}{disturbed}: {milliseconds(base_ms)} at base"
