"""Reads what of a platform is in its cluster. It writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.kubernetes.objects import Json
from physical_ai.readiness.answers import Get, Missing, Unreachable, is_forbidden
from physical_ai.readiness.platform.absence import Platform
from physical_ai.readiness.platform.parts import KINDS, Installed, Part
from physical_ai.readiness.platform.records import recorded, revisions

SECRETS, NAMESPACES = "/api/v1/secrets", "/api/v1/namespaces"
ALWAYS = ("Deployment", "DaemonSet", "StatefulSet", "ClusterPolicy", "Config", "SchedulingShard", "Queue")


def read_platform(
    get: Get, given: Installed, known: Mapping[str, Sequence[Json]], unread: list[str]
) -> Platform | None:
    """The parts of a platform; None where the cluster has no namespaces that could be read, so that nothing is known.

    Args:
        known: What is read already, by kind.
        unread: Gets what the login may not read.

    Raises:
        Unreachable, Unusable: as `get` does.
    """

    def may(what: str, path: str, parameters: Mapping[str, str] | None = None) -> list[Json] | None:
        try:
            return [dict(each) for each in get(path, parameters or {}).get("items") or ()]
        except Missing:
            return []
        except Unreachable as refusal:
            # Records of many releases may be more than a command reads; the rest is compared without them.
            if not is_forbidden(refusal) and path != SECRETS:
                raise
            unread.append(f"{what} ({refusal})")
            return None

    if not may("namespaces", NAMESPACES):
        return None
    secrets = may("Helm's records of releases", SECRETS, {"labelSelector": "owner=helm,status=deployed"})
    last = revisions(secrets or (), given.namespaces)
    parts = [part for each in last.values() for part in recorded(each)]
    live: dict[str, Sequence[Json]] = {kind: items for kind, items in known.items() if kind in KINDS}
    for kind in dict.fromkeys((*ALWAYS, *(part.kind for part in (*parts, *given.own)))):
        if kind in KINDS and kind not in live and (items := may(_title(kind), KINDS[kind])) is not None:
            live[kind] = items
    maps = [part for part in (*parts, *given.own) if part.kind == "ConfigMap"]
    if (found := _config_maps(get, maps, unread)) is not None:
        live["ConfigMap"] = found
    releases = frozenset(release for _, release in last)
    return Platform(given, None if secrets is None else parts, releases, live)


def _title(kind: str) -> str:
    """What a refusal calls a kind, as the diagnosis of workloads does, so that it is said once."""
    return "KAI's queues" if kind == "Queue" else "ClusterPolicies" if kind == "ClusterPolicy" else f"{kind}s"


def _config_maps(get: Get, parts: Sequence[Part], unread: list[str]) -> list[Json] | None:
    """The ConfigMaps among the parts that exist: each is asked for by its name, since others may be large."""
    found: list[Json] = []
    for part in parts:
        try:
            found.append(dict(get(f"/api/v1/namespaces/{part.namespace}/configmaps/{part.name}", {})))
        except Missing:
            continue
        except Unreachable as refusal:
            if not is_forbidden(refusal):
                raise
            unread.append(f"ConfigMaps ({refusal})")
            return None
    return found
