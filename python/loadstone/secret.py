"""Passwords in the user's input: found by one rule, removed on entry, never shown.

`admitted` gives a text without its secrets, for the command line, messages, records and reports;
the original is kept apart, and only the parser of a variant reads it (`typed`). The rule finds too
much rather than too little: a malformed address may hold a mistyped password.
"""

import json
import os
import re
import sys
from collections.abc import Callable, Sequence
from urllib.parse import quote, unquote

from loadstone.errors import InputError

STARS = "***"

OF_ENVIRONMENT = ("PGPASSWORD", "MYSQL_PWD")
"""The variables that hold a password of a server."""

HANDED_ON = "LOADSTONE_TYPED"
"""The variable with the descriptor from which a restarted process reads the original input."""

_WORDS = ("password", "passwd", "secret", "scram_client_key", "scram_server_key", "token")
"""Parts of parameter names by which libpq, or a similar driver, takes a secret."""
_WHOLE = frozenset({"options", "pwd", "pass"})
"""Whole parameter names that hold one: `options` sets anything on the server."""
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.\-]*)\s*:[\s/]*/\s*")
_FILES = ("sqlite", "file")
_VALUE = r"([\w%]+)(\s*=\s*)('(?:[^'\\]|\\.)*'?|(?:\\.|[^\s{}])+)"
_PAIR = re.compile(_VALUE.format(""), re.DOTALL)
_PAIR_OF_URL = re.compile(_VALUE.format("&"), re.DOTALL)
_KEYWORDS = re.compile(r"\s*[a-z_]+\s*=")
LETTERS_MAX = 4_000
"""Of an address or a variant: a record's limit for a variant's name, and nearly that of a path."""
_SHOWN_MIN = 4
"""Minimum length of a secret that is searched in messages: shorter ones occur in many words."""

_typed: dict[str, str] = {}
_known: set[str] = set()


def split(text: str) -> tuple[str, list[str]]:
    """An address without its secrets, and the secrets: a URL, `keyword = 'value'` pairs, or an
    attempt at one of them."""
    found: list[str] = []
    scheme = _SCHEME.search(text)
    head, rest = (text[: scheme.end()], text[scheme.end() :]) if scheme else ("", text)
    is_file = scheme is not None and scheme[1].lower() in _FILES and head.count("/") > 2
    is_pairs = scheme is None and _KEYWORDS.match(text) is not None
    if not (is_file or is_pairs):
        rest = _without_userinfo(rest, found)
    if scheme is None:
        shown = _without_pairs(_without_values(rest, _PAIR, found), found)
    else:
        shown = _without_values(head + _without_pairs(rest, found), _PAIR_OF_URL, found)
    return shown, [secret for secret in found if secret != STARS]


def _without_userinfo(rest: str, found: list[str]) -> str:
    # To the last @: a password may hold one that was not encoded.
    userinfo, at, place = rest.rpartition("@")
    user, colon, password = userinfo.partition(":")
    if not (at and colon and password):
        return rest
    found.append(password)
    return f"{user}:{STARS}@{place}"


def _without_pairs(rest: str, found: list[str]) -> str:
    """A query without secrets. Its keys may be encoded (libpq decodes them); after a secret, a part
    that is no pair is the rest of the secret."""
    pieces = re.split(r"([?&])", rest)
    secret = False
    for place, piece in enumerate(pieces):
        if piece in ("?", "&"):
            continue
        key, equals, value = piece.partition("=")
        secret = _is_secret(key) if equals else secret and bool(piece)
        if place and secret and (value or not equals):
            found.append(value if equals else piece)
            pieces[place] = f"{key}={STARS}" if equals else STARS
    return "".join(pieces)


def _without_values(text: str, pair: re.Pattern[str], found: list[str]) -> str:
    def replaced(match: re.Match[str]) -> str:
        if not _is_secret(match[1]) or match[3] == STARS:
            return match[0]
        value = match[3].removeprefix("'").removesuffix("'")
        found.extend({value, re.sub(r"\\(.)", r"\1", value)})
        return f"{match[1]}{match[2]}{STARS}"

    return pair.sub(replaced, text)


def _is_secret(key: str) -> bool:
    while (decoded := unquote(key)) != key:
        key = decoded
    name = key.strip().lower()
    return name in _WHOLE or any(word in name for word in _WORDS)


def names_one(key: str) -> bool:
    """Whether a parameter or a setting of that name holds a secret."""
    return _is_secret(key)


def shown(text: str) -> str:
    """An address without its secrets."""
    return split(text)[0]


def secrets_in(text: str) -> tuple[str, ...]:
    """The secrets of an address and of the environment in every form in which they may occur, the
    longest first, since one may contain another."""
    found = {*split(text)[1], *(os.environ.get(name, "") for name in OF_ENVIRONMENT)}
    return tuple(sorted(_forms(found), key=len, reverse=True))


def _forms(secrets: set[str]) -> set[str]:
    plain = {form for secret in secrets for form in (secret, unquote(secret))}
    encoded = {form for one in plain for form in (quote(one, safe=""), quote(one))}
    written = {json.dumps(one)[1:-1] for one in plain} | {repr(one)[1:-1] for one in plain}
    return (plain | encoded | written) - {""}


def scrubbed(text: str, secrets: Sequence[str]) -> str:
    """A driver's or a server's words without these secrets."""
    for secret in secrets:
        if len(secret) >= _SHOWN_MIN:
            text = text.replace(secret, STARS)
        else:
            text = re.sub(rf"(?<!\w){re.escape(secret)}(?!\w)", STARS, text)
    return text


def admitted(text: str) -> str:
    """An address without secrets; the original is kept for `typed`. Raises `InputError` for one
    that is too long, before any search in it."""
    if len(text) > LETTERS_MAX:
        raise InputError(
            f"an address or a variant has {len(text):,} letters",
            hint=f"write ENGINE, ENGINE?tactic=value or a URL, of at most {LETTERS_MAX:,} letters",
        )
    without, found = split(text)
    if found:
        _typed[without] = text
        _known.update(_forms(set(found)))
    return without


def typed(text: str) -> str:
    """The original of a shown address."""
    return _typed.get(text, text)


def known() -> list[str]:
    """The known secrets, in all their forms, the longest first."""
    return sorted((one for one in _known if len(one) >= _SHOWN_MIN), key=len, reverse=True)


def arguments(given: Sequence[str]) -> list[str]:
    """A command line without secrets."""
    return [_argument(given[place - 1] if place else "", text) for place, text in enumerate(given)]


def _argument(before: str, text: str) -> str:
    if text.startswith("--on="):
        return "--on=" + admitted(text.removeprefix("--on="))
    # The text after another option is a path or a number: it is left as it is, unless it is a URL.
    free = before == "--on" or (not before.startswith("-") and _KEYWORDS.match(text))
    return admitted(text) if free or _SCHEME.search(text) else text


def at_the_door(warn: Callable[[str], None]) -> None:
    """Remove the secrets from this process's command line, also in the list of processes, by
    restarting the program in its place. Does nothing without secrets."""
    if _handed_on():
        return
    given = sys.argv[1:]
    clean = arguments(given)
    if clean == given:
        return
    warn(
        "a password on a command line can be read by other users of this machine until the program"
        " has hidden it: better set PGPASSWORD or MYSQL_PWD, or keep it in ~/.pgpass"
    )
    whole = sys.orig_argv
    sys.argv[1:] = clean
    if whole[len(whole) - len(given) :] != given or not hasattr(os, "memfd_create"):
        return
    descriptor = os.memfd_create("loadstone", 0)
    os.write(descriptor, json.dumps([_typed, sorted(_known)]).encode())
    os.lseek(descriptor, 0, os.SEEK_SET)
    again = [*whole[: len(whole) - len(given)], *clean]
    try:
        handed = {**os.environ, HANDED_ON: str(descriptor)}
        os.execve(sys.executable, again, handed)  # noqa: S606 - the very command that was given
    except OSError:
        os.close(descriptor)


def _handed_on() -> bool:
    """Whether this process was restarted without secrets; then they are read."""
    try:
        with os.fdopen(int(os.environ.pop(HANDED_ON)), "rb") as stream:
            kept, secrets = json.load(stream)
    except (KeyError, ValueError, OSError):
        return False
    _typed.update(kept)
    _known.update(secrets)
    return True
