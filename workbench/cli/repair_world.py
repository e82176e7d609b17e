"""Interfaces that `node replace` uses: the cluster, Azure, Prometheus, acceptance, and the evidence about a node."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

from workbench.cli.console import err

if TYPE_CHECKING:
    from physical_ai.catalog.acceptance import AcceptanceLevel
    from physical_ai.readiness import Get
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Settings
    from workbench.cli.prometheus_signs import Signals
    from workbench.health.evidence.node_evidence import NodeEvidence
    from workbench.health.replacement.machines import Machines
    from workbench.health.replacement.record import Record
    from workbench.health.replacement.world import Standing, World

LEAST_HOLD = 20.0
"""Minimum, in real seconds, of `World.hold` for a simulated cluster. The time for a real cluster could be too short
after it is scaled to the simulator's clock.
"""


@dataclass(frozen=True)
class RepairSources:
    """Stack, cluster and Prometheus that the command line names for a repair."""

    stack: str
    settings: Settings
    kubeconfig: Path | None
    prometheus: str | None
    access: Send

    def get(self, path: str, parameters: Mapping[str, str]) -> Any:
        return self.access("GET", path, parameters)

    def signals(self) -> Signals:
        from workbench.cli.prometheus_signs import read_signals

        return read_signals(self.stack, self.kubeconfig, self.prometheus)

    def evidence(self, node: str, *, pending: bool = False, since: datetime | None = None) -> NodeEvidence:
        """Evidence about a node.

        Args:
            pending: True to include alerts that are pending and do not fire yet.
            since: Time before which events are left out; None for all.
        """
        return _evidence(self, node, self.signals(), pending=pending, since=since)

    def gather(self, node: str) -> Mapping[str, Any]:
        from workbench.health.evidence.markdown import document
        from workbench.health.evidence.report import NotReportable, body

        evidence = self.evidence(node)
        try:
            return {**document(evidence), "report": body(evidence)}
        except NotReportable as problem:
            return {**document(evidence), "report": None, "reportProblem": str(problem)}

    def standing(self, record: Record) -> Standing:
        """Evidence of faults that the repaired node has now. Signs from before the restart or deletion of its machine
        are left out.
        """
        from workbench.health.evidence.standing import SETTLED, standing_of

        signals = self.signals()
        evidence = _evidence(self, record.new_node, signals, pending=True, since=record.removed)
        settled = SETTLED if self.kubeconfig else SETTLED * _model_speed()
        read = signals.alerts is not None and bool(signals.reported)
        return standing_of(evidence, record.offered, signals.reported if read else None, settled)

    def accept(self, node: str, level: AcceptanceLevel) -> str:
        """Runs acceptance on a node. Returns the reason why the node does not pass the level; empty if it passes."""
        from physical_ai.kubernetes.objects import name
        from physical_ai.readiness.objects import pool_of
        from physical_ai.settings.facts.gpu import amd_pools, nvidia_pools
        from workbench.health.acceptance.choosing import NoNodes, choose
        from workbench.health.acceptance.jobs import Stopped
        from workbench.health.acceptance.running import Acceptance

        nodes = self.get("/api/v1/nodes", {})["items"]
        amd = amd_pools(self.settings)
        if any(pool_of(each) in amd for each in nodes if name(each) == node):
            err.print(
                f"{node}: acceptance has no checks for AMD's GPUs; its gates and alerts count alone", markup=False
            )
            return ""
        try:
            targets = choose(nodes, list(nvidia_pools(self.settings)), pool=None, node=node, new=False)
            (result,) = Acceptance(self.access, self.settings, level, _progress).run(targets)
        except (NoNodes, Stopped) as problem:
            return str(problem) or "the acceptance was interrupted"
        bad = [f"{each.check}: {each.message}" for each in result.checks if each.verdict not in ("passed", "skipped")]
        return "" if result.passed else "; ".join(bad) or "no check ran"


def repair_world(sources: RepairSources, *, report: bool) -> World:
    """The interfaces that a repair uses. A login to Azure is needed only if the machines are in Azure."""
    from physical_ai.readiness import expected_pools
    from physical_ai.settings.facts.pools import gpus_per_node
    from workbench.health.replacement.cluster import RepairCluster
    from workbench.health.replacement.world import World

    machines, send = _azure(sources)
    hold = World.hold if sources.kubeconfig else max(World.hold * _model_speed(), timedelta(seconds=LEAST_HOLD))
    return World(
        cluster=RepairCluster(sources.access),
        machines=machines,
        expected={each.pool: each.resources for each in expected_pools(sources.settings)},
        # The CUDA program of the level `quick` runs on one GPU.
        least={name: "quick" if gpus_per_node(pool) < 2 else "full" for name, pool in sources.settings.pools.items()},
        gather=sources.gather,
        report=send if report else None,
        accept=sources.accept,
        standing=sources.standing,
        now=lambda: datetime.now(UTC),
        hold=hold,
    )


def _azure(sources: RepairSources) -> tuple[Machines | None, Any]:
    """Client for the cluster's machines in Azure, and function that sends a report about a machine. Both are None if no
    machine is in Azure.
    """
    from physical_ai.kubernetes.objects import at
    from physical_ai.readiness import expected_pools
    from physical_ai.readiness.expected import is_existing
    from physical_ai.settings.facts.naming import Names
    from workbench.cli.azure_access import azure_arm
    from workbench.health.evidence.report import send, subscription_of
    from workbench.health.replacement.machines import Machines, machine_id

    if is_existing(expected_pools(sources.settings)):  # AKS may manage it, but no setting names its resource group
        return None, None
    providers = [str(at(each, "spec.providerID", "")) for each in sources.get("/api/v1/nodes", {})["items"]]
    of_azure = [each for each in providers if machine_id(each)]
    if not of_azure:
        return None, None
    arm, names = azure_arm(sources.stack, real=sources.kubeconfig is not None), Names(sources.settings.stack)
    group = f"/subscriptions/{subscription_of(of_azure[0])}/resourceGroups/{names.resource_group}"

    def send_report(record: Record, evidence: Mapping[str, Any]) -> str:
        if not evidence.get("report") or evidence.get("advice") == "none":
            err.print(f"report: none is sent: {evidence.get('reportProblem') or 'no fault of the machine is known'}")
            return ""
        name = f"physai-{record.name}"[:90]
        send(arm, subscription_of(record.provider_id), name, evidence["report"])
        return name

    return Machines(arm, f"{group}/providers/Microsoft.ContainerService/managedClusters/{names.cluster}"), send_report


def _evidence(
    sources: RepairSources, node: str, signals: Signals, *, pending: bool, since: datetime | None
) -> NodeEvidence:
    from physical_ai.readiness import expected_pools
    from physical_ai.readiness.expected import is_existing
    from workbench.cli.node_evidence import closed_gates
    from workbench.health.evidence.read import read_node_evidence

    get: Get = sources.get
    alerts, seen = signals.of(node)
    if pending:
        alerts = [*alerts, *(each for each in signals.pending if ("node", node) in each.about((node,)))]
    expected = expected_pools(sources.settings)
    gates, refused = closed_gates(get, expected)
    return read_node_evidence(
        get,
        node,
        alerts,
        # Xids of the last day may come from the machine before its repair.
        seen if since is None else (),
        gates=gates,
        stack=sources.stack,
        existing=is_existing(expected),
        unread=(*signals.not_read(node), *refused),
        since=since,
    )


def _progress(node: str, check: str, doing: str) -> None:
    err.print(f"{node} {check}: {doing}", markup=False, style="dim")


def _model_speed() -> float:
    """Real duration of one simulated minute, in minutes."""
    from simulator.clock import seconds_per_model_minute

    return seconds_per_model_minute() / 60
