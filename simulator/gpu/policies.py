"""Selection of the one ClusterPolicy that the operator follows; it ignores all other ClusterPolicies."""

from __future__ import annotations

from collections.abc import Sequence

from simulator.cluster.objects import Json, at, name
from simulator.gpu.release import Release


def active(found: Release, policies: Sequence[Json], held: str) -> Json | None:
    """The ClusterPolicy that the operator follows; None if the operator follows none.

    The other ClusterPolicies get no status: the operator sets their status only in memory.

    Until v26.3, the operator follows the first ClusterPolicy that its process has reconciled, as long as the process
    runs and even after that ClusterPolicy is deleted (NVIDIA/gpu-operator, `clusterpolicy_controller.go`). From v26.7
    on, the operator follows the oldest ClusterPolicy; if several are equally old, the first by name
    (`getSingletonClusterPolicy` in `active_config.go`).

    Args:
        policies: All ClusterPolicies that are not being deleted.
        held: Name of the ClusterPolicy that the operator's process followed last; empty when the process starts.
    """
    if found.keeps_first_policy and held:
        return next((item for item in policies if name(item) == held), None)
    given = sorted(policies, key=lambda item: (str(at(item, "metadata.creationTimestamp", "")), name(item)))
    return next(iter(given), None)
