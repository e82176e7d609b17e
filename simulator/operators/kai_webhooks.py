"""The webhooks that the KAI operator configures, and their answers. Pure functions over plain objects.

Read in kai-scheduler/KAI-Scheduler tag v0.17.0, pkg/operator/operands (admission, queue_controller,
pod_group_controller). One thing differs: `clientConfig` has the simulator's address instead of the operand's Service,
because a Service of a simulated cluster leads nowhere.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping
from dataclasses import dataclass

from simulator.cluster.objects import Json, at
from simulator.operators.kai_admission import (
    Options,
    Refused,
    mutated,
    options,
    pod_problem,
    queue_problem,
    topology_problem,
)
from simulator.operators.kai_pod_groups import group_problems
from simulator.scheduling import kai_names

MUTATE_POD, VALIDATE_POD = "/mutate--v1-pod", "/validate--v1-pod"
VALIDATE_TOPOLOGY = "/validate-kai-scheduler-v1alpha1-topology"
VALIDATE_QUEUE = "/validate-scheduling-run-ai-v2-queue"
VALIDATE_GROUP = "/validate-scheduling-run-ai-v2alpha2-podgroup"
OPERAND = {
    MUTATE_POD: "admission",
    VALIDATE_POD: "admission",
    VALIDATE_TOPOLOGY: "admission",
    VALIDATE_QUEUE: "queue-controller",
    VALIDATE_GROUP: "podgroup-controller",
}
"""Names of the operands (Deployments) that answer webhook requests, by URL path of the request."""
SECRETS = {
    "admission": "kai-admission-webhook-tls-secret",
    "queueController": "queue-webhook-tls-secret",
    "podGroupController": "podgroup-webhook-tls-secret",
}
"""Names of the Secrets that contain the webhooks' certificates, by section of the Config."""
MUTATING, VALIDATING = "MutatingWebhookConfiguration", "ValidatingWebhookConfiguration"


@dataclass(frozen=True)
class Endpoint:
    """URL of the server that answers webhooks, and its certificate."""

    address: str
    certificate: bytes
    data: Mapping[str, str]
    """Data of the Secrets with the webhooks' certificates."""


def webhook_objects(config: Json, endpoint: Endpoint) -> list[Json]:
    """Secrets and webhook configurations for the enabled operands, without the metadata that the operator adds to all
    objects.
    """
    found: list[Json] = []
    on = {key for key in SECRETS if at(config, f"spec.{key}.service.enabled", True)}
    for key in (each for each in SECRETS if each in on):
        metadata = {"name": SECRETS[key], "namespace": str(at(config, "spec.namespace", ""))}
        found.append({"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "data": dict(endpoint.data)})
    if "admission" in on:
        found += _of_pods(config, endpoint)
    if "queueController" in on and at(config, "spec.queueController.webhooks.enableValidation", True):
        prefix = at(config, "spec.queueController.webhooks.webhookConfigurationNamePrefix", "kai-queue-validation-")
        rule = _rule("scheduling.run.ai", "v2", "queues", "Cluster")
        webhook = _webhook(endpoint, "queue-validation.kai.scheduler", VALIDATE_QUEUE, rule)
        found.append(_configuration(VALIDATING, f"{prefix}v2", "queue-controller", webhook))
    if "podGroupController" in on and at(config, "spec.podGroupController.webhooks.enableValidation", True):
        own = "spec.podGroupController.webhooks.webhookConfigurationNamePrefix"
        prefix = at(config, own, "kai-podgroup-validation-")
        rule = _rule("scheduling.run.ai", "v2alpha2", "podgroups", "Namespaced")
        webhook = _webhook(endpoint, "podgroup-validation.kai.scheduler", VALIDATE_GROUP, rule)
        found.append(_configuration(VALIDATING, f"{prefix}v2alpha2", "podgroup-controller", webhook))
    return found


def _of_pods(config: Json, endpoint: Endpoint) -> list[Json]:
    namespace = str(at(config, "spec.namespace", ""))
    host = f"admission.{namespace}.svc"
    names = {"key": "kubernetes.io/metadata.name", "operator": "NotIn", "values": ["kube-system", namespace]}
    selector: Json = {"matchExpressions": [names]}
    if at(config, "spec.admission.queueLabelSelector", False):
        key = str(at(config, "spec.global.queueLabelKey", "kai.scheduler/queue"))
        selector["matchExpressions"].append({"key": key, "operator": "Exists"})
    if labels := at(config, "spec.global.namespaceLabelSelector", {}):
        selector["matchLabels"] = labels
    name = at(config, "spec.global.schedulerName", kai_names.SCHEDULER_NAME)
    shared: Json = {
        "namespaceSelector": selector,
        "matchConditions": [{"name": "scheduler-name-match", "expression": f"object.spec.schedulerName == '{name}'"}],
    }
    if pods := at(config, "spec.global.podLabelSelector", {}):
        shared["objectSelector"] = {"matchLabels": pods}
    created = _rule("", "v1", "pods", "Namespaced", "CREATE")
    mutating = {**_webhook(endpoint, host, MUTATE_POD, created), **shared, "reinvocationPolicy": "IfNeeded"}
    validating = {**_webhook(endpoint, host, VALIDATE_POD, _rule("", "v1", "pods", "Namespaced")), **shared}
    levels = _rule("kai.scheduler", "v1alpha1", "topologies", "Cluster")
    topologies = _webhook(endpoint, f"topology.{host}", VALIDATE_TOPOLOGY, levels)
    first = str(at(config, "spec.admission.mutatingWebhookConfigurationName", "mutating-kai-admission"))
    second = str(at(config, "spec.admission.validatingWebhookConfigurationName", "validating-kai-admission"))
    return [
        _configuration(MUTATING, first, "admission", mutating),
        _configuration(VALIDATING, second, "admission", validating, topologies),
    ]


def _rule(group: str, version: str, resource: str, scope: str, *operations: str) -> Json:
    return {
        "apiGroups": [group],
        "apiVersions": [version],
        "resources": [resource],
        "scope": scope,
        "operations": list(operations or ("CREATE", "UPDATE")),
    }


def _webhook(endpoint: Endpoint, name: str, path: str, rule: Json) -> Json:
    return {
        "name": name,
        "admissionReviewVersions": ["v1"],
        "sideEffects": "None",
        "failurePolicy": "Fail",
        "clientConfig": {
            "url": f"{endpoint.address}{path}",
            "caBundle": base64.b64encode(endpoint.certificate).decode(),
        },
        "rules": [rule],
    }


def _configuration(kind: str, name: str, app: str, *webhooks: Json) -> Json:
    metadata = {"name": name, "labels": {"app": app}}
    version = "admissionregistration.k8s.io/v1"
    return {"apiVersion": version, "kind": kind, "metadata": metadata, "webhooks": list(webhooks)}


def answer(path: str, request: Json, args: list[str], chance: str) -> Json:
    """The admission response to a request.

    `args`: command line of the operand that answers; `chance`: random characters.
    """
    item: Json = request["object"]
    if path == MUTATE_POD:
        return _mutation(request, options(args), chance)
    warnings: tuple[str, ...] = ()
    if path == VALIDATE_POD:
        problem = pod_problem(_placed(item, request), options(args))
    elif path == VALIDATE_TOPOLOGY:
        problem = topology_problem(item)
    elif path == VALIDATE_QUEUE:
        problem = queue_problem(item)
        warnings = (problem,) if problem else ()
    else:
        problem, warnings = group_problems(item, is_update=request["operation"] == "UPDATE")
    return _verdict(problem, warnings)


def _verdict(problem: str, warnings: tuple[str, ...] = ()) -> Json:
    said = {"warnings": list(warnings)} if warnings else {}
    if not problem:
        return {"allowed": True, **said}
    return {"allowed": False, "status": {"code": 403, "reason": "Forbidden", "message": problem}, **said}


def _placed(pod: Json, request: Json) -> Json:
    metadata = {**pod.get("metadata", {}), "namespace": request.get("namespace", "")}
    return {**pod, "metadata": metadata}


def _mutation(request: Json, given: Options, chance: str) -> Json:
    pod: Json = request["object"]
    try:
        found = mutated(_placed(pod, request), given, chance)
    except Refused as problem:
        return _verdict(str(problem))
    changes = [
        {"op": "add", "path": f"/{part}", "value": found[part]}
        for part in ("metadata", "spec")
        if found[part] != pod.get(part)
    ]
    if not changes:
        return {"allowed": True}
    patch = base64.b64encode(json.dumps(changes).encode()).decode()
    return {"allowed": True, "patchType": "JSONPatch", "patch": patch}
