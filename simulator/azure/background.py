"""Work that Azure starts on a cluster by itself, such as an upgrade in a maintenance window; requests are refused
meanwhile.

Its duration is counted in refused requests rather than in time, so that a deployment meets it on any machine.
"""

from __future__ import annotations

from collections.abc import Mapping

from simulator.azure import ids
from simulator.azure.store import Store

UPGRADING = "Upgrading"
KINDS = ("ManagedCluster", "AgentPool")


class Background:
    """Operations that Azure runs by itself. `busy`: number of requests that are refused, by name of the cluster or
    pool.

    The store counts the refused requests.
    """

    def __init__(self, store: Store, busy: Mapping[str, int]) -> None:
        self._store, self._busy = store, busy

    def operations(self) -> dict[str, str]:
        """Operations that are running now: key of the resource's id → name of the operation."""
        if not self._busy:
            return {}
        return {ids.key(r.id): UPGRADING for r in self._store if r.kind in KINDS and self._left(ids.name(r.id))}

    def refused(self, resource_id: str) -> None:
        """Counts one refused request for each running operation that blocks a request on this resource."""
        mine = ids.key(resource_id)
        for other in self.operations():
            if other == mine or mine.startswith(f"{other}/") or other.startswith(f"{mine}/"):
                name = ids.name(other)
                self._store.refused[name] = self._store.refused.get(name, 0) + 1
                self._store.save()

    def _left(self, name: str) -> bool:
        wanted = next((count for key, count in self._busy.items() if key.lower() == name.lower()), 0)
        return self._store.refused.get(name.lower(), 0) < wanted
