"""The answer to whether a connection is open, and what decides it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from workbench.policies.model import Resource


@dataclass(frozen=True)
class Verdict:
    """Verdict about one hop. `open` is None where it depends on a value that is not known yet."""

    open: bool | None
    by: str
    """Resource that decides it, for people: `rule allow-osmo-gateway of nsg-x`."""
    resource: Resource | None = None
    """The one that decides; None where nothing says anything about it."""


def all_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Hops one after the other: the first that is closed decides, or else the first that is not known, or the last."""
    found = list(verdicts)
    closed = [each for each in found if each.open is False]
    unknown = [each for each in found if each.open is None]
    return (closed or unknown or found[-1:] or [Verdict(True, "nothing on the way")])[0]


def any_of(verdicts: Iterable[Verdict]) -> Verdict:
    """Ways beside each other: the first that is open decides, or else the first that is not known, or the first."""
    found = list(verdicts)
    opened = [each for each in found if each.open]
    unknown = [each for each in found if each.open is None]
    return (opened or unknown or found or [Verdict(False, "no way")])[0]


Hops = tuple[Verdict, ...]
"""One way, hop by hop. `all_of` them decides."""


def best(ways: Iterable[Hops]) -> Hops:
    """The way whose verdict `any_of` takes."""
    found = list(ways)
    decided = any_of(all_of(each) for each in found)
    return next((each for each in found if all_of(each) is decided or all_of(each) == decided), (decided,))


def worst(ways: Iterable[Hops]) -> Hops:
    """The way that `all_of` goes by, where every one has to be open."""
    found = list(ways)
    decided = all_of(all_of(each) for each in found)
    return next((each for each in found if all_of(each) == decided), (decided,))
