"""Objects of a recording in the form and order in which a replay creates them. Pure functions.

A recording may come from anybody. So objects are left out that would give rights, call a server, or change what the API
server has created for itself.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.cluster.objects import at, name
from simulator.kubernetes.client import Object

READER = "recording-reader"
"""Name of the login that reads a replay, and of the ClusterRole with its rights."""
NOT_LOADED: Mapping[str, str] = {
    "mutatingwebhookconfigurations": "their servers do not run, and would be asked about every object",
    "validatingwebhookconfigurations": "their servers do not run, and would be asked about every object",
    "validatingadmissionpolicies": "they would judge what is loaded",
    "validatingadmissionpolicybindings": "they would judge what is loaded",
    "mutatingadmissionpolicies": "they would change what is loaded",
    "mutatingadmissionpolicybindings": "they would change what is loaded",
    "apiservices": "their servers do not run",
    "clusterrolebindings": "they would give rights to the login of the replay",
    "rolebindings": "they would give rights to the login of the replay",
    "ipaddresses": "the API server makes them",
    "servicecidrs": "the API server makes them",
}
"""Resources (plural names) whose objects are not loaded, with the reason for each."""
FIRST = ("customresourcedefinitions", "namespaces", "priorityclasses")
"""Resources (plural names) that are loaded first, because other objects need them."""
SERVER_SETS = ("uid", "resourceVersion", "creationTimestamp", "generation", "deletionTimestamp", "managedFields",
               "selfLink", "ownerReferences", "deletionGracePeriodSeconds")  # fmt: skip
"""Metadata fields that are removed before an object is created. The API server sets these fields itself, or they refer
to other objects by old ids.
"""
MOST_OWNERS = 8
"""Maximum depth of a chain of owners whose objects are created in the order of the chain. The Pod of a CronJob has two
owners above it: Job and CronJob.
"""
OWN_OBJECTS = frozenset({
    "clusterroles /admin", "clusterroles /edit", "clusterroles /view", f"clusterroles /{READER}",
    "configmaps kube-system/extension-apiserver-authentication", "services default/kubernetes",
})  # fmt: skip
"""Objects of the recording that are not loaded, because the API server or this module creates its own object with the
same name.
"""
OWN_REPORTERS = ("ipallocator-repair-controller", "portallocator-repair-controller")
"""Reporters of events that the API server writes by itself (kubernetes/kubernetes, pkg/registry/core/service): it may
look at a new Service before it knows that the Service's address is taken.
"""
SERVER_CHOOSES: Mapping[str, tuple[str, ...]] = {
    "services": ("spec.clusterIP", "spec.clusterIPs[]"),
    "customresourcedefinitions": ("status", "spec.conversion"),
    "jobs": ("spec.manualSelector",),
}
"""Paths of values that may differ from the recording, by resource. The API server chooses addresses and the state of a
definition. A definition converts nothing, since no webhook runs. A Job keeps its selector: the API server would put the
new id of the Job into it, and the Pods would no longer match.
"""
PLAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
"""Pattern of the valid names of resources, groups and namespaces. No character in such a name has a special meaning in
a URL path or an RBAC rule.
"""
LIST = re.compile(rf"(/api/v1|/apis/{PLAIN.pattern}/v[a-z0-9]+)/{PLAIN.pattern}")


@dataclass(frozen=True)
class Listed:
    """Resource whose objects are in one list of the recording."""

    path: str
    """Path of the list with all objects, such as `/apis/apps/v1/deployments`."""
    kind: str
    namespaced: bool
    items: Sequence[Mapping[str, Any]]

    @property
    def resource(self) -> str:
        return self.path.rpartition("/")[2]

    @property
    def api_version(self) -> str:
        return self.path.rpartition("/")[0].removeprefix("/apis/").removeprefix("/api/")

    def place(self, item: Mapping[str, Any]) -> str:
        """URL path of the collection in which an object of the list is created."""
        space = at(item, "metadata.namespace", "")
        head = self.path.rpartition("/")[0]
        return f"{head}/namespaces/{space}/{self.resource}" if self.namespaced and space else self.path


@dataclass(frozen=True)
class Item:
    """Object of a recording that is to be created, with the list that contains it."""

    listed: Listed
    recorded: Mapping[str, Any]

    @property
    def id(self) -> str:
        """UID that the object has in the recording."""
        return str(at(self.recorded, "metadata.uid", ""))

    @property
    def owners(self) -> list[Mapping[str, Any]]:
        return [each for each in at(self.recorded, "metadata.ownerReferences", []) if isinstance(each, dict)]

    def body(self, ids: Mapping[str, str]) -> Object:
        """The object to create. References to owners that already have a new id are kept with the new id; other
        references are left out.
        """
        found = _body(self.listed, self.recorded)
        owners = [{**each, "uid": ids[str(each["uid"])]} for each in self.owners if str(each.get("uid")) in ids]
        if owners:
            found["metadata"]["ownerReferences"] = owners
        return found

    @property
    def grace(self) -> int | None:
        """Grace period in seconds of an object that was being deleted when it was recorded. None for any other object,
        for an object that the API server would remove at once, and for a definition, whose objects it would remove.
        """
        if at(self.recorded, "metadata.deletionTimestamp") is None:
            return None
        given = at(self.recorded, "metadata.deletionGracePeriodSeconds")
        seconds = given if isinstance(given, int) and given > 0 else 0
        resource = self.listed.resource
        ends = seconds and resource == "pods" and at(self.recorded, "spec.nodeName")
        waits = ends and at(self.recorded, "status.phase") not in ("Succeeded", "Failed")
        stays = resource == "namespaces" or bool(at(self.recorded, "metadata.finalizers")) or bool(waits)
        return seconds if stays and resource != "customresourcedefinitions" else None


def loadable(lists: Iterable[Listed]) -> Iterator[Item]:
    """The objects of a recording to create, in this order: objects that other objects need come first, and owners come
    before the objects that they own.

    A recording may come from anybody. So objects are left out that would give rights, call a server, or change what the
    API server has created for itself.
    """
    given = [each for each in lists if LIST.fullmatch(each.path) and each.resource not in NOT_LOADED]
    items = [Item(each, item) for each in given for item in each.items if _is_own(each, item)]
    above = {each.id: [str(owner.get("uid")) for owner in each.owners] for each in items if each.id}
    depths = dict.fromkeys(above, 0)
    for _ in range(MOST_OWNERS):
        depths = {id_: max((depths.get(each, -1) + 1 for each in own), default=0) for id_, own in above.items()}

    def place(item: Item) -> tuple[int, int]:
        resource = item.listed.resource
        return FIRST.index(resource) if resource in FIRST else len(FIRST), depths.get(item.id, 0)

    yield from sorted(items, key=place)


def _is_own(listed: Listed, item: Mapping[str, Any]) -> bool:
    space = at(item, "metadata.namespace", "")
    if not PLAIN.fullmatch(space or "default") or f"{listed.resource} {space}/{name(item)}" in OWN_OBJECTS:
        return False
    return listed.resource not in ("clusterroles", "roles") or not name(item).startswith("system:")


def _body(listed: Listed, item: Mapping[str, Any]) -> Object:
    metadata = {key: value for key, value in item["metadata"].items() if key not in SERVER_SETS}
    body: Object = {**item, "apiVersion": listed.api_version, "kind": listed.kind, "metadata": metadata}
    spec = body.get("spec")
    if listed.resource == "services" and isinstance(spec, dict):
        own = {key: value for key, value in at(item, "spec").items() if key not in ("clusterIP", "clusterIPs")}
        body["spec"] = {**own, "clusterIP": "None"} if at(item, "spec.clusterIP") == "None" else own
    if listed.resource == "customresourcedefinitions" and isinstance(spec, dict):
        body["spec"] = {**at(item, "spec"), "conversion": {"strategy": "None"}}
    if listed.resource == "jobs" and isinstance(spec, dict):
        body["spec"] = {**at(item, "spec"), "manualSelector": True}
    return body
