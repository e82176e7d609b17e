"""Device classes, claims and quotas of a stack, as Kubernetes objects."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from parts.dra import facts
from parts.dra.model import ClaimNamespace, GpuClaim
from parts.dra.names import API_VERSION, CONFIG_VERSION, DRIVER, OTHER_CLASSES
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE, knows_gpu
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.tree import Settings

Json = dict[str, Any]
ACCEPTANCE = OPERATOR_NAMESPACE
"""Namespace in which the acceptance checks run."""
REQUEST = "gpu"
"""Name of the single request in each claim."""
QUOTA = "gpu-claims"
_ATTRIBUTES = f"device.attributes['{DRIVER}']"
_CAPACITY = f"device.capacity['{DRIVER}']"


@dataclass(frozen=True)
class ClaimObjects:
    """Kubernetes objects that a stack needs for its claims."""

    classes: list[Json]
    namespaces: list[Json]
    claims: list[Json]
    """Claim templates, claims and quotas in the namespaces of `namespaces`."""


def claim_objects(settings: Settings) -> ClaimObjects:
    """Claim objects of a stack; all lists are empty in a stack without a pool whose GPUs are claimed."""
    if not facts.claim_pools(settings):
        return ClaimObjects([], [], [])
    classes = [_class(gpu, device.product_name) for gpu, device in facts.claim_gpus(settings).items()]
    namespaces = [_namespace(name) for name in settings.dra.namespaces]
    claims = [
        item
        for name, given in settings.dra.namespaces.items()
        for item in (*_quota(settings, name, given), *_claims(settings, name))
    ]
    return ClaimObjects(classes, namespaces, [*claims, *_of_checks(settings)])


def check_claim(gpus: int) -> str:
    """Name of the claim template by which an acceptance check gets `gpus` GPUs of its node, of any kind.

    >>> check_claim(8)
    'gpu-acceptance-8'
    """
    return f"gpu-acceptance-{gpus}"


def _of_checks(settings: Settings) -> list[Json]:
    """Claim templates of the acceptance checks: one for a single GPU and, for each pool, one for all GPUs of a node.
    Pools with the same number of GPUs per node share a template.
    """
    counts = {1, *(gpus_per_node(pool) for pool in facts.claim_pools(settings).values() if knows_gpu(pool))}
    return [_claim(ACCEPTANCE, check_claim(count), GpuClaim(gpus=count)) for count in sorted(counts)]


def _class(gpu: str, product: str) -> Json:
    # JSON strings have the same syntax in CEL.
    expression = (
        f"device.driver == '{DRIVER}' && {_ATTRIBUTES}.type == 'gpu' && {_ATTRIBUTES}.productName =="
        f" {json.dumps(product)}"
    )
    return {
        "apiVersion": API_VERSION,
        "kind": "DeviceClass",
        "metadata": {"name": facts.device_class(gpu)},
        "spec": {"selectors": [{"cel": {"expression": expression}}]},
    }


def _namespace(name: str) -> Json:
    levels = {
        "pod-security.kubernetes.io/enforce": "baseline",
        "pod-security.kubernetes.io/warn": "restricted",
    }
    return {"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": name, "labels": levels}}


def _claims(settings: Settings, namespace: str) -> list[Json]:
    return [_claim(namespace, name, claim) for name, claim in facts.all_claims(settings).items()]


def _claim(namespace: str, name: str, claim: GpuClaim) -> Json:
    metadata, spec = {"name": name, "namespace": namespace}, {"devices": claimed_devices(claim)}
    if claim.shared:
        return {"apiVersion": API_VERSION, "kind": "ResourceClaim", "metadata": metadata, "spec": spec}
    return {"apiVersion": API_VERSION, "kind": "ResourceClaimTemplate", "metadata": metadata, "spec": {"spec": spec}}


def claimed_devices(claim: GpuClaim) -> Json:
    """Value of the field `devices` of a claim."""
    exactly: Json = {
        "deviceClassName": facts.device_class(claim.gpu or facts.ANY),
        "allocationMode": "ExactCount",
        "count": claim.gpus,
    }
    conditions = list(selectors(claim))
    if conditions:
        exactly["selectors"] = [{"cel": {"expression": each}} for each in conditions]
    devices: Json = {"requests": [{"name": REQUEST, "exactly": exactly}]}
    if claim.time_slice is not None:
        sharing = {"strategy": "TimeSlicing", "timeSlicingConfig": {"interval": claim.time_slice}}
        parameters = {"apiVersion": CONFIG_VERSION, "kind": "GpuConfig", "sharing": sharing}
        devices["config"] = [{"requests": [REQUEST], "opaque": {"driver": DRIVER, "parameters": parameters}}]
    return devices


def selectors(claim: GpuClaim) -> list[str]:
    """CEL expressions of a claim; a device has to meet all of them.

    >>> selectors(GpuClaim(memory_gb=80))
    ["device.capacity['gpu.nvidia.com'].memory.compareTo(quantity('80G')) >= 0"]
    """
    found: list[str] = []
    if claim.memory_gb is not None:
        found.append(f"{_CAPACITY}.memory.compareTo(quantity('{claim.memory_gb}G')) >= 0")
    if claim.architecture is not None:
        found.append(f"{_ATTRIBUTES}.architecture == '{claim.architecture}'")
    return found


def _quota(settings: Settings, namespace: str, given: ClaimNamespace) -> list[Json]:
    """Quota of a namespace: the largest number of GPUs for each device class; empty if the settings set no quota.

    The quota lists every class, with 0 where the settings name no number. A class that is not listed would have no
    limit, and Pods could get any GPU through it.
    """
    if given.quota is None:
        return []
    named = {facts.device_class(gpu): given.quota.get(gpu, 0) for gpu in (facts.ANY, *facts.claim_gpus(settings))}
    limits = {**named, **dict.fromkeys(OTHER_CLASSES, 0)}
    hard = {f"{name}.deviceclass.resource.k8s.io/devices": str(most) for name, most in limits.items()}
    return [
        {
            "apiVersion": "v1",
            "kind": "ResourceQuota",
            "metadata": {"name": QUOTA, "namespace": namespace},
            "spec": {"hard": hard},
        }
    ]
