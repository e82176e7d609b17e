"""Rules on the registries of images in a stack whose Pods may pull only from the stack's own registry."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from physical_ai.findings import Severity
from workbench.policies.model import Resource, Rule, Stack, Topic, Violation, known, known_list, known_map

REGISTRY = "azure-native:containerregistry:Registry"
CACHE_RULE = "azure-native:containerregistry:CacheRule"
POLICY = "kubernetes:admissionregistration.k8s.io/v1:MutatingAdmissionPolicy"
POLICY_NAME = "registry-images"
CRON_JOB = "kubernetes:batch/v1:CronJob"
WORKLOADS = (
    "kubernetes:apps/v1:DaemonSet",
    "kubernetes:apps/v1:Deployment",
    "kubernetes:apps/v1:StatefulSet",
    "kubernetes:batch/v1:Job",
    CRON_JOB,
)
DOCKER = "docker.io"


def host(image: str) -> str:
    """The registry host in an image reference.

    >>> host("ubuntu:22.04"), host("nvcr.io/nvidia/cuda:13")
    ('docker.io', 'nvcr.io')
    """
    first, slash, _ = image.partition("/")
    return first if slash and ("." in first or ":" in first or first == "localhost") else DOCKER


def _images(resource: Resource) -> Iterator[tuple[str, str]]:
    """Property path and reference of each image in a workload."""
    spec, path = known_map(resource.inputs.get("spec")), "spec"
    if resource.type == CRON_JOB:
        spec, path = known_map(known_map(spec.get("jobTemplate")).get("spec")), "spec.jobTemplate.spec"
    pod: dict[str, Any] = known_map(known_map(spec.get("template")).get("spec"))
    for kind in ("initContainers", "containers"):
        for index, container in enumerate(known_list(pod.get(kind))):
            image = known(known_map(container).get("image"))
            if image is not None:
                yield f"{path}.template.spec.{kind}[{index}].image", str(image)


def _is_closed(stack: Stack) -> bool:
    """True if the stack rewrites the images of Pods to its own registry."""
    names = (known(known_map(each.inputs.get("metadata")).get("name")) for each in stack.of_type(POLICY))
    return POLICY_NAME in names


def _cached(stack: Stack) -> set[str]:
    """Registries that the stack's own registry caches."""
    return {str(known(each.inputs.get("sourceRepository"))).partition("/")[0] for each in stack.of_type(CACHE_RULE)}


def _from_elsewhere(resource: Resource, stack: Stack) -> Iterable[Violation]:
    if not _is_closed(stack):
        return
    cached = _cached(stack)
    for path, image in _images(resource):
        if host(image) not in cached and not host(image).endswith(".azurecr.io"):
            yield Violation(path, f"let dataServices.registry.upstreams cache {host(image)}, or import {image}")


def _open(_: Resource, stack: Stack) -> Iterable[Violation]:
    if stack.is_production and not _is_closed(stack):
        yield Violation("", "write dataServices.registry.only: true")


RULES = (
    Rule(
        "image-from-elsewhere",
        Severity.WARNING,
        "Pods of this stack pull from its registry only, which has neither a cache rule for this image nor, unless"
        " it was imported, the image: it is not pulled.",
        _from_elsewhere,
        WORKLOADS,
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/container-registry/artifact-cache-overview",
        needs_whole_stack=True,
    ),
    Rule(
        "registry-only",
        Severity.WARNING,
        "Pods in production pull from any registry on the internet: what it publishes tomorrow, or fails to, runs or"
        " stops them.",
        _open,
        (REGISTRY,),
        topic=Topic.SECURITY,
        link="https://learn.microsoft.com/azure/container-registry/artifact-cache-overview",
        needs_whole_stack=True,
    ),
)
