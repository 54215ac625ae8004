r"""Scripts of pgbench, as far as they are read: `\set` lines, and statements.

    \set aid random(1, 100000 * :scale)
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;

pgbench draws anew for each transaction. Here values are drawn when a run is planned, for each
variation, from the workload's seed: the distributions are pgbench's (PostgreSQL's manual, pgbench,
"Random Functions"), the numbers are ours. What is not read is refused by its name, never left out.
"""

import ast
import math
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import InputError
from loadstone.workload.parameters import RANKS_MAX, Value, random_bits, start_of, zipf

Number = int | float
Values = Mapping[str, Value]
INT_MAX = 2**63
WEIGHT_MAX = 1_000_000
_SET = re.compile(r"\\set\s+([A-Za-z_][A-Za-z0-9_]*)\s+(.+)", re.DOTALL)
_VARIABLE = re.compile(r":([A-Za-z_][A-Za-z0-9_]*)")
_PREFIX = "variable_"
"""Before the name of a variable in an expression, so that none is a word of Python's."""


@dataclass(frozen=True, slots=True)
class Script:
    """The settings of a script, in its order, and the text of its statements."""

    sets: tuple[tuple[str, ast.expr], ...]
    text: str

    def values(self, seed: int, statement: str, scale: int, where: str) -> Callable[[int], Values]:
        """The variables in each variation. Raises `InputError`."""

        def drawn(number: int) -> Values:
            known: dict[str, Number] = {"scale": scale}
            for place, (name, expression) in enumerate(self.sets):
                bits = _bits(start_of(seed, statement, f"{place} {name}"), number)
                known[name] = _value(expression, known, bits, f"{where}: \\set {name}")
            return known

        return drawn


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
                hint="of pgbench's own commands only \\set NAME EXPRESSION is",
            )
        if any(name == stated[1] for name, _ in sets) and any(one.strip() for one in rest):
            raise InputError(
                f"{where}: \\set {stated[1]} stands behind a statement, and sets it a second time",
                hint="give the second value another name",
            )
        sets.append((stated[1], _expression(stated[2], f"{where}: \\set {stated[1]}")))
    statement = "\n".join(rest).strip()
    return Script(tuple(sets), statement)


def variables_in(script: Script) -> Sequence[str]:
    """The variables that the statement can name."""
    return tuple(dict.fromkeys(["scale", *(name for name, _ in script.sets)]))


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
_Bits = Iterator[int]


def _bits(start: int, number: int) -> _Bits:
    """As many random numbers of 64 bits as an expression requests, others in each variation."""
    first = random_bits(start, number)
    place = 0
    while True:
        yield random_bits(first, place)
        place += 1


def _value(node: ast.expr, known: Mapping[str, Number], bits: _Bits, where: str) -> Number:
    try:
        found = _evaluated(node, known, bits, where)
    except (ZeroDivisionError, OverflowError, ValueError, RecursionError) as error:
        raise InputError(f"{where}: it has no value ({error})") from error
    if isinstance(found, int) and not -INT_MAX <= found < INT_MAX:
        raise InputError(f"{where}: {found} is no bigint")
    return found


def _evaluated(node: ast.expr, known: Mapping[str, Number], bits: _Bits, where: str) -> Number:
    match node:
        case ast.Constant(value=int() | float() as number) if not isinstance(number, bool):
            return number
        case ast.Name(id=name) if name.removeprefix(_PREFIX) in known and name.startswith(_PREFIX):
            return known[name.removeprefix(_PREFIX)]
        case ast.Name(id=name) if name.startswith(_PREFIX):
            raise InputError(f"{where} names :{name.removeprefix(_PREFIX)}, which nothing sets")
        case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=inner):
            value = _evaluated(inner, known, bits, where)
            return -value if isinstance(sign, ast.USub) else value
        case ast.BinOp(left=left, op=operator, right=right) if type(operator) in _OPERATORS:
            a = _evaluated(left, known, bits, where)
            return _OPERATORS[type(operator)](a, _evaluated(right, known, bits, where))
        case ast.Call(func=ast.Name(id=name), args=arguments, keywords=[]) if name in _FUNCTIONS:
            counts, call = _FUNCTIONS[name]
            if len(arguments) not in counts:
                raise InputError(f"{where}: {name} with {len(arguments)} arguments is not read")
            return call(bits, *(_evaluated(one, known, bits, where) for one in arguments))
    raise InputError(f"{where} has {ast.unparse(node)[:60]}, which is not read", hint=_HINT)


def _divided(a: Number, b: Number) -> Number:
    """As in C: towards zero."""
    if isinstance(a, int) and isinstance(b, int):
        return abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)
    return a / b


def _modulo(a: Number, b: Number) -> Number:
    if not isinstance(a, int) or not isinstance(b, int):
        raise ValueError("% is of whole numbers")
    return a - b * int(_divided(a, b))


_OPERATORS: Mapping[type[ast.operator], Callable[[Number, Number], Number]] = {
    ast.Add: lambda a, b: a + b,
    ast.Sub: lambda a, b: a - b,
    ast.Mult: lambda a, b: a * b,
    ast.Div: _divided,
    ast.Mod: _modulo,
}


def _bounds(low: Number, high: Number) -> tuple[int, int]:
    if not isinstance(low, int) or not isinstance(high, int) or low > high:
        raise ValueError(f"no whole number is from {low} to {high}")
    return low, high


def _fraction(bits: _Bits) -> float:
    """From 0 to below 1."""
    return (next(bits) >> 11) / 2**53


def _random(bits: _Bits, low: Number, high: Number) -> int:
    first, last = _bounds(low, high)
    return first + (next(bits) * (last - first + 1) >> 64)


def _exponential(bits: _Bits, low: Number, high: Number, parameter: Number) -> int:
    first, last = _bounds(low, high)
    if parameter <= 0:
        raise ValueError("random_exponential needs a parameter above 0")
    cut = math.exp(-parameter)
    share = -math.log(cut + (1 - cut) * (1 - _fraction(bits))) / parameter
    return min(first + int((last - first + 1) * share), last)


def _gaussian(bits: _Bits, low: Number, high: Number, parameter: Number) -> int:
    first, last = _bounds(low, high)
    if parameter < 2:
        raise ValueError("random_gaussian needs a parameter of 2 or more")
    deviation = parameter
    while not -parameter <= deviation < parameter:
        # Box and Muller's, as pgbench has it.
        radius = math.sqrt(-2 * math.log(1 - _fraction(bits)))
        deviation = radius * math.sin(2 * math.pi * _fraction(bits))
    share = (deviation + parameter) / (2 * parameter)
    return min(first + int((last - first + 1) * share), last)


def _zipfian(bits: _Bits, low: Number, high: Number, parameter: Number) -> int:
    first, last = _bounds(low, high)
    if not 1.001 <= parameter <= 1000:
        raise ValueError("random_zipfian needs a parameter from 1.001 to 1000")
    if last - first >= RANKS_MAX:
        raise ValueError(f"a zipf distribution has at most {RANKS_MAX:,} numbers here")
    return zipf(first, last, parameter)(_fraction(bits))


_FUNCTIONS: Mapping[str, tuple[range, Callable[..., Number]]] = {
    "random": (range(2, 3), _random),
    "random_exponential": (range(3, 4), _exponential),
    "random_gaussian": (range(3, 4), _gaussian),
    "random_zipfian": (range(3, 4), _zipfian),
    "abs": (range(1, 2), lambda _, a: abs(a)),
    "int": (range(1, 2), lambda _, a: int(a)),
    "double": (range(1, 2), lambda _, a: float(a)),
    "mod": (range(2, 3), lambda _, a, b: _modulo(a, b)),
    "greatest": (range(1, 100), lambda _, *those: max(those)),
    "least": (range(1, 100), lambda _, *those: min(those)),
}
