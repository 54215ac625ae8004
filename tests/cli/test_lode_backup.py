"""`loadstone lode backup`: a copy that is whole, of a database at rest and of one at work."""

from pathlib import Path

import pytest
from desk import Desk
from serving import serving

from loadstone import lode
from loadstone.diagnostics import Exit


def fill(place: lode.Database | lode.Remote, first: int, count: int = 500) -> None:
    with place.writing() as writing:
        numbers, names = writing.btree("numbers"), writing.heap("names")
        for number in range(first, first + count):
            numbers.put(number.to_bytes(8, "big"), b"there")
            names.insert(b"number %d" % number)


def contents(path: Path) -> tuple[int, int]:
    with lode.Database(path, "open") as database, database.reading() as reading:
        assert database.recovery is None
        return len(reading.btree("numbers").range()), len(list(reading.heap("names").scan()))


@pytest.mark.parametrize("tactics", [{}, {"extent": "4", "locks": "page"}])
def test_a_database_at_rest_is_copied_and_untouched(desk: Desk, tactics: dict[str, str]):
    with lode.Database(desk.folder / "a.lode", **tactics) as database:
        fill(database, 0)
    before = [(desk.folder / name).read_bytes() for name in ("a.lode", "a.lode-log")]
    done = desk.run("lode", "backup", "a.lode", "copy.lode")
    assert (done.returncode, done.stderr) == (0, "")
    assert "copied a.lode to copy.lode" in done.stdout
    assert before == [(desk.folder / name).read_bytes() for name in ("a.lode", "a.lode-log")]
    assert contents(desk.folder / "copy.lode") == contents(desk.folder / "a.lode") == (500, 500)


def test_a_database_at_work_is_copied_by_its_server_and_by_its_owner(desk: Desk):
    with serving(desk, "a.lode", "--create", "--tactic", "locks=page") as (_, at):
        with lode.connect(at) as remote:
            fill(remote, 0)
            done = desk.run("lode", "backup", at, "copy.lode")
            assert (done.returncode, done.stderr) == (0, "")
            fill(remote, 500)
            assert remote.backup(desk.folder / "second.lode")["pages"] > 10
        refused = desk.run("lode", "backup", "a.lode", "third.lode")
        assert refused.returncode == Exit.ENGINE
        assert "is open already" in refused.stderr
        assert "loadstone lode backup a.lode-socket third.lode" in refused.stderr
    assert contents(desk.folder / "copy.lode") == (500, 500)
    assert contents(desk.folder / "second.lode") == (1000, 1000)
    with lode.Database(desk.folder / "second.lode") as database:
        fill(database, 1000)
        database.backup(desk.folder / "fourth.lode")
    assert contents(desk.folder / "fourth.lode") == (1500, 1500)
    assert not (desk.folder / "third.lode").exists()


def test_what_cannot_be_copied_says_why_and_leaves_nothing(desk: Desk):
    (desk.folder / "letter").write_text("dear sir")
    (desk.folder / "taken.lode").write_text("mine")
    lode.Database(desk.folder / "a.lode").close()
    with lode.Database(desk.folder / "crashed.lode") as database:
        fill(database, 0)
        database.abandon()
    before = sorted(desk.folder.iterdir())
    for code, words, source, target in (
        (Exit.INPUT, "there is no database", "none.lode", "copy.lode"),
        (Exit.ENGINE, "it has 8 bytes; name another file\n", "letter", "copy.lode"),
        (Exit.ENGINE, "recovers it", "crashed.lode", "copy.lode"),
        (Exit.ENGINE, "choose another name", "a.lode", "taken.lode"),
        (Exit.ENGINE, "make its folder first", "a.lode", "none/copy.lode"),
        (Exit.ENGINE, "start it", "127.0.0.1:1", "copy.lode"),
    ):
        done = desk.run("lode", "backup", source, target)
        assert (done.returncode, done.stdout) == (code, ""), done.stderr
        assert words in done.stderr
        assert "Traceback" not in done.stderr
        assert "-socket" not in done.stderr, "no server is seen"
        assert sorted(desk.folder.iterdir()) == before
    assert (desk.folder / "taken.lode").read_text() == "mine"
