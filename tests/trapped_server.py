"""Somebody's PostgreSQL server on which others have laid traps: whatever fits a call of ours better
than what the server brings along writes its name down when it is called."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from user_server import UserServer, user_server

from loadstone.engines.postgresql.engine import PostgresqlEngine
from loadstone.plan.variant import Variant, parse_variant

TACTICS = frozenset(PostgresqlEngine.capabilities.tactics)

Connect = Callable[..., PostgresqlEngine]
"""Make an engine of a run with that owner on the server."""

# Whatever fits the arguments of a call better than what `pg_catalog` has is called in its place.
TRAPS = (
    ("obj_description", "oid, text", "text"),
    ("pg_total_relation_size", "oid", "bigint"),
    ("set_config", "text, text, text", "text"),
    ("starts_with", "name, text", "boolean"),
    ("sum", "integer", "bigint"),
    ("min", "character", "character"),
    ("pg_advisory_lock_shared", "integer", "void"),
    ("version", "", "text"),
    ("current_database", "", "name"),
    ("unnest", "integer[]", "SETOF integer"),
    ("count", "", "bigint"),
)
CASTS = ("integer", "bigint", "numeric", "real")
"""To text: there is none in `pg_catalog`, so one that somebody made goes before a type's output."""
OPERATORS = (("~~", "name", "name"), ("=", "name", "text"), ("||", "text", "text"))


@contextmanager
def trapped_server() -> Iterator[UserServer]:
    """A user's server, whose schema `public` is full of traps."""
    with user_server() as running:
        with running.owner() as connection:
            connection.execute("CREATE TABLE public.sprung (trap text)")
            connection.execute("GRANT INSERT ON public.sprung TO PUBLIC")
            spring = "BEGIN INSERT INTO public.sprung VALUES ({}); RETURN{}; END"
            for name, arguments, result in TRAPS:
                value = "" if "SETOF" in result or result == "void" else " NULL"
                body = spring.format(f"'{name}({arguments})'", value)
                connection.execute(
                    f"CREATE FUNCTION public.{name}({arguments}) RETURNS {result}"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
            for number, (name, left, right) in enumerate(OPERATORS):
                body = spring.format(f"'{left} {name} {right}'", " true")
                connection.execute(
                    f"CREATE FUNCTION public.trap{number}({left}, {right}) RETURNS boolean"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
                connection.execute(
                    f"CREATE OPERATOR public.{name} (LEFTARG = {left}, RIGHTARG = {right},"
                    f" FUNCTION = public.trap{number})".encode()
                )
            for kind in CASTS:
                body = spring.format(f"'{kind}::text'", " 'sprung'")
                connection.execute(
                    f"CREATE FUNCTION public.cast_{kind}({kind}) RETURNS text"
                    f" LANGUAGE plpgsql AS $${body}$$".encode()
                )
                cast = f"CREATE CAST ({kind} AS text) WITH FUNCTION public.cast_{kind}"
                connection.execute(f"{cast} AS IMPLICIT".encode())
        yield running


def sprung(server: UserServer) -> list[tuple[object, ...]]:
    """The traps that something was caught in."""
    with server.owner() as connection:
        return connection.execute("SELECT DISTINCT trap FROM public.sprung").fetchall()


def variant_at(url: str) -> Variant:
    return parse_variant(url, TACTICS)
