"""`loadstone bisect`: the release of an engine in which an operation's time changed.

Up to eight releases, evenly apart, are measured interleaved in one run. Where two neighbours differ
and releases between them were left out, those follow in a run of their own, until the neighbours of
every change are releases in succession. A change that comes and goes again is found, too, where it
shows between two of the eight.
"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from loadstone.commands.run import Page, PlanOnly, Record, made, taking
from loadstone.plan.choices import OF_LOOPS, RUN
from loadstone.planning.completion import engines

if TYPE_CHECKING:
    from collections.abc import Sequence

    from loadstone.analysis.releases import Step
    from loadstone.engines.system import System
    from loadstone.errors import LoadstoneError
    from loadstone.run.planned import Planned
    from loadstone.run.session import Ended

MEASURED = "Measure this engine, with its tactics if any."
TOGETHER_MAX = 8
"""Releases in one run: each has a process, its data and a cache of its own."""


@taking(RUN, without=("on", "benchmark", "overhead", *OF_LOOPS))
def bisect(
    *,
    engine: Annotated[str, typer.Argument(metavar="ENGINE", help=MEASURED, autocompletion=engines)],
    releases: Annotated[
        str, typer.Argument(metavar="FIRST..LAST", help="Choose these releases: 1.2.0..2.0.0.")
    ] = "",
    benchmark: Annotated[
        str, typer.Option(metavar="NAME", help="Run operations of this benchmark or workload.")
    ] = "wisconsin",
    fail_on: Annotated[
        str, typer.Option(metavar="SHARE", help="Count a difference beyond this share as a change.")
    ] = "5%",
    form: Annotated[
        str, typer.Option("--format", "-f", metavar="NAME", help="Print a table, md or json.")
    ] = "table",
    listed: Annotated[
        bool, typer.Option("--releases", help="List the known releases; run nothing.")
    ] = False,
    record: Record = None,
    dry_run: PlanOnly = False,
    page: Page = True,
    **given: Any,
) -> int:
    """Find the release of an engine in which a time or an answer changed.

    Up to eight releases run interleaved in one run, warm unless --temperature says otherwise. Where
    two neighbours differ, the releases between them follow. Each release is installed once into the
    cache. Without --operation or --sql: the quick preset's operations.

    Exit codes: 0 no step is slower; 11 a release answers otherwise than the one before; 1 a release
    is slower than the one before; 9 undecided; 5 nothing could be compared; 6 some steps failed or
    could not be compared; 2, 3 and 4 an error; 130 interrupted.
    """
    from loadstone import registry
    from loadstone.diagnostics import Exit, say, show_result
    from loadstone.errors import InputError
    from loadstone.report.comparison import formats
    from loadstone.run import releases as known
    from loadstone.run.interrupts import Interrupts
    from loadstone.text.parsing import share

    if form not in formats.FORMATS:
        taken = ", ".join(formats.FORMATS)
        raise InputError(f"no format {form!r}", hint=f"--format takes: {taken}")
    threshold = share(fail_on, "--fail-on")
    kind = registry.load_engine(registry.engine_named(engine))
    if "@" in engine or "://" in engine:
        raise InputError(
            f"{engine} names a release or a place", hint="write the engine alone, and its tactics"
        )
    _refuse_idle(releases or made(given), listed=listed)
    there = known.releases_of(kind)
    if listed or not releases:
        show_result(_listed(kind.name, there, form))
        return Exit.OK if listed else _no_range()
    chosen = {"temperature": ("warm",), **made(given)}
    if not given.get("sql"):
        chosen["benchmark"] = benchmark
    search = _Search(engine, kind, known.within(there, releases), chosen, threshold)
    try:
        with Interrupts():
            if dry_run:
                return search.described()
            code = search.run(record, page=page)
    except KeyboardInterrupt:
        say("loadstone: interrupted")
        return Exit.INTERRUPTED
    return code or search.reported(form)


def _listed(engine: str, releases: "Sequence[str]", form: str) -> str:
    """The known releases of an engine."""
    if form == "json":
        import json

        return json.dumps({"engine": engine, "releases": [*releases]}, indent=1)
    if form == "md":
        return "\n".join((f"**{engine}**", "", *(f"- {one}" for one in releases)))
    return f"{engine}: {', '.join(releases)}"


def _refuse_idle(beside: object, *, listed: bool) -> None:
    """Raise `InputError` where choices of a run stand beside `--releases`."""
    from loadstone.errors import InputError

    if listed and beside:
        raise InputError(
            "--releases lists the known releases and runs nothing",
            hint="leave out --releases, or the range and all other choices",
        )


def _no_range() -> int:
    from loadstone.errors import InputError

    raise InputError("which releases?", hint="write a range after the engine: 1.2.0..2.0.0")


class _Search:
    """The runs of one search, and the steps that they found."""

    def __init__(
        self,
        engine: str,
        kind: "type[System]",
        releases: "Sequence[str]",
        chosen: dict[str, Any],
        threshold: float,
    ) -> None:
        self._engine = engine
        self._kind = kind
        self._releases = releases
        self._chosen = chosen
        self._threshold = threshold
        self.steps: tuple[Step, ...] = ()
        self.left_out: dict[str, str] = {}
        """Why a release could not be measured, by release."""

    def run(self, record: Path | None, *, page: bool) -> int:
        """Measure. Returns an exit code where a run did not end well, else 0."""
        from loadstone import measuring
        from loadstone.analysis.releases import refined, steps
        from loadstone.record import read

        rounds: list[tuple[Sequence[str], tuple[str, ...]]] = [(self._releases, ())]
        for number, (among, operations) in enumerate(rounds, 1):
            measured = self._measured(among, operations, record and _numbered(record, number), page)
            if measured is None:
                continue
            planned, path, ended = measured
            if code := measuring.conclude(path, ended, page=page):
                return code
            found = steps(read(path), planned.plan.on, self._threshold)
            self.steps = refined(self.steps, found)
            rounds += self._gaps(found)
        return 0

    def _measured(
        self, among: "Sequence[str]", operations: "Sequence[str]", record: Path | None, page: bool
    ) -> "tuple[Planned, Path, Ended] | None":
        """Measure some of these releases. One whose engine does not start is left out, and others
        take its place. None where none is left between those that were measured before."""
        from loadstone import measuring
        from loadstone.diagnostics import say
        from loadstone.run import session

        while True:
            releases = self._installed(among)
            if among is not self._releases and len(releases) < 3:
                return None
            planned = self._planned(releases, operations)
            path = record or session.record_path([planned])
            say(f"loadstone: {self._kind.name} {', '.join(releases)}")
            try:
                return planned, path, measuring.measure([planned], path, page=page)
            except session.OF_AN_ENGINE as error:
                self._leave_out_of(planned, error)

    def _installed(self, among: "Sequence[str]") -> tuple[str, ...]:
        """The releases of a run: of those that can be installed. What cannot is left out."""
        from loadstone.errors import EngineError, InputError, is_of_full_disk
        from loadstone.plan.release import Release
        from loadstone.plan.variant import Variant
        from loadstone.run import builds
        from loadstone.run.releases import spread

        while True:
            able = [one for one in among if one not in self.left_out]
            chosen = spread(able, TOGETHER_MAX)
            if len(chosen) < 2:
                raise InputError("fewer than two of these releases can be measured")
            left = len(self.left_out)
            for release in chosen:
                try:
                    variant = Variant(self._kind.name, release=Release(number=release))
                    builds.prepare([(variant, self._kind)])
                except EngineError as error:
                    if is_of_full_disk(error.message):
                        raise
                    self._leave_out(release, error.message)
            if len(self.left_out) == left:
                return chosen

    def _leave_out_of(self, planned: "Planned", error: "LoadstoneError") -> None:
        """Leave out the releases of a run whose engine does not start. Raises the error that ended
        the run where it is none of theirs."""
        from loadstone.errors import is_of_full_disk
        from loadstone.plan.variant import release_of
        from loadstone.run import session

        full = is_of_full_disk(f"{error.message} {error.hint}")
        found = {} if full else session.not_starting(planned)
        if not any(release_of(name) for name in found):
            raise error
        for name, why in found.items():
            if release_of(name) not in self.left_out:
                self._leave_out(release_of(name), why.message)

    def _leave_out(self, release: str, reason: str) -> None:
        from loadstone.diagnostics import say

        first = next(iter(reason.splitlines()), reason)  # an engine's own may have a drawing below
        self.left_out[release] = first
        say(f"loadstone: {release} is left out: {first}")

    def _gaps(self, found: "Sequence[Step]") -> "list[tuple[Sequence[str], tuple[str, ...]]]":
        """(releases, operations) of the runs that follow from the steps that changed."""
        gaps: dict[tuple[str, ...], dict[str, None]] = {}
        for step in found:
            inside = tuple(one for one in self._inside(step) if one not in self.left_out)
            if step.changed and len(inside) > 2:
                gaps.setdefault(inside, {})[step.operation] = None
        return [(releases, tuple(names)) for releases, names in gaps.items()]

    def _inside(self, step: "Step") -> "Sequence[str]":
        """The releases from a step's first to its last, those among them that were left out."""
        from loadstone.plan.variant import release_of

        first, last = (self._releases.index(release_of(v)) for v in (step.before, step.after))
        return self._releases[first : last + 1]

    def between(self, step: "Step") -> int:
        """The number of releases between a step's two."""
        return len(self._inside(step)) - 2

    def _planned(self, releases: "Sequence[str]", operations: "Sequence[str]") -> "Planned":
        from loadstone.run.planned import COMPARED, plan_from

        name, mark, tactics = self._engine.partition("?")
        chosen = dict(self._chosen)
        if operations and not chosen.get("sql"):
            chosen["operations"] = tuple(operations)
        elif not any(chosen.get(key) for key in ("operations", "sql", "preset")):
            chosen |= COMPARED
        on = tuple(f"{name}@{release}{mark}{tactics}" for release in releases)
        return plan_from({**chosen, "on": on}, None)

    def described(self) -> int:
        """Print the plan of the first run."""
        from loadstone.diagnostics import show_result
        from loadstone.run.planned import describe
        from loadstone.run.releases import spread

        show_result(f"releases: {', '.join(self._releases)}")
        show_result(describe(self._planned(spread(self._releases, TOGETHER_MAX), ())))
        return 0

    def reported(self, form: str) -> int:
        """Print what was found. Returns the exit code."""
        from loadstone.analysis.releases import outcome
        from loadstone.diagnostics import EXIT_OF_COMPARISON, console, show_result
        from loadstone.plan.variant import release_of
        from loadstone.report import releases as text
        from loadstone.run.releases import order

        found = sorted(self.steps, key=lambda s: (s.operation, s.rows, s.temperature,
                                                   order(release_of(s.before))))  # fmt: skip
        if form != "table":
            render = {"md": text.markdown, "json": text.as_json}[form]
            show_result(render(found, self.between, self.left_out).rstrip("\n"))
            return EXIT_OF_COMPARISON[outcome(found)]
        from loadstone.report.terminal_figures import FiguresTable

        for sentence in text.sentences(found, self.between, self.left_out):
            show_result(sentence)
        for one in text.by_cell(found):
            table = FiguresTable(*text.OF_STEP, title=one.title, title_justify="left")
            for row in one.rows:
                table.add_row(*row)
            console().print(table)
            for reason in one.reasons:
                show_result(reason)
        return EXIT_OF_COMPARISON[outcome(found)]


def _numbered(path: Path, number: int) -> Path:
    """The record of a search's later run stands beside the first one's."""
    return path if number == 1 else path.with_name(f"{path.stem}-{number}{path.suffix}")
