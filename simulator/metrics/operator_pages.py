"""Metrics of the GPU Operator and of its node status exporter (NVIDIA/gpu-operator)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence

from simulator.cluster.objects import Json, at, labels
from simulator.gpu import names
from simulator.gpu.gates import device_fault
from simulator.gpu.node_state import CUDA_READY, DRIVER_READY, PLUGIN_READY, TOOLKIT_READY, NodeState
from simulator.metrics.page import Page

READY = {
    "driver_ready": (DRIVER_READY, "1 if the driver is ready on the node, 0 otherwise"),
    "toolkit_ready": (TOOLKIT_READY, "1 if the container toolkit is ready on the node, 0 otherwise"),
    "plugin_ready": (PLUGIN_READY, "1 if the device plugin is ready on the node, 0 otherwise"),
    "cuda_ready": (CUDA_READY, "1 if CUDA is ready on the node, 0 otherwise"),
}
"""Gauges of the node status exporter that show if a file of the validator exists. Values: the file's name and the
gauge's help text.
"""
DONE, FAILED = "upgrade-done", "upgrade-failed"
PENDING = "upgrade-required"


def node_status_page(node: str, state: NodeState, now: float) -> str:
    """Metrics of the node status exporter: which files the validator has written, and results of the exporter's own
    checks.
    """
    page = Page()
    own = {"node": node}

    def gauge(name: str, help: str, value: float) -> None:
        full = f"gpu_operator_node_{name}"
        page.family(full, "gauge", help)
        page.sample(full, own, value)

    for name, (file, help) in READY.items():
        gauge(name, help, float(file in state.files))
    works = not device_fault(state, state.driver_root)
    gauge("driver_validation", "1 if the driver works, as the exporter tried last, 0 otherwise", float(works))
    if works:
        gauge("driver_validation_last_success_ts_seconds", "Time of the last successful validation", round(now))
    found = sum(state.resources.values())
    gauge("device_plugin_devices_total", "Number of devices that the device plugin exposes", found)
    if found:
        gauge("device_plugin_validation_last_success_ts_seconds", "Time of the last successful validation", round(now))
    gauge("nvidia_pci_devices_total", "Number of NVIDIA PCI devices on the node", state.hardware.gpus)
    return page.text()


def operator_page(nodes: Sequence[Json], policy: Json | None, now: float) -> str:
    """Output of the GPU Operator's own metrics endpoint at the time `now`."""
    page = Page()
    gpu_nodes = [node for node in nodes if labels(node).get(names.PRESENT) == "true"]
    stages = Counter(labels(node).get(names.UPGRADE_STATE, "") for node in gpu_nodes)
    stages.pop("", None)
    ready = policy is not None and at(policy, "status.state") == "ready"
    busy = sum(stages.values()) - stages[DONE] - stages[FAILED] - stages[PENDING]
    values: Mapping[str, tuple[str, float]] = {
        "gpu_nodes_total": ("Number of nodes with GPUs", len(gpu_nodes)),
        "reconciliation_status": (
            "1 if all operands are ready, 0 if one is not",
            float(ready),
        ),
        "reconciliation_has_nfd_labels": ("1 if NFD labels were found, 0 otherwise", float(bool(gpu_nodes))),
        "driver_auto_upgrade_enabled": ("1 if drivers are upgraded automatically, 0 otherwise", float(bool(stages))),
        "nodes_upgrades_in_progress": ("Number of nodes on which the driver is being upgraded", busy),
        "nodes_upgrades_done": ("Number of nodes with the wanted driver", stages[DONE]),
        "nodes_upgrades_failed": ("Number of nodes on which the upgrade of the driver has failed", stages[FAILED]),
        "nodes_upgrades_pending": ("Number of nodes on which the upgrade of the driver is pending", stages[PENDING]),
    }
    if ready:
        values = {**values, "reconciliation_last_success_ts_seconds": ("Time of the last success", round(now))}
    for name, (help, value) in values.items():
        page.family(f"gpu_operator_{name}", "gauge", help)
        page.sample(f"gpu_operator_{name}", {}, value)
    return page.text()
