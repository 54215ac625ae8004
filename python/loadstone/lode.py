"""lode, the reference engine, for programs in Python: `docs/lode.md` has an example.

Nothing but short names for what `_core.pyi` describes. Everything raises `LodeError`; after a
`DeadlockError`, which is one, the transaction can be run again.
"""

from loadstone._core import LodeBtree as Btree
from loadstone._core import LodeDatabase as Database
from loadstone._core import LodeHash as Hash
from loadstone._core import LodeHeap as Heap
from loadstone._core import LodeLinks as Links
from loadstone._core import LodeObjects as Objects
from loadstone._core import LodeRemote as Remote
from loadstone._core import LodeRows as Rows
from loadstone._core import LodeServer as Server
from loadstone._core import LodeStatement as Statement
from loadstone._core import LodeTransaction as Transaction
from loadstone._core import lode_connect as connect
from loadstone._core import lode_profiles as profiles
from loadstone._core import lode_tactics as tactics
from loadstone._core import lode_tactics_of as tactics_of
from loadstone.errors import CancelledError, DeadlockError, LodeError, QueryError

__all__ = [
    "Btree",
    "CancelledError",
    "Database",
    "DeadlockError",
    "Hash",
    "Heap",
    "Links",
    "LodeError",
    "Objects",
    "QueryError",
    "Remote",
    "Rows",
    "Server",
    "Statement",
    "Transaction",
    "connect",
    "profiles",
    "tactics",
    "tactics_of",
]
