"""Alerts in the diagnosis: each alert is explained by a cause, or is a cause of its own. Pure functions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from physical_ai.kubernetes.objects import at
from physical_ai.readiness.nodes.findings import findings_of
from physical_ai.readiness.nodes.signs import Alert, NodeSigns
from physical_ai.readiness.objects import pool_of
from physical_ai.readiness.workloads.index import Index
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.node_signs import explanation, findings

EXPLAINED_BY_ANY = ("GPUPodPending", "GPUOperandPending")
"""Names of alerts that only say that a Pod does not run. Any cause of the Pod explains such an alert."""
EXPLAINED_BY = {
    "OsmoAgentDown": ("agents-down", "agent-missing"),
    "KaiSchedulerDown": ("scheduler-down",),
    "GPUPoolAtMaximum": ("pool-at-maximum",),
    "GPUDriverUpgradeFailed": ("upgrade-failed", "driver-upgrade"),
}
"""Ids of the causes that explain an alert about the whole cluster, by the name of the alert."""


def about_subject(title: str, found: Sequence[Explanation], index: Index) -> Iterator[Explanation]:
    """Explanations for alerts about the object `title` that no cause in `found` explains; for a node that has left the
    cluster, explanations of the signs on the node. Empty for an existing node or a pool.
    """
    kind, _, own = title.partition(" ")
    if kind == "node" and own not in index.nodes and not any(each.signs for each in found):
        yield from (explanation(title, each) for each in findings(own, index))
    if kind in ("node", "pool"):
        return
    named = {own, *(each.subject.partition(" ")[2] for each in found)}
    for alert in index.given.alerts or ():
        if alert.names() & named and not (found and alert.name in EXPLAINED_BY_ANY) and not _explains(found, alert):
            yield of_alert(title, alert, index)


def by_name(wanted: str, index: Index) -> tuple[str, list[Explanation]] | None:
    """Title and explanations of a node, Pod or other object that has left the cluster, from the alerts and Xids that
    name the object; None if no alert or Xid does.
    """
    alerts = [each for each in index.given.alerts or () if wanted in each.names()]
    if index.alerts_of_node(wanted) or wanted in index.given.xids:
        return f"node {wanted}", [explanation(f"node {wanted}", each) for each in findings(wanted, index)]
    if not alerts:
        return None
    title = f"{_kind(wanted, alerts[0])} {wanted}"
    return title, [of_alert(title, each, index) for each in alerts]


def unexplained(found: Iterable[Explanation], index: Index) -> Iterator[Explanation]:
    """Explanations for alerts that no cause in `found` explains, for `doctor`; each alert appears once."""
    causes = list(found)
    by_subject: dict[str, list[Explanation]] = {}
    for each in causes:
        by_subject.setdefault(each.subject, []).append(each)
    told: set[tuple[str, str]] = set()
    for alert in index.given.alerts or ():
        for kind, own in alert.about(index.nodes):
            title = f"{kind} {own}".strip()
            known = by_subject.get(title, [])
            if kind == "node":
                if own not in index.nodes and (title, "") not in told:
                    told.add((title, ""))
                    yield from (explanation(title, each) for each in findings(own, index))
                continue
            if _explains(known, alert) or (known and alert.name in EXPLAINED_BY_ANY):
                continue
            near = _near(alert, kind, own, index)
            of_node = any(alert.name in each.alerts and (not own or each.subject in near) for each in causes)
            by_cause = any(each.cause in EXPLAINED_BY.get(alert.name, ()) for each in causes)
            if not of_node and not by_cause:
                yield of_alert(title, alert, index)


def _near(alert: Alert, kind: str, own: str, index: Index) -> set[str]:
    """Nodes and pools near the object of an alert: the nodes that the alert names, the node of its Pod, and the pools
    of these nodes.

    Only causes of these nodes and pools can explain the alert.
    """
    nodes = {name for of, name in alert.about(index.nodes) if of == "node"}
    where, _, name = own.rpartition("/")
    if kind == "pod" and (pod := index.pods.get((where, name))) is not None:
        nodes.add(str(at(pod, "spec.nodeName", "")))
    pools = {pool_of(index.nodes[each]) for each in nodes & index.nodes.keys()}
    return {*(f"node {each}" for each in nodes), *(f"pool {each}" for each in pools)}


def of_alert(title: str, alert: Alert, index: Index) -> Explanation:
    """Explanation whose cause is the alert itself, with reason and fix from `causes.yaml` if it lists the alert."""
    node = next((own for kind, own in alert.about(index.nodes) if kind == "node"), "")
    given = index.given
    signs = NodeSigns(node, index.nodes.get(node), alerts=[alert], stack=given.stack, existing=given.existing)
    found = findings_of(signs)
    # The node may have further causes from other signs.
    return explanation(title, next(each for each in found if alert.name in each.alerts))


def _explains(found: Iterable[Explanation], alert: Alert) -> bool:
    return any(alert.name in each.alerts for each in found)


def _kind(wanted: str, alert: Alert) -> str:
    """Kind of the object `wanted` that an alert is about, such as `pod` or `job`: the key of the alert's label whose
    value is the object's name, or `object` if no label has this value.
    """
    own = wanted.rpartition("/")[2]
    key = next((key for key, value in alert.labels.items() if value == own), "object")
    return {"job_name": "job", "exported_pod": "pod"}.get(key, key)
