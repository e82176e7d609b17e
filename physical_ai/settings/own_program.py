"""Settings for the components that somebody's own program uses on a cluster of its own, without stack files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from physical_ai.catalog import UnknownName
from physical_ai.catalog import region as catalogue_region
from physical_ai.repository import INSTALLED_STACKS
from physical_ai.settings.faults import SettingsError, fault
from physical_ai.settings.layers.document import Document
from physical_ai.settings.layers.merge import Layer, merge
from physical_ai.settings.layers.names import StackName, layer_files
from physical_ai.settings.layers.overlay import read_file
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings
from physical_ai.settings.validate import validate

PROGRAM = "(program)"
"""Name of the program's arguments in messages, in place of a file."""
ENVIRONMENT = "own"
"""Environment of such settings. No layer has this name, so no environment's defaults apply."""
_BELOW = ("base.yaml", "azure.yaml")
"""Layers that apply: the defaults of every stack, and those of every stack on Azure."""
_OF_THE_CLUSTER: Mapping[str, Any] = {
    "network": {"addressSpace": "172.16.0.0/12", "systemSubnet": "172.20.0.0/24"},
    "systemPool": {"scale": {"count": 1}},
    "cpuPool": {"scale": {"count": 1}},
}
"""Settings of a cluster and its network that every stack on Azure has. The program has its own cluster, and nothing
that the components declare depends on these values.
"""


def own_settings(
    region: str, kubernetes_version: str, pools: Mapping[str, Pool], sections: Mapping[str, Mapping[str, Any]]
) -> Settings:
    """Settings of the GPU software for a cluster with these pools.

    Args:
        region: Azure region of the cluster.
        kubernetes_version: Kubernetes minor of the cluster.
        pools: GPU pools by name. Their subnets are the program's matter.
        sections: Further settings, by the name of their section in a stack file, such as `gpuOperator`.

    Raises SettingsError with every fault found, by the rules for stacks.
    """
    try:
        catalogue_region(region)
    except UnknownName as unknown:
        fix = f"Did you mean '{unknown.suggestion}'?" if unknown.suggestion else "All regions: physai regions"
        raise SettingsError([fault(PROGRAM, "region", str(unknown), fix)]) from None
    name = StackName(ENVIRONMENT, region)
    given: dict[str, Any] = {
        **_OF_THE_CLUSTER,
        "cluster": {"kubernetesVersion": kubernetes_version},
        "pools": {pool: _written(each, number) for number, (pool, each) in enumerate(pools.items())},
        **sections,
    }
    own = Layer(PROGRAM, given)
    merged = merge([*_layers(name), own], own)
    outcome = validate(merged, name.environment, name.region)
    errors = [each for each in outcome.faults if each.is_error]
    if errors or outcome.settings is None:
        raise SettingsError(errors)
    return outcome.settings


def _layers(name: StackName) -> list[Layer]:
    """Layers below the program's own values. They bring no pools: the program names all of its pools."""
    files = {label: file for label, file in layer_files(name, INSTALLED_STACKS).items() if file.name in _BELOW}
    documents: dict[str, Document] = {label: read_file(file, label) for label, file in files.items()}
    return [
        Layer(label, {key: value for key, value in each.data.items() if key != "pools"}, lines=each.lines)
        for label, each in documents.items()
    ]


def _written(pool: Pool, number: int) -> dict[str, Any]:
    """A pool as in a stack file. It gets a subnet, which every pool on Azure has; no component reads it."""
    data = pool.model_dump(mode="json", by_alias=True, exclude_unset=True)
    return {"subnet": f"172.16.{number}.0/24", **data}
