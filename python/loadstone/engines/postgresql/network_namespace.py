"""A network namespace for a private server, and the cable that leads to it: a veth pair (veth(4)).

The namespace has no name. It lives by a descriptor of ours and by the processes in it; killing
those ends it, and the cable with it. The cable's near end is marked with its run.
"""

import contextlib
import ctypes
import json
import os
import shutil
import socket
import subprocess
from collections.abc import Iterator, Sequence
from ipaddress import IPv4Address, IPv4Network
from pathlib import Path
from zlib import crc32

from loadstone.engines.ownership import mark_of, owner_of
from loadstone.errors import EngineError

HINT = "place=remote takes root (CAP_SYS_ADMIN, CAP_NET_ADMIN) and `ip` of iproute2; place=tcp none"

_ADDRESSES = IPv4Network("198.18.0.0/15")
"""Set aside for network benchmarks, so no machine has one of them (RFC 2544, appendix C)."""
_ADDRESSES_EACH = 4
_TRIES_MAX = 16
_CLONE_NEWNET = 0x40000000
_OWN = "/proc/thread-self/ns/net"
_LIBC = ctypes.CDLL(None, use_errno=True)


class NetworkNamespace:
    """The namespace of one scratch folder's server; made by `open`, ended by `close`."""

    def __init__(self, scratch: Path, owner: str) -> None:
        self.address = ""
        """Of the far end, in the namespace; empty until it is open."""
        self._scratch = scratch
        self._mark = mark_of(owner)
        self._descriptor = -1

    def open(self) -> None:
        """Make the namespace and the cable, unless they are there. Raises `EngineError` where that
        is not permitted."""
        if self._descriptor >= 0:
            return
        remove_link(self._scratch)
        try:
            self._make()
            self._connect()
        except (OSError, subprocess.CalledProcessError) as error:
            self.close()
            raise EngineError(f"cannot make a network namespace: {_words(error)}", hint=HINT) from (
                error
            )

    @contextlib.contextmanager
    def entered(self) -> Iterator[None]:
        """Processes and sockets made in here, by this thread, belong to the namespace."""
        before = os.open(_OWN, os.O_RDONLY)
        try:
            _switch(self._descriptor)
            try:
                yield
            finally:
                _switch(before)
        finally:
            os.close(before)

    def close(self) -> None:
        """Remove the cable; the namespace goes with the last process in it."""
        remove_link(self._scratch)
        if self._descriptor >= 0:
            os.close(self._descriptor)
        self._descriptor, self.address = -1, ""

    def _make(self) -> None:
        before = os.open(_OWN, os.O_RDONLY)
        try:
            if _LIBC.unshare(_CLONE_NEWNET):
                raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))
            try:
                self._descriptor = os.open(_OWN, os.O_RDONLY)
            finally:
                _switch(before)
        finally:
            os.close(before)

    def _connect(self) -> None:
        link = link_name(self._scratch)
        near, far = _free_addresses(self._scratch)
        _ip(
            f"link add {link} type veth peer name {link} netns /proc/self/fd/{self._descriptor}",
            f"link set dev {link} alias '{self._mark}'",
            f"addr add {near}/30 dev {link}",
            f"link set dev {link} up",
            descriptors=(self._descriptor,),
        )
        with self.entered():
            _ip(f"addr add {far}/30 dev {link}", f"link set dev {link} up", "link set dev lo up")
        self.address = str(far)


def link_name(scratch: Path) -> str:
    """The name of both ends of the cable, within Linux's limit of 15 letters."""
    return f"loadst-{crc32(os.fsencode(scratch.resolve())):08x}"


def remove_link(scratch: Path) -> None:
    """Remove the cable to the server of a scratch folder, if there is one and it bears our mark."""
    link = link_name(scratch)
    if not _exists(link) or owner_of(_mark(link)) is None:
        return
    command = [_program(), "link", "delete", link]
    done = subprocess.run(command, capture_output=True, check=False)
    # The kernel may have been faster: a cable ends with the namespace at its other end.
    if done.returncode and _exists(link):
        words = done.stderr.decode(errors="replace").strip()
        raise EngineError(f"cannot remove the link {link}: {words}", hint=f"ip link delete {link}")


def _exists(link: str) -> bool:
    try:
        return socket.if_nametoindex(link) > 0
    except OSError:
        return False


def _mark(link: str) -> str:
    command = [_program(), "-j", "link", "show", link]
    done = subprocess.run(command, capture_output=True, check=False)
    described = json.loads(done.stdout or b"[]")
    return str(described[0].get("ifalias", "")) if described else ""


def _free_addresses(scratch: Path) -> tuple[IPv4Address, IPv4Address]:
    """(near, far) of a network of four that is not in use on this machine."""
    networks = _ADDRESSES.num_addresses // _ADDRESSES_EACH
    first = crc32(os.fsencode(scratch.resolve()))
    for number in range(first, first + _TRIES_MAX):
        base = _ADDRESSES[number % networks * _ADDRESSES_EACH]
        with socket.socket() as probe:
            try:
                probe.bind((str(base + 1), 0))
            except OSError:
                return base + 1, base + 2  # not an address of ours: free
    raise OSError(f"{_TRIES_MAX} networks of {_ADDRESSES} are in use")


def _switch(descriptor: int) -> None:
    if _LIBC.setns(descriptor, _CLONE_NEWNET):
        raise OSError(ctypes.get_errno(), os.strerror(ctypes.get_errno()))


def _program() -> str:
    """`ip`, also where only root's PATH has it."""
    found = shutil.which("ip", path=f"{os.environ.get('PATH', os.defpath)}:/usr/sbin:/sbin")
    if found is None:
        raise FileNotFoundError("there is no program `ip`")
    return found


def _ip(*commands: str, descriptors: Sequence[int] = ()) -> None:
    subprocess.run(
        [_program(), "-batch", "-"],
        input="\n".join(commands).encode(),
        check=True,
        capture_output=True,
        pass_fds=descriptors,
    )


def _words(error: OSError | subprocess.CalledProcessError) -> str:
    if isinstance(error, subprocess.CalledProcessError):
        return "; ".join(error.stderr.decode(errors="replace").strip().splitlines())
    return str(error)
