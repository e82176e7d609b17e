"""Removal of definitions of kinds and marks of nodes that came with the stack, and a list of what stays."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from cluster_cleanup.model import Found, Requests, Wanted
from cluster_cleanup.nodes import clean_nodes
from json_http import Refused

DEFINITIONS = "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
WEBHOOKS = "/apis/admissionregistration.k8s.io/v1"
PAUSE_SECONDS = 1.0


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
    if wanted.operator and any(True for _ in _objects(server, wanted.operator)):
        say("a GPU Operator is in the cluster: its labels of nodes stay")
        wanted = _with_operator(wanted)
    problems = clean_nodes(server, wanted, found, say)
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


def _with_operator(wanted: Wanted) -> Wanted:
    """Without what the operator that is there labels, also where a class gives it."""
    patterns = [*wanted.labels, *wanted.annotations]
    nodes = {
        name: {
            part: {key: value for key, value in given.items() if not _matches(key, patterns)}
            if part != "taints"
            else given
            for part, given in marks.items()
        }
        for name, marks in wanted.nodes.items()
    }
    return replace(wanted, labels=(), annotations=(), nodes=nodes)


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
