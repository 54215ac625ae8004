"""A variant: an engine with its tactics set, written like a URL.

`sqlite`, `sqlite?durability=none`, `postgresql?parallelism=2`, and a server of the user's own:
`postgresql://alice@db.example:5432/app?parallelism=2`. A password in a URL is used and never
shown: `Variant.name` is what every record, log and report prints.
"""

from dataclasses import dataclass, field
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit, urlunsplit

from loadstone.errors import InputError


@dataclass(frozen=True, slots=True)
class Variant:
    """An engine's name, the user's URL if there is one, and the tactics asked."""

    engine: str
    tactics: tuple[tuple[str, str], ...] = ()
    url: str | None = field(default=None, repr=False, compare=False)
    label: str = ""

    @property
    def name(self) -> str:
        """How people see it; unique in a plan; never holds a secret."""
        query = "&".join(f"{key}={value}" for key, value in self.tactics)
        base = self.label or self.engine
        return f"{base}?{query}" if query else base

    @property
    def slug(self) -> str:
        """A name safe for files and identifiers."""
        return "".join(c if c.isalnum() else "_" for c in self.name.lower())

    def tactic(self, name: str, default: str) -> str:
        """The value asked for a tactic, or its default."""
        return dict(self.tactics).get(name, default)


def parse_variant(text: str, tactics: frozenset[str]) -> Variant:
    """Read a variant. Query keys in `tactics` are tactics; in a URL the others stay in the URL."""
    if not text.strip():
        raise InputError("an empty variant", hint="name an engine: --on sqlite")
    if "://" not in text:
        engine, _, query = text.partition("?")
        return Variant(engine.strip(), _pairs(query, text, tactics, only_tactics=True))
    parts = _parts(text)
    pairs = _pairs(parts.query, text, tactics, only_tactics=False)
    ours = tuple(pair for pair in pairs if pair[0] in tactics)
    theirs = urlencode([pair for pair in pairs if pair[0] not in tactics], quote_via=quote)
    url = urlunsplit((parts.scheme, parts.netloc, parts.path, theirs, ""))
    engine = {"postgres": "postgresql"}.get(parts.scheme, parts.scheme)
    place = parts.netloc.rpartition("@")[2]
    return Variant(engine, ours, url, f"{engine}://{place}{parts.path}")


def _parts(url: str) -> SplitResult:
    """Split a URL, refusing one in which part of a password could pass for something shown."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        raise InputError(
            "cannot read host and port of the URL",
            hint="write it as postgresql://USER@HOST:PORT/DATABASE",
        ) from None
    userinfo = parts.netloc.rpartition("@")[0]
    if parts.fragment or any("@" in part for part in (userinfo, parts.path, parts.query)):
        raise InputError(
            "a user name or password in the URL has a character that must be encoded",
            hint="write @ as %40, / as %2F, ? as %3F, # as %23 and : as %3A",
        )
    return parts


def _pairs(
    query: str, text: str, tactics: frozenset[str], *, only_tactics: bool
) -> tuple[tuple[str, str], ...]:
    if not query:
        return ()
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=False)
    except ValueError:
        shown = text.partition("?")[0].rpartition("@")[2]
        raise InputError(
            f"cannot read the tactics of {shown!r}",
            hint="write them as ENGINE?tactic=value&tactic=value",
        ) from None
    unknown = [key for key, _ in pairs if key not in tactics] if only_tactics else []
    if unknown:
        known = ", ".join(sorted(tactics)) or "none"
        raise InputError(
            f"{text.partition('?')[0]} has no tactic {unknown[0]!r}",
            hint=f"it can switch: {known}",
        )
    return tuple(sorted(pairs))
