"""Secrets are found in whatever an address can be, and in what was meant to be one."""

import random
from urllib.parse import quote

import pytest

from loadstone import secret
from loadstone.diagnostics import masked
from loadstone.errors import InputError, LoadstoneError
from loadstone.plan.variant import parse_variant
from loadstone.registry import engine_named

TACTICS = frozenset({"parallelism", "durability"})
ALPHABET = "abcXYZ019$%&!~*()_+-=.,;:@/?#[]{}|^<>'\"\\ \t\nüß表"

# Where libpq takes a secret, and where people put one by mistake; `{raw}` as it is, `{url}`
# encoded.
PLACES = (
    "postgresql://alice:{url}@db.example:5432/app",
    "postgres://alice:{url}@db.example/app?parallelism=2",
    "postgresql://:{url}@/app",
    "postgresql://alice:{raw}@db.example/app",
    "postgresql://alice:{url}@h1:5432,h2:5433/app?target_session_attrs=any",
    "postgresql://alice@db/app?password={url}",
    "postgresql://alice@db/app?a=b&password={url}&c=d",
    "postgresql://alice@db/app?p%61ssword={url}",
    "postgresql://alice@db/app?%70%61%73%73%77%6f%72%64={url}",
    "postgresql://alice@db/app?p%2561ssword={url}",
    "postgresql://alice@db/app?sslpassword={url}",
    "postgresql://alice@db/app?oauth_client_secret={url}",
    "postgresql://alice@db/app?options=-c%20my.key%3D{url}",
    "postgresql://alice@db/app?PASSWORD={url}",
    "\t postgresql://alice:{url}@db/app",
    "postgresql:/alice:{url}@db/app",
    "postgresql:///alice:{url}@db/app",
    "postgresql : // alice:{url}@db/app",
    "alice:{url}@db/app",
    "host=db user=alice password={word}",
    "host=db password = '{quoted}' user=alice",
    "password='{quoted}",
    "host=db sslpassword='{quoted}'",
    "mysql://alice:{url}@db/app",
    "sqlite://alice:{url}@db/app",
    "postgresql?password={url}",
    "postgresql://alice@db/password={url}",
    "jdbc:postgresql://db/app?user=alice&password={url}",
)


def written(place: str, word: str) -> str:
    escaped = word.replace("\\", "\\\\").replace("'", "\\'")
    as_word = "".join(f"\\{c}" if c.isspace() or c in "\\'" else c for c in word)
    forms = {"raw": word, "url": quote(word, safe=""), "quoted": escaped, "word": as_word}
    return place.format(**forms)


@pytest.fixture
def words(chance: random.Random) -> list[str]:
    drawn = ["".join(chance.choices(ALPHABET, k=chance.randint(6, 20))) for _ in range(60)]
    return ["hunter2hunter2", "s3cr:t/@p%20ss?#", *(f"S{word}Z" for word in drawn)]


@pytest.mark.parametrize("place", PLACES)
def test_no_secret_is_shown_and_none_is_lost(place: str, words: list[str]) -> None:
    for word in words:
        text = written(place, word)
        shown = secret.admitted(text)
        hidden(word, shown)
        assert "***" in shown
        assert secret.typed(shown) == text
        hidden(word, masked(f"cannot read {text!r}: try again"), at_least=False)


@pytest.mark.parametrize("place", PLACES)
def test_no_error_and_no_name_shows_one(place: str, words: list[str]) -> None:
    for word in words:
        text = written(place, word)
        for given in (text, secret.admitted(text)):
            try:
                engine_named(given)
                variant = parse_variant(given, TACTICS)
                reported = f"{variant.name} {variant!r} {variant.slug} {variant.bare_url}"
            except LoadstoneError as error:
                reported = f"{error!r} {error} {error.hint}"
            hidden(word, reported)


def hidden(word: str, shown: str, *, at_least: bool = True) -> None:
    """Neither the secret nor a long piece of it stands there."""
    pieces = {word, quote(word, safe="")}
    if at_least and word.isascii() and word.isprintable():
        pieces |= {word[:8], word[-8:]} if len(word) >= 16 else set()
    for piece in pieces:
        assert piece not in shown, shown


@pytest.mark.parametrize(
    "text",
    [
        "sqlite",
        "sqlite?durability=none",
        "postgresql://alice@db.example:5432/app?parallelism=2&sslmode=require",
        "postgresql://[::1]:5432/app",
        "sqlite:///data/a:b@c/my%20app.db",
        "postgresql://alice@db/app?passfile=/data/alice/pgpass",
    ],
)
def test_a_text_without_a_secret_is_left_as_it_is(text: str) -> None:
    if "passfile" in text:
        assert secret.shown(text) == text
    assert secret.shown(text) == text


def test_of_a_command_line_only_addresses_are_touched() -> None:
    quel = "range of t is t retrieve (t.all) where t.password = 5"
    path = "runs/password=x:y@z.loadstone"
    kept = ["run", "--record", path, "--rows", "1000", "a:b@c", "--file", "password = x", quel]
    assert secret.arguments(kept) == kept
    url = "postgresql://a:hunter2@h/d"
    given = ["run", "--on", url, f"--on={url}", url, "--on", "host=h password='hunter2'"]
    clean = secret.arguments(given)
    assert "hunter2" not in " ".join(clean)
    assert clean[2:5] == ["postgresql://a:***@h/d", "--on=postgresql://a:***@h/d", clean[2]]


def test_an_address_of_any_length_is_not_searched() -> None:
    text = "x" * secret.LETTERS_MAX
    assert secret.admitted(text) == text
    for given in (["run", "--on", f"{text}y"], [f"--on={text}y"], [f"postgresql://{text}"]):
        with pytest.raises(InputError, match="an address or a variant has 4,0"):
            secret.arguments(given)


def test_stars_are_no_password() -> None:
    for url in ("postgresql://a:***@never/typed", "postgresql://a@never/typed?password=***"):
        with pytest.raises(LoadstoneError, match="stands for a password"):
            parse_variant(url, TACTICS)


def test_short_secrets_are_scrubbed_as_words_only() -> None:
    assert secret.scrubbed("abc: a is wrong", ("a",)) == "abc: *** is wrong"
    assert secret.scrubbed("xhunter2y", ("hunter2",)) == "x***y"
