"""A run's database in the catalog of a user's server of Spark Connect: made, marked and dropped."""

from loadstone.engines.ownership import Space
from loadstone.engines.spark.session import Session
from loadstone.engines.spark.tables import quoted, text_of
from loadstone.errors import EngineError


def enter(session: Session, space: Space, place: str) -> None:
    """Make the database, with its relations below `place`, or find it marked, and enter it. Raises
    `EngineError` where one of that name is not ours."""
    session.run(
        f"CREATE DATABASE IF NOT EXISTS {quoted(space.name)}"
        f" COMMENT {text_of(space.mark)} LOCATION {text_of(place)}"
    )
    if not is_ours(session, space):
        raise EngineError(f"spark: database {space.name} is there, and is not this run's")
    session.run(f"USE {quoted(space.name)}")


def is_ours(session: Session, space: Space) -> bool:
    """Whether there is a database of that name with the run's mark."""
    names = session.ask(f"SHOW DATABASES LIKE {text_of(space.name)}").column(0).to_pylist()
    if space.name not in names:
        return False
    reported = session.ask(f"DESCRIBE DATABASE {quoted(space.name)}").to_pylist()
    return any(space.mark in row.values() for row in reported)


def drop(session: Session, space: Space) -> None:
    """Drop the database with its relations, if it bears the mark."""
    if is_ours(session, space):
        session.run("USE default")
        session.run(f"DROP DATABASE {quoted(space.name)} CASCADE")
