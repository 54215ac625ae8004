"""Options of the whole suite; this folder is importable, so that tests share `report_fixture`."""

import pytest


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--update-golden", action="store_true", help="write the expected bytes instead of comparing"
    )
    parser.addoption(
        "--kills", default="6", metavar="N", help="kill the run at N points (tests/cli, default 6)"
    )
    parser.addoption(
        "--tries", default="60", metavar="N", help="mutate a record N times (unit, default 60)"
    )
