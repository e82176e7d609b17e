"""Small cluster on a real API server: GPU nodes join, the real helm installs the operator, and gates open or stay
closed.

It takes seconds where `tests/support/gpu_model.py` takes a function call, so that only tests use it which need a real
API server.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from physical_ai import catalog
from physical_ai.planning.plan import make_plan
from physical_ai.settings import Settings
from physical_ai.settings.facts.node_labels import pool_labels
from physical_ai.settings.facts.pools import node_taints
from simulator.azure import nodes
from simulator.charts import chart_source, crds
from simulator.cluster.definitions import replace_definition
from simulator.cluster.names import GPU, HOST_DRIVER, NVIDIA, RUN_BY, RUNS
from simulator.cluster.objects import at, labels
from simulator.gpu import names
from simulator.gpu.live.probes import CUDA
from simulator.kubernetes.client import APPLY_PATCH, MERGE_PATCH, ApiError, Client
from simulator.kubernetes.helm import Helm
from simulator.kubernetes.kubeconfig import load
from simulator.kubernetes.options import KubernetesOptions
from tests.support.waiting import LIMIT, until

NAMESPACE = "gpu-operator"
SYSTEMS = {"24.04": "Ubuntu 24.04.3 LTS", "22.04": "Ubuntu 22.04.5 LTS"}
PRIVILEGED = {"pod-security.kubernetes.io/enforce": "privileged"}


@dataclass
class SimulatedCluster:
    """Simulated cluster, with methods that do what a user or AKS does."""

    client: Client
    helm: Helm
    joined: list[str] = field(default_factory=list[str])
    defined: str = ""
    """Release of the operator whose CRDs the cluster has by `definitions`."""
    has_installed: bool = False
    """True if helm may have a release of the operator that `clear` has to remove."""

    # The cluster

    def apply(self, item: Mapping[str, Any]) -> dict[str, Any]:
        metadata = item["metadata"]
        path = self.client.path(item["apiVersion"], item["kind"], metadata.get("namespace"), metadata["name"])
        return self.client.patch(path, dict(item), APPLY_PATCH, {"fieldManager": "field", "force": "true"})

    def join(self, name: str, size: str, *, pool: str = "", system: str = "24.04", **extra: Any) -> None:
        """Registers a node, as AKS does. `extra` may have labels, taints, host (its driver), containerd,
        annotations.
        """
        found = catalog.vm_size(size)
        total, usable = nodes.capacity(found, {"osDiskSizeGB": 128, "maxPods": 110})
        annotations = {"kwok.x-k8s.io/node": "fake", **extra.get("annotations", {})}
        if extra.get("host"):
            annotations[HOST_DRIVER] = extra["host"]
        info = {
            "osImage": SYSTEMS[system],
            "kernelVersion": nodes.KERNELS[system],
            "containerRuntimeVersion": f"containerd://{extra.get('containerd', '2.3.2')}",
            "kubeletVersion": "v1.36.3",
            "architecture": "amd64",
            "operatingSystem": "linux",
            **dict.fromkeys(("kubeProxyVersion", "machineID", "systemUUID", "bootID"), ""),
        }
        own = {"node.kubernetes.io/instance-type": size, "kubernetes.io/os": "linux"}
        own |= dict.fromkeys(("agentpool", "kubernetes.azure.com/agentpool"), pool or name)
        self.apply(
            {
                "apiVersion": "v1",
                "kind": "Node",
                "metadata": {"name": name, "labels": {**own, **extra.get("labels", {})}, "annotations": annotations},
                "spec": {"taints": [nodes.taint(text) for text in extra.get("taints", ())]},
                "status": {"capacity": total, "allocatable": usable, "nodeInfo": info},
            }
        )
        self.joined.append(name)

    def pool(self, settings: Settings, name: str, count: int = 1, **extra: Any) -> list[str]:
        """Registers nodes of one of the settings' pools, and returns their names."""
        pool = settings.pools[name]
        given = {"labels": pool_labels(name, pool), "taints": node_taints(pool), **extra}
        made = [f"{name}-{index}" for index in range(count)]
        for each in made:
            self.join(each, pool.sku, pool=name, **given)
        return made

    def leave(self, name: str) -> None:
        """Removes a node and its Pods, as AKS does; garbage collection would take half a minute for the Pods."""
        self._delete(f"/api/v1/nodes/{name}")
        for pod in self.client.get("/api/v1/pods", {"fieldSelector": f"spec.nodeName={name}"})["items"]:
            metadata = pod["metadata"]
            self._delete(f"/api/v1/namespaces/{metadata['namespace']}/pods/{metadata['name']}")

    def install(self, settings: Settings, change: Callable[[dict[str, Any]], None] = lambda _: None) -> None:
        """Installs the operator with the program's values, which `change` may change, and creates its drivers and
        ConfigMaps.
        """
        plan = make_plan(settings).gpu
        values: dict[str, Any] = dict(plan.values)
        change(values)
        for name, data in plan.config_maps.items():
            metadata = {"name": name, "namespace": NAMESPACE}
            self.apply({"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": dict(data)})
        self.helm_upgrade(settings.gpu_operator.version, values)
        for resource in plan.drivers.values():
            self.driver(resource.name, dict(resource.spec))

    def helm_upgrade(self, release: str, values: Mapping[str, Any]) -> None:
        self.has_installed = True
        chart = chart_source("gpu-operator", release, "")
        arguments = ("upgrade", "--install", "gpu-operator", str(chart), "--namespace", NAMESPACE, "--values", "-")
        self.helm.run(*arguments, "--wait", "--timeout", f"{LIMIT:g}s", stdin=yaml.safe_dump(dict(values)))

    def driver(self, name: str, spec: Mapping[str, Any]) -> None:
        metadata = {"name": name}
        self.apply(
            {"apiVersion": "nvidia.com/v1alpha1", "kind": "NVIDIADriver", "metadata": metadata, "spec": dict(spec)}
        )

    def definitions(self, release: str) -> None:
        """Replaces the CRDs by those of another release, as if the cluster were new.

        The API server compiles each of them again, which takes seconds of processor time.
        """
        if release == self.defined:
            return
        for item in crds("gpu-operator", release):
            replace_definition(self.client, item)
        self.defined = release

    def clear(self) -> None:
        """Removes everything that a scenario has made."""
        for item in self.all("nvidia.com/v1alpha1", "NVIDIADriver"):
            self._delete(f"/apis/nvidia.com/v1alpha1/nvidiadrivers/{item['metadata']['name']}")
        if self.has_installed and self.helm.last_release("gpu-operator", NAMESPACE) is not None:
            self.helm.run(
                "uninstall", "gpu-operator", "--namespace", NAMESPACE, "--no-hooks", "--timeout", f"{LIMIT:g}s"
            )
        self.has_installed = False
        for item in self.all("nvidia.com/v1", "ClusterPolicy"):
            self._delete(f"/apis/nvidia.com/v1/clusterpolicies/{item['metadata']['name']}")
        for name in self.joined:
            self.leave(name)
        self.joined.clear()
        until(self._is_empty, "pods stay behind")
        for item in self.all("v1", "ConfigMap"):
            if item["metadata"]["name"].startswith("gpu-"):
                self._delete(f"/api/v1/namespaces/{NAMESPACE}/configmaps/{item['metadata']['name']}")

    def _is_empty(self) -> bool:
        """Deletes DaemonSets and Pods that are left; True if no Pod was left. Garbage collection would delete them too,
        but takes half a minute after CRDs have changed.
        """
        for item in self.all("apps/v1", "DaemonSet"):
            self._delete(f"/apis/apps/v1/namespaces/{NAMESPACE}/daemonsets/{item['metadata']['name']}")
        pods = self.all("v1", "Pod")
        for item in pods:
            self._delete(f"/api/v1/namespaces/{NAMESPACE}/pods/{item['metadata']['name']}")
        return not pods

    # What a user does

    def label(self, node: str, **changes: str | None) -> None:
        self.client.patch(f"/api/v1/nodes/{node}", {"metadata": {"labels": changes}}, MERGE_PATCH)

    def annotate(self, node: str, key: str, value: str | None) -> None:
        self.client.patch(f"/api/v1/nodes/{node}", {"metadata": {"annotations": {key: value}}}, MERGE_PATCH)

    def delete_pods(self, node: str, *daemonsets: str) -> None:
        """Deletes Pods of some DaemonSets on a node."""
        for pod in self.pods(node).values():
            if any(pod["metadata"]["name"].startswith(each) for each in daemonsets):
                self._delete(f"/api/v1/namespaces/{NAMESPACE}/pods/{pod['metadata']['name']}")

    def remove(self, path: str) -> None:
        """Deletes an object and the objects that it owns. It may be gone already."""
        try:
            self.client.request("DELETE", path, params={"propagationPolicy": "Background"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise

    def cuda_probe(self, node: str) -> tuple[str, str]:
        """Runs a CUDA program that asks for one GPU of a node, and returns its final phase and message."""
        path = f"/api/v1/namespaces/{NAMESPACE}/pods"
        limits = {"resources": {"limits": {GPU: "1"}}}
        pod = {
            "metadata": {"name": "cuda-probe", "annotations": {RUN_BY: names.STACK, RUNS: CUDA}},
            "spec": {
                "restartPolicy": "Never",
                "nodeSelector": {"agentpool": self.labels(node)["agentpool"]},
                "tolerations": [{"operator": "Exists"}],
                "containers": [{"name": "cuda", "image": "vector-add", **limits}],
            },
        }
        self.client.request("POST", path, pod)

        def ended() -> bool:
            return at(self.client.get(f"{path}/cuda-probe"), "status.phase") in ("Failed", "Succeeded")

        try:
            until(ended, "the CUDA program does not end")
            status = self.client.get(f"{path}/cuda-probe")["status"]
            return status["phase"], str(at(status["containerStatuses"][0], "state.terminated.message", ""))
        finally:
            self._delete(f"{path}/cuda-probe")

    # What a user sees

    def all(self, api_version: str, kind: str) -> list[dict[str, Any]]:
        if self.client.resource(api_version, kind) is None:
            return []
        found: list[dict[str, Any]] = self.client.get(self.client.path(api_version, kind, NAMESPACE))["items"]
        return found

    def node(self, name: str) -> dict[str, Any]:
        return self.client.get(f"/api/v1/nodes/{name}")

    def labels(self, name: str) -> dict[str, str]:
        return labels(self.node(name))

    def gpus(self, name: str) -> dict[str, int]:
        """Amounts of NVIDIA's resources that the node offers, without zeros."""
        given: Mapping[str, str] = at(self.node(name), "status.allocatable", {})
        return {key: int(value) for key, value in given.items() if key.startswith(NVIDIA) and int(value)}

    def pods(self, node: str) -> dict[str, dict[str, Any]]:
        """Pods of the operator on a node, by DaemonSet."""
        found: dict[str, dict[str, Any]] = {}
        for pod in self.all("v1", "Pod"):
            owners = at(pod, "metadata.ownerReferences", [])
            if at(pod, "spec.nodeName") == node and owners and owners[0]["kind"] == "DaemonSet":
                found[owners[0]["name"]] = pod
        return found

    def phase(self, node: str, daemonset: str) -> str:
        """STATUS of a Pod as kubectl prints it; empty if there is no Pod."""
        pod = next((each for key, each in self.pods(node).items() if key.startswith(daemonset)), None)
        if pod is None:
            return ""
        init: Sequence[Mapping[str, Any]] = at(pod, "status.initContainerStatuses", [])
        done = sum(bool(at(each, "state.terminated")) for each in init)
        if done < len(init):
            reason = str(at(init[done], "state.waiting.reason", ""))
            return f"Init:{reason}" if reason == "CrashLoopBackOff" else f"Init:{done}/{len(init)}"
        main: Sequence[Mapping[str, Any]] = at(pod, "status.containerStatuses", [])
        waiting = next((each for each in main if at(each, "state.waiting.reason")), None)
        return str(at(waiting, "state.waiting.reason")) if waiting else str(at(pod, "status.phase", ""))

    def words(self, node: str, daemonset: str) -> str:
        """Messages of all events about a DaemonSet's Pod on a node, joined."""
        mine = {pod["metadata"]["name"] for key, pod in self.pods(node).items() if key.startswith(daemonset)}
        events = self.all("v1", "Event")
        return "\n".join(each["message"] for each in events if each["involvedObject"].get("name") in mine)

    def is_ready(self, name: str) -> bool:
        conditions: Sequence[Mapping[str, Any]] = at(self.node(name), "status.conditions", [])
        return any(each["type"] == "Ready" and each["status"] == "True" for each in conditions)

    def _delete(self, path: str) -> None:
        try:
            self.client.request("DELETE", path, params={"gracePeriodSeconds": "0"})
        except ApiError as refusal:
            if refusal.code != 404:
                raise


def simulated_cluster(kubeconfig: str, helm: Path) -> SimulatedCluster:
    """Cluster on a running control plane, with the operator's namespace."""
    found = SimulatedCluster(Client(kubeconfig), Helm(KubernetesOptions(str(helm)), load(kubeconfig)))
    found.apply({"apiVersion": "v1", "kind": "Namespace", "metadata": {"name": NAMESPACE, "labels": dict(PRIVILEGED)}})
    return found
