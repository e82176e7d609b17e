"""Verdict on a hop, with the resource that decides it, and the combination of verdicts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.policies.model import Resource


@dataclass(frozen=True)
class Verdict:
    """Verdict on one hop. `open` is None if the verdict depends on a value that is not known yet."""

    open: bool | None
    by: str
    """Description of what decides, for messages: `rule allow-osmo-gateway of nsg-x`."""
    resource: Resource | None = None
    """Resource that decides; None if no resource concerns the connection."""


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Verdict on a way, from the verdicts on its consecutive hops: the first closed one, else the first unknown one,
    else the last one. Open if there are no hops.
    """
    found = list(verdicts)
    closed = [each for each in found if each.open is False]
    unknown = [each for each in found if each.open is None]
    return (closed or unknown or found[-1:] or [Verdict(True, "nothing on the way")])[0]


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Verdict on alternative ways, from the verdicts on each: the first open one, else the first unknown one, else the
    first one. Closed if there are no ways.
    """
    found = list(verdicts)
    opened = [each for each in found if each.open]
    unknown = [each for each in found if each.open is None]
    return (opened or unknown or found or [Verdict(False, "no way")])[0]


Hops = tuple[Verdict, ...]
"""Verdicts on all hops of one way, in their order. `all_of` gives the verdict on the way."""


def best(ways: Iterable[Hops]) -> Hops:
    """The best of several ways: the first open one, else the first unknown one, else the first."""
    found = list(ways)
    decided = any_of(all_of(each) for each in found)
    return next((each for each in found if all_of(each) is decided or all_of(each) == decided), (decided,))


def worst(ways: Iterable[Hops]) -> Hops:
    """The worst of several ways: the first closed one, else the first unknown one, else the last."""
    found = list(ways)
    decided = all_of(all_of(each) for each in found)
    return next((each for each in found if all_of(each) == decided), (decided,))
