"""Spark: relations as Parquet files, statements executed by a cluster of a master and two workers.

Rows of generated relations are made in the executors, and checksums are added up there.
"""

import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import copy
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from loadstone.engines.base import Engine
from loadstone.engines.capabilities import (
    Capabilities,
    Estimate,
    Generated,
    Structure,
    Table,
    UrlUse,
)
from loadstone.engines.ownership import Hold, Leftover, Space, in_use
from loadstone.engines.setting import settings_of
from loadstone.engines.spark import (
    executors,
    own_settings,
    settings,
    shared_folder,
    users_database,
)
from loadstone.engines.spark.address import CONNECT, Address, address_in
from loadstone.engines.spark.installed import java, release, spark_home
from loadstone.engines.spark.instance import Instance
from loadstone.engines.spark.probe import probe
from loadstone.engines.spark.process import end_all
from loadstone.engines.spark.session import Session, connected
from loadstone.engines.spark.tables import Folders, columns_of, quoted, stored_name, text_of
from loadstone.engines.system import Probe
from loadstone.engines.tactic import Level
from loadstone.errors import InputError, UnsupportedError

if TYPE_CHECKING:
    import pyarrow as pa

    from loadstone.plan.variant import Variant

_PART_ROWS = 2_500_000
"""The most of a generated relation that one task makes: it costs a tenth of a second to send and
to collect."""
_SPLIT_ROWS = 50_000
"""A relation with fewer is one part."""
_HASH_GAP = "Loadstone makes no buckets, Spark's hash organisation of files"
_INDEX_GAP = "Spark has no indexes; it skips Parquet's row groups by their minima and maxima"
_UPDATE_GAP = "Spark does not change Parquet files in place: it has no UPDATE and no DELETE of them"
_ROW_GROUP_ROWS = 1 << 17
_ESTIMATE = Estimate(start_s=18.0, statement_s=0.7)
"""Its start: four Java machines, the executors' two, and a first statement that finds nothing
compiled: 13 s at the start of a run, 21 s for a cold round. A statement: it is planned, and its
tasks are sent to executors."""


class SparkEngine(Engine):
    """Columns in Parquet files on storage that all machines of the cluster share."""

    name: ClassVar[str] = "spark"
    dialect: ClassVar[str] = "spark"
    capabilities: ClassVar[Capabilities] = Capabilities(
        structures={
            "heap": Structure(supported=True, note="Parquet files, in order of the rows"),
            "clustered": Structure(
                supported=True,
                note="Parquet files in key order, skipped by minima and maxima; no index",
                in_plans=False,
            ),
            "hash": Structure(supported=False, note=_HASH_GAP),
            "nonclustered": Structure(supported=False, note=_INDEX_GAP),
        },
        tactics=settings.TACTICS,
        no_updates=_UPDATE_GAP,
        url=UrlUse.SERVER,
        settings=own_settings.SETTINGS,
        estimate=_ESTIMATE,
    )

    def __init__(self, variant: "Variant", scratch: Path, owner: str) -> None:
        super().__init__(variant, scratch, owner)
        self._address = None if variant.url is None else address_in(variant.url)
        self._space = Space.of(owner, variant.name)
        self._instance = Instance(scratch / "spark", self._address)
        self._entered = False
        """Whether there may be a database of ours in a user's catalog."""

    @classmethod
    def check(cls, variant: "Variant") -> None:
        """Also that Spark is here, with Java where a driver of ours is to run, and that its
        programs have the settings."""
        super().check(variant)
        for name in settings_of(variant):
            own_settings.check(name)
        asked = cls.values_of(variant)
        if (asked["join"], asked["adaptive"]) == ("hash", "off"):
            raise InputError(
                "spark: join=hash is chosen by adaptive execution, and adaptive=off has none",
                hint="leave out adaptive=off, or request join=merge or join=broadcast",
            )
        spark_home()
        address = None if variant.url is None else address_in(variant.url)
        if address is None or address.scheme != CONNECT:
            java()
            return
        theirs = sorted({name for name, _ in variant.tactics} & settings.OF_START)
        if theirs:
            raise InputError(
                f"spark: {theirs[0]} belongs to a driver's start, and this driver is yours",
                hint="leave it out, or name the master of the cluster: spark://HOST:PORT",
            )

    @classmethod
    def values_of(cls, variant: "Variant") -> Mapping[str, str]:
        """Of a user's driver, nothing that belongs to its start."""
        asked = super().values_of(variant)
        if variant.url is None or address_in(variant.url).scheme != CONNECT:
            return asked
        return {name: value for name, value in asked.items() if name not in settings.OF_START}

    @classmethod
    def versions(cls) -> Mapping[str, str]:
        """The wheel is both engine and driver."""
        return {"pyspark": release() or "not installed: pip install 'loadstone[spark]'"}

    @property
    def home(self) -> Path:
        """The folder of the processes that are ours, and of relations where no other is named."""
        return self._instance.home

    @property
    def _shared(self) -> Path | None:
        """The folder that a user's cluster shares with us; None of a cluster of ours."""
        if self._address is None:
            return None
        return self._address.folder or self.scratch

    @property
    def _folders(self) -> Folders:
        return Folders(self.home if self._shared is None else self._shared / self._space.name)

    def start(self) -> None:
        """Start the cluster, or connect; register the relations that are there; set every
        tactic."""
        self.check(self.variant)
        if self.as_it_stands:
            raise UnsupportedError(
                "spark: tables as they stand are not read",
                hint="give it the data: docs/reference/workload.md",
            )
        if self._shared is None:
            self.home.mkdir(exist_ok=True)
        else:
            shared_folder.make(self._shared, self._space)
        self._folders.make()
        own = settings_of(self.variant)
        self._instance.timezone = self.timezone
        if not self._instance.start(self.values_of(self.variant), own, self._folders.warehouse):
            return
        try:
            if self._instance.is_connect:
                self._entered = True
                users_database.enter(self._open(), self._space, str(self._folders.warehouse))
            for name, columns in self._folders.complete():
                self._register(name, columns)
        except BaseException:
            self.stop()
            raise

    def _register(self, name: str, columns: str) -> None:
        of = f" ({columns})" if columns else ""
        place = text_of(str(self._folders.of(name)))
        self._open().run(f"DROP TABLE IF EXISTS {quoted(name)}")
        self._open().run(f"CREATE TABLE {quoted(name)}{of} USING parquet LOCATION {place}")

    def stop(self) -> Sequence[int]:
        """End the cluster and its driver, as far as they are ours; the files stay."""
        return self._instance.stop()

    def _switch(self, before: "Variant") -> None:
        """In the session where nothing else differs."""
        was, now = self.values_of(before), self.values_of(self.variant)
        differing = [name for name in {**was, **now} if now.get(name) != was.get(name)]
        of_session = all(self.level_of(name) is Level.SESSION for name in differing)
        if not self._instance.is_started or not of_session:
            self.stop()
            self.start()
            return
        self._instance.set_session(now, settings_of(self.variant))

    def terms(self) -> Mapping[str, str]:
        """As the driver and the master report them. Parquet is read through the operating system's
        cache: Spark's own is empty unless a relation is cached."""
        cached = self._instance.is_cached(self.tables())
        reported = self._instance.terms(settings_of(self.variant))
        return {**reported, "cache": "unknown" if cached else "0"}

    def tables(self) -> Sequence[str]:
        """All tables of the driver's catalog."""
        return sorted(self._open().ask("SHOW TABLES").column("tableName").to_pylist())

    def load(self, table: Table, rows: "pa.RecordBatchReader") -> int:
        """Parquet, written here from the Arrow stream; sorted by the cluster where clustered."""
        import pyarrow.parquet as pq

        self._check_design(table)
        made = self._folders.begin(table.name)
        count = 0
        try:
            codec = self.tactic("compression")
            with pq.ParquetWriter(
                made / "part-00000.parquet", rows.schema, compression=codec
            ) as to:
                for batch in rows:
                    to.write_batch(batch, row_group_size=_ROW_GROUP_ROWS)
                    count += batch.num_rows
            self._finish(table, made, 1)
        except BaseException:
            self._folders.give_up()
            raise
        return count

    def generate(self, table: Table, source: Generated) -> int | None:
        """Each task makes the rows of a part and writes them as Parquet, in Rust, in its executor.
        None where a user's executors have no core of ours."""
        self._check_design(table)
        if self._instance.without_core:
            return None
        cores = int(self.values_of(self.variant).get("parallelism", "1"))
        each = min(_PART_ROWS, -(-source.rows // cores))
        parts = -(-source.rows // each) if source.rows >= _SPLIT_ROWS else 1
        made = self._folders.begin(table.name)
        try:
            session = self._open()
            make = executors.maker(source, str(made), parts, self.tactic("compression"))
            written = session.apply(session.range(parts), make, executors.PARTS_SCHEMA)
            self._finish(table, made, parts)
        except BaseException:
            self._folders.give_up()
            raise
        return sum(int(each["rows"]) for each in written)

    def _check_design(self, table: Table) -> None:
        if table.organisation == "hash":
            raise UnsupportedError(_HASH_GAP, hint="leave the hash structure to another engine")
        if table.organisation == "heap" and table.indexes:
            raise UnsupportedError(_INDEX_GAP, hint="leave indexes to another engine")

    def _finish(self, table: Table, made: Path, parts: int) -> None:
        """Sort what was made where its design asks for that, put it in place, register it."""
        columns = columns_of(table.attributes)
        if table.organisation == "clustered" and table.key is not None:
            made = self._sorted(table, made, columns, parts)
        self._folders.finish(table.name, made, columns)
        self._register(table.name, columns)

    def _sorted(self, table: Table, made: Path, columns: str, parts: int) -> Path:
        """The same rows in key order, from file to file and within each."""
        key = [str(table.key)] + ([table.tiebreaker] if table.tiebreaker else [])
        place = self._folders.begin(f"{table.name}.sorted")
        session = self._open()
        with session.errors():
            frame = session.spark.read.schema(columns).parquet(str(made))
            frame = frame.repartitionByRange(parts, *key) if parts > 1 else frame.coalesce(1)
            frame.sortWithinPartitions(*key).write.mode("overwrite").parquet(str(place))
        shutil.rmtree(made)
        return place

    def settle(self, tables: Sequence[str]) -> None:
        """Write the files back. Spark plans from their sizes; it is given no statistics."""
        for table in tables:
            self._folders.sync(table)

    def run(self, statement: str) -> int:
        """Execute. Spark does not say how many rows a statement made."""
        self._open().run(statement)
        return -1

    def fetch(self, statement: str) -> list[tuple[Any, ...]]:
        """Every row as a tuple, by way of an Arrow table."""
        found = self._open().ask(statement)
        return list(zip(*(column.to_pylist() for column in found.columns), strict=True))

    def interrupt(self) -> None:
        """By the client's own means: all that the session executes."""
        self._open().interrupt()

    def read(self, statement: str) -> "pa.Table":
        """As an Arrow table."""
        return self._open().ask(statement)

    def contents(self, table: str) -> "pa.Table":
        """As an Arrow table."""
        return self._open().ask(f"SELECT * FROM {quoted(table)}")  # noqa: S608 - quoted

    def checksum(self, table: str) -> tuple[int, str] | None:
        """Each executor adds up its partitions; the sums are added up here. None where a user's
        executors have no core of ours."""
        if self._instance.without_core:
            return None
        session = self._open()
        with session.errors():
            frame = session.spark.table(quoted(table))
        sums = session.apply(frame, executors.adder(), executors.SUMS_SCHEMA)
        total = sum(int(each["checksum"], 16) for each in sums) % 2**64
        return sum(int(each["rows"]) for each in sums), f"{total:016x}"

    def plan(self, statement: str, query: str) -> None:
        """EXPLAIN, which writes the plan down, too."""
        del query
        self._open().explain(statement)

    def drop(self, table: str) -> None:
        """Drop the table from the catalog, and remove its files, which Spark leaves where it did
        not make them."""
        self._open().run(f"DROP TABLE IF EXISTS {quoted(table)}")
        self._folders.drop(table)

    def explain(self, statement: str) -> str:
        """EXPLAIN FORMATTED: the physical plan."""
        return self._open().explain(statement)

    def access_paths(self, statement: str, plan: str) -> Sequence[str]:
        """Every access is a scan of files; row groups that are skipped are in no plan."""
        del statement
        return ["heap"] if "Scan parquet" in plan else []

    def size_bytes(self) -> int:
        """All Parquet files."""
        return self._folders.size_bytes()

    def relation_files(self) -> Sequence[Path]:
        """All of `files`: the catalog is in the driver's memory."""
        return self.files()

    def not_data(self) -> Mapping[Path, str]:
        """Files that a session writes and none reads again."""
        reasons = {
            "local": "spilled and shuffled rows, made anew by each statement",
            "tmp": "temporary files, which no statement reads",
            "work": "the workers' own folders, made anew at each start",
            "conf": "settings, written anew at each start",
            "staging": "relations that are being made",
            **{f"{name}.log": "a log" for name in ("master", "worker-1", "worker-2", "driver")},
        }
        return {**super().not_data(), **{self.home / name: why for name, why in reasons.items()}}

    def processes(self) -> Sequence[int]:
        """Master, workers and driver; executors are children of the workers."""
        return self._instance.processes()

    def worker_processes(self) -> Sequence[int]:
        """The workers, of which one may die and nothing is lost."""
        return self._instance.worker_processes()

    @contextmanager
    def another(self) -> Iterator[Engine]:
        """A session of its own at the same driver, with the same tactics."""
        other = copy(self)
        other._instance = copy(self._instance)  # noqa: SLF001 - an engine of this class
        session = self._open().another()
        other._instance._session = session  # noqa: SLF001
        try:
            self._instance.set_session(
                self.values_of(self.variant), settings_of(self.variant), session
            )
            if self._instance.is_connect:
                users_database.enter(session, self._space, str(self._folders.warehouse))
            yield other
        finally:
            session.close()

    def stored_name(self, name: str) -> str:
        """As Spark's catalog takes it."""
        return stored_name(name)

    def quote(self, name: str) -> str:
        """In back quotes."""
        return quoted(name)

    def remove(self) -> None:
        """End what is ours, and delete all files; drop our database from a user's catalog."""
        if self._address is not None and self._instance.is_connect:
            self._drop_database(self._address)
        self._instance.remove()
        if self._shared is not None:
            shared_folder.remove(self._shared / self._space.name, self._space)

    def _drop_database(self, address: Address) -> None:
        """As far as there can be one: where we started, or an earlier worker may have."""
        if self._instance.is_started:
            users_database.drop(self._open(), self._space)
        elif self.has_predecessor or self._entered:
            with connected(address) as session:
                users_database.drop(session, self._space)

    @classmethod
    def sweep(cls, variant: "Variant") -> Sequence[Leftover]:
        """The folders of runs in the one that a user's cluster shares."""
        folder = None if variant.url is None else address_in(variant.url).folder
        return () if folder is None else shared_folder.leftovers(folder)

    @classmethod
    def clear(cls, variant: "Variant", leftover: Leftover) -> None:
        """Delete a run's folder, and drop its database, unless a living run holds it."""
        address = None if variant.url is None else address_in(variant.url)
        if address is None or address.folder is None:
            return
        if leftover.alive:
            raise in_use(leftover)
        if address.scheme == CONNECT:
            with connected(address) as session:
                users_database.drop(session, Space(leftover.name, leftover.owner))
        if not shared_folder.take(address.folder, leftover):
            raise in_use(leftover)

    @classmethod
    def hold(cls, variant: "Variant", owner: str) -> Hold:
        """A lock on the run's folder in the one that a user's cluster shares."""
        folder = None if variant.url is None else address_in(variant.url).folder
        if folder is None:
            return Hold()
        return shared_folder.hold(folder, Space.of(owner, variant.name))

    @classmethod
    def probe(cls, scratch: Path) -> Probe | None:
        """Whether Spark and Java are here."""
        return probe(scratch)

    @classmethod
    def abandon(cls, scratch: Path) -> Sequence[int]:
        """Known by their command lines, which name the folder."""
        return end_all(scratch / "spark")

    def _open(self) -> Session:
        return self._instance.session
