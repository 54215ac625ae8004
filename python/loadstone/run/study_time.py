"""The time of a study, and the operations that share it."""

DECISIONS_SHARE = 0.25
"""The share of a study's time that is kept for what its blocks decide to measure."""
TOLERANCE = 1.25
"""No operation begins that is expected to end beyond so many times a study's time."""


class StudyTime:
    """A study's time, and the operations that it is split over."""

    def __init__(self, within_s: float, operations: int) -> None:
        self._left_ns = within_s * 1e9 * (1 - DECISIONS_SHARE)
        self._further_ns = within_s * 1e9 * DECISIONS_SHARE
        self._operations = operations
        self._end_ns = within_s * 1e9 * TOLERANCE
        self._ended: list[float] = []

    def has_room(self) -> bool:
        """Whether another operation may begin: the first always does, and is measured to its end.
        A later one is expected to take as long as those before it did in the mean."""
        took_ns = sum(self._ended)
        return not self._ended or took_ns + took_ns / len(self._ended) <= self._end_ns

    def ended(self, operations: int, ns: float) -> None:
        """Note that so many operations took this time, loading and explaining included."""
        self._ended += [ns / operations] * operations

    @property
    def share_ns(self) -> float:
        """The time for the next operation: what is left, split evenly over the operations left."""
        return max(self._left_ns, 0.0) / max(self._operations, 1)

    @property
    def further_ns(self) -> float:
        """The time left for measuring what blocks decide on, for all operations together."""
        return max(self._further_ns, 0.0)

    @property
    def further_share_ns(self) -> float:
        """The next operation's part of `further_ns`."""
        return self.further_ns / max(self._operations, 1)

    def spent(self, operations: int, ns: float, further_ns: float) -> None:
        """Subtract the time in which so many operations were measured, and the time in which the
        measurements that they decided on were made."""
        self._operations -= operations
        self._left_ns -= ns
        self._further_ns -= further_ns
