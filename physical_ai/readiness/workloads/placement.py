"""Explanations of why no node takes a Pod: selectors, taints, sizes, free resources, and whether a node is added.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.catalog.vendors import GPU_DOMAINS
from physical_ai.kubernetes.fit import Offer, lacking, requests
from physical_ai.kubernetes.objects import Json, at, labels, name
from physical_ai.kubernetes.selectors import terms_of
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.objects import untolerated
from physical_ai.readiness.workloads.azure_causes import backoff, not_managed, pool_state
from physical_ai.readiness.workloads.index import Index, gpu_resources, subject
from physical_ai.readiness.workloads.model import DeclaredPool, Explanation
from physical_ai.readiness.workloads.node_causes import behind_gate, cordon, not_accepted
from physical_ai.readiness.workloads.scheduler_words import (
    SAID,
    beside_others,
    gang_too_large,
    is_selected,
    message_of,
)

OPERATOR_LABELS = (*GPU_DOMAINS, "feature.node.kubernetes.io/")
"""Prefixes of labels that the GPU Operator and its Node Feature Discovery set on running nodes."""


def placement_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why no node takes a waiting Pod."""
    message = message_of(pod)
    never = gang_too_large(pod, message, index)
    if never is not None:
        yield never
        return
    if index.takes(pod):
        yield from beside_others(pod, message, index)
        return
    unknown = _unknown_resource(pod, index)
    if unknown is not None:
        yield unknown
        return
    selected = [declared for declared in index.given.pools if is_selected(pod, index.template(declared))]
    if not selected:
        yield from _selects_nothing(pod, message, index)
        return
    able = [declared for declared in selected if not lacking(requests(pod), Offer.of(index.template(declared)))]
    if not able:
        yield from _too_large(pod, selected, message, index)
        return
    tolerated = [declared for declared in able if not untolerated(at(pod, "spec", {}), index.template(declared))]
    if not tolerated:
        yield from _untolerated(pod, able, message, index)
        return
    for declared in tolerated:
        yield from _capacity(pod, declared, message, index)


def _untolerated(
    pod: Mapping[str, Any], pools: Sequence[DeclaredPool], message: str, index: Index
) -> Iterator[Explanation]:
    for declared in pools:
        taints = " and ".join(untolerated(at(pod, "spec", {}), index.template(declared)))
        if taints:
            yield index.explanation(
                subject(pod), "toleration-missing", "scheduling", message, where=SAID, taints=taints, pool=declared.name
            )


def _unknown_resource(pod: Mapping[str, Any], index: Index) -> Explanation | None:
    offered = sorted({resource for declared in index.given.pools for resource in declared.gpus})
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


def _selects_nothing(pod: Mapping[str, Any], message: str, index: Index) -> Iterator[Explanation]:
    """Explanations for labels that the Pod selects and that no pool has."""
    pools, found = index.given.pools, False
    for key, wanted in _wanted(pod):
        values = {labels(index.template(declared)).get(key) for declared in pools} - {None}
        if set(wanted) & values:
            continue
        found = True
        if key.startswith(OPERATOR_LABELS) and any(
            declared.gpus and not index.on_pool(declared.name) for declared in pools
        ):
            yield index.explanation(
                subject(pod), "selects-operator-label", "scheduling", message, where=SAID, label=key
            )
            continue
        nearest = (
            f"; they have {', '.join(sorted(str(value) for value in values))}" if values else "; none has this label"
        )
        yield index.explanation(
            subject(pod),
            "selects-no-pool",
            "scheduling",
            message,
            where=SAID,
            label=key,
            wanted=" or ".join(wanted) or "(any)",
            nearest=nearest,
        )
    if not found:
        pairs = ", ".join(f"{key}={'|'.join(values)}" for key, values in _wanted(pod))
        facts = {"label": pairs, "wanted": "all of these", "nearest": " together"}
        yield index.explanation(subject(pod), "selects-no-pool", "scheduling", message, where=SAID, **facts)


def _wanted(pod: Mapping[str, Any]) -> list[tuple[str, list[str]]]:
    """Labels that a Pod requires of its node, each with the accepted values. They come from the Pod's node selector,
    and from the first term of its node affinity.
    """
    selector: Mapping[str, str] = at(pod, "spec.nodeSelector", {})
    terms: Sequence[Json] = terms_of(pod) or ()
    expressions: Sequence[Json] = (terms[0].get("matchExpressions") or ()) if terms else ()
    required = [(str(each.get("key")), [str(v) for v in each.get("values") or ()]) for each in expressions
                if each.get("operator") in ("In", "Exists")]  # fmt: skip
    return [(key, [value]) for key, value in sorted(selector.items())] + required


def _too_large(
    pod: Mapping[str, Any], pools: Sequence[DeclaredPool], message: str, index: Index
) -> Iterator[Explanation]:
    """Explanations for a Pod that is too large for every pool: the resources that are missing in the pool that comes
    closest, and the taints that would be the next obstacle there.
    """
    asked = requests(pod)
    offers = {declared.name: Offer.of(index.template(declared)) for declared in pools}
    pool = min(offers, key=lambda each: len(lacking(asked, offers[each])))
    short_of = [each.removeprefix("Insufficient ") for each in lacking(asked, offers[pool])]
    wanted = {resource: asked[resource] for resource in short_of}
    offered = {resource: offers[pool].free.get(resource, 0) for resource in short_of}
    facts = {"pool": pool, "asked": _amounts(wanted), "most": _amounts(offered)}
    yield index.explanation(subject(pod), "too-large", "scheduling", message, where=SAID, **facts)
    yield from _untolerated(pod, [declared for declared in pools if declared.name == pool], message, index)


def _amounts(given: Mapping[str, int]) -> str:
    """Amounts of resources as text: `64 cpu and 2 nvidia.com/gpu`."""
    return " and ".join(f"{_amount(resource, value)} {resource}" for resource, value in given.items())


def _amount(resource: str, value: int) -> str:
    if resource == "cpu":
        return f"{value / 1000:g}"
    return f"{value / 2**30:.1f} GiB" if resource in ("memory", "ephemeral-storage") else str(value)


# Free resources, and new nodes


def _capacity(pod: Mapping[str, Any], declared: DeclaredPool, message: str, index: Index) -> Iterator[Explanation]:
    key = (declared.name, bool(gpu_resources(pod)))
    if key not in index.blocked:  # the answer is the same for every such Pod
        nodes = index.on_pool(declared.name)
        index.blocked[key] = next((node for node in nodes if _blocked(pod, node, index) is not None), None)
    if (node := index.blocked[key]) is not None and (blocked := _blocked(pod, node, index)) is not None:
        yield blocked
    yield growth(subject(pod), declared, index, pod=pod, message=message)


def _blocked(pod: Mapping[str, Any], node: Json, index: Index) -> Explanation | None:
    """Explanation of why a node of the pool takes no Pods at all; None for a node that is merely full."""
    gate = index.gates.get(name(node))
    if gate is not None and gpu_resources(pod):
        return behind_gate(subject(pod), "pool-not-ready", "capacity", gate, index)
    return cordon(subject(pod), node, index) or not_accepted(subject(pod), node, index)


def growth(
    item: str, declared: DeclaredPool, index: Index, pod: Mapping[str, Any] | None = None, message: str = ""
) -> Explanation:
    """Explanation of why the pool has not got one more node: it has its largest number of nodes, Azure or the
    autoscaler refuses, or the node is still being added.
    """
    facts = {"pool": declared.name, "most": str(declared.most), "size": declared.size}
    resource = next(iter(gpu_resources(pod) if pod else declared.gpus), "cpu")
    held = index.holders(declared.name, resource) if declared.gpus else ""
    use = f"in use by {held}" if held else message
    present = len(index.on_pool(declared.name))
    if present >= declared.most:
        return index.explanation(
            item, "pool-at-maximum" if declared.autoscaled else "pool-fixed", "capacity", use, **facts
        )
    if declared.existing:
        return index.explanation(item, "servers-missing", "capacity", message, present=str(present), **facts)
    for failure in (
        pool_state(item, declared, index),
        scale_up_failure(item, declared, index),
        not_managed(item, declared, index),
    ):
        if failure is not None:
            return failure
    events = index.events("Pod", pod) if pod else []
    last = [each for each in events if each.get("reason") in ("TriggeredScaleUp", "NotTriggerScaleUp")][-1:]
    evidence = str(last[0].get("message", "")) if last else message
    if last and last[0].get("reason") == "NotTriggerScaleUp":
        return index.explanation(item, "autoscaler-refused", "capacity", evidence, **facts)
    return index.explanation(item, "scale-up" if last else "autoscaler-pending", "capacity", evidence, **facts)


def scale_up_failure(item: str, declared: DeclaredPool, index: Index) -> Explanation | None:
    """Explanation of Azure's refusal of the pool's last new node; None where a node was added since."""
    events = index.growth_events(declared.name)
    if events:
        message = str(events[-1].get("message", "")) if events[-1].get("reason") == "FailedToScaleUpGroup" else ""
    else:
        # events are deleted after an hour, so the autoscaler's status is read too
        message = backoff(declared, index.given.autoscaler)
    if not message:
        return None
    found = workload_cause_of("capacity", message)
    cause = found[0].id if found else "scale-up-failed"
    return index.explanation(item, cause, "capacity", message, pool=declared.name, size=declared.size)
