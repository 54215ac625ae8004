"""Values that a shell completes: names of benchmarks, engines, operations, presets and formats.

`loadstone --install-completion` sets the shell up. Only what is requested is imported, and an
engine only for its tactics: a shell waits for it.
"""

from collections.abc import Callable, Iterable

Completer = Callable[[str], list[str]]

TEMPERATURES = ("warm", "cold", "hot")


def _matching(words: Iterable[str]) -> Callable[[str], list[str]]:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def benchmarks(incomplete: str) -> list[str]:
    """Installed benchmarks and known workloads; a path is the shell's own to complete."""
    from loadstone import registry
    from loadstone.workload import known

    return _matching([*registry.benchmark_names(), *known.names()])(incomplete)


def engines(incomplete: str) -> list[str]:
    """Engines of any road; behind a question mark the tactics whose values have names."""
    from loadstone import registry

    if "?" in incomplete:
        return _matching(_variants(incomplete.partition("?")[0]))(incomplete)
    return _matching(sorted({*registry.engine_names(), *registry.client_names()}))(incomplete)


def _variants(engine: str) -> list[str]:
    """An engine with each named value of each of its tactics."""
    from loadstone import registry
    from loadstone.errors import LoadstoneError

    try:
        tactics = registry.load_engine(engine).tactics()
    except LoadstoneError:
        return []
    return [
        f"{engine}?{name}={value}"
        for name, tactic in tactics.items()
        for value in tactic.names
        if not value.startswith("<")
    ]


def operations(incomplete: str) -> list[str]:
    """Operations of the installed benchmarks at their default editions."""
    from loadstone import registry
    from loadstone.errors import LoadstoneError

    found: dict[str, None] = {}
    for name in registry.benchmark_names():
        try:
            benchmark = registry.load_benchmark(name)()
            scale = benchmark.default_scales[0]
            found |= dict.fromkeys(
                item.name for item in benchmark.operations(benchmark.default_edition, scale)
            )
        except LoadstoneError:
            continue  # one that cannot be loaded has no operation to offer
    return _matching(found)(incomplete)


def presets(incomplete: str) -> list[str]:
    """The presets of a run."""
    from loadstone.planning.planner import PRESETS

    return _matching(PRESETS)(incomplete)


def reports(incomplete: str) -> list[str]:
    """Report formats."""
    from loadstone import registry

    return _matching(registry.report_names())(incomplete)


OF_CHOICES: dict[str, Completer] = {
    "benchmark": benchmarks,
    "on": engines,
    "operations": operations,
    "preset": presets,
    "temperature": _matching(TEMPERATURES),
}
"""By the name of a choice."""
