"""Resources that a device plugin offers: MIG strategies, time slicing, MPS, and the GPU that a container gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.cluster.names import GPU, NVIDIA
from simulator.cluster.objects import at
from simulator.gpu.hardware import MIG_OFF, Mig


class PluginFault(Exception):
    """Error that ends the device plugin; the text is the plugin's message."""


@dataclass(frozen=True)
class Device:
    """A GPU or a MIG instance that the device plugin registers with the kubelet."""

    resource: str
    uuid: str
    """`GPU-…` for a complete GPU, `MIG-…` for an instance."""
    mig_mode: bool = False
    """True if MIG mode is on for the device's GPU. CUDA then finds no device through the UUID of the whole GPU."""

    @property
    def gpu(self) -> int:
        """Index of the device's GPU: 1 for `GPU-1` and for `MIG-1-0`."""
        return int(self.uuid.split("-")[1])


@dataclass(frozen=True)
class Sharing:
    """The section `sharing` of a device-plugin configuration."""

    strategy: str = "none"
    """Way in which Pods share a GPU: `none`, `time-slicing` or `mps`."""
    replicas: Mapping[str, int] | None = None
    renames: Mapping[str, str] | None = None


def strategy(env: Mapping[str, str], config: Mapping[str, Any]) -> str:
    """The MIG strategy in effect: the environment takes precedence over the pool's configuration file."""
    return env.get("MIG_STRATEGY") or str(at(config, "flags.migStrategy", "none"))


def devices(gpus: Sequence[Mig], mig_strategy: str) -> list[Device]:
    """The devices of a node before sharing.

    Raises:
        PluginFault: The strategy is `single`, and the GPUs are not all partitioned alike, or have MIG on without
            instances.
    """
    if mig_strategy == "single" and any(gpu is not MIG_OFF for gpu in gpus):
        return _single(gpus)
    result: list[Device] = []
    for index, gpu in enumerate(gpus):
        if gpu is None or mig_strategy != "mixed":
            result.append(Device(GPU, f"GPU-{index}", mig_mode=gpu is not MIG_OFF))
        else:
            result += [Device(f"{NVIDIA}mig-{each}", f"MIG-{index}-{n}", True) for n, each in enumerate(gpu)]
    return result


def _single(gpus: Sequence[Mig]) -> list[Device]:
    if any(gpu is MIG_OFF for gpu in gpus):
        raise PluginFault("more than one MIG mode is present on node")
    instances = [instance for gpu in gpus for instance in gpu or ()]
    if not all(gpus):
        raise PluginFault("at least one device with migEnabled=true was not configured correctly")
    if len(set(instances)) > 1:
        raise PluginFault(f"more than one MIG device type present on node: {', '.join(sorted(set(instances)))}")
    return [Device(GPU, f"MIG-{index}-{n}", True) for index, gpu in enumerate(gpus) for n, _ in enumerate(gpu or ())]


def sharing(config: Mapping[str, Any]) -> Sharing:
    """Sharing of GPUs in a device-plugin configuration: time slicing or MPS. If the section `sharing` has neither, GPUs
    are not shared.
    """
    for key, name in (("timeSlicing", "time-slicing"), ("mps", "mps")):
        section: Mapping[str, Any] = at(config, f"sharing.{key}", {})
        entries: Sequence[Mapping[str, Any]] = section.get("resources") or ()
        if entries:
            renamed = {
                str(each["name"]): str(each.get("rename") or f"{each['name']}.shared")
                for each in entries
                if each.get("rename") or section.get("renameByDefault")
            }
            return Sharing(name, {str(each["name"]): int(each["replicas"]) for each in entries}, renamed)
    return Sharing()


def shared(given: Sequence[Device], wanted: Sharing) -> dict[str, int]:
    """Allocatable amount of each resource: the number of devices times their replicas. A renamed resource is listed
    under its new name.

    Raises:
        PluginFault: MPS on MIG devices.
    """
    counts = Counter(device.resource for device in given)
    replicas, renames = wanted.replicas or {}, wanted.renames or {}
    if wanted.strategy == "mps" and any(device.mig_mode and device.resource in replicas for device in given):
        raise PluginFault("sharing using MPS is not supported for MIG devices")
    return {renames.get(name, name): count * replicas.get(name, 1) for name, count in sorted(counts.items())}


def healthy(
    given: Sequence[Device], registered: Mapping[str, int], renames: Mapping[str, str], struck: frozenset[int]
) -> dict[str, int]:
    """Amount of each registered resource that a node offers after critical Xid errors on the GPUs in `struck`.

    For each of these GPUs, the device plugin withdraws only one device: the whole GPU, or just one of its shares or MIG
    instances. The plugin's health check remembers only one device for each GPU. The GPU's other devices are still
    offered, and new Pods get them (NVIDIA/k8s-device-plugin v0.17.4, v0.19.3 and v0.20.0, `checkHealth` in
    internal/rm/health.go; #1929, fixed in #1930 after v0.20.0).
    """
    of_gpus = {(device.resource, device.gpu) for device in given if device.gpu in struck}
    lost = Counter(renames.get(resource, resource) for resource, _ in of_gpus)
    return {name: max(count - lost[name], 0) for name, count in registered.items()}


def open_gpus(
    given: Sequence[Device], registered: Mapping[str, int], renames: Mapping[str, str], struck: frozenset[int]
) -> list[int]:
    """Indexes of the GPUs that a new Pod may get. A GPU outside `struck` needs at least one offered device. A GPU in
    `struck` needs at least two, because the plugin withdraws one of them.
    """
    names = {device.resource: renames.get(device.resource, device.resource) for device in given}
    total = Counter(names[device.resource] for device in given)
    held = Counter((device.gpu, names[device.resource]) for device in given)
    shares = {(gpu, name): count * registered.get(name, 0) // total[name] for (gpu, name), count in held.items()}
    return sorted({gpu for (gpu, _), count in shares.items() if count > (1 if gpu in struck else 0)})


def cuda(given: Sequence[Device]) -> str:
    """The error of a CUDA program in a container that holds the devices `given`; empty if the program works."""
    if not given:
        return "no CUDA-capable device is detected"
    first = given[0]
    if first.mig_mode and first.uuid.startswith("GPU-"):
        return f"no CUDA-capable device is detected: {first.uuid} is in MIG mode and was allocated without an instance"
    return ""
