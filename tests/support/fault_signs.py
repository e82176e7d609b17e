"""Signs of each injectable fault in a cluster, as plain objects, and the answers of each command about it.

The objects are made as the simulator makes them; the alerts are those that the fault's data names. A deep test gives
the commands the same task in a simulated cluster with a real Prometheus (tests/simulator/test_telemetry.py).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from parts.nvsentinel.names import GPU_MONITOR, SYSLOG_MONITOR
from physical_ai.readiness.model import Report
from physical_ai.readiness.nodes.operands import failing
from physical_ai.readiness.nodes.signs import Alert, seen_in, unusual
from physical_ai.readiness.objects import is_being_removed
from physical_ai.readiness.workloads import Explanation, Workloads, doctor, explain
from physical_ai.readiness.workloads.gate_fixes import with_findings
from simulator.faults import Fault, Injected, faults, node_faults
from simulator.faults.record import ANNOTATION, annotation
from simulator.nvsentinel.events import conditions, failures
from tests.support.readiness_objects import NODE, Situation
from tests.support.workload_objects import declared_by_name
from workbench.health.evidence.node_evidence import NodeEvidence

POOL, STACK = "h100gpu", "dev-westus2"
PROVIDER = (
    "azure:///subscriptions/s/resourceGroups/mc/providers/Microsoft.Compute/virtualMachineScaleSets/v/virtualMachines/0"
)
ROLES = {
    "nvidia-driver-ctr": "driver",
    "nvidia-device-plugin": "device-plugin",
    "nvidia-container-toolkit-ctr": "toolkit",
}
"""Role of an operand by the container that a fault breaks. Other containers keep no gate closed."""
XID_ALERTS = {"GPUXidNodeFault", "GPUXidJobError", "GPUXidInformation"}


def pool_source(names: Sequence[str]) -> str | None:
    """Driver source of a node that can have all of these faults; None if no node can."""
    sources = {"operator", "grid"}
    for name in names:
        sources &= set(faults()[name].drivers) or sources
    return "operator" if "operator" in sources else next(iter(sources), None)


@dataclass(frozen=True)
class Seen:
    """Cluster whose one GPU node has faults, and the answers of the commands about it."""

    given: Workloads

    @property
    def node(self) -> Mapping[str, Any]:
        return self.given.nodes[0]

    @property
    def red(self) -> set[str]:
        """Every sign of a problem: closed gates, bad conditions and alerts."""
        gates = {f"gate {gate.gate}" for report in self.given.reports for gate in report.closed}
        bad = {f"condition {each['type']}" for each in unusual(dict(self.node)) if each["type"] != "Ready"}
        if any("gate node" in each or "gate driver" in each or "gate rollout" in each for each in gates):
            bad -= {"condition GridDriverReady"}  # what the gate reads
        return gates | bad | {f"alert {each.name}" for each in self.given.alerts or ()}

    def why(self, subject: str = NODE) -> list[Explanation]:
        return explain(subject, self.given)[1]

    @property
    def doctor(self) -> list[Explanation]:
        return [each.first for each in doctor(self.given)]

    @property
    def gates(self) -> list[tuple[str, str]]:
        """Cause and fix of each closed gate, as `physai gates` prints them."""
        return [
            (gate.cause, gate.fix) for report in with_findings(self.given.reports, self.given) for gate in report.closed
        ]

    @property
    def evidence(self) -> NodeEvidence:
        closed = [gate for report in self.given.reports for gate in report.closed]
        return NodeEvidence(
            name=NODE,
            machine=None,
            node=dict(self.node),
            acceptance=None,
            alerts=list(self.given.alerts or ()),
            seen=seen_in(self.given.alerts or (), dict(self.node), ()),
            conditions=(),
            events=(),
            work=(),
            repairs=(),
            now="2026-11-27T10:00:00Z",
            gate=closed[0] if closed else None,
            operands=failing(self.given.pods),
            stack=STACK,
        )


def with_faults(*names: str) -> Seen:
    """Cluster whose node has these faults; without a name, a cluster in which nothing is wrong."""
    source = pool_source(names)
    assert source is not None, f"no node can have {names}"
    rows = [faults()[name] for name in names]
    situation = Situation().grid() if source == "grid" else Situation()
    situation.node["spec"]["providerID"] = PROVIDER
    if source == "grid":
        situation.node["status"]["conditions"].append({"type": "GridDriverReady", "status": "True"})
    for row in sorted(rows, key=lambda each: bool(each.effects.broken) or each.effects.driver_lost):
        _apply(row, situation)
    situation.work = []
    injected = [Injected(name, 0, 0.0) for name in names]
    if text := annotation(injected):
        situation.node["metadata"]["annotations"] = {ANNOTATION: text}
    monitors = [SYSLOG_MONITOR] if source == "grid" else [GPU_MONITOR, SYSLOG_MONITOR]
    failing = failures(NODE, node_faults(situation.node), monitors, 1)
    situation.node["status"]["conditions"] += [
        {"type": kind, "status": status, "reason": reason, "message": message}
        for kind, (status, reason, message) in conditions(["GpuAllWatch"], failing).items()
    ]
    reports: tuple[Report, ...] = () if is_being_removed(situation.node) else (situation.report(),)
    alerts = [alert for row in rows for alert in _alerts(row)]
    pods = [_crashing(name, text) for row in rows for name, text in row.effects.broken.items() if name not in ROLES]
    if any(row.effects.driver_lost for row in rows):
        pods.append(_crashing("gpu-feature-discovery", "error creating NVML labeler: failed to initialize NVML"))
    pools = [declared_by_name()[POOL]]
    return Seen(Workloads([situation.node], pods, pools=pools, reports=reports, alerts=alerts, stack=STACK))


def _crashing(daemonset: str, message: str) -> dict[str, Any]:
    """Pod of the GPU stack that fails, and that no gate waits for."""
    status = {
        "name": daemonset,
        "state": {"waiting": {"reason": "CrashLoopBackOff"}},
        "lastState": {"terminated": {"exitCode": 1, "message": message}},
    }
    owner = {"kind": "DaemonSet", "name": daemonset}
    return {
        "metadata": {"name": f"{daemonset}-x", "namespace": "gpu-operator", "ownerReferences": [owner]},
        "spec": {"nodeName": NODE, "containers": [{"name": daemonset}]},
        "status": {"phase": "Running", "containerStatuses": [status]},
    }


def _apply(row: Fault, situation: Situation) -> None:
    effects, status = row.effects, situation.node["status"]
    if effects.unhealthy and "nvidia.com/gpu" in status["allocatable"]:
        situation.gpus({"nvidia.com/gpu": 0}, {"nvidia.com/gpu": 1})
    for container, message in effects.broken.items():
        if role := ROLES.get(container):
            situation.fails(role, message)
    if effects.driver_lost:
        situation.fails("device-plugin", "failed to initialize NVML: Driver Not Loaded")
    if effects.not_ready:
        situation.not_ready(f"container runtime is down: {effects.not_ready}")
    if effects.taint:
        situation.node["spec"]["taints"].append(dict(effects.taint))
    if effects.unlicensed:
        others = [each for each in status["conditions"] if each["type"] != "GridDriverReady"]
        said = "the vGPU has no licence yet; without one, CUDA slows down and fails"
        failed = {"type": "GridDriverReady", "status": "False", "reason": "LoadFailed", "message": said}
        status["conditions"] = [*others, failed]


def _alerts(row: Fault) -> list[Alert]:
    found: list[Alert] = []
    for name in row.alerts:
        labels = {"node": NODE}
        if row.where == "gpu" and name not in ("GPUAllocatableBelowCapacity", "GPUNodeMissingGPUs"):
            labels |= {"gpu": "0", "UUID": "GPU-0"}
        if name in XID_ALERTS:
            labels["xid"] = str(row.effects.xid)
        if name == "GPUAllocatedButIdle":
            labels |= {"exported_namespace": "default", "exported_pod": "idle-job"}
        found.append(Alert(name, labels, f"summary of {name}"))
    return found
