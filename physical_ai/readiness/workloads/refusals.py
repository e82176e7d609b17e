"""Refusals by the API server to create Pods, found in events about controllers. A refusal is history if the controller
no longer exists, or now has its Pods.

Pure functions.
"""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, condition, time_of
from physical_ai.kubernetes.quantities import quantity
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.workloads.health import REPLICAS, job_shortfall, job_wants, owner_counts
from physical_ai.readiness.workloads.index import Index, short
from physical_ai.readiness.workloads.model import Explanation

REFUSED = ("FailedCreate", "ReplicaSetCreateError")
_POD = re.compile(r'(?:pods? |Pod )"[^"]+"')
"""Expression for the name of a Pod in a refusal: controllers give each attempt another random name."""


def creation_causes(index: Index, wanted: str = "") -> Iterator[Explanation]:
    """Explanations of the last refusal to create Pods for each controller that lacks Pods; with `wanted`, only
    explanations of events that mention this name.

    Refusals for a controller that no longer exists, or has its Pods now, are left out: `past_refusals` returns them.
    """
    for event in _last(index, wanted):
        if not is_history(event, index):
            yield refusal(event, index)


def past_refusals(index: Index, wanted: str) -> list[Json]:
    """Last events of refusals that mention `wanted`, where the controller no longer exists or now has its Pods."""
    return [event for event in _last(index, wanted) if is_history(event, index)]


def _last(index: Index, wanted: str) -> list[Json]:
    """Last event of each kind of refusal for each controller; kinds are distinguished by the message without random
    names.
    """
    refusals = last_refusals(index)
    every = list({id(event): event for events in refusals.values() for event in events}.values())
    return every if not wanted else [each for each in every if _names(wanted, each)]


def last_refusals(index: Index) -> Mapping[tuple[str, str, str], list[Json]]:
    """Events about refusals, by kind, namespace and name of the controller: for each cause of refusal, only the last
    event.

    Events about a ReplicaSet are also listed under its Deployment, whose name is the first part of the ReplicaSet's
    name.
    """
    if index.last_refusals is not None:
        return index.last_refusals
    alike: dict[tuple[str, ...], Json] = {}
    for event in index.refusals:
        about: Json = event.get("involvedObject") or {}
        owner = tuple(str(about.get(each, "")) for each in ("kind", "namespace", "name", "uid"))
        alike[*owner, _POD.sub("Pod", str(event.get("message", "")))] = event
    last: dict[tuple[str, ...], Json] = {}
    for (*owner, message), event in alike.items():
        cause_and_facts = workload_cause_of("gang", message)
        last[*owner, cause_and_facts[0].id if cause_and_facts else message] = event
    found: dict[tuple[str, str, str], list[Json]] = defaultdict(list)
    for (kind, where, own, *_), event in last.items():
        found[kind, where, own].append(event)
        if kind == "ReplicaSet":
            found["Deployment", where, own.rpartition("-")[0]].append(event)
    index.last_refusals = dict(found)
    return index.last_refusals


def _names(wanted: str, event: Mapping[str, Any]) -> bool:
    about: Json = event.get("involvedObject") or {}
    own = str(about.get("name", ""))
    return wanted in (own, f"{about.get('namespace', '')}/{own}") or wanted in str(event.get("message", ""))


def is_history(event: Mapping[str, Any], index: Index) -> bool:
    """True where the controller of a refusal no longer exists, or has all the Pods that it wants."""
    about: Json = event.get("involvedObject") or {}
    kind = str(about.get("kind", ""))
    owner = index.owner(kind, str(about.get("namespace", "")), str(about.get("name", "")))
    if owner is None:
        return kind in index.given.owners
    if about.get("uid") and at(owner, "metadata.uid") and about["uid"] != owner["metadata"]["uid"]:
        return True
    return has_pods(kind, owner)


def has_pods(kind: str, owner: Mapping[str, Any]) -> bool:
    """True if a controller has created as many Pods as it should have now."""
    if kind == "Job":
        return not job_shortfall(owner) or int(at(owner, "status.active", 0)) >= job_wants(owner) > 0
    if condition(owner, "ReplicaFailure").get("status") == "True":
        return False
    desired = owner_counts(kind, owner)[0] if kind in REPLICAS else 0
    made = at(owner, "status.currentNumberScheduled" if kind == "DaemonSet" else "status.replicas", 0)
    return int(made) >= desired


def refusal(event: Mapping[str, Any], index: Index) -> Explanation:
    """Explanation of why the API server creates no Pod of a controller."""
    about: Json = event.get("involvedObject") or {}
    message, where = str(event.get("message", "")), str(about.get("namespace", ""))
    owner = f"{str(about.get('kind', '')).lower()} {where}/{about.get('name', '')}"
    facts = {"namespace": where, "owner": owner, "message": short(_POD.sub("Pod", message)), "where": _where(event)}
    found = workload_cause_of("gang", message)
    if found is None:
        return index.explanation(owner, "creation-refused", "gang", message, **facts)
    own = {key: value for key, value in found[1].items() if key != "message"}
    never = over_limit(found[1]) if found[0].id == "creation-quota" else {}
    cause = "creation-over-limit" if never else found[0].id
    return index.explanation(owner, cause, "gang", message, **{**facts, **own, **never})


def over_limit(found: Mapping[str, str]) -> dict[str, str]:
    """First resource of which a single request exceeds the quota's limit, with the requested amount and the limit.
    Empty if no single request exceeds the limit, so that waiting can help.

    >>> over_limit({"detail": "requests.nvidia.com/gpu=99", "limited": "requests.nvidia.com/gpu=16"})
    {'resource': 'nvidia.com/gpu', 'asked': '99', 'most': '16'}
    """
    asked, limits = _amounts(found.get("detail", "")), _amounts(found.get("limited", ""))
    for resource, amount in asked.items():
        number, most = quantity(amount), quantity(limits.get(resource))
        if number is not None and most is not None and number > most:
            return {"resource": resource.removeprefix("requests."), "asked": amount, "most": limits[resource]}
    return {}


def _amounts(text: str) -> dict[str, str]:
    return {key.strip(): value.strip() for key, _, value in (each.partition("=") for each in text.split(",")) if value}


def _where(event: Mapping[str, Any]) -> str:
    time = time_of(event)
    return f"event {event.get('reason')}{f' of {time}' if time else ''}"
