"""OSMO in a cluster: reports the components of OSMO that are not available, and deletes workflows before OSMO's agents
are deleted.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from physical_ai.catalog.osmo import (
    CONTROL_NAMESPACE,
    FINALIZER,
    KAI_NAMESPACE,
    KAI_POD_GROUP_API,
    OPERATOR_NAMESPACE,
    TOKEN_SECRET,
    WORKFLOW_LABEL,
    WORKFLOWS_NAMESPACE,
)
from physical_ai.readiness.client import Send
from physical_ai.readiness.objects import Json
from physical_ai.readiness.reader import Get, Missing, Unreachable
from physical_ai.settings.facts.osmo import MANAGED_LABEL
from physical_ai.settings.facts.osmo_token import TOKEN_ANNOTATION, VALID, WARN_DAYS

_SHARDS, _CONFIGS = "/apis/kai.scheduler/v1/schedulingshards", "/apis/kai.scheduler/v1/configs"
_PODS = f"/api/v1/namespaces/{WORKFLOWS_NAMESPACE}/pods"
_GROUPS = f"/apis/{KAI_POD_GROUP_API}/namespaces/{WORKFLOWS_NAMESPACE}/podgroups"
_TOKEN = f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/secrets/{TOKEN_SECRET}"
PULLING = ("ImagePullBackOff", "ErrImagePull")
_OF_WORKFLOWS = {"labelSelector": WORKFLOW_LABEL}


def not_ready(get: Get, *, agents: bool = True, service: bool = False) -> list[str]:
    """A line for each component that is not available yet; empty once workflows can be scheduled.

    Helm's own wait is not enough: it ends with KAI's operator, which creates the scheduler afterwards. The condition
    Reconciling is no help: SchedulingShards keep it forever (NVIDIA/aicr#165).

    Raises the exceptions of `get`.

    Args:
        agents: True where the cluster has OSMO's agents.
        service: True where the cluster has OSMO's control plane.
    """
    lines: list[str] = []
    shards = _items(get, _SHARDS)
    if not shards:
        lines.append("KAI's operator has not created a SchedulingShard yet")
    lines += [f"SchedulingShard {_name(shard)} is not Available" for shard in shards if not _is_available(shard)]
    # After an upgrade, the previous Pods are still available, so the operator has to have seen the new Config first.
    lines += [f"Config {_name(each)} is not Available" for each in _items(get, _CONFIGS) if not _is_available(each)]
    installed = {CONTROL_NAMESPACE: service, KAI_NAMESPACE: True, OPERATOR_NAMESPACE: agents}
    for namespace in (name for name, there in installed.items() if there):
        deployments = _items(get, f"/apis/apps/v1/namespaces/{namespace}/deployments")
        if not deployments:
            lines.append(f"no Deployment in {namespace} yet")
        for item in deployments:
            name = _name(item)
            wanted, ready = item["spec"].get("replicas", 1), item.get("status", {}).get("availableReplicas", 0)
            if ready < wanted:
                line = f"Deployment {namespace}/{name}: {ready} of {wanted} available"
                lines.append(f"{line}{_unpulled(get, namespace, name)}")
            elif _is_rolling(item, wanted):
                lines.append(f"Deployment {namespace}/{name}: its newest template does not run yet")
    return lines


def _is_rolling(deployment: Json, wanted: int) -> bool:
    status: Json = deployment.get("status", {})
    seen = status.get("observedGeneration", 0) >= deployment["metadata"].get("generation", 0)
    return not seen or status.get("updatedReplicas", wanted) < wanted


def _is_available(item: Json) -> bool:
    """True where the operator reports the present generation of `item` as available."""
    conditions: list[dict[str, Any]] = item.get("status", {}).get("conditions") or []
    generation = item["metadata"].get("generation", 0)
    return any(
        each["status"] == "True" and each.get("observedGeneration", generation) >= generation
        for each in conditions
        if each["type"] == "Available"
    )


def _unpulled(get: Get, namespace: str, deployment: str) -> str:
    """Image that a Deployment's Pods cannot pull, and how to import it into the stack's registry; empty if they wait
    for another reason.
    """
    for pod in _items(get, f"/api/v1/namespaces/{namespace}/pods"):
        status = pod.get("status", {})
        for each in (*status.get("initContainerStatuses", ()), *status.get("containerStatuses", ())):
            reason = each.get("state", {}).get("waiting", {}).get("reason", "")
            if reason not in PULLING or not _name(pod).startswith(f"{deployment}-"):
                continue
            image = str(each["image"])
            host, _, path = image.partition("/")
            text = f": {reason} of {image}"
            if not host.endswith(".azurecr.io") or "." not in path.partition("/")[0]:
                return text
            copy = f"az acr import --name {host.removesuffix('.azurecr.io')} --source {path}"
            return f"{text}. If the registry does not have it: {copy} --image {path.partition('@')[0]}"
    return ""


def is_managed(get: Get) -> bool:
    """True where a deployment of this project installed the agents; agents that others installed are left alone."""
    try:
        secret = get(_TOKEN, {})
    except Missing:
        return False
    return MANAGED_LABEL in (secret["metadata"].get("labels") or {})


def token_problem(get: Get, today: date) -> str:
    """Problem with the agents' token, if a deployment created the token; empty if the token has no problem.

    A daily check asks the control plane about the token, and writes the answer into annotations of the token's Secret,
    which this function reads. Raises the exceptions of `get`.
    """
    try:
        notes: Mapping[str, str] = get(_TOKEN, {})["metadata"].get("annotations") or {}
    except Missing:
        return ""
    name, state, expires = (notes.get(f"{TOKEN_ANNOTATION}{key}", "") for key in ("name", "state", "expires"))
    if not name:
        return ""
    if state not in ("", VALID):
        return state
    try:
        left = (date.fromisoformat(expires) - today).days
    except ValueError:
        return ""
    if left > WARN_DAYS:
        return ""
    when = f"expires on {expires}" if left > 0 else f"expired on {expires}"
    return f"The token {name} of OSMO's agents {when}. Change osmo.tokenRotation and deploy."


def workflow_pods(get: Get) -> list[str]:
    """Names of workflow Pods that still exist. Raises the exceptions of `get`."""
    return [_name(item) for item in _items(get, _PODS, _OF_WORKFLOWS)]


def delete_workflows(send: Send) -> None:
    """Requests the deletion of all workflow Pods. Their groups are deleted first, so that nothing more is
    scheduled.
    """
    for path in (_GROUPS, _PODS):
        try:
            send("DELETE", path, _OF_WORKFLOWS)
        except Missing:
            continue  # KAI is deleted, or was never installed


def remove_finalizers(send: Send) -> list[str]:
    """Removes OSMO's finalizer from Pods that are being deleted, and returns their names.

    Raises the exceptions of `send`.
    """
    released: list[str] = []
    for pod in send("GET", _PODS, _OF_WORKFLOWS)["items"]:
        finalizers: list[str] = pod["metadata"].get("finalizers") or []
        if FINALIZER not in finalizers or "deletionTimestamp" not in pod["metadata"]:
            continue
        rest = [item for item in finalizers if item != FINALIZER]
        # The patch contains the version, so that it does not undo a finalizer that another process adds meanwhile.
        version = pod["metadata"].get("resourceVersion")
        if not version:
            raise Unreachable(f"the API server sends {_PODS} with Pod {_name(pod)} that has no resourceVersion")
        change = {"metadata": {"finalizers": rest, "resourceVersion": version}}
        try:
            send("PATCH", f"{_PODS}/{_name(pod)}", {}, change)
        except Missing:
            continue
        released.append(_name(pod))
    return released


def _items(get: Get, path: str, parameters: Mapping[str, str] | None = None) -> list[Json]:
    try:
        return get(path, parameters or {})["items"]
    except Missing:
        return []


def _name(item: Json) -> str:
    return str(item["metadata"]["name"])
