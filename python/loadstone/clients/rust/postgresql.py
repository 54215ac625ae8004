"""PostgreSQL called by a client in Rust: the private server, or the user's own by URL.

Server, schema and mark are those of the engine; the client has a connection of its own, over the
Unix socket, over TCP on the loopback interface, or (remote) over TCP to another network namespace.
"""

import secrets
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone.clients.declared import capabilities
from loadstone.clients.rust.embedded import RustClient
from loadstone.engines.capabilities import Capabilities, UrlUse
from loadstone.engines.postgresql.session import connection_string
from loadstone.engines.postgresql.system import PostgresqlSystem
from loadstone.engines.postgresql.terms import SERVER_TACTICS, SESSION_TACTICS, TACTICS
from loadstone.engines.tactic import of_client
from loadstone.errors import UnsupportedError

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

BY_TCP = ("tcp", "remote")
ENCRYPTED = ("require", "verify-ca", "verify-full")
"""Values of libpq's `sslmode`, from any source, that forbid plain text."""


class PostgresqlClient(PostgresqlSystem, RustClient):
    """Parts and connections are tables, put in order of their keys once, with B-trees."""

    name: ClassVar[str] = "postgresql"
    capabilities: ClassVar[Capabilities] = capabilities(
        "postgresql",
        {**of_client("postgresql"), **{name: TACTICS[name] for name in SERVER_TACTICS}},
        url=UrlUse.SERVER,
    )

    of_instance: ClassVar[Collection[str]] = SERVER_TACTICS

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._password = ""

    def start(self) -> None:
        """Bring up the server, enter the schema, and let the program connect."""
        self.check(self.variant)
        self._refuse_session_tactics()
        place = self._own_place()
        if place == "remote":
            self.instance.live_apart()
        elif place == "tcp":
            self.instance.listen()
        self.start_instance()
        if place in BY_TCP and not self._password:
            self._password = secrets.token_urlsafe(18)
            self.instance.set_password(self._password)
        if place:
            self.instance.set_role()
        self._open()

    def _refuse_session_tactics(self) -> None:
        """The role of a user's server must not be altered."""
        for name, _ in self.variant.tactics:
            if self.variant.url is not None and name in SESSION_TACTICS:
                raise UnsupportedError(
                    f"postgresql: the client cannot set {name} on a server that is not ours",
                    hint=f"leave out {name}=…, or leave out the URL to use a private server",
                )

    def stop(self) -> Sequence[int]:
        """Disconnect the program; shut the private server down."""
        RustClient.stop(self)
        return self.instance.stop()

    def settle(self) -> None:
        """VACUUM ANALYZE each table; CHECKPOINT on a server of our own."""
        self.instance.settle(self.instance.tables())

    def terms(self) -> Mapping[str, str]:
        """The server's, the client's own, and the way between them."""
        said = {**self.instance.terms(), **super().terms(), "encryption": "none"}
        if not self._own_place():
            return said
        way = self.round_trip(self.instance.socket_pair)
        return {**said, "place": self._found_place(said), "round_trip_ns": way}

    def in_common_words(self, reported: Mapping[str, str]) -> Mapping[str, str]:
        """Durability is that of the client's own session. The cache is the server's, in bytes; so
        is the parallelism of a user's server, which the client's session leaves unchanged."""
        commit = reported["durability"].removeprefix("synchronous_commit ")
        server = self.instance.terms()
        own = self.variant.url is None
        return {
            "version": server["version"],
            "durability": "none" if "off" in (reported["fsync"], commit) else "full",
            "setting.synchronous_commit": commit,
            "cache": server["cache"],
            "parallelism": reported["parallelism"] if own else "as the server has it",
            "place": "tcp" if reported["transport"] == "TCP" else "socket",
        }

    def address(self) -> tuple[str, str | None]:
        """A connection string for the program; it never leaves this process."""
        parameters = self.instance.parameters()
        encryption = str(parameters.get("sslmode", "prefer"))
        if self.variant.url is not None and encryption in ENCRYPTED:
            raise UnsupportedError(
                f"postgresql: the client has no TLS, which sslmode={encryption} requires",
                hint="use sslmode=disable if the connection needs no TLS",
            )
        if self._own_place() in BY_TCP:
            parameters |= {"host": self.instance.interface, "password": self._password}
        return connection_string(parameters), None

    def program_tactics(self) -> Sequence[tuple[str, str]]:
        """Those that are not the server's. A remote place is TCP to the client."""
        own = [pair for pair in super().program_tactics() if pair[0] not in SERVER_TACTICS]
        return [("place", "tcp") if pair == ("place", "remote") else pair for pair in own]

    def _own_place(self) -> str:
        """The private server's place for the client; empty for the user's own server."""
        return "" if self.variant.url is not None else self.tactic("place")

    def _found_place(self, said: Mapping[str, str]) -> str:
        """The server's place, as the kernel and the connection report it."""
        own = Path("/proc/self/ns/net").readlink()
        if any(Path(f"/proc/{pid}/ns/net").readlink() != own for pid in self.processes()):
            return "remote"
        return "tcp" if said["setting.transport"] == "TCP" else "socket"

    def remove(self) -> None:
        """Disconnect; delete the private server, or drop our schema from the user's."""
        RustClient.stop(self)
        super().remove()
