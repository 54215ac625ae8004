"""A process of Java that is Spark's: how it is started, known as ours, and ended."""

import contextlib
import os
import signal
import socket
from collections.abc import Mapping, Sequence
from pathlib import Path

from loadstone.engines.private_server import (
    LOOPBACK,
    ServerProcess,
    gone_within,
    processes_with,
)
from loadstone.engines.spark.installed import java, spark_home
from loadstone.errors import EngineError
from loadstone.text.files import tail

START_S_MAX = 300.0
"""A Java that shares two processors with much other work takes a minute."""
END_S_MAX = 20.0

_ASK_AGAIN_S = 0.02
_LINES_SHOWN, _LETTERS_SHOWN = 3, 600
_OPENED = (
    "java.base/java.lang", "java.base/java.lang.invoke", "java.base/java.lang.reflect",
    "java.base/java.io", "java.base/java.net", "java.base/java.nio", "java.base/java.util",
    "java.base/java.util.concurrent", "java.base/java.util.concurrent.atomic",
    "java.base/jdk.internal.ref", "java.base/sun.nio.ch", "java.base/sun.nio.cs",
    "java.base/sun.security.action", "java.base/sun.util.calendar",
)  # fmt: skip
"""Packages of Java that Spark reaches into, as its own launcher opens them."""
_LOGGING = """\
rootLogger.level = warn
rootLogger.appenderRef.stderr.ref = stderr
appender.stderr.type = Console
appender.stderr.name = stderr
appender.stderr.target = SYSTEM_ERR
appender.stderr.layout.type = PatternLayout
appender.stderr.layout.pattern = %p %c{1}: %m%n
"""


def mark(home: Path) -> str:
    """The option by which every process of a cluster is known as that folder's."""
    return f"-Dloadstone.home={home}"


def temporary(home: Path) -> Path:
    """The folder of a cluster's temporary files, which Spark would leave in the system's."""
    return home / "tmp"


def own_options(home: Path) -> Sequence[str]:
    """The options of Java for every process of a cluster on this machine: its mark, and no file
    outside of its folder."""
    return (mark(home), f"-Djava.io.tmpdir={temporary(home)}", "-XX:-UsePerfData")


class JavaProcess:
    """One daemon, or the driver, with its log in `home`."""

    def __init__(self, home: Path, name: str) -> None:
        self._home = home
        self.name = name
        self._process = ServerProcess()

    @property
    def alive(self) -> bool:
        """Whether it still runs."""
        return self._process.alive

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid

    @property
    def log(self) -> Path:
        """Its warnings and errors."""
        return self._home / f"{self.name}.log"

    def launch(
        self, main: str, arguments: Sequence[str], heap_bytes: int, environment: Mapping[str, str],
        options: Sequence[str] = (),
    ) -> None:  # fmt: skip
        """Start it; do not wait for it. `options` are further ones of Java. Raises
        `NotInstalledError` without Spark or Java."""
        programs = spark_home()
        settings = self._home / "conf"
        settings.mkdir(exist_ok=True)
        temporary(self._home).mkdir(exist_ok=True)
        (settings / "log4j2.properties").write_text(_LOGGING, encoding="utf-8")
        opened = [f"--add-opens={package}=ALL-UNNAMED" for package in _OPENED]
        command = [
            str(java()), *own_options(self._home), f"-Xmx{heap_bytes >> 20}m", *opened, *options,
            "-Djdk.reflect.useDirectMethodHandle=false",
            "-Dio.netty.tryReflectionSetAccessible=true",
            "-cp", f"{settings}:{programs / 'jars'}/*", main, *arguments,
        ]  # fmt: skip
        with self.log.open("ab") as log:
            self._process.launch(
                command,
                log=log,
                cwd=self._home,
                # What it has in memory is nowhere else wanted, and nobody is left to ask it.
                with_parent=signal.SIGKILL,
                options={"env": {**self._environment(programs, settings), **environment}},
            )

    def _environment(self, programs: Path, settings: Path) -> dict[str, str]:
        """Nothing of the caller's: no SPARK_* variable may change the cluster."""
        return {
            "PATH": os.defpath,
            "JAVA_HOME": str(java().parent.parent),
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "SPARK_HOME": str(programs),
            "SPARK_CONF_DIR": str(settings),
            "SPARK_SCALA_VERSION": "2.13",
            "SPARK_LOCAL_IP": LOOPBACK,
            "SPARK_LOCAL_DIRS": str(self._home / "local"),
            "TMPDIR": str(temporary(self._home)),
        }

    def listens_at(self, port: int) -> None:
        """Wait until it takes connections there. Raises `EngineError` where it does not."""
        for _ in range(round(START_S_MAX / _ASK_AGAIN_S)):
            try:
                socket.create_connection((LOOPBACK, port)).close()
            except OSError:
                if not self.alive or self._process.ended_within(_ASK_AGAIN_S):
                    raise self.error("ended at its start") from None
            else:
                return
        raise self.error(f"takes no connection after {START_S_MAX:g} s")

    def ended_within(self, limit_s: float) -> bool:
        """Wait for its end, at most `limit_s`."""
        return self._process.ended_within(limit_s)

    def error(self, what: str) -> EngineError:
        """An error with its last words."""
        said = _last_words(self.log)
        return EngineError(
            f"spark: the {self.name} {what}" + (f": {said}" if said else ""),
            hint=f"see {self.log}",
        )

    def end(self, *steps: signal.Signals) -> Sequence[int]:
        """End it. Returns the processes ended."""
        return self._process.end([(step, END_S_MAX) for step in steps])


def _last_words(log: Path) -> str:
    """The end of a log without the traces of Java, in one line."""
    lines = [line.strip() for line in tail(log).splitlines()]
    words = [line for line in lines if line and not line.startswith(("at ", "... "))]
    return "; ".join(words[-_LINES_SHOWN:])[:_LETTERS_SHOWN]


def free_port() -> int:
    """A port of the loopback interface that nobody has now."""
    with socket.create_server((LOOPBACK, 0)) as free:
        return int(free.getsockname()[1])


def of_home(home: Path) -> list[int]:
    """The living processes of a cluster, executors included."""
    return processes_with(mark(home))


def end_all(home: Path) -> Sequence[int]:
    """End what is left of a cluster, and the Python processes of its executors with them. Returns
    the processes ended."""
    ended = of_home(home)
    for pid in ended:
        with contextlib.suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)
    for pid in ended:
        if not gone_within(pid, END_S_MAX):
            raise EngineError(f"cannot end process {pid} of Spark", hint=f"kill -9 {pid}")
    return ended
