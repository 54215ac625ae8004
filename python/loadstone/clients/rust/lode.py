"""lode, our own engine, called by a client in Rust: in its process, or in a server's."""

import socket
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from loadstone import _core
from loadstone.clients.declared import capabilities, opened
from loadstone.clients.rust.embedded import RustClient, client_errors
from loadstone.engines.capabilities import Capabilities
from loadstone.engines.lode.declared import check_together, described
from loadstone.engines.lode.engine import HEADER_BYTES
from loadstone.engines.lode.server import PageServer, end_orphan
from loadstone.engines.tactic import CACHE_BYTES_DEFAULT, of_client
from loadstone.errors import InputError

if TYPE_CHECKING:
    from loadstone.plan.variant import Variant

TACTICS = {
    "access": ("objects", "links", "btree", "hash"),
    "swizzle": ("off", "on"),
    "prefetch": ("off", "on"),
    "durability": ("full", "group", "none"),
    "log": ("page-diff", "page-grain", "set-range"),
    "shadows": ("beside", "cache"),
    "detect": ("explicit", "sigsegv", "kernel"),
    "bulk": ("logged", "unlogged"),
    "locks": ("database", "relation", "page"),
    "disk": ("buffered", "direct"),
    "cache": (str(CACHE_BYTES_DEFAULT), "<bytes>"),
    "hugepages": ("on", "off"),
    "replacement": ("clock", "lru", "lru-2", "random"),
    "extent": ("16", "4", "8", "32", "64"),
    "readahead": ("off", "on"),
    "checkpoint": ("268435456", "<bytes>"),
    "place": ("embedded", "server"),
}
"""Those that a walk can determine apart, with their values, the default first."""
OWN_WORDS = ("access",)
"""Tactics of the client, which chooses a design; the engine reads back all others."""
BACKING = "memory behind the cache"
"""Pieces of 2 MiB or pages of 4 KiB, as it is: `hugepages` says what is wanted."""
NOT_THE_SERVERS = ("access", "place", "swizzle", "prefetch")
"""Tactics of the client alone; see `loadstone tactics lode place`."""
OF_A_SERVER = {
    "setting.architecture": "a server process that has the files; the program caches pages of it",
    "setting.security": "the server's socket is its owner's alone",
    "setting.protocol": "lode's, of locks and pages, over a Unix socket",
    "setting.load": "by the program itself, before the files are served",
}
"""Items that differ from those of embedded lode."""


class LodeClient(RustClient):
    """OO1's designs over one storage engine: objects with references both ways (the paper's
    OODBMS), records in parent-child lists (INDEX), B-trees only (Table VII), hashing."""

    name: ClassVar[str] = "lode"
    file: ClassVar[str] = "program.lode"
    capabilities: ClassVar[Capabilities] = capabilities(
        "lode", described(TACTICS, of_client("lode"))
    )

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """Of the package, which lode is a part of."""
        return {"lode": _core.__version__}

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that the values go together, in lode and at its server."""
        super().check(variant)
        asked = cls.values_of(variant)
        check_together(asked)
        if asked["place"] != "server":
            return
        if asked["detect"] != "explicit":
            raise InputError(
                "lode: the client of a page server maps no pages, so there is nothing to detect",
                hint=f"leave out detect={asked['detect']}, or place=server",
            )
        if asked["readahead"] == "on" and asked["locks"] != "database":
            raise InputError(
                f"lode: with locks={asked['locks']} at a server, a page that is read ahead is not"
                " locked yet and may change",
                hint="choose readahead=off, or locks=database, or leave out place=server",
            )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._server = PageServer(self.path)

    def start(self) -> None:
        """Start the server where there is one, and let the program connect."""
        self.check(self.variant)
        if self._is_served() and self._server.pid is None:
            self._program = None
            self._server.start(self._tactics_of_server())
        super().start()

    def stop(self) -> Sequence[int]:
        """Let go of the database; stop the server, which closes it."""
        super().stop()
        return self._server.stop()

    def load(self) -> int:
        """Without the server: a program that makes a whole database has the files to itself."""
        if not self._is_served():
            return super().load()
        self.stop()
        tactics = [pair for pair in self.program_tactics() if pair[0] != "place"]
        with client_errors(self.name):
            elapsed_ns = opened(self.database, self.name, str(self.path), tactics).load()
        self.start()
        return elapsed_ns

    def terms(self) -> Mapping[str, str]:
        """Every tactic but the design as read back from the engine; with a server, the way to
        it."""
        terms = dict(super().terms())
        for name in self.capabilities.tactics:
            if name not in OWN_WORDS and f"setting.{name}" in terms:
                terms[name] = terms.pop(f"setting.{name}")
        # No setting: where a tactic moves it, that is told of the tactic's effect.
        if f"setting.{BACKING}" in terms:
            terms[BACKING] = terms.pop(f"setting.{BACKING}")
        if not self._is_served():
            return terms
        cache = {"setting.cache requested of the server": self._tactics_of_server()["cache"]}
        return {
            **terms,
            **OF_A_SERVER,
            **cache,
            "round_trip_ns": self.round_trip(socket.socketpair),
        }

    def size_bytes(self) -> int:
        """Of the volume and its log."""
        if not self._is_served():
            return super().size_bytes()
        return sum(path.stat().st_size for path in self.files())

    def header_bytes(self) -> int:
        """Of the files, where this process opens them."""
        return 0 if self._is_served() else HEADER_BYTES

    def processes(self) -> Sequence[int]:
        """The server, where there is one."""
        pid = self._server.pid
        return () if pid is None else (pid,)

    def address(self) -> tuple[str, str | None]:
        """The files, or the server's address."""
        return (self._server.address, None) if self._is_served() else super().address()

    def remove(self) -> None:
        """Let go of the database, and delete it."""
        self._program = None
        self._server.remove()
        super().remove()

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left."""
        return end_orphan(scratch / cls.file)

    def _is_served(self) -> bool:
        return self.tactic("place") == "server"

    def _tactics_of_server(self) -> Mapping[str, str]:
        names = (name for name in self.capabilities.tactics if name not in NOT_THE_SERVERS)
        return {name: self.tactic(name) for name in names}
