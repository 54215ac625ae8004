"""An engine that answers every call at once, in Python: the harness overhead in Python."""

from dataclasses import replace
from typing import ClassVar

from loadstone.clients.base import ONE_USER
from loadstone.clients.declared import capabilities
from loadstone.clients.python.embedded import PythonClient
from loadstone.engines.capabilities import Capabilities
from loadstone.plan.role import Role


class PythonNullClient(PythonClient):
    """The cost of the loops, the null procedure and storing rows by themselves."""

    name: ClassVar[str] = "python-null"
    capabilities: ClassVar[Capabilities] = replace(
        capabilities("python-null", {}, answers=False, one_user=ONE_USER),
        stoppable=False,
        role=Role.OVERHEAD,
    )
