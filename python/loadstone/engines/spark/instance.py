"""A session at a driver: of a cluster of ours, of our own driver at a user's master, or at a user's
server of Spark Connect."""

import shutil
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import loadstone
from loadstone.engines.spark import executors, own_settings, settings
from loadstone.engines.spark.address import CONNECT, Address
from loadstone.engines.spark.cluster import Cluster, Request, check_memory
from loadstone.engines.spark.installed import spark_home
from loadstone.engines.spark.process import end_all
from loadstone.engines.spark.session import Session
from loadstone.engines.spark.tables import quoted
from loadstone.errors import EngineError, UnsupportedError
from loadstone.plan.variant import SETTING
from loadstone.text.zone import UTC


class Instance:
    """The processes and the session of one variant, below `home`."""

    def __init__(self, home: Path, address: Address | None) -> None:
        self.home = home
        self.address = address
        self.timezone = UTC
        self._session: Session | None = None
        self._cluster: Cluster | None = None
        self.without_core = ""
        """Why the executors cannot make rows and add up checksums; empty: they can."""

    @property
    def is_connect(self) -> bool:
        """Whether the driver is a user's."""
        return self.address is not None and self.address.scheme == CONNECT

    @property
    def session(self) -> Session:
        """The session, once started."""
        if self._session is None:
            raise EngineError("spark is not started", hint="call start() first")
        return self._session

    @property
    def is_started(self) -> bool:
        """Whether there is a session."""
        return self._session is not None

    def start(self, asked: Mapping[str, str], own: Mapping[str, str], warehouse: Path) -> bool:
        """Start what is ours, and open a session with these tactics and settings of Spark's own;
        False where all that runs already. Raises `EngineError`."""
        if self._session is not None:
            if self._cluster is None or self._cluster.alive:
                return False
            self.stop()
        try:
            if self.address is not None and self.is_connect:
                self._connect(self.address, own)
            else:
                self._start_driver(asked, own, warehouse)
            self.set_session(asked, own)
            # The first task waits for all executors.
            self.session.count_of_range()
            if self.address is not None:
                self.without_core = self._why_without_core()
        except BaseException as error:
            self.stop()
            if own and type(error) is EngineError:
                raise own_settings.refused_by(error, own) from None
            raise
        return True

    def _connect(self, address: Address, own: Mapping[str, str]) -> None:
        """Open a session at the user's server."""
        if of_start := own_settings.of_start(own):
            name = next(iter(of_start))
            raise UnsupportedError(
                f"spark: a driver takes {name} when it starts, and this one is not ours",
                hint="leave it out, or name the master of the cluster: spark://HOST:PORT",
            )
        self._session = Session.of_user(address)

    def _start_driver(
        self, asked: Mapping[str, str], own: Mapping[str, str], warehouse: Path
    ) -> None:
        """Start the cluster where it is ours, and the driver."""
        memory_bytes = int(asked["executor_memory"])
        check_memory(memory_bytes)
        self.home.mkdir(exist_ok=True)
        self._cluster = Cluster(self.home, self.address)
        place = Path(str(loadstone.__file__)).parents[1]
        of_driver = {
            "spark.sql.warehouse.dir": str(warehouse),
            "spark.executorEnv.PYTHONPATH": f"{place}:{spark_home().parent}",
            **own_settings.of_start(own),
        }
        python = (self.address.python if self.address else "") or sys.executable
        self._cluster.start(Request(int(asked["parallelism"]), memory_bytes, of_driver, python))
        self._session = Session.connect(self._cluster.url, self._cluster.lost)
        self._cluster.watch(self._session.interrupt)

    def set_session(
        self, asked: Mapping[str, str], own: Mapping[str, str], session: Session | None = None
    ) -> None:
        """Set the tactics of a session, ours unless another is named, then settings by name."""
        session = session or self.session
        session.set(settings.of_session(asked, self.timezone) | own_settings.of_session(own))

    def _why_without_core(self) -> str:
        """Try whether a user's executors can import the Rust core."""
        try:
            self.session.apply(self.session.range(1), executors.try_core, executors.TRIED_SCHEMA)
        except EngineError as error:
            return error.message
        return ""

    def stop(self) -> Sequence[int]:
        """End what is ours, and the session. Returns the processes ended."""
        session, self._session = self._session, None
        cluster, self._cluster = self._cluster, None
        if session is not None and (cluster is None or cluster.alive):
            session.close()
        return cluster.stop() if cluster is not None else ()

    def terms(self, own: Mapping[str, str]) -> dict[str, str]:
        """The session's settings as the driver reads them back, and what the master of a cluster of
        ours says that the application has."""
        session = self.session
        found = self._cluster.application() if self._cluster else None
        reported = {
            "version": session.version(),
            "isolation": "none",
            "timezone": session.get(settings.TIMEZONE),
            # No setting of Spark's makes it sync.
            "durability": "none",
            "parallelism": str(found.cores) if found else "unknown",
            "executor_memory": str(found.memory_bytes) if found else "unknown",
            **settings.in_common_words(session.get),
            "setting.workers": str(found.workers) if found else "unknown",
            **{f"setting.{name}": session.get(name) for name in settings.SHOWN},
        }
        if self.address is not None:
            reported["setting.rows made"] = (
                f"here: {self.without_core}" if self.without_core else "in the executors"
            )
        by_name = own_settings.reported(own, {name: session.get(name) for name in own})
        return reported | {SETTING + name: value for name, value in by_name.items()}

    def is_cached(self, tables: Sequence[str]) -> bool:
        """Whether any of these relations is in Spark's own memory, and not read from its files."""
        catalog = self.session.spark.catalog
        with self.session.errors():
            return any(catalog.isCached(quoted(name)) for name in tables)

    def processes(self) -> Sequence[int]:
        """Master, workers and driver, as far as they are ours."""
        return self._cluster.processes() if self._cluster is not None else ()

    def worker_processes(self) -> Sequence[int]:
        """The workers of a cluster of ours that live."""
        return self._cluster.worker_processes() if self._cluster is not None else ()

    def remove(self) -> None:
        """End what is ours and delete its folder."""
        self.stop()
        end_all(self.home)
        shutil.rmtree(self.home, ignore_errors=True)
