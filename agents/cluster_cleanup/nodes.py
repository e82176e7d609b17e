"""Removal of marks from nodes: labels of the GPU Operator, and labels, annotations and taints of the stack's classes.

The deletion of the stack's NodePatches releases what their field manager owns. It does not own what another manager has
written since, such as the whole list of taints after a cordon: kubectl and controllers take over what they change.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any

from cluster_cleanup.model import Found, Requests, Wanted
from json_http import Refused

NODES = "/api/v1/nodes"
TRIES = 5
"""Number of times that a list of taints is read again because it was changed meanwhile."""
CONFLICT = 409
COMMANDS: Mapping[str, str] = {"label": "label", "annotation": "annotate", "taint": "taint"}
"""Commands of kubectl, by what they change."""

Node = Mapping[str, Any]
Say = Callable[[str], object]


@dataclass(frozen=True)
class Change:
    """The marks that a node loses.

    Attributes:
        taints: the list that remains; None where it stays as it is.
        removed: what goes, in words.
        notes: what stays, and why.
    """

    labels: Mapping[str, None]
    annotations: Mapping[str, None]
    taints: Sequence[Mapping[str, Any]] | None
    removed: Sequence[str]
    notes: Sequence[str]

    def patch(self, node: Node) -> dict[str, Any]:
        """A merge patch. It holds for the version that was read if it replaces the list of taints."""
        metadata: dict[str, Any] = {"labels": dict(self.labels), "annotations": dict(self.annotations)}
        if self.taints is None:
            return {"metadata": metadata}
        metadata["resourceVersion"] = node["metadata"]["resourceVersion"]
        return {"metadata": metadata, "spec": {"taints": list(self.taints) or None}}


def clean_nodes(server: Requests, wanted: Wanted, found: Found, say: Say) -> list[str]:
    """Removes what is the stack's from every node; what could not be removed, and why."""
    problems: list[str] = []
    for node in server.request("GET", NODES)["items"]:
        try:
            _clean(server, node, wanted, found, say)
        except Refused as refusal:
            problems.append(str(refusal))
    return problems


def change_of(node: Node, wanted: Wanted, found: Found) -> Change:
    """The marks that a node loses. Pure."""
    name = str(node["metadata"]["name"])
    ours = _Ours(name, wanted.nodes.get(name, {}), _unknown(name, found))
    labels = ours.keys("labels", node, wanted.labels, found.labels)
    annotations = ours.keys("annotations", node, wanted.annotations, found.annotations)
    kept, lost = ours.taints(node, wanted.own_taints, (found.taints or {}).get(name, ()))
    removed = [*sorted({**labels, **annotations}), *lost]
    return Change(labels, annotations, kept if lost else None, removed, ours.all_notes())


@dataclass(frozen=True)
class _Ours:
    """The marks that a class gives to one node, and what is noted about it.

    Attributes:
        unknown: why it is not known what the node had before; empty where it is.
        left: marks that stay for this reason.
    """

    name: str
    given: Mapping[str, Any]
    unknown: str
    notes: list[str] = field(default_factory=list[str])
    left: list[tuple[str, str]] = field(default_factory=list[tuple[str, str]])

    def keys(
        self, part: str, node: Node, of_operator: Sequence[str], before: Mapping[str, Sequence[str]]
    ) -> dict[str, None]:
        """The labels or annotations that go."""
        there: Mapping[str, str] = node["metadata"].get(part) or {}
        recorded, kind = before.get(self.name, ()), part.removesuffix("s")
        gone = dict.fromkeys(key for key in there if _matches(key, of_operator) and key not in recorded)
        for key, value in self.given.get(part, {}).items():
            if key not in there or key in recorded or key in gone:
                continue
            if there[key] != value:
                self.notes.append(f"the {kind} {key}={there[key]} stays: the stack's value was {value}")
            elif self.unknown:
                self.left.append((kind, key))
            else:
                gone[key] = None
        return gone

    def taints(
        self, node: Node, own: Sequence[str], before: Sequence[str]
    ) -> tuple[list[Mapping[str, Any]], list[str]]:
        """The taints that remain, and those that go."""
        ours: Sequence[str] = self.given.get("taints", ())
        by_key = {_key(each): each for each in ours}
        kept: list[Mapping[str, Any]] = []
        lost: list[str] = []
        for taint in node.get("spec", {}).get("taints") or ():
            text = taint_text(taint)
            if text in own or (text in ours and text not in before and not self.unknown):
                lost.append(text)
                continue
            kept.append(taint)
            if text in ours and text in before:
                self.notes.append(f"the taint {text} was there before: it stays")
            elif text in ours:
                self.left.append(("taint", text))
            elif taint["key"] in by_key and text not in before:
                self.notes.append(f"the taint {text} stays: it is another one than the stack's {by_key[taint['key']]}")
        return kept, lost

    def all_notes(self) -> list[str]:
        """With a note on what stays because it may have been there before."""
        if not self.left:
            return self.notes
        marks = ", ".join(f"{kind} {text}" for kind, text in self.left)
        commands = [f"kubectl {COMMANDS[kind]} node {self.name} {text}-" for kind, text in self.left]
        return [
            *self.notes,
            f"{marks}: it goes with the stack only where no other manager has written it, since {self.unknown}. "
            f"By hand: {'; '.join(commands)}",
        ]


def taint_text(taint: Mapping[str, Any]) -> str:
    """A taint as `key=value:Effect`."""
    value = f"={taint['value']}" if taint.get("value") else ""
    return f"{taint['key']}{value}:{taint['effect']}"


def _clean(server: Requests, node: Node, wanted: Wanted, found: Found, say: Say) -> None:
    name = str(node["metadata"]["name"])
    change = change_of(node, wanted, found)
    for left in reversed(range(TRIES)):
        if not change.removed:
            break
        try:
            server.request("PATCH", f"{NODES}/{name}", change.patch(node))
        except Refused as refusal:
            if refusal.code != CONFLICT or not left:
                raise
            node = server.request("GET", f"{NODES}/{name}")
            change = change_of(node, wanted, found)
            continue
        say(f"node {name}: {', '.join(change.removed)} removed")
        break
    for note in change.notes:
        say(f"node {name}: {note}")


def _unknown(name: str, found: Found) -> str:
    """The reason why it is not known what the node had before; empty where it is."""
    if found.taints is None:
        return "the record of what was there before has no taints and no labels of classes"
    return "" if name in found.taints else "the node is not in the record of what was there before"


def _key(taint: str) -> str:
    return taint.rpartition(":")[0].partition("=")[0]


def _matches(text: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)
