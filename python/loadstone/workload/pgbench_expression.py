r"""The expression of a `\set` line, read by pgbench's own grammar: PostgreSQL's manual, pgbench,
"Expressions" and "Built-In Functions".

It becomes words in the order in which the core's stack machine executes them
(`crates/clients/src/statements/program.rs`): constants, `:NAME` of a variable, `FUNCTION(COUNT`
behind its arguments, and `JUMP(COUNT`, which passes over as many words.
"""

import re
from collections.abc import Mapping
from math import inf

from loadstone.errors import InputError

NAME = r"[A-Za-z_\x80-\U0010ffff][A-Za-z0-9_\x80-\U0010ffff]*"
SPACE = r"(?:[ \t\r\f\v]|\\\r?\n)"
"""A backslash at the end of a line continues it."""
DEFAULT_SEED = "default_seed"
"""The variable that seeds hash functions and permutations which name no seed."""
_POWER = "[eE][-+]?[0-9]+"
_TOKEN = re.compile(
    rf"""{SPACE}+
    | (?P<double>[0-9]+\.[0-9]*(?:{_POWER})? | [0-9]+{_POWER} | \.[0-9]+(?:{_POWER})?)
    | (?P<whole>[0-9]+) | :(?P<variable>[A-Za-z0-9_\x80-\U0010ffff]+) | (?P<word>{NAME})
    | (?P<sign><<|>>|<>|!=|<=|>=|[-+*/%=<>|&\#~(),])""",
    re.VERBOSE,
)
_OR, _AND, _NOT, _IS, _COMPARISON, _BITS, _SUM, _PRODUCT, _UNARY = range(1, 10)
"""How strongly operators bind, the weakest first."""
_BINARY: Mapping[str, tuple[int, str]] = {
    "or": (_OR, "or"), "and": (_AND, "and"),
    "=": (_COMPARISON, "="), "<>": (_COMPARISON, "<>"), "!=": (_COMPARISON, "<>"),
    "<": (_COMPARISON, "<"), "<=": (_COMPARISON, "<="),
    ">": (_COMPARISON, ">"), ">=": (_COMPARISON, ">="),
    "|": (_BITS, "|"), "#": (_BITS, "#"), "&": (_BITS, "&"), "<<": (_BITS, "<<"),
    ">>": (_BITS, ">>"), "+": (_SUM, "+"), "-": (_SUM, "-"),
    "*": (_PRODUCT, "*"), "/": (_PRODUCT, "/"), "%": (_PRODUCT, "mod"),
}  # fmt: skip
_SWAPPED: Mapping[str, str] = {">": "<", ">=": "<="}
_MANY = range(1, 17)
_FUNCTIONS: Mapping[str, tuple[str, range]] = {
    "abs": ("abs", range(1, 2)), "debug": ("", range(1, 2)), "double": ("double", range(1, 2)),
    "exp": ("exp", range(1, 2)), "greatest": ("greatest", _MANY),
    "hash": ("hash_murmur2", range(1, 3)), "hash_fnv1a": ("hash_fnv1a", range(1, 3)),
    "hash_murmur2": ("hash_murmur2", range(1, 3)), "int": ("int", range(1, 2)),
    "least": ("least", _MANY), "ln": ("ln", range(1, 2)), "mod": ("mod", range(2, 3)),
    "permute": ("permute", range(2, 4)), "pi": ("pi", range(1)), "pow": ("pow", range(2, 3)),
    "power": ("pow", range(2, 3)), "random": ("random", range(2, 3)),
    "random_exponential": ("random_exponential", range(3, 4)),
    "random_gaussian": ("random_gaussian", range(3, 4)),
    "random_zipfian": ("random_zipfian", range(3, 4)), "sqrt": ("sqrt", range(1, 2)),
}  # fmt: skip
"""Each with the core's name for it (`debug` prints in pgbench, and changes no value), and its
numbers of arguments."""
_RESERVED = ("and", "or", "not", "is", "isnull", "notnull", "when", "then", "else", "end")
_HINT = "PostgreSQL's manual has what is read: pgbench, Expressions, and Built-In Functions"

Words = list[str]


def words_of(text: str, where: str) -> Words:
    """The words of an expression. Raises `InputError`."""
    try:
        return _Reader(text, where).whole()
    except RecursionError as error:
        raise InputError(f"{where} cannot be read: it is nested too deeply") from error


class _Reader:
    """By the precedence of its operators, one token after another."""

    def __init__(self, text: str, where: str) -> None:
        self._text = text
        self._where = where
        self._tokens: list[tuple[str, str]] = []
        self._at = 0
        end = 0
        while end < len(text):
            found = _TOKEN.match(text, end)
            if found is None:
                raise self._refused(text[end])
            end = found.end()
            if found.lastgroup is not None:
                self._tokens.append((found.lastgroup, found[found.lastgroup]))

    def whole(self) -> Words:
        found = self._expression(_OR)
        if self._at < len(self._tokens):
            raise self._refused(self._tokens[self._at][1])
        return found

    def _refused(self, at: str) -> InputError:
        place = f"at {at[:30]!r}" if at else "at its end"
        text = " ".join(self._text.split())[:60]
        return InputError(f"{self._where} cannot be read, {place}: {text}", hint=_HINT)

    def _next(self) -> str:
        """The next operator, word or parenthesis, in small letters; empty before anything else."""
        kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        return text.lower() if kind in ("sign", "word") else ""

    def _take(self, *texts: str) -> None:
        for text in texts:
            if self._next() != text:
                found = self._tokens[self._at][1] if self._at < len(self._tokens) else ""
                raise self._refused(found)
            self._at += 1

    def _took(self, text: str) -> bool:
        if self._next() == text:
            self._at += 1
            return True
        return False

    def _expression(self, weakest: int) -> Words:
        """An expression of operators that bind no weaker than one."""
        left = self._operand()
        compared = False
        while True:
            sign = self._next()
            if sign in ("is", "isnull", "notnull") and weakest <= _IS:
                left, compared = [*left, *self._tested()], False
                continue
            power, function = _BINARY.get(sign, (0, ""))
            if power < weakest or not power:
                return left
            if compared and power == _COMPARISON:
                raise self._refused(sign)
            self._at += 1
            left = _joined(left, function, self._expression(power + 1))
            compared = power == _COMPARISON

    def _tested(self) -> Words:
        """What stands behind an expression and tests it for NULL, true or false."""
        negated = self._took("notnull")
        value = "null"
        if not negated and not self._took("isnull"):
            self._take("is")
            negated = self._took("not")
            value = self._next()
            if value not in ("null", "true", "false"):
                raise self._refused(value)
            self._at += 1
        return [value, "is(2", *(["not(1"] if negated else [])]

    def _operand(self) -> Words:
        if self._at == len(self._tokens):
            raise self._refused("")
        kind, text = self._tokens[self._at]
        self._at += 1
        if kind == "variable":
            return [f":{text}"]
        if kind == "double":
            number = float(text)
            if number == inf or (number == 0 and re.search("[1-9]", text.lower().split("e")[0])):
                raise InputError(f"{self._where}: {text[:30]} is beyond the range of floats")
            return [repr(number)]
        if kind == "whole":
            return [self._bigint(text)]
        return self._after_word(text.lower()) if kind == "word" else self._after_sign(text)

    def _after_sign(self, sign: str) -> Words:
        match sign:
            case "(":
                inner = self._expression(_OR)
                self._take(")")
                return inner
            case "+":
                return self._expression(_UNARY)
            case "~":
                return [*self._expression(_BITS + 1), "-1", "#(2"]
            case "-":
                kind, text = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
                if kind == "whole":
                    self._at += 1
                    return [self._bigint(f"-{text}")]
                return ["0", *self._expression(_UNARY), "-(2"]
        raise self._refused(sign)

    def _after_word(self, word: str) -> Words:
        if word in ("null", "true", "false"):
            return [word]
        if word == "not":
            return [*self._expression(_IS), "not(1"]
        if word == "case":
            return self._case()
        if word in _RESERVED or self._next() != "(":
            raise self._refused(word)
        return self._call(word)

    def _bigint(self, text: str) -> str:
        number = int(text) if len(text) < 100 else 2**63
        if not -(2**63) <= number < 2**63:
            raise InputError(f"{self._where}: {text[:30]} is no bigint")
        return str(number)

    def _case(self) -> Words:
        branches = []
        self._take("when")
        while True:
            condition = self._expression(_OR)
            self._take("then")
            branches.append((condition, self._expression(_OR)))
            if not self._took("when"):
                break
        found = self._expression(_OR) if self._took("else") else ["null"]
        self._take("end")
        for condition, value in reversed(branches):
            found = [
                *condition, f"unless({len(value) + 1}", *value, f"skip({len(found)}", *found
            ]  # fmt: skip
        return found

    def _call(self, name: str) -> Words:
        if name not in _FUNCTIONS:
            raise InputError(
                f"{self._where} calls {name[:60]}, no function of pgbench's", hint=_HINT
            )
        function, numbers = _FUNCTIONS[name]
        self._take("(")
        arguments = []
        if self._next() != ")":
            arguments.append(self._expression(_OR))
            while self._took(","):
                arguments.append(self._expression(_OR))
        self._take(")")
        count = len(arguments)
        if count not in numbers:
            least, most = numbers[0], numbers[-1]
            fits = str(least) if least == most else f"{least} to {most}"
            raise InputError(
                f"{self._where}: {name} has {fits} arguments in pgbench, and here {count}"
            )
        if numbers[-1] > count and function not in ("greatest", "least"):
            arguments.append([f":{DEFAULT_SEED}"])
        flat = [word for one in arguments for word in one]
        return [*flat, f"{function}({len(arguments)}"] if function else flat


def _joined(left: Words, function: str, right: Words) -> Words:
    if function in ("and", "or"):
        return [*left, f"{function}({len(right) + 1}", *right, "truth(1"]
    if function in _SWAPPED:
        return [*right, *left, f"{_SWAPPED[function]}(2"]
    return [*left, *right, f"{function}(2"]
