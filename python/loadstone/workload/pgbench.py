r"""Scripts of pgbench, as far as they are read: `\set` lines, and statements.

    \set aid random(1, 100000 * :scale)
    SELECT abalance FROM pgbench_accounts WHERE aid = :aid;

A script is taken apart as pgbench does: a backslash outside of texts, names and comments begins a
command, which its line ends, also behind a statement; all else is SQL. `:NAME` stands for a value
everywhere, within quotes, too. As pgbench does, concurrent users draw anew for each transaction,
behind the first ones, which are drawn when a run is planned. All come from the workload's seed: the
distributions are pgbench's (PostgreSQL's manual, pgbench, "Random Functions"), the numbers are
ours. What is not read is refused by its name and line, never left out.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from loadstone.errors import InputError
from loadstone.plan.workload import PROGRAM, WITHIN, WORDS_MAX, Draw
from loadstone.workload.parameters import start_of, values_of, within
from loadstone.workload.pgbench_expression import DEFAULT_SEED, NAME, SPACE, words_of

WEIGHT_MAX = 1_000_000
_SET = re.compile(rf"\\set{SPACE}+({NAME}){SPACE}+(.+)", re.DOTALL | re.IGNORECASE)
_LINE = re.compile(r"(?:\\\r?\n|[^\n])*")
"""A command up to the end of its line, which a backslash moves to the next."""
_VARIABLE = re.compile(rf"(?<!:):({NAME})")
_TOKEN = re.compile(
    rf"""(?P<space>[ \t\r\n\f\v]+ | --[^\r\n]*)
    | (?P<quoted>[eE]'(?:[^'\\]|\\.|'')*' | '(?:[^']|'')*' | "[^"]*"
        | \$(?P<tag>(?:{NAME})?)\$.*?\$(?P=tag)\$)
    | (?P<comment>/\*) | (?P<command>\\) | (?P<unclosed>[eE]?['"])
    | (?P<variable>:(?P<name>{NAME}) | :+) | {NAME}(?:\$|[0-9])* | .""",
    re.DOTALL | re.VERBOSE,
)
_COMMANDS = r"of pgbench's own commands only \set NAME EXPRESSION is read"
_BRANCHES = (
    'write each branch as a script of its own, and weight them: pgbench = ["FILE@N", …], or'
    " mix = { NAME = N, … }"
)
_HINTS: Mapping[str, str] = {
    **dict.fromkeys((r"\if", r"\elif", r"\else", r"\endif"), _BRANCHES),
    r"\sleep": "leave it out, and let an open loop pace the requests: --rate",
    r"\;": "write each statement on its own, with BEGIN and END around them",
}


@dataclass(frozen=True, slots=True)
class Setting:
    r"""A `\set` line: the variable, and its expression in words."""

    name: str
    words: tuple[str, ...]
    where: str


@dataclass(frozen=True, slots=True)
class Script:
    """The settings of a script, in its order, and the text of its statements."""

    sets: tuple[Setting, ...]
    text: str
    named: Mapping[str, str]
    """The names in the text, each with its place; without one where it stands within quotes, where
    pgbench leaves it as it is if nothing sets it."""
    quoted: frozenset[str]
    """Those that stand within quotes."""

    def draws(self, seed: int, statement: str, scale: int) -> tuple[Draw, ...]:
        """The way in which its variables get their values. Raises `InputError`, also where they
        have none."""
        own_seed = start_of(seed, statement, DEFAULT_SEED) - 2**63
        found = [Draw("scale", PROGRAM, words=(str(scale),))]
        if DEFAULT_SEED in self.named or any(f":{DEFAULT_SEED}" in one.words for one in self.sets):
            found.append(Draw(DEFAULT_SEED, PROGRAM, words=(str(own_seed),)))
        known = {one.name: place for place, one in enumerate(found)}
        for place, one in enumerate(self.sets):
            words = tuple(_placed(word, known, one.where) for word in one.words)
            if len(words) > WORDS_MAX:
                raise InputError(f"{one.where} has more than {WORDS_MAX:,} parts")
            start = start_of(seed, statement, f"{place} {one.name}")
            found.append(Draw(one.name, PROGRAM, start, words=words))
            known[one.name] = len(found) - 1
            values_of(found, 1, one.where)
        for name, stands in self.named.items():
            if stands and name not in known:
                raise _unset(name, stands)
        quoted = sorted({*known} & self.quoted)
        return (*found, *(Draw(within(one), WITHIN, numbers=(known[one],)) for one in quoted))


def _placed(word: str, known: Mapping[str, int], where: str) -> str:
    """A word whose variable is known by its place."""
    if not word.startswith(":"):
        return word
    if word[1:] not in known:
        raise _unset(word[1:], where)
    return f":{known[word[1:]]}"


def _unset(name: str, where: str) -> InputError:
    return InputError(
        f"{where} names :{name[:60]}, which nothing sets",
        hint=rf"what pgbench gets by -D or knows by itself, as :client_id, the script says here:"
        rf" begin it with \set {name[:60]} VALUE",
    )


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
    found = _Parts(text.removeprefix("\ufeff"), where)
    found.read()
    if "\0" in text:
        raise InputError(f"{where} has a byte 0, at which pgbench ends a script")
    if not found.statements.strip(" \t\r\n;"):
        raise InputError(f"{where} has no statement", hint="write SELECT, INSERT, UPDATE or DELETE")
    return Script(tuple(found.sets), found.statements.strip(), found.named, frozenset(found.quoted))


class _Parts:
    """A script taken apart, one token after another."""

    def __init__(self, text: str, where: str) -> None:
        self.sets: list[Setting] = []
        self.statements = ""
        self.named: dict[str, str] = {}
        """The names in statements, and where the first of each stands."""
        self.quoted: set[str] = set()
        self._text = text
        self._where = where
        self._at = 0
        self._is_open = False
        """Whether a statement has begun that no semicolon has ended."""
        self._parentheses = 0

    def read(self) -> None:
        """All of it. Raises `InputError`."""
        while self._at < len(self._text):
            token = next(_TOKEN.finditer(self._text, self._at))  # any letter is one
            if token.lastgroup == "command":
                self._command()
                continue
            end = self._end(token)
            if self._is_open or token.lastgroup != "space":
                self._add(self._text[self._at : end])
            if token.lastgroup not in ("space", "comment"):
                self._is_open = token[0] != ";"
            self._at = end

    def _add(self, text: str) -> None:
        begins = not self._is_open and self.statements and text != ";"
        self.statements += f"\n{text}" if begins else text

    def _here(self) -> str:
        return f"{self._where}, line {self._text.count(chr(10), 0, self._at) + 1}"

    def _end(self, token: re.Match[str]) -> int:
        """The end of a part of a statement; the variables in it are noted."""
        kind, text = token.lastgroup, token[0]
        if kind == "unclosed":
            raise InputError(f"{self._here()}: {text} begins a text without an end")
        if kind == "comment":
            return self._behind_comment()
        self._parentheses = max(0, self._parentheses + (text == "(") - (text == ")"))
        if text == ";" and self._parentheses:
            raise InputError(f"{self._here()}: a ; stands within parentheses")
        if kind == "variable" and token["name"]:
            self.named.setdefault(token["name"], self._here())
        if kind == "quoted":
            for variable in _VARIABLE.finditer(text):
                self.named.setdefault(variable[1], "")
                self.quoted.add(variable[1])
        return token.end()

    def _behind_comment(self) -> int:
        """The end of a comment, which may have others within it."""
        depth = 0
        for mark in re.compile(r"/\*|\*/").finditer(self._text, self._at):
            depth += 1 if mark[0] == "/*" else -1
            if not depth:
                return mark.end()
        raise InputError(f"{self._here()}: /* begins a comment without an end")

    def _command(self) -> None:
        """A command, which ends the statement before it."""
        if self._is_open:
            self.statements += "\n;"
        self._is_open = False
        self._parentheses = 0
        line = next(_LINE.finditer(self._text, self._at))
        stated = _SET.fullmatch(line[0].rstrip())
        if stated is None:
            raise self._not_read(line[0])
        where = f"{self._here()}: \\set {stated[1]}"
        if stated[1] in self.named:
            raise InputError(
                f"{where} stands behind a statement that names it",
                hint="set a value before its first statement, and a second value under another"
                " name",
            )
        self.sets.append(Setting(stated[1], tuple(words_of(stated[2], where)), where))
        self._at = line.end()

    def _not_read(self, line: str) -> InputError:
        found = re.match(r"\\(?:\w+|.?)", line, re.DOTALL)
        command = found[0].lower() if found else line
        if command == r"\set":
            shown = line.strip()[:60]
            return InputError(f"{self._here()}: {shown} sets nothing", hint=_COMMANDS)
        hint = _HINTS.get(command, _COMMANDS)
        return InputError(f"{self._here()} has {command[:30]}, which is not read", hint=hint)
