"""Plain Python objects in a dict: the limit of any database used from Python. Lost when closed."""

from dataclasses import replace
from typing import ClassVar

from loadstone.clients.base import ONE_USER
from loadstone.clients.declared import capabilities
from loadstone.clients.python.embedded import PythonClient
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.role import Role


class DictionaryClient(PythonClient):
    """Plain objects, references and a dict: the limit of a client in Python, not a database."""

    name: ClassVar[str] = "python-dict"
    capabilities: ClassVar[Capabilities] = replace(
        capabilities("python-dict", {}, one_user=ONE_USER), stoppable=False, role=Role.LIMIT
    )
