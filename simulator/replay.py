"""API server with the objects of a recording, in which nobody can change anything.

etcd and kube-apiserver are the real programs. No controller, scheduler or other part of the simulator runs beside them,
so everything stays as it was recorded: nothing is scheduled, started, evicted or deleted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from simulator import processes
from simulator.cluster.objects import at, name
from simulator.control_plane import ControlPlane
from simulator.control_plane.kubeconfig import with_certificate
from simulator.home import Home
from simulator.kubernetes.client import MERGE_PATCH, SERVING, ApiError, Client, Object
from simulator.tools import toolbox

READER = "recording-reader"
GROUP = "physical-ai:recording-readers"
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
SERVER_CHOOSES: Mapping[str, tuple[str, ...]] = {
    "services": ("spec.clusterIP", "spec.clusterIPs[]"),
    "customresourcedefinitions": ("status",),
}
"""Paths of values that may differ from the recording because the API server chooses them, by resource."""
READ_PATHS = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi/*", "/readyz", "/version")
"""URL paths, other than those of resources, that the user of the recording's kubeconfig may request."""
PLAIN = re.compile(r"[a-z0-9]([a-z0-9.-]{0,251}[a-z0-9])?")
"""Pattern of the valid names of resources, groups and namespaces. No character in such a name has a special meaning in
a URL path or an RBAC rule.
"""
LIST = re.compile(rf"(/api/v1|/apis/{PLAIN.pattern}/v[a-z0-9]+)/{PLAIN.pattern}")
ADMISSION = ("ServiceAccount", "PodSecurity", "LimitRanger", "ResourceQuota", "Priority", "RuntimeClass",
             "DefaultTolerationSeconds", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
             "DefaultStorageClass", "NamespaceLifecycle", "TaintNodesByCondition", "PodTopologyLabels")  # fmt: skip
"""Admission plugins that are turned off, because they could refuse or change the recorded objects."""


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


@dataclass
class Loaded:
    """Result of loading a recording: the number of created objects, and the refused objects."""

    objects: int = 0
    refused: list[str] = field(default_factory=list[str])
    """Objects that the API server refused, each with its reason."""


class ReplayPlane(ControlPlane):
    """Control plane that consists of etcd and an API server only."""

    @property
    def kubeconfig(self) -> Path:
        """Path of a kubeconfig whose user may read everything and change nothing."""
        return self.folder / "kubeconfig"

    def begin(self) -> None:
        """Starts the control plane without any objects.

        Raises: ControlPlaneFailed
        """
        self.wipe()
        self.folder.mkdir(mode=0o700, parents=True)
        tokens = self.folder / "tokens.csv"
        tokens.touch(mode=0o600)
        self._tokens = tokens
        self._make_pki()
        self._choose_port()
        self._start_etcd_and_api_server()
        self._wait_until_it_answers(SERVING)
        self.kubeconfig.touch(mode=0o600)
        self.kubeconfig.write_text(with_certificate(self.server, self._pki, "reader"))

    def _further_logins(self) -> Sequence[tuple[str, str, str]]:
        return (("reader", READER, GROUP),)

    def _server_options(self) -> Sequence[str]:
        return (f"--disable-admission-plugins={','.join(ADMISSION)}",)

    @property
    def is_live(self) -> bool:
        """True while both processes of the control plane run."""
        return {"etcd", "kube-apiserver"} <= set(processes.running(self.folder))

    def load(self, lists: Iterable[Listed], readable: Iterable[str], say: Callable[[str], None]) -> Loaded:
        """Creates the recorded objects with their status. Objects that other objects need are created first.

        `readable`: resources that the reader may read even if the server does not have them. The reader then gets the
        answer "not found" in place of "forbidden".
        """
        client, found = Client(self.admin_kubeconfig()), Loaded()
        given = list(lists)
        ids: dict[str, str] = {}
        items = list(loadable(given))
        for number, each in enumerate(items):
            if number % 50 == 0:
                say(f"loading {each.listed.resource}: {number} of {len(items)} objects")
            new = _create(client, each.listed, each.body(ids), found)
            if each.id and new:
                ids[each.id] = new
        _let_read(client, [*readable, *(each.resource for each in given)])
        client.close()
        return found


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


def reader_rules(resources: Iterable[str]) -> list[Object]:
    """RBAC rules with the right to read `resources`, but no subresources such as `nodes/proxy`."""
    named = sorted({each for each in resources if PLAIN.fullmatch(each)})
    return [
        {"apiGroups": ["*"], "resources": named, "verbs": ["get", "list", "watch"]},
        {"nonResourceURLs": list(READ_PATHS), "verbs": ["get"]},
    ]


def plane_of(stack: str) -> ReplayPlane:
    """Control plane for the recording of a stack, with a folder in the user's folder of the simulator."""
    home = Home.of_user()
    folder = home.folder / "replays" / home.simulation(stack).name
    return ReplayPlane(folder, toolbox(home.tools), folder / "tokens.csv")


def _body(listed: Listed, item: Mapping[str, Any]) -> Object:
    metadata = {key: value for key, value in item["metadata"].items() if key not in SERVER_SETS}
    body: Object = {**item, "apiVersion": listed.api_version, "kind": listed.kind, "metadata": metadata}
    spec = body.get("spec")
    if listed.resource == "services" and isinstance(spec, dict):
        own = {key: value for key, value in at(item, "spec").items() if key not in ("clusterIP", "clusterIPs")}
        body["spec"] = {**own, "clusterIP": "None"} if at(item, "spec.clusterIP") == "None" else own
    if listed.resource == "customresourcedefinitions" and isinstance(spec, dict):
        body["spec"] = {**at(item, "spec"), "conversion": {"strategy": "None"}}
    return body


def _create(client: Client, listed: Listed, item: Object, found: Loaded) -> str:
    """Creates an object and its status. Returns the new id of the object; empty if the object was not created."""
    body = {key: value for key, value in item.items() if key != "status"}
    place = listed.place(item)
    new = ""
    try:
        new = str(at(client.request("POST", place, body), "metadata.uid", ""))
    except ApiError as refusal:
        if refusal.reason != "AlreadyExists":  # what every API server makes by itself
            found.refused.append(f"{listed.kind} {at(item, 'metadata.namespace', '')}/{name(item)}: {refusal}")
            return ""
    found.objects += 1
    if item.get("status") and listed.resource != "customresourcedefinitions":
        try:
            client.patch(f"{place}/{name(item)}/status", {"status": item["status"]}, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code != 404:
                found.refused.append(f"status of {listed.kind} {name(item)}: {refusal}")
    return new


def _let_read(client: Client, resources: Iterable[str]) -> None:
    """Gives the user of the recording's kubeconfig, and nobody else, the right to read `resources` and all resources
    that the server itself has.
    """
    rights = "/apis/rbac.authorization.k8s.io/v1"
    versions = ["/api/v1"]
    for group in client.get("/apis")["groups"]:
        versions += [f"/apis/{each['groupVersion']}" for each in group["versions"]]
    served = [each["name"] for path in versions for each in client.get(path)["resources"]]
    rules = reader_rules([*served, *resources])
    client.request("POST", f"{rights}/clusterroles", {"metadata": {"name": READER}, "rules": rules})
    bound = {"roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": READER},
             "subjects": [{"kind": "Group", "name": GROUP}]}  # fmt: skip
    client.request("POST", f"{rights}/clusterrolebindings", {"metadata": {"name": READER}, **bound})
