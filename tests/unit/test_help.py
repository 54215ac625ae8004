"""The help of every command, as a user meets it: nothing cut, what to do in the imperative, and no
word that only Python knows."""

import re
from pathlib import Path

import pytest
from typer.main import get_command

from loadstone import commands
from loadstone.cli import COMMANDS as SUMMARIES
from loadstone.cli import app

ROOT = get_command(app)
VERBS = re.compile(
    r"(Add|Ask|Choose|Clean|Compare|Compress|Continue|Copy|Count|Create|Disable|Draw|End|Fail"
    r"|Fill|Find|Install|Let|List|Listen|Load|Mark|Measure|Open|Overwrite|Print|Query|Read"
    r"|Remove|Repeat|Run|Say|Send|Serve|Show|Stop|Store|Switch|Take|Turn|Use|Write)\b"
)


def visited(command=ROOT, path=()):
    yield path, command
    for name, child in getattr(command, "commands", {}).items():
        yield from visited(child, (*path, name))


def helped(path, width):
    context = None
    command = ROOT
    for name in (None, *path):
        if name is not None:
            command = command.commands[name]
        context = command.make_context(
            name or "loadstone", [], parent=context, resilient_parsing=True, terminal_width=width,
            max_content_width=width,
        )  # fmt: skip
    return command.get_help(context)


COMMANDS = [pytest.param(path, command, id=" ".join(("loadstone", *path)))
            for path, command in visited()]  # fmt: skip


@pytest.mark.parametrize("width", [60, 80])
@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_nothing_is_cut_and_nothing_is_too_wide(path, command, width):
    text = helped(path, width)
    assert "..." not in text.replace("[ARGS]...", "")
    assert not [line for line in text.splitlines() if len(line) > width]


@pytest.mark.parametrize(("path", "command"), COMMANDS)
def test_help_reports_what_to_do_and_names_no_type(path, command):
    assert not re.search(r"--[\w-]+ <(list|str|int|float|path|bool)\b", helped(path, 80))
    assert not path or VERBS.match(command.help), command.help
    for parameter in command.params:
        said = getattr(parameter, "help", None)
        assert said, f"{parameter.name} says nothing"
        assert VERBS.match(said), said
        assert said.endswith((".", '"range of t is …"')), said


def test_an_option_is_called_the_same_in_every_command():
    called = {}
    for path, command in visited():
        for option in (one for one in command.params if one.param_type_name == "option"):
            for name in option.opts:
                called.setdefault(name, {}).setdefault(frozenset(option.opts), path)
    apart = {name: ways for name, ways in called.items() if len(ways) > 1}
    assert not apart


@pytest.mark.parametrize("name", SUMMARIES)
def test_the_list_of_commands_says_of_each_what_its_own_help_says(name):
    command = ROOT.commands[name]
    assert command.name == name
    assert command.get_short_help_str(1000) == SUMMARIES[name][1]


def test_every_command_is_listed():
    files = {path.stem for path in Path(commands.__file__).parent.glob("*.py")}
    below = {f"{name}_{inner}" for name, one in ROOT.commands.items()
             for inner in getattr(one, "commands", ())}  # fmt: skip
    assert files - {"__init__"} - below == {*SUMMARIES}
