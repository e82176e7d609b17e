"""Bounded GET requests to ARM for a recording, and the entries made from the answers."""

from __future__ import annotations

import time
from collections.abc import Iterator, Mapping
from typing import Any

from physical_ai.nested import is_mapping, mappings
from physical_ai.subscription.answers import Unanswered
from physical_ai.subscription.rest import ARM, Get
from workbench.recordings.asking import size_of
from workbench.recordings.form import Entry
from workbench.recordings.questions import Limits

MOST_PAGES = 50


class ArmReader:
    """Client for GET requests to ARM that stops at the limits on requests, bytes and time."""

    def __init__(self, get: Get, limits: Limits, until: float) -> None:
        self._get, self._limits, self._until = get, limits, until
        self.requests, self.bytes = 0, 0

    def __call__(self, path: str, version: str) -> Any:
        if self.requests >= self._limits.requests or self.bytes >= self._limits.mebibytes << 20:
            raise Unanswered(f"{path}: not read any more: {self.requests} requests, {self.bytes >> 20} MiB")
        if time.monotonic() > self._until:
            raise Unanswered(f"{path}: not read any more: {self._limits.seconds:g} s are over")
        self.requests += 1
        answer = self._get(path, {} if "api-version=" in path else {"api-version": version})
        self.bytes += size_of(answer)
        return answer

    def rows(self, path: str, version: str) -> Iterator[Mapping[str, Any]]:
        """Entries of a list, from all its pages. Raises Unanswered if a page is not usable or a limit is reached."""
        for _ in range(MOST_PAGES):
            answer = self(path, version)
            if not is_mapping(answer):
                raise Unanswered(f"{path}: the answer is no object")
            yield from mappings(answer.get("value"))
            following = answer.get("nextLink")
            if not isinstance(following, str) or not following:
                return
            if not following.startswith(f"{ARM}/"):
                raise Unanswered(f"{path}: Azure refers to another host")
            path = following
        raise Unanswered(f"{path}: the list does not end")


def entry_of(id_: str, type_: str, version: str, body: Any) -> Entry:
    """The entry of a resource. Raises Unanswered if its body is no object."""
    if not is_mapping(body):
        raise Unanswered(f"{id_}: the answer is no object")
    return {"kind": "azure", "id": id_, "type": type_, "apiVersion": version, "body": dict(body)}


def unread(what: str, problem: object) -> Entry:
    return {"kind": "unread", "what": what, "reason": str(problem)}
