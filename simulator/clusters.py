"""The clusters of the simulated Azure: a control plane for each managed cluster, its nodes and its role bindings."""

from __future__ import annotations

import json
import shutil
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from simulator import metrics_addon, node_drain, pool_nodes, vault_addon
from simulator.acceptance.live import pod_log
from simulator.azure.roles import guid_of
from simulator.cluster_roles import RBAC_READER, reader_role
from simulator.control_plane import SLOTS_FILE, ControlPlane
from simulator.control_plane.kubeconfig import LOGIN_COMMAND
from simulator.entra import tokens_file
from simulator.errors import ControlPlaneFailed
from simulator.kubernetes.client import APPLY_PATCH, Client, Object
from simulator.kubernetes.kubeconfig import Kubeconfig
from simulator.osmo.control.gateway_server import address
from simulator.pool_nodes import FIELD_MANAGER
from simulator.tools import Toolbox

_RBAC = "Azure Kubernetes Service RBAC"
# Roles of Azure RBAC for Kubernetes, each with the equivalent ClusterRole (AKS docs).
CLUSTER_ROLES: Mapping[str, str] = {
    guid_of(f"{_RBAC} Cluster Admin"): "cluster-admin",
    guid_of(f"{_RBAC} Admin"): "admin",
    guid_of(f"{_RBAC} Writer"): "edit",
    guid_of(f"{_RBAC} Reader"): RBAC_READER,
}

LOGIN_VARIABLES = ("AAD_", "AZURE_")
"""Prefixes of the variables that kubelogin reads."""


class Clusters:
    """Implements `simulator.azure.cluster_host.ClusterHost` with control planes below `folder`.

    A control plane takes three seconds to start, so one is started ahead of the first cluster (`prepare`) and
    handed to whichever cluster is created next.
    """

    def __init__(self, folder: Path, tools: Toolbox) -> None:
        self._folder, self._tools = folder, tools
        self._lock = threading.RLock()
        self._clients: dict[str, Client] = {}
        self._preparing: threading.Thread | None = None
        self._failure: ControlPlaneFailed | None = None

    # Requests of the simulation

    def ids(self) -> list[str]:
        """Ids of the existing clusters."""
        return list(self._slots())

    def prepare(self, *, spare: bool) -> None:
        """Starts stopped control planes in the background; restarts those whose controllers run older code than the
        checkout.

        `spare`: if there is no cluster yet, also start a control plane for the first one.
        """
        planes = [self._plane(slot) for slot in self._slots().values()]
        if spare and not planes:
            planes = [self._plane(self._spare())]

        def start() -> None:
            try:
                for plane in planes:
                    plane.renew()
                    plane.start()
            except ControlPlaneFailed as problem:
                self._failure = problem  # reported to operations that need a cluster; a destroy needs none

        self._preparing = threading.Thread(target=start, name="control-plane", daemon=True)
        self._preparing.start()

    def wait(self) -> None:
        """Waits until `prepare` has restarted the existing clusters: a provider that connects earlier would find no
        cluster.
        """
        if self._preparing is not None and self._slots():
            self._preparing.join()

    def settle(self) -> None:
        """Removes control planes that belong to no cluster, such as the one that `prepare` started in advance."""
        if self._preparing is not None:
            self._preparing.join()
        taken = set(self._slots().values())
        for folder in self._folder.glob("*/"):
            if folder.name not in taken:
                self._plane(folder.name).wipe()

    def stop(self) -> None:
        """Stops every control plane and keeps its state."""
        for folder in self._folder.glob("*/"):
            self._plane(folder.name).stop()

    def wipe(self) -> None:
        """Stops every control plane and removes all clusters."""
        for folder in self._folder.glob("*/"):
            self._plane(folder.name).wipe()
        shutil.rmtree(self._folder, ignore_errors=True)

    def client(self, cluster_id: str) -> Client:
        """The simulator's own access to a cluster's API server."""
        with self._lock:
            if cluster_id not in self._clients:
                self._clients[cluster_id] = Client(self._existing(cluster_id).admin_kubeconfig())
            return self._clients[cluster_id]

    def admin_kubeconfig(self, cluster_id: str) -> str:
        return self._existing(cluster_id).admin_kubeconfig()

    def metrics(self, cluster_id: str) -> str:
        """Address of the metrics exporters of a cluster: `127.0.0.1:PORT`; empty before the cluster's first start."""
        return self._existing(cluster_id).metrics

    def osmo(self, cluster_id: str) -> str:
        """URL of the gateway of the cluster's OSMO: `http://127.0.0.1:PORT`; empty before the cluster's first start."""
        return address(self._existing(cluster_id).folder)

    def is_running(self, cluster_id: str) -> bool:
        slot = self._slots().get(cluster_id)
        return slot is not None and self._plane(slot).is_running()

    def refusal(self, kubeconfig: Kubeconfig) -> str:
        """Reason why the simulator does not use a program's kubeconfig; empty if the kubeconfig is for one of its
        clusters and logs in with kubelogin.

        A kubeconfig's exec section is a command that would run with the user's rights, so other commands are refused.
        """
        if kubeconfig.server not in {self._plane(slot).server for slot in self._slots().values()}:
            return f"{kubeconfig.server} is not a cluster of this simulation, and the simulator connects to no other"
        login = kubeconfig.exec
        if login is not None and login.command != LOGIN_COMMAND:
            return f"the kubeconfig logs in with {login.command}; the simulator runs {LOGIN_COMMAND} only"
        if login is not None and (others := [name for name in login.env if not name.startswith(LOGIN_VARIABLES)]):
            return f"the kubeconfig sets {', '.join(others)} for its login; write variables of {LOGIN_COMMAND} only"
        return ""

    # Requests of the simulated Azure

    def create(self, cluster_id: str, kubernetes_version: str) -> None:
        """Starts the cluster's API server, always in the installed version, whatever patch version Azure
        would choose.
        """
        self._prepared()
        with self._lock:
            slots = self._slots()
            slot = slots.get(cluster_id) or self._spare()
            self._plane(slot).start()
            self._save({**slots, cluster_id: slot})

    def pod_log(self, cluster_id: str, path: str, container: str) -> str | None:
        """The log of an acceptance Pod, by the log's path in the API; None if the Pod has no log."""
        return pod_log(self._folder / self._slots()[cluster_id], path, container)

    def enable_metrics(self, cluster_id: str) -> None:
        metrics_addon.install(self.client(cluster_id))

    def enable_vault_secrets(self, cluster_id: str) -> None:
        vault_addon.install(self.client(cluster_id))

    def delete(self, cluster_id: str) -> None:
        with self._lock:
            slots = self._slots()
            slot = slots.pop(cluster_id, None)
            if (client := self._clients.pop(cluster_id, None)) is not None:
                client.close()
            if slot is not None:
                self._plane(slot).wipe()
                self._save(slots)

    def user_kubeconfig(self, cluster_id: str) -> str:
        parts = cluster_id.split("/")
        return self._existing(cluster_id).user_kubeconfig(parts[4], parts[-1])

    def apply_nodes(self, cluster_id: str, pool: str, nodes: Sequence[Mapping[str, Any]]) -> None:
        """Makes the pool's nodes equal to `nodes`, and waits until they are Ready.

        Labels and taints are set by server-side apply, as AKS does. Labels and taints that AKS set before and no longer
        sets are removed; labels and taints that other clients have set remain.
        """
        if not nodes and self._failure is not None:
            return  # a control plane that can't start has no nodes to show, and is deleted with its cluster
        pool_nodes.apply(self.client(cluster_id), pool, nodes)

    def budgets(self, cluster_id: str) -> Sequence[Mapping[str, Any]]:
        if cluster_id not in self._slots() or self._failure is not None:
            return ()
        return node_drain.budgets(self.client(cluster_id))

    def drain(self, cluster_id: str, pool: str, seconds: float) -> str:
        return node_drain.wait(self.client(cluster_id), pool, seconds)

    def restart_node(self, cluster_id: str, node: str) -> None:
        pool_nodes.restart(self.client(cluster_id), node)

    def grant(
        self, cluster_id: str, assignment_id: str, principal_id: str, principal_type: str, role_guid: str
    ) -> None:
        role = CLUSTER_ROLES.get(role_guid)
        if role is None:
            return
        if role == RBAC_READER:
            self._apply(cluster_id, "clusterroles", reader_role())
        kind = "Group" if principal_type == "Group" else "User"
        name = _binding_name(assignment_id)
        binding: Object = {
            "apiVersion": "rbac.authorization.k8s.io/v1",
            "kind": "ClusterRoleBinding",
            "metadata": {"name": name},
            "roleRef": {"apiGroup": "rbac.authorization.k8s.io", "kind": "ClusterRole", "name": role},
            "subjects": [{"apiGroup": "rbac.authorization.k8s.io", "kind": kind, "name": principal_id}],
        }
        self._apply(cluster_id, "clusterrolebindings", binding)

    def _apply(self, cluster_id: str, plural: str, obj: Object) -> None:
        path = f"/apis/rbac.authorization.k8s.io/v1/{plural}/{obj['metadata']['name']}"
        self.client(cluster_id).patch(path, obj, APPLY_PATCH, {"fieldManager": FIELD_MANAGER, "force": "true"})

    def revoke(self, cluster_id: str, assignment_id: str) -> None:
        if cluster_id not in self._slots() or self._failure is not None:
            return
        path = f"/apis/rbac.authorization.k8s.io/v1/clusterrolebindings/{_binding_name(assignment_id)}"
        pool_nodes.delete(self.client(cluster_id), path)

    # Control planes by slot

    def _plane(self, slot: str) -> ControlPlane:
        return ControlPlane(self._folder / slot, self._tools, tokens_file(self._folder.parent))

    def _existing(self, cluster_id: str) -> ControlPlane:
        self._prepared()
        plane = self._plane(self._slots()[cluster_id])
        plane.start()
        return plane

    def _prepared(self) -> None:
        if self._preparing is not None:
            self._preparing.join()
        if self._failure is not None:
            raise self._failure

    def _spare(self) -> str:
        taken = set(self._slots().values())
        return next(str(number) for number in range(1, len(taken) + 2) if str(number) not in taken)

    def _slots(self) -> dict[str, str]:
        file = self._folder / SLOTS_FILE
        return json.loads(file.read_text()) if file.exists() else {}

    def _save(self, slots: Mapping[str, str]) -> None:
        unfinished = self._folder / "clusters.new"
        unfinished.write_text(json.dumps(slots))
        unfinished.rename(self._folder / SLOTS_FILE)


def _binding_name(assignment_id: str) -> str:
    return f"azure-role-assignment-{assignment_id.rsplit('/', 1)[-1]}"
