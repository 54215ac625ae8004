"""The errors of lode: what, where, and what helps. Nothing is said to be damaged that is not, no
disk to be full that is not, and no traceback ends anything."""

import os
import shutil
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from loadstone.lode import Database, LodeError, connect

LONG = "x" * 200


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """With a database `a.lode` of two files, closed."""
    monkeypatch.chdir(tmp_path)
    with Database("a.lode") as database, database.writing() as writing:
        writing.heap("parts").insert(b"wheel")
    return tmp_path


def reported(act: Callable[[], object]) -> str:
    with pytest.raises(LodeError) as error:
        act()
    text = str(error.value)
    for misleading in ("restore", "free some", "run the transaction", "disk answers", "`lode "):
        assert misleading not in text, text
    return text


@pytest.mark.parametrize("number", [5 << 40, 123456789, (1 << 48) - 1])
def test_an_id_that_nobody_gave_is_no_damage(folder: Path, number: int):
    with Database("a.lode") as database, database.reading() as reading:
        assert "there is no record" in reported(lambda: reading.heap("parts").get(number))
    for change in ("update", "delete"):
        arguments = (number, b"spoke") if change == "update" else (number,)
        with Database("a.lode") as database, database.writing() as writing:
            parts = writing.heap("parts")
            assert "there is no record" in reported(lambda: getattr(parts, change)(*arguments))  # noqa: B023
            writing.rollback()


def test_a_catalog_of_hundreds_of_files_is_kept_and_found_again(folder: Path):
    with Database("a.lode") as database, database.writing() as writing:
        for number in range(300):
            writing.heap(f"file {number}")
        writing.commit()
    with Database("a.lode") as database, database.writing() as writing:
        assert writing.heap("file 299").insert(b"spoke") >= 0
        writing.rollback()


@pytest.mark.parametrize(
    ("address", "words"),
    [
        (
            "a.lode",
            "which is no socket: by default it listens at the database's name followed by -socket",
        ),
        (".", "which is no socket"),
        (LONG, "at most 107 bytes"),
        ("none", "start it (`loadstone lode serve`)"),
        ("127.0.0.1:1", "start it (`loadstone lode serve`)"),
        ("127.0.0.1:99999", "has no address"),
        ("example.com:80", "has no address"),
        ("", "has no address"),
        ("192.0.2.1:80", "loopback"),
    ],
)
def test_an_address_without_a_server_says_what_it_is(folder: Path, address: str, words: str):
    assert words in reported(lambda: connect(address))


@pytest.mark.parametrize(
    ("address", "words"),
    [(LONG, "at most 107 bytes"), ("none/socket", "make its folder"), (".", "no socket"),
     ("127.0.0.1:99999", "has no address")],
)  # fmt: skip
def test_a_place_where_nobody_can_listen_says_why(folder: Path, address: str, words: str):
    with Database("a.lode") as database:
        assert words in reported(lambda: database.serve(address))
        assert database.tactics


def cut_short() -> None:
    for name in ("a.lode", "a.lode-log"):
        Path(name).write_bytes(b"")


def another_log() -> None:
    Database("b.lode").close()
    shutil.copy("b.lode-log", "a.lode-log")


@pytest.mark.parametrize(
    ("spoil", "words"),
    [
        (lambda: Path("a.lode-log").rename("kept"), "a.lode-log is not there"),
        (lambda: Path("a.lode").rename("kept"), "a.lode-log is there, its volume a.lode is not"),
        (another_log, "the log is another volume's"),
        (cut_short, "it has 0 bytes; if making it was cut short"),
        (lambda: Path("a.lode").write_text("a letter " * 2000), "is no lode database"),
    ],
)
def test_two_files_that_are_no_database_say_which(folder: Path, spoil, words: str):
    spoil()
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    text = ""
    try:
        Database("a.lode").close()
    except LodeError as error:
        text = str(error)
    assert words in text
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


@pytest.mark.parametrize(
    ("path", "words"),
    [
        ("none/a.lode", "make its folder first"),
        ("a.lode/b.lode", "must be a folder"),
        ("x" * 300, "choose a shorter name"),
        ("x" * 253, "choose a shorter name"),
        (".", "is no regular file"),
        ("/dev/null", "is no regular file"),
        ("fifo", "is no regular file"),
        ("loop", "leads nowhere"),
        ("dangling", "leads nowhere"),
    ],
)
def test_a_path_that_can_be_no_database_says_why(folder: Path, path: str, words: str):
    os.mkfifo("fifo")
    Path("loop").symlink_to("loop")
    Path("dangling").symlink_to("none")
    before = sorted(Path().iterdir())
    assert words in reported(lambda: Database(path))
    assert sorted(Path().iterdir()) == before


def test_a_database_that_is_open_says_so_wherever_it_is_open(folder: Path):
    with Database("a.lode"):
        assert "in another process or in this one" in reported(lambda: Database("a.lode"))


def test_a_symbolic_link_leads_to_both_files(folder: Path):
    Path("link").symlink_to("a.lode")
    with Database("link") as database, database.reading() as reading:
        assert reading.files() == [("parts", "heap")]
        reported(lambda: Database("a.lode"))
    assert not Path("link-log").exists()


def test_a_log_of_what_is_said_with_stores_that_say_nothing_is_reported(tmp_path: Path) -> None:
    for detect in ("sigsegv", "kernel"):
        with pytest.raises(LodeError, match="choose detect=explicit"):
            Database(tmp_path / "a.lode", log="set-range", detect=detect)


FAULT = """
import ctypes, faulthandler, sys
from loadstone.lode import Database
first, path = sys.argv[1:]
if first == "python":
    faulthandler.enable()
database = Database(path, detect="sigsegv")
if first == "lode":
    faulthandler.enable()
print("about to fault", flush=True)
ctypes.string_at(0)
"""


@pytest.mark.parametrize("first", ["python", "lode", "nobody"])
def test_a_fault_that_is_not_lodes_ends_python_as_without_lode(first: str, tmp_path: Path) -> None:
    """With Python's own handler installed before lode's, after it, or not at all."""
    command = [sys.executable, "-c", FAULT, first, str(tmp_path / "a.lode")]
    ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert ended.stdout == "about to fault\n"
    assert ended.returncode == -signal.SIGSEGV
    reported = ended.stderr.count("Fatal Python error: Segmentation fault")
    assert reported == (0 if first == "nobody" else 1), ended.stderr
