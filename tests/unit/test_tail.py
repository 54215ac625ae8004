"""The end of a file is read, whatever came before it."""

import tracemalloc
from pathlib import Path

import pytest

from loadstone.engines.postgresql.server import PrivateServer
from loadstone.text.files import tail


@pytest.mark.parametrize(("content", "shown"), [
    (b"", ""), (b"a\nb\n", "a\nb\n"), (b"x" * 9 + b"\nabcdefg\n", "abcdefg\n"),
    (b"x" * 100, "x" * 10), ("ä".encode() * 50, "ä" * 5), (b"\xa4" + b"y" * 9, "\ufffd" + "y" * 9),
])  # fmt: skip
def test_whole_lines_where_there_are_any(tmp_path: Path, content: bytes, shown: str) -> None:
    (tmp_path / "log").write_bytes(content)
    assert tail(tmp_path / "log", 10) == shown


def test_no_file_has_no_end(tmp_path: Path) -> None:
    assert tail(tmp_path / "log", 10) == ""


def test_of_a_servers_log_without_end_only_the_end_is_read(tmp_path: Path) -> None:
    server = PrivateServer(tmp_path)
    server.log.parent.mkdir()
    with server.log.open("wb") as stream:
        stream.truncate(1 << 30)  # a hole, which takes no place on disk
        stream.seek(0, 2)
        stream.write(b"\n1\n2\n3\nFATAL:  no room\n")
    tracemalloc.start()
    try:
        assert server.last_words().endswith("FATAL:  no room")
        assert tracemalloc.get_traced_memory()[1] < 1 << 20
    finally:
        tracemalloc.stop()
