"""Explanations of why a Pod, workflow, node or pool does not work, and a list of all problems. Pure functions."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.osmo import (
    BACKEND_RELEASE,
    LISTENER_ACCOUNT,
    OPERATOR_NAMESPACE,
    WORKER_ACCOUNT,
    WORKFLOW_LABEL,
)
from physical_ai.kubernetes.objects import Json, at, labels, name, namespace
from physical_ai.readiness.evidence import is_available
from physical_ai.readiness.workloads.alerting import about_subject, by_name, unexplained
from physical_ai.readiness.workloads.azure_causes import pool_state
from physical_ai.readiness.workloads.claims import claim_causes
from physical_ai.readiness.workloads.gone import gone
from physical_ai.readiness.workloads.hang import explained, hang_causes
from physical_ai.readiness.workloads.health import pod_shortfall
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import STAGES, CauseGroup, DeclaredPool, Explanation, Workloads
from physical_ai.readiness.workloads.node_findings import of_node
from physical_ai.readiness.workloads.node_signs import of_operand
from physical_ai.readiness.workloads.osmo_causes import osmo_causes
from physical_ai.readiness.workloads.owners import (
    all_owner_causes,
    find,
    group_causes_of,
    is_replaced,
    owner_causes,
    queue_causes_of,
)
from physical_ai.readiness.workloads.placement import placement_causes, scale_up_failure
from physical_ai.readiness.workloads.platform_causes import (
    WORKFLOWS,
    all_parts,
    named,
    parts_of,
    parts_of_node,
    parts_of_pool,
)
from physical_ai.readiness.workloads.queueing import group_causes, queue_causes
from physical_ai.readiness.workloads.refusals import creation_causes
from physical_ai.readiness.workloads.running import running_causes, terminating
from physical_ai.readiness.workloads.scheduler_words import unknown_causes
from physical_ai.readiness.workloads.volumes import volume_causes

AGENTS = (LISTENER_ACCOUNT, WORKER_ACCOUNT)
"""Service accounts of OSMO's agents. The agents are identified by these accounts, because the chart makes the names of
their Deployments from the names of release and Service.
"""
NCCL = "nccl"
"""Id of the cause that only says that a rank's collective NCCL operation failed, and not why."""
_ORDER = list(STAGES)


class UnknownSubject(Exception):
    """Raised where the cluster has nothing with this name."""

    def __init__(self, wanted: str, nearest: Sequence[str]) -> None:
        super().__init__(wanted)
        self.wanted, self.nearest = wanted, tuple(nearest)


def explain(wanted: str, given: Workloads) -> tuple[str, list[Explanation]]:
    """Title and causes of `wanted`, the first cause first; no causes where nothing is wrong.

    Args:
        wanted: Name of a pool, node, workflow, Pod, owner of Pods (such as a Job or Deployment), or KAI group or queue,
            looked up in this order. A name may be written as NAMESPACE/NAME. The object may have left the cluster, if
            events or alerts about it remain.
        given: Objects of the cluster.

    Raises:
        UnknownSubject: there is nothing with that name.
    """
    index = Index(given)
    for kind in (_infrastructure, _workflow, _pod, _owner, named, by_name):
        found = kind(wanted, index)
        if found is not None:
            title, causes = found
            return title, [*causes, *about_subject(title, causes, index)]
    raise UnknownSubject(wanted, _nearest(wanted, index))


Answer = tuple[str, list[Explanation]]


def _infrastructure(wanted: str, index: Index) -> Answer | None:
    """Title and explanations of a pool or node; None for another name."""
    declared = next((each for each in index.given.pools if each.name == wanted), None)
    if declared is not None:
        return f"pool {wanted}", _sorted(_of_pool(declared, index))
    if wanted in index.nodes:
        node = index.nodes[wanted]
        return f"node {wanted}", _sorted([*of_node(node, index), *parts_of_node(f"node {wanted}", node, index)])
    return None


def _workflow(wanted: str, index: Index) -> Answer | None:
    """Title and explanations of an OSMO workflow, from its Pods and its status in OSMO; None for another name."""
    members = [pod for pod in index.given.pods if labels(pod).get(WORKFLOW_LABEL) == wanted]
    known = next((each for each in index.given.workflows if each.get("name") == wanted), None)
    if not members and known is None:
        return None
    causes = _of_gang(members, index)
    if known is not None and not causes:
        told = list(osmo_causes(known, index, has_pods=bool(members)))
        causes = told
    return f"workflow {wanted}", _sorted([*(_of_osmo(wanted, index) if causes else ()), *causes])


def _of_osmo(wanted: str, index: Index) -> Iterator[Explanation]:
    """Explanations for every OSMO workflow: problems of the agents, the scheduler, or other software that it needs."""
    yield from _agents(index)
    yield from parts_of(f"workflow {wanted}", WORKFLOWS, index)


def _pod(wanted: str, index: Index) -> Answer | None:
    pods = [pod for pod in index.given.pods if wanted in (name(pod), f"{namespace(pod)}/{name(pod)}")]
    if not pods:
        return None
    own = list(_of_pod(pods[0], index))
    hang = list(hang_causes(index.peers(pods[0]), index)) if _is_of_nccl(own) or not own else []
    return f"pod {namespace(pods[0])}/{name(pods[0])}", _sorted(_with_rank(hang, own))


def _owner(wanted: str, index: Index) -> Answer | None:
    """Title and explanations of an owner of Pods (Job, Deployment, KAI group or queue), even if its Pods were refused
    or it has left the cluster; None for another name.
    """

    def of_pod(pod: Mapping[str, Any]) -> Iterable[Explanation]:
        return _of_pod(pod, index)

    known = find(wanted, index)
    if known is not None:
        kind, item = known
        own = named(f"{namespace(item)}/{name(item)}", index)
        of_platform = own[1] if own is not None else []
        # For a part that is switched off, its explanation names the work that is not done.
        found = (of_platform if kind == "CronJob" else []) or [*owner_causes(kind, item, index, of_pod)] or of_platform
        return f"{kind.lower()} {namespace(item)}/{name(item)}", _sorted(found)
    group = next(
        (each for each in index.given.groups if wanted in (name(each), f"{namespace(each)}/{name(each)}")), None
    )
    if group is not None:
        return f"podgroup {namespace(group)}/{name(group)}", _sorted(group_causes_of(group, index, of_pod))
    queue = next((each for each in index.given.queues or () if name(each) == wanted), None)
    if queue is not None:
        return f"queue {wanted}", _sorted(queue_causes_of(queue, index, of_pod))
    never = _sorted(creation_causes(index, wanted))
    return (never[0].subject, never) if never else gone(wanted, index)


def doctor(given: Workloads) -> list[CauseGroup]:
    """All causes in the cluster, each once with all subjects: those that need an action first, then those with most
    subjects.
    """
    index = Index(given)
    agents = list(_agents(index))
    found: list[Explanation] = [*agents, *all_parts(index, agents_named=bool(agents)), *creation_causes(index)]
    for node in given.nodes:
        found += of_node(node, index)
    for declared in given.pools:
        item = f"pool {declared.name}"
        failures = (pool_state(item, declared, index), scale_up_failure(item, declared, index))
        found += [failure for failure in failures if failure is not None]
    explained_pods: set[tuple[str, str]] = set()
    for pod in given.pods:
        first = [] if is_replaced(pod, index) else _sorted(_of_pod(pod, index))[:1]
        hang = list(hang_causes(index.peers(pod), index)) if _is_of_nccl(first) else []
        found += _with_rank(hang, first)
        if first:
            explained_pods.add((namespace(pod), name(pod)))
    found += all_owner_causes(index, explained_pods, lambda pod: _of_pod(pod, index))
    found += unexplained(found, index)
    grouped: dict[tuple[str, str], list[Explanation]] = {}
    for each in found:
        grouped.setdefault((each.cause, each.reason), []).append(each)
    findings = [
        CauseGroup(group[0], tuple(dict.fromkeys(each.subject for each in group))) for group in grouped.values()
    ]
    return sorted(
        findings, key=lambda each: (not each.first.needs_action, -len(each.subjects), _ORDER.index(each.first.stage))
    )


def _sorted(found: Iterable[Explanation]) -> list[Explanation]:
    """Explanations sorted by stage; within a stage, the order stays. Explanations with the same subject, cause and
    reason appear once.

    Different evidence does not make two explanations different, because evidence may contain a random name or a time.
    """
    once: dict[tuple[str, str, str], Explanation] = {}
    for each in found:
        once.setdefault((each.subject, each.cause, each.reason), each)
    return sorted(once.values(), key=lambda each: _ORDER.index(each.stage))


def _of_pod(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why a Pod does not work; if no cause is known, an explanation that shows the Pod's own status."""
    found = of_operand(pod, index) if pod_shortfall(pod) else []
    found = found or list(_known_causes(pod, index))
    yield from found
    shortfall = "" if found else pod_shortfall(pod)
    if shortfall:
        facts = {"namespace": namespace(pod), "pod": name(pod)}
        yield index.explanation(subject(pod), "pod-unknown", "node", shortfall, where="status of the Pod", **facts)


def _known_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    if at(pod, "spec.nodeName") or at(pod, "status.phase") in ("Succeeded", "Failed"):
        yield from running_causes(pod, index)
        return
    if at(pod, "metadata.deletionTimestamp"):
        yield from terminating(pod, index)
        return
    found = [
        *group_causes(pod, index),
        *queue_causes(pod, index),
        *claim_causes(pod, index),
        *volume_causes(pod, index),
        *placement_causes(pod, index),
    ]
    yield from found or unknown_causes(pod, index)


def _of_gang(members: Sequence[Json], index: Index) -> list[Explanation]:
    own = [each for pod in members for each in _of_pod(pod, index)]
    return _with_rank(list(hang_causes(members, index)), own)


def _with_rank(hang: Sequence[Explanation], own: Sequence[Explanation]) -> list[Explanation]:
    """Explanations of a gang: `hang` and `own`. If `hang` names the rank that the other ranks waited for, the NCCL
    timeouts in `own` are left out.
    """
    return [*hang, *(each for each in own if not (explained(hang) and each.cause == NCCL))]


def _is_of_nccl(found: Iterable[Explanation]) -> bool:
    return any(each.cause == NCCL for each in found)


def _of_pool(declared: DeclaredPool, index: Index) -> Iterator[Explanation]:
    for node in index.on_pool(declared.name):
        yield from of_node(node, index)
        yield from parts_of_node(f"node {name(node)}", node, index)
    if not index.on_pool(declared.name):
        yield from parts_of_pool(declared, index)
    for failure in (
        pool_state(f"pool {declared.name}", declared, index),
        scale_up_failure(f"pool {declared.name}", declared, index),
    ):
        if failure is not None:
            yield failure


def _agents(index: Index) -> Iterator[Explanation]:
    """Explanations for OSMO's agents that do not run or are missing, without which no workflow makes progress."""
    found = {
        at(each, "spec.template.spec.serviceAccountName", ""): each
        for each in index.given.deployments or ()
        if namespace(each) == OPERATOR_NAMESPACE
    }
    platform = index.given.platform
    if index.given.deployments is None or (platform is not None and not platform.has(BACKEND_RELEASE)):
        return
    for account in AGENTS if index.given.has_agents or found.keys() & set(AGENTS) else ():
        agent = found.get(account)
        if agent is None:
            item = f"agent {OPERATOR_NAMESPACE}/{account}"
            evidence = f"no Deployment of {OPERATOR_NAMESPACE} has the service account {account}"
            yield index.explanation(
                item, "agent-missing", "osmo", evidence, account=account, namespace=OPERATOR_NAMESPACE
            )
        elif not is_available(agent) or at(agent, "spec.replicas", 1) == 0:
            yield index.explanation(
                f"deployment {OPERATOR_NAMESPACE}/{name(agent)}",
                "agents-down" if at(agent, "spec.replicas", 1) else "agent-scaled-down",
                "osmo",
                f"availableReplicas: {at(agent, 'status.availableReplicas', 0)} of {at(agent, 'spec.replicas', 1)}",
                deployment=name(agent),
                namespace=OPERATOR_NAMESPACE,
            )


def _nearest(wanted: str, index: Index) -> list[str]:
    known = [
        *(declared.name for declared in index.given.pools),
        *index.nodes,
        *(labels(pod).get(WORKFLOW_LABEL, "") for pod in index.given.pods),
        *(f"{namespace(pod)}/{name(pod)}" if "/" in wanted else name(pod) for pod in index.given.pods),
        *(str(each.get("name", "")) for each in index.given.workflows),
    ]
    return difflib.get_close_matches(wanted, [each for each in dict.fromkeys(known) if each], n=3)
