"""API server with the objects of a recording, in which nobody can change anything.

etcd and kube-apiserver are the real programs. No controller, scheduler or other part of the simulator runs beside them,
so everything stays as it was recorded: nothing is scheduled, started, evicted or deleted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from simulator import processes
from simulator.cluster.objects import at, name
from simulator.control_plane import ControlPlane
from simulator.control_plane.kubeconfig import with_certificate
from simulator.home import Home
from simulator.kubernetes.client import MERGE_PATCH, SERVING, ApiError, Client, Object
from simulator.replay_objects import PLAIN, READER, Item, Listed, loadable
from simulator.tools import toolbox

GROUP = "physical-ai:recording-readers"
READ_PATHS = ("/api", "/api/*", "/apis", "/apis/*", "/healthz", "/livez", "/openapi/*", "/readyz", "/version")
"""URL paths, other than those of resources, that the user of the recording's kubeconfig may request."""
ADMISSION = ("ServiceAccount", "PodSecurity", "LimitRanger", "ResourceQuota", "Priority", "RuntimeClass",
             "DefaultTolerationSeconds", "StorageObjectInUseProtection", "PersistentVolumeClaimResize",
             "DefaultStorageClass", "NamespaceLifecycle", "TaintNodesByCondition", "PodTopologyLabels")  # fmt: skip
"""Admission plugins that are turned off, because they could refuse or change the recorded objects."""


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
        """Creates the recorded objects with their status. Objects that other objects need are created first; the
        deletion of objects begins last.

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
        for each in items:
            _end(client, each, found)
        _let_read(client, [*readable, *(each.resource for each in given)])
        client.close()
        return found


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


def _create(client: Client, listed: Listed, item: Object, found: Loaded) -> str:
    """Creates an object and its status. Returns the new id of the object; empty if the object was not created.

    An object that every API server makes by itself, such as the namespace kube-system, gets the recorded labels and
    annotations.
    """
    body = {key: value for key, value in item.items() if key != "status"}
    place = listed.place(item)
    path = f"{place}/{name(item)}"
    try:
        try:
            made = client.request("POST", place, body)
        except ApiError as refusal:
            if refusal.reason != "AlreadyExists":
                raise
            marks = {key: item["metadata"][key] for key in ("labels", "annotations") if key in item["metadata"]}
            made = client.patch(path, {"metadata": marks}, MERGE_PATCH)
    except ApiError as refusal:
        found.refused.append(f"{listed.kind} {at(item, 'metadata.namespace', '')}/{name(item)}: {refusal}")
        return ""
    found.objects += 1
    if item.get("status") and listed.resource != "customresourcedefinitions":
        try:
            _put_status(client, path, item["status"])
        except ApiError as refusal:
            found.refused.append(f"status of {listed.kind} {name(item)}: {refusal}")
    return str(at(made, "metadata.uid", ""))


def _put_status(client: Client, path: str, status: object) -> None:
    """Gives an object its recorded status. A custom resource whose definition has no subresource for it keeps it in the
    object itself.
    """
    try:
        client.patch(f"{path}/status", {"status": status}, MERGE_PATCH)
    except ApiError as refusal:
        if refusal.code != 404:
            raise
        client.patch(path, {"status": status}, MERGE_PATCH)


def _end(client: Client, item: Item, found: Loaded) -> None:
    """Begins the deletion of an object that was being deleted when it was recorded, and that stays."""
    if item.grace is None:
        return
    path = f"{item.listed.place(item.recorded)}/{name(item.recorded)}"
    try:
        client.request("DELETE", path, params={"gracePeriodSeconds": str(item.grace)})
    except ApiError as refusal:
        if refusal.code != 404:
            found.refused.append(f"deletion of {item.listed.kind} {name(item.recorded)}: {refusal}")


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
