"""Reading of the platform's objects in its cluster. It writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from physical_ai.kubernetes.objects import Json
from physical_ai.readiness.answers import Get, Missing, Unreachable, is_forbidden
from physical_ai.readiness.platform.absence import MADE, PlatformState, plural
from physical_ai.readiness.platform.parts import KINDS, WEBHOOKS, Installed, Part
from physical_ai.readiness.platform.records import recorded, revisions

RECORDS = "Helm's records of releases"
DEPLOYED = {"labelSelector": "owner=helm,status=deployed"}
SECRETS, NAMESPACES = "/api/v1/secrets", "/api/v1/namespaces"
ALWAYS = ("Deployment", "DaemonSet", "StatefulSet", "ClusterPolicy", "Config", "SchedulingShard", "Queue", "Service",
          *WEBHOOKS)  # fmt: skip


def read_platform(
    get: Get, given: Installed, known: Mapping[str, Sequence[Json]], unread: list[str]
) -> PlatformState | None:
    """State of the platform; None where the cluster's namespaces cannot be read, so that nothing is known.

    Args:
        known: Objects that were already read, by kind.
        unread: List to which objects that the login may not read are added.

    Raises:
        Unreachable, Unusable: `get` raised it.
    """

    def may(what: str, path: str, parameters: Mapping[str, str] | None = None) -> list[Json] | None:
        try:
            return [dict(each) for each in get(path, parameters or {}).get("items") or ()]
        except Missing:
            return []
        except Unreachable as refusal:
            # The records of many releases may be more than one reading may fetch; then the comparison is made without
            # them.
            if not is_forbidden(refusal) and path != SECRETS:
                raise
            unread.append(f"{what} ({refusal})")
            return None

    if not may("namespaces", NAMESPACES):
        return None
    secrets = may(RECORDS, SECRETS, DEPLOYED)
    homes = frozenset[str]()
    if secrets is None:
        # A team's login may have the right in some namespaces only.
        secrets, homes = _by_namespace(get, given)
    last = revisions(secrets, given.namespaces)
    parts = [part for each in last.values() for part in recorded(each)]
    live: dict[str, Sequence[Json]] = {kind: items for kind, items in known.items() if kind in KINDS}
    kinds = (*ALWAYS, *(MADE if homes else ()), *(part.kind for part in (*parts, *given.own)))
    for kind in dict.fromkeys(kinds):
        if kind in KINDS and kind not in live and (items := may(_title(kind), KINDS[kind])) is not None:
            live[kind] = items
    maps = [part for part in (*parts, *given.own) if part.kind == "ConfigMap"]
    if (found := _config_maps(get, maps, unread)) is not None:
        live["ConfigMap"] = found
    releases = frozenset(release for _, release in last)
    return PlatformState(given, parts, releases, live, homes)


def _by_namespace(get: Get, given: Installed) -> tuple[list[Json], frozenset[str]]:
    """Helm's records in the namespaces of the releases, and the names of the namespaces whose records the login could
    not read.
    """
    found: list[Json] = []
    refused: set[str] = set()
    for home in sorted(set(given.releases.values())):
        try:
            answer = get(f"{NAMESPACES}/{home}/secrets", DEPLOYED)
            found += [dict(each) for each in answer.get("items") or ()]
        except Missing:
            continue
        except Unreachable:
            refused.add(home)
    return found, frozenset(refused)


def _title(kind: str) -> str:
    """Name of a kind in the report of a refused request. The diagnosis of workloads uses the same name, so a kind that
    both could not read is reported only once.
    """
    return "KAI's queues" if kind == "Queue" else plural(kind)


def _config_maps(get: Get, parts: Sequence[Part], unread: list[str]) -> list[Json] | None:
    """ConfigMaps in `parts` that exist in the cluster; None if the login may not read one. Each ConfigMap is requested
    by its name, because a list would include large ConfigMaps of others.
    """
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
