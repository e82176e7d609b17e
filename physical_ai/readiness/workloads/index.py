"""Objects of a cluster, indexed for questions about single Pods, nodes and pools."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

from physical_ai.catalog.osmo import KAI_GROUP_ANNOTATION, KAI_QUEUE_LABEL, WORKFLOW_LABEL
from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import Offer, holds, requests, why_not
from physical_ai.kubernetes.objects import Json, annotations_of, at, labels, name, namespace
from physical_ai.readiness.causes import workload_causes
from physical_ai.readiness.devices import Device, devices, holders
from physical_ai.readiness.model import ROLLOUT, ClosedGate
from physical_ai.readiness.nodes.findings import NodeFinding
from physical_ai.readiness.nodes.operands import is_operand
from physical_ai.readiness.nodes.signs import Alert
from physical_ai.readiness.objects import owner, pool_of
from physical_ai.readiness.phase import is_running
from physical_ai.readiness.ports import LABEL as RECORD_LABEL
from physical_ai.readiness.slurmd import SlurmNode, slurm_nodes
from physical_ai.readiness.workloads.event_index import EventIndex
from physical_ai.readiness.workloads.model import DeclaredPool, Explanation, Workloads

SCHEDULED_BY = ("nodeName", "nodeSelector", "affinity", "tolerations", "overhead", "resources")
"""Fields of a Pod's spec that determine, together with the resources of its containers, which nodes can take the Pod.
"""


class Index(EventIndex):
    """Objects of a cluster, indexed by node, Pod, pool and group.

    Values that several Pods or nodes need are computed once, so the work grows linearly with the number of Pods and
    nodes.
    """

    def __init__(self, given: Workloads) -> None:
        super().__init__(given)
        self.nodes = {name(node): node for node in given.nodes}
        self.pods = {(namespace(pod), name(pod)): pod for pod in given.pods}
        closed = [gate for report in given.reports for gate in report.closed]
        self.gates: dict[str, ClosedGate] = {gate.node: gate for gate in closed if gate.gate != ROLLOUT}
        """Closed gate of each node that does not offer its GPUs, by node."""
        self.changes: dict[str, ClosedGate] = {gate.node: gate for gate in closed if gate.gate == ROLLOUT}
        """Closed gate `rollout`, by node. Such a node offers its GPUs, but a change has not reached the node, or its
        driver is not verified.
        """
        self._takes: dict[str, bool] = {}
        self.findings: dict[str, tuple[NodeFinding, ...]] = {}
        """Causes of the problems of a node, by node. A node is missing until its causes are computed."""
        self.claim_answers: dict[str, tuple[str, Mapping[str, str]]] = {}
        """Id and facts of the cause why claims get no device, by the tolerations of the claiming Pods. An entry is
        added when it is first needed.
        """
        self.gang_answers: dict[tuple[str, str], dict[str, str]] = {}
        """Figures that show that a gang is too large ever to start, by the gang's key; empty figures for a gang that
        can start. An entry is added when it is first needed.
        """
        self.port_holders: dict[int, list[str]] = {}
        """Pods that hold a host port, by port. Filled on demand."""
        self.blocked: dict[tuple[str, bool], Json | None] = {}
        """First cordoned or otherwise blocked node of a pool; None if no node of the pool is blocked. The key is the
        pool's name, and True for Pods that request GPUs. An entry is added when it is first needed.
        """

    @cached_property
    def offers(self) -> dict[str, Offer]:
        """Nodes by name, each with the resources that the Pods on it leave free."""
        on: dict[str, list[Any]] = defaultdict(list)
        for pod in filter(holds, self.given.pods):
            on[str(pod["spec"]["nodeName"])].append(pod)
        return {key: Offer.of(node, on[key]) for key, node in self.nodes.items()}

    def in_queue(self, queue: str) -> list[Json]:
        """Pods that wait in a KAI queue."""
        return [
            pod
            for pod in self.given.pods
            if not at(pod, "spec.nodeName")
            and (at(self.group(pod) or {}, "spec.queue") or labels(pod).get(KAI_QUEUE_LABEL)) == queue
        ]

    def operands_on(self, node: str) -> list[Json]:
        """Pods on a node that belong to DaemonSets of the GPU Operator and do not run."""
        return self._operands.get(node, [])

    @cached_property
    def _operands(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            if is_operand(pod) and not is_running(pod):
                found[str(at(pod, "spec.nodeName", ""))].append(pod)
        return dict(found)

    def alerts_of_node(self, node: str) -> list[Alert]:
        """Alerts that fire about a node, which may have left the cluster."""
        return self._alerts.get(("node", node), [])

    @cached_property
    def _alerts(self) -> Mapping[tuple[str, str], list[Alert]]:
        found: dict[tuple[str, str], list[Alert]] = defaultdict(list)
        for alert in self.given.alerts or ():
            for about in alert.about(self.nodes):
                found[about].append(alert)
        return dict(found)

    @cached_property
    def _by_pool(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for _, node in sorted(self.nodes.items()):
            found[pool_of(node)].append(node)
        return dict(found)

    def on_pool(self, pool: str) -> list[Json]:
        """Nodes of a pool."""
        return self._by_pool.get(pool, [])

    def template(self, declared: DeclaredPool) -> Json:
        """Node that the pool would add, without Pods. Taints and resources come from the settings; labels come from the
        settings and from an existing node of the pool.
        """
        metadata: Json = {"name": f"{declared.name} (new node)", "labels": dict(declared.labels)}
        live = self.on_pool(declared.name)
        if live:
            metadata["labels"] = {**labels(live[0]), **declared.labels}
        return {
            "metadata": metadata,
            "spec": {"taints": list(declared.taints)},
            "status": {"allocatable": declared.allocatable},
        }

    def group(self, pod: Mapping[str, Any]) -> Json | None:
        """PodGroup of the Pod; None for a Pod without a PodGroup."""
        return self._groups.get((namespace(pod), annotations_of(pod).get(KAI_GROUP_ANNOTATION)))

    @cached_property
    def _groups(self) -> Mapping[tuple[str, str | None], Json]:
        return {(namespace(each), name(each)): each for each in reversed(self.given.groups)}

    def members(self, group: Mapping[str, Any]) -> list[Json]:
        """Pods of a PodGroup that have not ended."""
        found = self._together.get((namespace(group), "group", name(group)), [])
        return [pod for pod in found if at(pod, "status.phase") not in ("Succeeded", "Failed")]

    def peers(self, pod: Mapping[str, Any]) -> list[Json]:
        """Pods that start together with `pod`, including `pod` itself; empty for a Pod without a group and without a
        workflow.
        """
        group, workflow = annotations_of(pod).get(KAI_GROUP_ANNOTATION), labels(pod).get(WORKFLOW_LABEL)
        if not group and not workflow:
            return []
        kind = "group" if group else "workflow"
        return self._together.get((namespace(pod), kind, str(group or workflow)), [])

    @cached_property
    def _together(self) -> Mapping[tuple[str, str, str], list[Json]]:
        """Pods by namespace and group, and by namespace and workflow."""
        found: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
        for pod in self.given.pods:
            if group := annotations_of(pod).get(KAI_GROUP_ANNOTATION):
                found[namespace(pod), "group", group].append(pod)
            if workflow := labels(pod).get(WORKFLOW_LABEL):
                found[namespace(pod), "workflow", workflow].append(pod)
        return dict(found)

    @cached_property
    def _records(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for record in self.given.records:
            found[labels(record).get(RECORD_LABEL, "")].append(record)
        return dict(found)

    def records_of(self, node: str) -> list[Json]:
        """Records of machines that have had the node's name."""
        return self._records.get(node[:63], [])

    @cached_property
    def slurm(self) -> Mapping[str, SlurmNode]:
        """State of nodes in Slurm, by the Kubernetes node's name."""
        return slurm_nodes(self.given.pods)

    @cached_property
    def claims(self) -> Mapping[tuple[str, str], Json]:
        """ResourceClaims by namespace and name."""
        return {(namespace(each), name(each)): each for each in self.given.claims or ()}

    @cached_property
    def devices(self) -> Sequence[Device]:
        """Devices that can be claimed."""
        return devices(self.given.slices)

    @cached_property
    def claimed(self) -> Mapping[tuple[str, str], str]:
        """Claim that holds each allocated device, by the device's pool and name."""
        return holders(self.given.claims or ())

    def takes(self, pod: Mapping[str, Any]) -> bool:
        """True where some node has room for the Pod. The result is computed once for all Pods with the same
        `SCHEDULED_BY` fields and resource requests.
        """
        spec: Json = pod["spec"]
        alike = json.dumps([spec.get(key) for key in SCHEDULED_BY] + [_resources(spec)], sort_keys=True)
        if alike not in self._takes:
            self._takes[alike] = any(not why_not(pod, offer) for offer in self.offers.values())
        return self._takes[alike]

    def holders(self, pool: str, resource: str) -> str:
        """Holders of a resource on the pool's nodes, as text."""
        found = self._holders.get((pool, resource), [])
        return ", ".join(found[:3]) + (f" and {len(found) - 3} more" if len(found) > 3 else "")

    def on_node(self, node: str) -> list[str]:
        """Running Pods on a node that do not belong to a DaemonSet."""
        return self._on_node.get(node, [])

    @cached_property
    def _on_node(self) -> Mapping[str, list[str]]:
        found: dict[str, list[str]] = defaultdict(list)
        for pod in filter(holds, self.given.pods):
            if not owner(pod):
                found[str(pod["spec"]["nodeName"])].append(f"{namespace(pod)}/{name(pod)}")
        return found

    @cached_property
    def _holders(self) -> Mapping[tuple[str, str], list[str]]:
        """Names of the Pods that hold a resource, by pool and resource."""
        found: dict[tuple[str, str], list[str]] = defaultdict(list)
        for pod in filter(holds, self.given.pods):
            node = self.nodes.get(str(pod["spec"]["nodeName"]))
            for resource, count in requests(pod).items() if node is not None else ():
                if count:
                    found[pool_of(node or {}), resource].append(f"{namespace(pod)}/{name(pod)}")
        return found

    def explanation(
        self, item: str, cause: str, stage: str, evidence: str = "", where: str = "", **facts: str
    ) -> Explanation:
        """Explanation by a known cause with its facts filled in; `{message}` is the evidence, unless a fact `message`
        is given.
        """
        known = workload_causes()[cause]
        seen = short(evidence)
        unsaid = dict.fromkeys(known.pattern.groupindex if known.pattern else (), "(not said)")
        given = {**unsaid, "stack": self.given.stack, "message": seen, **facts}
        reason, fix = known.describe(given, azure=not self.given.existing)
        return Explanation(item, stage, cause, reason, fix, seen, known.waits, where, known.past, known.known)


def _resources(spec: Json) -> list[Any]:
    keys = ("initContainers", "containers")
    return [[(each.get("resources"), each.get("restartPolicy")) for each in spec.get(key) or ()] for key in keys]


def subject(pod: Mapping[str, Any]) -> str:
    return f"pod {namespace(pod)}/{name(pod)}"


def gpu_resources(pod: Mapping[str, Any]) -> list[str]:
    """GPU resources that a Pod requests."""
    return [resource for resource, count in requests(pod).items() if resource.startswith(GPU_DOMAINS) and count]


def short(text: str) -> str:
    """First non-empty line of a text, at most 300 characters."""
    line = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return line if len(line) <= 300 else f"{line[:299]}…"


def last_lines(text: str, count: int) -> str:
    """Last non-empty lines of a text, each at most 300 characters."""
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return "\n".join(map(short, lines[-count:]))
