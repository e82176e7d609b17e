"""Pods that block the installation of another driver, by the rules of `kubectl drain` and of the operator's filter for
GPU Pods.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.cluster.names import NVIDIA
from simulator.cluster.objects import Json, at, labels, name, owner
from simulator.gpu.dra_names import DRIVER

_GPUS = (f"{NVIDIA}gpu", f"{NVIDIA}mig-")
_ACTIVE = ("Pending", "Running")
Claims = Mapping[tuple[str, str], Mapping[str, Any]]
NO_CLAIMS: Claims = {}
_MIRROR = "kubernetes.io/config.mirror"
_REQUIREMENT = re.compile(r"(!?[\w./-]+)\s*(?:(=|==|!=)\s*([\w.-]*)|(in|notin)\s*\(([^)]*)\))?\s*(?:,|$)")


@dataclass(frozen=True)
class Workload:
    """Facts about a Pod that decide whether the Pod blocks the installation of another driver on its node."""

    namespace: str
    name: str
    labels: Mapping[str, str]
    is_active: bool = True
    """True for a Pod that is pending or running. A Pod that has ended holds no GPU and may always be deleted."""
    has_gpu: bool = False
    has_controller: bool = False
    """True if a controller recreates the Pod elsewhere."""
    has_scratch: bool = False
    """True if the Pod has an `emptyDir`, whose content is deleted with the Pod."""
    stays: bool = False
    """True for a Pod of a DaemonSet or a static Pod, which a drain does not evict."""


def workload(pod: Mapping[str, Any], claims: Claims = NO_CLAIMS) -> Workload:
    """Facts about a Pod that decide whether a drain may evict it and whether it uses a GPU.

    Args:
        claims: ResourceClaims by namespace and name; empty in a release that ignores claims of GPUs.
    """
    containers: list[Json] = at(pod, "spec.containers", [])
    amounts = [at(each, f"resources.{kind}", {}) for each in containers for kind in ("limits", "requests")]
    volumes: list[Json] = at(pod, "spec.volumes", [])
    references: list[Json] = at(pod, "metadata.ownerReferences", [])
    return Workload(
        namespace=str(at(pod, "metadata.namespace", "")),
        name=name(pod),
        labels=labels(pod),
        is_active=at(pod, "status.phase", "Pending") in _ACTIVE,
        has_gpu=any(key.startswith(_GPUS) for each in amounts for key in each) or _has_claim(pod, claims),
        has_controller=any(each.get("controller") for each in references),
        has_scratch=any("emptyDir" in each for each in volumes),
        stays=bool(owner(pod, "DaemonSet")) or _MIRROR in at(pod, "metadata.annotations", {}),
    )


def claims_of(pod: Mapping[str, Any]) -> list[str]:
    """Names of a Pod's ResourceClaims; the name of a claim from a template is in the Pod's status."""
    made: dict[str, str] = {
        each["name"]: each.get("resourceClaimName") or "" for each in at(pod, "status.resourceClaimStatuses", [])
    }
    claims: list[Json] = at(pod, "spec.resourceClaims", [])
    return [found for each in claims if (found := each.get("resourceClaimName") or made.get(each["name"], ""))]


def _has_claim(pod: Mapping[str, Any], claims: Claims) -> bool:
    """True if any ResourceClaim of the Pod has a GPU of NVIDIA's DRA driver. A claim with admin access, for monitoring,
    does not count (NVIDIA/gpu-operator v26.7.0, `PodHasNVIDIAGPUClaim`).
    """
    namespace = str(at(pod, "metadata.namespace", ""))
    for key in claims_of(pod):
        results: list[Json] = at(claims.get((namespace, key), {}), "status.allocation.devices.results", [])
        if any(each.get("driver") == DRIVER and each.get("adminAccess") is not True for each in results):
            return True
    return False


def selected(given: Sequence[Workload], selector: str) -> list[Workload]:
    """Pods that match a label selector in text form; all Pods if the selector is empty."""
    return [each for each in given if fits(selector, each.labels)]


def fits(selector: str, given: Mapping[str, str]) -> bool:
    return all(_holds(given, found) for found in _REQUIREMENT.finditer(selector.strip()))


def _holds(given: Mapping[str, str], requirement: re.Match[str]) -> bool:
    key, sign, value, word, values = requirement.groups()
    if sign:
        return (given.get(key) == value) is (sign != "!=")
    if word:
        return (given.get(key) in [each.strip() for each in values.split(",")]) is (word == "in")
    return (key.removeprefix("!") in given) is not key.startswith("!")


def gpu_pods(given: Sequence[Workload]) -> list[Workload]:
    """Running or pending Pods with GPUs. They must end before another driver can be installed."""
    return [each for each in given if each.has_gpu and each.is_active]


def is_deletable(given: Workload, spec: Mapping[str, Any]) -> bool:
    """True if a drain may evict the Pod. `spec`: the section `podDeletion` or `drain` of the upgrade policy, with its
    settings `force` and `deleteEmptyDir`.
    """
    if given.stays:
        return False
    if not given.is_active:
        return True
    keeps = given.has_scratch and spec.get("deleteEmptyDir") is not True
    return not keeps and (given.has_controller or spec.get("force") is True)
