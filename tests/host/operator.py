"""What operator and kubelet do on the node: operands that follow the labels, and the validator's one look."""

from __future__ import annotations

import threading
from typing import Any

from grid_agent.facts import GATE_LABELS
from tests.host.cluster import NAMESPACE, Cluster, now
from tests.host.node import Node

PREFIX = "nvidia.com/gpu.deploy."
OPERANDS = {
    "nvidia-container-toolkit-daemonset": "container-toolkit",
    "nvidia-operator-validator": "operator-validator",
    "nvidia-device-plugin-daemonset": "device-plugin",
    "gpu-feature-discovery": "gpu-feature-discovery",
    "nvidia-dcgm-exporter": "dcgm-exporter",
}
"""DaemonSet → the label's end that selects nodes for it."""
LOOKING = ("nvidia-container-toolkit-daemonset", "nvidia-operator-validator")
"""Only these run driver-validation, in an init container, once."""
TERMINATION_SECONDS = 0.15
READY = "/run/nvidia/validations/driver-ready"
MARKER = "/run/nvidia/validations/.driver-ctr-ready"


def all_on() -> dict[str, str]:
    """The labels that the operator sets on a GPU node."""
    return dict.fromkeys(GATE_LABELS, "true")


class Operator:
    """Follows the node's labels from the moment it is made."""

    def __init__(self, cluster: Cluster, node: Node, *, lingering: bool = False) -> None:
        self.cluster, self.node, self.lingering = cluster, node, lingering
        self.restarts: list[str] = []
        """Operands whose pod was made, in order."""
        self.looks: list[tuple[str, bool]] = []
        """Every look at the host that has ended: (operand, whether the driver answered)."""
        self._count = 0
        self._work = threading.Lock()
        cluster.on_change.append(self.follow)

    def follow(self) -> None:
        """Pods on gated operands go (unless they linger), pods of open ones come."""
        with self._work:
            labels = self.cluster.labels
            for name, end in OPERANDS.items():
                there = [key for key, pod in self.cluster.pods.items() if pod["metadata"]["labels"].get("app") == name]
                wanted = labels.get(f"{PREFIX}{end}") == "true"
                if not wanted and not self.lingering:
                    for key in there:
                        self._stop(key)
                if wanted and not there:
                    self._start(name)

    def _stop(self, key: tuple[str, str]) -> None:
        """The Pod is terminating for a moment; then its DaemonSet looks again."""
        pod = self.cluster.pods[key]
        if "deletionTimestamp" in pod["metadata"]:
            return
        pod["metadata"]["deletionTimestamp"] = now()

        def gone() -> None:
            with self._work:
                self.cluster.pods.pop(key, None)
            self.follow()

        timer = threading.Timer(TERMINATION_SECONDS, gone)
        timer.daemon = True
        timer.start()

    def booted(self) -> None:
        """The kubelet after a boot: init containers run again in the same pods."""
        for (_, name), pod in list(self.cluster.pods.items()):
            if pod["metadata"]["labels"].get("app") in LOOKING:
                self._look(name, pod)

    def _start(self, name: str) -> None:
        self._count += 1
        self.restarts.append(name)
        looks = {"initContainers": [{"name": "driver-validation", "image": "x"}]} if name in LOOKING else {}
        pod = self.cluster.pod(
            NAMESPACE,
            f"{name}-{self._count:05d}",
            metadata={"labels": {"app": name}, "ownerReferences": [{"kind": "DaemonSet", "name": name}]},
            spec=looks,
        )
        if name in LOOKING:
            self._look(pod["metadata"]["name"], pod)

    def _look(self, name: str, pod: dict[str, Any]) -> None:
        def state(**status: Any) -> None:
            with self.cluster.lock:
                pod["status"] = {"startTime": pod["status"]["startTime"], **status}

        begun = now()
        init = {"name": "driver-validation", "state": {"running": {"startedAt": begun}}}
        state(phase="Pending", initContainerStatuses=[init])

        def validate() -> None:
            try:
                # As the validator does: first it takes back its own verdict, then it looks at the host, once.
                look = f"rm -f {READY}; [ -s /usr/bin/nvidia-smi ] && chroot / nvidia-smi > /dev/null 2>&1"
                passed = self.node.run("sh", "-c", look).returncode == 0
                if passed:
                    # Opened and written, nothing more: the other validator may take it back at the same moment.
                    ready = self.node.path(READY)
                    ready.parent.mkdir(parents=True, exist_ok=True)
                    ready.write_text("IS_HOST_DRIVER=true\nNVIDIA_DRIVER_ROOT=/\nDRIVER_ROOT_CTR_PATH=/host\n")
                self.looks.append((pod["metadata"]["labels"]["app"], passed))
                if not passed:
                    return
                ended = {
                    "name": "driver-validation",
                    "state": {"terminated": {"exitCode": 0, "startedAt": begun, "finishedAt": now()}},
                }
                state(phase="Running", initContainerStatuses=[ended])
            except (OSError, RuntimeError):
                return  # the node is off

        threading.Thread(target=validate, daemon=True, name=name).start()

    def phase(self, app: str) -> str:
        """Phase of an operand's pod, `none` where there is no pod."""
        with self.cluster.lock:
            phases = [
                pod["status"]["phase"]
                for pod in self.cluster.pods.values()
                if pod["metadata"]["labels"].get("app") == app
            ]
        return phases[0] if phases else "none"

    def settled(self) -> bool:
        """Both operands that look at the driver run."""
        return all(self.phase(name) == "Running" for name in LOOKING)
