"""A variant: an engine with its tactics set, written like a URL.

`sqlite`, `sqlite?durability=none`, `postgresql?parallelism=2`, and a database of the user's own, on
a server, `postgresql://alice@db.example:5432/app?parallelism=2`, or in a file,
`sqlite:///home/alice/app.db`. A release or a build stands after the engine's name:
`duckdb@1.4.0?parallelism=2`, `postgresql@/opt/postgresql/bin`. A password in a URL is used and
never shown: records, logs and reports print `Variant.name`.
"""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from urllib.parse import SplitResult, parse_qsl, quote, urlencode, urlsplit
from zlib import crc32

from loadstone import secret
from loadstone.errors import InputError, LoadstoneError, UnknownTacticError
from loadstone.plan.release import INSTALLED, Release, parse_release
from loadstone.text.near import did_you_mean

AA_SUFFIX = "#2"
"""The suffix of an A/A control's name."""

SETTING = "set."
"""Before the name of a setting of the engine's own, which is switched as a tactic is."""

RELEASE = "@"
"""Between an engine's name and its release or build."""
_SIZE = re.compile(r"([0-9]{1,12})(KiB|MiB|GiB)")
_UNIT_BYTES = {"KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}

FILE_SCHEMES = frozenset({"sqlite", "duckdb"})
"""Of URLs that name a file: no password stands in them."""

ENGINES_OF_SCHEMES = {"postgres": "postgresql", "sc": "spark", "mysql": "mariadb"}
"""The engine that a URL's scheme names, where it has another name."""
_OTHER_KINDS = frozenset({"sc", "mysql"})
"""Schemes that are another kind of place for the engine, which a variant's name must tell."""

_PLAIN = "/:,._-~@*()"
"""Letters of a setting's value that are shown as they are."""

SLUG_LETTERS_MAX = 48
"""Of a slug that could be too long: in UTF-8 at most 192 bytes of the 255 of a file's name."""


def is_aa_control(name: str) -> bool:
    """Whether a variant's name is that of an A/A control."""
    return name.endswith(AA_SUFFIX)


def engine_of(name: str) -> str:
    """The engine in a variant's name, whatever a record says there."""
    named = _head(name).partition(RELEASE)[0]
    return ENGINES_OF_SCHEMES.get(named, named)


def release_of(name: str) -> str:
    """The release or build in a variant's name; empty for the installed one."""
    return _head(name).partition(RELEASE)[2]


def _head(name: str) -> str:
    """The part of a variant's name before its tactics, or before the place in a URL."""
    return name.removesuffix(AA_SUFFIX).partition("?")[0].partition("://")[0]


def tactics_of(name: str) -> tuple[str, ...]:
    """The tactics that a variant's name sets."""
    return tuple(asked_in(name))


def family_of(tactic: str) -> str:
    """The common name of tactics like `optimizer.join_order`: `optimizer.…`."""
    family, dot, _ = tactic.partition(".")
    return f"{family}.…" if dot else tactic


def listed(names: Iterable[str]) -> str:
    """The names of tactics for a message, with one name for each family."""
    return ", ".join(dict.fromkeys(map(family_of, sorted(names))))


def parallelism_of(name: str) -> int:
    """The number of processors that a variant of this name uses at the same time; 1 if it does not
    say."""
    asked = asked_in(name).get("parallelism", "")
    return max(int(asked), 1) if asked.isdecimal() else 1


def has_share(name: str) -> bool:
    """Whether a variant of this name has but a share of a processor (`processor=60`)."""
    return asked_in(name).get("processor", "").isdecimal()


def is_users_server(name: str) -> bool:
    """Whether a variant of this name is a server of the user's: its processes are not ours to
    count, and may be on another machine."""
    return "://" in name and engine_of(name) not in FILE_SCHEMES


def differ_in_one_tactic(one: str, other: str) -> bool:
    """Whether variants of these names are one engine, of one release, and set all but one tactic to
    the same."""
    if _head(one) != _head(other) or "://" in one + other:
        return False
    own, others = asked_in(one), asked_in(other)
    return sum(own.get(key) != others.get(key) for key in own.keys() | others.keys()) == 1


def asked_in(name: str) -> dict[str, str]:
    """The tactics that a variant's name sets, with their values."""
    return dict(parse_qsl(name.removesuffix(AA_SUFFIX).partition("?")[2]))


ENCODED = (
    "within a path, a user name or a password write % as %25, # as %23, ? as %3F and a blank as"
    " %20; in the latter two also @ as %40, / as %2F and : as %3A"
)
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


@dataclass(frozen=True, slots=True)
class Variant:
    """An engine's name, the user's URL if there is one, and the tactics that are set."""

    engine: str
    tactics: tuple[tuple[str, str], ...] = ()
    url: str | None = field(default=None, repr=False, compare=False)
    label: str = ""
    aa_control: bool = False
    """An A/A control: the same variant a second time, with its own worker and tables; their
    difference is noise."""
    release: Release = INSTALLED

    @property
    def name(self) -> str:
        """The shown name; unique in a plan; never holds a secret."""
        query = "&".join(f"{key}={_shown(key, value)}" for key, value in self.tactics)
        base = self.label or self.engine + (f"{RELEASE}{self.release}" if self.release else "")
        return (f"{base}?{query}" if query else base) + (AA_SUFFIX if self.aa_control else "")

    @property
    def bare_url(self) -> str:
        """The user's URL without a password: as it is typed again. Empty where there is none."""
        if self.url is None:
            return ""
        parts = urlsplit(secret.shown(self.url))
        userinfo, at, place = parts.netloc.rpartition("@")
        kept = "&".join(pair for pair in parts.query.split("&") if secret.STARS not in pair)
        query = f"?{kept}" if kept else ""
        return f"{parts.scheme}://{userinfo.partition(':')[0]}{at}{place}{parts.path}{query}"

    @property
    def slug(self) -> str:
        """A name safe for files and identifiers."""
        plain = "".join(c if c.isalnum() else "_" for c in self.name.lower())
        ambiguous = any(part in self.name for part in ("://", SETTING, RELEASE))
        if not ambiguous and len(plain) <= SLUG_LETTERS_MAX:
            return plain
        # Such a name may be too long for a file, or differ from another only in letters that are
        # all `_` here.
        return f"{plain[:SLUG_LETTERS_MAX]}_{crc32(self.name.encode()):08x}"

    def tactic(self, name: str, default: str) -> str:
        """The value set for a tactic, or its default."""
        return dict(self.tactics).get(name, default)


@contextmanager
def naming(variant: Variant) -> Iterator[None]:
    """Name the variant's release in errors: behind the engine's name, or before the message."""
    try:
        yield
    except LoadstoneError as error:
        release = f"{variant.engine}{RELEASE}{variant.release}"
        if variant.release != INSTALLED and release not in error.message:
            own = re.match(rf"{re.escape(variant.engine)}(?![\w-])", error.message)
            rest = error.message[own.end() :] if own else f": {error.message}"
            error.message = release + rest
            error.args = (error.message,)
            error.hint = error.hint or f"leave out {release}, or try another release"
        raise


def parse_variant(text: str, tactics: frozenset[str], *, takes_settings: bool = False) -> Variant:
    """Read a variant. Query keys in `tactics` are tactics; in a URL the others stay in the URL.
    `takes_settings`: the engine has settings of its own, of which an error reminds."""
    text = secret.typed(text).strip()
    if not text:
        raise InputError("a variant is empty", hint="name an engine: --on sqlite")
    if any(letter.isspace() or not letter.isprintable() for letter in text):
        raise InputError(
            "a variant contains a blank or a control character",
            hint=f"write ENGINE, ENGINE?tactic=value or a URL; {ENCODED}",
        )
    if is_aa_control(text) and "://" not in text:
        own = text.removesuffix(AA_SUFFIX)
        return replace(parse_variant(own, tactics, takes_settings=takes_settings), aa_control=True)
    if "://" not in text:
        head, _, query = text.partition("?")
        engine, at, release = head.strip().partition(RELEASE)
        pairs = _pairs(query, text, tactics, only_tactics=True)
        _check_known(pairs, text, tactics, takes_settings=takes_settings)
        return Variant(engine, pairs, release=parse_release(release) if at else INSTALLED)
    parts = _parts(text)
    pairs = _pairs(parts.query, text, tactics, only_tactics=False)
    ours = tuple(pair for pair in pairs if _is_ours(pair[0], tactics))
    theirs = urlencode([pair for pair in pairs if not _is_ours(pair[0], tactics)], quote_via=quote)
    # Not `urlunsplit`: of a URL without a host it takes the two slashes.
    url = f"{parts.scheme}://{parts.netloc}{parts.path}" + (f"?{theirs}" if theirs else "")
    engine = ENGINES_OF_SCHEMES.get(parts.scheme, parts.scheme)
    shown = parts.scheme if parts.scheme in _OTHER_KINDS else engine
    place = parts.netloc.rpartition("@")[2]
    # The path is shown, without what looks like a mistyped secret.
    return Variant(engine, ours, url, secret.shown(f"{shown}://{place}{parts.path}"))


def _parts(url: str) -> SplitResult:
    """Split a URL, refusing one in which part of a password could pass for something shown."""
    try:
        parts = urlsplit(url)
        _ = parts.port  # reading it is what checks it
    except ValueError:
        raise InputError(
            "cannot read host and port of the URL",
            hint=f"write it as {url.partition('://')[0]}://USER@HOST:PORT/DATABASE; {ENCODED}",
        ) from None
    if _BARE_PERCENT.search(url):
        raise InputError(
            "the URL has a % that no two hexadecimal digits follow: it encodes nothing",
            hint=ENCODED,
        )
    if parts.scheme in FILE_SCHEMES:
        if parts.fragment or url.endswith("#"):
            raise InputError(
                f"the file's path ends at the # of {url!r}",
                hint=ENCODED,
            )
        return parts
    if f":{secret.STARS}@" in url or f"={secret.STARS}" in url:
        raise InputError(
            f"{secret.STARS} in a URL stands for a password that was not shown",
            hint="write the password in its place, or leave it out and set PGPASSWORD or MYSQL_PWD",
        )
    userinfo = parts.netloc.rpartition("@")[0]
    if parts.fragment or any("@" in part for part in (userinfo, parts.path, parts.query)):
        raise InputError(
            "a user name or password in the URL has a character that must be encoded",
            hint=ENCODED,
        )
    return parts


def _is_ours(key: str, tactics: frozenset[str]) -> bool:
    """Whether a key of a query is a tactic or a setting, and no parameter of a URL."""
    return key in tactics or key.startswith(SETTING)


def _shown(key: str, value: str) -> str:
    """A value as it stands in a variant's name. A setting's may be any text, so it is quoted."""
    return quote(value, safe=_PLAIN) if key.startswith(SETTING) else value


def in_bytes(value: str) -> str:
    """A size in KiB, MiB or GiB as its number of bytes, which names the variant; others as is."""
    size = _SIZE.fullmatch(value)
    return str(int(size[1]) * _UNIT_BYTES[size[2]]) if size else value


def _pairs(
    query: str, text: str, tactics: frozenset[str], *, only_tactics: bool
) -> tuple[tuple[str, str], ...]:
    if not query and not (only_tactics and "?" in text):
        return ()
    unreadable = InputError(
        f"cannot read the tactics of {secret.shown(text.partition('?')[0])!r}",
        hint=f"write them as ENGINE?tactic=value&tactic=value; {ENCODED}",
    )
    try:
        pairs = parse_qsl(query, strict_parsing=True, keep_blank_values=True)
    except ValueError:
        raise unreadable from None
    if not pairs or not all(
        value or not (only_tactics or _is_ours(key, tactics)) for key, value in pairs
    ):
        raise unreadable
    pairs = [(key, in_bytes(value) if key in tactics else value) for key, value in pairs]
    ours = [key for key, _ in pairs if only_tactics or _is_ours(key, tactics)]
    if twice := [key for key in ours if ours.count(key) > 1]:
        raise InputError(
            f"{secret.shown(text.partition('?')[0])} sets {twice[0][:40]!r} twice",
            hint="name each tactic once",
        )
    return tuple(sorted(pairs))


def _check_known(
    pairs: Iterable[tuple[str, str]], text: str, tactics: frozenset[str], *, takes_settings: bool
) -> None:
    """Raise `InputError` for the first key that is no tactic."""
    unknown = next((key[:40] for key, _ in pairs if not _is_ours(key, tactics)), None)
    if unknown is None:
        return
    known = listed(tactics) or "none"
    own = f"; or write {SETTING}{unknown} for a setting of the engine's own"
    raise UnknownTacticError(
        secret.shown(text.partition("?")[0]),
        unknown,
        f"{known}{own if takes_settings else ''}",
        did_you_mean(unknown, tactics),
    )
