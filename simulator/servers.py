"""Node objects of an existing cluster, as the cluster's installer registers them. Each node runs on a server model from
the catalogue.
"""

from __future__ import annotations

import hashlib
import uuid
from collections.abc import Iterator, Sequence
from typing import Any

from physical_ai.catalog.hardware import on_premises, server
from simulator.cluster.names import HOST_DRIVER, MACHINE, PHYSICAL_HOST
from simulator.stack_input import ExistingClusterInput, NodeClass

Json = dict[str, Any]

CONTROL_PLANE = "node-role.kubernetes.io/control-plane"
PODS = "110"
"""Maximum number of Pods on a node: the kubelet's default."""
DISK_KIB = 1024 * 1024 * 1024
GIB_IN_KIB = 1024 * 1024


def nodes(existing: ExistingClusterInput, kubelet: str) -> list[Json]:
    """All Node objects of the existing cluster before the stack is deployed: the nodes of the node classes and, if no
    class has control plane nodes, additional control plane nodes.

    `kubelet`: the version that kubelets report.
    """
    found = [node for each in existing.classes for node in _of_class(each, kubelet)]
    if any(CONTROL_PLANE in node["metadata"]["labels"] for node in found):
        return found
    taints = [f"{CONTROL_PLANE}:NoSchedule"]
    return [*found, *(_node(each, "cpu-server", {CONTROL_PLANE: ""}, taints, kubelet) for each in _control_planes())]


def _control_planes() -> Iterator[str]:
    return (f"control-plane-{index + 1}" for index in range(on_premises().control_planes))


def _of_class(given: NodeClass, kubelet: str) -> Iterator[Json]:
    for index in range(given.count):
        node = _node(f"{given.name}-{index + 1}", given.server, dict(given.labels), given.taints, kubelet)
        if given.host_driver:
            node["metadata"]["annotations"][HOST_DRIVER] = given.host_driver
        yield node


def _node(name: str, model: str, labels: dict[str, str], taints: Sequence[str], kubelet: str) -> Json:
    """Node object of a server of the catalogue model `model`. The object has no conditions, because the kubelet reports
    them.
    """
    known, reference = server(model), on_premises()
    total = {
        "cpu": str(known.vcpus),
        "memory": f"{known.memory_gib * GIB_IN_KIB}Ki",
        "ephemeral-storage": f"{DISK_KIB}Ki",
        "pods": PODS,
    }
    machine = str(uuid.uuid5(uuid.NAMESPACE_DNS, name))
    own = {
        "beta.kubernetes.io/arch": "amd64",
        "beta.kubernetes.io/os": "linux",
        "kubernetes.io/arch": "amd64",
        "kubernetes.io/hostname": name,
        "kubernetes.io/os": "linux",
    }
    return {
        "apiVersion": "v1",
        "kind": "Node",
        "metadata": {
            "name": name,
            "labels": {**own, **labels},
            "annotations": {"kwok.x-k8s.io/node": "fake", MACHINE: model, PHYSICAL_HOST: name},
        },
        "spec": {"taints": [_taint(each) for each in taints]} if taints else {},
        "status": {
            "capacity": total,
            "allocatable": dict(total),
            "addresses": [{"type": "InternalIP", "address": _address(name)}, {"type": "Hostname", "address": name}],
            "nodeInfo": {
                "architecture": "amd64",
                "operatingSystem": "linux",
                "osImage": f"{reference.os} {reference.os_release}.3 LTS",
                "kernelVersion": f"{reference.kernels[-1]}-generic",
                "containerRuntimeVersion": f"containerd://{reference.containerd}",
                "kubeletVersion": kubelet,
                "kubeProxyVersion": kubelet,
                "machineID": hashlib.sha256(name.encode()).hexdigest()[:32],
                "systemUUID": machine,
                "bootID": str(uuid.uuid5(uuid.NAMESPACE_DNS, f"{name}#boot")),
            },
        },
    }


def _taint(text: str) -> dict[str, str]:
    left, _, effect = text.rpartition(":")
    key, _, value = left.partition("=")
    return {"key": key, "value": value, "effect": effect} if value else {"key": key, "effect": effect}


def _address(name: str) -> str:
    """An address of 10.9.0.0/16, derived from the name."""
    digest = hashlib.sha256(name.encode()).digest()
    return f"10.9.{digest[0]}.{digest[1] % 254 + 1}"
