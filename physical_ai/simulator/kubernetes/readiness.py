"""When an object is ready, and if not, why: by its own status. Pure.

What each kind waits for: pulumi-kubernetes v4, provider/pkg/await. Reasons are in `[Reason] message` form, as there.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from physical_ai.simulator.kubernetes.jsonpath import find
from physical_ai.simulator.kubernetes.objects import Object, gvk_of, metadata, name_of

DEFAULT_SECONDS = 600
"""How long the official plugin waits for each of the kinds below."""


@dataclass(frozen=True)
class Waiting:
    """Why an object is not ready; `final` when waiting longer can't help."""

    reasons: tuple[str, ...]
    final: bool = False


@dataclass(frozen=True)
class Surroundings:
    """The state of other objects, where an object's own status is not sufficient."""

    endpoints: bool = True
    """Whether any ready Pod answers for the Service."""
    binds_on_first_use: bool = False
    """Whether the claim's StorageClass binds only when a Pod uses it."""


def awaited(obj: Mapping[str, Any]) -> bool:
    """Whether objects of this kind are waited for at all."""
    return _kind(obj) in _CHECKS


def waiting(obj: Object, around: Surroundings | None = None) -> Waiting | None:
    """None when the object is ready (or of a kind that needs no waiting), else why not."""
    check = _CHECKS.get(_kind(obj))
    return check(obj, around or Surroundings()) if check else None


def waiting_for(obj: Object, expressions: str) -> Waiting | None:
    """None if the condition of the `pulumi.com/waitFor` annotation is met, else what is missing.

    `condition=Type[=Status]`, `jsonpath={.path}[=value]`, or a JSON list of these that must all hold.
    Raises ValueError for anything else, JsonPathError for a path that can't be read.
    """
    missing = tuple(text for text in (_unmet(obj, one) for one in parse_wait_for(expressions)) if text)
    return Waiting(missing) if missing else None


def parse_wait_for(expressions: str) -> list[str]:
    """The single expressions of a `pulumi.com/waitFor` annotation; raises ValueError where one has no known form."""
    try:
        parsed: Any = json.loads(expressions)
    except ValueError:
        parsed = expressions
    wanted = [str(item) for item in cast("list[Any]", parsed)] if isinstance(parsed, list) else [expressions]
    if not wanted:
        raise ValueError("at least one condition must be specified")
    for expression in wanted:
        if not expression.startswith(("jsonpath=", "condition=")):
            raise ValueError(f'expected a "jsonpath=" or "condition=" prefix, got "{expression}"')
    return wanted


def pod_problems(pods: Sequence[Object], most: int = 5) -> list[str]:
    """What keeps pods from being ready, one line a distinct cause, with the first pod it was seen on."""
    found: dict[str, list[str]] = {}
    for pod in pods:
        for cause in _pod_causes(pod):
            found.setdefault(cause, []).append(name_of(pod))
    lines = [
        f"[Pod {names[0]}{f' and {len(names) - 1} more' if len(names) > 1 else ''}]: {cause}"
        for cause, names in found.items()
    ]
    return lines[:most]


def blocking_finalizers(obj: Object) -> str:
    """What holds up the deletion of an object, for a person to act on; empty when nothing is known."""
    conditions = [
        str(condition.get("message"))
        for condition in _conditions(obj)
        if gvk_of(obj).kind == "Namespace" and condition.get("status") == "True"
    ]
    finalizers = [
        str(name)
        for part in ("metadata", "spec")
        for name in cast("list[Any]", _part(obj, part).get("finalizers") or [])
    ]
    held = [f"finalizers: {', '.join(finalizers)}"] if finalizers else []
    return "; ".join([*held, *conditions])


def _unmet(obj: Object, expression: str) -> str:
    form, _, rest = expression.partition("=")
    if form == "condition":
        kind, _, status = rest.partition("=")
        wanted = status or "True"
        held = _condition(obj, kind)
        if str(held.get("status", "")).lower() == wanted.lower():
            return ""
        message = f": {held['message']}" if held.get("message") else ""
        return f'condition "{kind}" is {held.get("status", "not set")}, waiting for {wanted}{message}'
    path, value = (rest[: rest.index("}") + 1], rest[rest.index("}") + 1 :]) if "}" in rest else (rest, "")
    found = find(obj, path)
    if not value.startswith("="):
        return "" if found else f"{path} is not set"
    wanted = value[1:].strip("'\"")
    shown = ", ".join(map(_text, found)) or "not set"
    return "" if found and all(_text(item) == wanted for item in found) else f"{path} is {shown}, waiting for {wanted}"


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)


def _deployment(obj: Object, around: Surroundings) -> Waiting | None:
    status, wanted = _part(obj, "status"), int(_part(obj, "spec").get("replicas", 1))
    updated, ready, total = (int(status.get(key) or 0) for key in ("updatedReplicas", "readyReplicas", "replicas"))
    if _observed(obj) and updated >= wanted and ready >= wanted and total <= updated:
        return None
    shown = [
        f"[{condition.get('reason')}] {condition.get('message')}"
        for condition in _conditions(obj)
        if condition.get("status") == ("True" if condition.get("type") == "ReplicaFailure" else "False")
    ]
    return _waits(*shown, f"{min(ready, updated)} of {wanted} replicas are ready")


def _daemon_set(obj: Object, around: Surroundings) -> Waiting | None:
    status = _part(obj, "status")
    wanted, updated, available = (
        int(status.get(key) or 0) for key in ("desiredNumberScheduled", "updatedNumberScheduled", "numberAvailable")
    )
    if _observed(obj) and updated >= wanted and available >= wanted:
        return None
    if not _observed(obj):
        return _waits("the DaemonSet controller has not seen the change yet")
    return _waits(f"{available} of {wanted} pods are available, {updated} of {wanted} are up to date")


def _stateful_set(obj: Object, around: Surroundings) -> Waiting | None:
    status, spec = _part(obj, "status"), _part(obj, "spec")
    wanted, ready = int(spec.get("replicas", 1)), int(status.get("readyReplicas") or 0)
    rolling = _part(spec, "updateStrategy").get("type", "RollingUpdate") == "RollingUpdate"
    partition = int(_part(_part(spec, "updateStrategy"), "rollingUpdate").get("partition") or 0)
    rolled = (
        not rolling
        or (partition > 0 and int(status.get("updatedReplicas") or 0) >= wanted - partition)
        or status.get("currentRevision") == status.get("updateRevision")
    )
    if _observed(obj) and ready >= wanted and rolled:
        return None
    return _waits(f"{ready} of {wanted} replicas are ready" + ("" if rolled else ", the rollout is not complete"))


def _job(obj: Object, around: Surroundings) -> Waiting | None:
    failed = _condition(obj, "Failed")
    if failed.get("status") == "True":
        return Waiting((f"[{failed.get('reason')}] {failed.get('message')}",), final=True)
    if _condition(obj, "Complete").get("status") == "True":
        return None
    status = _part(obj, "status")
    done, wanted = int(status.get("succeeded") or 0), int(_part(obj, "spec").get("completions") or 1)
    return _waits(f"{done} of {wanted} completions, {int(status.get('failed') or 0)} failed pods")


def _pod(obj: Object, around: Surroundings) -> Waiting | None:
    phase = _part(obj, "status").get("phase")
    if phase == "Succeeded" or _condition(obj, "Ready").get("status") == "True":
        return None
    causes = _pod_causes(obj) or [f"the pod is {phase or 'not scheduled yet'}"]
    return Waiting(tuple(causes), final=phase == "Failed")


def _namespace(obj: Object, around: Surroundings) -> Waiting | None:
    phase = _part(obj, "status").get("phase")
    return None if phase == "Active" else _waits(f"the namespace is {phase or 'not known to its controller yet'}")


def _crd(obj: Object, around: Surroundings) -> Waiting | None:
    refused = _condition(obj, "NamesAccepted")
    if refused.get("status") == "False":
        return Waiting((f"[{refused.get('reason')}] {refused.get('message')}",), final=True)
    if _condition(obj, "Established").get("status") == "True":
        return None
    return _waits("the CustomResourceDefinition is not established yet")


def _service(obj: Object, around: Surroundings) -> Waiting | None:
    spec = _part(obj, "spec")
    if spec.get("type") == "ExternalName":
        return None
    missing: list[str] = []
    if spec.get("clusterIP") != "None" and not around.endpoints:
        missing.append(
            "Service does not target any Pods. Selected Pods may not be ready, "
            "or field '.spec.selector' may not match labels on any Pods"
        )
    if spec.get("type") == "LoadBalancer" and not _part(_part(obj, "status"), "loadBalancer").get("ingress"):
        missing.append("Service was not allocated an IP address; does your cloud provider support this?")
    return Waiting(tuple(missing)) if missing else None


def _claim(obj: Object, around: Surroundings) -> Waiting | None:
    phase = _part(obj, "status").get("phase")
    if phase == "Bound" or (phase == "Pending" and around.binds_on_first_use):
        return None
    return Waiting((f"the PersistentVolumeClaim is {phase or 'not known to its controller yet'}",), phase == "Lost")


_CHECKS: Mapping[tuple[str, str], Callable[[Object, Surroundings], Waiting | None]] = {
    ("", "Namespace"): _namespace,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Pod"): _pod,
    ("", "Service"): _service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _crd,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "Job"): _job,
}


def _pod_causes(pod: Object) -> list[str]:
    status = _part(pod, "status")
    if status.get("phase") == "Succeeded" or _condition(pod, "Ready").get("status") == "True":
        return []
    scheduled = _condition(pod, "PodScheduled")
    if scheduled.get("status") == "False":
        return [f"[{scheduled.get('reason')}] {scheduled.get('message')}"]
    causes = [
        cause
        for part in ("initContainerStatuses", "containerStatuses")
        for container in cast("list[Object]", status.get(part) or [])
        if (cause := _container_cause(container))
    ]
    unready = _condition(pod, "Ready")
    if not causes and unready.get("message"):
        causes = [f"[{unready.get('reason')}] {unready.get('message')}"]
    if not causes and status.get("phase") == "Failed":
        causes = [f"[{status.get('reason') or 'Failed'}] {status.get('message') or 'the pod failed'}"]
    return causes


def _container_cause(container: Object) -> str:
    state = _part(container, "state")
    held, ended = (
        _part(state, "waiting"),
        _part(state, "terminated") or _part(_part(container, "lastState"), "terminated"),
    )
    name = container.get("name")
    if held.get("reason") and held["reason"] not in ("ContainerCreating", "PodInitializing"):
        return f"container {name}: [{held['reason']}] {held.get('message') or ''}".rstrip()
    if ended and int(ended.get("exitCode") or 0):
        message = f": {ended['message']}" if ended.get("message") else ""
        return f"container {name}: [{ended.get('reason') or 'Error'}] exit code {ended['exitCode']}{message}"
    return ""


def _kind(obj: Mapping[str, Any]) -> tuple[str, str]:
    group, _, kind = gvk_of(obj)
    return group, kind


def _observed(obj: Object) -> bool:
    """Whether the controller has observed the present generation of the object."""
    return int(_part(obj, "status").get("observedGeneration") or 0) >= int(metadata(obj).get("generation") or 1)


def _conditions(obj: Object) -> list[Object]:
    return cast("list[Object]", _part(obj, "status").get("conditions") or [])


def _condition(obj: Object, kind: str) -> Object:
    return next((item for item in _conditions(obj) if item.get("type") == kind), dict[str, Any]())


def _part(obj: Mapping[str, Any], key: str) -> Object:
    held = obj.get(key)
    return cast("Object", held) if isinstance(held, dict) else {}


def _waits(*reasons: str) -> Waiting:
    return Waiting(reasons)
