"""State changes of one GPU node, caused by events: a node's Pods pass these gates, one after the other.

labels → driver pod or host driver → driver-validation → toolkit → validator → device plugin → allocatable GPUs

`step` is a pure function. The caller turns changes of the node's objects into events, sends `Tick`s at any speed, and
writes the results back: Pod statuses, labels, allocatable resources, readiness.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

from simulator.faults import NodeFaults
from simulator.gpu import claims, sharing
from simulator.gpu.containers import MAINS, ONCE
from simulator.gpu.gates import GATES, OPEN, PLUGIN, TOOLKIT, Look, peermem_fault, reading_config, sandbox
from simulator.gpu.node_state import MARKER, Host, NodeState, Pod, workload

Json = Mapping[str, Any]


@dataclass(frozen=True)
class PodAdded:
    """Event: a DaemonSet's Pod was bound to the node."""

    daemonset: Json


@dataclass(frozen=True)
class PodRemoved:
    """Event: the Pod of a DaemonSet was deleted. If the DaemonSet creates another Pod, another PodAdded follows."""

    name: str


@dataclass(frozen=True)
class HostChanged:
    """Event: a user installed, loaded or removed a driver on the host, or mounted a file system."""

    host: Host


@dataclass(frozen=True)
class MarkerTouched:
    """Event: a process other than the driver Pod wrote `.driver-ctr-ready`."""


@dataclass(frozen=True)
class MarkerRemoved:
    """Event: a process removed the file `.driver-ctr-ready`."""


@dataclass(frozen=True)
class LabelsChanged:
    labels: Mapping[str, str]


@dataclass(frozen=True)
class ConfigsChanged:
    """Event: the device plugin's ConfigMap changed. `configs`: parsed configurations by key."""

    configs: Mapping[str, Json]


@dataclass(frozen=True)
class ClusterDriver:
    """Event: the cluster has got its first driver DaemonSet of the operator, or has lost the last one."""

    present: bool


@dataclass(frozen=True)
class Rebooted:
    """Event: the node was restarted: /run is empty, every container restarts.

    `loads`: True if the host's modules fit the kernel.
    """

    loads: bool = True


@dataclass(frozen=True)
class NetworkDriverChanged:
    """Event: a container has installed this driver of the network cards."""

    name: str


@dataclass(frozen=True)
class FaultsChanged:
    """Event: faults were injected into the node, or ended."""

    faults: NodeFaults


@dataclass(frozen=True)
class Tick:
    """Event: simulated time has passed, in seconds."""

    seconds: float


_ObjectEvent = PodAdded | PodRemoved | LabelsChanged | ConfigsChanged | ClusterDriver
Event = (
    _ObjectEvent | NetworkDriverChanged | HostChanged | MarkerTouched | MarkerRemoved | Rebooted | FaultsChanged | Tick
)

BOUND = 100
_GATES, _MAINS = {**GATES, **claims.GATES}, {**MAINS, **claims.MAINS}


def step(state: NodeState, event: Event) -> NodeState:
    """The node after the event, once all Pods have advanced as far as they can."""
    return _settle(_happen(state, event))


def _happen(state: NodeState, event: Event) -> NodeState:
    match event:
        case PodAdded(daemonset):
            state = state.with_pod(Pod(workload(daemonset)))
        case PodRemoved(name):
            state = _without(state, name)
        case HostChanged(host):
            state = replace(state, host=host)
        case MarkerTouched():
            state = state.with_files(MARKER)
        case MarkerRemoved():
            state = state.without_files(MARKER)
        case LabelsChanged(labels):
            state = replace(state, labels=dict(labels))
        case ConfigsChanged(configs):
            state = replace(state, configs=dict(configs))
        case ClusterDriver(present):
            state = replace(state, driver_in_cluster=present)
        case Rebooted(loads):
            state = _rebooted(state, loads)
        case NetworkDriverChanged(network):
            state = replace(state, network_driver=network)
        case FaultsChanged(faults):
            state = _with_faults(state, faults)
        case Tick(seconds):
            aged = {key: replace(pod, age=pod.age + seconds) for key, pod in state.pods.items()}
            state = replace(state, pods=aged)
    return state


def _with_faults(state: NodeState, faults: NodeFaults) -> NodeState:
    """The node with these faults. A container runtime that a fault had stopped works again when the fault ends."""
    dead = faults.not_ready or ("" if state.faults.not_ready else state.containerd_dead)
    return replace(state, faults=faults, containerd_dead=dead)


def _without(state: NodeState, name: str) -> NodeState:
    """The node without a Pod, and without the files that its preStop hook or the kubelet removes."""
    pod = state.pods.get(name)
    if pod is None:
        return state
    state = replace(state, pods={key: value for key, value in state.pods.items() if key != name})
    if pod.workload.is_driver:
        state = state.without_files(MARKER)
    if name == "nvidia-operator-validator":
        kept = frozenset(each for each in state.files if not each.endswith("-ready") or each == MARKER)
        state = replace(state, files=kept, driver_root="")
    if pod.workload.main == claims.PLUGIN:
        state = replace(state, claimable=0)
    if pod.workload.main == TOOLKIT and pod.ready:
        # The toolkit undoes its configuration when it ends (nvidia-container-toolkit v1.17.4 to v1.20.0, `Cleanup`).
        state = replace(state, runtimes=frozenset[str]())
    if pod.workload.main == PLUGIN:
        # The kubelet keeps the resource's name and counts zero.
        state = replace(state, devices=(), resources=dict.fromkeys(state.resources, 0))
    return state


def _rebooted(state: NodeState, loads: bool) -> NodeState:
    """The node after a restart.

    When the toolkit ends, it removes its runtimes from containerd's configuration. After the restart it has to add the
    runtimes again (NVIDIA/gpu-operator#1651).
    """
    host = replace(state.host, loaded=bool(state.host.driver) and loads, bind_mount=False)
    pods = {key: Pod(pod.workload) for key, pod in state.pods.items()}
    zero = dict.fromkeys(state.resources, 0)
    empty: frozenset[str] = frozenset()
    state = replace(state, host=host, pods=pods, files=empty, runtimes=empty, driver_root="", claimable=0, loaded="")
    return replace(state, devices=(), resources=zero)


def _settle(state: NodeState) -> NodeState:
    """The node after every Pod has advanced as far as it can without time passing."""
    for _ in range(BOUND):
        before = state
        for name in sorted(state.pods):
            state = _advance(state, name)
        if state == before:
            return state
    raise AssertionError("the node's Pods do not settle")


def _advance(state: NodeState, name: str) -> NodeState:
    """The node after one Pod has advanced as far as it can: through its sandbox, its init containers in order, and its
    main container.
    """
    pod = state.pods[name]
    blocked = sandbox(state, pod)
    if blocked and not (pod.started or pod.at or pod.ready):
        return state.with_pod(replace(pod, message=blocked))
    if state.containerd_dead:
        return state.with_pod(replace(pod, ready=False, message=blocked))
    waiting = pod.at < len(pod.workload.init)
    is_broken = pod.container in state.faults.broken
    look = _broken if is_broken else _GATES.get(pod.container) if waiting else _MAINS.get(pod.container)
    if not waiting and pod.ready and pod.container in ONCE and not is_broken:
        fault = peermem_fault(state) if pod.workload.is_driver else ""
        return state if fault == pod.sidecar_fault else state.with_pod(replace(pod, sidecar_fault=fault))
    if not waiting and not pod.root:
        pod = replace(pod, root=state.driver_root)
    if not waiting:
        pod = reading_config(state, pod)
    if look is None:
        return state.with_pod(replace(pod, started=True, ready=True, failed=False, message=""))
    state, message, failed = look(state, pod)
    if message == OPEN and waiting:
        return state.with_pod(replace(pod, at=pod.at + 1, age=0.0, started=False, failed=False, message=""))
    root = "" if failed else pod.root
    ready = message == OPEN
    return state.with_pod(replace(pod, started=True, failed=failed, message=message, ready=ready, root=root))


def _broken(state: NodeState, pod: Pod) -> Look:
    """Failed attempt of the Pod's current container, which a fault has broken. If it is the container of the device
    plugin or of the DRA driver's plugin, the returned node offers no GPUs through that plugin.
    """
    if pod.container == PLUGIN:
        state = replace(state, devices=(), resources=dict.fromkeys(state.resources, 0))
    if pod.container == claims.PLUGIN:
        state = replace(state, claimable=0)
    return state, state.faults.broken[pod.container], True


def cuda_probe(state: NodeState) -> str:
    """The error of a CUDA program in a container that requested one GPU; empty if the program works.

    With CDI, containerd itself adds the device; without CDI, the toolkit's runtime does.
    """
    plugin = next((pod for pod in state.pods.values() if pod.workload.main == PLUGIN), None)
    strategy = "" if plugin is None else plugin.workload.env.get(PLUGIN, {}).get("DEVICE_LIST_STRATEGY", "")
    if strategy == "envvar" and not state.runtimes:
        return "libcuda.so.1: cannot open shared object file: No such file or directory"
    return sharing.cuda(state.devices)
