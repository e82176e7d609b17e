"""Existence and scope of kinds: from the server, from CRDs that are being created, or from the built-in table."""

from __future__ import annotations

import threading
from typing import cast

from simulator.kubernetes.client import ApiError, Client, Unreachable
from simulator.kubernetes.objects import BUILT_IN_GROUPS, CLUSTER_SCOPED, Gvk, Object, gvk_of
from simulator.wire import Refused, has_unknown


class Scopes:
    """Knowledge of one provider about which kinds are namespaced and which are cluster-scoped. Without a connection to
    a cluster, it comes from the built-in table of kinds only.
    """

    def __init__(self, client: Client | None) -> None:
        self._client = client
        self._planned: dict[tuple[str, str], bool] = {}
        self._lock = threading.Lock()

    def namespaced(self, obj: Object) -> bool:
        """True for an object whose kind has a namespace; an unknown kind counts as namespaced."""
        gvk = gvk_of(obj)
        served = self.served(gvk)
        if served is not None:
            return served
        with self._lock:
            planned = self._planned.get((gvk.group, gvk.kind))
        return planned if planned is not None else (gvk.group, gvk.kind) not in CLUSTER_SCOPED

    def served(self, gvk: Gvk) -> bool | None:
        """True if the server serves the kind as a namespaced kind, False if as a cluster-scoped kind. None if the
        server does not serve the kind or can't be reached.
        """
        if self._client is None:
            return None
        try:
            resource = self._client.resource(gvk.api_version, gvk.kind)
        except (ApiError, Unreachable) as problem:
            raise Refused(f"the Kubernetes API server's list of resources cannot be read: {problem}") from None
        return resource.namespaced if resource else None

    def unknown_kind(self, obj: Object) -> str:
        """Reason why a kind can't exist; empty if the kind might exist.

        Only kinds of built-in API groups are checked: the program's CRDs and charts can add kinds to all other groups.
        """
        gvk = gvk_of(obj)
        if self._client is None or gvk.group not in BUILT_IN_GROUPS or self.served(gvk) is not None:
            return ""
        kinds = self._client.kinds(gvk.api_version)
        has = f"it has: {', '.join(sorted(kinds))}" if kinds else "it does not serve that version"
        return f'no matches for kind "{gvk.kind}" in version "{gvk.api_version}" of this Kubernetes; {has}'

    def plan(self, crd: Object) -> None:
        """Stores the scope of a CRD that the program creates. Objects that are checked before the CRD exists get this
        scope.
        """
        spec = crd.get("spec")
        if not isinstance(spec, dict) or has_unknown(spec):
            return
        known = cast("Object", spec)
        names = cast("Object", known.get("names") or {})
        with self._lock:
            self._planned[str(known.get("group")), str(names.get("kind"))] = known.get("scope") != "Cluster"

    def forget(self, crd: Object) -> None:
        """Forgets the kinds of a CRD that was created, changed or deleted. The next question about these kinds then
        asks the server.
        """
        spec = cast("Object", crd.get("spec") or {})
        for version in cast("list[Object]", spec.get("versions") or []):
            if self._client is not None:
                self._client.forget(f"{spec.get('group')}/{version.get('name')}")
