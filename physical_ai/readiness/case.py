"""One node whose GPUs are not there: its gates in order, and why the first shut one is shut. Pure."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence

from physical_ai.readiness.causes import cause_of, causes
from physical_ai.readiness.evidence import GRID_DRIVER_READY, Evidence, Role, is_available, passed, saw_driver_after
from physical_ai.readiness.model import Expected, Json, Shut
from physical_ai.readiness.objects import allocatable, at, condition, is_ready, labels, name, other_system
from physical_ai.readiness.phase import at_work, is_running, phase, unfinished

NFD_LABELS = tuple(
    f"feature.node.kubernetes.io/{device}.present" for device in ("pci-10de", "pci-0302_10de", "pci-0300_10de")
)
PRESENT = "nvidia.com/gpu.present"
DEPLOY = "nvidia.com/gpu.deploy."
CONFIG = "nvidia.com/device-plugin.config"
WORKLOAD = "nvidia.com/gpu.workload.config"
MIG_CONFIG, MIG_STATE, MIG_STRATEGY = (
    "nvidia.com/mig.config",
    "nvidia.com/mig.config.state",
    "nvidia.com/mig.strategy",
)
_TOLERATIONS: Mapping[Role, str] = {
    "grid-agent": "the program: pools.<pool>.taints has every taint of the pool",
    "nfd": "the chart's node-feature-discovery.worker.tolerations",
    "driver": "the NVIDIADriver's spec.tolerations (it inherits none)",
}
_OPERANDS_TOLERATIONS = "the ClusterPolicy's spec.daemonsets.tolerations (the chart's daemonsets.tolerations)"
_TITLES: Mapping[Role, str] = {
    "grid-agent": "GRID driver agent",
    "nfd": "NFD's worker",
    "driver": "driver",
    "toolkit": "container toolkit",
    "validator": "validator",
    "device-plugin": "device plugin",
}


class Case:
    """One node whose GPUs are not there."""

    def __init__(self, expected: Expected, node: Json, evidence: Evidence) -> None:
        self.expected, self.node, self.evidence = expected, node, evidence
        self.name, self.labels = name(node), labels(node)
        self.namespace = evidence.cluster.namespace

    def first(self) -> Shut:
        """The first shut gate in the order of the real path."""
        gates: Sequence[Callable[[], Shut | None]] = (
            self.ready,
            self.grid_driver,  # it holds operands off by their labels, which would look like the cause
            self.found_by_nfd,
            self.taken_by_operator,
            self.deploy_labels,
            self.driver,
            self.toolkit,
            self.validator,
            self.device_plugin,
        )
        return next((shut for gate in gates if (shut := gate()) is not None), None) or self.offered()

    # The gates

    def ready(self) -> Shut | None:
        if is_ready(self.node):
            return None
        found = condition(self.node, "Ready")
        words = str(found.get("message", ""))
        toolkit = self.evidence.pod(self.name, "toolkit")
        said, more = self.evidence.words(toolkit) if toolkit else ("", "")
        matched = cause_of("node", f"{found.get('reason', '')}\n{words}\n{more}")
        if matched is not None:
            # What the toolkit says tells more than the kubelet, when it is the cause.
            its_own = toolkit is not None and matched[0].words is not None and matched[0].words.search(more)
            return self.shut("node", matched[0].id, words=said if its_own else words, pod=toolkit if its_own else None)
        return self.wait("node", "The node is not Ready.", words=words)

    def grid_driver(self) -> Shut | None:
        """What the GRID driver agent says of the node; None where the driver is proven, or somebody else's."""
        if self.expected.driver_source != "grid":
            return None
        told = condition(self.node, GRID_DRIVER_READY)
        if told.get("status") == "True":
            return None
        if told:
            agent, words = self.evidence.pod(self.name, "grid-agent"), str(told.get("message", ""))
            return self.shut("driver", "grid-driver", pod=agent, words=words, value=str(told.get("reason", "")))
        return self.pod("driver", "grid-agent") if self.evidence.daemonsets["grid-agent"] else None

    def found_by_nfd(self) -> Shut | None:
        if any(self.labels.get(label) == "true" for label in NFD_LABELS):
            return None
        if not self.evidence.daemonsets["nfd"]:
            return self.shut("nfd", "nfd-absent")
        if shut := self.pod("nfd", "nfd"):
            return shut
        master = self.evidence.deployment("node-feature-discovery-master")
        if master is not None and not is_available(master):
            pod = self.evidence.pod_of_deployment(master)
            return self.shut("nfd", "nfd-master-down", pod=pod, daemonset=name(master))
        return self.wait("nfd", "NFD's worker runs on the node and has not labelled it yet; it looks once a minute.")

    def taken_by_operator(self) -> Shut | None:
        if self.labels.get(PRESENT) == "true":
            return None
        if (cause := self.operator_fault()) is not None:
            operator = self.evidence.deployment("gpu-operator")
            return self.shut("labels", cause, pod=self.evidence.pod_of_deployment(operator) if operator else None)
        if shut := self.policy_error("labels"):
            return shut
        return self.wait("labels", "The GPU Operator has not labelled the node yet.")

    def operator_fault(self) -> str | None:
        """Id of the cause that keeps the operator from doing anything at all."""
        operator, policies = self.evidence.deployment("gpu-operator"), self.evidence.cluster.policies
        if operator is None:
            return "operator-absent"
        if not is_available(operator):
            return "operator-down"
        if not policies:
            return "policy-absent"
        ignored = all(at(policy, "status.state") == "ignored" for policy in policies)
        return "policy-ignored" if ignored else None

    def deploy_labels(self) -> Shut | None:
        gate = "deploy-labels"
        if self.labels.get(f"{DEPLOY}operands") == "false":
            return self.shut(gate, "operands-off")
        if (workload := self.labels.get(WORKLOAD, "container")) != "container":
            return self.shut(gate, "workload-config", value=workload)
        operands = ["container-toolkit", "operator-validator", "device-plugin"]
        if self.expected.driver_source == "operator":
            operands.insert(0, "driver")
        for label in (f"{DEPLOY}{operand}" for operand in operands):
            value = self.labels.get(label, "")
            if value == "true" or (label.endswith(".driver") and value == "pre-installed"):
                continue
            if value == "":
                return self.policy_error(gate) or self.shut(gate, "label-missing", label=label)
            if value.startswith("paused-for"):
                return self.mig_failed(gate) or self.shut(gate, "label-paused", label=label, value=value)
            return self.shut(gate, "label-false", label=label, value=value)
        return None

    def driver(self) -> Shut | None:
        gate, pod = "driver", self.evidence.pod(self.name, "driver")
        if self.expected.driver_source != "operator":
            # Where the host's driver works the operator's takes itself away; one that runs or fails does harm.
            stray = pod is not None and not passed(self.evidence.pod(self.name, "toolkit"), "driver-validation")
            return self.shut(gate, "two-drivers", pod=pod, source=self.expected.driver_source) if stray else None
        if self.labels.get(f"{DEPLOY}driver") == "pre-installed":
            return None
        if pod is None and (error := self.evidence.driver_error()) is not None:
            which, reason, message = error
            cause = "driver-conflict" if reason == "ConflictingNodeSelector" else "driver-error"
            return self.shut(gate, cause, value=which, words=message or reason)
        if pod is None and not self.evidence.is_claimed(self.node):
            return self.shut(gate, "driver-unclaimed")
        if pod is not None and not is_running(pod) and (system := other_system(pod, self.node)):
            return self.shut(gate, "driver-wrong-os", pod=pod, value=system)
        return self.pod(gate, "driver")

    def toolkit(self) -> Shut | None:
        pod = self.evidence.pod(self.name, "toolkit")
        if pod is not None and not is_running(pod) and at_work(pod) == "driver-validation":
            return self.driver_validation("driver-validation", pod)
        return self.pod("toolkit", "toolkit")

    def validator(self) -> Shut | None:
        pod = self.evidence.pod(self.name, "validator")
        if pod is None or is_running(pod):
            return self.pod("validator", "validator")
        container = at_work(pod)
        if container == "driver-validation":
            return self.driver_validation("validator", pod)
        if container == "plugin-validation":
            return None  # waits for the device plugin, which is the next gate
        return self.pod("validator", "validator")

    def device_plugin(self) -> Shut | None:
        return self.mig_failed("device-plugin") or self.pod("device-plugin", "device-plugin")

    def offered(self) -> Shut:
        """Everything runs, and the node's resources are not the expected ones."""
        gate, given = "allocatable", allocatable(self.node)
        if self.expected.needs_mig_ids and self.labels.get(MIG_STRATEGY) == "none":
            return self.shut(gate, "mig-none")
        total: Mapping[str, str] = at(self.node, "status.capacity", {})
        for resource, count in self.expected.resources.items():
            missing = int(total.get(resource, 0)) - given.get(resource, 0)
            if missing > 0 and int(total.get(resource, 0)) == count:
                return self.shut(gate, "unhealthy", value=str(missing))
        if given:
            offers = ", ".join(f"{count} × {resource}" for resource, count in sorted(given.items()))
            return self.shut(gate, "other-resource", value=offers, key=self.labels.get(CONFIG, "not set"))
        return self.wait(gate, "The device plugin runs, and the kubelet has not reported its GPUs yet.")

    # What they share

    def pod(self, gate: str, role: Role) -> Shut | None:
        """Why the node's pod of an operand is not there or does not run; None when it does."""
        pod = self.evidence.pod(self.name, role)
        if pod is None:
            return self.missing(gate, role)
        if is_running(pod):
            return None
        words, more = self.evidence.words(pod)
        status = phase(pod)
        if (matched := cause_of(gate, f"{status}\n{more}")) is not None:
            return self.shut(gate, matched[0].id, pod=pod, words=words, **matched[1])
        if role == "nfd":
            return self.shut(gate, "nfd-worker-down", pod=pod, words=words)
        container = unfinished(pod)[0]
        where = f", in container {container}" if container else ""
        failing = "fails" if "BackOff" in status or "Error" in status else "is not ready"
        return self.wait(gate, f"The node's {_TITLES[role]} {failing}{where}.", pod=pod, words=words)

    def missing(self, gate: str, role: Role) -> Shut:
        blocked = self.evidence.keeps_off(role, self.node)
        if blocked is not None:
            daemonset, taints, label = blocked
            if label is not None:
                key, wanted, there = label
                value = f"there it is {there}" if there is not None else "it is missing"
                return self.shut(gate, "unselected", daemonset=name(daemonset), label=key, wanted=wanted, value=value)
            where = _TOLERATIONS.get(role, _OPERANDS_TOLERATIONS)
            return self.shut(gate, "untolerated-taint", daemonset=name(daemonset), taint=taints, tolerations=where)
        if not self.evidence.daemonsets[role]:
            if shut := self.policy_error(gate):
                return shut
            return self.wait(gate, f"The GPU Operator has not made a DaemonSet for the {_TITLES[role]} yet.")
        return self.wait(gate, f"The node has no pod of the {_TITLES[role]} yet.")

    def driver_validation(self, gate: str, pod: Json) -> Shut:
        words = self.evidence.words(pod)[0]
        if self.expected.driver_source == "operator":
            reason = "The operator's driver runs, and the validator has not seen it yet."
            return self.wait(gate, reason, pod=pod, words=words)
        roles: Sequence[Role] = ("toolkit", "validator")
        late = any(saw_driver_after(self.evidence.pod(self.name, role), pod) for role in roles)
        return self.shut(gate, "host-driver-late" if late else "host-driver-absent", pod=pod, words=words)

    def mig_failed(self, gate: str) -> Shut | None:
        if self.labels.get(MIG_STATE) != "failed":
            return None
        return self.shut(gate, "mig-failed", value=self.labels.get(MIG_CONFIG, "?"))

    def policy_error(self, gate: str) -> Shut | None:
        if (error := self.evidence.policy_error()) is None:
            return None
        reason, message = error
        return self.shut(gate, "policy-error", words=message or reason)

    def shut(self, gate: str, cause: str, *, pod: Json | None = None, words: str = "", **facts: str) -> Shut:
        """A gate that is shut for a known cause; without `words` the pod's own."""
        known = causes()[cause]
        container = unfinished(pod)[0] if pod else ""
        given = {
            "node": self.name,
            "pool": self.expected.pool,
            "namespace": self.namespace,
            "pod": name(pod) if pod else "",
            "container": container,
            **facts,
        }
        reason, way_out = known.told(given)
        said = words or (self.evidence.words(pod)[0] if pod else "")
        return self._shut(gate, reason, pod, said, container, cause, way_out, opens_itself=known.waits)

    def wait(self, gate: str, reason: str, *, pod: Json | None = None, words: str = "") -> Shut:
        """A gate that has only not opened yet, as far as anybody knows."""
        return self._shut(gate, reason, pod, words, unfinished(pod)[0] if pod else "", "", "", opens_itself=True)

    def _shut(  # noqa: PLR0917 - a plain constructor
        self,
        gate: str,
        reason: str,
        pod: Json | None,
        words: str,
        container: str,
        cause: str,
        way_out: str,
        *,
        opens_itself: bool,
    ) -> Shut:
        return Shut(
            pool=self.expected.pool,
            node=self.name,
            gate=gate,
            reason=reason,
            cause=cause,
            way_out=way_out,
            pod=name(pod) if pod else "",
            container=container,
            phase=phase(pod) if pod else "",
            words=words,
            opens_itself=opens_itself,
        )
