"""PostgreSQL called by a client in Rust: the private server, or the user's own by URL.

Server, schema and mark are those of the engine; the client has a connection of its own, over the
Unix socket, over TCP on the loopback interface, or (remote) over TCP to another network namespace.
"""

import secrets
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone.clients.base import capabilities
from loadstone.clients.rust.embedded import RustClient
from loadstone.engines.base import Capabilities, Leftover
from loadstone.engines.ownership import Hold
from loadstone.engines.postgresql.binaries import require_server
from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.errors import UnsupportedError

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

SERVER_TACTICS = ("durability", "cache", "parallelism")
SESSION_TACTICS = ("durability", "parallelism")
BY_TCP = ("tcp", "remote")
ENCRYPTED = ("require", "verify-ca", "verify-full")
"""Values of libpq's `sslmode`, from any source, that forbid plain text."""


class PostgresqlClient(RustClient):
    """Parts and connections are tables, put in order of their keys once, with B-trees."""

    name: ClassVar[str] = "postgresql"
    takes_url: ClassVar[bool] = True
    capabilities: ClassVar[Capabilities] = capabilities(
        {},
        {
            "place": ("socket", "tcp", "remote"),
            "statement": ("prepared", "text", "procedure", "pipeline", "batch"),
            "hop": ("lookup", "join"),
            "transaction": ("call", "measure"),
            **{name: PostgresqlEngine.capabilities.tactics[name] for name in SERVER_TACTICS},
        },
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        own = tuple(pair for pair in variant.tactics if pair[0] in SERVER_TACTICS)
        server = replace(variant, tactics=own)
        # Named after the whole variant: two that differ in a tactic of the program only would else
        # load and drop each other's tables.
        self._server = PostgresqlEngine(server, scratch, owner, space=variant.name)
        self._password = ""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """As every client's; and without a URL there must be a server to start."""
        super().check(variant)
        if variant.url is None:
            require_server()

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The wheel's server, and the driver that sets it up."""
        return PostgresqlEngine.versions()

    @property
    def can_stop(self) -> bool:
        """Only a server of our own may be stopped."""
        return self._server.can_stop

    def start(self) -> None:
        """Bring up the server, enter the schema, and let the program connect."""
        self.check(self.variant)
        self._refuse_session_tactics()
        place = self._own_place()
        if place == "remote":
            self._server.live_apart()
        elif place == "tcp":
            self._server.listen()
        self._server.start()
        if place in BY_TCP and not self._password:
            self._password = secrets.token_urlsafe(18)
            self._server.set_password(self._password)
        if place:
            self._set_defaults()
        super().start()

    def _refuse_session_tactics(self) -> None:
        """The role of a user's server must not be altered."""
        for name, _ in self.variant.tactics:
            if self.variant.url is not None and name in SESSION_TACTICS:
                raise UnsupportedError(
                    f"postgresql: the client cannot set {name} on a server that is not ours",
                    hint=f"leave out {name}=…, or leave out the URL to use a private server",
                )

    def _set_defaults(self) -> None:
        """The role of our own server gets the session's tactics as defaults, so that the client's
        sessions have them."""
        workers = int(self.tactic("parallelism")) - 1
        settings = {
            "synchronous_commit": "off" if self.tactic("durability") == "none" else "on",
            "max_parallel_workers_per_gather": workers,
            "max_parallel_maintenance_workers": workers,
        }
        for name, value in settings.items():
            self._server.run(f"ALTER ROLE CURRENT_USER SET {name} TO {value}")

    def stop(self) -> Sequence[int]:
        """Disconnect the program; shut the private server down."""
        super().stop()
        return self._server.stop()

    def settle(self) -> None:
        """VACUUM ANALYZE each table; CHECKPOINT on a server of our own."""
        self._server.settle(self._server.tables())

    def terms(self) -> Mapping[str, str]:
        """The server's, the client's own, and the way between them."""
        said = {**self._server.terms(), **super().terms()}
        if not self._own_place():
            return said
        way = self.round_trip(self._server.socket_pair)
        return {**said, "place": self._found_place(said), "round_trip_ns": way}

    def in_common_words(self, told: Mapping[str, str]) -> Mapping[str, str]:
        """Durability is that of the client's own session. The cache is the server's, in bytes; so
        is the parallelism of a user's server, which the client's session leaves unchanged."""
        commit = told["durability"].removeprefix("synchronous_commit ")
        server = self._server.terms()
        own = self.variant.url is None
        return {
            "version": server["version"],
            "durability": "none" if "off" in (told["fsync"], commit) else "full",
            "setting.synchronous_commit": commit,
            "cache": server["cache"],
            "parallelism": told["parallelism"] if own else "as the server has it",
            "place": "tcp" if told["transport"] == "TCP" else "socket",
        }

    def files(self) -> Sequence[Path]:
        """The private server's data."""
        return self._server.files()

    def relation_files(self) -> Sequence[Path]:
        """As the server's lie in its data folder."""
        return self._server.relation_files()

    def processes(self) -> Sequence[int]:
        """The private server's postmaster."""
        return self._server.processes()

    def size_bytes(self) -> int:
        """The size of the schema's relations."""
        return self._server.size_bytes()

    def address(self) -> tuple[str, str | None]:
        """A connection string for the program; it never leaves this process."""
        parameters = self._server.parameters()
        encryption = str(parameters.get("sslmode", "prefer"))
        if self.variant.url is not None and encryption in ENCRYPTED:
            raise UnsupportedError(
                f"postgresql: the client has no TLS, which sslmode={encryption} requires",
                hint="use sslmode=disable if the connection needs no TLS",
            )
        if self._own_place() in BY_TCP:
            parameters |= {"host": self._server.interface, "password": self._password}
        known = ("host", "port", "user", "dbname", "password", "schema")
        pairs = (f"{key}={_quoted(parameters[key])}" for key in known if parameters.get(key))
        return " ".join(pairs), None

    def program_tactics(self) -> Sequence[tuple[str, str]]:
        """Those that are not the server's. A remote place is TCP to the client."""
        own = [pair for pair in self.variant.tactics if pair[0] not in SERVER_TACTICS]
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
        super().stop()
        self._server.heir = self.heir
        self._server.remove()

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """Schemas of the user's database that bear our mark."""
        return PostgresqlEngine.sweep(variant)

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Drop a schema if it still bears its run's mark."""
        PostgresqlEngine.clear(variant, leftover)

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A session that holds the schema's lock."""
        return PostgresqlEngine.hold(variant, owner)

    @classmethod
    def end_sessions(cls, variant: "Variant", owner: str) -> None:
        """Those that hold our schema's lock; the program's own session holds none, and ends with
        its statement."""
        PostgresqlEngine.end_sessions(variant, owner)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left."""
        return PostgresqlEngine.abandon(scratch)


def _quoted(value: object) -> str:
    text = str(value).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{text}'"
