"""Type of one connection of a flow, and the flow endpoints outside of the cluster that open connections."""

from __future__ import annotations

from dataclasses import dataclass

from workbench.policies.flows.verdicts import Hops, Verdict, all_of
from workbench.policies.model import Resource

CLIENTS = ("internet", "private-clients")


@dataclass(frozen=True)
class Way:
    """One connection of a flow, to one port of one target. `resource` is the target's resource; None if the stack does
    not have the target as a resource.
    """

    target: str
    port: int
    hops: Hops
    resource: Resource | None = None

    @property
    def verdict(self) -> Verdict:
        return all_of(self.hops)
