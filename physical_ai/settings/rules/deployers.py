"""Rule that a stack has to name its deployers. It only concerns Azure, since a simulation has its own deployer."""

from __future__ import annotations

from physical_ai.settings.facts.created import creates_cluster
from physical_ai.settings.faults import Fault
from physical_ai.settings.layers.paths import Path
from physical_ai.settings.loaded import Loaded

_HERE: Path = ("access", "deployers")
_FIX = (
    "Write, in the stack file, physical-ai:access: {deployers: [{principalId: <object id of an Entra group>}]}. "
    "For yourself alone: {principalId: <id>, principalType: User}, where `az ad signed-in-user show --query id -o tsv` "
    "prints the id. `physai bootstrap` prints those of pipelines."
)


def unnamed_deployers(loaded: Loaded) -> list[Fault]:
    """Faults of a stack on Azure that names no deployers. Such a stack must not be deployed.

    AKS local accounts are off, and creating a cluster gives no rights inside the cluster, so nothing could be installed
    there. A stack on an existing cluster has no such fault: the cluster's owner decides who may use the cluster.
    """
    if loaded.settings.access.deployers or not creates_cluster(loaded.settings):
        return []
    problem = "No deployer is named, so no identity could install anything in the cluster."
    return [loaded.merged.fault(_HERE, problem, _FIX)]
