"""Admission policies for GPU Pods, completed for a stack."""

from __future__ import annotations

import copy
import json
from typing import Any

from parts.amd import names as amd
from parts.dra import facts as dra
from parts.nvsentinel import names as nvsentinel
from physical_ai.catalog import osmo
from physical_ai.catalog.aks import POOL_LABEL, SHORT_POOL_LABEL
from physical_ai.catalog.own_names import DRIVER_LABEL, PLATFORM_LABEL
from physical_ai.planning import manifests
from physical_ai.settings.facts import gpu, health
from physical_ai.settings.models.tree import Settings

EXEMPT = (
    "kube-system",
    gpu.OPERATOR_NAMESPACE,
    osmo.KAI_NAMESPACE,
    osmo.KAI_RESERVATION_NAMESPACE,
    osmo.OPERATOR_NAMESPACE,
    osmo.CONTROL_NAMESPACE,
)
"""Namespaces of the platform and of AKS that the policies exempt.

Pods in these namespaces that need GPUs get them without a GPU request, and no policy may delay them.
"""
SCHEDULER_USER = "system:kube-scheduler"
"""User name of the cluster's own scheduler (Kubernetes docs, reference/access-authn-authz/rbac)."""
INSTANCE_TYPE = "node.kubernetes.io/instance-type"
MUTATION_MINOR = 36
"""Minor of Kubernetes 1 from which on MutatingAdmissionPolicy is v1 and enabled by default."""
ACTIONS = {"warn": ["Warn", "Audit"], "deny": ["Deny", "Audit"]}
_PLACEMENT, _REQUESTS = "gpu-placement", "gpu-requests"


def policies(settings: Settings) -> list[dict[str, Any]]:
    """Admission policies of a stack, and their bindings.

    Policies that the settings switch off are left out. The policy for placement is also left out where the pools have
    fewer than two GPU models.
    """
    found: list[dict[str, Any]] = []
    for manifest in copy.deepcopy(_manifests(settings)):
        mutates, spec = str(manifest["kind"]).startswith("Mutating"), manifest["spec"]
        if mutates and not injects(settings):
            continue
        if not mutates and settings.admission.gpu_pods == "off":
            continue
        if manifest["metadata"]["name"] == _PLACEMENT and len(gpu.gpu_families(settings)) < 2:
            continue
        # Pods have no reason to see GPUs that they do not request, so this is refused even where other violations only
        # warn.
        action = "deny" if manifest["metadata"]["name"] == _REQUESTS else settings.admission.gpu_pods
        if "matchConstraints" in spec:
            names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": list(exempt(settings))}
            spec["matchConstraints"]["namespaceSelector"] = {"matchExpressions": [names]}
            spec["variables"] = [_of_stack(variable, settings) for variable in spec.get("variables", ())]
            if not mutates:
                # A policy that only warns must not stop GPU Pods when it fails; a policy that refuses must not be
                # bypassed by making it fail.
                spec["failurePolicy"] = "Fail" if action == "deny" else "Ignore"
        elif not mutates:
            warned_once = manifest["metadata"]["name"] != _REQUESTS
            found += bindings(manifest, action, keeps_warning=settings.protect and warned_once)
            continue
        found.append(manifest)
    return found


def bindings(manifest: dict[str, Any], action: str, *, keeps_warning: bool) -> list[dict[str, Any]]:
    """Bindings of a policy for the action `warn` or `deny`: usually one binding, named after the action.

    Each action has a binding of its own name, because the API server refuses the dry run of a binding whose action
    changes: it combines the old and the new action. When the action changes, the new binding is created before the old
    one is deleted. A protected stack deletes nothing, so with `keeps_warning` the binding that warns stays beside the
    binding that denies.
    """
    actions = ("warn", "deny") if action == "deny" and keeps_warning else (action,)
    found = [copy.deepcopy(manifest) for _ in actions]
    for each, own in zip(found, actions, strict=True):
        each["metadata"]["name"] += f"-{own}"
        each["spec"]["validationActions"] = list(ACTIONS[own])
    return found


def _manifests(settings: Settings) -> list[dict[str, Any]]:
    objects = list(manifests.load("gpu-admission.yaml"))
    return [*objects, *manifests.load_of("amd", amd.ADMISSION)] if gpu.amd_pools(settings) else objects


def exempt(settings: Settings) -> tuple[str, ...]:
    """Namespaces that the policies exempt: those in `EXEMPT`, and the namespaces of NVSentinel and of AMD's GPU
    Operator if the stack installs them. NVSentinel is exempt because its collector sees all GPUs of the node without a
    GPU request.
    """
    found = (*EXEMPT, nvsentinel.NAMESPACE) if health.reaches(settings, "detect") else EXEMPT
    return (*found, amd.NAMESPACE) if settings.amd_gpu_operator is not None else found


def _of_stack(variable: dict[str, str], settings: Settings) -> dict[str, str]:
    """Returns a variable of an admission policy. A variable whose value depends on the stack gets the stack's value;
    any other variable stays as the manifest has it.
    """
    schedulers = [SCHEDULER_USER, *settings.admission.schedulers]
    own = {
        "kinds": kinds(settings),
        "claims": claims(settings),
        "cdi": settings.gpu_operator.cdi,
        "schedulers": schedulers,
    }
    name = variable["name"]
    return {"name": name, "expression": json.dumps(own[name])} if name in own else variable


def kinds(settings: Settings) -> dict[str, dict[str, str]]:
    """GPU model of a pool's nodes by node label and value, as `label → value → model`. A value that pools with
    different GPU models share is left out.

    The labels identify a pool's GPU even while the pool has no nodes.
    """
    found: dict[str, dict[str, set[str]]] = {}
    for name, pool in settings.pools.items():
        if not gpu.knows_gpu(pool):
            continue
        own = {
            SHORT_POOL_LABEL: name,
            POOL_LABEL: name,
            INSTANCE_TYPE: pool.sku,
            DRIVER_LABEL: pool.driver.source.value,
            **({PLATFORM_LABEL: pool.capacity.platform} if pool.capacity.platform is not None else {}),
        }
        for label, value in own.items():
            found.setdefault(label, {}).setdefault(value, set()).add(str(gpu.gpu_model(pool)))
    return {
        label: {value: next(iter(models)) for value, models in values.items() if len(models) == 1}
        for label, values in found.items()
    }


def claims(settings: Settings) -> dict[str, str]:
    """GPU model of each claim of the stack, by the claim's NAMESPACE/NAME. Claims that GPUs of several models can
    satisfy are left out.
    """
    pools = dra.claim_pools(settings).values()
    models = {dra.device_of(pool): str(gpu.gpu_model(pool)) for pool in pools if gpu.knows_gpu(pool)}
    found: dict[str, str] = {}
    for name, claim in dra.all_claims(settings).items():
        devices = list(dra.gpus_for(settings, claim).values())
        if len(devices) == 1:
            found |= {f"{namespace}/{name}": models[devices[0]] for namespace in settings.dra.namespaces}
    return found


def injects(settings: Settings) -> bool:
    """True where a policy adds the NVIDIA driver capabilities to GPU containers: the setting is on, and the Kubernetes
    version supports the policy.
    """
    minor = int(settings.cluster.kubernetes_version.split(".")[1])
    return settings.admission.inject_capabilities and minor >= MUTATION_MINOR
