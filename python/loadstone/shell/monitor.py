r"""The terminal monitor, after that of INGRES (Stonebraker, Wong, Kreps, Held: The design and
implementation of INGRES, TODS 1976): lines come until a statement ends, and commands that begin
with a backslash are the monitor's own.
"""

from pathlib import Path

from loadstone.diagnostics import Exit, guarded, put, say
from loadstone.errors import InputError
from loadstone.interruption import dealt_with, ends_command
from loadstone.lode import QueryError
from loadstone.shell import opening, relations
from loadstone.shell.lines import Given, Lines
from loadstone.shell.session import EXPLAINS, Session
from loadstone.shell.statement_end import StatementEnd
from loadstone.text.files import read_text

TEXT_BYTES_MAX = 1 << 20
"""Of a file that is read, and of a statement."""
INCLUDED_MAX = 16
"""Files that are read within each other."""
HELP = r"""A semicolon, an empty line or \g runs the statements that were typed.
\g                    run what was typed
\p                    print what was typed
\r                    forget what was typed
\d                    list the relations
\d RELATION           describe a relation: storage, attributes
\settle [RELATION …]  gather statistics, from which statements are planned; of all by default
\i FILE               read statements and commands from a file
\explain [off|plan|counted]
                      show plans instead of rows; counted: of statements that are run
\timing [on|off]      print the time of each statement
\format [table|csv|json]
                      show rows in this form
\tactics [NAME=VALUE] list the tactics, or open the database anew with another
\?                    print this
\q                    end
"""
KEYWORDS = (
    "append", "avg", "by", "count", "create", "delete", "destroy", "index", "into", "is", "max",
    "min", "modify", "of", "on", "range", "replace", "retrieve", "sum", "to", "unique", "where",
)  # fmt: skip


class Monitor:
    """Takes lines, and gives statements to the session."""

    def __init__(self, session: Session) -> None:
        self.session = session
        self._lines: list[str] = []
        self._bytes = 0
        self._end = StatementEnd()
        self._included = 0
        self._is_over = False

    def run(self, lines: Lines) -> int:
        """Until the lines end or a command ends the session. The exit code is of the first error,
        which a person who types has seen."""
        code = 0
        try:
            while not self._is_over:
                found = guarded(lambda: self._step(lines))
                code = code or found
                if found == Exit.INTERRUPTED:
                    self._forget()
                    if not lines.is_typed or ends_command():
                        break
        finally:
            lines.close()
        return 0 if lines.is_typed and not ends_command() else code

    def words(self) -> list[str]:
        """Completions: words of the language, relations, their attributes."""
        known = self.session.database.relations()
        names = [found["name"] for found in known]
        names += [name for found in known for name, _ in found["attributes"]]
        return sorted({*KEYWORDS, *names, *self.session.ranges})

    def _step(self, lines: Lines) -> int:
        try:
            line = lines.next_line(within=bool(self._lines))
        except KeyboardInterrupt:
            self._forget()
            if not lines.is_typed or ends_command():
                raise
            dealt_with()
            say("")
            return 0
        try:
            if line is not None:
                self.take(line)
            elif not lines.is_typed:
                self._run()
        except KeyboardInterrupt as error:
            if not lines.is_typed or ends_command():
                raise
            dealt_with()
            # It may have come between a line and its statement: what was typed is not run later.
            self._forget()
            say(f"interrupted{': ' if str(error) else ''}{error}")
        self._is_over |= line is None
        return 0

    def take(self, line: str) -> None:
        """One line."""
        if self._end.is_within:
            self._add(line)
        elif line.lstrip().startswith("\\"):
            name, _, rest = line.strip().partition(" ")
            self._command(name, rest.strip())
        elif not line.strip() or line.strip().lower() == "go":
            self._run()
        elif line.rstrip().endswith("\\g"):
            self._add(line.rstrip().removesuffix("\\g"))
            self._run()
        else:
            self._add(line)

    def _add(self, line: str) -> None:
        self._bytes += len(line) + 1
        if self._bytes > TEXT_BYTES_MAX:
            self._forget()
            raise InputError(f"a statement is longer than {TEXT_BYTES_MAX:,} bytes: forgotten",
                             hint="end each by a semicolon or an empty line")  # fmt: skip
        self._lines.append(line)
        self._end.feed(f"{line}\n")
        if self._end.has_ended and not self._end.is_within:
            self._run()

    def _run(self) -> None:
        text = "\n".join(self._lines)
        self._forget()
        if text.strip():
            self.session.run(text)

    def _forget(self) -> None:
        self._lines, self._bytes, self._end = [], 0, StatementEnd()

    # --- commands ---------------------------------------------------------------------------------

    def _command(self, name: str, rest: str) -> None:
        session = self.session
        match name:
            case "\\g":
                self._run()
            case "\\p":
                put("".join(f"{line}\n" for line in self._lines))
            case "\\r":
                self._forget()
            case "\\d":
                database = session.database
                found = relations.described(database, rest) if rest else relations.listed(database)
                put(found or "there are no relations\n")
            case "\\settle":
                self._settle(rest.split())
            case "\\i":
                self._include(Path(rest))
            case "\\q":
                self._is_over = True
            case "\\?" | "\\h":
                put(HELP)
            case _:
                self._set(name, rest)

    def _set(self, name: str, rest: str) -> None:
        session = self.session
        match name:
            case "\\explain":
                other = "off" if session.explain != "off" else "plan"
                session.explain = _one_of(EXPLAINS, rest or other)
                say(f"explain is {session.explain}")
            case "\\timing":
                other = "off" if session.is_timed else "on"
                session.is_timed = _one_of(("on", "off"), rest or other) == "on"
                say(f"timing is {'on' if session.is_timed else 'off'}")
            case "\\format":
                session.format = _one_of(("table", "csv", "json"), rest or "table")
                say(f"format is {session.format}")
            case "\\tactics":
                self._tactics(rest)
            case _:
                raise InputError(f"there is no command {name}", hint="\\? lists them")

    def _settle(self, names: list[str]) -> None:
        database = self.session.database
        chosen = names or [found["name"] for found in database.relations()]
        database.settle(*chosen)
        say(f"settled: {', '.join(chosen) or 'there are no relations'}")

    def _tactics(self, rest: str) -> None:
        place = self.session.place
        chosen = opening.tactics([rest]) if rest else {}
        if chosen:
            place.reopen(chosen)
        there = dict(place.database.tactics)
        for name, value in chosen.items():
            if there[name] != value:
                say(f"{name} stays {there[name]}: the database was made with it")
        rows = [(name, value) for name, value in there.items() if name in (chosen or there)]
        put(relations.aligned({"tactic": "c", "value": "c"}, rows))

    def _include(self, path: Path) -> None:
        if self._included >= INCLUDED_MAX:
            raise InputError(f"{path} is read within {INCLUDED_MAX} other files",
                             hint="does a file read itself?")  # fmt: skip
        lines = Given(read_text(path, TEXT_BYTES_MAX, "the file").splitlines(keepends=True))
        self._included += 1
        try:
            while not self._is_over and (line := lines.next_line(within=False)) is not None:
                self.take(line)
            self._run()
        except QueryError as error:
            raise QueryError(f"{path}: {error.message}", hint=error.hint) from None
        finally:
            self._included -= 1
            self._forget()


def _one_of(known: tuple[str, ...], word: str) -> str:
    if word not in known:
        raise InputError(f"there is no {word!r} here", hint=f"there are {', '.join(known)}")
    return word
