"""Readiness of an object according to its own status, and the reason if the object is not ready. Pure functions.

Source of conditions and messages for each kind: pulumi-kubernetes, provider/pkg/await, 2026-07-01. The official plugin
has no message about Pods that fit on no node; `physai why` and the gates have such a message.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, cast

from simulator.kubernetes.objects import Object, gvk_of, metadata, name_of
from simulator.kubernetes.pods import READY, pod_state

_REVISION = "deployment.kubernetes.io/revision"
_FINAL = ("BackoffLimitExceeded", "DeadlineExceeded")
"""Reasons of a failed Job for which the plugin stops waiting at once. After a failure for another reason, the plugin
waits until its time limit.
"""
DEFAULT_SECONDS = 600
"""Seconds that the official plugin waits for an object, unless the object's kind or the resource sets another limit."""


@dataclass(frozen=True)
class Waiting:
    """Reasons why an object is not ready. `final`: True if waiting longer can't help."""

    reasons: tuple[str, ...]
    final: bool = False


@dataclass(frozen=True)
class Surroundings:
    """State of other objects that an object's readiness depends on."""

    endpoints_known: bool = True
    """True if the controller has created the Service's endpoints, even if they contain none of the Pods that the
    Service selects.
    """
    endpoints_ready: bool = True
    """True if any ready Pod serves the Service."""
    endpoints_pending: bool = False
    """True if the Service selects a Pod that is not ready."""
    binds_on_first_use: bool = False
    """True if the claim's StorageClass binds only when a Pod uses the claim."""


def awaited(obj: Mapping[str, Any]) -> bool:
    """True if a create or update waits for objects of this kind."""
    return _kind(obj) in _CHECKS


def checked_in_refresh(obj: Mapping[str, Any]) -> bool:
    """True if a refresh reports objects of this kind that are not ready."""
    return _kind(obj) in _CHECKS and str(obj.get("kind")) in _READ


def limit(obj: Mapping[str, Any]) -> float | None:
    """Seconds that the official plugin waits for objects of this kind; None if the kind has no own time limit."""
    return _POLLED.get(_kind(obj))


def unready(obj: Object, *, final: bool, custom: bool) -> str:
    """First line of the error about an object that did not become ready. `final`: True if waiting longer could not
    help. `custom`: True if `pulumi.com/waitFor` sets the conditions.
    """
    if final:
        return f"Resource '{name_of(obj)}' was created but failed to initialize"
    if _kind(obj) in _POLLED and not custom:
        return f"Timeout occurred polling for '{name_of(obj)}'"
    if custom or obj.get("kind") == "DaemonSet":
        return "timed out waiting for the condition"
    return f"'{name_of(obj)}' timed out waiting to be Ready"


def waiting(obj: Object, around: Surroundings | None = None) -> Waiting | None:
    """Reasons to wait for an object; None if the object is ready, or if objects of its kind count as ready at once."""
    check = _CHECKS.get(_kind(obj))
    return check(obj, around or Surroundings()) if check else None


def blocking_finalizers(obj: Object) -> str:
    """Reason why the deletion of an object does not end, for example a finalizer; the text is for a person. Empty if no
    reason is known.
    """
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


def _deployment(obj: Object, around: Surroundings) -> Waiting | None:
    status, wanted = _part(obj, "status"), int(_part(obj, "spec").get("replicas", 1))
    updated, ready, total = (int(status.get(key) or 0) for key in ("updatedReplicas", "readyReplicas", "replicas"))
    if _observed(obj) and updated >= wanted and ready >= wanted and total <= updated:
        return None
    progressing, available = condition_of(obj, "Progressing"), condition_of(obj, "Available")
    shown = [
        f"[{condition.get('reason')}] {condition.get('message')}"
        for condition in (progressing, available)
        if condition and condition.get("status") != "True"
    ]
    first = _annotations(obj).get(_REVISION) == "1"
    if available.get("status") != "True":
        return _waits(*shown, "Minimum number of live Pods was not attained")
    if first or progressing.get("reason") != "NewReplicaSetAvailable" or progressing.get("status") != "True":
        return _waits(*shown, "Minimum number of Pods to consider the application live was not attained")
    return _waits(*shown, "Attempted to roll forward to new ReplicaSet, but minimum number of Pods did not become live")


def _daemon_set(obj: Object, around: Surroundings) -> Waiting | None:
    status = _part(obj, "status")
    wanted, *reached = (
        int(status.get(key) or 0)
        for key in (
            "desiredNumberScheduled",
            "currentNumberScheduled",
            "updatedNumberScheduled",
            "numberAvailable",
            "numberReady",
        )
    )
    return None if _observed(obj) and all(each >= wanted for each in reached) else _waits()


def _stateful_set(obj: Object, around: Surroundings) -> Waiting | None:
    """Reasons to wait for a StatefulSet; None if it is ready.

    The update strategy's `partition` is not considered: with a partition, the two revisions stay different, and the
    wait ends at its time limit.
    """
    status, spec = _part(obj, "status"), _part(obj, "spec")
    wanted = int(spec.get("replicas", 1))
    total, ready, current, updated = (
        int(status.get(key) or 0) for key in ("replicas", "readyReplicas", "currentReplicas", "updatedReplicas")
    )
    before, after = status.get("currentRevision") or "", status.get("updateRevision") or ""
    seen, generation = _observed(obj), int(metadata(obj).get("generation") or 1)
    if generation > 1 and _part(spec, "updateStrategy").get("type") == "OnDelete":
        replicas, revision = seen and total == ready == wanted, seen
    else:
        replicas = seen and total == ready == current == wanted
        revision = seen and before != "" and before == after
    shown = ready if revision else min(ready, updated)
    reasons = [] if replicas else [f"{shown} out of {wanted} replicas succeeded readiness checks"]
    if not revision:
        reasons.append(f'StatefulSet controller failed to advance from revision "{before}" to revision "{after}"')
    return _waits(*reasons) if reasons else None


def _job(obj: Object, around: Surroundings) -> Waiting | None:
    failed = condition_of(obj, "Failed")
    if failed.get("status") == "True" and failed.get("reason") in _FINAL:
        return Waiting((f"[{failed.get('reason')}] {failed.get('message')}",), final=True)
    started = _part(obj, "status").get("startTime")
    return None if started and condition_of(obj, "Complete").get("status") == "True" else _waits()


def _pod(obj: Object, around: Surroundings) -> Waiting | None:
    state = pod_state(obj)
    return None if state == READY else _waits(*([state] if state else []))


def _namespace(obj: Object, around: Surroundings) -> Waiting | None:
    phase = _part(obj, "status").get("phase")
    return None if phase == "Active" else _waits(f"the namespace is {phase or 'not known to its controller yet'}")


def _crd(obj: Object, around: Surroundings) -> Waiting | None:
    refused = condition_of(obj, "NamesAccepted")
    if refused.get("status") == "False":
        return Waiting((f"[{refused.get('reason')}] {refused.get('message')}",), final=True)
    if condition_of(obj, "Established").get("status") == "True":
        return None
    return _waits("the CustomResourceDefinition is not established yet")


def _service(obj: Object, around: Surroundings) -> Waiting | None:
    """Reasons to wait for a Service; None if the Service is ready.

    A Service is ready if its endpoints exist and all Pods that it selects are ready. A headless Service, an
    ExternalName and a Service without a selector need no Pods. A LoadBalancer also needs an address.
    """
    spec = _part(obj, "spec")
    balanced = spec.get("type") != "LoadBalancer" or bool(_part(_part(obj, "status"), "loadBalancer").get("ingress"))
    without_pods = spec.get("type") == "ExternalName" or spec.get("clusterIP") == "None" or not spec.get("selector")
    if balanced and (without_pods or (around.endpoints_known and not around.endpoints_pending)):
        return None
    reasons: list[str] = []
    if not around.endpoints_ready:
        reasons.append(
            "Service does not target any Pods. Selected Pods may not be ready, "
            "or field '.spec.selector' may not match labels on any Pods"
        )
    if not balanced:
        reasons.append("Service was not allocated an IP address; does your cloud provider support this?")
    return _waits(*([] if spec.get("clusterIP") == "None" else reasons))


def _claim(obj: Object, around: Surroundings) -> Waiting | None:
    phase = _part(obj, "status").get("phase")
    return None if phase == "Bound" or (phase == "Pending" and around.binds_on_first_use) else _waits()


def _volume(obj: Object, around: Surroundings) -> Waiting | None:
    return None if _part(obj, "status").get("phase") in ("Available", "Bound") else _waits()


def _quota(obj: Object, around: Surroundings) -> Waiting | None:
    hard, counted = _part(obj, "spec").get("hard"), _part(obj, "status").get("hard")
    return None if isinstance(hard, dict) and hard == counted else _waits()


_CHECKS: Mapping[tuple[str, str], Callable[[Object, Surroundings], Waiting | None]] = {
    ("", "Namespace"): _namespace,
    ("", "PersistentVolume"): _volume,
    ("", "PersistentVolumeClaim"): _claim,
    ("", "Pod"): _pod,
    ("", "ResourceQuota"): _quota,
    ("", "Service"): _service,
    ("apiextensions.k8s.io", "CustomResourceDefinition"): _crd,
    ("apps", "DaemonSet"): _daemon_set,
    ("apps", "Deployment"): _deployment,
    ("apps", "StatefulSet"): _stateful_set,
    ("batch", "Job"): _job,
}
_READ = frozenset({"DaemonSet", "Deployment", "Job", "Pod", "Service", "StatefulSet"})
_POLLED: Mapping[tuple[str, str], float] = {
    ("", "PersistentVolume"): 300,
    ("", "PersistentVolumeClaim"): 300,
    ("", "ResourceQuota"): 60,
}
"""Seconds that the official plugin waits for objects of the kinds that have their own time limit. A timeout of the
resource does not change that limit.
"""


def _kind(obj: Mapping[str, Any]) -> tuple[str, str]:
    group, _, kind = gvk_of(obj)
    return group, kind


def _observed(obj: Object) -> bool:
    """True if the controller has observed the present generation of the object."""
    return int(_part(obj, "status").get("observedGeneration") or 0) >= int(metadata(obj).get("generation") or 1)


def _conditions(obj: Object) -> list[Object]:
    return cast("list[Object]", _part(obj, "status").get("conditions") or [])


def condition_of(obj: Object, kind: str) -> Object:
    """Condition of a type in an object's status; empty where the status has none of this type."""
    return next((item for item in _conditions(obj) if item.get("type") == kind), dict[str, Any]())


def _part(obj: Mapping[str, Any], key: str) -> Object:
    held = obj.get(key)
    return cast("Object", held) if isinstance(held, dict) else {}


def _waits(*reasons: str) -> Waiting:
    return Waiting(reasons)


def _annotations(obj: Object) -> Object:
    return _part(metadata(obj), "annotations")
