"""Completion in a shell, suggestions for a mistyped name, and tables as JSON."""

import json
import sys

import pytest
import shellingham
from typer.main import get_command
from typer.testing import CliRunner

from loadstone import registry
from loadstone.cli import app, main
from loadstone.errors import InputError
from loadstone.plan.variant import parse_variant
from loadstone.planning import completion
from loadstone.run.planned import plan_from


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("loadstone run wis", ["wisconsin"]),
        ("loadstone run --on duck", ["duckdb"]),
        ("loadstone run --operation select-1%-h", ["select-1%-heap"]),
        ("loadstone run --preset qui", ["quick"]),
        ("loadstone run --temperature h", ["hot"]),
        ("loadstone report --format par", ["parquet"]),
        ("loadstone ab --before sql", ["sqlite"]),
        ("loadstone tactics lod", ["lode"]),
        ("loadstone run --on nothing-like-it", []),
        ("loadstone run sysbench:oltp_read_o", ["sysbench:oltp_read_only"]),
        ("loadstone run pgb", ["pgbench:tpcb-like", "pgbench:select-only"]),
        ("loadstone bisect duck", ["duckdb"]),
        ("loadstone run --on sqlite?durab", ["sqlite?durability=full", "sqlite?durability=none"]),
        ("loadstone run --on nothing?durab", []),
        ("loadstone run --on sqlite?nothing", []),
    ],
)
def test_a_shell_completes_values(words: str, found: list[str]) -> None:
    environment = {"_LOADSTONE_COMPLETE": "complete_bash", "COMP_WORDS": words,
                   "COMP_CWORD": str(len(words.split()) - 1)}  # fmt: skip
    done = CliRunner().invoke(app, [], prog_name="loadstone", env=environment)
    reported = done.stdout.split()
    assert reported == found or (found and set(found) <= set(reported) and len(reported) < 20)


def test_completion_is_set_up_for_the_command_however_it_was_called(monkeypatch, capfd) -> None:
    monkeypatch.setattr(
        sys, "argv", ["/any/where/loadstone/__main__.py", "--show-completion", "bash"]
    )
    monkeypatch.setattr(sys.modules["__main__"], "__package__", "loadstone", raising=False)
    # Whatever started the tests: below make it is sh, for which there is no completion.
    monkeypatch.setattr(shellingham, "detect_shell", lambda: ("bash", "/bin/bash"))
    with pytest.raises(SystemExit) as ended:
        main()
    assert not ended.value.code
    shown = capfd.readouterr().out
    assert "_LOADSTONE_COMPLETE=complete_bash" in shown
    assert shown.rstrip().endswith(" loadstone")


def test_operations_of_every_benchmark_are_offered() -> None:
    offered = completion.operations("")
    assert {"select-1%-heap", "lookup"} <= set(offered)


@pytest.mark.parametrize(
    ("call", "meant"),
    [
        (lambda: registry.load_engine("sqlit"), "did you mean sqlite?"),
        (lambda: registry.load_benchmark("wisconsn"), "did you mean wisconsin?"),
        (lambda: plan_from({"operations": ("jion-*",)}, None), "did you mean join-*"),
        (lambda: registry.load_report("parqet"), "did you mean parquet?"),
        (lambda: parse_variant("sqlite?cach=1", frozenset({"cache"})), "did you mean cache?"),
    ],
)
def test_a_mistyped_name_has_its_like(call, meant: str) -> None:
    with pytest.raises(InputError) as caught:
        call()
    assert meant in caught.value.hint


def test_a_name_that_is_like_none_has_the_list_alone() -> None:
    with pytest.raises(InputError) as caught:
        registry.load_engine("xyzzy")
    assert caught.value.hint.startswith("installed: ")


@pytest.mark.parametrize("words", [["engines"], ["benchmarks"], ["benchmarks", "oo1"], ["tactics"]])
def test_every_list_is_to_be_had_as_json(words: list[str], capsys) -> None:
    get_command(app)([*words, "--format", "json"], standalone_mode=False)
    (members,) = json.loads(capsys.readouterr().out).values()
    assert len(members) == (1 if len(words) > 1 else len(members)) and members
    assert all(isinstance(member, dict) for member in members)


def test_engines_as_json_say_which_releases_can_be_chosen(capsys) -> None:
    get_command(app)(["engines", "--format", "json"], standalone_mode=False)
    reported = json.loads(capsys.readouterr().out)["engines"]
    names = [one["engine"] for one in reported]
    assert len(set(names)) == len(names)
    chosen = {
        one["engine"] for one in reported if any(road.get("releases") for road in one["roads"])
    }
    assert {"duckdb", "sqlite"} <= chosen and "lode" not in chosen
    (sqlite,) = (one for one in reported if one["engine"] == "sqlite")
    assert [road["driven_by"] for road in sqlite["roads"]] == ["statements", "client"]
