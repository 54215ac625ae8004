"""`loadstone tactics` as a user runs it: tactics, in full where the code shows it."""

import json
import re
from pathlib import Path

import pytest

from loadstone import lode
from loadstone.commands.tactics import COLUMNS_MAX
from loadstone.diagnostics import Exit

SENTENCES = ("does", "buys", "costs", "loses", "excludes", "source")


def squeezed(text):
    return "".join(text.split())


def test_lode_is_described_as_its_code_describes_it(desk):
    done = desk.run("tactics", "lode")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert max(map(len, done.stdout.splitlines())) <= COLUMNS_MAX
    for tactic in lode.tactics():
        assert f"default: {tactic['default']}" in done.stdout
        assert all(value in done.stdout for value, _ in tactic["values"])
        # A sentence is wrapped in its column, with the lead before its first line.
        lines = done.stdout.splitlines()
        at = next(line.index("default: ") for line in lines if "default: " in line)
        rows = [line[at:] for line in lines]
        for key in SENTENCES:
            assert squeezed(tactic[key]) in squeezed("".join(rows)), (tactic["name"], key)


def test_one_tactic_alone(desk):
    done = desk.run("tactics", "lode", "durability", "--format", "json")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    (engine,) = json.loads(done.stdout)["engines"]
    (tactic,) = engine["tactics"]
    assert (engine["engine"], tactic["name"], tactic["default"]) == ("lode", "durability", "full")
    assert [value["value"] for value in tactic["values"]] == ["full", "group", "none"]
    assert all(tactic[key] for key in SENTENCES)


def test_a_run_of_lode_may_have_a_default_of_its_own(desk):
    (engine,) = json.loads(desk.run("tactics", "lode", "--format", "json").stdout)["engines"]
    found = {tactic["name"]: tactic for tactic in engine["tactics"]}
    seams = {(tactic["name"], tactic["behind"]) for tactic in engine["tactics"]}
    assert len(seams) == len(engine["tactics"])
    assert found["cache"]["default"] == "67108864"
    assert found["cache"]["default_of_runs"] == "268435456"
    assert found["durability"]["default_of_runs"] is None
    assert found["access"]["behind"] == "calling program"
    assert "default: 67108864, in a run 268435456" in desk.run("tactics", "lode", "cache").stdout


def test_a_place_has_the_values_of_statements_and_those_of_calling_programs(desk):
    done = desk.run("tactics", "lode", "place", "--format", "json")
    (engine,) = json.loads(done.stdout)["engines"]
    values = {
        tactic["behind"]: [value["value"] for value in tactic["values"]]
        for tactic in engine["tactics"]
    }
    assert values == {
        "statements": ["embedded", "thread", "server"],
        "calling program": ["embedded", "server"],
    }


def test_other_engines_have_what_they_declare(desk):
    done = desk.run("tactics", "sqlite", "--format", "json")
    (engine,) = json.loads(done.stdout)["engines"]
    found = {(row["name"], row["behind"]): row["values"] for row in engine["tactics"]}
    assert len({row["name"] for row in engine["tactics"]}) == len(engine["tactics"])
    assert found["durability", "statements and calling program"][0] == {
        "value": "full",
        "about": "A commit survives a loss of power.",
    }
    assert ("access", "calling program") in found
    assert all(row[key] for row in engine["tactics"] for key in (*SENTENCES, "level"))
    assert "durability" in desk.run("tactics", "sqlite").stdout


def test_the_list_names_every_engine(desk):
    done = desk.run("tactics")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    listed = json.loads(desk.run("tactics", "--format", "json").stdout)["engines"]
    names = [engine["engine"] for engine in listed]
    assert {"lode", "sqlite", "duckdb", "null", "lmdb"} <= set(names)
    assert all(name in done.stdout for name in names)


@pytest.mark.parametrize(
    ("words", "hint"), [(("nosuch",), "lode"), (("lode", "nosuch"), "durability")]
)
def test_an_unknown_name_is_reported_with_the_known_ones(desk, words, hint):
    done = desk.run("tactics", *words)
    assert (done.returncode, done.stdout) == (Exit.INPUT, "")
    assert "nosuch" in done.stderr
    assert hint in done.stderr


def test_profiles_are_listed_with_every_value_and_its_reason(desk):
    done = desk.run("tactics", "lode", "profile", "--format", "json")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    (engine,) = json.loads(done.stdout)["engines"]
    (tactic,) = engine["tactics"]
    names = [profile["name"] for profile in engine["profiles"]]
    assert [value["value"] for value in tactic["values"]] == ["none", *names]
    known = {row["name"]: {name for name, _ in row["values"]} for row in lode.tactics()}
    for profile in engine["profiles"]:
        assert profile["settings"]
        for name, value, reason in profile["settings"]:
            assert value in known[name] or value.isdecimal()
            assert reason
    assert "profiles" not in desk.run("tactics", "lode", "join", "--format", "json").stdout


def test_the_list_of_profiles_is_kept(desk, pytestconfig):
    done = desk.run("tactics", "lode", "profile")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    kept = Path(__file__).parents[1] / "golden" / "tactics-lode-profile.txt.golden"
    if pytestconfig.getoption("update_golden"):
        kept.write_text(done.stdout)
    assert done.stdout == kept.read_text()


def test_the_table_of_engines_cuts_no_value(desk):
    done = desk.run("engines", COLUMNS="80")
    assert (done.returncode, done.stderr) == (Exit.OK, "")
    assert max(map(len, done.stdout.splitlines())) <= 80
    # The dots of a family of tactics, `optimizer.…=on|off`, are not those of a cut.
    assert re.findall(r"\S*…(?!=)", done.stdout) == []
