"""On-premises cluster, as its API server lists it: the cluster of the reference architecture, and changes of it."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from typing import Any

from workbench.preflight.existing import Found

Json = dict[str, Any]
B200, RTX = "hgx", "rtx"


def node(name: str, address: str, **changes: Any) -> Json:
    """Node of the reference architecture: Kubernetes 1.32.5, containerd 2.0.5, Ubuntu 24.04."""
    info = {
        "kubeletVersion": "v1.32.5",
        "containerRuntimeVersion": "containerd://2.0.5",
        "kernelVersion": "6.8.0-85-generic",
        "osImage": "Ubuntu 24.04.3 LTS",
    }
    given = {key: value for key, value in changes.items() if key in info}
    return {
        "metadata": {
            "name": name,
            "labels": {"kubernetes.io/hostname": name, **changes.get("labels", {})},
            "annotations": changes.get("annotations", {}),
        },
        "spec": {"podCIDR": changes.get("pods", "10.233.64.0/24")},
        "status": {
            "nodeInfo": {**info, **given},
            "capacity": {"cpu": changes.get("cpu", "224")},
            "allocatable": changes.get("allocatable", {}),
            "addresses": [{"type": "InternalIP", "address": address}, {"type": "Hostname", "address": name}],
        },
    }


def control_plane(index: int) -> Json:
    labels = {"node-role.kubernetes.io/control-plane": "", "node.longhorn.io/create-default-disk": "true"}
    return node(f"cp{index}", f"10.0.9.{index}", labels=labels, cpu="64")


def gpu_node(name: str, pool: str, address: str, product: str, rails: int, **changes: Any) -> Json:
    labels = {
        "physical-ai/class": pool,
        "nvidia.com/gpu.product": product,
        "nvidia.com/gpu.count": "8",
        "feature.node.kubernetes.io/pci-10de.present": "true",
        **changes.pop("labels", {}),
    }
    notes = {
        "physical-ai/nic-driver": "inbox",
        "physical-ai/firmware-bundle": "25.09.1",
        **changes.pop("annotations", {}),
    }
    allocatable = {f"rdma/rail_{index}": "63" for index in range(rails)}
    return node(name, address, labels=labels, annotations=notes, allocatable=allocatable, **changes)


def hgx(**changes: Any) -> Json:
    return gpu_node("hgx1", B200, "10.0.9.11", "NVIDIA-B200", 8, **changes)


def rtx(index: int, **changes: Any) -> Json:
    product = "NVIDIA-RTX-PRO-6000-Blackwell-Server-Edition"
    return gpu_node(f"rtx{index}", RTX, f"10.0.9.{20 + index}", product, 4, **{"cpu": "128", **changes})


def pod(name: str, **labels: str) -> Json:
    return {"metadata": {"name": name, "namespace": "kube-system", "labels": labels}}


def named(name: str, namespace: str = "", **parts: Any) -> Json:
    return {"metadata": {"name": name, "namespace": namespace, **parts.pop("metadata", {})}, **parts}


def storage_class(name: str, provisioner: str, *, default: bool) -> Json:
    notes = {"storageclass.kubernetes.io/is-default-class": "true"} if default else {}
    return named(name, metadata={"annotations": notes}, provisioner=provisioner)


def evidence(node_name: str, *vbios: str) -> Json:
    """ConfigMap in which the evidence agent keeps its record of a machine."""
    data = {"machine.json": json.dumps({"gpus": [{"index": str(i), "vbios": text} for i, text in enumerate(vbios)]})}
    return named(
        f"evidence-{node_name}", "gpu-operator", metadata={"labels": {"physical-ai/evidence": node_name}}, data=data
    )


def reference() -> dict[str, Any]:
    """Lists of objects of a cluster in which nothing is wrong, by their names in `Found`."""
    return {
        "nodes": [*(control_plane(index) for index in (1, 2, 3)), hgx(), rtx(1), rtx(2)],
        "system_pods": [
            *(pod(f"etcd-cp{index}", component="etcd") for index in (1, 2, 3)),
            pod("kube-vip-cp1"),
        ],
        "services": [named("kubernetes", "default", spec={"type": "ClusterIP", "clusterIP": "10.233.0.1"})],
        "evidence": [evidence("hgx1", "97.00.6E.00.07", "97.00.6E.00.07")],
        "daemon_sets": [],
        "deployments": [],
        "classes": [storage_class("local", "rancher.io/local-path", default=True)],
        "snapshot_classes": [{"driver": "rancher.io/local-path"}],
        "address_pools": None,
    }


def found(**changes: Any) -> Found:
    """The reference cluster with some lists replaced, as the survey of a cluster returns it."""
    return Found(**{**copy.deepcopy(reference()), **changes})


def changed(items: list[Json], name: str, path: str, value: Any) -> list[Json]:
    """Copy of a list in which one object has another value at a path."""
    result = copy.deepcopy(items)
    here: Any = next(each for each in result if each["metadata"]["name"] == name)
    *steps, last = path.split("/")
    for step in steps:
        here = here[step]
    here[last] = value
    return result


def lists(given: Found) -> Mapping[str, Any]:
    return {key: getattr(given, key) for key in reference()}
