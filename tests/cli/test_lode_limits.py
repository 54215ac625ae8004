"""The limits of a page server: descriptors and connections. A client too many is refused; clients
that are served already do not notice."""

import os
import resource
import socket
from collections.abc import Iterator
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

import pytest
from desk import Desk
from serving import serving

from loadstone import lode

CONNECTIONS_MAX = 512


@contextmanager
def many_descriptors(count: int) -> Iterator[None]:
    """This process may have so many, if anybody lets it."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    if before[1] != resource.RLIM_INFINITY and before[1] < count:
        pytest.skip(f"no process may have {count} descriptors here")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(count, before[0]), before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def knock(address: str) -> socket.socket:
    host, colon, port = address.rpartition(":")
    if colon:
        return socket.create_connection((host, int(port)))
    caller = socket.socket(socket.AF_UNIX)
    caller.connect(address)
    return caller


def let_in(address: str) -> lode.Remote:
    """Connect as soon as the server has heard that others have gone, which is sure to happen."""
    while True:
        try:
            return lode.connect(address)
        except lode.LodeError as error:
            assert "connect again" in error.message


def put(remote: lode.Remote, key: bytes) -> None:
    with remote.writing() as writing:
        writing.btree("numbers").put(key, b"there")


@pytest.mark.parametrize("listen", ["socket", "127.0.0.1:0"])
def test_without_descriptors_the_others_are_served_and_who_comes_is_reported(
    desk: Desk, listen: str
):
    with serving(desk, "a.lode", "--create", "--listen", listen, files_max=60) as (process, at):
        with lode.connect(at) as served:
            put(served, b"before")
            with ExitStack() as callers:
                reported = []
                while len(reported) < 3:
                    try:
                        callers.enter_context(lode.connect(at))
                    except lode.LodeError as error:
                        reported.append(error.message)
                    assert process.poll() is None
                assert all("Too many open files" in text for text in reported), reported
                assert all("ulimit -n" in text for text in reported), reported
                put(served, b"meanwhile")
            with let_in(at) as again:
                put(again, b"after")
            with served.reading() as reading:
                keys = [key for key, _ in reading.btree("numbers").range()]
                assert keys == [b"after", b"before", b"meanwhile"]
        process.terminate()
        assert process.wait() == 0


@pytest.mark.parametrize("listen", ["socket", "127.0.0.1:0"])
def test_one_connection_too_many_is_reported_the_truth(desk: Desk, listen: str):
    with (
        many_descriptors(CONNECTIONS_MAX + 100),
        serving(desk, "a.lode", "--create", "--listen", listen, files_max=4096) as (process, at),
        lode.connect(at) as served,
        ExitStack() as callers,
    ):
        for _ in range(CONNECTIONS_MAX - 1):
            callers.enter_context(closing(knock(at)))
        with pytest.raises(lode.LodeError, match=r"serves 512 connections.*its limit") as refused:
            lode.connect(at)
        assert "gone" not in refused.value.message
        put(served, b"meanwhile")
        callers.close()
        let_in(at).close()
        assert process.poll() is None


def test_a_frame_that_claims_much_is_given_nothing(desk: Desk):
    with serving(desk, "a.lode", "--create") as (process, at), lode.connect(at) as served:
        for length in (0, 15, 512 * 1024 + 1, 2**32 - 1):
            with closing(knock(at)) as caller:
                caller.sendall(bytes(8) + length.to_bytes(4, "little") + bytes(4))
                assert caller.recv(1) == b""
        with ExitStack() as callers:
            for _ in range(50):
                caller = callers.enter_context(closing(knock(at)))
                caller.sendall(bytes(8) + (512 * 1024).to_bytes(4, "little") + bytes(4))
            put(served, b"meanwhile")
            pages = int(Path(f"/proc/{process.pid}/statm").read_text().split()[1])
            resident = pages * os.sysconf("SC_PAGE_SIZE")
            assert resident < 500 << 20
