"""Objects of one kind in the API server, kept up to date by a watch."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Mapping
from typing import Any

import httpx

from simulator.cluster.objects import Json, at
from simulator.kubernetes.client import ApiError, Client, Unreachable

RETRY_SECONDS = 0.5
"""Seconds until the next try where a kind is not served yet, or a watch has broken."""


def key_of(item: Mapping[str, Any]) -> tuple[str, str]:
    """Namespace (empty for cluster-scoped objects) and name of an object."""
    return str(at(item, "metadata.namespace", "")), str(at(item, "metadata.name", ""))


def version_of(item: Mapping[str, Any]) -> int:
    return int(at(item, "metadata.resourceVersion", 0))


class Watch:
    """Watch that lists a collection and follows its changes in a thread of its own until `stop`."""

    def __init__(
        self, client: Client, path: str, changed: Callable[[], None], selector: str = "", *, fields: str = ""
    ) -> None:
        """`changed` is called in the watch's thread after every change; `selector` is a label selector, `fields` a
        field selector.
        """
        self._client, self._path, self._changed = client, path, changed
        given = {"labelSelector": selector, "fieldSelector": fields}
        self._params = {key: value for key, value in given.items() if value}
        self._lock = threading.Lock()
        self._held: dict[tuple[str, str], Json] = {}
        self._gone: dict[tuple[str, str], int] = {}
        self._stopped = threading.Event()
        self.synced = threading.Event()
        """Event that is set after the first listing. If the API server does not serve the kind, the listing counts as
        empty.
        """
        self._thread = threading.Thread(target=self._follow, name=f"watch {path}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Ends the watch's thread and its connection."""
        self._stopped.set()

    def all(self) -> list[Json]:
        """The watched objects, sorted by namespace and name."""
        with self._lock:
            return [self._held[key] for key in sorted(self._held)]

    def put(self, item: Json) -> None:
        """Stores an object as the API server returned it after a write, so that readers see it before the watch reports
        it.
        """
        self._store(item)

    def forget(self, item: Json) -> None:
        """Removes an object that was deleted, before the watch reports its deletion."""
        with self._lock:
            self._drop(key_of(item), version_of(item))

    def _store(self, item: Json) -> None:
        key, version = key_of(item), version_of(item)
        metadata: Json = item.get("metadata", {})
        metadata.pop("managedFields", None)
        with self._lock:
            if version > version_of(self._held.get(key, {})) and version > self._gone.get(key, 0):
                self._held[key] = item

    def _drop(self, key: tuple[str, str], version: int) -> None:
        self._gone[key] = max(version, self._gone.get(key, 0))
        if version >= version_of(self._held.get(key, {})):
            self._held.pop(key, None)

    def _follow(self) -> None:
        while not self._stopped.is_set():
            try:
                self._events(self._list())
            except (ApiError, Unreachable, httpx.HTTPError) as problem:
                if isinstance(problem, ApiError) and problem.code == 404:
                    self._replace([], sys.maxsize)
                time.sleep(RETRY_SECONDS)

    def _list(self) -> str:
        listing = self._client.get(self._path, self._params)
        kind = {"apiVersion": listing["apiVersion"], "kind": str(listing["kind"]).removesuffix("List")}
        version = str(listing["metadata"]["resourceVersion"])
        self._replace([{**kind, **item} for item in listing["items"]], int(version))
        return version

    def _replace(self, items: list[Json], version: int) -> None:
        present = {key_of(item) for item in items}
        with self._lock:
            for key in [key for key, item in self._held.items() if key not in present and version_of(item) <= version]:
                del self._held[key]
            self._gone.clear()
        for item in items:
            self._store(item)
        self.synced.set()
        self._changed()

    def _events(self, version: str) -> None:
        for event in self._client.watch(self._path, version, self._params):
            if self._stopped.is_set():
                return
            item: Json = event["object"]
            if event["type"] == "ERROR":
                return  # usually the version is too old, and the objects are listed again
            if event["type"] == "DELETED":
                with self._lock:
                    self._drop(key_of(item), version_of(item))
            else:
                self._store(item)
            self._changed()
