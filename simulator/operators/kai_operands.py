"""Objects that the KAI operator creates for its Config and for each SchedulingShard. Pure functions over plain objects.

Names, labels and arguments are those of kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/operator/operands; webhooks are in
`kai_webhooks`.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping

from physical_ai.catalog.compat import key_table
from simulator.cluster.objects import Json, at, name
from simulator.operators.kai_admission import DEFAULT_CLASS
from simulator.operators.kai_services import SCRAPED, operand_service, scheduler_service
from simulator.operators.kai_webhooks import Endpoint, webhook_objects
from simulator.scheduling import kai_names

MANAGED_BY = "app.kubernetes.io/managed-by"
OPERATOR = kai_names.OPERATOR
ACTIONS = {"allocate": 500, "consolidation": 400, "reclaim": 300, "preempt": 200, "stalegangeviction": 100}
PLUGINS = {
    "predicates": 1900,
    "proportion": 1800,
    "priority": 1700,
    "nodeavailability": 1600,
    "resourcetype": 1500,
    "podaffinity": 1400,
    "elastic": 1300,
    "kubeflow": 1200,
    "ray": 1100,
    "subgrouporder": 1000,
    "taskorder": 900,
    "nominatednode": 800,
    "dynamicresources": 700,
    "minruntime": 600,
    "topology": 500,
    "snapshot": 400,
    "sg-nodelocalgreedy": 360,
    "sg-multinodegang": 350,
    "gpupack": 300,
    "gpuspread": 300,
    "nodeplacement": 200,
    "gpusharingorder": 100,
}
"""Built-in plugins of the scheduler with their priorities (pkg/apis/kai/v1/schedulingshard_types.go)."""
_PACKING, _SPREADING = ("gpupack", "gpusharingorder"), ("gpuspread",)
"""Plugins of the scheduler for one of two placement strategies. `_PACKING`: used only if GPUs are packed; `_SPREADING`:
used only if GPUs are spread.
"""


def operands(config: Json, endpoint: Endpoint | None = None) -> list[Json]:
    """All objects that the operator creates for the Config itself. Webhooks' objects are included only if `endpoint`,
    the server that answers webhooks, is given.
    """
    found: list[Json] = []
    for section, operand in kai_names.OPERANDS.items():
        given: Json = at(config, f"spec.{section}", {})
        if at(given, "service.enabled", section != "nodeScaleAdjuster"):
            args = admission_arguments(config) if operand == "admission" else []
            found += [_account(config, operand), _deployment(config, config, operand, given, args)]
            if (service := operand_service(config, operand)) is not None:
                found.append({**_object(config, config, "v1", "Service", operand), "spec": service})
    if _has_scheduler(config):
        found.append(_account(config, "scheduler"))
    return [*found, *(_owned(config, each) for each in webhook_objects(config, endpoint))] if endpoint else found


def admission_arguments(config: Json) -> list[str]:
    """Command line of KAI's admission container, with the settings for the webhooks' changes to Pods.

    The default runtime class is used only if the Config sets neither `gpuFractionRuntimeClassName` nor
    `gpuPodRuntimeClassName`. An empty value of one of them turns the runtime class off.
    """
    given: Json = at(config, "spec.admission", {})
    found = ["--scheduler-name", str(at(config, "spec.global.schedulerName", kai_names.SCHEDULER_NAME))]
    ports = {"webhook-addr": ("targetPort", 9443, ""), "health-probe-bind-address": ("probePort", 8081, ":")}
    ports |= {"metrics-bind-address": ("metricsPort", 8080, ":")}
    for flag, (key, default, before) in ports.items():
        found += [f"--{flag}", f"{before}{at(given, f'webhook.{key}', default)}"]
    found += ["--gpu-sharing-enabled=true"] if at(given, "gpuSharing", False) else []
    found += ["--block-nvidia-visible-devices=true"] if at(given, "blockNvidiaVisibleDevices", False) else []
    classes = {"gpu-fraction": at(given, "gpuFractionRuntimeClassName"), "gpu-pod": at(given, "gpuPodRuntimeClassName")}
    if all(each is None for each in classes.values()):
        classes["gpu-fraction"] = DEFAULT_CLASS
    for flag, own in classes.items():
        found += [f"--{flag}-runtime-class-name", str(own)] if own is not None else []
    return found


def shard_operands(config: Json, shard: Json) -> list[Json]:
    """ConfigMap, Service and Deployment of the scheduler that the operator creates for a SchedulingShard. Empty if the
    Config turns schedulers off.
    """
    if not _has_scheduler(config):
        return []
    key, given = scheduler_name(config, shard), at(config, "spec.scheduler", {})
    deployment = _deployment(config, shard, key, given, arguments(config, shard))
    template = deployment["spec"]["template"]["spec"]
    template["serviceAccountName"] = "scheduler"
    template["containers"][0]["volumeMounts"] = [
        {"name": "config", "mountPath": "/etc/config/config.yaml", "subPath": "config.yaml"}
    ]
    template["volumes"] = [{"name": "config", "configMap": {"name": key}}]
    deployment["spec"]["strategy"] = {"type": "Recreate"}
    data = {"config.yaml": json.dumps(configuration(shard), indent=1)}
    config_map = {**_object(config, shard, "v1", "ConfigMap", key), "data": data}
    service = {**_object(config, shard, "v1", "Service", key), "spec": scheduler_service(config, key)}
    service["metadata"]["annotations"] = dict(SCRAPED)
    return [config_map, service, deployment]


def scheduler_name(config: Json, shard: Json) -> str:
    """Name of the scheduler's Deployment for a SchedulingShard."""
    return f"{at(config, 'spec.global.schedulerName', kai_names.SCHEDULER_NAME)}-{name(shard)}"


def arguments(config: Json, shard: Json) -> list[str]:
    """Arguments of the scheduler's container: first the flags that the operator sets, then those flags of the shard
    that the scheduler knows.
    """
    own = {
        "scheduler-conf": "/etc/config/config.yaml",
        "scheduler-name": at(config, "spec.global.schedulerName", kai_names.SCHEDULER_NAME),
        "namespace": at(config, "spec.namespace", ""),
        "nodepool-label-key": at(config, "spec.global.nodePoolLabelKey", "kai.scheduler/node-pool"),
        "partition-label-value": at(shard, "spec.partitionLabelValue", ""),
        "resource-reservation-app-label": at(
            config, "spec.binder.resourceReservation.appLabel", "kai-resource-reservation"
        ),
        "queue-label-key": at(config, "spec.global.queueLabelKey", kai_names.QUEUE_LABEL),
        "listen-address": f":{at(config, 'spec.scheduler.schedulerService.port', 8080)}",
    }
    if metrics := at(config, "spec.queueController.metricsNamespace"):
        own["metrics-namespace"] = metrics
    given: Mapping[str, str] = at(shard, "spec.args", {})
    known = sorted(
        key for key in given if f"scheduler.args.{key}" in key_table(kai_names.CHART, kai_names.VERSION).known
    )
    return [f"--{key}={value}" for key, value in own.items()] + [f"--{key}={given[key]}" for key in known]


def configuration(shard: Json) -> Json:
    """The scheduler's configuration: actions and plugins in order, with the shard's overrides."""
    strategies: Mapping[str, str] = at(shard, "spec.placementStrategy", {})
    left_out = _PACKING if strategies.get("gpu") == "spread" else _SPREADING
    off: dict[str, Json] = {key: {"enabled": False} for key in left_out}
    still = {"consolidation": {"enabled": False}} if "spread" in strategies.values() else {}
    actions = _ordered(ACTIONS, _overridden(still, at(shard, "spec.actions", {})))
    plugins = _ordered(PLUGINS, _overridden(off, at(shard, "spec.plugins", {})))
    return {"actions": ", ".join(actions), "tiers": [{"plugins": [{"name": each} for each in plugins]}]}


def _overridden(own: Mapping[str, Json], given: Mapping[str, Json]) -> dict[str, Json]:
    return {key: {**own.get(key, {}), **given.get(key, {})} for key in dict.fromkeys((*own, *given))}


def _ordered(built_in: Mapping[str, int], given: Mapping[str, Json]) -> list[str]:
    priorities = dict(built_in) | {key: int(at(own, "priority", built_in.get(key, 0))) for key, own in given.items()}
    kept = [key for key in priorities if at(given.get(key, {}), "enabled", True)]
    return sorted(kept, key=lambda key: -priorities[key])


def is_available(deployment: Json | None) -> bool:
    """True if the operator treats a Deployment as available.

    Every replica must run the newest template, and the Deployment's condition Available must be True.
    """
    conditions: list[Json] = at(deployment, "status.conditions", [])
    said = any(each["type"] == "Available" and each["status"] == "True" for each in conditions)
    return said and at(deployment, "status.updatedReplicas", 0) == at(deployment, "spec.replicas", 1)


def conditions(item: Json, wanted: Iterable[Json], live: Mapping[str, Json], now: str) -> list[Json]:
    """Status conditions of the Config or SchedulingShard `item`. `wanted`: all objects that the operator creates for
    `item`; `live`: the existing Deployments, by name.

    A SchedulingShard keeps `Reconciling` True even when all its objects exist. A client that waits for kstatus's result
    (helm 4, AICR's first scripts) therefore waits forever. A condition that did not change keeps its time.
    """
    names = [name(each) for each in wanted if each["kind"] == "Deployment"]
    waiting = [key for key in names if not is_available(live.get(key))]
    deployed, available = all(key in live for key in names), not waiting
    missing = "\n".join(f"Deployment [{key}] is not available" for key in waiting)
    reconciling = item["kind"] == "SchedulingShard" or not deployed
    found = [
        _condition("Deployed", deployed, "Deployed", "Resources deployed", "Resources not deployed yet"),
        _condition("Available", available, "Available", "System available", missing),
        _condition("DependenciesFulfilled", True, "DependenciesFulfilled", "Dependencies are fulfilled", ""),
        _condition("Ready", available, "Ready" if available else "NotReady", "System is ready", "System not ready"),
        _condition(
            "Reconciling",
            reconciling,
            "Reconciling" if reconciling else "Reconciled",
            "Reconciliation in progress",
            "Reconciliation completed successfully",
        ),
    ]
    held: dict[str, Json] = {each["type"]: each for each in at(item, "status.conditions", [])}
    generation = at(item, "metadata.generation", 1)
    return [
        {**each, "observedGeneration": generation, "lastTransitionTime": _since(each, held.get(each["type"]), now)}
        for each in found
    ]


def _condition(kind: str, holds: bool, reason: str, yes: str, no: str) -> Json:
    return {"type": kind, "status": "True" if holds else "False", "reason": reason, "message": yes if holds else no}


def _since(condition: Json, held: Json | None, now: str) -> str:
    same = held is not None and held["status"] == condition["status"]
    return str(held["lastTransitionTime"]) if same and held is not None else now


def _has_scheduler(config: Json) -> bool:
    return bool(at(config, "spec.scheduler.service.enabled", True))


def _owned(owner: Json, item: Json) -> Json:
    """The object with an owner reference, so Kubernetes deletes the object together with its owner."""
    reference = {
        "apiVersion": owner["apiVersion"],
        "kind": owner["kind"],
        "name": name(owner),
        "uid": at(owner, "metadata.uid", ""),
        "controller": True,
    }
    return {**item, "metadata": {**item["metadata"], "ownerReferences": [reference]}}


def _object(config: Json, owner: Json, version: str, kind: str, key: str) -> Json:
    namespace = str(at(config, "spec.namespace", ""))
    metadata = {"name": key, "namespace": namespace, "labels": {"app": key, MANAGED_BY: OPERATOR}}
    return _owned(owner, {"apiVersion": version, "kind": kind, "metadata": metadata})


def _account(config: Json, key: str) -> Json:
    return _object(config, config, "v1", "ServiceAccount", key)


def _deployment(config: Json, owner: Json, key: str, given: Json, args: list[str]) -> Json:
    everywhere: Json = at(config, "spec.global", {})
    image: Json = at(given, "service.image", {})
    container = {
        "name": key,
        "image": f"{image.get('repository', '')}/{image.get('name', '')}:{image.get('tag', '')}",
        "imagePullPolicy": image.get("pullPolicy", "IfNotPresent"),
        "args": args,
        "resources": at(given, "service.resources", {}),
    }
    pod = {
        "serviceAccountName": key,
        "nodeSelector": at(everywhere, "nodeSelector", {}),
        "tolerations": at(everywhere, "tolerations", []),
        "priorityClassName": at(everywhere, "priorityClassName", ""),
        "affinity": at(given, "service.affinity") or at(everywhere, "affinity", {}),
        "imagePullSecrets": [{"name": each} for each in at(everywhere, "additionalImagePullSecrets", [])],
        "containers": [container],
    }
    spec = {
        "replicas": int(at(given, "replicas", at(everywhere, "replicaCount", 1))),
        "selector": {"matchLabels": {"app": key}},
        "template": {"metadata": {"labels": {"app": key}}, "spec": pod},
    }
    return {**_object(config, owner, "apps/v1", "Deployment", key), "spec": spec}
