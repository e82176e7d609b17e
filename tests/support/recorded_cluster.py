"""Small cluster behind a `Get`. It contains everything that must not get into a recording of it."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import Any

from physical_ai.readiness.answers import Missing, Unreachable
from workbench.recordings.asking import Bounded, cluster_entries
from workbench.recordings.form import Entry
from workbench.recordings.making import head, made
from workbench.recordings.questions import Limits

STACK, AT = "dev-westus2", "2026-11-28T04:00:00Z"
GUID = "3f2b8c1e-9a4d-4f6e-8b7a-112233445566"
SECRETS = ("hunter2-hunter2", "eyJhbGciOiJSUzI1NiJ9.eyJzdWIiOiJ4In0.c2lnbmF0dXJl", "ghp_abcdefghijklmnop1234")
NODE = "aks-h100gpu-19345786-vmss000000"
HOST = "gpu-box-7.corp.acme.internal"
PRIVATE = (NODE.split("-")[2], HOST, GUID, "10.77.3.9", "10.77.0.0", "20.61.4.5", "jane.doe@acme.org", "jane.doe",
           "osmo.acme.org")  # fmt: skip
Lists = dict[str, list[dict[str, Any]]]


def lists() -> Lists:
    """Objects of the cluster, by path."""
    env = [{"name": "DB_PASSWORD", "value": SECRETS[0]}, {"name": "MODE", "value": "fast"},
           {"name": "URL", "value": "https://osmo.acme.org/api"}]  # fmt: skip
    return {
        "/api/v1/nodes": [
            {"metadata": {"name": NODE, "labels": {"agentpool": "h100gpu"}, "uid": GUID},
             "spec": {"podCIDR": "10.77.0.0/24"},
             "status": {"addresses": [{"type": "InternalIP", "address": "10.77.3.9"}], "capacity": {"cpu": "40"}}},
            {"metadata": {"name": HOST}, "spec": {},
             "status": {"addresses": [{"type": "Hostname", "address": HOST}]}},
        ],
        "/api/v1/namespaces": [{"metadata": {"name": "osmo-workflows"}}],
        "/api/v1/pods": [
            {"metadata": {"name": "train-0", "namespace": "osmo-workflows", "labels": {"app": "train"},
                          "annotations": {"acme.org/submitted-by": "jane.doe",
                                          "kubectl.kubernetes.io/last-applied-configuration": SECRETS[0]},
                          "managedFields": [{"manager": "kubectl"}]},
             "spec": {"nodeName": NODE, "containers": [{"name": "main", "image": "img:1.2.3", "env": env}]},
             "status": {"phase": "Failed", "podIP": "10.77.3.9", "containerStatuses": [
                 {"name": "main", "state": {"terminated": {"exitCode": 1}}}]}},
            {"metadata": {"name": f"kube-proxy-{HOST}", "namespace": "kube-system"}, "spec": {"nodeName": HOST,
             "containers": [{"name": "main", "args": [f"--token={SECRETS[2]}"]}]}, "status": {"phase": "Running"}},
        ],
        "/api/v1/configmaps": [
            {"metadata": {"name": "settings", "namespace": "osmo-workflows"},
             "data": {"mail": "jane.doe@acme.org", "config.yaml": f"user: jane\npassword: {SECRETS[0]}\nsize: 3\n"}},
        ],
        "/api/v1/events": [
            {"metadata": {"name": "e1", "namespace": "osmo-workflows"}, "reason": "Failed", "type": "Warning",
             "involvedObject": {"kind": "Pod", "name": "train-0", "namespace": "osmo-workflows"},
             "message": f'Pull from 20.61.4.5 with Bearer {SECRETS[1]} on {HOST} failed: secret "a" not found'},
        ],
        "/apis/apps/v1/deployments": [],
    }  # fmt: skip


DISCOVERY: Mapping[str, Any] = {
    "/version": {"major": "1", "minor": "36", "gitVersion": "v1.36.3"},
    "/api/v1": {"resources": [{"name": each, "verbs": ["list"]} for each in
                              ("nodes", "pods", "namespaces", "configmaps", "events", "secrets")]},
    "/apis": {"groups": [{"name": "apps", "preferredVersion": {"groupVersion": "apps/v1"}, "versions": []}]},
    "/apis/apps/v1": {"resources": [{"name": "deployments", "verbs": ["list"]}]},
}  # fmt: skip


class World:
    """`Get` over these lists, which keeps the paths that it was asked for."""

    def __init__(self, given: Lists | None = None, refused: Sequence[str] = ()) -> None:
        self.lists, self.refused = lists() if given is None else given, refused
        self.asked: list[str] = []

    def __call__(self, path: str, parameters: Mapping[str, str]) -> Any:
        self.asked.append(path)
        if any(path.endswith(each) for each in self.refused):
            raise Unreachable(f"403 no right to {path}", 403)
        if path.endswith("/log"):
            return f"step 1\nAPI_TOKEN={SECRETS[2]} of {NODE}"
        if path in DISCOVERY:
            return copy.deepcopy(DISCOVERY[path])
        if path not in self.lists and not path.startswith("/api/v1/"):
            raise Missing(path)
        return {"items": copy.deepcopy(self.lists.get(path, []))}


def recorded(world: Any, others: Sequence[Entry] = (), limits: Limits | None = None) -> list[Entry]:
    """Entries of a recording of this cluster, after those in `others`."""
    said: list[str] = []
    own = cluster_entries(Bounded(world, limits or Limits(logs=True)), said.append)
    return made([head(STACK, AT, "a test", simulated=False), *others, *own])
