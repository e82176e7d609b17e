"""Runs the Pods of acceptance checks in a cluster, and keeps their logs in a folder, from which `pod_log` reads
them.
"""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from physical_ai.catalog.acceptance import CHECK_LABEL, TASK_DIAGNOSTIC
from simulator.acceptance.machine import Machine
from simulator.acceptance.programs import Result, run
from simulator.acceptance.ranks import INDEX, Rank, host_of, hosts_of, is_rank, run_ranks
from simulator.cluster.machines import machine_of
from simulator.cluster.names import NVIDIA
from simulator.cluster.objects import Json, at, is_terminating, labels, name
from simulator.cluster.pods import ended, running
from simulator.faults.defects import defects_of
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.kubelets import Kubelets
from simulator.gpu.node_state import NodeState

LOGS = "logs"
"""Name of the folder for logs inside a control plane's folder. A log's path in it is
`<namespace>/<pod>/<container>.log`.
"""
MESSAGE_BYTES = 4096
"""Number of bytes of a termination message that the kubelet stores."""


class Checks:
    """Simulates the Pods of acceptance checks: a container ends as soon as its Pod has a node, and the simulated
    program's output is stored as the container's log.
    """

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder / LOGS

    def run(self, kubelets: Kubelets) -> bool:
        """Runs one round over the acceptance Pods; returns True if any Pod has ended."""
        pods = [pod for pod in self._cluster.all("Pod") if CHECK_LABEL in labels(pod)]
        self._forget(pods)
        nodes = {name(node): node for node in self._cluster.nodes}
        moved = False
        for pod in pods:
            node = nodes.get(str(at(pod, "spec.nodeName", "")))
            if node is None or is_terminating(pod) or at(pod, "status.phase") not in (None, "Pending"):
                continue
            kubelet = kubelets.of(name(node))
            # A node without a container runtime starts nothing; its Pods wait.
            if kubelet is None or kubelet.state.containerd_dead:
                continue
            if is_rank(pod):
                moved = self._rank(pod, pods, nodes, kubelets) or moved
                continue
            container = pod["spec"]["containers"][0]
            self._end(pod, run(container, machine(container, node, kubelet.state, claimed=self._claimed(pod))))
            moved = True
        return moved

    def _rank(self, pod: Json, pods: list[Json], nodes: Mapping[str, Json], kubelets: Kubelets) -> bool:
        """Runs one Pod of a Job whose Pods run one program together (ranks). Nothing happens until all ranks have a
        node. Then rank 0 ends with the program's output; the other ranks run until they are deleted. Returns True if
        the Pod's status was changed.
        """
        job = str(at(pod, "spec.subdomain", ""))
        # Without its files a Pod does not start, and without the Service it has no name.
        if not all(job in map(name, self._cluster.all(kind)) for kind in ("ConfigMap", "Service")):
            return False
        by_host = {host_of(each): each for each in pods if is_rank(each) and not is_terminating(each)}
        ranks = [rank for host in hosts_of(pod) if (rank := _rank(by_host.get(host), nodes, kubelets)) is not None]
        if len(ranks) < len(hosts_of(pod)):
            return False
        if labels(pod).get(INDEX) != "0":
            self._cluster.patch(pod, {"status": running(pod)}, sub="/status")
            return True
        self._end(pod, run_ranks(ranks))
        return True

    def diagnose(self, pod: Json, kubelets: Kubelets) -> tuple[str, int, str] | None:
        """Name, exit code and message of a task's diagnostic init container if the diagnostic fails; None if it
        succeeds, or if the Pod has no such container or no simulated node.
        """
        containers: list[Json] = at(pod, "spec.initContainers", [])
        mine = next((each for each in containers if each["name"] == TASK_DIAGNOSTIC), None)
        kubelet = kubelets.of(str(at(pod, "spec.nodeName", "")))
        node = next((each for each in self._cluster.nodes if name(each) == at(pod, "spec.nodeName")), None)
        if mine is None or kubelet is None or node is None:
            return None
        code, text = run(mine, machine(mine, node, kubelet.state))
        return (TASK_DIAGNOSTIC, code, text[-MESSAGE_BYTES:]) if code else None

    def _end(self, pod: Json, result: Result) -> None:
        container, (code, text) = pod["spec"]["containers"][0], result
        self._write(pod, str(container["name"]), text)
        message = "" if code == 0 else text[-MESSAGE_BYTES:]
        self._cluster.patch(pod, {"status": ended(pod, {container["name"]: (code, message)})}, sub="/status")

    def _claimed(self, pod: Json) -> int:
        """Number of devices that the scheduler has allocated for the Pod's resource claims."""
        given: list[Json] = at(pod, "status.resourceClaimStatuses", [])
        path = f"/apis/resource.k8s.io/v1/namespaces/{at(pod, 'metadata.namespace')}/resourceclaims"
        claims = [self._cluster.client.find(f"{path}/{each['resourceClaimName']}") for each in given]
        return sum(len(at(each or {}, "status.allocation.devices.results", [])) for each in claims)

    def _write(self, pod: Json, container: str, text: str) -> None:
        folder = self._folder / str(at(pod, "metadata.namespace")) / name(pod)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{container}.log").write_text(text, encoding="utf-8")

    def _forget(self, pods: list[Json]) -> None:
        """Removes the kept logs of Pods that no longer exist."""
        known = {(str(at(pod, "metadata.namespace")), name(pod)) for pod in pods}
        for folder in self._folder.glob("*/*"):
            if (folder.parent.name, folder.name) not in known:
                shutil.rmtree(folder, ignore_errors=True)


def _rank(pod: Json | None, nodes: Mapping[str, Json], kubelets: Kubelets) -> Rank | None:
    node = nodes.get(str(at(pod or {}, "spec.nodeName", "")))
    kubelet = kubelets.of(name(node)) if node is not None else None
    if pod is None or node is None or kubelet is None or kubelet.state.containerd_dead:
        return None
    return Rank(pod, node, machine(pod["spec"]["containers"][0], node, kubelet.state))


def machine(container: Mapping[str, object], node: Json, state: NodeState, *, claimed: int = 0) -> Machine:
    """Hardware that a container sees on a node: as many of the node's GPUs as the container requests, plus those its
    Pod has claimed.
    """
    limits: Mapping[str, str] = at(container, "resources.limits", {})
    wanted = claimed + sum(int(count) for key, count in limits.items() if key.startswith(NVIDIA))
    environment: list[Json] = at(container, "env", [])
    given = next(
        (str(each.get("value", "")) for each in environment if each["name"] == "NVIDIA_DRIVER_CAPABILITIES"), ""
    )
    found = machine_of(node)
    assert found is not None, "a node with GPUs is a machine of the catalogue"
    return Machine(
        name=name(node),
        size=found,
        state=state,
        gpus=tuple(state.open_gpus[:wanted]),
        graphics=bool({"all", "graphics"} & {part.strip() for part in given.split(",")}),
        defects=defects_of(node),
        claimed=claimed > 0,
    )


def pod_log(folder: Path, path: str, container: str) -> str | None:
    """The kept log for a request to `/api/v1/namespaces/<namespace>/pods/<pod>/log`; None if no log was kept.

    The API server fetches logs from kubelets, which simulated nodes do not have.
    """
    parts = path.strip("/").split("/")
    if len(parts) != 7 or any(part in ("", ".", "..") for part in (*parts, container)):
        return None
    file = folder / LOGS / parts[3] / parts[5] / f"{container}.log"
    return file.read_text(encoding="utf-8") if file.is_file() else None
