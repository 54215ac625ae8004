"""The words of a time budget that its parts are distinguished by, in code and in records."""

UNCLASSIFIED = "unclassified"
"""The component of functions that no rule claims."""
KERNEL_PREFIX = "kernel: "
"""The way in which the names of the kernel's components begin."""
