"""Cluster and stack of an upgrade node by node, and the run of its steps."""

from __future__ import annotations

import datetime
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

from workbench.cli.console import err

if TYPE_CHECKING:
    from physical_ai.readiness.client import Send
    from physical_ai.settings import Loaded, Settings
    from workbench.health.acceptance.record import NodeResult
    from workbench.rolls.deciding import Patience, Step
    from workbench.rolls.marks import Change
    from workbench.rolls.view import View

NODES, PODS = "/api/v1/nodes", "/api/v1/pods"
PAUSE, SIMULATED_PAUSE = 15.0, 1.0
"""Seconds between two looks at a real and at a simulated cluster."""
LEAST_MINUTES = 30
"""Least minutes that an empty node has for its driver, where the stack's gate waits less."""


@dataclass(frozen=True)
class World:
    """The cluster, and the stack's settings.

    Attributes:
        settings: Settings that the cluster was deployed with, by which nodes are judged.
        wanted: The stack's files as they are now, with the additions of the command line.
    """

    send: Send
    settings: Settings
    wanted: Loaded
    simulated: bool = False

    @cached_property
    def platform(self) -> frozenset[str]:
        """Namespaces whose Pods are not work."""
        from physical_ai.catalog.osmo import WORKFLOWS_NAMESPACE
        from physical_ai.catalog.system_namespaces import SYSTEM_NAMESPACES
        from physical_ai.planning import namespaces

        created = namespaces.created(self.wanted.settings, self.wanted.plan)
        return frozenset({*SYSTEM_NAMESPACES, *created} - {WORKFLOWS_NAMESPACE})

    def view(self, pool: str) -> View:
        from physical_ai.kubernetes.objects import name
        from physical_ai.readiness import expected_pools
        from physical_ai.readiness.devices import SLICES, with_devices
        from physical_ai.readiness.diagnosis import is_open
        from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE
        from workbench.rolls.view import Objects, view_of

        apps = f"/apis/apps/v1/namespaces/{OPERATOR_NAMESPACE}"
        sets, revisions = self.items(f"{apps}/daemonsets"), self.items(f"{apps}/controllerrevisions")
        pods, nodes = self.items(PODS), self.items(NODES)
        expected = next((each for each in expected_pools(self.settings) if each.pool == pool), None)
        seen = with_devices(nodes, self.items(SLICES)) if expected is not None and expected.by_claims else nodes
        offering = [name(each) for each in seen if expected is None or is_open(expected, each)]
        return view_of(Objects(nodes, pods, sets, revisions), pool, self.platform, offering)

    def items(self, path: str) -> list[dict[str, Any]]:
        from physical_ai.readiness.reader import Missing

        try:
            return list(self.send("GET", path, {}).get("items") or [])
        except Missing:
            return []

    def changes(self, pool: str) -> list[str] | None:
        """Differences between the driver of a pool in the stack's files and in the cluster; None if they cannot be
        compared.
        """
        from workbench.impact.grid import wanted as grid_wanted
        from workbench.rolls.planning import spec_changes

        plan, found = self.wanted.plan, self._of_operator()
        if plan.grid is not None and pool in plan.grid.wanted:
            agent = self._item(f"/apis/apps/v1/namespaces/gpu-operator/daemonsets/{_grid_agent()}")
            present = grid_wanted(agent, pool) if agent else None
            return [*found, *spec_changes("GRID driver", plan.grid.wanted[pool], present)]
        driver = plan.gpu.drivers.get(pool)
        if driver is None:
            return found or None
        item = self._item(f"/apis/nvidia.com/v1alpha1/nvidiadrivers/{driver.name}")
        return [*found, *spec_changes("driver", driver.spec, item.get("spec") if item else None)]

    def _of_operator(self) -> list[str]:
        from physical_ai.kubernetes.objects import labels

        item = self._item("/apis/apps/v1/namespaces/gpu-operator/deployments/gpu-operator")
        present = labels(item).get("app.kubernetes.io/version", "") if item else ""
        wanted = str(self.wanted.settings.gpu_operator.version)
        return [f"GPU Operator: {present} → {wanted}"] if present and present != wanted else []

    def _item(self, path: str) -> Mapping[str, Any] | None:
        from physical_ai.readiness.reader import Missing

        try:
            return self.send("GET", path, {})
        except Missing:
            return None

    def apply(self, change: Change, version: str) -> None:
        """Makes a change of a node, unless somebody else has changed the node since it had the resource version
        `version`: the next step then decides again. A node that has gone is left out.
        """
        from functools import partial

        from physical_ai.readiness.reader import Missing
        from workbench.health.replacement.cluster import Changed, conflicting

        body = change.patch
        body["metadata"]["resourceVersion"] = version
        try:
            conflicting(partial(self.send, "PATCH", f"{NODES}/{change.node}", {}, body))
        except (Missing, Changed):
            return

    def evict(self, namespace: str, pod: str) -> None:
        from workbench.health.replacement.cluster import Blocked, RepairCluster

        item = self._item(f"/api/v1/namespaces/{namespace}/pods/{pod}")
        if item is None:
            return
        try:
            RepairCluster(self.send).evict(namespace, pod, str(item["metadata"]["uid"]))
        except Blocked as budget:
            err.print(f"   {namespace}/{pod}: {budget}", markup=False, style="dim", soft_wrap=True)

    def delete(self, pod: str) -> None:
        """Deletes a Pod of a DaemonSet in the GPU Operator's namespace."""
        from physical_ai.readiness.reader import Missing
        from physical_ai.settings.facts.gpu import OPERATOR_NAMESPACE

        try:
            self.send("DELETE", f"/api/v1/namespaces/{OPERATOR_NAMESPACE}/pods/{pod}", {})
        except Missing:
            return

    def accepted(self, node: str, level: Any) -> list[str]:
        """Runs acceptance on a node. Returns why the node did not pass; empty if it passed."""
        from physical_ai.readiness.objects import pool_of
        from physical_ai.settings.facts.gpu import nvidia_pools
        from workbench.health.acceptance.running import Acceptance, Target

        item = self._item(f"{NODES}/{node}")
        if item is None:
            return []
        target = Target(dict(item), pool_of(dict(item)))
        if target.pool not in nvidia_pools(self.settings):
            return []
        run = Acceptance(self.send, self.settings, level, _progress)
        results: list[NodeResult] = run.run([target])
        return results[0].problems


def _grid_agent() -> str:
    from physical_ai.catalog.own_names import GRID_AGENT

    return GRID_AGENT


def _progress(node: str, check: str, doing: str) -> None:
    err.print(f"   {node} {check}: {doing}", markup=False, style="dim", soft_wrap=True)


@dataclass(frozen=True)
class Run:
    """One run of the command.

    Attributes:
        max_wait: Seconds after which the run stops waiting; None for no limit of its own.
    """

    world: World
    pool: str
    patience: Patience
    level: Any = "quick"
    back: bool = False
    retry: bool = False
    max_wait: float | None = None
    sleep: Callable[[float], None] = time.sleep
    now: Callable[[], datetime.datetime] = lambda: datetime.datetime.now(datetime.UTC)

    @property
    def pause(self) -> float:
        return SIMULATED_PAUSE if self.world.simulated else PAUSE


def advance(run: Run, show: Callable[[Step], None]) -> Step:
    """Makes steps until the upgrade is over, is stopped, or has to wait longer than this run does. Returns the last
    step.
    """
    from workbench.rolls.deciding import again, back, decide

    end = None if run.max_wait is None else run.now() + datetime.timedelta(seconds=run.max_wait)
    view = run.world.view(run.pool)
    preparing = view.is_before_deployment
    step = None if run.back else again(view, run.now(), retry=run.retry)
    while True:
        if step is None:
            now = run.now()
            step = back(view, now) if run.back else decide(view, run.patience, now, preparing=preparing)
        show(step)
        if step.outcome in ("act", "prove"):
            _make(run, view, step)
        elif step.outcome != "waiting" or (end is not None and run.now() >= end):
            return step
        else:
            run.sleep(run.pause)
        step, view = None, run.world.view(run.pool)


def _make(run: Run, view: View, step: Step) -> None:
    if step.outcome == "prove":
        _prove(run, step.node)
        return
    if step.change is not None:
        run.world.apply(step.change, next(each.version for each in view.nodes if each.name == step.node))
    for namespace, pod in step.evict:
        run.world.evict(namespace, pod)
    for pod in step.delete:
        run.world.delete(pod)


def _prove(run: Run, node: str) -> None:
    """Runs acceptance, and gives the node to work if it passes. The run itself changes the node, so its version is
    read again.
    """
    from workbench.rolls import marks
    from workbench.rolls.deciding import text

    problems = run.world.accepted(node, run.level)
    change = marks.fail(node, text(run.now()), "; ".join(problems)) if problems else marks.finish(node)
    now = next((each for each in run.world.view(run.pool).nodes if each.name == node), None)
    if now is not None and now.mark is not None and now.mark.phase == "proving":
        run.world.apply(change, now.version)
