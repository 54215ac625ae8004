"""`loadstone quel`: the tree of a QUEL text, its SQL, and its expected answer."""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from rich.tree import Tree

    from loadstone.engines.capabilities import Attribute
    from loadstone.quel.tree import Node

TEXT_BYTES_MAX = 1 << 20
"""Of a program."""
QUEL = "quel"
"""The dialect of an engine that is reported the program as it is."""
NESTED_MAX = 40
"""Parentheses; each is several calls deep where a tree is walked."""
_ASK = ("retrieve", "append", "replace", "delete")


def quel(
    text: Annotated[
        str | None,
        typer.Argument(metavar="TEXT", help='Read this program, or - for stdin: "range of t is …"'),
    ] = None,
    on: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ENGINE",
            help="Show the SQL for this engine; repeatable; by default for all installed.",
        ),
    ] = None,
    file: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Read the program from a file.")
    ] = None,
    benchmark: Annotated[
        str, typer.Option(metavar="NAME", help="Take the relations of this benchmark.")
    ] = "wisconsin",
    edition: Annotated[
        str | None,
        typer.Option(metavar="NAME", help="Choose the edition; by default as in `loadstone data`."),
    ] = None,
    rows: Annotated[
        str | None,
        typer.Option(metavar="N", help="Choose the scale; by default as in `loadstone data`."),
    ] = None,
) -> None:
    """Show a QUEL program's tree, its SQL and its answer.

    The SQL is shown for each engine. The answer is the one expected of all of them.
    """
    from loadstone.commands.data import DEFAULTS
    from loadstone.diagnostics import console, show_result
    from loadstone.quel import tree
    from loadstone.text.parsing import whole_number

    edition_default, rows_default = DEFAULTS.get(benchmark, ("(any edition)", "10000"))
    edition = edition or edition_default
    scale = whole_number(rows or rows_default, "--rows")
    source = _source(text, file)
    program = tree.parse(source)
    relations = _Relations(benchmark, edition)
    # First of all, since the oracle says best what is wrong with a program.
    answer = relations.answer(source, program, scale)
    dialects = _dialects(on)
    console().print(_drawn(program))
    show_result(f"\nQUEL\n{tree.render(program).rstrip()}")
    for name, dialect in dialects:
        show_result(f"\n{'QUEL' if dialect == QUEL else 'SQL'} for {name}")
        for statement in _statements(program):
            show_result(relations.translated(statement, dialect))
    show_result(f"\nAnswer of {benchmark} {edition} at n = {scale:,}")
    show_result(answer)


class _Relations:
    """The relations of one benchmark's edition, under their own names."""

    def __init__(self, benchmark: str, edition: str) -> None:
        from loadstone import _core
        from loadstone.errors import InputError

        self.benchmark, self.edition = benchmark, edition
        try:
            self.names = _core.relations(benchmark, edition)
        except ValueError as error:
            raise InputError(str(error), hint="see loadstone benchmarks") from None

    def attributes(self, relation: str) -> "Sequence[Attribute]":
        """The attributes of a relation. Raises `InputError` where the edition has none so named."""
        from loadstone import _core
        from loadstone.engines.capabilities import Attribute
        from loadstone.errors import InputError

        if relation not in self.names:
            raise InputError(
                f"{self.benchmark} {self.edition} has no relation {relation!r}",
                hint=f"it has {', '.join(self.names)}; see --benchmark and --edition",
            )
        pairs = _core.attributes(self.benchmark, self.edition, relation)
        return [Attribute(name, kind) for name, kind in pairs]

    def translated(self, program: "Sequence[Node]", dialect: str) -> str:
        """A statement's SQL, or why there is none."""
        from loadstone.errors import UnsupportedError
        from loadstone.quel.translate import translate_tree

        try:
            return translate_tree(program, dialect, lambda name: name, self.attributes).text
        except UnsupportedError as error:
            return f"-- none: {error.message} ({error.hint})"

    def answer(self, source: str, program: "Sequence[Node]", rows: int) -> str:
        """The oracle's answer, over the relations that the program names."""
        from loadstone import _core
        from loadstone.errors import InputError

        asked = [statement["kind"] for statement in program if statement["kind"] in _ASK]
        if not asked:
            return "none: the program has no retrieve or update"
        for relation in _mentioned(program)[:1]:
            self.attributes(relation)  # later ones may be the program's own
        oracle = _core.Oracle()
        try:
            for relation in dict.fromkeys(_mentioned(program)):
                if relation in self.names:
                    oracle.add(self.benchmark, self.edition, relation, rows)
            count, checksum = oracle.answer(source)
        except ValueError as error:
            raise InputError(str(error)) from None
        if asked[-1] == "retrieve":
            return f"{count:,} {'row' if count == 1 else 'rows'}, checksum {checksum}"
        tuples = "tuple" if count == 1 else "tuples"
        return f"{count:,} {tuples} changed; the relation's checksum afterwards {checksum}"


def _shallow(text: str) -> str:
    """The same text. Raises `InputError` if it is nested too deeply to be drawn."""
    from loadstone.errors import InputError

    depth = deepest = 0
    for letter in text:
        depth += (letter == "(") - (letter == ")")
        deepest = max(deepest, depth)
    if deepest > NESTED_MAX:
        raise InputError(
            f"the program is nested {deepest:,} deep; at most {NESTED_MAX} can be shown",
            hint="split it with retrieve into",
        )
    return text


def _source(text: str | None, file: Path | None) -> str:
    from loadstone.errors import InputError
    from loadstone.text.files import read_stdin, read_text

    if (text is None) == (file is None):
        raise InputError(
            "give one program: as an argument, as - for stdin, or with --file",
            hint='loadstone quel "range of t is tenktup1 retrieve (t.all) where t.unique2 < 100"',
        )
    if file is not None:
        return _shallow(read_text(file, TEXT_BYTES_MAX, "the program"))
    given = read_stdin(TEXT_BYTES_MAX, "the program") if text == "-" else str(text)
    return _shallow(given)


def _dialects(on: Sequence[str] | None) -> list[tuple[str, str]]:
    """(engine, dialect) of each engine requested."""
    from loadstone import registry
    from loadstone.errors import EngineError

    found = []
    # By the engine's name alone: a URL is nothing to show.
    for name in map(registry.engine_named, on) if on else registry.engine_names():
        try:
            engine = registry.load_engine(name)
        except EngineError:
            if on:
                raise
            continue
        # An engine that speaks QUEL gets the program as it is shown already.
        if on or (engine.capabilities.answers and engine.dialect != QUEL):
            found.append((name, engine.dialect))
    return found


def _statements(program: "Sequence[Node]") -> "list[list[Node]]":
    """Each statement with the `range of` statements before it, as a program of its own."""
    ranges: list[Node] = []
    found = []
    for statement in program:
        if statement["kind"] == "range":
            ranges.append(statement)
        elif statement["kind"] != "go":
            found.append([*ranges, statement])
    return found


def _mentioned(program: "Sequence[Node]") -> list[str]:
    return [str(statement["relation"]) for statement in program if "relation" in statement]


# --- the tree, drawn ------------------------------------------------------------------------------

_LEAVES = ("integer", "real", "text", "attribute", "all")


def _drawn(program: "Sequence[Node]") -> "Tree":
    from rich.tree import Tree

    root = Tree("program")
    for statement in program:
        _grow(root, statement)
    return root


def _grow(parent: "Tree", node: "Node", role: str = "") -> None:
    """Add a node with what is under it; `role` says what it is to its parent."""
    if node["kind"] == "named" and not node["name"]:
        _grow(parent, node["value"])
        return
    branch = parent.add(f"{role}: {_label(node)}" if role else _label(node))
    if node["kind"] in _LEAVES:
        return
    for key, value in node.items():
        if isinstance(value, dict):
            _grow(branch, value, key if key in ("by", "where") else "")
        elif isinstance(value, list):
            for item in value:
                if isinstance(item, dict) and "kind" in item:
                    _grow(branch, item, "by" if key == "by" else "")


def _label(node: "Node") -> str:
    match node["kind"]:
        case "integer" | "real":
            return str(node["value"])
        case "text":
            return f'"{node["value"]}"'
        case "attribute":
            return f"{node['variable']}.{node['name']}"
        case "all":
            return f"{node['variable']}.all"
        case "unary" | "binary":
            return str(node["operator"])
        case "named":
            return f"{node['name']} ="
        case "aggregate" | "call":
            return f"{node['function']}()"
        case kind:
            return " ".join([str(kind), *map(_word, _own(node))])


def _own(node: "Node") -> list[tuple[str, Any]]:
    """A statement's own words, without the trees below it."""
    return [
        (key, value)
        for key, value in node.items()
        if key not in ("kind", "targets", "where", "value") and value not in (None, False, [])
    ]


def _word(pair: tuple[str, Any]) -> str:
    key, value = pair
    if value is True:
        return key
    if isinstance(value, list):
        parts = [f"{v['name']} {v['type']}" if isinstance(v, dict) else str(v) for v in value]
        return f"{key} ({', '.join(parts)})"
    return f"{key} {value}"
