"""lode from Python: files by name, transactions, what ends them, and the document's examples."""

import os
import re
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from loadstone import _core, errors, lode
from loadstone.errors import EngineError
from loadstone.lode import Database, DeadlockError, LodeError, tactics, tactics_of

ROOT = Path(__file__).parents[2]
LINKS = bytes(32)
"""Room in a record for the links of a parent and, behind them, of a child."""


@pytest.fixture
def path(tmp_path):
    return tmp_path / "a.lode"


@pytest.fixture
def database(path):
    with Database(path) as database:
        yield database


def blocks(text, language):
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.MULTILINE | re.DOTALL)


def test_the_documents_examples_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    # Those that connect need the server of the command before them, as the command's tests have.
    shown = blocks((ROOT / "docs/reference/lode.md").read_text(), "python")
    examples = [example for example in shown if "import conn" not in example.lower()]
    assert (len(shown), len(examples)) == (5, 3)
    for example in examples:
        exec(compile(example, "lode.md", "exec"), {})  # noqa: S102 - that is the test
    assert capsys.readouterr().out.splitlines() == [
        "spoke",
        "[('spoke',), ('wheel',)]",
        "line 1, column 50: division by zero",
    ]


def test_the_documents_examples_are_typed(tmp_path):
    for number, example in enumerate(
        blocks((ROOT / "docs/reference/lode.md").read_text(), "python")
    ):
        (tmp_path / f"example{number}.py").write_text(example)
    done = subprocess.run(
        # pyarrow has no types.
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--config-file=",
            "--disable-error-code=import-untyped",
            *tmp_path.glob("*.py"),
        ],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**os.environ, "MYPYPATH": str(ROOT / "python"), "MYPY_CACHE_DIR": str(tmp_path)},
    )
    assert done.returncode == 0, done.stdout + done.stderr


def test_all_that_a_program_needs_is_under_one_name():
    """Every class and function of lode's, and what it raises: a program imports nothing else."""
    short = {name.removeprefix("Lode").removeprefix("lode_")
             for name in _core.__all__ if name.lower().startswith("lode")}  # fmt: skip
    raised = {name for name, kind in vars(errors).items()
              if isinstance(kind, type) and issubclass(kind, errors.LodeError)}  # fmt: skip
    own = {name for name in lode.__all__ if vars(lode)[name].__module__ == lode.__name__}
    assert set(lode.__all__) == short | raised | own
    assert own == {"files_of", "remove"}


@pytest.mark.parametrize(
    ("place", "path", "mark"),
    [
        (0, "crates/lode/src/lib.rs", "//!"),
        (1, "crates/lode/src/walk/mod.rs", "///"),
        (2, "crates/lode/src/region.rs", "///"),
    ],
)
def test_the_documents_examples_in_rust_are_doctests(place, path, mark):
    examples = blocks((ROOT / "docs/reference/lode.md").read_text(), "rust")
    assert len(examples) == 3
    source = (ROOT / path).read_text()
    lines = [line[3:].removeprefix(" ") for line in source.splitlines() if line.startswith(mark)]
    (doctest,) = blocks("\n".join(lines) + "\n", "")
    shown = [line for line in doctest.splitlines() if not line.startswith("# ")]
    assert "\n".join(shown).startswith(examples[place].rstrip("\n"))


def test_committed_records_are_there_when_the_database_is_opened_again(path):
    with Database(path, "create") as database, database.writing() as writing:
        wheel = writing.heap("parts").insert(b"wheel")
        writing.btree("by name").insert(b"wheel", b"7")
        writing.hash("by id").insert(7, wheel)
        thing = writing.objects("things").insert(b"thing")
    with Database(path, "open") as database, database.reading() as reading:
        assert database.recovery is None
        kinds = [("by id", "hash"), ("by name", "btree"), ("parts", "heap"), ("things", "objects")]
        assert reading.files() == kinds
        assert reading.heap("parts").get(wheel) == b"wheel"
        assert reading.btree("by name").get(b"wheel") == b"7"
        assert reading.hash("by id").get(7) == wheel
        assert reading.objects("things").get(thing) == b"thing"


def test_an_exception_rolls_the_block_back(database):
    with pytest.raises(ZeroDivisionError), database.writing() as writing:
        writing.btree("parts").put(b"wheel", b"7")
        raise ZeroDivisionError
    with database.reading() as reading:
        assert reading.files() == []


def test_records_and_objects_are_changed_and_deleted(database):
    with database.writing() as writing:
        for kept in (writing.heap("parts"), writing.objects("things")):
            first, second = kept.insert(b"first"), kept.insert(b"")
            kept.update(first, b"longer " * 400)
            assert kept.get(first) == b"longer " * 400
            assert sorted(kept.scan()) == sorted([(first, b"longer " * 400), (second, b"")])
            kept.delete(first)
            assert kept.scan() == [(second, b"")]
            with pytest.raises(LodeError, match="there is no"):
                kept.get(first)
            with pytest.raises(LodeError, match="longer than"):
                kept.insert(bytes(5000))


def test_a_tree_keeps_its_keys_in_order(database):
    numbers = list(range(0, 2000, 2))
    with database.writing() as writing:
        tree = writing.btree("numbers")
        for number in reversed(numbers):
            assert tree.insert(number.to_bytes(8, "big"), str(number).encode())
        keys = [int.from_bytes(key, "big") for key, _ in tree.range()]
        assert keys == numbers
        first, end = (9).to_bytes(8, "big"), (16).to_bytes(8, "big")
        assert [value for _, value in tree.range(first, end)] == [b"10", b"12", b"14"]
        assert tree.range(first, end, backwards=True, limit=1) == [((14).to_bytes(8, "big"), b"14")]
        assert [value for _, value in tree.range(limit=2)] == [b"0", b"2"]
        assert tree.range(end, first) == []
        assert not tree.insert(end, b"other")
        assert tree.put(end, b"other") == b"16"
        assert tree.remove(end) == b"other"
        assert tree.get(end) is None
        assert tree.remove(end) is None


def test_a_key_of_a_hash_has_several_values(database):
    with database.writing() as writing:
        index = writing.hash("by type")
        for value in (3, 2**64 - 1):
            index.insert(7, value)
        assert sorted(index.get_all(7)) == [3, 2**64 - 1]
        assert index.get(8) is None
        assert index.remove(7, 3)
        assert not index.remove(7, 3)
        assert index.scan() == [(7, 2**64 - 1)]


def test_links_are_followed_both_ways(database):
    with database.writing() as writing:
        parts = writing.heap("parts")
        links = writing.links(parts, parts, parent_at=0, child_at=16)
        wheel, *spokes = [parts.insert(LINKS + bytes([number])) for number in range(4)]
        assert all(links.append(wheel, spoke) for spoke in spokes)
        assert not links.append(wheel, spokes[0])
        assert [child for child, _ in links.children(wheel)] == spokes
        assert [record[32:] for _, record in links.children(wheel)] == [b"\1", b"\2", b"\3"]
        assert links.parent(spokes[1]) == wheel
        assert links.unlink(spokes[1])
        assert links.parent(spokes[1]) is None
        assert [child for child, _ in links.children(wheel)] == [spokes[0], spokes[2]]
        assert links.children(spokes[0]) == []


@pytest.mark.parametrize("swizzle", ["off", "on"])
def test_references_between_objects_are_followed(path, swizzle):
    with Database(path, swizzle=swizzle) as database, database.writing() as writing:
        things = writing.objects("things")
        leaf = things.insert(b"leaf")
        root = things.insert(bytes(8) + leaf.to_bytes(8, "little"))
        assert [things.follow(root, 8) for _ in range(3)] == [(leaf, b"leaf")] * 3
        assert things.follow(root, 0) is None
        things.update(leaf, b"grown " * 500)
        assert things.follow(root, 8) == (leaf, b"grown " * 500)
        with pytest.raises(LodeError, match="no reference at 16"):
            things.follow(root, 16)
        with pytest.raises(ValueError, match="multiple of 8"):
            things.follow(root, 4)


def test_a_name_of_another_kind_and_one_that_is_not_there_are_reported(database):
    with database.writing() as writing:
        writing.heap("parts")
        with pytest.raises(LodeError, match="a heap called `parts`"):
            writing.hash("parts")
    with database.reading() as reading:
        with pytest.raises(LodeError, match="no btree called `parts`"):
            reading.btree("parts")
        with pytest.raises(LodeError, match="`wheels`"):
            reading.heap("wheels")
        with pytest.raises(LodeError, match="cannot write"):
            reading.heap("parts").insert(b"wheel")


def test_links_lie_where_they_can_and_between_files_of_one_transaction(database):
    with database.writing() as writing:
        parts = writing.heap("parts")
        for place in (4, 4096):
            with pytest.raises(ValueError, match="multiples of 8"):
                writing.links(parts, parts, child_at=place)
    with database.reading() as reading, pytest.raises(ValueError, match="another transaction"):
        reading.links(parts, reading.heap("parts"))


def test_what_has_ended_says_so(database):
    with database.writing() as writing:
        parts = writing.heap("parts")
        writing.commit()
        with pytest.raises(LodeError, match="has ended"):
            parts.insert(b"wheel")
    with pytest.raises(LodeError, match="has ended"):
        writing.commit()
    database.close()
    database.close()
    for late in (database.writing, database.reading, database.counters, database.checkpoint):
        with pytest.raises(LodeError, match="closed"):
            late()


def test_a_transaction_keeps_its_database_and_closing_waits_for_none(path):
    database = Database(path)
    writing = database.writing()
    parts = writing.heap("parts")
    with pytest.raises(LodeError, match="has not ended"):
        database.close()
    del database, writing
    wheel = parts.insert(b"wheel")
    assert parts.get(wheel) == b"wheel"
    del parts
    with Database(path) as database, database.reading() as reading:
        assert database.recovery is None
        assert reading.files() == []


def test_an_exception_is_not_hidden_by_what_is_still_open(path):
    with pytest.raises(ZeroDivisionError), Database(path) as database:
        kept = database.writing()
        kept.heap("parts")
        raise ZeroDivisionError
    kept.rollback()
    with Database(path) as database:
        assert database.recovery is None


def test_a_crash_takes_back_what_was_not_committed(path):
    database = Database(path)
    with database.writing() as writing:
        writing.btree("parts").put(b"wheel", b"7")
    database.abandon()
    with Database(path) as database, database.reading() as reading:
        assert database.recovery["ended"] >= 1
        assert reading.btree("parts").get(b"wheel") == b"7"


def test_modes_are_what_they_say(path):
    with pytest.raises(LodeError):
        Database(path, "open")
    Database(path, "create").close()
    with pytest.raises(LodeError):
        Database(path, "create")
    with Database(path, "read") as one, Database(path, "read") as other:
        with one.writing() as writing, pytest.raises(LodeError, match="cannot write"):
            writing.heap("parts")
        with other.reading() as reading:
            assert reading.files() == []
    with pytest.raises(ValueError, match="any, create, open, read"):
        Database(path, "r")


def test_tactics_are_set_and_read_back(path):
    with Database(path, cache=1 << 20, durability="none", extent=8) as database:
        assert database.tactics["cache"] == str(1 << 20)
        assert (database.tactics["durability"], database.tactics["extent"]) == ("none", "8")
    with Database(path) as database:
        assert database.tactics["extent"] == "8"
    for wrong in ({"durability": "often"}, {"durabilty": "full"}):
        with pytest.raises(LodeError, match="there are"):
            Database(path, **wrong)


def test_every_tactic_is_described_in_full(database):
    described = tactics()
    assert [row["name"] for row in described] == [*database.tactics, "place"]
    for row in described:
        assert row["default"] == database.tactics.get(row["name"], "embedded")
        assert row["values"]
        assert all(about for _, about in row["values"])
        sentences = [row[key] for key in ("does", "buys", "costs", "loses", "excludes", "source")]
        assert all(isinstance(text, str) and text for text in sentences)


def test_tactics_are_read_as_they_stand_in_a_variant(path):
    chosen = dict(tactics_of("durability=group&cache=1MiB"))
    assert (chosen["durability"], chosen["cache"], chosen["log"]) == (
        "group", str(1 << 20), "page-diff"
    )  # fmt: skip
    with Database(path, **chosen) as database:
        assert database.tactics == chosen
    assert dict(tactics_of("")) == {row["name"]: row["default"] for row in tactics()[:-1]}
    for wrong in ("durability=often", "durabilty=full", "durability", "place=server"):
        with pytest.raises(ValueError, match=r"there are|name=value"):
            tactics_of(wrong)


def test_counters_count(database):
    before = database.counters()
    with database.writing() as writing:
        writing.heap("parts").insert(b"wheel")
    after = database.counters()
    assert after["log"]["syncs"] == before["log"]["syncs"] + 1
    assert after["log"]["records"] > before["log"]["records"]
    database.forget()
    with database.reading() as reading:
        assert [record for _, record in reading.heap("parts").scan()] == [b"wheel"]
    assert database.counters()["buffer"]["misses"] > after["buffer"]["misses"]
    assert set(after["locks"]) == {"waits", "deadlocks"}


def test_two_that_wait_for_each_other_are_reported_and_others_run_meanwhile(path):
    with Database(path, locks="page") as database:
        with database.writing() as writing:
            for name in ("one", "two"):
                writing.btree(name).put(b"key", b"0")
        both_hold_one, outcomes = threading.Barrier(2), []

        def change(first: str, second: str) -> None:
            try:
                with database.writing() as writing:
                    writing.btree(first).put(b"key", b"1")
                    both_hold_one.wait()
                    # Waits in Rust: it must let the other thread run meanwhile.
                    writing.btree(second).put(b"key", b"1")
                outcomes.append("committed")
            except LodeError as error:
                both_hold_one.abort()
                outcomes.append((type(error), error.message))

        threads = [
            threading.Thread(target=change, args=names)
            for names in (("one", "two"), ("two", "one"))
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert set(outcomes) == {"committed", (DeadlockError, DEADLOCK)}
        assert database.counters()["locks"]["deadlocks"] == 1


DEADLOCK = "deadlock: this transaction was rolled back, run it again"


def test_errors_are_of_one_tree():
    assert issubclass(DeadlockError, LodeError)
    assert issubclass(LodeError, EngineError)
