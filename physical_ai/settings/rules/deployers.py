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
    """Faults of a stack without deployers, which must not be deployed to Azure.

    Nothing could be installed in its cluster: with local accounts off, creating a cluster gives no rights in it. For
    an existing cluster there is no such fault, since its owner decides who may use it.
    """
    if loaded.settings.access.deployers or not creates_cluster(loaded.settings):
        return []
    problem = "No deployer is named, so no identity could install anything in the cluster."
    return [loaded.merged.fault(_HERE, problem, _FIX)]
