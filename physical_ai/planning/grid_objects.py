"""The GRID driver agent's Kubernetes objects: the manifests, completed for a stack."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.images import image
from physical_ai.catalog.own_names import GRID_DRIVER_WANTED
from physical_ai.planning import agents, manifests
from physical_ai.planning.grid_driver import GridPlan, digest
from physical_ai.settings.facts.images import AGENTS_IMAGE

AGENT = "grid_driver"
"""Folder of the agent in `agents/`."""
FILES_MAP = "gpu-grid-driver-agent"
"""Name of the ConfigMap with the agent's files, without the digest of its content."""
FIELD_MANAGER = "pulumi.com/patchFieldManager"
"""A fixed manager, so that an earlier version of the files can be deployed again: its ConfigMap may still exist."""
VERSION_ANNOTATION = "physical-ai/grid-driver-version"
"""On the Pods, for readers of a preview or of a list of Pods."""
DIGEST_ANNOTATION = "physical-ai/grid-driver-digest"
"""On the Pods: changes with the agent's files, so that a change reaches running nodes."""


@dataclass(frozen=True)
class GridObjects:
    """Everything that the agent needs in the cluster."""

    limits: Sequence[Mapping[str, Any]]
    """Admission policies for what the agent may do, which must exist before its rights do."""
    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    """The agent's program. It never changes: other files are another ConfigMap, which only new Pods mount."""
    daemon_set: Mapping[str, Any]


def grid_objects(plan: GridPlan) -> GridObjects:
    """The objects of a stack whose plan has GRID pools."""
    files = agents.files(AGENT)
    (manifest,) = manifests.load("grid-driver.yaml")
    return GridObjects(
        limits=manifests.load("grid-driver-limits.yaml"),
        rights=agent_rights(manifests.load("grid-driver-rights.yaml"), plan),
        config_map=config_map(manifest["metadata"], files),
        daemon_set=daemon_set(manifest, plan, files),
    )


def config_map(metadata: Mapping[str, Any], files: Mapping[str, str]) -> dict[str, Any]:
    """The ConfigMap of these files, with the namespace and labels of the DaemonSet.

    Kubelet updates a changed ConfigMap in all Pods at once, so the scripts of a job could be of another version than
    the agent that starts it, on all nodes of the cluster.
    """
    return {
        "apiVersion": "v1",
        "kind": "ConfigMap",
        "metadata": {
            "name": files_name(files),
            "namespace": metadata["namespace"],
            "labels": dict(metadata["labels"]),
            "annotations": {FIELD_MANAGER: "physical-ai-grid-driver"},
        },
        "immutable": True,
        "data": {key(path): text for path, text in files.items()},
    }


def files_name(files: Mapping[str, str]) -> str:
    """The name of the ConfigMap with these files."""
    return f"{FILES_MAP}-{digest(files, '')[:10]}"


def agent_rights(rights: Sequence[Mapping[str, Any]], plan: GridPlan) -> list[dict[str, Any]]:
    """The agent's rights. It may evict or delete GPU Pods only where a pool's upgrade policy requires it."""
    completed = copy.deepcopy([dict(item) for item in rights])
    (everywhere,) = (item for item in completed if item["kind"] == "ClusterRole")
    policies = {wanted["upgrade"] for wanted in plan.wanted.values()}
    if "drain" in policies:
        everywhere["rules"].append({"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]})
    if "force" in policies:
        everywhere["rules"].append({"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]})
    return completed


def daemon_set(manifest: Mapping[str, Any], plan: GridPlan, files: Mapping[str, str]) -> dict[str, Any]:
    """The manifest, completed for a stack. `files` are the agent's, by path in its folder."""
    completed = copy.deepcopy(dict(manifest))
    template = completed["spec"]["template"]
    template["metadata"]["annotations"] = {
        VERSION_ANNOTATION: plan.versions,
        GRID_DRIVER_WANTED: plan.document,
        DIGEST_ANNOTATION: digest(files, plan.document),
    }
    pod = template["spec"]
    pod["tolerations"] = [dict(item) for item in plan.tolerations]
    (container,) = pod["containers"]
    container["image"] = image(AGENTS_IMAGE).at(plan.image_registry)
    if plan.image_pull_secret:
        pod["imagePullSecrets"] = [{"name": plan.image_pull_secret}]
    (code,) = (volume for volume in pod["volumes"] if "configMap" in volume)
    code["configMap"] = {"name": files_name(files), "items": [{"key": key(path), "path": path} for path in files]}
    return completed


def key(path: str) -> str:
    """The ConfigMap's key of a file: it may hold no slash.

    >>> key("grid_agent/decide.py")
    'grid_agent.decide.py'
    """
    return path.replace("/", ".")
