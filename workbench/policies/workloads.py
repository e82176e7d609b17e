"""Rules on workloads that the program itself declares. Workloads of charts are not judged."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any

from physical_ai.catalog.own_names import GRID_AGENT
from physical_ai.citations import changed_in
from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

DAEMON_SET = "kubernetes:apps/v1:DaemonSet"
CRON_JOB = "kubernetes:batch/v1:CronJob"
WORKLOADS = (
    DAEMON_SET,
    "kubernetes:apps/v1:Deployment",
    "kubernetes:apps/v1:StatefulSet",
    "kubernetes:batch/v1:Job",
    CRON_JOB,
)
GPU_EVIDENCE = ("gpu-evidence-machine", "gpu-evidence-gpus", "gpu-evidence-retention")
"""Workloads that read the host's Python and its hypervisor's data, without capabilities, and write nothing
on the host.
"""
ON_THE_HOST = frozenset({GRID_AGENT, *GPU_EVIDENCE})
"""Workloads that need access to the host. Before adding one, review its rights on the host."""

_IMAGES = changed_in("physical_ai/catalog/data/images.yaml")
_DIGEST = re.compile(r"@sha256:[0-9a-f]{64}$")
_HOST = ("hostPID", "hostNetwork", "hostIPC")


def pod_spec(resource: Resource) -> dict[str, Any]:
    """The spec of the Pods that a workload creates."""
    found = dict(resource.inputs)
    for step in _place(resource).split("."):
        found = known_map(found.get(step))
    return found


def _place(resource: Resource) -> str:
    """Path of the Pod spec in the inputs of a workload, such as `spec.template.spec`."""
    return "spec.jobTemplate.spec.template.spec" if resource.type == CRON_JOB else "spec.template.spec"


def _containers(resource: Resource) -> Iterator[tuple[str, dict[str, Any]]]:
    pod = pod_spec(resource)
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(known_list(pod.get(kind))):
            yield f"{_place(resource)}.{kind}[{index}]", known_map(container)


def _image_by_digest(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, container in _containers(resource):
        image = known(container.get("image"))
        if image is not None and not _DIGEST.search(str(image)):
            yield Violation(
                f"{path}.image", f"write {image} with its digest, NAME@sha256:…; images of the platform: {_IMAGES}"
            )


def _on_the_host(resource: Resource, _: Stack) -> Iterable[Violation]:
    if known(known_map(resource.inputs.get("metadata")).get("name")) in ON_THE_HOST:
        return
    pod = pod_spec(resource)
    for name in _HOST:
        if known(pod.get(name)) is True:
            yield Violation(f"{_place(resource)}.{name}", "omit it")
    for index, volume in enumerate(known_list(pod.get("volumes"))):
        if "hostPath" in known_map(volume):
            yield Violation(f"{_place(resource)}.volumes[{index}]", "do not mount paths of the host")
    for path, container in _containers(resource):
        if known(known_map(container.get("securityContext")).get("privileged")) is True:
            yield Violation(f"{path}.securityContext.privileged", "omit it")


def _requests(resource: Resource, _: Stack) -> Iterable[Violation]:
    for path, container in _containers(resource):
        requests = known_map(known_map(container.get("resources")).get("requests"))
        for name in ("cpu", "memory"):
            if name not in requests:
                yield Violation(f"{path}.resources.requests", f"set how much {name} it needs")


def _one_after_the_other(resource: Resource, _: Stack) -> Iterable[Violation]:
    strategy = known_map(known_map(resource.inputs.get("spec")).get("updateStrategy"))
    rolling = known_map(strategy.get("rollingUpdate"))
    if known(strategy.get("type"), "RollingUpdate") == "RollingUpdate" and known(rolling.get("maxUnavailable")) != 1:
        yield Violation("spec.updateStrategy.rollingUpdate.maxUnavailable", "write 1")


RULES = (
    Rule(
        "image-by-digest",
        Severity.ERROR,
        "A tag can point to another image tomorrow, which would then run.",
        _image_by_digest,
        WORKLOADS,
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/containers/images/",
    ),
    Rule(
        "on-the-host",
        Severity.ERROR,
        "An attacker in such a Pod controls the node. Only workloads that need host access may have it.",
        _on_the_host,
        WORKLOADS,
        topic=Topic.SECURITY,
        link="https://kubernetes.io/docs/concepts/security/pod-security-standards/",
    ),
    Rule(
        "workload-requests",
        Severity.ERROR,
        "A Pod without requests is evicted first, and the scheduler reserves nothing for it.",
        _requests,
        WORKLOADS,
        topic=Topic.RELIABILITY,
        link="https://kubernetes.io/docs/concepts/configuration/manage-resources-containers/",
    ),
    Rule(
        "one-node-after-the-other",
        Severity.ERROR,
        "A fault must not reach all nodes before it is noticed.",
        _one_after_the_other,
        (DAEMON_SET,),
        topic=Topic.RELIABILITY,
        link="https://kubernetes.io/docs/tasks/manage-daemon/update-daemon-set/",
    ),
)
