"""Results of acceptance checks from Pods that somebody has started without `physai accept`. Only reads the cluster."""

from __future__ import annotations

import datetime
from collections.abc import Mapping, Sequence

from physical_ai.catalog.acceptance import CHECK_LABEL, LEVELS, checks
from physical_ai.kubernetes.objects import Json, at, labels, name
from physical_ai.readiness.client import Send
from physical_ai.settings.models.tree import Settings
from workbench.health.acceptance.busy import offering
from workbench.health.acceptance.jobs import PODS, ended
from workbench.health.acceptance.judging import judge
from workbench.health.acceptance.publishing import previous
from workbench.health.acceptance.record import LABEL, CheckResult, NodeResult
from workbench.health.acceptance.running import Target, given


def collect(send: Send, settings: Settings, targets: Sequence[Target]) -> list[NodeResult]:
    """Newest result of each check on each node, from finished Pods that still exist. Nodes without a result are left
    out.

    The level of a node's result is the highest among its checks. The results are not written to the cluster, because
    they are not from a complete acceptance run.

    Raises:
        Unreachable, Unusable: the API server does not answer, or refuses the request.
    """
    found: list[Json] = send("GET", PODS, {"labelSelector": f"{CHECK_LABEL},!{LABEL}"})["items"]
    newest: dict[tuple[str, str], Json] = {}
    for pod in sorted(found, key=lambda each: str(at(each, "metadata.creationTimestamp", ""))):
        check = labels(pod).get(CHECK_LABEL, "")
        if check in checks() and at(pod, "status.phase") in ("Succeeded", "Failed"):
            newest[str(at(pod, "spec.nodeName", "")), check] = pod
    results = [_node(send, settings, target, newest) for target in targets]
    return [each for each in results if each.checks]


def _node(send: Send, settings: Settings, target: Target, newest: Mapping[tuple[str, str], Json]) -> NodeResult:
    node, before = target.node, previous(send, target.node)
    mine = [
        (check, newest[name(node), check.name]) for check in checks().values() if (name(node), check.name) in newest
    ]
    results: list[CheckResult] = []
    there = offering(send, node, settings.pools[target.pool]) if mine else node
    for check, pod in mine:
        ran = ended(send, pod)
        first = before.baseline.get(check.name) if before is not None else None
        if ran is not None:
            results.append(judge(check, ran, given(settings, target, there, first)))
    return NodeResult(
        node=name(node),
        node_uid=str(at(node, "metadata.uid", "")),
        boot_id=str(at(node, "status.nodeInfo.bootID", "")),
        pool=target.pool,
        sku=settings.pools[target.pool].sku,
        level=LEVELS[max((LEVELS.index(check.level) for check, _ in mine if check.level in LEVELS), default=0)],
        time=datetime.datetime.now(datetime.UTC).replace(microsecond=0),
        checks=results,
        baseline=before.baseline if before is not None else {},
    )
