"""Gates of a node whose GPUs are missing, in order, and why the first closed gate is closed. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from physical_ai.catalog.own_names import GRID_DRIVER_READY
from physical_ai.kubernetes.objects import at, condition, is_ready, name
from physical_ai.readiness.causes import cause_of, causes
from physical_ai.readiness.evidence import Role, is_available, passed, saw_driver_after
from physical_ai.readiness.fabric import fabric_cause, listed
from physical_ai.readiness.model import ClosedGate, Json
from physical_ai.readiness.objects import allocatable, other_system
from physical_ai.readiness.phase import active_container, is_running
from physical_ai.readiness.pod_gates import PodGates

NFD_LABELS = tuple(
    f"feature.node.kubernetes.io/{device}.present" for device in ("pci-10de", "pci-0302_10de", "pci-0300_10de")
)
PRESENT, DEPLOY = "nvidia.com/gpu.present", "nvidia.com/gpu.deploy."
CONFIG, WORKLOAD = "nvidia.com/device-plugin.config", "nvidia.com/gpu.workload.config"
MIG_CONFIG, MIG_STATE = "nvidia.com/mig.config", "nvidia.com/mig.config.state"
MIG_STRATEGY = "nvidia.com/mig.strategy"
REPLICAS = "nvidia.com/gpu.replicas"


def grid_cause(said: str) -> str:
    """Id of the cause why the GRID agent does not report its driver as ready, derived from the agent's message."""
    cause_and_facts = cause_of("rollout", said)
    return cause_and_facts[0].id if cause_and_facts is not None else "grid-driver"


class NodeGates(PodGates):
    """Gates of one node whose GPUs are missing."""

    operands: tuple[str, ...] = ("container-toolkit", "operator-validator", "device-plugin")

    def first_closed(self) -> ClosedGate:
        """The first closed gate, in the order in which gates open."""
        gates: Sequence[Callable[[], ClosedGate | None]] = (
            self.ready,
            self.grid_driver,  # the agent's labels keep operands off the node, which would look like the cause
            self.nfd_labels,
            self.operator_labels,
            self.deploy_labels,
            self.driver,
            self.toolkit,
            self.validator,
            self.device_plugin,
        )
        return next((closed for gate in gates if (closed := gate()) is not None), None) or self.offered()

    def ready(self) -> ClosedGate | None:
        if is_ready(self.node):
            return None
        ready = condition(self.node, "Ready")
        message = str(ready.get("message", ""))
        toolkit = self.evidence.pod(self.name, "toolkit")
        said, more = self.evidence.messages(toolkit) if toolkit else ("", "")
        matched = cause_of("node", f"{ready.get('reason', '')}\n{message}\n{more}")
        if matched is not None:
            # If the container toolkit is the cause, its own message is more specific than the kubelet's.
            pattern = matched[0].pattern
            if toolkit is not None and pattern is not None and pattern.search(more):
                return self.closed("node", matched[0].id, message=said, pod=toolkit)
            return self.closed("node", matched[0].id, message=message)
        return self.wait("node", "The node is not Ready.", message=message)

    def grid_driver(self) -> ClosedGate | None:
        """Closed driver gate if the GRID agent reports that the driver is not ready. None if the agent reports the
        driver as ready, or if the pool has another driver source.

        Without a report on the node, the gate is closed if the cluster has the agent and its Pod does not run on the
        node.
        """
        if self.expected.driver_source != "grid":
            return None
        reported = condition(self.node, GRID_DRIVER_READY)
        if reported.get("status") == "True":
            return None
        if reported:
            agent, message = self.evidence.pod(self.name, "grid-agent"), str(reported.get("message", ""))
            reason = str(reported.get("reason", ""))
            cause = grid_cause(f"{reason} {message}")
            # The cause's sentence also uses `message`.
            known = causes()[cause].describe({**self.facts(agent), "value": reason, "message": message})
            return replace(self.closed("driver", cause, pod=agent, message=message, value=reason), reason=known[0])
        return self.pod("driver", "grid-agent") if self.evidence.daemonsets["grid-agent"] else None

    def nfd_labels(self) -> ClosedGate | None:
        if any(self.labels.get(label) == "true" for label in NFD_LABELS):
            return None
        if not self.evidence.daemonsets["nfd"]:
            return self.closed("nfd", "nfd-absent")
        if closed := self.pod("nfd", "nfd"):
            return closed
        master = self.evidence.deployment("node-feature-discovery-master")
        if master is not None and at(master, "spec.replicas", 1) == 0:
            return self.closed("nfd", "nfd-master-scaled-down", daemonset=name(master))
        if master is not None and not is_available(master):
            pod = self.evidence.pod_of_deployment(master)
            return self.closed("nfd", "nfd-master-down", pod=pod, daemonset=name(master))
        return self.wait("nfd", "NFD's worker runs on the node and has not labeled it yet; it scans once a minute.")

    def operator_labels(self) -> ClosedGate | None:
        if self.labels.get(PRESENT) == "true":
            return None
        if (cause := self.operator_fault()) is not None:
            return self.operator_closed("labels", cause)
        if closed := self.policy_error("labels"):
            return closed
        return self.wait("labels", "The GPU Operator has not labeled the node yet.")

    def deploy_labels(self) -> ClosedGate | None:
        gate = "deploy-labels"
        if self.labels.get(f"{DEPLOY}operands") == "false":
            return self.closed(gate, "operands-off")
        if (workload := self.labels.get(WORKLOAD, "container")) != "container":
            return self.closed(gate, "workload-config", value=workload)
        operands = (*(["driver"] if self.expected.driver_source == "operator" else []), *self.operands)
        for label in (f"{DEPLOY}{operand}" for operand in operands):
            value = self.labels.get(label, "")
            if value == "true" or (label.endswith(".driver") and value == "pre-installed"):
                continue
            if value == "":
                return self.policy_error(gate) or self.closed(gate, "label-missing", label=label)
            if value.startswith("paused-for"):
                return self.mig_failed(gate) or self.closed(gate, "label-paused", label=label, value=value)
            return self.closed(gate, "label-false", label=label, value=value)
        return None

    def driver(self) -> ClosedGate | None:
        gate, pod = "driver", self.evidence.pod(self.name, "driver")
        if self.expected.driver_source != "operator":
            # Where the host's driver works, the operator removes its own; one that runs or fails does harm.
            stray = pod is not None and not passed(self.evidence.pod(self.name, "toolkit"), "driver-validation")
            return self.closed(gate, "two-drivers", pod=pod, source=self.expected.driver_source) if stray else None
        if self.labels.get(f"{DEPLOY}driver") == "pre-installed":
            return None
        if pod is None and (error := self.evidence.driver_error()) is not None:
            driver, reason, message = error
            cause = "driver-conflict" if reason == "ConflictingNodeSelector" else "driver-error"
            return self.closed(gate, cause, value=driver, message=message or reason)
        if pod is None and not self.evidence.is_claimed(self.node):
            return self.closed(gate, "driver-unclaimed")
        if pod is not None and not is_running(pod) and (system := other_system(pod, self.node)):
            return self.closed(gate, "driver-wrong-os", pod=pod, value=system)
        return self.pod(gate, "driver")

    def toolkit(self) -> ClosedGate | None:
        pod = self.evidence.pod(self.name, "toolkit")
        if pod is not None and not is_running(pod) and active_container(pod) == "driver-validation":
            return self.driver_validation("driver-validation", pod)
        return self.pod("toolkit", "toolkit")

    def validator(self) -> ClosedGate | None:
        pod = self.evidence.pod(self.name, "validator")
        if pod is None or is_running(pod):
            return self.pod("validator", "validator")
        container = active_container(pod)
        if container == "driver-validation":
            return self.driver_validation("validator", pod)
        if container == "plugin-validation":
            return None  # the Pod waits for the device plugin, whose gate comes next
        return self.pod("validator", "validator")

    def device_plugin(self) -> ClosedGate | None:
        return self.mig_failed("device-plugin") or self.pod("device-plugin", "device-plugin")

    def offered(self) -> ClosedGate:
        """Closed gate of a node whose Pods of the GPU stack run, but that does not offer the expected resources."""
        gate, given = "allocatable", allocatable(self.node)
        if self.expected.needs_mig_ids and self.labels.get(MIG_STRATEGY) == "none":
            return self.closed(gate, "mig-none")
        total: Mapping[str, str] = at(self.node, "status.capacity", {})
        for resource in self.expected.resources:
            missing = int(total.get(resource, 0)) - given.get(resource, 0)
            if missing > 0:
                return self.closed(gate, self.unhealthy(resource), value=str(missing), wanted=str(total[resource]))
        if found := fabric_cause(self.expected, self.node):
            return self.closed("fabric", found[0], pod=None, message="", **found[1])
        if given:
            key = self.labels.get(CONFIG, "not set")
            return self.closed(
                gate, self.other(given), value=listed(given), key=key, wanted=listed(self.expected.resources)
            )
        return self.wait(gate, "The device plugin runs, and the kubelet has not reported its GPUs yet.")

    def other(self, given: Mapping[str, int]) -> str:
        """Id of the cause why the node offers other GPU resources than expected, or another number of them.

        If the node's label for the device-plugin configuration is wrong, the cause is always this label.
        """
        if self.labels.get(CONFIG) != self.expected.pool:
            return "other-resource"
        wanted = self.expected.resources
        fewer = given.keys() == wanted.keys() and all(given[key] <= count for key, count in wanted.items())
        return "gpus-missing" if fewer else "config-not-applied"

    def unhealthy(self, resource: str) -> str:
        """Id of the cause why a node offers fewer devices than it has. The devices are whole GPUs, shares of GPUs or
        MIG instances, and each kind has its own cause.
        """
        if self.labels.get(REPLICAS, "1") != "1":
            return "unhealthy-share"
        return "unhealthy-instance" if self.expected.needs_mig_ids or "/mig-" in resource else "unhealthy"

    def driver_validation(self, gate: str, pod: Json) -> ClosedGate:
        message = self.evidence.messages(pod)[0]
        if self.expected.driver_source == "operator":
            reason = "The operator's driver runs, and the validator has not detected it yet."
            return self.wait(gate, reason, pod=pod, message=message)
        roles: Sequence[Role] = ("toolkit", "validator")
        late = any(saw_driver_after(self.evidence.pod(self.name, role), pod) for role in roles)
        return self.closed(gate, "host-driver-late" if late else "host-driver-absent", pod=pod, message=message)

    def mig_failed(self, gate: str) -> ClosedGate | None:
        if self.labels.get(MIG_STATE) != "failed":
            return None
        return self.closed(gate, "mig-failed", value=self.labels.get(MIG_CONFIG, "?"))
