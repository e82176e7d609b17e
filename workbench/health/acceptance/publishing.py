"""Publication of a node's acceptance result: its ConfigMap, its condition, and the taint that keeps work away.

Changes the cluster.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from physical_ai.kubernetes.objects import Json, at, name
from physical_ai.readiness.client import Send
from physical_ai.readiness.reader import Missing, Unreachable
from physical_ai.settings.facts.labels import split_taint
from physical_ai.settings.facts.pools import NOT_ACCEPTED_TAINT
from workbench.health.acceptance.record import (
    NAMESPACE,
    NodeResult,
    Unreadable,
    condition,
    config_map,
    config_map_name,
    read,
)

ATTEMPTS = 5
"""Number of attempts to change a Node. An attempt fails if another client, such as the kubelet, changes the Node
meanwhile.
"""
_MAPS = f"/api/v1/namespaces/{NAMESPACE}/configmaps"


def previous(send: Send, node: Json) -> NodeResult | None:
    """The acceptance result that the cluster has for this node. None if there is none, or if it is of an earlier
    machine with the same name.
    """
    try:
        found = read(send("GET", f"{_MAPS}/{config_map_name(name(node))}", {}))
    except (Missing, Unreadable):
        return None
    return found if found.node_uid == at(node, "metadata.uid") else None


def publish(send: Send, result: NodeResult, *, keeps_out: bool) -> None:
    """Writes a result to the cluster: first the ConfigMap, then the node's condition, last the taint that keeps work
    away.

    Args:
        keeps_out: True if a node that has not passed gets the taint; False if no node gets it. A node that passes loses
            the taint in both cases.
    """
    wanted = config_map(result)
    try:
        send("PUT", f"{_MAPS}/{config_map_name(result.node)}", {}, wanted)
    except Missing:
        send("POST", _MAPS, {}, wanted)
    try:
        _change(send, result.node, "/status", lambda node: {"status": {"conditions": _conditions(node, result)}})
        _change(send, result.node, "", lambda node: _taints(node, passed=result.passed, keeps_out=keeps_out))
    except Missing:
        return  # the node left the cluster meanwhile; its ConfigMap remains


def _change(send: Send, node: str, part: str, change: Callable[[Json], Json | None]) -> None:
    """Sends the patch that the function `change` computes from the present Node; sends nothing if the function returns
    None. Tries again if another client has changed the Node meanwhile.
    """
    for attempt in range(ATTEMPTS):
        found: Json = send("GET", f"/api/v1/nodes/{node}", {})
        body = change(found)
        if body is None:
            return
        body["metadata"] = {"resourceVersion": at(found, "metadata.resourceVersion")}
        try:
            send("PATCH", f"/api/v1/nodes/{node}{part}", {}, body)
        except Unreachable as refusal:
            if not str(refusal).startswith("409") or attempt == ATTEMPTS - 1:
                raise
        else:
            return


def _conditions(node: Mapping[str, Any], result: NodeResult) -> list[Json]:
    """All conditions of the node, with the acceptance condition replaced by that of `result`. The whole list is needed,
    because a merge patch of the Node replaces the list.
    """
    wanted = condition(result)
    given: list[Json] = at(node, "status.conditions", [])
    for each in given:
        if each["type"] == wanted["type"] and each["status"] == wanted["status"]:
            wanted["lastTransitionTime"] = each["lastTransitionTime"]
    return [*(each for each in given if each["type"] != wanted["type"]), dict(wanted)]


def _taints(node: Mapping[str, Any], *, passed: bool, keeps_out: bool) -> Json | None:
    """Patch that adds or removes the node's acceptance taint; None if the taint stays as it is."""
    key, value, effect = split_taint(NOT_ACCEPTED_TAINT)
    given: list[Json] = at(node, "spec.taints", [])
    others = [each for each in given if each["key"] != key]
    if passed or not keeps_out:
        # Without `keeps_out` a failure neither adds nor removes taints.
        return {"spec": {"taints": others}} if passed and len(others) != len(given) else None
    if len(others) != len(given):
        return None
    return {"spec": {"taints": [*given, {"key": key, "value": value, "effect": effect}]}}
