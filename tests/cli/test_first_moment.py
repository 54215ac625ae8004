"""A signal that comes while the command is still imported ends it with a word."""

import os
import signal
import subprocess
import sys

import pytest

from loadstone.diagnostics import Exit

BEGIN = """
import os, sys

at = sys.argv.pop(1)

class Signalling:
    def find_spec(self, name, *rest):
        if name == at:
            os.kill(os.getpid(), {number})

sys.meta_path.insert(0, Signalling())
from loadstone.__main__ import main
main()
"""
"""The command, to which a signal comes when the module of its first argument is imported."""
AGAIN = """
import loadstone.diagnostics

reported = loadstone.diagnostics.say

def say(text):
    os.kill(os.getpid(), {again})
    reported(text)

loadstone.diagnostics.say = say
"""
"""A second signal comes while the first is reported."""


def begun(
    number: signal.Signals, at: str, ignored: bool = False, begin: str = BEGIN
) -> subprocess.CompletedProcess:
    return subprocess.run(
        [sys.executable, "-c", begin.format(number=int(number)), at, "tactics", "sqlite"],
        capture_output=True,
        text=True,
        timeout=100,
        check=False,
        preexec_fn=lambda: signal.signal(number, signal.SIG_IGN if ignored else signal.SIG_DFL),
        env=dict(os.environ),
    )


@pytest.mark.parametrize("at", ["typer", "loadstone.commands.tactics"])
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_during_the_imports_is_reported(number, at):
    ended = begun(number, at)
    reported = (ended.returncode, ended.stdout, ended.stderr)
    assert reported == (Exit.INTERRUPTED, "", "loadstone: interrupted\n")


def test_a_signal_that_the_caller_ignores_is_ignored():
    """As under nohup."""
    ended = begun(signal.SIGHUP, "typer", ignored=True)
    assert (ended.returncode, ended.stderr) == (Exit.OK, "")
    assert "sqlite" in ended.stdout


@pytest.mark.parametrize("again", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_while_another_is_reported_ends_with_the_same_code(again):
    """Python itself would end as if by SIGINT, with a traceback."""
    begin = BEGIN.replace("from loadstone.__main__", AGAIN.format(again=int(again)) + "\nfrom"
                          " loadstone.__main__")  # fmt: skip
    ended = begun(signal.SIGHUP, "typer", begin=begin)
    assert (ended.returncode, ended.stdout, ended.stderr) == (Exit.INTERRUPTED, "", "")


IN_A_TEXT = """
import os

import loadstone.cli
import loadstone.diagnostics
from loadstone.__main__ import main

def run():
    loadstone.diagnostics.say("begun")
    exec("os.kill(os.getpid(), 15)")

loadstone.cli.{replaced} = run
main()
"""


@pytest.mark.parametrize("replaced", ["main", "_enter"])
def test_a_signal_in_a_text_that_is_executed_ends_with_the_code_too(tmp_path, replaced):
    """As those by which dataclasses are made; only a module (`python -m`) would end by SIGINT."""
    (tmp_path / "planted.py").write_text(IN_A_TEXT.format(replaced=replaced))
    ended = subprocess.run(
        [sys.executable, "-m", "planted"],
        capture_output=True, text=True, timeout=100, check=False, cwd=tmp_path,
    )  # fmt: skip
    reported = (ended.returncode, ended.stdout, ended.stderr)
    assert reported == (Exit.INTERRUPTED, "", "begun\nloadstone: interrupted\n")
