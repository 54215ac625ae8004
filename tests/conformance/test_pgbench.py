"""Scripts mean here what they mean to pgbench: drawn ones are executed by the real program, on a
real server, whose log of statements shows what it sent; ours are the same, or refused by name."""

import json
import os
import random
import re
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import psycopg
import pytest
from user_server import free_port

from loadstone.engines.postgresql.binaries import binaries, server_account
from loadstone.engines.postgresql.server import PrivateServer
from loadstone.errors import InputError
from loadstone.workload import pgbench, sql
from loadstone.workload.parameters import filled

PGBENCH = binaries(server_account()) / "pgbench"
pytestmark = pytest.mark.skipif(not PGBENCH.exists(), reason="pgbench is not there")
SCRIPTS = 1_000


@dataclass(frozen=True, slots=True)
class Program:
    """pgbench, on a server that logs each statement."""

    folder: Path
    environment: dict[str, str]
    log: Path

    def sent(self, scripts: list[str]) -> list[list[str] | None]:
        """Of each script the statements that one transaction sent; None where it refused one
        before it sent any."""
        refused = set()
        for place, text in enumerate(scripts):
            path = self.folder / "script.sql"
            path.write_text(text, encoding="utf-8", newline="")
            ran = subprocess.run(
                [PGBENCH, "-n", "-t", "1", "-D", "scale=3", "-D", f"default_seed={SEED}", "-f",
                 path],
                env={**self.environment, "PGAPPNAME": f"script {place}"}, capture_output=True,
            )  # fmt: skip
            if ran.returncode:
                refused.add(place)
        found: dict[int, list[str]] = {}
        for line in self.log.read_bytes().decode().rstrip("\n").split("\n"):
            entry = json.loads(line)
            kind, _, place = str(entry.get("application_name", "")).partition(" ")
            if kind != "script":
                continue
            # One that cannot be parsed is in its error's entry alone.
            alone = entry.get("statement") if entry.get("state_code") == "42601" else None
            if alone or entry["message"].startswith("statement: "):
                text = alone or entry["message"].removeprefix("statement: ")
                found.setdefault(int(place), []).append(text)
        return [
            None if place in refused and place not in found else found.get(place, [])
            for place in range(len(scripts))
        ]


@pytest.fixture(scope="module")
def program() -> Iterator[Program]:
    folder = Path(tempfile.mkdtemp(prefix="loadstone-test-"))
    folder.chmod(0o755)
    port = free_port()
    private = PrivateServer(folder, None)
    private.launch({
        "listen_addresses": "", "port": str(port), "fsync": "off", "shared_buffers": "16MB",
        "logging_collector": "on", "log_destination": "jsonlog", "log_statement": "all",
        "log_directory": "log", "log_filename": "statements.log",
    })  # fmt: skip
    where = str(private.address()["host"])
    try:
        for _ in range(1000):
            try:
                psycopg.connect(host=where, port=port, user="loadstone", dbname="postgres").close()
                break
            except psycopg.OperationalError:
                assert not private.ended_within(0.01), private.last_words()
        environment = {
            **os.environ, "PGHOST": where, "PGPORT": str(port), "PGUSER": "loadstone",
            "PGDATABASE": "postgres", "PGCLIENTENCODING": "UTF8",
        }  # fmt: skip
        yield Program(folder, environment, private.data / "log" / "statements.json")
    finally:
        private.remove()
        shutil.rmtree(folder)


SEED = -4_611_686_018_427_387_901


def ours(text: str) -> list[str]:
    """The statements that we send."""
    script = pgbench.script_of(text, "w")
    draws = script.draws(1, "s", 3)
    draws = tuple(
        pgbench.Draw(one.name, one.kind, words=(str(SEED),)) if one.name == "default_seed" else one
        for one in draws
    )
    (first,) = filled(script.text, "postgres", draws, 1, "w")
    return sql.pieces(first, "postgres", "w")


def alike(text: str) -> str:
    """Without the semicolon, and without parentheses around a number below zero."""
    bare = text.strip().rstrip(";").rstrip()
    while (fewer := re.sub(r"\((-[0-9.e+-]+)\)", r"\1", bare)) != bare:
        bare = fewer
    return bare


class Drawn:
    """Scripts of expressions and statements, drawn by chance."""

    def __init__(self, chance: random.Random) -> None:
        self.chance = chance

    def whole(self) -> str:
        one = self.chance.choice(
            [0, 1, 2, 3, 7, 64, 1000, 2**31, 2**62, 2**63 - 1, self.chance.randrange(10**6)]
        )
        return str(one)

    def number(self) -> str:
        real = ["0.5", "2.5", "3.99", "1e3", ".25", "7.", "1.5e-7", "123456789.123456789", "1e18"]
        return self.whole() if self.chance.random() < 0.7 else self.chance.choice(real)

    def expression(self, depth: int, known: list[str]) -> str:
        chance = self.chance
        if depth == 0 or chance.random() < 0.15:
            return chance.choice(
                [self.number(), self.number(), self.number(), *(f":{name}" for name in known),
                 chance.choice(["null", "TRUE", "false", ":scale", "pi()"])]
            )  # fmt: skip
        a, b, c = (self.expression(depth - 1, known) for _ in range(3))
        sign = chance.choice(
            ["+", "-", "*", "/", "%", "<", "<=", ">", ">=", "=", "<>", "!=", "|", "&", "#", "<<",
             ">>", "AND", "or", "and", "OR"]
        )  # fmt: skip
        blank = chance.choice(["", " ", "\t", "  ", " \\\n "]) if sign[0] not in "aAoO" else " "
        binary = f"{a}{blank}{sign}{blank}{b}"
        return chance.choice([
            binary, binary, binary, binary, f"({binary})", f"({binary})", f"({a})",
            chance.choice(["-", "+", "~", "- ", "not ", "NOT "]) + a,
            chance.choice(["abs", "INT", "double", "sqrt", "ln", "exp", "debug"]) + f"({a})",
            chance.choice(["mod", "pow", "power", "greatest", "Least"]) + f"({a}, {b})",
            chance.choice(["hash", "hash_fnv1a", "hash_murmur2"])
            + chance.choice([f"({a})", f"({a},{b})"]),
            chance.choice([f"permute({a}, {self.whole()})", f"permute({a}, 1000, {c})",
                           f"permute({self.whole()}, abs({b}), {self.whole()})"]),
            f"greatest({a}, {b}, {c})", f"least({a})",
            f"{a} " + chance.choice(["IS NULL", "is not null", "ISNULL", "notnull", "IS TRUE",
                                     "is not false"]),
            f"CASE WHEN {a} THEN {b} ELSE {c} END", f"case when {a} then {b} end",
            f"CASE WHEN {a} THEN {b} WHEN {c} THEN {a} else {b} END",
            # No random number is the same; which arguments they may have, is.
            f"random({a}, {b}) * 0 + {c}",
            chance.choice(["random_exponential", "random_gaussian", "random_zipfian"])
            + f"({chance.randrange(-3, 3)}, {chance.randrange(40)}.4, {b}) * 0",
        ])  # fmt: skip

    def statement(self, known: list[str]) -> str:
        chance = self.chance
        value = f":{chance.choice(known)}" if known else "1"
        parts = chance.sample([
            value, f"{value}::text", f"'q{value}'", f"'{value} ::x :y 10:15:00'", f"$${value}$$",
            f"$a$ -- {value}\n\\set {value} $a$", f"E'it\\'s {value}'", "'it''s'",
            "'two\n-- lines'", "'a\\\nb'", "'\u2028\x85\f'", "'\n\\set x 1\n'", f'1 AS "{value}"',
            "1 -- '; note\n", "1 /* a /* b */ ; */", f"({value})", "'a\r\nb'", "array[1,2]", "'é'",
        ], 4)  # fmt: skip
        return "SELECT " + ", ".join(parts)

    def script(self) -> str:
        chance = self.chance
        known: list[str] = []
        lines = []
        for name in chance.sample(["a", "b", "Value_2", "é", "end", "d4"], chance.randrange(1, 4)):
            word = chance.choice(["\\set", "\\SET", "\\set "])
            line = f"{word} {name} {self.expression(chance.randrange(1, 4), known)}"
            lines.append(line + chance.choice(["", "", "", "\r", " "]))
            known.append(name)
        text = "\n".join(chance.sample(["-- note", "", "  -- \\set z 1"], 1)) + "\n"
        text += "\n".join(lines) + "\n"
        one, other = self.statement(known), self.statement(known)
        # pgbench 18 writes past its memory where a variable ends the file.
        text += one + chance.choice(
            [f";\n{other};\n", f"; {other}", ";", "", f" \\set z 1\n{other}"]
        )
        text += "\n"
        if chance.random() < 0.2:
            at = chance.randrange(len(text))
            text = text[:at] + chance.choice("0'\"$:;\\-#(_xé\n\f|!") + text[at:]
        return text


@pytest.mark.slow
def test_a_drawn_script_sends_what_pgbench_sends_or_is_refused(
    program: Program, chance: random.Random
) -> None:
    drawn = Drawn(chance)
    scripts = [drawn.script() for _ in range(SCRIPTS)]
    equal = refused_by_both = refused_here = 0
    for text, theirs in zip(scripts, program.sent(scripts), strict=True):
        try:
            found = ours(text)
        except InputError as error:
            refused_by_both += theirs is None
            if theirs is not None:
                refused_here += 1
                assert error.message, text
            continue
        assert theirs is not None, f"pgbench refused {text!r}, and we sent {found}"
        shown = [alike(one) for one in theirs if alike(one)]
        sent = [alike(one) for one in found]
        assert sent[: len(shown)] == shown, text
        equal += 1
    assert equal > SCRIPTS / 4
    assert refused_by_both > SCRIPTS / 20
    assert refused_here < SCRIPTS / 10
