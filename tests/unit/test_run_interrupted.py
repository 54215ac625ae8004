"""A signal that ends a run while it is planned, before there is a record, is reported."""

import os
import signal

import pytest

from loadstone import cli, interruption
from loadstone.diagnostics import Exit, guarded
from loadstone.run import planned as planning
from loadstone.run.interrupts import Interrupts


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP, signal.SIGINT])
def test_a_signal_before_the_record_begins_is_an_interruption(monkeypatch, capsys, number):
    seen = []

    def planned(*_):
        seen.append(signal.getsignal(number))
        if callable(seen[0]):
            os.kill(os.getpid(), number)
        raise AssertionError("the signal would have ended the process without a word")

    before = signal.getsignal(number)
    monkeypatch.setattr(planning, "plan_from", planned)
    monkeypatch.setattr("sys.argv", ["loadstone", "run", "--quick"])
    assert guarded(cli._enter) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "loadstone: interrupted\n"
    assert callable(seen[0]) and seen[0] is not before
    assert signal.getsignal(number) is before
    assert interruption.ends_command() == (number != signal.SIGINT)
    interruption.dealt_with()
    assert not interruption.ends_command()


def test_ctrl_c_while_the_command_is_imported_is_reported(monkeypatch, capsys):
    """Typer ends there with the code alone."""

    def importing(name):
        raise KeyboardInterrupt

    monkeypatch.setattr(cli, "import_module", importing)
    monkeypatch.setattr("sys.argv", ["loadstone", "doctor"])
    assert guarded(cli._enter) == Exit.INTERRUPTED
    assert capsys.readouterr().err == "loadstone: interrupted\n"


def test_a_signal_is_heard_in_the_second_benchmark_as_in_the_first():
    """Once the data of the first was removed, no signal raised any more."""
    with Interrupts() as interrupts:
        interrupts.measuring()
        with interrupts.removing():
            pass
        os.kill(os.getpid(), signal.SIGTERM)  # nothing is measured: it waits
        with pytest.raises(KeyboardInterrupt):
            interrupts.measuring()
        interruption.dealt_with()
    with Interrupts() as interrupts:
        with interrupts.removing():
            pass
        interrupts.measuring()
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGTERM)
        interruption.dealt_with()
