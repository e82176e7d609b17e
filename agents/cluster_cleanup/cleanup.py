"""What is removed, and what stays: definitions of kinds, and labels of nodes, that came with the stack."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fnmatch import fnmatchcase
from typing import Any, Protocol

from cluster_cleanup.server import Refused

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
NODES = "/api/v1/nodes"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
PAUSE_SECONDS = 1.0


class Requests(Protocol):
    def request(self, method: str, path: str, body: Any = None) -> Any: ...


@dataclass(frozen=True)
class Wanted:
    """What the stack may have left.

    Attributes:
        definitions: names of CustomResourceDefinitions that its charts bring.
        remains: by definition, patterns of the names of objects that its releases leave.
        labels: patterns of label keys that the GPU Operator sets on nodes.
        annotations: the same of annotations.
        operator: definition of the object without which no GPU Operator labels nodes.
        webhooks: by definition, `mutatingwebhookconfigurations/NAME` or `validatingwebhookconfigurations/NAME` that an
            operator keeps for an object of it. Without that operator they refuse what they are asked about.
    """

    definitions: Sequence[str]
    remains: Mapping[str, Sequence[str]]
    labels: Sequence[str]
    annotations: Sequence[str]
    operator: str
    webhooks: Mapping[str, Sequence[str]] = field(default_factory=dict[str, Sequence[str]])


@dataclass(frozen=True)
class Found:
    """What was in the cluster before the stack: definitions, and keys of labels and annotations by node."""

    definitions: Sequence[str]
    labels: Mapping[str, Sequence[str]]
    annotations: Mapping[str, Sequence[str]]


def clean(
    server: Requests,
    wanted: Wanted,
    found: Found,
    *,
    seconds: float,
    pause: Callable[[float], object],
    say: Callable[[str], object],
) -> list[str]:
    """Removes what the stack installed and others do not use; what could not be removed, and why.

    What was there before stays, and so does a kind of which others have objects. While a GPU Operator is in the
    cluster, nodes keep its labels.

    Args:
        seconds: How long to wait until a definition is gone, with the objects that the stack has left.
    """
    problems: list[str] = []
    if wanted.operator and any(True for _ in _objects(server, wanted.operator)):
        say("a GPU Operator is in the cluster: labels of nodes stay")
    else:
        _clean_nodes(server, wanted, found, problems, say)
    deleted: list[str] = []
    for definition in wanted.definitions:
        if definition in found.definitions:
            say(f"{definition} was there before: it stays")
            continue
        try:
            ours, webhooks = wanted.remains.get(definition, ()), wanted.webhooks.get(definition, ())
            if _delete(server, definition, ours, webhooks, say):
                deleted.append(definition)
        except Refused as refusal:
            problems.append(str(refusal))
    return problems + _until_gone(server, deleted, seconds, pause, say)


def _clean_nodes(
    server: Requests, wanted: Wanted, found: Found, problems: list[str], say: Callable[[str], object]
) -> None:
    for node in server.request("GET", NODES)["items"]:
        metadata, name = node["metadata"], str(node["metadata"]["name"])
        change = {
            "labels": _gone(metadata.get("labels"), wanted.labels, found.labels.get(name, ())),
            "annotations": _gone(metadata.get("annotations"), wanted.annotations, found.annotations.get(name, ())),
        }
        if not any(change.values()):
            continue
        try:
            server.request("PATCH", f"{NODES}/{name}", {"metadata": change})
            say(f"node {name}: {', '.join(sorted({**change['labels'], **change['annotations']}))} removed")
        except Refused as refusal:
            problems.append(str(refusal))


def _gone(given: Mapping[str, str] | None, patterns: Sequence[str], before: Sequence[str]) -> dict[str, None]:
    return dict.fromkeys(key for key in given or {} if _matches(key, patterns) and key not in before)


def _matches(text: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(text, pattern) for pattern in patterns)


def _delete(
    server: Requests, definition: str, ours: Sequence[str], webhooks: Sequence[str], say: Callable[[str], object]
) -> bool:
    """Deletes a definition and its webhooks unless others have objects of it; whether it did."""
    others = sorted({name for name in _objects(server, definition) if not _matches(name, ours)})
    if others:
        say(f"{definition} is kept: it has objects of another owner: {', '.join(others)}")
        return False
    for webhook in webhooks:
        try:
            server.request("DELETE", f"{WEBHOOKS}/{webhook}")
            say(f"{webhook} is deleted")
        except Refused as refusal:
            if refusal.code != 404:
                raise
    try:
        server.request("DELETE", f"{DEFINITIONS}/{definition}")
    except Refused as refusal:
        if refusal.code != 404:
            raise
        return False
    return True


def _objects(server: Requests, definition: str) -> Iterator[str]:
    """Names of the objects of a kind, in all namespaces; none where it is not defined."""
    try:
        spec = server.request("GET", f"{DEFINITIONS}/{definition}")["spec"]
        served = next(each["name"] for each in spec["versions"] if each["served"])
        items = server.request("GET", f"/apis/{spec['group']}/{served}/{spec['names']['plural']}")["items"]
    except Refused as refusal:
        if refusal.code != 404:
            raise
        return
    yield from (str(item["metadata"]["name"]) for item in items)


def _until_gone(
    server: Requests,
    definitions: Sequence[str],
    seconds: float,
    pause: Callable[[float], object],
    say: Callable[[str], object],
) -> list[str]:
    end = time.monotonic() + seconds
    waiting = list(definitions)
    while waiting := [each for each in waiting if _exists(server, each)]:
        if time.monotonic() > end:
            return [f"{each} is still being deleted: its objects have finalizers" for each in waiting]
        pause(PAUSE_SECONDS)
    for each in definitions:
        say(f"{each} is deleted")
    return []


def _exists(server: Requests, definition: str) -> bool:
    try:
        server.request("GET", f"{DEFINITIONS}/{definition}")
    except Refused as refusal:
        return refusal.code != 404
    return True
