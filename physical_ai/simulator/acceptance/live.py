"""Runs the Pods of acceptance in a cluster, and keeps their logs in a folder, where `pod_log` finds them."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path

from physical_ai.catalog import vm_sizes
from physical_ai.catalog.acceptance import CHECK_LABEL, TASK_DIAGNOSTIC
from physical_ai.simulator.acceptance.machine import Machine, flaws_of
from physical_ai.simulator.acceptance.programs import run
from physical_ai.simulator.cluster.names import NVIDIA
from physical_ai.simulator.cluster.objects import Json, at, is_terminating, labels, name
from physical_ai.simulator.cluster.pods import ended
from physical_ai.simulator.gpu.live.cluster import Cluster
from physical_ai.simulator.gpu.live.kubelet import Kubelets
from physical_ai.simulator.gpu.node_state import NodeState

LOGS = "logs"
"""In the folder of a control plane: `<namespace>/<pod>/<container>.log`."""
MESSAGE_BYTES = 4096
"""What the kubelet keeps of a termination message."""


class Checks:
    """The containers of acceptance: each ends as soon as it has a node, with what its program prints there."""

    def __init__(self, cluster: Cluster, folder: Path) -> None:
        self._cluster, self._folder = cluster, folder / LOGS

    def run(self, kubelets: Kubelets) -> bool:
        """One look; whether a Pod has ended."""
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
            self._end(pod, node, kubelet.state)
            moved = True
        return moved

    def diagnose(self, pod: Json, kubelets: Kubelets) -> tuple[str, int, str] | None:
        """The init container of a task that finds an ill GPU, its exit code and message; None where none does."""
        containers: list[Json] = at(pod, "spec.initContainers", [])
        mine = next((each for each in containers if each["name"] == TASK_DIAGNOSTIC), None)
        kubelet = kubelets.of(str(at(pod, "spec.nodeName", "")))
        node = next((each for each in self._cluster.nodes if name(each) == at(pod, "spec.nodeName")), None)
        if mine is None or kubelet is None or node is None:
            return None
        code, text = run(mine, machine(mine, node, kubelet.state))
        return (TASK_DIAGNOSTIC, code, text[-MESSAGE_BYTES:]) if code else None

    def _end(self, pod: Json, node: Json, state: NodeState) -> None:
        container = pod["spec"]["containers"][0]
        code, text = run(container, machine(container, node, state))
        self._write(pod, str(container["name"]), text)
        message = "" if code == 0 else text[-MESSAGE_BYTES:]
        self._cluster.patch(pod, {"status": ended(pod, {container["name"]: (code, message)})}, sub="/status")

    def _write(self, pod: Json, container: str, text: str) -> None:
        folder = self._folder / str(at(pod, "metadata.namespace")) / name(pod)
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{container}.log").write_text(text, encoding="utf-8")

    def _forget(self, pods: list[Json]) -> None:
        """A log goes with its Pod."""
        known = {(str(at(pod, "metadata.namespace")), name(pod)) for pod in pods}
        for folder in self._folder.glob("*/*"):
            if (folder.parent.name, folder.name) not in known:
                shutil.rmtree(folder, ignore_errors=True)


def machine(container: Mapping[str, object], node: Json, state: NodeState) -> Machine:
    """What a container finds on a node: as many GPUs as it requests, of those that are healthy."""
    limits: Mapping[str, str] = at(container, "resources.limits", {})
    wanted = sum(int(count) for key, count in limits.items() if key.startswith(NVIDIA))
    healthy = [gpu for gpu in range(state.hardware.gpus) if gpu not in state.faults.unhealthy]
    environment: list[Json] = at(container, "env", [])
    given = next(
        (str(each.get("value", "")) for each in environment if each["name"] == "NVIDIA_DRIVER_CAPABILITIES"), ""
    )
    size = vm_sizes()[labels(node)["node.kubernetes.io/instance-type"]]
    return Machine(
        name=name(node),
        size=size,
        state=state,
        gpus=tuple(healthy[:wanted]),
        graphics=bool({"all", "graphics"} & {part.strip() for part in given.split(",")}),
        flaws=flaws_of(node),
    )


def pod_log(folder: Path, path: str, container: str) -> str | None:
    """The log behind a request for `/api/v1/namespaces/<namespace>/pods/<pod>/log`; None where none was kept.

    The API server fetches logs from kubelets, which simulated nodes do not have.
    """
    parts = path.strip("/").split("/")
    if len(parts) != 7 or any(part in ("", ".", "..") for part in (*parts, container)):
        return None
    file = folder / LOGS / parts[3] / parts[5] / f"{container}.log"
    return file.read_text(encoding="utf-8") if file.is_file() else None
