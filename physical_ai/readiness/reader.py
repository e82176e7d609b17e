"""Reading of the objects for the diagnosis from an API server: Pods, events and logs are read only when a gate is
closed.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, cast

from parts.amd import names as amd
from parts.slurm import names as slurm
from physical_ai.kubernetes.objects import is_ready, name, namespace
from physical_ai.readiness.amd_gates import is_amd
from physical_ai.readiness.answers import Get, Missing, Unreachable, Unusable, is_forbidden
from physical_ai.readiness.devices import SLICES, with_devices
from physical_ai.readiness.diagnosis import diagnose
from physical_ai.readiness.events import read_events
from physical_ai.readiness.evidence import Evidence
from physical_ai.readiness.model import AmdObjects, ClosedGate, Cluster, Expected, Json, Report
from physical_ai.readiness.objects import POOL_LABELS, holds_gpu
from physical_ai.readiness.ports import LABEL
from physical_ai.readiness.rollout import is_unsettled
from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

__all__ = ["Get", "Missing", "Unreachable", "Unusable", "listed", "read_reports"]

MAX_LOGS = 8
"""Maximum number of logs that one diagnosis reads, because each request goes through the API server to a node."""

_ASK_AGAIN = (
    "Ask again with a login that has the right that the refusal names; kubectl auth can-i --list shows those that this"
    " one has."
)
SLURM_PODS = f"/api/v1/namespaces/{slurm.NAMESPACE}/pods"


def read_reports(get: Get, expected: Sequence[Expected], namespace: str = OPERATOR_NAMESPACE) -> tuple[Report, ...]:
    """Reads the pools' present state, and returns a report for each.

    A few lists suffice when all gates are open; otherwise Pods and their messages are read too.

    The nodes have to be readable, since they show which gates are open. All other objects only help to say why a gate
    is closed; the reports list those that the login may not read.

    Raises:
        Unreachable, Unusable: `get` raised it.
    """
    unread: list[str] = []
    try:
        reports = _read(get, expected, namespace, unread) if expected else ()
    except Unreachable as refusal:
        if not is_forbidden(refusal):
            raise
        reports = _by_nodes(get, expected, refusal)
        unread.append(f"why gates are closed, and whether a change has reached all nodes ({refusal})")
    return tuple(replace(each, unread=tuple(unread)) for each in reports) if unread else reports


def _read(get: Get, expected: Sequence[Expected], namespace: str, unread: list[str]) -> tuple[Report, ...]:
    scope = f"namespaces/{namespace}"
    # The custom resources are read before the DaemonSets: in the other order, a change between the two reads would look
    # complete.
    cluster = Cluster(
        policies=listed(get, "/apis/nvidia.com/v1/clusterpolicies"),
        drivers=listed(get, "/apis/nvidia.com/v1alpha1/nvidiadrivers"),
        daemonsets=listed(get, f"/apis/apps/v1/{scope}/daemonsets"),
        nodes=_nodes(get, _ours(expected), by_claims=any(each.by_claims for each in expected)),
        namespace=namespace,
        slurm=listed(get, SLURM_PODS) if any(each.slurm for each in expected) else (),
        records=_records(get, scope, unread) if any(each.ports for each in expected) else (),
    )
    reports = diagnose(expected, cluster)
    if not any(report.closed for report in reports) and not is_unsettled(Evidence(cluster)):
        return reports
    cluster = replace(
        cluster,
        pods=listed(get, f"/api/v1/{scope}/pods"),
        deployments=listed(get, f"/apis/apps/v1/{scope}/deployments"),
        events=read_events(get, f"/api/v1/{scope}/events", unread),
        amd=_amd_objects(get, unread) if any(map(is_amd, expected)) else cluster.amd,
    )
    reports = diagnose(expected, cluster)
    logs = _logs(get, cluster, [gate for report in reports for gate in report.closed], unread)
    reports = diagnose(expected, replace(cluster, logs=logs)) if logs else reports
    held = [gate.node for report in reports for gate in report.closed if gate.cause == "driver-in-use"]
    return diagnose(expected, replace(cluster, logs=logs, work=_work(get, held))) if held else reports


def _ours(expected: Sequence[Expected]) -> dict[str, str]:
    return {"labelSelector": f"{POOL_LABELS[0]} in ({','.join(each.pool for each in expected)})"}


def _by_nodes(get: Get, expected: Sequence[Expected], refusal: Unreachable) -> tuple[Report, ...]:
    """Reports for a login that may only read nodes. Their counts of GPUs are correct; their closed readiness gates say
    that the cause is not known.
    """
    nodes = _nodes(get, _ours(expected), by_claims=any(each.by_claims for each in expected))
    ready = {name(node) for node in nodes if is_ready(node)}

    def unknown(gate: ClosedGate) -> ClosedGate:
        gate = replace(gate, gate="allocatable") if gate.node in ready else gate
        reason = f"The node does not offer its GPUs, and why is not known: {refusal}"
        said = {"reason": reason, "fix": _ASK_AGAIN, "message": str(refusal)}
        return replace(gate, cause="", pod="", container="", phase="", may_recover=False, **said)

    reports = diagnose(expected, Cluster(nodes=nodes))
    return tuple(replace(each, closed=tuple(map(unknown, each.closed))) for each in reports)


def _nodes(get: Get, ours: Mapping[str, str], *, by_claims: bool) -> list[Json]:
    nodes = _items(get("/api/v1/nodes", ours))
    return with_devices(nodes, listed(get, SLICES)) if by_claims else nodes


def _records(get: Get, scope: str, unread: list[str]) -> list[Json]:
    """Records of machines; empty where the login may not read ConfigMaps."""
    try:
        return _items(get(f"/api/v1/{scope}/configmaps", {"labelSelector": LABEL}))
    except Missing:
        return []
    except Unreachable as refusal:
        if not is_forbidden(refusal):
            raise
        unread.append(f"records of machines, with their InfiniBand ports ({refusal})")
        return []


def _work(get: Get, nodes: Sequence[str]) -> dict[str, list[str]] | None:
    """Pods that hold GPUs and that a drain would evict, by node. `nodes` are nodes whose driver is in use; only the
    first `MAX_LOGS` of them are read.

    None where the API server refuses a request or does not answer.
    """
    found: dict[str, list[str]] = {}
    for node in nodes[:MAX_LOGS]:
        try:
            pods = _items(get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"}))
        except (Missing, Unreachable):
            return None
        found[node] = [f"{namespace(pod)}/{name(pod)}" for pod in pods if holds_gpu(pod)]
    return found


def _amd_objects(get: Get, unread: list[str]) -> AmdObjects:
    scope = f"namespaces/{amd.NAMESPACE}"
    return AmdObjects(
        configs=listed(get, f"/apis/{amd.API_VERSION}/{scope}/deviceconfigs"),
        daemonsets=listed(get, f"/apis/apps/v1/{scope}/daemonsets"),
        deployments=listed(get, f"/apis/apps/v1/{scope}/deployments"),
        pods=listed(get, f"/api/v1/{scope}/pods"),
        events=read_events(get, f"/api/v1/{scope}/events", unread),
    )


def _items(answer: Any) -> list[Json]:
    return cast("Mapping[str, list[Json]]", answer).get("items") or []


def listed(get: Get, path: str) -> list[Json]:
    """Objects in the list at `path`; empty if the API server does not know the kind. The kind may be missing because a
    Helm release installs it.
    """
    try:
        return _items(get(path, {}))
    except Missing:
        return []


def _logs(get: Get, cluster: Cluster, gates: Sequence[ClosedGate], unread: list[str]) -> dict[tuple[str, str], str]:
    """Last log line of containers that are not ready, by Pod and container. One log is read for each pool and container
    name.

    If one node's kubelet does not answer, no further logs are read, and the causes are found from events alone.
    """
    evidence = Evidence(cluster)
    known = {name(pod) for pod in cluster.pods}
    found: dict[tuple[str, str], str] = {}
    queried: set[tuple[str, str]] = set()
    waiting = [each for each in gates if each.pod in known and each.container and "Creating" not in each.phase]
    for each in sorted(waiting, key=lambda each: each.node):
        kind = (each.pool, each.container)
        if kind in queried or len(queried) == MAX_LOGS or evidence.log_event(each.pod, each.container):
            continue
        queried.add(kind)
        path = f"/api/v1/namespaces/{cluster.namespace}/pods/{each.pod}/log"
        try:
            text = get(path, {"container": each.container, "tailLines": "1"})
        except Missing:
            continue
        except Unreachable as problem:
            unread.append(f"{'' if is_forbidden(problem) else 'further '}logs of containers ({problem})")
            break
        if isinstance(text, str) and text.strip():
            found[each.pod, each.container] = text.strip()
    return found
