"""Explanations of a node, Pod or Job that has left the cluster, from its last events and the record of its machine.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.kubernetes.objects import Json, at, labels, name, time_of
from physical_ai.readiness.causes import workload_cause_of
from physical_ai.readiness.events import ROUTINE
from physical_ai.readiness.ports import LABEL, SEEN
from physical_ai.readiness.workloads.index import Index, short
from physical_ai.readiness.workloads.model import STAGES, Explanation
from physical_ai.readiness.workloads.refusals import REFUSED, past_refusals, refusal

NODE_LEFT = (
    ("ScaleDown", "ScaleDownEmpty"),
    ("PreemptScheduled", "TerminateScheduled", "RedeployScheduled", "FreezeScheduled"),
    ("Shutdown", "NodeNotReady"),
    ("DeletingNode", "NodeDeleted", "RemovingNode"),
)
"""Reasons of events that tell why a node left, the most informative first: those of the autoscaler, AKS and the
kubelet, and last those of the node controller, which only say that a node left.
"""


def gone(wanted: str, index: Index) -> tuple[str, list[Explanation]] | None:
    """Title (kind and name) of the object `wanted`, which has left the cluster, and explanations of why it left; None
    if no event and no record of a machine mentions the object.
    """
    where, _, own = wanted.rpartition("/")
    events = [each for each in index.events_about(own) if not where or at(each, "involvedObject.namespace") == where]
    records = [] if where else [each for each in index.given.records if labels(each).get(LABEL) == own[:63]]
    nodes = [each for each in events if at(each, "involvedObject.kind") == "Node"]
    if nodes or records:
        return f"node {own}", [_node(own, nodes or _naming(own, index), records, index)]
    refused = past_refusals(index, wanted)
    if events or refused:
        return _other(own, events, refused, index)
    return None


def _node(own: str, events: Sequence[Json], records: Sequence[Json], index: Index) -> Explanation:
    told = ([each for each in events if each.get("reason") in reasons] for reasons in NODE_LEFT)
    telling = next(filter(None, told), list(events))
    last = telling[-1] if telling else {}
    message = _words(last) if last else "no event of its end is left; events are kept for an hour"
    seen = max((str(at(each, "metadata.annotations", {}).get(SEEN, "")) for each in records), default="")
    kept = f"physai evidence {own} shows what is recorded of its machine{f', last at {seen}' if seen else ''}."
    return index.explanation(
        f"node {own}", "node-left", "node", _timed(last) if last else f"recorded: {', '.join(map(name, records))}",
        where=f"event {last.get('reason')}" if last else "the record of its machine",
        node=own, records=kept if records else "Nothing: a Pod that needs a node of its pool brings one again.",
        message=message,
    )  # fmt: skip


def _naming(own: str, index: Index) -> list[Json]:
    """Events whose message contains the node's name. They include events about other objects, such as the autoscaler's
    ConfigMap, which say why the node was removed.
    """
    return [each for each in index.given.events if own in str(each.get("message", "")).replace(",", " ").split()]


def _other(own: str, events: Sequence[Json], refused: Sequence[Json], index: Index) -> tuple[str, list[Explanation]]:
    """Title and explanation of an object other than a node that has left the cluster, such as a Pod or Job. The
    explanation shows the last event that reports a problem or, if no event does, the last event.
    """
    told = [each for each in events if each.get("reason") not in (*ROUTINE, *REFUSED) and each.get("type") != "Normal"]
    last = (told or list(refused) or list(events))[-1]
    about: Json = last.get("involvedObject") or {}
    kind, item = str(about.get("kind", "")), f"{str(about.get('kind', '')).lower()} {_named(about)}"
    found = refusal(last, index) if last.get("reason") in REFUSED else _known(last, index)
    message = found.reason if found is not None else f"its event {last.get('reason')}"
    past = index.explanation(
        item, "pod-left", "node", _timed(last), where=f"event {last.get('reason')}",
        kind=kind, name=_named(about), message=short(message),
    )  # fmt: skip
    return item, [past]


def _known(event: Mapping[str, Any], index: Index) -> Explanation | None:
    """Explanation of an event's message by a known cause; None where no cause fits."""
    line, about = f"{event.get('reason')}: {event.get('message', '')}", at(event, "involvedObject", dict[str, Any]())
    for stage in STAGES:
        cause_and_facts = workload_cause_of(stage, line)
        if cause_and_facts is not None and "{" not in cause_and_facts[0].reason:
            return index.explanation(_named(about), cause_and_facts[0].id, stage, line)
    return None


def _words(event: Mapping[str, Any]) -> str:
    return f"{event.get('reason', '')}: {event.get('message', '')}"


def _timed(event: Mapping[str, Any]) -> str:
    return f"{time_of(event)} {_words(event)}".strip()


def _named(about: Mapping[str, Any]) -> str:
    where = str(about.get("namespace", "") or "")
    return f"{where}/{about.get('name', '')}" if where else str(about.get("name", ""))
