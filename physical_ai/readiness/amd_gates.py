"""Gates of a node with AMD GPUs that does not offer its GPUs: the first closed gate, and the reason why it is closed.
Pure functions.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace

from parts.amd import names as amd
from physical_ai.catalog.vendors import AMD
from physical_ai.kubernetes.objects import at, condition, is_ready, labels, name
from physical_ai.readiness.causes import amd_cause_of, amd_causes
from physical_ai.readiness.evidence import Evidence, is_available
from physical_ai.readiness.model import ClosedGate, Cluster, Expected, Json
from physical_ai.readiness.objects import allocatable, node_of, owner, untolerated
from physical_ai.readiness.phase import is_running, phase, unfinished

DRIVER_GATE, PLUGIN_GATE = "driver", "device-plugin"
_BUILD = "-build-"
"""Text in the name of a Pod that builds a driver; the text before it is the name of the pool."""
LOADED = "kmm.node.kubernetes.io/{namespace}.{pool}.ready"
"""Label of nodes on which Kernel Module Management has loaded the driver of a DeviceConfig."""


def is_amd(expected: Expected) -> bool:
    return any(resource.startswith(AMD.domain) for resource in expected.resources)


class AmdEvidence:
    """Objects of AMD's namespace, indexed once for all nodes."""

    def __init__(self, cluster: Cluster) -> None:
        self.objects = cluster.amd
        self.messages = Evidence(replace(cluster, pods=cluster.amd.pods, events=cluster.amd.events)).messages
        self._owned: dict[tuple[str, str], list[Json]] = defaultdict(list)
        self._builds: dict[str, list[Json]] = defaultdict(list)
        for pod in cluster.amd.pods:
            self._owned[owner(pod), node_of(pod)].append(pod)
            if (pool := name(pod).partition(_BUILD)[0]) != name(pod):
                self._builds[pool].append(pod)

    def pods_of(self, daemonset: str, node: str) -> list[Json]:
        return self._owned.get((daemonset, node), [])

    def builds(self, pool: str) -> list[Json]:
        """Pods that build the driver of a pool."""
        return self._builds.get(pool, [])


class AmdGates:
    """Gates of one node with AMD GPUs."""

    def __init__(self, expected: Expected, node: Json, evidence: AmdEvidence) -> None:
        self.expected, self.node = expected, node
        self.amd, self.evidence = evidence.objects, evidence
        self.name, self.pool = name(node), expected.pool

    def first_closed(self) -> ClosedGate:
        gates: Sequence[Callable[[], ClosedGate | None]] = (self.ready, self.operator, self.config, self.driver)
        return next((closed for gate in gates if (closed := gate()) is not None), None) or self.plugin()

    def ready(self) -> ClosedGate | None:
        if is_ready(self.node):
            return None
        return self._wait(
            "node", "The node is not Ready.", message=str(condition(self.node, "Ready").get("message", ""))
        )

    def operator(self) -> ClosedGate | None:
        found = next((each for each in self.amd.deployments if name(each) == amd.CONTROLLER), None)
        if found is None:
            return self._closed(DRIVER_GATE, "amd-operator-absent")
        return None if is_available(found) else self._closed(DRIVER_GATE, "amd-operator-down")

    def config(self) -> ClosedGate | None:
        """Closed driver gate if no DeviceConfig selects the node, or if the operator refuses a DeviceConfig of the node
        because its selector overlaps the selector of another DeviceConfig. None if neither is the case.
        """
        selected = [each for each in self.amd.configs if self._selects(each)]
        if not selected:
            return self._closed(DRIVER_GATE, "amd-config-absent")
        message = next((text for each in selected if "overlapping" in (text := _message(each))), "")
        return self._closed(DRIVER_GATE, "amd-config-refused", message=message) if message else None

    def driver(self) -> ClosedGate | None:
        """Closed driver gate, with the reason from AMD's objects, if Kernel Module Management has not loaded the driver
        on the node; None if the driver is loaded.
        """
        label = LOADED.format(namespace=amd.NAMESPACE, pool=self.pool)
        if label in labels(self.node):
            return None
        message = next((text for each in self.amd.configs if self._selects(each) if (text := _message(each))), "")
        builder = next((each for each in self.amd.deployments if name(each) == amd.BUILDER), None)
        if builder is None or not is_available(builder):
            return self._closed(DRIVER_GATE, "amd-builder-down")
        builds = self.evidence.builds(self.pool)
        told = "\n".join([message, *("\n".join(self.evidence.messages(pod)) for pod in builds)])
        if (found := amd_cause_of(DRIVER_GATE, told)) is not None:
            return self._closed(DRIVER_GATE, found[0].id, pod=builds[-1] if builds else None, message=message)
        if builds and is_running(builds[-1]):
            return self._closed(DRIVER_GATE, "amd-building", pod=builds[-1])
        return self._wait(DRIVER_GATE, "The driver is not loaded on the node yet.", message=message)

    def plugin(self) -> ClosedGate:
        daemonset_name = amd.device_plugin(self.pool)
        found = next((each for each in self.amd.daemonsets if name(each) == daemonset_name), None)
        pods = self.evidence.pods_of(daemonset_name, self.name)
        if not pods:
            spec: Json = at(found or {}, "spec.template.spec", {})
            taints = untolerated(spec, self.node) if found is not None else ()
            if taints:
                return self._closed(PLUGIN_GATE, "amd-untolerated", daemonset=daemonset_name, taint=", ".join(taints))
            return self._wait(PLUGIN_GATE, "The node has no Pod of the device plugin yet.")
        pod = pods[-1]
        if unfinished(pod)[0]:
            return self._wait(PLUGIN_GATE, "The device plugin waits for the driver.", pod=pod)
        offered = allocatable(self.node).get(AMD.resource, 0)
        return self._closed("allocatable", "amd-no-devices", pod=pod, value=str(offered))

    def _selects(self, config: Json) -> bool:
        selector = at(config, "spec.selector", {})
        return bool(selector) and selector.items() <= labels(self.node).items()

    def _closed(self, gate: str, cause: str, *, pod: Json | None = None, message: str = "", **facts: str) -> ClosedGate:
        known = amd_causes()[cause]
        given = {"node": self.name, "pool": self.pool, "namespace": amd.NAMESPACE, "pod": name(pod) if pod else ""}
        given |= {"stack": self.expected.stack, "message": message, **facts}
        reason, fix = known.describe(given, azure=not self.expected.existing)
        return self._gate(gate, reason, pod, message, cause=cause, fix=fix, may_recover=known.waits)

    def _wait(self, gate: str, reason: str, *, pod: Json | None = None, message: str = "") -> ClosedGate:
        return self._gate(gate, reason, pod, message, cause="", fix="", may_recover=True)

    def _gate(
        self, gate: str, reason: str, pod: Json | None, message: str, *, cause: str, fix: str, may_recover: bool
    ) -> ClosedGate:
        return ClosedGate(
            pool=self.pool,
            node=self.name,
            gate=gate,
            reason=reason,
            cause=cause,
            fix=fix,
            pod=name(pod) if pod else "",
            container=unfinished(pod)[0] if pod else "",
            phase=phase(pod) if pod else "",
            message=message or (self.evidence.messages(pod)[0] if pod else ""),
            may_recover=may_recover,
        )


def _message(config: Json) -> str:
    """Problem that a DeviceConfig's condition Ready reports; empty if the condition reports no problem."""
    ready = condition(config, "Ready")
    return str(ready.get("message", "")) if ready.get("status") == "False" else ""
