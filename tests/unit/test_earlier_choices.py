"""A choice by the name of an earlier release is refused, and the message says the name of now."""

import sys
from pathlib import Path

import pytest

from loadstone import cli
from loadstone.benchmarks.wisconsin.benchmark import WisconsinBenchmark
from loadstone.engines.tactic import Level, Tactic
from loadstone.errors import InputError
from loadstone.plan.choices import DEFINED, Choices
from loadstone.plan.earlier_names import CHOICES, VALUES, operation_now, option_now
from loadstone.plan.written_choices import read_choices
from loadstone.planning.planner import make_plan


@pytest.mark.parametrize(
    ("option", "now"),
    [
        ("--panel", "--preset"),
        ("--floor", "--overhead"),
        ("--no-floor", "--no-overhead"),
        ("--awake", "--disable-idle-states"),
        ("--no-awake", "--no-disable-idle-states"),
    ],
)
def test_an_option(monkeypatch: pytest.MonkeyPatch, option: str, now: str) -> None:
    monkeypatch.setattr(sys, "argv", ["loadstone", "run", option])
    with pytest.raises(InputError, match=f"no option {option}") as caught:
        cli._invoke()
    assert f"it is called {now} now" in caught.value.hint


@pytest.mark.parametrize("command", ["report", "compare"])
def test_an_option_that_the_command_never_had(monkeypatch: pytest.MonkeyPatch, command: str):
    monkeypatch.setattr(sys, "argv", ["loadstone", command, "--floor"])
    with pytest.raises(InputError, match="--floor") as caught:
        cli._invoke()
    assert "--overhead" not in caught.value.hint


OPERATIONS = {
    "select-one-clustered-host": "select-one-clustered-client",
    "delete-indexed": "delete-clustered or delete-nonclustered",
}


@pytest.mark.parametrize(("name", "now"), OPERATIONS.items())
def test_an_operation(monkeypatch: pytest.MonkeyPatch, name: str, now: str) -> None:
    benchmark = WisconsinBenchmark()
    with pytest.raises(InputError, match=f"no operation '{name}'") as caught:
        make_plan(Choices(operations=(name,)), benchmark, [], {})
    assert caught.value.hint.startswith(f"it is called {now} now; ")
    asked = ["loadstone", "benchmarks", "wisconsin", "--inputs", name]
    monkeypatch.setattr(sys, "argv", asked)
    with pytest.raises(InputError, match=f"no operation '{name}'") as caught:
        cli._invoke()
    assert caught.value.hint.startswith(f"it is called {now} now; ")


def test_an_operation_that_never_was() -> None:
    assert operation_now("scan-host", ("select-client",)) == ()
    assert operation_now("select-client", ("select-client",)) == ()


@pytest.mark.parametrize(("name", "now"), CHOICES.items())
def test_a_plan_file(tmp_path: Path, name: str, now: str) -> None:
    file = tmp_path / "plan.toml"
    file.write_text(f"{name} = true\n")
    with pytest.raises(InputError, match=f"{name} is no choice any more") as caught:
        read_choices(file)
    assert f"it is called {now} now" in caught.value.hint


@pytest.mark.parametrize(("named", "now"), VALUES.items())
def test_a_value_of_a_tactic(named: tuple[str, str], now: str) -> None:
    name, value = named
    tactic = Tactic(name, Level.SESSION, ((now, ""), ("another", "")))
    with pytest.raises(InputError, match=f"no {name}={value} any more") as caught:
        tactic.checked(value, "lode")
    assert caught.value.hint == f"it is called {name}={now} now"
    assert tactic.checked(now, "lode") == now
    with pytest.raises(InputError, match="cannot set") as caught:
        tactic.checked("bogus", "lode")
    assert caught.value.hint == f"it takes: {now}, another"


def test_the_names_of_now_are_choices_and_options() -> None:
    for now in CHOICES.values():
        assert hasattr(Choices(), now)
        assert option_now(f"--{now.replace('_', '-')}") == ""
        assert now in {choice.name for choice in DEFINED}
    assert option_now("--bogus") == ""
