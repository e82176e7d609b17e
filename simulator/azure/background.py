"""Operations that Azure starts by itself, such as an upgrade in a maintenance window, and that block requests on a
cluster.

The operation ends after a number of refused requests, not after a time, so that a test does not depend on the machine's
speed.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.azure import ids
from simulator.azure.store import Store

UPGRADING = "Upgrading"
KINDS = ("ManagedCluster", "AgentPool")


class Background:
    """Operations that Azure runs by itself on clusters and pools.

    `busy`: number of requests that each operation refuses before it ends, by name of the cluster or pool. The refused
    requests are counted in the store.
    """

    def __init__(self, store: Store, busy: Mapping[str, int]) -> None:
        self._store, self._busy = store, busy

    def operations(self) -> dict[str, str]:
        """Operations that are running now: key of the resource's id → name of the operation."""
        if not self._busy:
            return {}
        return {ids.key(r.id): UPGRADING for r in self._store if r.kind in KINDS and self._left(ids.name(r.id))}

    def refused(self, resource_id: str) -> None:
        """Counts a request that was refused because an operation runs on the resource itself, its cluster or one of its
        pools.
        """
        mine = ids.key(resource_id)
        for other in self.operations():
            if other == mine or mine.startswith(f"{other}/") or other.startswith(f"{mine}/"):
                name = ids.name(other)
                self._store.refused[name] = self._store.refused.get(name, 0) + 1
                self._store.save()

    def _left(self, name: str) -> bool:
        wanted = next((count for key, count in self._busy.items() if key.lower() == name.lower()), 0)
        return self._store.refused.get(name.lower(), 0) < wanted
