"""Node Feature Discovery: labels of nodes on which a worker runs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai import safe_yaml
from simulator.amd import model as amd_model
from simulator.cluster.objects import Changes, Json, at, is_ready, is_terminating, labels, name
from simulator.gpu import nfd
from simulator.gpu.hardware import Hardware
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.names import DISCOVERED, NFD

APP, ROLE = ("app.kubernetes.io/name", "node-feature-discovery"), ("role", "worker")
CONFIG_KEY = "nfd-worker.conf"
AMD_RULE = "/apis/nfd.k8s-sigs.io/v1alpha1/nodefeaturerules/amd-gpu-label-nfd-rule"


def _is_worker(item: Json) -> bool:
    given = labels(item)
    return given.get(APP[0]) == APP[1] and given.get(ROLE[0]) == ROLE[1]


def fields(config_maps: Sequence[Json]) -> Sequence[str]:
    """PCI fields that make up the names of NFD's PCI labels, from the configuration of NFD's workers, or else NFD's
    default fields.
    """
    for item in config_maps:
        text = at(item, "data", {}).get(CONFIG_KEY) if labels(item).get(APP[0]) == APP[1] else None
        config: Any = safe_yaml.load_shared(text) if text else None
        given = at(config, "sources.pci.deviceLabelFields")
        if given:
            return tuple(given)
    return nfd.FIELDS


def changes(
    node: Json,
    hardware: Hardware | None,
    wanted_fields: Sequence[str],
    others: Mapping[str, str] | None = None,
    *,
    has_worker: bool,
) -> Changes:
    """Changes that NFD makes to the labels of a node.

    Args:
        others: Labels for GPUs of another vendor.
        has_worker: True if an NFD worker reports the node's features. Without a worker, all feature labels are removed,
            including the labels of GFD.
    """
    given = labels(node)
    wanted = {**nfd.labels(node, hardware, wanted_fields), **(others or {})} if has_worker else {}
    lost = [key for key in given if key.startswith(NFD) or (key in DISCOVERED and not has_worker)]
    gone: Changes = {key: None for key in lost if key not in wanted}
    return {**gone, **{key: value for key, value in wanted.items() if given.get(key) != value}}


class Discovery:
    """Sets NFD's labels on the nodes.

    A node keeps its labels while its NFD worker restarts. The labels are removed only when the workers' DaemonSet is
    deleted (NVIDIA/gpu-operator#782).
    """

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def run(self, hardware: dict[str, Hardware | None]) -> bool:
        """Labels every node that has a worker; returns True if anything changed."""
        installed = any(_is_worker(item) and not is_terminating(item) for item in self._cluster.all("DaemonSet"))
        pods = [item for item in self._cluster.all("Pod") if _is_worker(item)]
        reporting = {str(at(item, "spec.nodeName", "")) for item in pods if is_ready(item)}
        found, moved = fields(self._cluster.all("ConfigMap")), False
        for node in self._cluster.nodes:
            if installed and name(node) not in reporting:
                continue
            wanted = changes(node, hardware.get(name(node)), found, self._of_amd(node), has_worker=installed)
            if wanted:
                self._cluster.label(node, wanted)
                moved = True
        return moved

    def _of_amd(self, node: Json) -> dict[str, str]:
        if amd_model.gpu_of(node) is None:
            return {}
        return amd_model.features(node, has_rule=self._cluster.client.find(AMD_RULE) is not None)
