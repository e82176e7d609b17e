"""Amounts at three numbers of nodes, and the hours of a month."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from physical_ai.settings import Scale

HOURS_A_MONTH = 730
"""Number of hours in a month, as in Azure's pricing calculator: 365 days of 24 hours, divided by 12."""


@dataclass(frozen=True)
class Span:
    """A figure for a pool at its minimum, initial and maximum number of nodes.

    `initial` is the fixed count, or the count with which an autoscaled pool is created. `minimum` and `maximum` are the
    autoscaler's limits. For a fixed pool all three are equal.
    """

    minimum: float
    initial: float
    maximum: float

    def times(self, factor: float) -> Span:
        return Span(self.minimum * factor, self.initial * factor, self.maximum * factor)

    def plus(self, other: Span) -> Span:
        return Span(self.minimum + other.minimum, self.initial + other.initial, self.maximum + other.maximum)

    @staticmethod
    def total(spans: Iterable[Span]) -> Span:
        found = Span(0, 0, 0)
        for span in spans:
            found = found.plus(span)
        return found


def nodes(scale: Scale) -> Span:
    """Minimum, initial and maximum number of nodes of a pool."""
    if scale.count is not None:
        return Span(scale.count, scale.count, scale.count)
    return Span(scale.min or 0, scale.initial_count, scale.most)
