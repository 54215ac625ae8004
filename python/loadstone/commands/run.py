"""`loadstone run`: the choices of a run as options; `session` does the work.

The options that make choices are those of `plan/choices.py`; only the others stand here.
"""

import inspect
from collections.abc import Callable, Collection, Iterator
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from loadstone.plan.choices import DEFINED, RUN, SHARE, Choice
from loadstone.planning.completion import OF_CHOICES

Quick = Annotated[bool, typer.Option("--quick", help="Use the quick preset, which takes seconds.")]
All = Annotated[
    bool,
    typer.Option(
        "--all", help="Run every benchmark's quick preset, if it has one, into one record and page."
    ),
]
Skew = Annotated[
    str | None,
    typer.Option(
        metavar="DISTRIBUTION",
        help="Run the edition whose data have unequal shares, as by zipf.",
    ),
]
PlanFile = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Read the choices from this TOML file.")
]
Record = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Write the record here, not to runs/NAME.loadstone."),
]
Resume = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE", help="Continue this record: measure missing cells, then disturbed ones."
    ),
]
DryRun = Annotated[
    bool, typer.Option("--dry-run", help="Print the plan, or what --resume has left; run nothing.")
]
PlanOnly = Annotated[bool, typer.Option("--dry-run", help="Print the plan; run nothing.")]
"""Of commands that resume nothing."""
Page = Annotated[bool, typer.Option("--report/--no-report", help="Write the HTML report, too.")]


Command = TypeVar("Command", bound=Callable[..., Any])


def taking(command: str, without: Collection[str] = ()) -> Callable[[Command], Command]:
    """Give a function of `**given` the options of a command's choices, `without` some; its own keep
    their order after them, but for `quick`, which follows `preset`."""

    def with_options(function: Command) -> Command:
        # By this Typer reads the options.
        vars(function)["__signature__"] = inspect.Signature(
            [*_parameters(function, command, without)]
        )
        return function

    return with_options


def _parameters(
    function: Callable[..., Any], command: str, without: Collection[str]
) -> Iterator[inspect.Parameter]:
    own = dict(inspect.signature(function).parameters)
    own = {name: each for name, each in own.items() if each.kind is each.KEYWORD_ONLY}
    for choice in DEFINED:
        if command in choice.option.commands and choice.name not in without:
            kind = _annotation(choice)
            yield inspect.Parameter(
                choice.name, inspect.Parameter.KEYWORD_ONLY, default=None, annotation=kind
            )
        if choice.name == "preset" and "quick" in own:
            yield own.pop("quick")
    yield from own.values()


def _annotation(choice: Choice) -> Any:
    """A choice as Typer declares it; None says that it was not made."""
    option = choice.option
    # A scale may be written as 1e5, and a share as 5%, which is text to a parser of numbers.
    item: Any = str if choice.name == "rows" or option.metavar == SHARE else choice.item
    kind = list[item] | None if choice.many else item | None
    complete = OF_CHOICES.get(choice.name)
    if not option.flag:
        return Annotated[
            kind,
            typer.Argument(metavar=option.metavar, help=option.help, autocompletion=complete),
        ]
    no = f"/--no-{option.flag.removeprefix('--')}" if choice.item is bool else ""
    metavar = option.metavar or None
    return Annotated[
        kind,
        typer.Option(option.flag + no, metavar=metavar, help=option.help, autocompletion=complete),
    ]


@taking(RUN)
def run(
    *,
    quick: Quick = False,
    every: All = False,
    skew: Skew = None,
    plan: PlanFile = None,
    record: Record = None,
    resume: Resume = None,
    dry_run: DryRun = False,
    page: Page = True,
    **given: Any,
) -> int:
    """Run a benchmark and write its report.

    Every answer is checked, and every cell is recorded as soon as it ends. Without options:
    Wisconsin (1993 edition) on SQLite, DuckDB and, if installed, PostgreSQL, warm and cold.

    A query of your own: loadstone run --sql 'SELECT …' --data FILE. Without --data it runs
    on the tables of the databases that --on names, which are only read. Tables and statements of
    your own: loadstone run ./FOLDER, with a file workload.toml in it.

    Exit codes: 0 all is well; 1 some cell failed; 2 a wrong option; 3 an engine is missing or
    broken; 4 the record cannot be written; 7 something may be left in a database of yours; 8 no
    figure is usable; 10 every cell is a gap; 11 variants of one engine answer differently; 130
    interrupted.
    """
    if quick:
        given["preset"] = "quick"
    chosen = made(given)
    if skew is not None:
        chosen = _skewed(
            chosen, plan, skew, instead="--all" if every else "--resume" if resume else ""
        )
    return started(chosen, plan, record, resume, dry_run=dry_run, page=page, every=every)


def _skewed(
    chosen: dict[str, Any], plan: Path | None, distribution: str, instead: str
) -> dict[str, Any]:
    """The choices with the edition of `--skew`; `instead`: the option that brings editions of its
    own, if any. Raises `InputError`."""
    from loadstone.errors import InputError
    from loadstone.run.skew import skewed

    if instead:
        raise InputError(
            f"{instead} brings its own data, and --skew others", hint="leave out --skew"
        )
    return skewed(chosen, plan, distribution)


def started(
    chosen: dict[str, Any],
    plan: Path | None,
    record: Path | None,
    resume: Path | None,
    *,
    dry_run: bool,
    page: bool,
    study: bool = False,
    every: bool = False,
) -> int:
    """Start or resume a run, one of `every` benchmark, or a `study`, or print its plan or what is
    left of it. Returns the exit code."""
    from loadstone.diagnostics import Exit, say
    from loadstone.run.interrupts import Interrupts

    # From before the rest is imported: a signal that comes while it is planned is reported, too.
    # Typer would end without a word.
    try:
        with Interrupts():
            return _started(
                chosen, plan, record, resume, dry_run=dry_run, page=page, study=study, every=every
            )
    except KeyboardInterrupt:
        say("loadstone: interrupted")
        return Exit.INTERRUPTED


def _started(
    chosen: dict[str, Any],
    plan: Path | None,
    record: Path | None,
    resume: Path | None,
    *,
    dry_run: bool,
    page: bool,
    study: bool,
    every: bool,
) -> int:
    from loadstone import measuring
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError
    from loadstone.run import chapters, planned, resumption

    if resume is not None:
        for option, file in (("--plan", plan), ("--record", record)):
            if file is not None:
                raise InputError(
                    f"--resume takes plan and record from its file; {option} names another",
                    hint=f"leave out {option}, or start anew without --resume",
                )
        if every:
            raise InputError(
                "--resume takes its benchmarks from the record; --all cannot be added",
                hint="leave out --all, or start anew without --resume",
            )
        resumption.refuse_other_kind(resume, study=study)
        if dry_run:
            show_result(resumption.describe_left(resume, chosen))
            return 0
        return measuring.resume(resume, chosen, page=page)
    if every:
        several = chapters.plan_all(chosen, plan)
        if dry_run:
            show_result(chapters.describe_all(several))
            return 0
        return measuring.start(several, record, page=page)
    one = planned.plan_from(chosen, plan)
    if dry_run:
        show_result(planned.describe(one))
        return 0
    return measuring.start(one, record, page=page)


def made(given: dict[str, Any]) -> dict[str, Any]:
    """The choices that were made by options; a scale may be written as 1e5."""
    from loadstone.text.parsing import whole_number

    rows = [whole_number(text, "--rows") for text in given.get("rows") or ()]
    return {n: value for n, value in {**given, "rows": rows}.items() if value not in (None, [])}
