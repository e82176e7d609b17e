"""Acceptance of nodes. Several nodes are checked at the same time; the checks of one node run one after the other. All
objects that a check creates are removed.
"""

from __future__ import annotations

import datetime
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from physical_ai.catalog.acceptance import AcceptanceLevel, floors
from physical_ai.kubernetes.objects import Json, at, labels, name
from physical_ai.planning.acceptance import node_job
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing
from physical_ai.settings.facts.acceptance import PoolCheck, gpu_request, image_of, no_image, promise
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.tree import Settings
from workbench.health.acceptance.busy import blocking_reason, offered, offering
from workbench.health.acceptance.jobs import Stopped, run_job
from workbench.health.acceptance.judging import NodeBaseline, judge
from workbench.health.acceptance.pairs import Pairs, shared_checks, single_checks
from workbench.health.acceptance.publishing import previous, publish
from workbench.health.acceptance.record import LABEL, CheckResult, NodeResult

NODES_AT_ONCE = 8
INSTANCE_TYPE = "node.kubernetes.io/instance-type"

Progress = Callable[[str, str, str], None]
"""Function that is called with the node, the check, and its present state or result."""


@dataclass(frozen=True)
class Target:
    """A node to check, and the pool it belongs to."""

    node: Json
    pool: str


@dataclass(frozen=True)
class Acceptance:
    """One run of the acceptance tests on nodes of a cluster.

    Attributes:
        stop: Event that ends the run when it is set. The Jobs are then removed, and nodes that are not done get no
            result.
    """

    send: Send
    settings: Settings
    level: AcceptanceLevel
    progress: Progress
    stop: threading.Event = field(default_factory=threading.Event)

    def run(self, targets: Sequence[Target]) -> list[NodeResult]:
        """Runs the checks on all targets. Returns the results in the order of the targets.

        The result of a node is published when the node is done or, if its pool has checks over several nodes, when all
        nodes are done.

        Raises:
            Stopped: `stop` was set.
            Unreachable, Unusable: the API server does not answer, or refuses a request.
        """
        with ThreadPoolExecutor(NODES_AT_ONCE) as workers:
            runs = [workers.submit(self._node, target) for target in targets]
            try:
                results = [run.result() for run in runs]
            except BaseException:
                self.stop.set()
                raise
        together = Pairs(self.send, self.settings, self.level, self.progress, self.stop)
        done = together.run([each.node for each in targets], results)
        for result in done:
            if shared_checks(self.settings.pools[result.pool], self.level):
                publish(self.send, result, keeps_out=self.settings.health.admit == "accepted")
        return done

    def _node(self, target: Target) -> NodeResult:
        node, pool = target.node, self.settings.pools[target.pool]
        before = previous(self.send, node)
        first: dict[str, Mapping[str, float]] = dict(before.baseline) if before is not None else {}
        results: list[CheckResult] = []
        for each in single_checks(pool, self.level):
            if self.stop.is_set():
                raise Stopped
            try:
                result = self._check(target, each, first.get(each.check.name))
            except Missing as problem:
                result = CheckResult(each.check.name, "no-verdict", f"the node or its namespace is gone: {problem}")
            self.progress(name(node), each.check.name, f"{result.verdict}: {result.message}")
            results.append(result)
        for each in results:
            if each.verdict == "passed" and each.measured:
                first.setdefault(each.check, each.measured)
        done = NodeResult(
            node=name(node),
            node_uid=str(at(node, "metadata.uid", "")),
            boot_id=str(at(node, "status.nodeInfo.bootID", "")),
            pool=target.pool,
            sku=labels(node).get(INSTANCE_TYPE, pool.sku),
            level=self.level,
            time=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
            checks=results,
            baseline=first,
        )
        if not shared_checks(pool, self.level):
            publish(self.send, done, keeps_out=self.settings.health.admit == "accepted")
        return done

    def _check(self, target: Target, each: PoolCheck, baseline: Mapping[str, float] | None) -> CheckResult:
        check, pool, node = each.check, self.settings.pools[target.pool], name(target.node)
        if each.skipped:
            return CheckResult(check.name, "skipped", each.skipped)
        image = image_of(self.settings, check)
        if image is None:
            return CheckResult(check.name, "skipped", no_image(check))
        fresh = offering(self.send, target.node, pool)
        hindered = blocking_reason(self.send, node, gpu_request(check, pool), offered(fresh))
        if hindered is not None:
            return CheckResult(check.name, *hindered)
        host = labels(target.node).get("kubernetes.io/hostname", node)
        job = node_job(check, pool, image, node=node, hostname=host, labels={LABEL: node[:63]})
        ran = run_job(self.send, job, self.stop, lambda doing: self.progress(node, check.name, doing))
        return judge(check, ran, given(self.settings, target, fresh, baseline))


def given(settings: Settings, target: Target, node: Json, baseline: Mapping[str, float] | None) -> NodeBaseline:
    """Expected values for a node, with which the output of a check is compared."""
    pool = settings.pools[target.pool]
    promised, floor = promise(settings, pool), floors().get(pool.sku)
    return NodeBaseline(promised, gpus_per_node(pool), offered(node), floor, baseline or {})
