"""Kubernetes objects of the GRID driver agent: the manifests, completed for a stack."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.images import image
from physical_ai.catalog.own_names import GRID_DRIVER_WANTED
from physical_ai.planning import agents, manifests
from physical_ai.planning.grid_driver import GridPlan
from physical_ai.settings.facts.images import AGENTS_IMAGE

AGENT = "grid_driver"
"""Folder of the agent in `agents/`."""
FILES_MAP = "gpu-grid-driver-agent"
"""Name of the ConfigMap with the agent's files, without the digest of its content."""
VERSION_ANNOTATION = "physical-ai/grid-driver-version"
"""Annotation of the agent's Pods with the driver build, for people who read a preview or a list of Pods."""
DIGEST_ANNOTATION = "physical-ai/grid-driver-digest"
"""Annotation of the agent's Pods that changes with the agent's files, so that a change reaches running nodes."""


@dataclass(frozen=True)
class GridObjects:
    """Kubernetes objects of the GRID driver agent."""

    limits: Sequence[Mapping[str, Any]]
    """Admission policies that limit the agent; they must exist before the agent's rights do."""
    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    """ConfigMap with the agent's program.

    It never changes: changed files get a new ConfigMap, which only new Pods mount.
    """
    daemon_set: Mapping[str, Any]


def grid_objects(plan: GridPlan) -> GridObjects:
    """Kubernetes objects of the GRID driver agent for the plan `plan`."""
    agent = program(agents.files(AGENT))
    (manifest,) = manifests.load("grid-driver.yaml")
    return GridObjects(
        limits=manifests.load("grid-driver-limits.yaml"),
        rights=agent_rights(manifests.load("grid-driver-rights.yaml"), plan),
        config_map=agent.config_map(manifest["metadata"]["namespace"], manifest["metadata"]["labels"]),
        daemon_set=daemon_set(manifest, plan, agent),
    )


def program(files: Mapping[str, str]) -> agents.Program:
    """The agent as a program made of these files; keys are paths in its folder."""
    return agents.Program(FILES_MAP, "physical-ai-grid-driver", files)


def agent_rights(rights: Sequence[Mapping[str, Any]], plan: GridPlan) -> list[dict[str, Any]]:
    """RBAC objects of the agent. The agent may evict or delete GPU Pods only where a pool's upgrade policy requires
    that.
    """
    completed = copy.deepcopy([dict(item) for item in rights])
    (everywhere,) = (item for item in completed if item["kind"] == "ClusterRole")
    policies = {wanted["upgrade"] for wanted in plan.wanted.values()}
    if "drain" in policies:
        everywhere["rules"].append({"apiGroups": [""], "resources": ["pods/eviction"], "verbs": ["create"]})
    if "force" in policies:
        everywhere["rules"].append({"apiGroups": [""], "resources": ["pods"], "verbs": ["delete"]})
    return completed


def daemon_set(manifest: Mapping[str, Any], plan: GridPlan, agent: agents.Program) -> dict[str, Any]:
    """DaemonSet of the agent: the manifest, completed for a stack."""
    completed = copy.deepcopy(dict(manifest))
    if plan.on_delete:
        completed["spec"]["updateStrategy"] = {"type": "OnDelete"}
    template = completed["spec"]["template"]
    template["metadata"]["annotations"] = {
        VERSION_ANNOTATION: plan.versions,
        GRID_DRIVER_WANTED: plan.document,
        DIGEST_ANNOTATION: agent.digest(plan.document),
    }
    pod = template["spec"]
    pod["tolerations"] = [dict(item) for item in plan.tolerations]
    (container,) = pod["containers"]
    container["image"] = image(AGENTS_IMAGE).at(plan.image_registry)
    if plan.image_pull_secret:
        pod["imagePullSecrets"] = [{"name": plan.image_pull_secret}]
    agent.mount(pod)
    return completed
