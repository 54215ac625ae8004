"""The contract of every engine that answers. One suite; a new engine is one more name in
conftest."""

from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pytest
from engine_kinds import EVERY_ENGINE, THIRD_PARTY, MakeEngine, with_spark
from postgresql_build import RELEASE
from samples import ROWS, as_rows, rows, said, stream, table, trimmed

from loadstone.engines import abilities
from loadstone.engines.base import Engine
from loadstone.engines.capabilities import STORAGES, Table
from loadstone.errors import EngineError, InputError, UnsupportedError
from loadstone.worker.statement_timer import contents_of

T = "range of t is t "
KINDS = EVERY_ENGINE | THIRD_PARTY
HOSTILE = ('a "quoted" name', "select", "Überschrift", "semi;colon -- %s", "UPPER")


@pytest.fixture(params=[*with_spark(), *THIRD_PARTY])
def name(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def indexed(engine: Engine, name: str = "t", attribute: str = "unique1") -> Table:
    """A table with an index, where the engine has any."""
    has = engine.capabilities.structures["nonclustered"].supported
    return table(name, indexes=(attribute,) if has else ())


def contents(engine: Engine, name: str = "t") -> list[tuple[object, ...]]:
    return sorted(as_rows(engine.contents(name)))


def test_every_type_and_character_survives_loading(engine: Engine) -> None:
    assert engine.load(table(), stream(rows())) == ROWS
    assert contents(engine) == sorted(rows())
    assert all(type(a) is type(b) for a, b in zip(contents(engine)[0], rows()[0], strict=True))


def test_many_rows_survive_too(engine: Engine) -> None:
    many = [(i, i, i, "two\nlines" if i % 2 else 'a "b", c') for i in range(30000)]
    assert engine.load(table(), stream(many, 10000)) == len(many)
    assert contents(engine) == many


def test_no_rows_are_a_table_too(engine: Engine) -> None:
    assert engine.load(table(), stream([])) == 0
    assert contents(engine) == []


@pytest.mark.parametrize("hostile", HOSTILE)
def test_any_table_name_will_do(engine: Engine, hostile: str) -> None:
    stored = engine.stored_name(hostile)
    engine.load(indexed(engine, stored), stream(rows()))
    engine.settle([stored])
    assert list(engine.tables()) == [stored]
    assert contents(engine, stored) == sorted(rows())
    engine.drop(stored)
    assert list(engine.tables()) == []


def test_every_structure_holds_the_rows_or_is_a_gap_with_a_reason(engine: Engine) -> None:
    structures = engine.capabilities.structures
    assert set(structures) == set(STORAGES)
    designs = {
        "heap": table("a"),
        "clustered": table("b", organisation="clustered", key="unique1", tiebreaker="unique2"),
        "hash": table("c", organisation="hash", key="unique1"),
        "nonclustered": table("d", indexes=("unique1", "string")),
    }
    for storage, design in designs.items():
        if structures[storage].supported:
            assert engine.load(design, stream(rows())) == ROWS
            assert contents(engine, design.name) == sorted(rows())
        else:
            assert structures[storage].note
            with pytest.raises(UnsupportedError, match=r"."):
                engine.load(design, stream(rows()))


def test_an_index_is_used_for_one_row(engine: Engine) -> None:
    if not engine.capabilities.structures["nonclustered"].supported:
        pytest.skip("it has no indexes")
    many = [(i, i, i, "x") for i in range(30000)]
    engine.load(table("a", indexes=("unique2",)), stream(many, 10000))
    engine.load(table("b"), stream(many, 10000))
    engine.settle(["a", "b"])
    one = "range of t is {} retrieve (t.all) where t.unique2 = 77"
    assert access(engine, one.format("a")) == ["nonclustered"]
    assert access(engine, one.format("b")) == ["heap"]
    assert trimmed(engine.fetch(said(engine, one.format("a")))) == [(77, 77, 77, "x")]


def access(engine: Engine, text: str) -> Sequence[str] | None:
    statement = said(engine, text)
    before = {name: sums(engine, name) for name in engine.tables()}
    paths = engine.access_paths(statement, engine.explain(statement))
    assert {name: sums(engine, name) for name in engine.tables()} == before
    return paths


def sums(engine: Engine, name: str) -> tuple[int, str]:
    """The number of a table's rows and their checksum, in any order."""
    return contents_of(engine, name)


def test_a_plan_shows_the_structure_in_use_and_its_absence(engine: Engine) -> None:
    many = [(i, i, i, "x") for i in range(30000)]
    designs = {
        "clustered": table("c", organisation="clustered", key="unique2", tiebreaker="unique1"),
        "hash": table("h", organisation="hash", key="unique2"),
        "nonclustered": table("n", indexes=("unique2",)),
    }
    for storage, design in designs.items():
        structure = engine.capabilities.structures[storage]
        if not (structure.supported and structure.in_plans):
            continue
        engine.load(design, stream(many, 10000))
        engine.settle([design.name])
        ranges = f"range of t is {design.name} "
        for retrieve in ("retrieve (t.all)", "delete t", "retrieve into tmp (t.all)"):
            assert access(engine, f"{ranges} {retrieve} where t.unique2 = 77") == [storage]
        assert access(engine, f"{ranges} retrieve (t.all) where t.big = 77") == ["heap"]
    if not engine.capabilities.structures["nonclustered"].supported:
        return
    # An index that is not there, whatever was there before, is seen to be missing.
    engine.load(table("n"), stream(many, 10000))
    engine.settle(["n"])
    assert access(engine, "range of t is n retrieve (t.all) where t.unique2 = 77") == ["heap"]


def test_loading_again_replaces(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    engine.load(indexed(engine), stream(rows(5)))
    assert contents(engine) == sorted(rows(5))


def test_a_load_that_fails_leaves_nothing_half_made(engine: Engine) -> None:
    def broken() -> object:
        yield from stream(rows())
        raise OSError("the generator broke")

    reader = pa.RecordBatchReader.from_batches(stream(rows()).schema, broken())
    with pytest.raises(Exception, match="the generator broke"):
        engine.load(table(), reader)
    assert list(engine.tables()) == []
    engine.load(table(), stream(rows()))
    assert contents(engine) == sorted(rows())


def test_run_says_how_many_tuples_changed(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    if reason := engine.capabilities.no_updates:
        with pytest.raises(UnsupportedError, match=r"."):
            engine.run(said(engine, T + "delete t where t.unique2 < 4"))
        assert reason
        assert contents(engine) == sorted(rows())
        return
    new = "append to t (unique1 = 100, unique2 = 100, big = 100, string = 'new')"
    assert engine.run(said(engine, new)) == 1
    assert engine.run(said(engine, T + "replace t (big = 0) where t.unique2 < 10")) == 10
    assert engine.run(said(engine, T + "delete t where t.unique2 < 4")) == 4
    assert engine.run(said(engine, T + "delete t where t.unique2 < 4")) == 0
    assert len(contents(engine)) == ROWS - 3


def test_retrieve_into_makes_a_relation(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    into = said(engine, T + "retrieve into made (t.all) where t.unique2 < 7")
    assert engine.run(into) in (7, -1)
    assert contents(engine, "made") == sorted(r for r in rows() if r[1] < 7)
    assert sorted(engine.tables()) == ["made", "t"]
    engine.drop("made")
    engine.drop("made")
    assert list(engine.tables()) == ["t"]


def test_fetch_and_read_agree(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    for text in (
        "retrieve (t.all)",
        "range of u is t retrieve (t.all, u.all) where t.unique1 = u.unique2",
        "retrieve (a = min(t.unique1 by t.string), b = count(t.big by t.string))",
        "retrieve (a = sum(t.unique2), b = avg(t.unique2))",
        "retrieve (t.string) where t.unique1 < 0",
        "retrieve (a = min(t.unique1 where t.unique1 < 0), b = min(t.string where t.big = 7))",
    ):
        query = said(engine, T + text)
        fetched = trimmed(engine.fetch(query))
        assert sorted(as_rows(engine.read(query))) == sorted(fetched), query


def test_strings_compare_by_bytes(engine: Engine) -> None:
    ordered = ("A", "B", "_", "a", "b", "ä")
    engine.load(table(), stream([(i, i, i, s) for i, s in enumerate(ordered)]))
    for at, string in enumerate(ordered):
        smaller = said(engine, T + f"retrieve (t.string) where t.string < '{string}'")
        assert {s for (s,) in trimmed(engine.fetch(smaller))} == set(ordered[:at])
    least = said(engine, T + "retrieve (a = min(t.string), b = max(t.string))")
    assert trimmed(engine.fetch(least)) == [("A", "ä")]


def test_explain_changes_nothing(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    updates = () if engine.capabilities.no_updates else ("delete t", "replace t (big = 1)")
    for statement in (
        *updates, "append to t (t.all)", "retrieve into made (t.all)", "retrieve (t.all)",
    ):  # fmt: skip
        assert engine.explain(said(engine, T + statement)).strip(), statement
    assert contents(engine) == sorted(rows())
    assert list(engine.tables()) == ["t"]


def test_terms_are_read_back_in_the_words_of_the_tactics(engine: Engine) -> None:
    engine.load(indexed(engine), stream(rows()))
    ordered = table("c", organisation="clustered", key="unique1", tiebreaker="unique2")
    engine.load(ordered, stream(rows()))
    engine.settle(["t", "c"])
    terms = engine.terms()
    assert {"version", "durability", "isolation", "cache", "parallelism"} <= set(terms)
    assert any(key.startswith("setting.") for key in terms)
    for name, tactic in engine.capabilities.tactics.items():
        if (engine.name, name) == ("postgresql", "sort") and RELEASE < 13:
            assert name not in terms  # nothing to switch
            continue
        assert terms[name] == tactic.default, name


def test_a_changed_tactic_is_read_back(make: MakeEngine, name: str) -> None:
    tactics = KINDS[name].capabilities.tactics
    asked = {"durability": "none"}
    asked |= {"cache": str(64 * 2**20)} if "cache" in tactics else {}
    asked |= {"parallelism": "2"} if "<n>" in tactics["parallelism"].names else {}
    asked |= {"join": tactics["join"].names[-1]} if "join" in tactics else {}
    engine = make(name, **asked)
    engine.start()
    terms = engine.terms()
    assert {tactic: terms[tactic] for tactic in asked} == asked
    engine.stop()
    engine.start()
    assert {tactic: engine.terms()[tactic] for tactic in asked} == asked


def test_an_undeclared_tactic_or_value_is_refused(make: MakeEngine, name: str) -> None:
    for wrong in ({"durability": "maybe"}, {"cache": "lots"}, {"cache": "-1"},
                  {"cache": "<bytes>"}, {"colour": "red"}):  # fmt: skip
        with pytest.raises(InputError):
            make(name, **wrong).start()


def test_data_survives_stop_and_start(engine: Engine) -> None:
    engine.load(indexed(engine), stream(rows()))
    engine.settle(["t"])
    for _ in range(2):
        for pid in engine.stop():
            assert not Path(f"/proc/{pid}").exists()
        engine.start()
        assert contents(engine) == sorted(rows())


def test_start_and_stop_may_be_repeated(engine: Engine) -> None:
    engine.start()
    engine.load(table(), stream(rows()))
    engine.stop()
    assert list(engine.stop()) == []
    engine.start()
    engine.start()
    assert contents(engine) == sorted(rows())


def test_another_worker_finds_the_data(own: Engine, make: MakeEngine, name: str) -> None:
    own.load(table(), stream(rows()))
    own.stop()
    heir = make(name)
    heir.start()
    assert contents(heir) == sorted(rows())
    heir.stop()


def test_an_error_is_ours_and_leaves_the_engine_usable(engine: Engine) -> None:
    engine.load(table(), stream(rows()))
    nowhere = "range of t is nowhere "
    with pytest.raises(EngineError, match="nowhere"):
        engine.run(said(engine, nowhere + "delete t"))
    for act in (engine.fetch, lambda text: as_rows(engine.read(text)), engine.explain):
        with pytest.raises(EngineError, match="nowhere"):
            act(said(engine, nowhere + "retrieve (t.all)"))
    with pytest.raises(EngineError):
        engine.run("neither a statement nor a query")
    assert contents(engine) == sorted(rows())


def test_a_stopped_engine_says_so(engine: Engine) -> None:
    engine.stop()
    with pytest.raises(EngineError, match="not started"):
        engine.fetch(said(engine, "range of t is t retrieve (t.all)"))


def test_files_hold_the_data_once_settled(engine: Engine) -> None:
    engine.load(table(), stream([(1, 2, 3, "findme")]))
    engine.settle(["t"])
    files = list(engine.files())
    assert files
    assert any(b"findme" in path.read_bytes() for path in files)
    engine.stop()
    assert any(b"findme" in path.read_bytes() for path in engine.files())


def test_a_private_server_names_the_files_of_our_database_and_no_other(make: MakeEngine) -> None:
    engine = make("postgresql")
    engine.start()
    engine.load(table(), stream(rows()))
    ((place,),) = engine.fetch(f"SELECT pg_relation_filepath('{engine.quote('t')}')")
    found = [path for path in engine.files() if path.parent.parent.name == "base"]
    assert len({path.parent for path in found}) == 1
    assert place in {"/".join(path.parts[-3:]) for path in found}
    engine.stop()
    assert found == [path for path in engine.files() if path.parent.parent.name == "base"]


def test_size_grows_with_the_data(engine: Engine) -> None:
    sizes = []
    for count in (1, 20000):
        values = [(i % 30000, (i * 7919) % 65537, i * i, f"{i * 7919 % 65537:012d}"[:12])
                  for i in range(count)]  # fmt: skip
        engine.load(table(f"t{count}"), stream(values, 5000))
        engine.settle([f"t{count}"])
        sizes.append(engine.size_bytes())
    assert 0 < sizes[0] < sizes[1]


def test_remove_leaves_nothing(own: Engine, scratch: Path) -> None:
    own.load(table(), stream(rows()))
    pids = list(own.processes())
    own.remove()
    own.remove()
    assert list(scratch.iterdir()) == []
    assert not any(Path(f"/proc/{pid}").exists() for pid in pids)


def test_remove_needs_no_start(make: MakeEngine, name: str, scratch: Path) -> None:
    make(name).remove()
    assert list(scratch.iterdir()) == []


def test_remove_clears_what_another_worker_left(
    own: Engine, make: MakeEngine, name: str, scratch: Path
) -> None:
    own.load(table(), stream(rows()))
    own.stop()
    make(name).remove()
    assert list(scratch.iterdir()) == []


def test_a_probe_leaves_nothing(name: str, scratch: Path) -> None:
    probe = abilities.probe(KINDS[name], scratch)
    assert list(scratch.iterdir()) == []
    if probe is not None:
        assert probe.name
        assert probe.found
        assert bool(probe.remedy) == (probe.works is not True)


def test_a_plan_that_scans_a_heap_reaches_it(engine: Engine) -> None:
    """Else a cold scan that read nothing would pass for one that needs no data."""
    engine.load(table(), stream(rows()))
    engine.settle(["t"])
    statement = said(engine, "range of t is t retrieve (x = count(t.unique2 where t.unique1 < 7))")
    paths = engine.access_paths(statement, engine.explain(statement))
    assert paths is None or list(paths) == ["heap"]


def test_a_constant_reads_no_relation(engine: Engine) -> None:
    """A cold cell of it, in which nothing was read, is a gap and no contradiction."""
    assert not access(engine, "retrieve (a = 1)")
