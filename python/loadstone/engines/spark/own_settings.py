"""Any setting of Spark by its own name: `spark?set.spark.sql.files.maxPartitionBytes=1m`.

Spark takes any name and keeps it, so a mistyped one would be set, read back and have no effect:
the names are those in the programs of the wheel.
"""

import re
from collections.abc import Collection, Mapping
from functools import cache
from zipfile import ZipFile

from loadstone.engines.setting import Settings
from loadstone.engines.spark.installed import spark_home
from loadstone.errors import EngineError

_ARCHIVES = {
    "spark-core_": re.compile(
        r"org/apache/spark/internal/config/(package|Kryo|Network|Python)\$\.class"
    ),
    "spark-catalyst_": re.compile(r"org/apache/spark/sql/internal/(Static)?SQLConf\$\.class"),
    "spark-sql-api_": re.compile(r"org/apache/spark/sql/internal/SqlApiConfHelper\$\.class"),
}
"""The classes that define settings, and the beginning of the archive that has each."""
_STATIC = "StaticSQLConf"
_NAME = re.compile(rb"\x01..(spark\.[A-Za-z0-9_.]+)(?=[\x00-\x1f])", re.DOTALL)
"""A text among the constants of a class: a tag, two bytes of length, the letters."""
SETTINGS = Settings.beside(__file__, "spark")


@cache
def known() -> tuple[frozenset[str], frozenset[str]]:
    """The settings of this Spark: those that a running session takes, and those of a start."""
    session: set[str] = set()
    start: set[str] = set()
    for archive in (spark_home() / "jars").glob("spark-*.jar"):
        classes = next(
            (of for name, of in _ARCHIVES.items() if archive.name.startswith(name)), None
        )
        if classes is None:
            continue
        with ZipFile(archive) as opened:
            for name in filter(classes.fullmatch, opened.namelist()):
                found = {text.decode() for text in _NAME.findall(opened.read(name))}
                of_session = "/sql/" in name and _STATIC not in name
                (session if of_session else start).update(found)
    start -= session
    return frozenset(session), frozenset(start)


def check(name: str) -> None:
    """Raise `InputError` for a setting that this Spark does not have."""
    if not any(name in names for names in known()):
        raise SETTINGS.unknown(name, [each for names in known() for each in names])


def of_start(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that driver and executors are started with."""
    return {name: value for name, value in settings.items() if name in known()[1]}


def of_session(settings: Mapping[str, str]) -> dict[str, str]:
    """Those that a session takes."""
    return {name: value for name, value in settings.items() if name in known()[0]}


def reported(wanted: Mapping[str, str], readings: Mapping[str, str]) -> dict[str, str]:
    """Each as the driver has it."""
    return {name: SETTINGS.shown(value, readings[name]) for name, value in wanted.items()}


def refused_by(error: EngineError, names: Collection[str]) -> EngineError:
    """The error for a start that failed with settings of the user's."""
    hint = f"Spark may not take {', '.join(sorted(names))}; {error.hint}" if names else error.hint
    return EngineError(error.message, hint=hint)
