"""Values that a shell completes: names of benchmarks, engines, operations, presets and formats.

`loadstone --install-completion` sets the shell up. The shell waits for the answer, so each
completer imports what it needs, and an engine only for its tactics."""

from collections.abc import Callable, Iterable

Completer = Callable[[str], list[str]]


def _matching(words: Iterable[str]) -> Callable[[str], list[str]]:
    return lambda incomplete: [word for word in words if word.startswith(incomplete)]


def benchmarks(incomplete: str) -> list[str]:
    """Installed benchmarks and known workloads; a path is the shell's own to complete."""
    from loadstone import registry
    from loadstone.workload import known

    return _matching([*registry.benchmark_names(), *known.names()])(incomplete)


def engines(incomplete: str) -> list[str]:
    """The engines; behind a question mark their tactics, where the values have names."""
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
            continue  # a benchmark that cannot be loaded has no operation to offer
    return _matching(found)(incomplete)


def presets(incomplete: str) -> list[str]:
    """The presets of a run."""
    from loadstone.planning.planner import PRESETS

    return _matching(PRESETS)(incomplete)


def temperatures(incomplete: str) -> list[str]:
    """The temperatures of a cell."""
    from loadstone.plan.choices import TEMPERATURES

    return _matching(TEMPERATURES)(incomplete)


def reports(incomplete: str) -> list[str]:
    """Report formats."""
    from loadstone import registry

    return _matching(registry.report_names())(incomplete)


OF_CHOICES: dict[str, Completer] = {
    "benchmark": benchmarks,
    "on": engines,
    "operations": operations,
    "preset": presets,
    "temperature": temperatures,
}
"""By the name of a choice."""
