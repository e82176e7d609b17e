"""Kubernetes objects of the agent that records GPU machines: the agent's manifests, completed with the settings of a
stack.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.aks import POOL_LABEL
from physical_ai.catalog.images import image
from physical_ai.planning import agents, manifests
from physical_ai.settings.facts.gpu import all_tolerations, amd_pools
from physical_ai.settings.facts.images import AGENTS_IMAGE
from physical_ai.settings.models.tree import Settings

AGENT = "gpu_evidence"
"""Folder in `agents/`, and Python package, of the program that records machines."""
GPUS = "gpu-evidence-gpus"
NAME = "app.kubernetes.io/name"
FILES_MAP = "gpu-evidence-agent"
"""Name of the ConfigMap with the program's files, without the digest of its content."""


@dataclass(frozen=True)
class EvidenceObjects:
    """All objects that record the GPU machines of a cluster."""

    limits: Sequence[Mapping[str, Any]]
    """Admission policies that restrict the agent's RBAC rights; they must exist before the rights are granted."""
    rights: Sequence[Mapping[str, Any]]
    config_map: Mapping[str, Any]
    """ConfigMap with the program. It never changes: changed files get a new ConfigMap."""
    daemon_sets: Sequence[Mapping[str, Any]]
    cron_job: Mapping[str, Any]


def evidence_objects(settings: Settings) -> EvidenceObjects | None:
    """Objects that record the GPU machines of a stack; None if the settings disable the recording, or if the stack has
    no GPU pool.
    """
    evidence = settings.health.evidence
    if not evidence.enabled or not settings.pools:
        return None
    program = agents.Program(FILES_MAP, "physical-ai-gpu-evidence", agents.package(AGENT))
    machine, cron_job = manifests.load("gpu-evidence.yaml")
    metadata, daemon_sets = machine["metadata"], [machine, _with_gpus(machine)]
    for each in daemon_sets:
        pod = each["spec"]["template"]["spec"]
        pod["tolerations"] = all_tolerations(settings)
        _complete(pod, settings, program)
    _not_on(daemon_sets[1], sorted(amd_pools(settings)))
    pod = cron_job["spec"]["jobTemplate"]["spec"]["template"]["spec"]
    _complete(pod, settings, program)
    limits = [f"--days={evidence.retention_days}", f"--most={evidence.most_records}"]
    pod["containers"][0]["args"] = [*pod["containers"][0]["args"], *limits]
    return EvidenceObjects(
        limits=manifests.load("gpu-evidence-limits.yaml"),
        rights=manifests.load("gpu-evidence-rights.yaml"),
        config_map=program.config_map(metadata["namespace"], {**metadata["labels"], NAME: FILES_MAP}),
        daemon_sets=daemon_sets,
        cron_job=cron_job,
    )


def _with_gpus(machine: Mapping[str, Any]) -> dict[str, Any]:
    """DaemonSet that records the GPUs of each machine with `nvidia-smi`, made from the manifest `machine`.

    Its Pods get `nvidia-smi` and all GPUs of the node from the NVIDIA runtime class, and request no GPU from the device
    plugin.
    """
    made = copy.deepcopy(dict(machine))
    template, name = made["spec"]["template"], GPUS
    made["metadata"]["name"] = name
    made["spec"]["selector"]["matchLabels"][NAME] = name
    for labels in (made["metadata"]["labels"], template["metadata"]["labels"]):
        labels[NAME] = name
    template["spec"]["runtimeClassName"] = "nvidia"
    (container,) = template["spec"]["containers"]
    container["args"] = ["gpus"]
    visible = {"NVIDIA_VISIBLE_DEVICES": "all", "NVIDIA_DRIVER_CAPABILITIES": "utility"}
    container["env"] = [*container["env"], *({"name": key, "value": value} for key, value in visible.items())]
    return made


def _not_on(daemon_set: Mapping[str, Any], pools: list[str]) -> None:
    """Excludes pools whose nodes have no NVIDIA runtime class, because the DaemonSet's Pods would never start
    there.
    """
    if pools:
        affinity = daemon_set["spec"]["template"]["spec"]["affinity"]["nodeAffinity"]
        (term,) = affinity["requiredDuringSchedulingIgnoredDuringExecution"]["nodeSelectorTerms"]
        term["matchExpressions"].append({"key": POOL_LABEL, "operator": "NotIn", "values": pools})


def _complete(pod: dict[str, Any], settings: Settings, program: agents.Program) -> None:
    """Adds image and files to the Pod spec of a manifest."""
    grid = settings.grid_driver
    (container,) = pod["containers"]
    container["image"] = image(AGENTS_IMAGE).at(grid.image_registry)
    if grid.image_pull_secret:
        pod["imagePullSecrets"] = [{"name": grid.image_pull_secret}]
    program.mount(pod)
