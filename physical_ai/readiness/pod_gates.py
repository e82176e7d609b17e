"""Gates of a node that are closed because of a Pod of the GPU stack: the Pod is missing, fails, or is not ready. Pure
functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from physical_ai.catalog.node_causes import with_remedies
from physical_ai.kubernetes.objects import at, name
from physical_ai.readiness.causes import cause_of
from physical_ai.readiness.evidence import TITLES, Role, is_available
from physical_ai.readiness.gates_of_node import GatesOfNode
from physical_ai.readiness.model import ClosedGate
from physical_ai.readiness.phase import active_container, is_running, phase, unfinished

_TOLERATIONS: Mapping[Role, str] = {
    "grid-agent": "the program: pools.<pool>.taints has every taint of the pool",
    "nfd": "the chart's node-feature-discovery.worker.tolerations",
    "driver": "the NVIDIADriver's spec.tolerations (it inherits none)",
}
_OPERANDS_TOLERATIONS = "the ClusterPolicy's spec.daemonsets.tolerations (the chart's daemonsets.tolerations)"
UNKNOWN_FAILURE = (
    "This project does not know the message. kubectl delete pod --namespace {namespace} {pod} starts it again; if that"
    " ends with the same message, {reboot}"
)


class PodGates(GatesOfNode):
    """Builder of the closed gates that depend on Pods of one node, and on the GPU Operator that creates them."""

    def pod(self, gate: str, role: Role) -> ClosedGate | None:
        """Closed gate, with the reason, if the node's Pod of the operand `role` is missing, fails or is not ready; None
        if the Pod runs.
        """
        pod = self.evidence.pod(self.name, role)
        if pod is None:
            return self.missing(gate, role)
        if is_running(pod):
            return None
        message, more = self.evidence.messages(pod)
        status = phase(pod)
        if (matched := cause_of(gate, f"{status} in {active_container(pod)}\n{more}")) is not None:
            facts = {"holders": ", ".join(self.holders[:3]) or "they were not read", **matched[1]}
            return self.closed(gate, self._of_case(matched[0].id), pod=pod, message=message, **facts)
        if role == "nfd":
            return self.closed(gate, "nfd-worker-down", pod=pod, message=message)
        container = unfinished(pod)[0]
        where = f", in container {container}" if container else ""
        failing = "fails" if "BackOff" in status or "Error" in status else "is not ready"
        found = self.wait(gate, f"The node's {TITLES[role]} {failing}{where}.", pod=pod, message=message)
        fix = with_remedies(UNKNOWN_FAILURE, azure=self.azure).format(**self.facts(pod))
        return replace(found, fix=fix) if failing == "fails" else found

    def _of_case(self, cause: str) -> str:
        """Id of a more specific variant of `cause`, if there is one for the node; otherwise `cause`.

        `driver-gone` becomes `driver-gone-aks` where AKS installed the driver, since only a new node image brings the
        driver back. `driver-in-use` becomes `driver-stuck` where no Pod uses the driver.
        """
        if cause == "driver-gone" and self.expected.driver_source == "aks":
            return "driver-gone-aks"
        unused = self.evidence.cluster.work is not None and not self.holders
        return "driver-stuck" if cause == "driver-in-use" and unused else cause

    def missing(self, gate: str, role: Role) -> ClosedGate:
        blocked = self.evidence.blocking_daemonset(role, self.node)
        if blocked is not None:
            daemonset, taints, label = blocked
            if label is not None:
                key, wanted, actual = label
                value = f"it is {actual}" if actual is not None else "it is missing"
                return self.closed(gate, "unselected", daemonset=name(daemonset), label=key, wanted=wanted, value=value)
            where = _TOLERATIONS.get(role, _OPERANDS_TOLERATIONS)
            return self.closed(gate, "untolerated-taint", daemonset=name(daemonset), taint=taints, tolerations=where)
        if not self.evidence.daemonsets[role]:
            if closed := self.policy_error(gate):
                return closed
            if (cause := self.operator_fault()) is not None:
                return self.operator_closed(gate, cause)
            return self.wait(gate, f"The GPU Operator has not created a DaemonSet for the {TITLES[role]} yet.")
        return self.wait(gate, f"The node has no pod of the {TITLES[role]} yet.")

    def operator_closed(self, gate: str, cause: str) -> ClosedGate:
        operator = self.evidence.deployment("gpu-operator")
        return self.closed(gate, cause, pod=self.evidence.pod_of_deployment(operator) if operator else None)

    def operator_fault(self) -> str | None:
        """Id of the cause why the GPU Operator prepares no node, such as a stopped Deployment; None if it works."""
        operator, policies = self.evidence.deployment("gpu-operator"), self.evidence.cluster.policies
        if operator is None:
            return "operator-absent"
        if at(operator, "spec.replicas", 1) == 0:
            return "operator-scaled-down"
        if not is_available(operator):
            return "operator-down"
        if not policies:
            return "policy-absent"
        # The operator reconciles one ClusterPolicy, and writes no status into others.
        unseen = [policy for policy in policies if not at(policy, "status.state", "")]
        return "policy-ignored" if unseen and len(policies) > 1 else None

    def policy_error(self, gate: str) -> ClosedGate | None:
        if (error := self.evidence.policy_error()) is None:
            return None
        reason, message = error
        return self.closed(gate, "policy-error", message=message or reason)
