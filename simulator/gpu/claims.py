"""The DRA driver's kubelet plugin on a node: it waits for the NVIDIA driver, then publishes the node's GPUs. Pure
functions.

The cluster's own scheduler allocates the GPUs to claims.

Source: kubernetes-sigs/dra-driver-nvidia-gpu, hack/kubelet-plugin-prestart.sh and cmd/gpu-kubelet-plugin.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from simulator.cluster.objects import Json
from simulator.gpu.containers import Main, pod_version
from simulator.gpu.dra_names import CONTAINER_ROOT, DEVICES, DRIVER, HOST_ROOT, Described
from simulator.gpu.gates import OPEN, Gate, Look, device_fault, host_driver_works
from simulator.gpu.hardware import Hardware, card_digest
from simulator.gpu.node_state import NodeState, Pod

PRESTART, PLUGIN = "init-container", "gpus"
ROOT = "NVIDIA_DRIVER_ROOT"
_CUDA = {580: "13.0.0"}
"""CUDA version that the DRA driver publishes, by driver branch. Only branches are listed for which a published
ResourceSlice shows the version.
"""


def _root(pod: Pod, container: str) -> str:
    return pod.workload.env.get(container, {}).get(ROOT, HOST_ROOT)


def prestart(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the plugin's init container, which ends once nvidia-smi and libnvidia-ml.so.1 exist below
    the configured driver root.
    """
    root = _root(pod, PRESTART)
    found = state.container_driver if root == CONTAINER_ROOT else host_driver_works(state)
    if found:
        return state, OPEN, False
    message = f"nvidia-smi and libnvidia-ml.so.1 not found under {root}: has the NVIDIA GPU driver been set up?"
    return state, message, False


def plugin(state: NodeState, pod: Pod) -> Look:
    """Simulated attempt of the plugin's main container to publish every whole GPU. It fails if it gets no GPU from the
    driver, or if DEVICES does not describe the GPU.
    """
    fault = device_fault(state, _root(pod, PLUGIN))
    if not fault and device_of(state.hardware) is None:
        fault = f"the model knows no description of {state.hardware.product}"
    if fault:
        return replace(state, claimable=0), f"error initializing NVML: {fault}", True
    return replace(state, claimable=state.hardware.gpus), OPEN, False


GATES: Mapping[str, Gate] = {PRESTART: prestart}
MAINS: Mapping[str, Main] = {PLUGIN: plugin}


def device_of(hardware: Hardware) -> tuple[str, Described] | None:
    """The name and description that the DRA driver publishes for the node's GPU; None if no source shows that GPU."""
    known = {name.replace(" ", "-"): (name, each) for name, each in DEVICES.items()}
    return known.get(hardware.product)


def devices(node: str, state: NodeState) -> list[Json]:
    """`spec.devices` of the node's ResourceSlice; empty if the plugin has published nothing."""
    given = device_of(state.hardware)
    return [] if given is None else [_device(node, index, given, state) for index in range(state.claimable)]


def _device(node: str, index: int, described: tuple[str, Described], state: NodeState) -> Json:
    product, given = described
    version = pod_version(state)
    branch = int(version.partition(".")[0] or 0)
    attributes: dict[str, Json] = {
        "type": {"string": "gpu"},
        "uuid": {"string": f"GPU-{card_digest(node, index)}"},
        "productName": {"string": product},
        "brand": {"string": "Nvidia"},
        "architecture": {"string": given.architecture},
        "cudaComputeCapability": {"version": given.compute_capability},
        "driverVersion": {"version": semantic(version)},
        "resource.kubernetes.io/pcieRoot": {"string": f"pci000{index:x}:00"},
    }
    if branch in _CUDA:
        attributes["cudaDriverVersion"] = {"version": _CUDA[branch]}
    return {
        "name": f"gpu-{index}",
        "attributes": attributes,
        "capacity": {"memory": {"value": f"{given.memory_mib}Mi"}},
    }


def semantic(version: str) -> str:
    """A driver version without leading zeros, as semantic versions require.

    >>> semantic("580.105.08")
    '580.105.8'
    """
    parts = [str(int(part)) for part in version.split(".") if part.isdigit()]
    return ".".join([*parts, "0", "0", "0"][:3])


def resource_slice(node: Json, state: NodeState, generation: int) -> Json | None:
    """The ResourceSlice of a node; None if its plugin has published nothing."""
    own = str(node["metadata"]["name"])
    found = devices(own, state)
    if not found:
        return None
    owner = {"apiVersion": "v1", "kind": "Node", "name": own, "uid": node["metadata"]["uid"], "controller": True}
    return {
        "apiVersion": "resource.k8s.io/v1",
        "kind": "ResourceSlice",
        "metadata": {"name": f"{own}-{DRIVER}", "ownerReferences": [owner]},
        "spec": {
            "driver": DRIVER,
            "nodeName": own,
            "pool": {"name": own, "generation": generation, "resourceSliceCount": 1},
            "devices": found,
        },
    }
