"""Restrictions of a subscription: its state, its policies and locks, and offers of Azure that it may not use.

The answers to requests made before a deployment and the refusals of a PUT both follow from these rows.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields
from typing import Any

from simulator.azure.bodies import Json, get


@dataclass(frozen=True)
class Denial:
    """A policy assignment with the effect deny."""

    name: str
    type: str
    """ARM type that the policy applies to, or `*`."""
    path: str
    """Path of the checked property in the request body."""
    values: tuple[Any, ...]
    """Values of the property that the policy denies; if `allows` is True, the policy denies all other values instead.
    """
    allows: bool = False

    def denies(self, arm_type: str, body: Mapping[str, Any]) -> bool:
        if self.type not in ("*", arm_type):
            return False
        value = get(body, self.path)
        return value not in self.values if self.allows else value in self.values


@dataclass
class Restrictions:
    """Restrictions of the simulated subscription. By default it has none."""

    state: str = "Enabled"
    """State of the subscription. ARM refuses changes of a `Disabled` one."""
    registered: Collection[str] | None = None
    """Resource providers that are registered in the subscription; None if all that this project uses are registered."""
    denials: Sequence[Denial] = ()
    locks: Mapping[str, str] = field(default_factory=dict[str, str])
    """Resource locks: scope → `ReadOnly` or `CanNotDelete`."""
    counts: Mapping[str, tuple[int, int]] = field(default_factory=dict[str, tuple[int, int]])
    """Number of resources of others, and limit, of a usage of `counted.COUNTED`, by the usage's name. A negative limit
    means that there is none.
    """
    closed: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Names of the regions that do not offer a type, by ARM type."""
    restricted: Mapping[str, Collection[str]] = field(default_factory=dict[str, Collection[str]])
    """Zones in which the subscription may not use a VM size, by size; an empty collection means the whole region."""
    unentitled: Collection[str] = ()
    """vCPU quotas that Azure does not list, because the subscription may not use their sizes."""
    absent: Collection[str] = ()
    """Cache sizes and storage redundancies that no region offers the subscription."""
    databases: Json = field(default_factory=dict[str, Any])
    """Capabilities of PostgreSQL for the subscription where they differ from those of the region:
    `{"restricted": "Enabled"}`, `{"zoneRedundantHaSupported": "Disabled"}`.
    """
    features: Mapping[str, str] = field(default_factory=dict[str, str])
    """Registration states of preview features, by `namespace/name`; features that are not listed are NotRegistered."""

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Restrictions:
        """Restrictions in a JSON document, whose other keys are ignored. Raises TypeError."""
        found = {name: given[name] for name in NAMES if name in given}
        if "denials" in found:
            rows: list[Json] = found["denials"]
            found["denials"] = tuple(_denial(each) for each in rows)
        return cls(**found)


def _denial(row: Json) -> Denial:
    """A policy assignment in a JSON document, in which its values are a list."""
    values: list[Any] = row["values"]
    given: Json = {**row, "values": tuple(values)}
    return Denial(**given)


NAMES = tuple(each.name for each in fields(Restrictions))
