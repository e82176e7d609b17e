"""Injection of faults into nodes of a running cluster, and their removal."""

from __future__ import annotations

import time
import uuid
from collections.abc import Sequence
from typing import Any

from physical_ai.catalog.own_names import DRIVER_LABEL
from simulator.cluster.machines import machine_of
from simulator.cluster.names import GPU, SIMULATOR
from simulator.cluster.objects import Json, at, labels, name
from simulator.errors import SimulationError
from simulator.faults.catalogue import Fault, fault, faults
from simulator.faults.record import ANNOTATION, Injected, annotation, injected
from simulator.kubernetes.client import MERGE_PATCH, Client
from simulator.pool_nodes import delete, restart

NAMESPACE = "default"
LOAD = f"{SIMULATOR}gpu-load"
"""Annotation of a Pod with the load of its GPUs, from 0 (idle) to 1 (busy). The load is 1 without the annotation."""
HOST = "kubernetes.io/hostname"
EXPORTER = "app=nvidia-dcgm-exporter"
"""Label selector for the Pods of the DCGM exporters."""

NO_NODES = (
    "A GPU pool has no node while nothing asks for its GPUs: `physai run` of a workflow adds one for a while, and"
    " `physai up --set pools.POOL.scale.min=1` keeps one"
)


class NotPossible(SimulationError):
    """Error if the fault cannot happen to this node or GPU."""


class Injector:
    """Injects faults into a cluster's nodes and removes them."""

    def __init__(self, client: Client) -> None:
        self._client = client

    def nodes(self) -> list[Json]:
        """All nodes of the cluster whose machine has GPUs."""
        return [node for node in self._client.get("/api/v1/nodes")["items"] if gpus_of(node)]

    def inject(self, wanted: str, node: str = "", gpu: int = 0) -> tuple[str, Injected, int]:
        """Injects a fault; returns the node's name, the injected fault, and the node's number of GPUs.

        Injecting the same fault into the same GPU again changes nothing.

        Args:
            node: Name of the node; empty for the first one on which the fault can happen.

        Raises:
            UnknownFault, NotPossible
        """
        row = fault(wanted)
        item = self._node(row, node)
        count = gpus_of(item)
        if not 0 <= gpu < count:
            raise NotPossible(f"{name(item)} has {count} GPUs, numbered from 0; there is no GPU {gpu}")
        held = injected(item)
        found = next((each for each in held if (each.fault, each.gpu) == (wanted, gpu)), None)
        if found is None:
            boot = str(uuid.uuid4()) if row.effects.reboots else ""
            found = Injected(wanted, gpu if row.where == "gpu" else 0, time.time(), boot=boot)
            if row.effects.idle_job:
                self._start_idle_job(item)
            self._write(item, [*held, found])
            if boot:
                restart(self._client, name(item), boot)
        return name(item), found, count

    def heal(self, wanted: str = "", node: str = "") -> list[tuple[str, Injected, int]]:
        """Removes faults and returns the removed faults. `wanted` limits the removal to faults of one name, `node` to
        one node.

        If a removed fault needed a GPU reset, the reset counts as done. Before a reset, the DCGM exporter has to
        release the GPU, so the exporter's Pod is deleted; the new Pod's DCGM knows nothing of the GPU's past.

        Raises:
            UnknownFault
        """
        if wanted:
            fault(wanted)
        removed: list[tuple[str, Injected, int]] = []
        for item in self.nodes():
            if node and name(item) != node:
                continue
            held = injected(item)
            ended = [each for each in held if not wanted or each.fault == wanted]
            if ended:
                self._write(item, [each for each in held if each not in ended])
                if any(faults()[each.fault].effects.idle_job for each in ended):
                    self._end_idle_job(name(item))
                if any(faults()[each.fault].needs_reset for each in ended):
                    self._restart_exporter(name(item))
            removed += [(name(item), each, gpus_of(item)) for each in ended]
        return removed

    def _node(self, row: Fault, wanted: str) -> Json:
        nodes = self.nodes()
        if wanted and wanted not in map(name, nodes):
            known = ", ".join(map(name, nodes)) or f"none. {NO_NODES}"
            raise NotPossible(f"{wanted} is not a GPU node of the simulated cluster. GPU nodes: {known}")
        possible = [node for node in nodes if _can(node, row)]
        found = next((node for node in possible if not wanted or name(node) == wanted), None)
        if found is None:
            where = f"{wanted} is not one" if wanted else f"there is none. {NO_NODES}"
            source = f"the driver source {' or '.join(row.drivers) or 'any'}"
            raise NotPossible(
                f"{row.name} can happen on nodes with {'adapters of InfiniBand' if row.needs else source}; {where}"
            )
        return found

    def _write(self, node: Json, items: Sequence[Injected]) -> None:
        """Records `items`, all faults of a node, in the node's annotation, and sets the taints that these faults
        cause.
        """
        path = f"/api/v1/nodes/{name(node)}"
        self._client.patch(path, {"metadata": {"annotations": {ANNOTATION: annotation(items)}}}, MERGE_PATCH)
        own = {each.effects.taint["key"] for each in faults().values() if each.effects.taint}
        wanted = [dict(faults()[each.fault].effects.taint) for each in items if faults()[each.fault].effects.taint]
        given: list[dict[str, Any]] = at(node, "spec.taints", [])
        kept = [taint for taint in given if taint["key"] not in own]
        if [*kept, *wanted] != given:
            self._client.patch(path, {"spec": {"taints": [*kept, *wanted]}}, MERGE_PATCH)

    def _restart_exporter(self, node: str) -> None:
        wanted = {"fieldSelector": f"spec.nodeName={node}", "labelSelector": EXPORTER}
        for pod in self._client.get("/api/v1/pods", wanted)["items"]:
            place = f"/api/v1/namespaces/{at(pod, 'metadata.namespace')}/pods/{name(pod)}"
            delete(self._client, place, {"gracePeriodSeconds": "0"})

    def _start_idle_job(self, node: Json) -> None:
        """Creates a Pod that holds one GPU of the node but leaves it idle."""
        if _held(self._client, name(node)) >= int(at(node, "status.allocatable", {}).get(GPU, 0)):
            raise NotPossible(f"all GPUs of {name(node)} are held; end a workflow, or name another node with --node")
        limits = {"limits": {GPU: "1"}}
        environment = [{"name": "NVIDIA_DRIVER_CAPABILITIES", "value": "all"}]
        pod: Json = {
            "apiVersion": "v1",
            "kind": "Pod",
            "metadata": {"name": _job_name(name(node)), "namespace": NAMESPACE, "annotations": {LOAD: "0"}},
            "spec": {
                "restartPolicy": "Never",
                "nodeSelector": {HOST: labels(node).get(HOST, name(node))},
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "job", "image": "idle-job", "resources": limits, "env": environment}],
            },
        }
        self._client.request("POST", f"/api/v1/namespaces/{NAMESPACE}/pods", pod)

    def _end_idle_job(self, node: str) -> None:
        delete(self._client, f"/api/v1/namespaces/{NAMESPACE}/pods/{_job_name(node)}")


def gpus_of(node: Json) -> int:
    """Number of GPUs of the node's machine, including faulty GPUs."""
    machine = machine_of(node)
    return machine.gpu.count if machine is not None and machine.gpu is not None else 0


def _can(node: Json, row: Fault) -> bool:
    """True if the node has the hardware that the fault `row` needs, and a driver with which the fault can happen."""
    machine = machine_of(node)
    fits = not row.needs or (machine is not None and machine.infiniband)
    return fits and (not row.drivers or labels(node).get(DRIVER_LABEL) in row.drivers)


def _held(client: Client, node: str) -> int:
    pods = client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={node}"})["items"]
    running = [pod for pod in pods if at(pod, "status.phase") in ("Pending", "Running")]
    containers = [each for pod in running for each in pod["spec"]["containers"]]
    return sum(int(at(each, "resources.limits", {}).get(GPU, 0)) for each in containers)


def _job_name(node: str) -> str:
    return f"idle-job-{node.rpartition('-')[2]}"
