"""The command line: parses and dispatches. Each command lives in `commands/`, one file each, and
is imported when it is requested."""

import sys
from collections.abc import Iterator, Mapping
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from loadstone import secret
from loadstone.diagnostics import (
    Exit,
    fill_standard_streams,
    guarded,
    outlast_readers,
    say,
    show_result,
    written,
)
from loadstone.errors import InputError

COMMANDS = {
    "run": ("loadstone.commands.run", "Run a benchmark and write its report."),
    "study": ("loadstone.commands.study", "Measure what each switch of an engine changes."),
    "report": ("loadstone.commands.report", "Turn a record into a report."),
    "compare": ("loadstone.commands.compare", "Compare two records, or variants of one."),
    "ab": ("loadstone.commands.ab", "Measure a change, before and after, for a CI job."),
    "bisect": (
        "loadstone.commands.bisect",
        "Find the release of an engine in which a time or an answer changed.",
    ),
    "log": (
        "loadstone.commands.log",
        "List the records of a folder, what each found, and what changed.",
    ),
    "bless": ("loadstone.commands.bless", "Store the answers of a run of your own workload."),
    "engines": ("loadstone.commands.engines", "List the engines, and how each is driven."),
    "tactics": ("loadstone.commands.tactics", "List the tactics of engines."),
    "benchmarks": ("loadstone.commands.benchmarks", "List the benchmarks and their operations."),
    "data": ("loadstone.commands.data", "Write a benchmark's relations to files."),
    "quel": ("loadstone.commands.quel", "Show a QUEL program's tree, its SQL and its answer."),
    "clean": ("loadstone.commands.clean", "Remove what killed runs left behind."),
    "doctor": ("loadstone.commands.doctor", "List what this machine can measure and prove."),
    "lode": ("loadstone.commands.lode", "Query, serve, mirror or copy lode databases."),
}
"""The module of each command, which has it as the function of its name or as `app`; and the first
line of its help, so that `loadstone --help` need not import them."""


UNJUDGED = ("--users", "--rate", "--ramp", "--writers", "--loop-seconds")
"""Options of loops of users, which have no verdict: what compares variants takes none."""


class _Built(Mapping[str, Any]):
    """The commands, each imported and built when it is first looked up."""

    def __init__(self) -> None:
        self._built: dict[str, Any] = {}

    def __getitem__(self, name: str) -> Any:
        if name not in self._built:
            module = vars(import_module(COMMANDS[name][0]))
            inner = module.get("app")
            if inner is None:
                inner = typer.Typer(add_completion=False, rich_markup_mode=None)
                inner.command(name)(module[name])
            self._built[name] = typer.main.get_command(inner)
        return self._built[name]

    def __iter__(self) -> Iterator[str]:
        return iter(COMMANDS)

    def __len__(self) -> int:
        return len(COMMANDS)


class _Commands(TyperGroup):
    """The program itself. Its own help builds no command."""

    def __init__(self, **settings: Any) -> None:
        super().__init__(**settings)
        self.commands = _Built()  # type: ignore[assignment]

    def list_commands(self, ctx: Any) -> list[str]:
        del ctx
        return [*COMMANDS]

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl([(name, summary) for name, (_, summary) in COMMANDS.items()])


app = typer.Typer(
    name="loadstone",
    cls=_Commands,
    help="Run the classic database benchmarks on today's engines, check every answer,"
    " and explain each difference.",
    epilog="Start with: loadstone run --quick. During a run, databases lie in a scratch"
    " folder; set LOADSTONE_SCRATCH to choose where.",
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _version(wanted: bool) -> None:
    if wanted:
        from loadstone._core import __version__, build_profile

        show_result(f"loadstone {__version__} ({build_profile})")
        raise typer.Exit


@app.callback()
def _options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    pass


def main() -> int:
    """Run the `loadstone` command. Returns its exit code."""
    fill_standard_streams()
    if sys.platform != "linux":
        say(f"loadstone: this is {sys.platform}; Loadstone runs on Linux only")
        say("  it needs Linux to prove coldness and to count work; use a virtual machine")
        return Exit.INPUT
    outlast_readers()
    return written(guarded(_enter))


def _enter() -> int:
    for place, text in enumerate(sys.argv[1:], 1):
        try:
            text.encode()
        except UnicodeEncodeError as error:
            raise InputError(
                f"argument {place} is not valid UTF-8: {text}",
                hint="write the text in UTF-8; of a file's name, rename it, or make a link to it",
            ) from error
    secret.at_the_door(say)
    return _invoke()


def _invoke() -> int:
    """Run Typer's app; say its usage errors in our way."""
    from typer.exceptions import Abort, TyperException
    from typer.exceptions import Exit as Exited

    try:
        # Not `python -m loadstone`, which is no command that a shell could complete.
        code = app(standalone_mode=False, prog_name="loadstone")
    except Abort as error:
        raise KeyboardInterrupt from error
    except Exited as error:
        return error.exit_code
    except TyperException as error:
        context = getattr(error, "ctx", None)
        if type(error).__name__ == "NoArgsIsHelpError":
            show_result(context.get_help() if context else "")
            return 0
        command = context.command_path if context else "loadstone"
        option = getattr(error, "option_name", "")
        if option in UNJUDGED and command.split()[-1] in ("ab", "bisect"):
            raise InputError(
                f"{command} takes no {option}: loops of users are not judged",
                hint="run them apart, and set their tables side by side: loadstone run --users",
            ) from error
        raise InputError(_plain(error.format_message()), hint=f"see {command} --help") from error
    if code == Exit.INTERRUPTED and not isinstance(code, Exit):
        raise KeyboardInterrupt  # that Typer took for an exit; a run's own is reported already
    return code if isinstance(code, int) else 0


_PARSER_S_WORDS = (
    ("Input should be a valid integer, unable to parse string as an integer", "no whole number"),
    ("Input should be a valid number, unable to parse string as a number", "no number"),
    ("Value error, ", ""),
    ("Possible options:", "did you mean"),
)
"""The option parser's words, and plain ones."""


def _plain(message: str) -> str:
    for theirs, ours in _PARSER_S_WORDS:
        message = message.replace(theirs, ours)
    return message


if __name__ == "__main__":
    main()
