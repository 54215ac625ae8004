"""`loadstone lode mirror`: what the copies of a database say; one filled from the other, at rest
and while it is served."""

import shutil
import signal

import pytest
from desk import Desk
from serving import serving

from loadstone import lode
from loadstone.diagnostics import Exit


def make(desk: Desk, **tactics: str) -> None:
    path = desk.folder / "a.lode"
    with lode.Database(path, **tactics) as database, database.writing() as writing:
        for number in range(500):
            writing.btree("numbers").put(number.to_bytes(8, "big"), b"there")


def count(desk: Desk, **tactics: str) -> int:
    path = desk.folder / "a.lode"
    with lode.Database(path, "open", **tactics) as database, database.reading() as reading:
        return len(reading.btree("numbers").range())


def test_a_copy_that_is_lost_is_missed_decided_on_and_filled(desk: Desk):
    make(desk, mirror="idle")
    done = desk.run("lode", "mirror", "a.lode")
    assert done.returncode == 0
    assert "both copies are in step" in done.stdout
    shutil.rmtree(desk.folder / "a.lode-mirror")
    for command in (["mirror", "a.lode", "--fill"], ["query", "a.lode", "retrieve (x = 1)"]):
        refused = desk.run("lode", *command)
        assert refused.returncode == Exit.ENGINE
        assert "--alone first" in refused.stderr
    refused = desk.run("lode", "mirror", "a.lode", "--alone", "second")
    assert refused.returncode == Exit.ENGINE
    assert "is not there" in refused.stderr
    done = desk.run("lode", "mirror", "a.lode", "--alone", "first")
    assert (done.returncode, done.stderr) == (0, "")
    assert "the first copy goes on alone" in done.stdout
    done = desk.run("lode", "mirror", "a.lode", "--fill")
    assert (done.returncode, done.stderr) == (0, "")
    assert "copied" in done.stdout
    assert "both copies are in step" in done.stdout
    for name in ("a.lode", "a.lode-log", "a.lode-state"):
        (desk.folder / name).unlink()
    assert desk.run("lode", "mirror", "a.lode", "--alone", "second").returncode == 0
    assert count(desk, mirror="idle") == 500


@pytest.mark.parametrize("copy", ["a.lode", "a.lode-mirror/a.lode"])
def test_a_copy_whose_volume_alone_is_gone_is_not_in_step(desk: Desk, copy: str):
    """Its state is a file of its own, and said that both copies have everything."""
    make(desk, mirror="idle")
    (desk.folder / copy).unlink()
    done = desk.run("lode", "mirror", "a.lode")
    assert "its volume is gone" in done.stdout and "in step" not in done.stdout
    filled = desk.run("lode", "mirror", "a.lode", "--fill")
    assert filled.returncode == 0 and "both copies are in step" in filled.stdout
    assert count(desk, mirror="idle") == 500


def test_a_database_becomes_mirrored_and_reads_back_whether_it_is(desk: Desk):
    make(desk)
    done = desk.run("lode", "mirror", "a.lode")
    assert "is not mirrored" in done.stdout
    with lode.Database(desk.folder / "a.lode", "open", mirror="nearer") as database:
        assert database.tactics["mirror"] == "off"
        assert database.mirror is not None
        assert database.mirror["second"]["standing"] == "gone"
        assert (database.remirror() or 0) > 4096
        assert database.tactics["mirror"] == "nearer"
        assert database.remirror() is None
        database.take_down("first")
        assert database.tactics["mirror"] == "off"
        with pytest.raises(ValueError, match="first and second"):
            database.take_down("third")
    # The second alone has everything now: without a mirror nothing stale is read.
    with pytest.raises(lode.LodeError, match="mirror=idle"):
        count(desk)
    assert count(desk, mirror="idle") == 500
    refused = desk.run("lode", "mirror", "nothing.lode")
    assert refused.returncode == Exit.INPUT
    assert "there is no database" in refused.stderr


@pytest.mark.parametrize("size", [8, 100_000])
def test_a_file_that_is_no_database_is_not_called_unmirrored(desk: Desk, size: int):
    (desk.folder / "letter").write_bytes(b"dear sir" * (size // 8))
    refused = desk.run("lode", "mirror", "letter")
    assert (refused.returncode, refused.stdout) == (Exit.ENGINE, "")
    assert "letter is no lode database" in refused.stderr


def test_an_open_database_is_called_unmirrored_from_outside(desk: Desk):
    with lode.Database(desk.folder / "a.lode") as database, database.writing() as writing:
        writing.btree("numbers").put(b"1", b"there")
        done = desk.run("lode", "mirror", "a.lode")
    assert (done.returncode, done.stderr) == (0, "")
    assert "is not mirrored" in done.stdout


def test_a_folder_stands_for_the_database_in_it(desk: Desk):
    (desk.folder / "data").mkdir()
    for command in (["mirror", "data"], ["serve", "data"], ["backup", "data", "copy.lode"]):
        empty = desk.run("lode", *command)
        assert empty.returncode == Exit.INPUT
        assert "there is no database data/relations.lode" in empty.stderr
    assert desk.run("lode", "query", "data", "create r (a = i4)").returncode == 0
    assert "data/relations.lode is not mirrored" in desk.run("lode", "mirror", "data").stdout
    copied = desk.run("lode", "backup", "data", "copy.lode")
    assert (copied.returncode, copied.stderr) == (0, "")


def test_a_server_fills_a_copy_at_a_signal_while_clients_go_on(desk: Desk):
    make(desk)
    with serving(desk, "a.lode", "--tactic", "mirror=idle") as (process, at):
        assert process.stdout is not None
        assert "the second copy of the mirror is gone: SIGHUP" in process.stdout.readline()
        with lode.connect(at) as remote:
            process.send_signal(signal.SIGHUP)
            with remote.writing() as writing:
                writing.btree("numbers").put(b"another", b"there")
            assert process.stdout.readline().startswith("filled a copy: ")
        process.send_signal(signal.SIGTERM)
        assert process.wait() == 0
    shutil.rmtree(desk.folder / "a.lode-mirror")
    lode.mirror(desk.folder / "a.lode", "first")
    assert count(desk, mirror="idle") == 501
