"""Variants: read like URLs, named without secrets, refused where a secret could leak."""

import pytest

from loadstone.errors import InputError
from loadstone.plan.variant import Variant, parse_variant

TACTICS = frozenset({"durability", "parallelism"})


def test_an_engine_alone() -> None:
    assert parse_variant(" sqlite ", TACTICS) == Variant("sqlite")
    assert parse_variant("sqlite", TACTICS).name == "sqlite"


def test_tactics_are_kept_in_order_of_name() -> None:
    one = parse_variant("duckdb?parallelism=2&durability=none", TACTICS)
    other = parse_variant("duckdb?durability=none&parallelism=2", TACTICS)
    assert one == other
    assert one.name == "duckdb?durability=none&parallelism=2"
    assert one.tactic("parallelism", "1") == "2"
    assert one.tactic("cache", "256") == "256"


def test_a_size_is_its_number_of_bytes() -> None:
    written = parse_variant("sqlite?durability=2MiB", TACTICS)
    assert written == parse_variant("sqlite?durability=2097152", TACTICS)
    url = parse_variant("postgresql://h/d?other=2MiB&durability=1KiB", TACTICS)
    assert (url.tactics, url.url) == ((("durability", "1024"),), "postgresql://h/d?other=2MiB")


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "sqlite?colour=red",
        "sqlite?durability",
        "sqlite?a==&",
        "sqlite?",
        "sqlite?=",
        "sqlite?durability=",
        "sqlite?durability=none&durability=full",
        "sqlite?&",
        "sqlite:///a.db?durability=",
        "sqlite:///a.db?durability=none&durability=full",
    ],
)
def test_an_unreadable_variant_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_variant(text, TACTICS)
    assert caught.value.hint


def test_a_url_keeps_what_is_not_a_tactic() -> None:
    text = "postgres://bob@db:5433/app?parallelism=2&sslmode=require&options=-c%20a%3Db%26c"
    variant = parse_variant(text, TACTICS)
    assert variant.engine == "postgresql"
    assert variant.tactics == (("parallelism", "2"),)
    assert variant.url == "postgres://bob@db:5433/app?options=-c%20a%3Db%26c&sslmode=require"


def test_servers_that_differ_have_names_that_differ() -> None:
    urls = ("postgresql://a/x", "postgresql://a/y", "postgresql://b/x", "postgresql://a:5433/x")
    assert len({parse_variant(url, TACTICS).name for url in urls}) == len(urls)


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://bob:geheim@db/app",
        "postgresql://bob:geheim@db:5433/app?parallelism=2",
        "postgresql://bob@db/app?password=geheim",
    ],
)
def test_no_name_shows_a_password(url: str) -> None:
    variant = parse_variant(url, TACTICS)
    assert variant.url is not None
    assert "geheim" in variant.url
    for shown in (variant.name, variant.slug, repr(variant), str(variant)):
        assert "geheim" not in shown
        assert "bob" not in shown or "://" not in shown


@pytest.mark.parametrize(
    "secret", ["ge@heim", "ge/geheim", "ge?geheim", "ge#geheim", "geheim@geheim", "ge[heim"]
)
@pytest.mark.parametrize("tail", ["", "?parallelism=2", "?parallelism"])
def test_a_password_that_would_leak_is_refused_without_showing_it(secret: str, tail: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_variant(f"postgresql://bob:{secret}@db/app{tail}", TACTICS)
    assert "heim" not in f"{caught.value.message} {caught.value.hint}"
    assert "encode" in caught.value.hint + caught.value.message or "HOST" in caught.value.hint


def test_a_port_that_is_none_is_refused() -> None:
    for port in ("x", "70000"):
        with pytest.raises(InputError, match="port"):
            parse_variant(f"postgresql://db:{port}/app", TACTICS)


def test_a_url_of_a_file_keeps_its_path() -> None:
    variant = parse_variant("sqlite:///home/a@b/my%20app.db?parallelism=2", TACTICS)
    assert variant.engine == "sqlite"
    assert variant.url == "sqlite:///home/a@b/my%20app.db"
    assert variant.name == "sqlite:///home/a@b/my%20app.db?parallelism=2"


def test_a_url_without_a_host_stays_one() -> None:
    assert parse_variant("postgresql:///app?user=bob", TACTICS).url == "postgresql:///app?user=bob"


@pytest.mark.parametrize("text", ["sqlite:///a#b.db", "sqlite:///a#"])
def test_a_path_that_would_be_cut_is_refused(text: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_variant(text, TACTICS)
    assert "%23" in caught.value.hint


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("sqlite:///tmp/north wind.db", "%20"),
        ("sqlite:///tmp/100%.db", "%25"),
        ("sqlite:///tmp/a%zz.db", "%25"),
        ("duckdb:///tmp/what?.db", "%3F"),
        ("postgresql://alice:a#b@db/app", "%23"),
        ("postgresql://alice:a/b@db/app", "%2F"),
        ("postgresql://alice:a%zz@db/app", "%25"),
        ("mariadb://al@ice:ab@db/app", "%40"),
    ],
)
def test_a_letter_that_must_be_encoded_is_named_with_its_code(text: str, code: str) -> None:
    with pytest.raises(InputError) as caught:
        parse_variant(text, TACTICS)
    assert code in caught.value.hint
    for secret in ("a#b", "a/b", "a%zz@"):
        assert secret not in f"{caught.value.message}{caught.value.hint}"


def test_slugs_of_urls_differ_and_are_short() -> None:
    urls = ("sqlite:///a-b.db", "sqlite:///a_b.db", "sqlite:///A_b.db", f"sqlite:///{'ü' * 3000}")
    slugs = {parse_variant(url, TACTICS).slug for url in urls}
    assert len(slugs) == len(urls)
    assert max(len(f"{slug}.log".encode()) for slug in slugs) <= 255


def test_slugs_are_fit_for_files() -> None:
    slug = parse_variant("postgresql://db/app?parallelism=2", TACTICS).slug
    assert slug.replace("_", "").isalnum()
