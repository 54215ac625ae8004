r"""Scripts of pgbench, as far as they are read: `\set` lines, and statements.

    \set aid random(1, 100000 * :scale)
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;

As pgbench does, concurrent users draw anew for each transaction, behind the first ones, which are
drawn when a run is planned. All come from the workload's seed: the distributions are pgbench's
(PostgreSQL's manual, pgbench, "Random Functions"), the numbers are ours. What is not read is
refused by its name, never left out.
"""

import ast
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import InputError
from loadstone.plan.workload import PROGRAM, Draw
from loadstone.workload.parameters import start_of, values_of

WEIGHT_MAX = 1_000_000
_SET = re.compile(r"\\set\s+([A-Za-z_][A-Za-z0-9_]*)\s+(.+)", re.DOTALL)
_VARIABLE = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")
_OUTSIDE = re.compile(
    r"""[eE]'(?:[^'\\]|\\.)*' | '[^']*' | "[^"]*" | --[^\n]* | /\*.*?\*/
    | (?P<tag>\$(?:[^\W\d]\w*)?\$).*?(?P=tag) | (?P<command>\\(?:\w+|.?))""",
    re.DOTALL | re.VERBOSE,
)
"""Texts, names and comments, in which a backslash means nothing to pgbench; else the command that
it begins."""
_COMMANDS = r"of pgbench's own commands only \set NAME EXPRESSION is, on a line of its own"
_PREFIX = "variable_"
"""Before the name of a variable in an expression, so that none is a word of Python's."""


@dataclass(frozen=True, slots=True)
class Script:
    """The settings of a script, in its order, and the text of its statements."""

    sets: tuple[tuple[str, ast.expr], ...]
    text: str

    def draws(self, seed: int, statement: str, scale: int, where: str) -> tuple[Draw, ...]:
        """The way in which its variables get their values. Raises `InputError`, also where they
        have none."""
        found = [Draw("scale", PROGRAM, words=(str(scale),))]
        known = {"scale": 0}
        for place, (name, expression) in enumerate(self.sets):
            start = start_of(seed, statement, f"{place} {name}")
            stated = f"{where}: \\set {name}"
            try:
                words = tuple(_words(expression, known, stated))
            except RecursionError as error:
                raise InputError(f"{stated} has too many parts", hint=_HINT) from error
            found.append(Draw(name, PROGRAM, start, words=words))
            known[name] = len(found) - 1
            values_of(found, 1, stated)
        return tuple(found)


_OF_ACCOUNT = "UPDATE pgbench_accounts SET abalance = abalance + :delta WHERE aid = :aid"
_BALANCE = "SELECT abalance FROM pgbench_accounts WHERE aid = :aid"
_HISTORY = (
    "INSERT INTO pgbench_history (tid, bid, aid, delta, mtime)"
    " VALUES (:tid, :bid, :aid, :delta, CURRENT_TIMESTAMP)"
)
_DRAWN = (
    r"\set aid random(1, 100000 * :scale)", r"\set bid random(1, 1 * :scale)",
    r"\set tid random(1, 10 * :scale)", r"\set delta random(-5000, 5000)",
)  # fmt: skip
_OF_TELLER = "UPDATE pgbench_tellers SET tbalance = tbalance + :delta WHERE tid = :tid"
_OF_BRANCH = "UPDATE pgbench_branches SET bbalance = bbalance + :delta WHERE bid = :bid"


def _built_in(sets: Sequence[str], *statements: str) -> str:
    return "\n".join([*sets, *(f"{one};" for one in statements)])


BUILT_IN: Mapping[str, str] = {
    "tpcb-like": _built_in(
        _DRAWN, "BEGIN", _OF_ACCOUNT, _BALANCE, _OF_TELLER, _OF_BRANCH, _HISTORY, "END"
    ),
    "simple-update": _built_in(_DRAWN, "BEGIN", _OF_ACCOUNT, _BALANCE, _HISTORY, "END"),
    "select-only": _built_in(_DRAWN[:1], _BALANCE),
}
"""pgbench's built-in scripts by their names: PostgreSQL's manual, pgbench, "What Is the
'Transaction' Actually Performed in pgbench?"."""


def weighted(name: str, where: str) -> tuple[str, int]:
    """A script's name, and its weight behind `@`, as pgbench's `-f` and `-b` have it."""
    head, at, weight = name.rpartition("@")
    if not at:
        return name, 1
    if not weight.isdecimal() or not 0 < int(weight) <= WEIGHT_MAX:
        raise InputError(
            f"{where}: {name[:60]!r} has no weight", hint=f"write FILE@N, N from 1 to {WEIGHT_MAX}"
        )
    return head, int(weight)


def script_of(text: str, where: str) -> Script:
    """Read a script. Raises `InputError`."""
    sets: list[tuple[str, ast.expr]] = []
    rest: list[str] = []
    for line in _lines(text):
        if not line.lstrip().startswith("\\"):
            rest.append(line)
            continue
        stated = _SET.fullmatch(line.strip())
        if stated is None:
            raise InputError(
                f"{where} has {line.split()[0][:30]}, which is not read",
                hint=_COMMANDS,
            )
        if any(name == stated[1] for name, _ in sets) and any(one.strip() for one in rest):
            raise InputError(
                f"{where}: \\set {stated[1]} stands behind a statement, and sets it a second time",
                hint="give the second value another name",
            )
        sets.append((stated[1], _expression(stated[2], f"{where}: \\set {stated[1]}")))
    statement = "\n".join(rest).strip()
    if (command := _command_within(statement)) is not None:
        raise InputError(f"{where} has {command[:30]}, which is not read", hint=_COMMANDS)
    return Script(tuple(sets), statement)


def _command_within(text: str) -> str | None:
    r"""The first command of pgbench's that stands behind a statement on its line, as `\gset` does:
    a backslash that is not within a text, a name or a comment."""
    return next((one["command"] for one in _OUTSIDE.finditer(text) if one["command"]), None)


def _lines(text: str) -> Iterator[str]:
    """Lines without comments; one that ends in a backslash goes on in the next."""
    kept = ""
    for line in text.splitlines():
        if line.lstrip().startswith("--"):
            continue
        if line.endswith("\\"):
            kept += line[:-1] + " "
            continue
        yield kept + line
        kept = ""
    if kept.strip():
        yield kept


def _expression(text: str, where: str) -> ast.expr:
    try:
        tree = ast.parse(_VARIABLE.sub(rf"{_PREFIX}\1", text.strip()), mode="eval")
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{where} cannot be read: {text.strip()[:60]}", hint=_HINT) from error
    return tree.body


_HINT = (
    "read are numbers, :variables, + - * / %, random, random_exponential, random_gaussian,"
    " random_zipfian, abs, greatest, least, int, double, mod"
)


def _words(node: ast.expr, known: Mapping[str, int], where: str) -> Iterator[str]:
    """An expression as the core's stack machine executes it: numbers, `:PLACE` of a value drawn
    before, and `FUNCTION(COUNT` behind its arguments."""
    match node:
        case ast.Constant() | ast.UnaryOp(operand=ast.Constant()) if _is_number(node):
            yield _number(node, where)
        case ast.Name(id=name) if name.removeprefix(_PREFIX) in known and name.startswith(_PREFIX):
            yield f":{known[name.removeprefix(_PREFIX)]}"
        case ast.Name(id=name) if name.startswith(_PREFIX):
            raise InputError(f"{where} names :{name.removeprefix(_PREFIX)}, which nothing sets")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            yield from _words(inner, known, where)
            yield from ["negate(1"] if isinstance(sign, ast.USub) else []
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            yield from _words(left, known, where)
            yield from _words(right, known, where)
            yield f"{_OPERATORS[type(operator)]}(2"
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            if len(arguments) not in _FUNCTIONS[name]:
                raise InputError(f"{where}: {name} with {len(arguments)} arguments is not read")
            for one in arguments:
                yield from _words(one, known, where)
            yield f"{name}({len(arguments)}"
        case _:
            raise InputError(f"{where} has {ast.unparse(node)[:60]}, which is not read", hint=_HINT)


def _number(node: ast.expr, where: str) -> str:
    number = ast.literal_eval(node)
    if isinstance(number, int) and not -(2**63) <= number < 2**63:
        raise InputError(f"{where}: {number} is no bigint")
    return repr(number)


def _is_number(node: ast.expr) -> bool:
    """Whether it is a number of pgbench's, with or without a sign."""
    if isinstance(node, ast.UnaryOp):
        if not isinstance(node.op, ast.USub | ast.UAdd):
            return False
        node = node.operand
    return isinstance(node, ast.Constant) and type(node.value) in (int, float)


_OPERATORS: Mapping[type[ast.operator], str] = {
    ast.Add: "+", ast.Sub: "-", ast.Mult: "*", ast.Div: "/", ast.Mod: "%",
}  # fmt: skip
_FUNCTIONS: Mapping[str, range] = {
    "random": range(2, 3), "random_exponential": range(3, 4), "random_gaussian": range(3, 4),
    "random_zipfian": range(3, 4), "abs": range(1, 2), "int": range(1, 2), "double": range(1, 2),
    "mod": range(2, 3), "greatest": range(1, 100), "least": range(1, 100),
}  # fmt: skip
"""Their numbers of arguments; what they do, `crates/clients/src/statements/program.rs` says."""
