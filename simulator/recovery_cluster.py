"""Recovery of a cluster after a killed run: objects that the run has left, and Helm releases whose helm process was
killed.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from simulator.kubernetes.client import Client, UnknownKind
from simulator.kubernetes.helm import Helm
from simulator.kubernetes.objects import (
    RELEASE_TYPE,
    field_manager,
    gvk_of,
    name_of,
    namespace_of,
    object_id,
    parse_id,
)
from simulator.recovery import Created
from simulator.scheduling import kai_names

NO_ROLLBACK = frozenset({kai_names.CHART})
"""Charts whose releases stay failed after `helm rollback`. Such a chart renders some objects only if they do not exist
yet. So the manifest of an earlier revision contains existing objects that the manifest of a later revision lacks
(kai-scheduler/KAI-Scheduler v0.17.0).
"""
SECONDS = 120
"""Maximum number of seconds to wait for the deletion of namespaces."""


@dataclass(frozen=True)
class ClusterRecovery:
    """Recovery of one cluster: compares its objects and releases with the engine's state, with an administrator's
    rights.
    """

    client: Client
    helm: Helm

    def created(self, resource: Mapping[str, Any]) -> Created | None:
        """The Kubernetes object or Helm release that an interrupted creation has left behind, marked as unfinished so
        that the engine completes it with an update. None if there is neither.

        A release whose install or uninstallation was cut off is uninstalled, and the result is None.
        """
        inputs: dict[str, Any] = resource.get("inputs") or {}
        if resource["type"] == RELEASE_TYPE:
            name, namespace = str(inputs["name"]), str(inputs["namespace"])
            status = self._status(name, namespace)
            if status in ("pending-install", "uninstalling"):
                self.helm.run("uninstall", name, "--namespace", namespace, "--wait")
                self._wait_for_namespaces()
            elif status:
                return Created(f"{namespace}/{name}", None, unfinished=True)
            return None
        group_version, namespace = gvk_of(inputs).api_version, namespace_of(inputs)
        try:
            if self.client.find(self.client.path(group_version, inputs["kind"], namespace, name_of(inputs))) is None:
                return None
        except UnknownKind:
            return None
        manager = {"__fieldManager": field_manager(str(resource["urn"]))}
        return Created(object_id(inputs), {**inputs, **manager}, unfinished=True)

    def interrupted(self, resource: Mapping[str, Any]) -> None:
        """Undoes an interrupted upgrade of a release: helm would otherwise report that an upgrade is still running."""
        if resource["type"] != RELEASE_TYPE:
            return
        namespace, name = parse_id(str(resource["id"]))
        if self._status(name, namespace) in ("pending-upgrade", "pending-rollback"):
            if name in NO_ROLLBACK:
                self._forget(name, namespace)
                return
            good = [each["revision"] for each in self.helm.history(name, namespace) if each["status"] == "deployed"]
            self.helm.run("rollback", name, *map(str, good[-1:]), "--namespace", namespace)

    def _forget(self, name: str, namespace: str) -> None:
        """Removes helm's record of the unfinished revision. helm then upgrades from the revision before the unfinished
        one.
        """
        last = self.helm.last_release(name, namespace) or {}
        record = f"sh.helm.release.v1.{name}.v{last['version']}"
        self.client.request("DELETE", f"/api/v1/namespaces/{namespace}/secrets/{record}")

    def is_gone(self, resource: Mapping[str, Any]) -> bool:
        """True if the resource is a release that no longer exists: a release cannot be uninstalled twice, whereas
        deleting an object twice is no error.
        """
        if resource["type"] != RELEASE_TYPE:
            return False
        namespace, name = parse_id(str(resource["id"]))
        return not self._status(name, namespace)

    def _status(self, name: str, namespace: str) -> str:
        live = self.helm.last_release(name, namespace)
        return str((live or {}).get("info", {}).get("status", ""))

    def _wait_for_namespaces(self) -> None:
        """Waits until no namespace is being deleted, because a release cannot be installed into such a namespace."""
        end = time.monotonic() + SECONDS
        while time.monotonic() < end:
            listed = self.client.get("/api/v1/namespaces")["items"]
            if all(each["status"].get("phase") != "Terminating" for each in listed):
                return
            time.sleep(0.2)
