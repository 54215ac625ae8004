"""Spark without a cluster: names, words for settings, declared gaps."""

from pathlib import Path

import pytest

from loadstone import registry
from loadstone.engines.capabilities import Attribute, Capabilities
from loadstone.engines.ownership import Space
from loadstone.engines.spark import installed, shared_folder
from loadstone.engines.spark.address import address_in
from loadstone.engines.spark.cluster import _escaped
from loadstone.engines.spark.engine import SparkEngine
from loadstone.engines.spark.session import failed
from loadstone.engines.spark.settings import EXECUTIONS, JOINS, TACTICS, in_common_words, of_session
from loadstone.engines.spark.tables import Folders, columns_of, stored_name, text_of
from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.plan.choices import Choices
from loadstone.plan.variant import Variant, engine_of, parse_variant
from loadstone.planning.planner import make_plan

DEFAULTS = {name: tactic.default for name, tactic in TACTICS.items()}


def test_names_that_sparks_catalog_would_change_are_stored_otherwise() -> None:
    assert stored_name("tenktup1_heap_10000") == "tenktup1_heap_10000"
    odd = ("UPPER", "upper", "a b", "ä", "x__61", "1st", "a`b", "")
    assert len({stored_name(name) for name in odd}) == len(odd)
    assert all(stored_name(name).isascii() for name in odd)
    assert stored_name(stored_name("UPPER")) != stored_name("upper")


@pytest.mark.parametrize("tactic", ["join", "execution", "adaptive", "reader", "compression"])
def test_every_value_of_a_sessions_tactic_is_read_back_as_itself(tactic: str) -> None:
    for value in TACTICS[tactic].names:
        settings = of_session({**DEFAULTS, tactic: value}, "UTC")
        assert in_common_words(settings.__getitem__)[tactic] == value


def test_settings_that_no_value_stands_for_are_shown_as_they_are() -> None:
    settings = of_session(DEFAULTS, "UTC") | {"spark.sql.autoBroadcastJoinThreshold": "odd"}
    assert "odd" in in_common_words(settings.__getitem__)["join"]
    assert len(set(JOINS.values())) == len(JOINS)
    assert len(set(EXECUTIONS.values())) == len(EXECUTIONS)


def test_columns_are_in_sparks_words() -> None:
    own = (Attribute("a", "int2"), Attribute("b`", "char(52)"), Attribute("c", "decimal(10,2)"))
    assert columns_of(own) == "`a` SMALLINT, `b``` STRING, `c` DECIMAL(10,2)"


def test_a_relation_that_was_never_completed_is_removed(tmp_path: Path) -> None:
    folders = Folders(tmp_path)
    folders.make()
    folders.finish("whole", folders.begin("whole"), "`a` INT")
    half = folders.of("half")
    half.mkdir()
    (half / "part-0.parquet").write_bytes(b"x")
    folders.make()
    assert dict(folders.complete()) == {"whole": "`a` INT"}
    assert not half.exists()


def test_a_property_survives_javas_reading() -> None:
    assert _escaped("a\\b=ä\n😀") == "a\\\\b=\\u00e4\\u000a\\ud83d\\ude00"


def test_without_the_extra_its_install_command_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(installed, "_distribution", lambda _: None)
    with pytest.raises(NotInstalledError) as caught:
        SparkEngine.check(Variant("spark"))
    assert "pip install 'loadstone[spark]'" in caught.value.hint
    probe = SparkEngine.probe(Path("/nonexistent"))
    assert probe is not None
    assert probe.works is False
    assert "loadstone[spark]" in probe.remedy


def test_a_text_is_quoted_for_a_statement() -> None:
    assert text_of("it's \\ here") == "'it\\'s \\\\ here'"


@pytest.mark.parametrize(
    ("text", "name", "as_spark_reads_it", "folder"),
    [
        ("spark://h:1/mnt/x?join=merge", "spark://h:1/mnt/x?join=merge", "spark://h:1", "/mnt/x"),
        ("spark://h/mnt/x", "spark://h/mnt/x", "spark://h:7077", "/mnt/x"),
        ("spark://127.0.0.1:1", "spark://127.0.0.1:1", "spark://127.0.0.1:1", None),
        ("sc://h/mnt/x?use_ssl=true", "sc://h/mnt/x", "sc://h:15002/;use_ssl=true", "/mnt/x"),
        ("sc://[::1]:2?token=hush", "sc://[::1]:2", "sc://[::1]:2/;token=hush", None),
    ],
)
def test_a_users_cluster_is_named_by_its_url(
    text: str, name: str, as_spark_reads_it: str, folder: str | None
) -> None:
    variant = parse_variant(text, frozenset(SparkEngine.tactics()), takes_settings=True)
    assert variant.engine == registry.engine_named(text) == engine_of(variant.name) == "spark"
    assert variant.name == name
    assert "hush" not in variant.bare_url
    address = address_in(str(variant.url))
    assert address.url == as_spark_reads_it
    assert address.folder == (None if folder is None else Path(folder))


@pytest.mark.parametrize(
    ("url", "said"),
    [
        ("spark://h:1", "folder"),
        ("spark:///mnt/x", "names no master"),
        ("sc:///mnt/x", "names no server"),
        ("spark://h:1/mnt/x?colour=red", "colour"),
        ("sc://h:1/mnt/x?python=/usr/bin/python3", "python"),
    ],
)
def test_a_url_that_names_no_cluster_is_refused(url: str, said: str) -> None:
    with pytest.raises(InputError, match=said) as caught:
        address_in(url)
    assert caught.value.hint


def test_a_shared_folder_is_marked_held_and_removed(tmp_path: Path) -> None:
    space, other = Space.of("run1", "spark"), Space.of("run2", "spark")
    hold = shared_folder.hold(tmp_path, space)
    folder = shared_folder.make(tmp_path, space)
    assert folder == shared_folder.make(tmp_path, space)
    (alive,) = shared_folder.leftovers(tmp_path)
    assert (alive.owner, alive.alive) == ("run1", True)
    assert not shared_folder.take(tmp_path, alive)
    shared_folder.remove(folder, other)
    assert folder.exists()
    hold.close()
    (dead,) = shared_folder.leftovers(tmp_path)
    assert not dead.alive
    assert shared_folder.take(tmp_path, dead)
    assert list(tmp_path.iterdir()) == []


def test_a_folder_that_nobody_marked_is_none_of_ours(tmp_path: Path) -> None:
    space = Space.of("run1", "spark")
    (tmp_path / space.name).mkdir()
    (tmp_path / space.name / "precious").touch()
    with pytest.raises(EngineError, match="is not this run's"):
        shared_folder.make(tmp_path, space)
    assert shared_folder.leftovers(tmp_path) == []
    shared_folder.remove(tmp_path / space.name, space)
    assert (tmp_path / space.name / "precious").exists()
    with pytest.raises(EngineError, match="cannot make"):
        shared_folder.make(tmp_path / "nowhere", space)


def test_every_gap_has_its_reason() -> None:
    declared: Capabilities = SparkEngine.capabilities
    assert declared.no_updates
    assert all(each.supported or each.note for each in declared.structures.values())


OF_PYTHON = """An exception was thrown from the Python worker. Please see the stack trace below.
[PYTHON_EXCEPTION] An exception was thrown: Traceback (most recent call last):
  File "worker.py", line 4207, in invoke_udf
    func, profiler, deserializer, serializer = read_udfs(
ModuleNotFoundError: No module named 'loadstone'
 SQLSTATE: 38000

JVM stacktrace:
org.apache.spark.SparkException
\tat org.apache.spark.Something"""


def test_an_error_of_spark_is_one_line_without_traces() -> None:
    error = failed(OF_PYTHON)
    assert error.message == "spark: ModuleNotFoundError: No module named 'loadstone'"
    plain = failed("[NO_TABLE] `t` cannot be found. SQLSTATE: 42P01; line 1\n== SQL ==\nselect")
    assert plain.message == "spark: [NO_TABLE] `t` cannot be found. SQLSTATE: 42P01; line 1"
    changed = failed("[UNSUPPORTED_FEATURE.TABLE_OPERATION] DELETE")
    assert type(changed).__name__ == "UnsupportedError"


def test_a_statement_that_changes_tuples_is_a_gap() -> None:
    choices = Choices(benchmark="idm", on=("spark",), rows=(1000,))
    benchmark = registry.chosen_benchmark(choices)
    plan = make_plan(choices, benchmark, [Variant("spark")], {"spark": SparkEngine.capabilities})
    gaps = {cell.operation: cell.gap for cell in plan.cells}
    assert gaps["replace-all"] == gaps["append-word"] == SparkEngine.capabilities.no_updates
    assert gaps["scan"] == ""
