"""A user's cluster as its URL names it, and the folder that its machines share with this one.

`spark://HOST:PORT/FOLDER` is the master of a standalone cluster, `sc://HOST:PORT/FOLDER` a server
of Spark Connect. FOLDER has the same path on every machine; a cluster on this machine needs none.
"""

import socket
from dataclasses import dataclass
from ipaddress import ip_address
from pathlib import Path
from urllib.parse import parse_qsl, unquote, urlsplit

from loadstone.errors import EngineError, InputError

MASTER, CONNECT = "spark", "sc"
"""The schemes."""
_PYTHON = "python"
"""The key of a URL that names the Python of the executors."""
_CONNECT_S_MAX = 10.0
_PORTS = {MASTER: 7077, CONNECT: 15002}


@dataclass(frozen=True, slots=True)
class Address:
    """A place of a user's cluster, and the parameters beside it."""

    scheme: str
    host: str
    port: int
    folder: Path | None
    """That all machines share; None: a folder of this machine, on which the cluster is."""
    parameters: tuple[tuple[str, str], ...] = ()
    """Of a server of Spark Connect, for its client: `token`, `use_ssl` and others."""
    python: str = ""
    """The executors' Python; empty: at the same path as ours."""

    @property
    def url(self) -> str:
        """As Spark reads it; it may hold a token."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        if self.scheme == MASTER:
            return f"spark://{host}:{self.port}"
        own = "".join(f";{name}={value}" for name, value in self.parameters)
        return f"sc://{host}:{self.port}/{own}"


def address_in(url: str) -> Address:
    """Read a URL. Raises `InputError` where it names no host, or no folder that other machines
    could share."""
    parts = urlsplit(url)
    if not parts.hostname or parts.username:
        raise InputError(
            f"the URL names no {'master' if parts.scheme == MASTER else 'server'} of Spark",
            hint=f"write it as {parts.scheme}://HOST:PORT/SHARED/FOLDER, without a user",
        )
    path = unquote(parts.path)
    if path in ("", "/") and not is_here(parts.hostname):
        raise InputError(
            f"the URL of a cluster on {parts.hostname} names no folder for its relations",
            hint=f"write {parts.scheme}://HOST:PORT/FOLDER, a folder that all machines share",
        )
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    python = dict(pairs).get(_PYTHON, "")
    own = tuple((name, value) for name, value in pairs if name != _PYTHON)
    unknown = [name for name, _ in own] if parts.scheme == MASTER else []
    if unknown or (python and parts.scheme == CONNECT):
        name = unknown[0] if unknown else _PYTHON
        raise InputError(
            f"spark has no tactic {name[:40]!r}, and a {parts.scheme}:// URL no such parameter",
            hint="see loadstone tactics spark, and docs/reference/spark.md on URLs",
        )
    port = parts.port or _PORTS[parts.scheme]
    folder = None if path in ("", "/") else Path(path)
    return Address(parts.scheme, parts.hostname, port, folder, own, python)


def is_here(host: str) -> bool:
    """Whether a host's name or address is this machine's loopback interface."""
    if host.casefold() == "localhost":
        return True
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def reach(address: Address) -> None:
    """Raise `EngineError` where nobody takes a connection: Spark would try for minutes."""
    try:
        socket.create_connection((address.host, address.port), timeout=_CONNECT_S_MAX).close()
    except OSError as error:
        what = "master" if address.scheme == MASTER else "server of Spark Connect"
        raise EngineError(
            f"spark: no {what} at {address.host}:{address.port}: {error.strerror or error}",
            hint="check the URL, and whether the cluster runs",
        ) from None
