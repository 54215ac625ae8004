"""An engine's counts of its own work."""

from dataclasses import astuple, dataclass


@dataclass(frozen=True, slots=True)
class Work:
    """An engine's own counts since it was started."""

    tuples: int
    """That came from relations and from whatever stood between the steps of a plan."""
    pages: int
    """Of relations, that were read, from memory or from the device."""
    comparisons: int
    """Of two values, or of a value with a pattern."""
    hash_probes: int
    """Look-ups in hash tables."""
    spilled_bytes: int
    """Written to files because they did not fit into the memory budget."""
    log_bytes: int
    """Of records appended to the log."""
    batches_ahead: int
    """Of tuples, that a thread judged ahead of the one that takes them."""
    functions_compiled: int
    """Made of a statement, as machine code."""
    code_bytes: int
    """Of that machine code."""
    compile_ns: int
    """It took to make it."""
    first_copy_reads: int = 0
    """That the first copy of a mirrored database was given; 0 without a mirror."""
    second_copy_reads: int = 0
    """That the second was given."""

    def since(self, before: "Work") -> "Work":
        """The counts since an earlier reading."""
        pairs = zip(astuple(self), astuple(before), strict=True)
        return Work(*(now - then for now, then in pairs))
