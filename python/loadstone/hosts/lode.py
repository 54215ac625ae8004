"""lode, our own engine, behind a calling program in Rust and in its process."""

from collections.abc import Mapping
from typing import ClassVar

from loadstone.engines.base import Capabilities
from loadstone.hosts.base import capabilities
from loadstone.hosts.rust import ONE_KEY, RustHost

OWN_WORDS = ("access",)
"""Tactics of the program, which chooses a design; all others the engine tells."""


class LodeHost(RustHost):
    """OO1's designs over one storage engine: objects with references both ways (the paper's
    OODBMS), records in parent-child lists (INDEX), B-trees only (Table VII), hashing."""

    name: ClassVar[str] = "lode"
    file: ClassVar[str] = "oo1.lode"
    capabilities: ClassVar[Capabilities] = capabilities(
        ONE_KEY,
        {
            "access": ("objects", "links", "btree", "hash"),
            "swizzle": ("off", "on"),
            "durability": ("full", "group", "none"),
            "log": ("page-diff", "page-grain"),
            "locks": ("table", "page"),
            "disk": ("buffered", "direct"),
            "cache": ("268435456", "<bytes>"),
            "replacement": ("clock", "lru", "lru-2", "random"),
            "extent": ("16", "4", "8", "32", "64"),
            "readahead": ("off", "on"),
            "checkpoint": ("16777216", "<bytes>"),
            "place": ("embedded",),
        },
    )

    def terms(self) -> Mapping[str, str]:
        """Every tactic but the design as the engine has it."""
        terms = dict(super().terms())
        for name in self.capabilities.tactics:
            if name not in OWN_WORDS and f"setting.{name}" in terms:
                terms[name] = terms.pop(f"setting.{name}")
        return terms
