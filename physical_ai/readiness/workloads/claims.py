"""Reasons why a Pod's resource claims give it no GPU: no such claim, a quota, no such device, or none free.

Pure functions.
"""

from __future__ import annotations

import json
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, namespace
from physical_ai.readiness.devices import Device
from physical_ai.readiness.objects import pool_of, untolerated
from physical_ai.readiness.workloads.index import Index, subject
from physical_ai.readiness.workloads.model import Explanation
from physical_ai.readiness.workloads.refusals import over_limit

NOT_CREATED = "FailedResourceClaimCreation"
"""Reason of the events of the resource claim controller about a Pod (kubernetes/kubernetes
pkg/controller/resourceclaim).
"""
QUOTA = re.compile(r"requested: (?P<detail>.+?), used: .+?, limited: (?P<limited>.+)")
"""Expression for the message of the quota admission (k8s.io/apiserver v0.36.1, pkg/admission/plugin/resourcequota)."""
_NO_CLASS = re.compile(r"device class (\S+) does not exist")
_NONE = "cannot allocate all claims"
"""Message of kube-scheduler about a node that lacks free devices for a Pod's claims
(pkg/scheduler/framework/plugins/dynamicresources).
"""
STAGE = "scheduling"


def claim_causes(pod: Mapping[str, Any], index: Index) -> Iterator[Explanation]:
    """Explanations of why the claims of a waiting Pod are not allocated; none for a Pod without claims."""
    claims: Sequence[Json] = at(pod, "spec.resourceClaims", [])
    if not claims:
        return
    events = index.events("Pod", pod, NOT_CREATED)
    if events:
        yield _not_created(pod, str(events[-1].get("message", "")), index)
        return
    missing = _missing(pod, claims, index)
    if missing is not None:
        yield missing
        return
    message = str(condition(pod, "PodScheduled").get("message", ""))
    if found := _NO_CLASS.search(message):
        yield index.explanation(subject(pod), "claim-class", STAGE, message, deviceClass=found[1])
    elif _NONE in message:
        yield _none(pod, message, index)


def _not_created(pod: Mapping[str, Any], message: str, index: Index) -> Explanation:
    cause = "claim-quota" if "exceeded quota" in message else "claim-not-created"
    match = QUOTA.search(message)
    never = over_limit(match.groupdict()) if match else {}
    facts = {"where": f"event {NOT_CREATED}", "namespace": namespace(pod), **never}
    return index.explanation(subject(pod), "claim-over-quota" if never else cause, STAGE, message, **facts)


def _missing(pod: Mapping[str, Any], wanted: Sequence[Json], index: Index) -> Explanation | None:
    if index.given.claims is None:
        return None
    for each in wanted:
        own = each.get("resourceClaimName")
        if own and (namespace(pod), own) not in index.claims:
            facts = {"claim": str(own), "namespace": namespace(pod)}
            return index.explanation(subject(pod), "claim-missing", STAGE, f"resourceClaimName: {own}", **facts)
    return None


def _none(pod: Mapping[str, Any], message: str, index: Index) -> Explanation:
    """Explanation for a waiting Pod to whose claims no node can allocate devices: no device exists, other Pods hold the
    devices, a taint repels the Pod, or no device matches.
    """
    key = json.dumps(at(pod, "spec.tolerations"), sort_keys=True)
    if key not in index.claim_answers:  # the answer is the same for every Pod with these tolerations
        index.claim_answers[key] = _for_tolerations(at(pod, "spec", {}), index)
    cause, facts = index.claim_answers[key]
    asked = {"asked": ", ".join(_asked(pod, index)) or "?"} if cause in ("claim-in-use", "claim-no-match") else {}
    return index.explanation(subject(pod), cause, STAGE, message, **facts, **asked)


def _for_tolerations(spec: Json, index: Index) -> tuple[str, Mapping[str, str]]:
    """Id of the cause why a Pod with the tolerations in `spec` gets no device, and the facts that the cause's text
    mentions.
    """
    held = index.claimed
    reached = [device for device in index.devices if device.node in index.nodes]
    if not reached:
        return "claim-no-devices", {}
    taints = {node: untolerated(spec, index.nodes[node]) for node in {device.node for device in reached}}
    if all(taints.values()):
        first = reached[0].node
        return "toleration-missing", {"taints": " and ".join(taints[first]), "pool": pool_of(index.nodes[first])}
    free = [device for device in reached if (device.pool, device.name) not in held and not taints[device.node]]
    if not free:
        return "claim-in-use", {"held": ", ".join(sorted(set(held.values()))[:3]) or "?"}
    return "claim-no-match", {"offered": ", ".join(_counted(free))}


def _asked(pod: Mapping[str, Any], index: Index) -> Iterator[str]:
    """Requests of the Pod's claims as text: number, device class, conditions."""
    names = {str(each.get("resourceClaimName") or "") for each in at(pod, "spec.resourceClaims", [])}
    names |= {str(each.get("resourceClaimName") or "") for each in at(pod, "status.resourceClaimStatuses", [])}
    for claim in filter(None, (index.claims.get((namespace(pod), each)) for each in sorted(names))):
        requests: Sequence[Json] = at(claim, "spec.devices.requests", [])
        for each in requests:
            exactly: Json = each.get("exactly") or {}
            conditions = [str(at(item, "cel.expression", "")) for item in exactly.get("selectors") or ()]
            where = f" where {' and '.join(conditions)}" if conditions else ""
            yield f"{exactly.get('count', 1)} × {exactly.get('deviceClassName', '?')}{where}"


def _counted(free: Sequence[Device]) -> list[str]:
    return [f"{count} × {text}" for text, count in Counter(device.text for device in free).items()]
