"""Snapshots of volumes by service: take one of each, wait until they are complete, and delete what is too old."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol, cast

from json_http import Refused

GROUP = "snapshot.storage.k8s.io"
SERVICE = "physical-ai/data-service"
"""Label with the name of the service whose volume it is; what has no such label has another owner, and stays."""
PAUSE_SECONDS = 5.0


class Requests(Protocol):
    def request(self, method: str, path: str, body: Any = None) -> Any: ...


@dataclass(frozen=True)
class Wanted:
    """What one run does.

    Attributes:
        claims: PersistentVolumeClaim by service, in the order in which their snapshots are taken.
        snapshot_class: VolumeSnapshotClass.
        keep: how many complete snapshots of each service remain.
    """

    namespace: str
    snapshot_class: str
    keep: int
    claims: Mapping[str, str]


class Failed(Exception):
    """A snapshot is not complete; nothing was deleted."""


def take(
    server: Requests,
    wanted: Wanted,
    moment: str,
    *,
    seconds: float,
    pause: Callable[[float], object],
    say: Callable[[str], None],
) -> None:
    """Takes one snapshot of each claim, one after the other, and then deletes old ones.

    A snapshot is complete before that of the next service begins: what a row of the database names was written to the
    storage before it, so a later snapshot of the storage has it.

    Args:
        moment: Time, as the names of the snapshots have it.
        seconds: How long to wait for each.

    Raises:
        Refused, Failed: Before anything is deleted.
    """
    path = f"/apis/{GROUP}/v1/namespaces/{wanted.namespace}/volumesnapshots"
    for service, claim in wanted.claims.items():
        name = f"{service}-{moment}"
        _create(server, path, _body(wanted, service, claim, name))
        _until_complete(server, f"{path}/{name}", name, seconds, pause)
        say(f"{name} is complete")
    for service in wanted.claims:
        for name in _too_old(server.request("GET", path)["items"], service, wanted.keep):
            _delete(server, f"{path}/{name}")
            say(f"{name} is deleted")


def _body(wanted: Wanted, service: str, claim: str, name: str) -> dict[str, Any]:
    return {
        "apiVersion": f"{GROUP}/v1",
        "kind": "VolumeSnapshot",
        "metadata": {"name": name, "labels": {SERVICE: service, "app.kubernetes.io/part-of": "physical-ai"}},
        "spec": {"volumeSnapshotClassName": wanted.snapshot_class, "source": {"persistentVolumeClaimName": claim}},
    }


def _create(server: Requests, path: str, body: Mapping[str, Any]) -> None:
    try:
        server.request("POST", path, body)
    except Refused as refusal:
        # A run of the same minute was killed: its snapshot is as good.
        if refusal.code != 409:
            raise


def _until_complete(server: Requests, path: str, name: str, seconds: float, pause: Callable[[float], object]) -> None:
    end = time.monotonic() + seconds
    while True:
        status = _map(_map(server.request("GET", path)).get("status"))
        if status.get("readyToUse") is True:
            return
        reason = str(_map(status.get("error")).get("message") or "it is not complete yet")
        if time.monotonic() + PAUSE_SECONDS > end:
            raise Failed(f"{name}: {reason}. No snapshot was deleted.")
        pause(PAUSE_SECONDS)


def _too_old(items: Iterable[Any], service: str, keep: int) -> list[str]:
    """Names of the service's snapshots beyond those that are kept, and of those that never became complete."""
    own = [_map(item) for item in items if _map(_map(item["metadata"]).get("labels")).get(SERVICE) == service]
    # The time is the last part of each name.
    own.sort(key=lambda item: str(item["metadata"]["name"]), reverse=True)
    complete = [item for item in own if _map(item.get("status")).get("readyToUse") is True]
    kept = {str(item["metadata"]["name"]) for item in complete[:keep]}
    return [name for item in own if (name := str(item["metadata"]["name"])) not in kept]


def _delete(server: Requests, path: str) -> None:
    try:
        server.request("DELETE", path)
    except Refused as refusal:
        if refusal.code != 404:
            raise


def _map(value: Any) -> Mapping[str, Any]:
    return cast("Mapping[str, Any]", value) if isinstance(value, dict) else {}
