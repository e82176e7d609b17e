"""Where a Pod could run, and why it does not: selectors, taints, sizes, room, and whether a node is added. Pure."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import Offer, lacking, requests
from physical_ai.kubernetes.objects import Json, at, labels, matches, name, namespace
from physical_ai.kubernetes.selectors import selects, terms_of
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.objects import untolerated
from physical_ai.readiness.workloads.azure_causes import backoff, not_managed, pool_state
from physical_ai.readiness.workloads.index import Index, condition, gpu_resources, short, subject
from physical_ai.readiness.workloads.model import Explanation, PoolPlan
from physical_ai.readiness.workloads.node_causes import behind_gate, cordon, not_accepted
from physical_ai.readiness.workloads.queueing import least_of

OPERATOR_LABELS = (*GPU_DOMAINS, "feature.node.kubernetes.io/")
"""Labels that the GPU Operator and its Node Feature Discovery set on running nodes."""
GANG = "are required for gang scheduling"


def placement_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Why no node takes a Pod that waits for one."""
    message = str(condition(pod, "PodScheduled").get("message", ""))
    if index.takes(pod):
        yield from _beside_others(pod, message, index)
        return
    unknown = _unknown_resource(pod, index)
    if unknown is not None:
        yield unknown
        return
    selected = [plan for plan in index.given.pools if _is_selected(pod, index.template(plan))]
    if not selected:
        yield _selects_nothing(pod, message, index)
        return
    able = [plan for plan in selected if not lacking(requests(pod), Offer.of(index.template(plan)))]
    if not able:
        yield _too_large(pod, selected, message, index)
        return
    tolerated = [plan for plan in able if not untolerated(at(pod, "spec", {}), index.template(plan))]
    if not tolerated:
        for plan in able:
            taints = " and ".join(untolerated(at(pod, "spec", {}), index.template(plan)))
            yield index.explanation(
                subject(pod), "toleration-missing", "scheduling", message, taints=taints, pool=plan.name
            )
        return
    for plan in tolerated:
        yield from _capacity(pod, plan, message, index)


def _is_selected(pod: Mapping[str, Any], node: Json) -> bool:
    selector: Mapping[str, str] = at(pod, "spec.nodeSelector", {})
    return matches(selector, labels(node)) and selects(pod, node)


def _beside_others(pod: Mapping[str, Any], message: str, index: Index) -> Iterator[Explanation]:
    """A node would take the Pod alone."""
    group = index.group(pod)
    if GANG in message and group is not None:
        yield index.explanation(subject(pod), "gang-does-not-fit", "scheduling", message, least=str(least_of(group)))
    elif found := workload_cause_of("scheduling", message):
        yield index.explanation(subject(pod), found[0].id, "scheduling", message)


def unknown_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """What the scheduler says of a Pod that waits, where nothing else explains it.

    By its requests, labels and taints a node would take the Pod: what keeps it off is known to the scheduler alone.
    """
    found = condition(pod, "PodScheduled")
    if found.get("status") == "False":
        message = str(found.get("message") or found.get("reason") or "nothing")
        facts = {"scheduler": _scheduler(pod), "message": short(message), "namespace": namespace(pod), "pod": name(pod)}
        yield index.explanation(subject(pod), "scheduler-says", "scheduling", message, **facts)


def _scheduler(pod: Mapping[str, Any]) -> str:
    return str(at(pod, "spec.schedulerName", "default-scheduler"))


def _unknown_resource(pod: Mapping[str, Any], index: Index) -> Explanation | None:
    offered = sorted({resource for plan in index.given.pools for resource in plan.gpus})
    for resource in gpu_resources(pod):
        if resource not in offered:
            evidence = f"requests {resource}: {requests(pod)[resource]}"
            return index.explanation(
                subject(pod),
                "resource-unknown",
                "scheduling",
                evidence,
                resource=resource,
                offered=", ".join(offered) or "no GPUs",
            )
    return None


def _selects_nothing(pod: Mapping[str, Any], message: str, index: Index) -> Explanation:
    """The first label that the Pod selects and no pool has."""
    plans = index.given.pools
    for key, wanted in _wanted(pod):
        values = {labels(index.template(plan)).get(key) for plan in plans} - {None}
        if set(wanted) & values:
            continue
        if key.startswith(OPERATOR_LABELS) and any(plan.gpus and not index.on_pool(plan.name) for plan in plans):
            return index.explanation(subject(pod), "selects-operator-label", "scheduling", message, label=key)
        nearest = f"; they have {', '.join(sorted(str(value) for value in values))}" if values else ""
        return index.explanation(
            subject(pod),
            "selects-no-pool",
            "scheduling",
            message,
            label=key,
            wanted=" or ".join(wanted) or "(any)",
            nearest=nearest,
        )
    pairs = ", ".join(f"{key}={'|'.join(values)}" for key, values in _wanted(pod))
    return index.explanation(
        subject(pod), "selects-no-pool", "scheduling", message, label=pairs, wanted="all of these", nearest=""
    )


def _wanted(pod: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """The labels that a Pod requires, with the values that it accepts: its selector, and the first affinity term."""
    selector: Mapping[str, str] = at(pod, "spec.nodeSelector", {})
    terms: Sequence[Json] = terms_of(pod) or ()
    expressions: Sequence[Json] = (terms[0].get("matchExpressions") or ()) if terms else ()
    required = [(str(each.get("key")), [str(v) for v in each.get("values") or ()]) for each in expressions
                if each.get("operator") in ("In", "Exists")]  # fmt: skip
    return [(key, [value]) for key, value in sorted(selector.items())] + required


def _too_large(pod: Mapping[str, Any], plans: Sequence[PoolPlan], message: str, index: Index) -> Explanation:
    """The pool that lacks least, and what it lacks."""
    asked = requests(pod)
    offers = {plan.name: Offer.of(index.template(plan)) for plan in plans}
    pool = min(offers, key=lambda each: len(lacking(asked, offers[each])))
    resource = lacking(asked, offers[pool])[0].removeprefix("Insufficient ")
    return index.explanation(
        subject(pod),
        "too-large",
        "scheduling",
        message,
        pool=pool,
        resource=resource,
        asked=_amount(resource, asked[resource]),
        most=_amount(resource, offers[pool].free.get(resource, 0)),
    )


def _amount(resource: str, value: int) -> str:
    if resource == "cpu":
        return f"{value / 1000:g}"
    return f"{value / 2**30:.1f} GiB" if resource in ("memory", "ephemeral-storage") else str(value)


# Room, and growth


def _capacity(pod: Mapping[str, Any], plan: PoolPlan, message: str, index: Index) -> Iterator[Explanation]:
    key = (plan.name, bool(gpu_resources(pod)))
    if key not in index.blocked:  # the same node for every such Pod
        nodes = index.on_pool(plan.name)
        index.blocked[key] = next((node for node in nodes if _blocked(pod, node, index) is not None), None)
    if (node := index.blocked[key]) is not None and (blocked := _blocked(pod, node, index)) is not None:
        yield blocked
    yield growth(subject(pod), plan, index, pod=pod, message=message)


def _blocked(pod: Mapping[str, Any], node: Json, index: Index) -> Explanation | None:
    """Why a node of the pool takes nothing, beside being full."""
    gate = index.gates.get(name(node))
    if gate is not None and gpu_resources(pod):
        return behind_gate(subject(pod), "pool-not-ready", "capacity", gate, index)
    return cordon(subject(pod), node, index) or not_accepted(subject(pod), node, index)


def growth(
    item: str, plan: PoolPlan, index: Index, pod: Mapping[str, Any] | None = None, message: str = ""
) -> Explanation:
    """Why the pool has no further node yet."""
    facts = {"pool": plan.name, "most": str(plan.most), "size": plan.size}
    resource = next(iter(gpu_resources(pod) if pod else plan.gpus), "cpu")
    held = index.holders(plan.name, resource) if plan.gpus else ""
    use = f"in use by {held}" if held else message
    if len(index.on_pool(plan.name)) >= plan.most:
        return index.explanation(item, "pool-at-maximum" if plan.autoscaled else "pool-fixed", "capacity", use, **facts)
    for failure in (pool_state(item, plan, index), scale_up_failure(item, plan, index), not_managed(item, plan, index)):
        if failure is not None:
            return failure
    events = index.events("Pod", pod) if pod else []
    last = [each for each in events if each.get("reason") in ("TriggeredScaleUp", "NotTriggerScaleUp")][-1:]
    evidence = str(last[0].get("message", "")) if last else message
    if last and last[0].get("reason") == "NotTriggerScaleUp":
        return index.explanation(item, "autoscaler-refused", "capacity", evidence, **facts)
    return index.explanation(item, "scale-up" if last else "autoscaler-pending", "capacity", evidence, **facts)


def scale_up_failure(item: str, plan: PoolPlan, index: Index) -> Explanation | None:
    """Azure's refusal of the pool's last node, unless one was added since."""
    events = index.growth_events(plan.name)
    if events:
        message = str(events[-1].get("message", "")) if events[-1].get("reason") == "FailedToScaleUpGroup" else ""
    else:
        message = backoff(plan, index.given.autoscaler)  # events are kept for an hour
    if not message:
        return None
    found = workload_cause_of("capacity", message)
    cause = found[0].id if found else "scale-up-failed"
    return index.explanation(item, cause, "capacity", message, pool=plan.name, size=plan.size)
