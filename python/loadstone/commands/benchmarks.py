"""`loadstone benchmarks`: what can be run, and each benchmark's operations."""

from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

if TYPE_CHECKING:
    from collections.abc import Mapping

    from rich.table import Table

    from loadstone.benchmarks.base import Benchmark
    from loadstone.benchmarks.operation import Operation

COLD = "cold"
"""Said among an operation's presets, and none: the default preset measures it cold, too."""
WIDE_COLUMNS = 110
"""From this width on there is room for an operation's design and presets."""


def benchmarks(
    name: Annotated[
        str | None, typer.Argument(metavar="BENCHMARK", help="List the operations of this one.")
    ] = None,
    edition: Annotated[
        str | None, typer.Option(metavar="NAME", help="List only this edition.")
    ] = None,
    inputs: Annotated[
        str | None,
        typer.Option(
            metavar="OPERATION", help="Print the input of each variation of this operation."
        ),
    ] = None,
    rows: Annotated[
        str | None, typer.Option(metavar="N", help="Print inputs at this scale.")
    ] = None,
    count: Annotated[
        int | None,
        typer.Option(metavar="N", min=1, help="Print the inputs of N variations: by default 10."),
    ] = None,
    form: Annotated[
        Literal["text", "json"],
        typer.Option("--format", "-f", metavar="NAME", help="Print text or json."),
    ] = "text",
) -> None:
    """List the benchmarks and their operations."""
    from loadstone import registry
    from loadstone.diagnostics import console, show_result
    from loadstone.errors import InputError

    _refuse_idle({"--rows": rows, "--count": count}, inputs, "--inputs", "--inputs OPERATION")
    _refuse_idle(
        {"--inputs": inputs, "--edition": edition}, name, "a benchmark", "one of those listed"
    )
    if form == "json":
        from loadstone.control_characters import legible_json

        if inputs is not None:
            raise InputError("--inputs prints lines", hint="leave out --format")
        names = [name] if name else _names()
        reported = [_described(registry.load_benchmark(one)(), edition) for one in names]
        show_result(legible_json({"benchmarks": reported}, indent=2))
        return
    screen = console()
    if name is None:
        screen.print(_overview([registry.load_benchmark(one)() for one in _names()]))
        screen.print("loadstone benchmarks NAME lists the operations of one.")
        return
    benchmark = registry.load_benchmark(name)()
    if inputs is not None:
        _print_inputs(benchmark, edition or benchmark.default_edition, inputs, rows, count or 10)
        return
    for one in [edition] if edition else benchmark.editions:
        screen.print(_operations(benchmark, one, wide=screen.width >= WIDE_COLUMNS))


def _refuse_idle(options: "Mapping[str, object]", beside: object, needed: str, add: str) -> None:
    """Raise `InputError` where an option is given without what alone gives it an effect."""
    from loadstone.errors import InputError

    for option, value in options.items():
        if value is not None and beside is None:
            raise InputError(f"{option} needs {needed}", hint=f"add {add}")


def _print_inputs(
    benchmark: "Benchmark", edition: str, name: str, rows: str | None, count: int
) -> None:
    """A line for each variation: its number, and its input."""
    from loadstone.diagnostics import show_result
    from loadstone.errors import InputError
    from loadstone.text.parsing import whole_number

    scale = whole_number(rows, "--rows") if rows else _scale(benchmark, edition)
    operations = {item.name: item for item in benchmark.operations(edition, scale)}
    if name not in operations:
        raise InputError(
            f"{benchmark.name} {edition} has no operation {name!r}",
            hint=f"loadstone benchmarks {benchmark.name} lists them",
        )
    operation = operations[name]
    for variation in range(min(count, len(operation.texts))):
        show_result(f"{variation}\t{benchmark.input(edition, scale, operation, variation)}")


def _names() -> list[str]:
    from loadstone import registry

    return registry.benchmark_names()


def _described(benchmark: "Benchmark", edition: str | None) -> dict[str, Any]:
    """A benchmark and its operations as plain values."""
    editions = [edition] if edition else benchmark.editions
    return {
        "benchmark": benchmark.name,
        "title": benchmark.title,
        "default_edition": benchmark.default_edition,
        "editions": {
            one: [
                {
                    "operation": item.name,
                    "title": item.title,
                    "group": item.group,
                    "query": item.query,
                    "design": item.design,
                    "presets": sorted(item.presets - {COLD}),
                    "cold_by_default": COLD in item.presets,
                }
                for item in benchmark.operations(one, _scale(benchmark, one))
            ]
            for one in editions
        },
    }


def _overview(known: "list[Benchmark]") -> "Table":
    from rich.table import Table

    table = Table("benchmark", "description", "editions", "operations")
    for benchmark in known:
        counts = [
            len(benchmark.operations(one, _scale(benchmark, one))) for one in benchmark.editions
        ]
        table.add_row(
            benchmark.name,
            benchmark.title,
            "\n".join(
                f"{one} (default)" if one == benchmark.default_edition else one
                for one in benchmark.editions
            ),
            "\n".join(map(str, counts)),
        )
    return table


def _operations(benchmark: "Benchmark", edition: str, *, wide: bool) -> "Table":
    from rich import box
    from rich.table import Table

    table = Table(title=f"{benchmark.name} {edition}", box=box.SIMPLE_HEAD, pad_edge=False)
    # A name is there to be copied: it is never cut.
    table.add_column("operation", no_wrap=True)
    for heading in ("query", "description", *(["design", "presets"] if wide else [])):
        table.add_column(heading)
    group = ""
    for operation in benchmark.operations(edition, _scale(benchmark, edition)):
        if operation.group != group:
            table.add_section()
            group = operation.group
        more = (operation.design, _presets(operation)) if wide else ()
        table.add_row(operation.name, operation.query, operation.title, *more)
    return table


def _presets(operation: "Operation") -> str:
    """The presets that name it, and whether the default one measures it cold, too."""
    named = sorted(operation.presets - {COLD})
    return ", ".join([*named, *(["default: cold, too"] if COLD in operation.presets else [])])


def _scale(benchmark: "Benchmark", edition: str) -> int:
    """A scale at which the edition is defined."""
    from loadstone.errors import InputError

    for rows in benchmark.default_scales:
        try:
            benchmark.check_scale(edition, rows)
        except InputError:
            continue
        return rows
    benchmark.check_scale(edition, benchmark.default_scales[0])
    return benchmark.default_scales[0]
