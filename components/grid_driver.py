"""The GRID driver agent: one privileged Pod on each node whose vGPU driver is ours to install, and what it may do."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pulumi
import pulumi_kubernetes as kubernetes

from components import agents, manifests
from components.cluster_target import ClusterTarget
from components.gpu_configs import config_map
from components.objects import declare
from physical_ai.catalog.images import image
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
from physical_ai.settings.plans.grid_driver import GridPlan, digest

AGENT = "grid_driver"
"""Folder of the agent in `agents/`."""
OBJECTS = "gpu-grid-driver-installer"
"""Name of the agent's objects, or how it begins."""
IMAGE = "library/ubuntu"
FILES_MAP = "gpu-grid-driver-agent"
WANTED_ANNOTATION = "physical-ai/grid-driver-wanted"
"""On the Pods: what the agent is to see to, as the Pod was made with it."""
VERSION_ANNOTATION = "physical-ai/grid-driver-version"
"""On the Pods, for people who read a preview or a list of Pods."""
DIGEST_ANNOTATION = "physical-ai/grid-driver-digest"
"""On the Pods: changes with the agent's files, so that these reach running nodes."""


@dataclass(frozen=True)
class GridDriverArgs:
    """`namespace` must allow privileged pods: the agent enters the host's mount namespace."""

    target: ClusterTarget
    namespace: kubernetes.core.v1.Namespace
    plan: GridPlan | None
    """None without a GRID pool."""


class GridDriver(pulumi.ComponentResource):
    """The agent's DaemonSet, its files, its rights and their limits; nothing in a stack without a GRID pool.

    It is there for pools without nodes too, since a node gets its driver when it joins. Limits come before rights, and
    both before the Pods. The engine does not wait for drivers.

    Attributes:
        daemon_set: None without a GRID pool.
    """

    daemon_set: kubernetes.apps.v1.DaemonSet | None

    def __init__(self, name: str, args: GridDriverArgs, opts: pulumi.ResourceOptions | None = None) -> None:
        super().__init__("physical-ai:kubernetes:GridDriver", name, {}, opts)
        plan = args.plan
        self.daemon_set = None if plan is None else self._declare(name, args, plan)
        self.register_outputs({"pools": [] if plan is None else list(plan.wanted)})

    def _declare(self, name: str, args: GridDriverArgs, plan: GridPlan) -> kubernetes.apps.v1.DaemonSet:
        files = agents.files(AGENT)
        found = manifests.load("grid-driver-limits.yaml")
        limits = declare(name, self, args.target, found, after=[args.namespace], common=OBJECTS)
        found = granted(manifests.load("grid-driver-rights.yaml"), plan)
        rights = declare(name, self, args.target, found, after=limits, common=OBJECTS)
        code = config_map(
            f"{name}-files",
            FILES_MAP,
            OPERATOR_NAMESPACE,
            {key(path): text for path, text in files.items()},
            args.target.options(self, [args.namespace]),
        )
        (manifest,) = manifests.load("grid-driver.yaml")
        completed = daemon_set(manifest, plan, files)
        return kubernetes.apps.v1.DaemonSet(
            f"{name}-agent",
            metadata=completed["metadata"],
            spec=completed["spec"],
            opts=args.target.options(self, [*rights, code]),
        )


def granted(rights: Sequence[Mapping[str, Any]], plan: GridPlan) -> list[dict[str, Any]]:
    """The agent's rights, with those to send GPU Pods away where a pool's upgrade policy asks for it."""
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
        WANTED_ANNOTATION: plan.document,
        DIGEST_ANNOTATION: digest(files, plan.document),
    }
    pod = template["spec"]
    pod["tolerations"] = [dict(item) for item in plan.tolerations]
    (container,) = pod["containers"]
    container["image"] = image(IMAGE).at(plan.image_registry)
    (code,) = (volume for volume in pod["volumes"] if "configMap" in volume)
    code["configMap"] = {"name": FILES_MAP, "items": [{"key": key(path), "path": path} for path in files]}
    return completed


def key(path: str) -> str:
    """The ConfigMap's key of a file: it may hold no slash.

    >>> key("grid_agent/decide.py")
    'grid_agent.decide.py'
    """
    return path.replace("/", ".")
