"""Objects in the cluster that belong to one node: its Pods by role, the DaemonSets, and a Pod's messages."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from typing import Literal

from parts.dra.names import KUBELET_PLUGIN
from physical_ai.catalog.own_names import GRID_AGENT
from physical_ai.kubernetes.objects import at, condition, labels, name, time_of
from physical_ai.readiness.events import ROUTINE
from physical_ai.readiness.model import Cluster, Json
from physical_ai.readiness.objects import node_of, owner, unselected, untolerated
from physical_ai.readiness.phase import unfinished
from physical_ai.readiness.ports import LABEL as RECORD_LABEL
from physical_ai.readiness.slurmd import is_slurmd

Role = Literal["nfd", "grid-agent", "driver", "toolkit", "validator", "device-plugin", "dra-driver"]

TITLES: Mapping[Role, str] = {
    "grid-agent": "GRID driver agent",
    "nfd": "NFD's worker",
    "driver": "driver",
    "toolkit": "container toolkit",
    "validator": "validator",
    "device-plugin": "device plugin",
    "dra-driver": "DRA driver",
}
"""Name of each role's DaemonSet in messages."""

_NAMES: Mapping[str, Role] = {
    GRID_AGENT: "grid-agent",
    "nvidia-driver-daemonset": "driver",
    "nvidia-container-toolkit-daemonset": "toolkit",
    "nvidia-operator-validator": "validator",
    "nvidia-device-plugin-daemonset": "device-plugin",
    KUBELET_PLUGIN: "dra-driver",
}
LOG_EVENT = "SimulatedLog"
"""Reason of the events that replace container logs on simulated nodes: the message is the last line of a container's
log.
"""
_NOT_BEGUN = ("PodInitializing", "ContainerCreating")
_UNINFORMATIVE = ("CrashLoopBackOff", *_NOT_BEGUN)
"""Reasons of a waiting container whose message only repeats the reason."""
_OPERANDS_WAIT = ("OperandNotReady", "DriverNotReady", "NoGPUNodes", "NFDLabelsMissing", "Ready", "")
"""Reasons of the condition `Error` of a ClusterPolicy or NVIDIADriver that only mean that Pods are not ready yet."""


def role_of(daemonset: Json) -> Role | None:
    given, own = labels(daemonset), name(daemonset)
    if given.get("app.kubernetes.io/component") == "nvidia-driver":
        return "driver"
    if own.endswith("node-feature-discovery-worker") or (
        given.get("app.kubernetes.io/name") == "node-feature-discovery" and given.get("role") == "worker"
    ):
        return "nfd"
    return _NAMES.get(own)


class Evidence:
    """Objects of a cluster, indexed by node and role, so that questions about a node need no search."""

    def __init__(self, cluster: Cluster) -> None:
        self.cluster = cluster
        self.daemonsets: dict[Role, list[Json]] = defaultdict(list)
        roles: dict[str, Role] = {}
        for daemonset in cluster.daemonsets:
            role = role_of(daemonset)
            if role is not None:
                self.daemonsets[role].append(daemonset)
                roles[name(daemonset)] = role
        self._pods: dict[tuple[str, Role], Json] = {}
        for pod in sorted(cluster.pods, key=_newest_last):
            role = roles.get(owner(pod))
            if role is not None:
                self._pods[node_of(pod), role] = pod
        self._newest: dict[str, Json | None] = {}
        self._events: dict[str, list[Json]] = defaultdict(list)
        for event in sorted(cluster.events, key=time_of):
            if at(event, "involvedObject.kind") == "Pod":
                self._events[str(at(event, "involvedObject.name", ""))].append(event)

    @cached_property
    def _records(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for record in self.cluster.records:
            found[labels(record).get(RECORD_LABEL, "")].append(record)
        return dict(found)

    def records(self, node: str) -> list[Json]:
        """Records of machines that have had the node's name."""
        return self._records.get(node[:63], [])

    @cached_property
    def _slurmd(self) -> Mapping[str, list[Json]]:
        found: dict[str, list[Json]] = defaultdict(list)
        for pod in self.cluster.slurm:
            found[node_of(pod) if is_slurmd(pod) else ""].append(pod)
        return dict(found)

    def slurm(self, node: str) -> list[Json]:
        """Slurm's Pods that concern a node: the node's Pod of slurmd, and all Pods of Slurm other than slurmd's."""
        return [*self._slurmd.get(node, ()), *self._slurmd.get("", ())]

    def pod(self, node: str, role: Role) -> Json | None:
        """The node's Pod of an operand; the newest one while an older Pod is being deleted."""
        return self._pods.get((node, role))

    def blocking_daemonset(self, role: Role, node: Json) -> tuple[Json, str, tuple[str, str, str | None] | None] | None:
        """DaemonSet of the role `role` that should run on the node but may not, with the reason: taints of the node
        that its Pods do not tolerate, as one text, or the first label that the node lacks. A DaemonSet that only lacks
        tolerations takes precedence.

        None if no DaemonSet has the role, or if one of them may run on the node.
        """
        blocked: list[tuple[Json, str, tuple[str, str, str | None] | None]] = []
        for daemonset in self.daemonsets[role]:
            spec: Json = at(daemonset, "spec.template.spec", {})
            label, taints = unselected(spec, node), untolerated(spec, node)
            if label is None and not taints:
                return None
            blocked.append((daemonset, ", ".join(taints) if label is None else "", label))
        # A DaemonSet that only a taint keeps off the node is meant for the node, so it comes first.
        return min(blocked, key=lambda each: each[2] is not None) if blocked else None

    def log_event(self, pod: str, container: str) -> str:
        """The last log line of a container whose logs cannot be read."""
        events = [each for each in self._about(pod, container) if each.get("reason") == LOG_EVENT]
        return str(events[-1].get("message", "")).strip() if events else ""

    def _about(self, pod: str, container: str) -> list[Json]:
        """Events of one container, sorted by time; if `container` is empty, events of the Pod itself."""
        return [each for each in self._events.get(pod, ()) if _container_of(each) == container]

    def messages(self, pod: Json) -> tuple[str, str]:
        """The most informative line about why a Pod is not ready, and all text in which to search for causes.

        A container's own output is more specific than the kubelet's message, which is more specific than "back-off
        5m0s".
        """
        container, status = unfinished(pod)
        own, waiting = name(pod), at(status, "state.waiting", {})
        informative = str(waiting.get("message", "")) if waiting.get("reason") not in _UNINFORMATIVE else ""
        ended = at(status, "state.terminated.message") or at(status, "lastState.terminated.message") or ""
        # Events of the pod itself (scheduling, sandbox, mounts) are outdated once a container has started.
        begun = bool(status) and waiting.get("reason") not in _NOT_BEGUN
        related = [*([] if begun else self._about(own, "")), *self._about(own, container)]
        events = [each for each in related if each.get("reason") not in (*ROUTINE, "BackOff", LOG_EVENT)]
        event = str(events[-1].get("message", "")) if events else ""
        pending = "" if begun else str(condition(pod, "PodScheduled").get("message", ""))
        log = self.cluster.logs.get((own, container), "") or self.log_event(own, container)
        candidates = [informative, log, str(ended), event, pending, str(waiting.get("message", ""))]
        found = [last_line(text) for text in candidates if text.strip()]
        reasons = [str(each.get("reason", "")) for each in events[-1:]]
        return (found[0] if found else ""), "\n".join([*candidates, *reasons])

    def policy_error(self) -> tuple[str, str] | None:
        """Reason and message of a ClusterPolicy that the operator cannot apply; None if the operator can apply all."""
        for policy in self.cluster.policies:
            error = condition(policy, "Error")
            if error.get("status") == "True" and error.get("reason", "") not in _OPERANDS_WAIT:
                return str(error.get("reason", "")), str(error.get("message", ""))
        return None

    def driver_error(self) -> tuple[str, str, str] | None:
        """Name, reason and message of an NVIDIADriver that the operator cannot apply; None if there is no such
        NVIDIADriver.
        """
        for driver in self.cluster.drivers:
            error = condition(driver, "Error")
            if error.get("status") == "True" and error.get("reason", "") not in _OPERANDS_WAIT:
                return name(driver), str(error.get("reason", "")), str(error.get("message", ""))
        return None

    def is_claimed(self, node: Json) -> bool:
        """True where an NVIDIADriver, or a ClusterPolicy that installs a driver, selects the node."""
        for policy in self.cluster.policies:
            spec: Json = at(policy, "spec.driver", {})
            if spec.get("enabled", True) and not spec.get("useNvidiaDriverCRD", False):
                return True
        selectors = [{"nodeSelector": at(driver, "spec.nodeSelector", {})} for driver in self.cluster.drivers]
        return any(unselected(selector, node) is None for selector in selectors)

    def deployment(self, *ends: str) -> Json | None:
        """Deployment whose name ends with one of the texts in `ends`; None if there is no such Deployment."""
        return next((each for each in self.cluster.deployments if name(each).endswith(ends)), None)

    def pod_of_deployment(self, deployment: Json) -> Json | None:
        """Newest pod of a Deployment."""
        key = name(deployment)
        if key not in self._newest:
            self._newest[key] = self._newest_pod(at(deployment, "spec.selector.matchLabels", {}))
        return self._newest[key]

    def _newest_pod(self, wanted: Mapping[str, str]) -> Json | None:
        pods = [pod for pod in self.cluster.pods if wanted and wanted.items() <= labels(pod).items()]
        return max(pods, key=_newest_last) if pods else None


def is_available(deployment: Json) -> bool:
    return int(at(deployment, "status.availableReplicas", 0)) > 0


def last_line(text: str) -> str:
    lines: Sequence[str] = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[-1] if lines else ""


def passed(pod: Json | None, container: str) -> bool:
    """True where an init container of the pod has succeeded."""
    return pod is not None and at(_init_status(pod, container), "state.terminated.exitCode") == 0


def saw_driver_after(other: Json | None, pod: Json) -> bool:
    """True where the Pod `other` found a driver on the host after `pod` had started to look for one."""
    if other is None or not passed(other, "driver-validation"):
        return False
    found = str(at(_init_status(other, "driver-validation"), "state.terminated.finishedAt", ""))
    present = _init_status(pod, "driver-validation")
    began = at(present, "state.running.startedAt") or at(present, "lastState.terminated.startedAt") or ""
    return bool(began) and found >= str(began)


def _init_status(pod: Json, container: str) -> Json:
    statuses: Iterable[Json] = at(pod, "status.initContainerStatuses", [])
    nothing: Json = {}
    return next((each for each in statuses if each["name"] == container), nothing)


def _container_of(event: Json) -> str:
    """Name of the container that an event is about, from a field such as `spec.initContainers{driver-validation}`."""
    return str(at(event, "involvedObject.fieldPath", "")).partition("{")[2].rstrip("}")


def _newest_last(pod: Json) -> tuple[bool, str]:
    return not at(pod, "metadata.deletionTimestamp"), str(at(pod, "metadata.creationTimestamp", ""))
