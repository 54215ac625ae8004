"""The installed engines, benchmarks and report formats, by entry point.

Listing names imports none of them; loading imports exactly the one requested.
"""

import re
from collections.abc import Collection
from contextlib import suppress
from importlib.metadata import EntryPoint, entry_points
from typing import TYPE_CHECKING, Any

from loadstone.errors import EngineError, InputError, NotInstalledError
from loadstone.plan.variant import AA_SUFFIX, ENGINES_OF_SCHEMES, RELEASE
from loadstone.text.near import nearest, question

if TYPE_CHECKING:
    from loadstone.benchmarks.base import Benchmark
    from loadstone.clients.base import Client
    from loadstone.engines.base import Engine
    from loadstone.engines.system import System
    from loadstone.plan.choices import Choices
    from loadstone.plan.plan import Plan

ROADS = {"engines": "statements", "clients": "a client program"}
"""Kind of entry point of an engine -> what drives it."""
OTHER_ROAD = {"engines": "clients", "clients": "engines"}
_NAME = re.compile(r"[A-Za-z0-9_.+-]{1,40}")


def engine_names() -> list[str]:
    """Names of the installed engines, sorted; none is imported."""
    return _names("engines")


def benchmark_names() -> list[str]:
    """Names of the installed benchmarks, sorted; none is imported."""
    return _names("benchmarks")


def report_names() -> list[str]:
    """Names of the installed report formats, sorted; none is imported."""
    return _names("reports")


def engine_named(variant: str) -> str:
    """The engine that a user's text names: `sqlite?cache=…`, `postgres://…`; or `InputError`."""
    name = variant.partition("://")[0] if "://" in variant else variant.removesuffix(AA_SUFFIX)
    name = name.partition("?")[0].strip()
    name = name if "://" in variant else name.partition(RELEASE)[0]
    if not _NAME.fullmatch(name):
        # Not shown: what was mistyped may hold a password.
        raise InputError(
            "a variant names no engine",
            hint="write ENGINE, ENGINE?tactic=value or ENGINE://USER@HOST:PORT/DATABASE",
        )
    # A URL's scheme alone has other names: a variant is called as its engine is.
    return ENGINES_OF_SCHEMES.get(name, name) if "://" in variant else name


def client_names() -> list[str]:
    """Names of the engines that a calling program speaks to, sorted; none is imported."""
    return _names("clients")


def load_system(seam: str, name: str) -> "type[System]":
    """Import one engine for a benchmark: by `load_engine` or by `load_client`."""
    return load_engine(name) if seam == "engines" else load_client(name)


def load_client(name: str) -> "type[Client]":
    """Import one engine behind its calling program. Errors as of `load_engine`."""
    kind: type[Client] = _load("clients", name)
    return kind


def load_engine(name: str) -> "type[Engine]":
    """Import one engine. Raises `InputError` for an unknown name, and `NotInstalledError` if a
    module that it needs is missing."""
    kind: type[Engine] = _load("engines", name)
    return kind


def load_benchmark(name: str) -> "type[Benchmark]":
    """Import one benchmark. `InputError` for an unknown name."""
    kind: type[Benchmark] = _load("benchmarks", name)
    return kind


def benchmarks_by_road() -> dict[str, list[str]]:
    """The installed benchmarks by the road on which they drive an engine. Each is imported; one
    whose package is broken is left out."""
    found: dict[str, list[str]] = {seam: [] for seam in ROADS}
    for name in benchmark_names():
        with suppress(EngineError):
            found[load_benchmark(name).seam].append(name)
    return found


def chosen_benchmark(choices: "Choices") -> "Benchmark":
    """The benchmark of these choices: an installed one, or a workload of the user's own, whose
    files are read. Raises `InputError`."""
    if choices.data and not choices.sql:
        raise InputError(
            "--data needs --sql", hint="or write a workload.toml: docs/reference/workload.md"
        )
    if choices.dialect and not choices.sql:
        raise InputError(
            "--dialect needs --sql", hint='a workload names its own: dialect = "postgresql"'
        )
    if choices.types and not choices.data:
        raise InputError("--types needs --data", hint="a workload.toml names types in its [data]")
    if not choices.sql and not is_path(choices.benchmark):
        return load_benchmark(choices.benchmark)()
    from loadstone.workload import reading
    from loadstone.workload.benchmark import benchmark_of

    if choices.sql:
        # If every variant names a database, a query without data is about the tables there.
        stands = bool(choices.on) and all("://" in name for name in choices.on)
        among = tuple(dict.fromkeys(_dialect_of(name) for name in choices.on))
        one = reading.of_one(
            choices.sql, choices.data, choices.types,
            may_stand=stands, written_in=choices.dialect, among=among,
        )  # fmt: skip
        return benchmark_of(one, "sql")
    from loadstone.workload.known import is_known

    if is_known(choices.benchmark):
        sizes = choices.rows or (None,)
        if len(sizes) > 1:
            raise InputError(f"{choices.benchmark} has one scale a run", hint="give --rows once")
        return benchmark_of(reading.known_to_all(choices.benchmark, sizes[0]), choices.benchmark)
    from loadstone.workload.expected import with_stored

    workload = with_stored(reading.read_workload(choices.benchmark), choices.benchmark)
    return benchmark_of(workload, choices.benchmark)


def _dialect_of(variant: str) -> str:
    """The dialect of the engine that a user's text names. Raises as `load_engine`."""
    dialect: str = load_engine(engine_named(variant)).dialect
    return dialect


def benchmark_of_plan(plan: "Plan") -> "Benchmark":
    """The benchmark of a plan; of a user's workload as the plan keeps it."""
    if plan.workload is None:
        return load_benchmark(plan.benchmark)()
    from loadstone.workload.benchmark import benchmark_of

    return benchmark_of(plan.workload, plan.benchmark)


def is_path(name: str) -> bool:
    """Whether a benchmark's name is the path of a workload, or that of a known workload:
    `sysbench:NAME`."""
    return "/" in name or name in (".", "..") or name.endswith(".toml") or ":" in name


def load_report(name: str) -> Any:
    """Import one report format, a class of `report.base.Report`: a name that is not imported here,
    so that who looks up an engine does not know the reports. `InputError` for an unknown name."""
    return _load("reports", name)


def _points(kind: str) -> dict[str, EntryPoint]:
    return {point.name: point for point in entry_points(group=f"loadstone.{kind}")}


def _names(kind: str) -> list[str]:
    return sorted(_points(kind))


def unknown(what: str, name: str, known: Collection[str]) -> InputError:
    """The error for an unknown name, which may be the scheme of an engine's URLs."""
    same = ENGINES_OF_SCHEMES.get(name, name)
    near = [same] if same in known else nearest(name, known)
    if what == "benchmark":
        from loadstone.workload.places import near_places

        near = [*near_places(name), *near]
    hint = f"{question(near)}installed: {_listed(known)}"
    return InputError(f"there is no {what} {name!r}", hint=hint)


def _listed(known: Collection[str]) -> str:
    return ", ".join(sorted(known)) or "nothing: is Loadstone itself installed?"


def _load(kind: str, name: str) -> Any:
    points = _points(kind)
    if name not in points:
        what = "engine" if kind == "clients" else kind.removesuffix("s")
        known = _listed(points)
        other = OTHER_ROAD.get(kind)
        if other and name in _points(other):
            raise InputError(
                f"{name} is driven by {ROADS[other]} alone, and this benchmark needs {ROADS[kind]}",
                hint=f"this one's engines: {known}",
            )
        raise unknown(what, name, points)
    point = points[name]
    try:
        return point.load()
    except ModuleNotFoundError as error:
        package = point.dist.name if point.dist else "loadstone"
        raise NotInstalledError(
            f"{name} needs the module {error.name!r}, which is not installed",
            hint=f"install it with: pip install '{package}[{name}]'",
        ) from error
    except Exception as error:  # code of third parties may fail in any way
        package = point.dist.name if point.dist else "loadstone"
        raise EngineError(
            f"{name} cannot be loaded from {point.value!r}: {type(error).__name__}: {error}",
            hint=f"mend or remove the package {package}, which registers it",
        ) from error
