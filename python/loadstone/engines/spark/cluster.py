"""The cluster and its driver: a master, two workers and a driver as processes of ours, on 127.0.0.1
and behind a secret of the run; or a driver of ours for a user's master.

The driver is a Spark Connect server: it plans statements, and hands tasks to the executors that the
workers start. All of these end with this process, also when it is killed.
"""

import json
import os
import secrets
import select
import shutil
import signal
import socket
import threading
import urllib.request
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from loadstone.engines.private_server import LOOPBACK
from loadstone.engines.spark.address import Address, is_here, reach
from loadstone.engines.spark.process import (
    END_S_MAX,
    JavaProcess,
    end_all,
    free_port,
    mark,
    of_home,
    own_options,
)
from loadstone.errors import EngineError

WORKERS = 2
_POLL_S = 0.01
DAEMON_BYTES, DRIVER_BYTES = 128 << 20, 1 << 30
MEMORY_LEAST_BYTES = 471_859_200
"""Of an executor, by Spark's own check: one and a half times what it keeps for itself."""

_SECRET = "_SPARK_AUTH_SECRET"  # noqa: S105 - the name of a variable
_DAEMON = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1")
"""Of master and workers, which start executors and execute nothing: the quickest start."""
_PROPERTIES = "driver.properties"
_TOKEN = "SPARK_CONNECT_AUTHENTICATE_TOKEN"  # noqa: S105 - the name of a variable
_AUTHENTICATED = {
    "spark.authenticate": "true",
    # Of a user's cluster the secret is not ours to know: that is refused where it is asked for.
    "spark.network.crypto.enabled": "false",
}


@dataclass(frozen=True, slots=True)
class Request:
    """The demands on a cluster that is started."""

    cores: int
    memory_bytes: int
    """Of each executor."""
    settings: Mapping[str, str]
    """Further settings of the driver."""
    python: str
    """The path of the Python that executors start, on their machines."""


@dataclass(frozen=True, slots=True)
class Application:
    """The application's share of a cluster, as the master reports it."""

    cores: int
    memory_bytes: int
    workers: int
    """That are alive, of the whole cluster."""


class Cluster:
    """Everything of ours below `home`; with the address of a user's master, the driver alone."""

    def __init__(self, home: Path, address: Address | None = None) -> None:
        self.home = home
        self._address = address
        self._users_master = address.url if address is not None else ""
        self._own_host = LOOPBACK if address is None else _towards(address)
        self._token = ""
        self._port = self._web_port = 0
        self._master = JavaProcess(home, "master")
        self._workers = [JavaProcess(home, f"worker-{n + 1}") for n in range(WORKERS)]
        self._driver = JavaProcess(home, "driver")
        self._watch: _Watch | None = None

    @property
    def alive(self) -> bool:
        """Whether statements can be executed."""
        return self._driver.alive and not self.lost()

    @property
    def url(self) -> str:
        """The driver's address for its client, with the token that it asks for. Never shown."""
        return f"sc://localhost:{self._port}/;token={self._token}"

    def processes(self) -> Sequence[int]:
        """Master, workers and driver; the executors are children of the workers."""
        started = (self._master, *self._workers, self._driver)
        return [one.pid for one in started if one.pid is not None]

    def worker_processes(self) -> Sequence[int]:
        """The workers that live."""
        return [one.pid for one in self._workers if one.pid is not None]

    def start(self, request: Request) -> None:
        """Start all of it, and wait until the driver takes connections. Raises `EngineError`."""
        end_all(self.home)
        self.home.mkdir(exist_ok=True)
        self._forget()
        secret, self._token = secrets.token_hex(32), secrets.token_hex(32)
        master = self._users_master
        own: dict[str, str] = {}
        if self._address is not None:
            reach(self._address)
        else:
            own = {**_AUTHENTICATED, "spark.authenticate.secret": secret}
            master = self._start_master(request, {_SECRET: secret})
        self._port = free_port()
        settings = {**_of_driver(self.home, self._port, request), **request.settings, **own}
        if not self._users_master:
            options = " ".join(map(_quoted, own_options(self.home)))
            settings["spark.executor.extraJavaOptions"] = options
        if self._users_master:
            # Its workers have as many cores as they have.
            del settings["spark.executor.cores"]
            settings["spark.driver.host"] = self._own_host
        properties = self.home / _PROPERTIES
        try:
            _write_closed(properties, settings)
            arguments = [
                "--class", "org.apache.spark.sql.connect.service.SparkConnectServer",
                "--name", "loadstone", "--master", master,
                "--properties-file", str(properties), "spark-internal",
            ]  # fmt: skip
            main = "org.apache.spark.deploy.SparkSubmit"
            environment = {
                _TOKEN: self._token,
                "PYSPARK_PYTHON": request.python,
                "SPARK_LOCAL_IP": self._own_host,
            }
            self._driver.launch(main, arguments, DRIVER_BYTES, environment)
            self._driver.listens_at(self._port)
        finally:
            properties.unlink(missing_ok=True)

    def _start_master(self, request: Request, environment: Mapping[str, str]) -> str:
        """Start master and workers. Returns the master's URL."""
        port, self._web_port = free_port(), free_port()
        options = [*_DAEMON, *(f"-D{name}={value}" for name, value in _AUTHENTICATED.items())]
        self._master.launch(
            "org.apache.spark.deploy.master.Master",
            ["-h", LOOPBACK, "--port", str(port), "--webui-port", str(self._web_port)],
            DAEMON_BYTES,
            environment,
            options,
        )
        self._master.listens_at(port)
        self._master.listens_at(self._web_port)
        url = f"spark://{LOOPBACK}:{port}"
        for worker in self._workers:
            folder = self.home / "work" / worker.name
            folder.mkdir(parents=True)
            arguments = [
                "-h", LOOPBACK, "--cores", str(-(-request.cores // WORKERS)),
                "--memory", f"{request.memory_bytes >> 20}m", "--work-dir", str(folder),
                "--webui-port", "0", url,
            ]  # fmt: skip
            main = "org.apache.spark.deploy.worker.Worker"
            worker.launch(main, arguments, DAEMON_BYTES, environment, options)
        return url

    def watch(self, cancel: Callable[[], Any]) -> None:
        """From now on call `cancel` when the master, the driver or the last worker has ended: the
        statement would wait for ever."""
        groups = [[self._driver]]
        if not self._users_master:
            groups += [[self._master], self._workers]
        self._watch = _Watch([[one.pid for one in each if one.pid] for each in groups], cancel)

    def lost(self) -> str:
        """The process that has ended and that every statement needs; empty where none has."""
        needed = (self._driver,) if self._users_master else (self._driver, self._master)
        for one in needed:
            if not one.alive:
                return str(one.error("has ended"))
        if not self._users_master and not any(one.alive for one in self._workers):
            return str(self._workers[0].error("has ended, and all other workers"))
        return ""

    def application(self) -> Application | None:
        """The application as the master describes it; None for a user's cluster, or where the
        master does not answer."""
        if self._users_master or not self._web_port:
            return None
        try:
            with urllib.request.urlopen(
                f"http://{LOOPBACK}:{self._web_port}/json/", timeout=10
            ) as answer:
                reported = json.load(answer)
            (found,) = reported["activeapps"]
            cores = int(found["cores"])
            memory = int(found.get("memoryperexecutor", found.get("memoryperslave")))
            return Application(cores, memory << 20, int(reported["aliveworkers"]))
        except (OSError, ValueError, KeyError, TypeError):
            return None

    def stop(self) -> Sequence[int]:
        """End all of it, executors included. Returns the processes ended."""
        if self._watch is not None:
            self._watch.close()
            self._watch = None
        own = {*self.processes()}
        executors = [pid for pid in of_home(self.home) if pid not in own]
        ended = [*self._driver.end(signal.SIGKILL)]
        # Without a driver the workers end their executors, and are there to take note of it: a
        # process whose parent has ended may stay in the list of processes.
        self._wait_for(executors)
        ended += [
            *(pid for worker in self._workers for pid in worker.end(signal.SIGKILL)),
            *self._master.end(signal.SIGKILL),
        ]
        left = end_all(self.home)
        self._forget()
        return list(dict.fromkeys([*ended, *executors, *left]))

    def _wait_for(self, executors: Sequence[int]) -> None:
        """Wait for executors to be gone, as long as there are workers that end them."""
        for _ in range(round(END_S_MAX / _POLL_S)):
            left = [pid for pid in executors if Path(f"/proc/{pid}").exists()]
            living = [worker for worker in self._workers if worker.alive]
            if not left or not living or not self._master.alive:
                return
            living[0].ended_within(_POLL_S)

    def _forget(self) -> None:
        """Remove what one session writes and none reads again."""
        for name in ("local", "work", "tmp"):
            shutil.rmtree(self.home / name, ignore_errors=True)


def _of_driver(home: Path, port: int, request: Request) -> dict[str, str]:
    return {
        "spark.connect.grpc.binding.address": LOOPBACK,
        "spark.connect.grpc.binding.port": str(port),
        "spark.cores.max": str(request.cores),
        "spark.executor.memory": f"{request.memory_bytes >> 20}m",
        "spark.executor.cores": str(-(-request.cores // WORKERS)),
        "spark.executor.extraJavaOptions": _quoted(mark(home)),
        # The first statement waits for all executors, so that none of them joins in the middle.
        "spark.scheduler.minRegisteredResourcesRatio": "1.0",
        "spark.scheduler.maxRegisteredResourcesWaitingTime": "60s",
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.catalogImplementation": "in-memory",
        "spark.sql.artifact.isolation.enabled": "false",
    }


def _write_closed(path: Path, settings: Mapping[str, str]) -> None:
    """Settings as a file of Java's properties, for this account alone: one is the secret of a
    cluster that lives no longer than the run, and the file is gone when the driver has read it."""
    lines = [f"{name}={_escaped(value)}\n" for name, value in settings.items()]
    path.unlink(missing_ok=True)
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(descriptor, "w", encoding="ascii") as file:
        file.writelines(lines)


def _towards(address: Address) -> str:
    """The address of this machine on the way to a cluster's master; nothing is sent."""
    if is_here(address.host):
        return LOOPBACK
    try:
        place = socket.getaddrinfo(address.host, address.port, type=socket.SOCK_DGRAM)[0]
        with socket.socket(place[0], socket.SOCK_DGRAM) as way:
            way.connect(place[4])
            return str(way.getsockname()[0])
    except OSError as error:
        raise EngineError(
            f"spark: cannot find a way to {address.host}: {error.strerror or error}",
            hint="check the host's name in the URL",
        ) from None


def _quoted(option: str) -> str:
    """An option as Spark reads it in a list of them: a path may have blanks."""
    escaped = option.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _escaped(value: str) -> str:
    """A value as such a file has it: ASCII, and a backslash written twice."""
    letters = value.replace("\\", "\\\\").encode("utf-16-be", "surrogatepass")
    units = [int.from_bytes(letters[at : at + 2]) for at in range(0, len(letters), 2)]
    return "".join(chr(unit) if 32 <= unit < 127 else f"\\u{unit:04x}" for unit in units)


class _Watch:
    """A thread that waits for the end of processes."""

    def __init__(self, groups: Sequence[Sequence[int]], cancel: Callable[[], Any]) -> None:
        """`cancel` is called once when of any group the last process has ended."""
        self._cancel = cancel
        self._wake, self._end = os.pipe()
        self._groups: list[set[int]] = []
        for pids in groups:
            descriptors = set()
            for pid in pids:
                try:
                    descriptors.add(os.pidfd_open(pid))
                except ProcessLookupError:
                    continue
            self._groups.append(descriptors)
        self._all = [one for each in self._groups for one in each]
        self._thread = threading.Thread(target=self._wait, daemon=True)
        self._thread.start()

    def _wait(self) -> None:
        while all(self._groups):
            waited = [one for each in self._groups for one in each]
            ended, _, _ = select.select([self._wake, *waited], [], [])
            if self._wake in ended:
                return
            for each in self._groups:
                each -= set(ended)
        try:
            self._cancel()
        except Exception:  # noqa: BLE001 - the driver may be what has ended; the statement then fails
            return

    def close(self) -> None:
        """Wait no more."""
        os.close(self._end)
        self._thread.join()
        for one in (self._wake, *self._all):
            os.close(one)


def check_memory(memory_bytes: int) -> None:
    """Raise `EngineError` for an executor's memory with which Spark would not start."""
    if memory_bytes < MEMORY_LEAST_BYTES:
        raise EngineError(
            f"spark: executor_memory={memory_bytes} is less than an executor can start with",
            hint=f"ask for at least executor_memory={MEMORY_LEAST_BYTES}",
        )
