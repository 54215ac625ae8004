"""For a user an engine is one, whether statements or a calling program drive it."""

import json

import pytest
from typer.testing import CliRunner

from loadstone import registry
from loadstone.benchmarks.oo1.database import Database
from loadstone.cli import app
from loadstone.errors import InputError
from loadstone.plan.variant import Variant
from loadstone.run.planned import plan_from

OF_THE_OTHER = [
    ("oo1", "sqlite?cache=64MiB", "cache", "is one of statements", "wisconsin"),
    ("wisconsin", "sqlite?access=objects", "access", "is one of a client program", "oo1"),
    ("wisconsin", "lode?detect=explicit", "detect", "is one of a client program", "oo1"),
]


@pytest.mark.parametrize(("benchmark", "on", "tactic", "message", "taker"), OF_THE_OTHER)
def test_a_tactic_of_the_other_road_is_called_so(benchmark, on, tactic, message, taker):
    with pytest.raises(InputError) as caught:
        plan_from({"benchmark": benchmark, "on": [on]}, None)
    assert f"'{tactic}' {message}" in caught.value.message
    assert "has no tactic" not in caught.value.message
    assert f"{taker} " in caught.value.hint or f"{taker}," in caught.value.hint
    assert "did you mean" not in caught.value.hint


def test_a_study_that_varies_a_tactic_of_the_other_road_is_told_the_same():
    chosen = {"benchmark": "wisconsin", "design": "two-ended", "on": ["sqlite"]}
    with pytest.raises(InputError, match="is one of a client program"):
        plan_from(chosen | {"vary": ["access"]}, None)


def test_a_tactic_of_no_road_is_still_one_that_there_is_not():
    with pytest.raises(InputError, match="has no tactic 'cachee'") as caught:
        plan_from({"benchmark": "wisconsin", "on": ["sqlite?cachee=1MiB"]}, None)
    assert caught.value.hint.startswith("did you mean cache?")


def test_every_road_to_an_engine_shows_a_version():
    """That of a client was called `built in`."""
    listed = json.loads(CliRunner().invoke(app, ["engines", "--format", "json"]).stdout)
    for engine in listed["engines"]:
        if engine["engine"] in ("sqlite", "duckdb", "lmdb", "lode", "postgresql"):
            for road in engine["roads"]:
                shown = road.get("versions", {}).get(engine["engine"], "")
                assert shown[:1].isdigit() or "by URL" in shown or "unavailable" in road, road


ROADS = {
    "sqlite": {"synchronous", "statistics", "temp_store", "locking_mode", "wal_autocheckpoint",
               "encoding", "page_size", "journal_mode", "threads", "threadsafe"},
}  # fmt: skip
"""Terms that both roads must have in the same words, where nothing but the road differs."""
SAME = ("synchronous", "temp_store", "locking_mode", "encoding", "journal_mode")


@pytest.mark.parametrize("name", ROADS)
def test_terms_have_the_same_names_and_words_on_both_roads(name, tmp_path):
    found = {}
    for seam in registry.ROADS:
        kind = registry.load_system(seam, name)
        scratch = tmp_path / seam
        scratch.mkdir()
        system = kind(Variant(name), scratch, "00000000")
        if seam == "clients":
            system.expect(Database(200))
        system.start()
        try:
            found[seam] = dict(system.terms())
        finally:
            system.stop()
    for term in ROADS[name]:
        assert {f"setting.{term}" in terms for terms in found.values()} == {True}, term
    for term in SAME:
        assert len({terms[f"setting.{term}"] for terms in found.values()}) == 1, term
    for terms in found.values():
        assert " tables, " in terms["setting.statistics"]
