"""Which of several ClusterPolicies counts: the operator follows one, and ignores the others."""

from __future__ import annotations

from collections.abc import Sequence

from physical_ai.simulator.cluster.objects import Json, at, name
from physical_ai.simulator.gpu import status
from physical_ai.simulator.gpu.release import Release


def active(found: Release, policies: Sequence[Json], held: str) -> Json | None:
    """The ClusterPolicy that the operator follows.

    Until v26.3 the first one that the operator's process has reconciled; while the process runs none replaces it, not
    even once it is deleted (NVIDIA/gpu-operator, `clusterpolicy_controller.go`). v26.7 follows the oldest, and another
    one while that is not ready.

    Args:
        policies: All that are not being deleted.
        held: Name of the one that this process followed last; empty when it starts.
    """
    given = sorted(policies, key=lambda item: (str(at(item, "metadata.creationTimestamp", "")), name(item)))
    present = next((item for item in given if name(item) == held), None)
    if found.keeps_first_policy and held:
        return present
    first = present or next(iter(given), None)
    if found.keeps_first_policy or first is None or not _is_not_ready(first):
        return first
    return next((item for item in given if not _is_not_ready(item)), first)


def _is_not_ready(policy: Json) -> bool:
    return at(policy, "status.state", "") == status.NOT_READY
