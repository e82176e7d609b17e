"""Pod statuses of the simulated GPU stack, as a kubelet reports them."""

from __future__ import annotations

import ipaddress
import zlib
from typing import Any

from simulator.cluster.objects import Json, at
from simulator.gpu.driver_daemonsets import PEERMEM
from simulator.gpu.node_state import Pod

WAITING_FOR_INIT: Json = {"waiting": {"reason": "PodInitializing"}}
PODS = ipaddress.ip_network("10.244.0.0/16")


def _container(given: Json, state: Json, *, ready: bool = False, started: bool = False, restarts: int = 0) -> Json:
    return {
        "name": given["name"],
        "image": given["image"],
        "imageID": "",
        "ready": ready,
        "started": started,
        "restartCount": restarts,
        "state": state,
    }


def _terminated(now: str, code: int = 0, message: str = "") -> Json:
    reason = "Error" if code else "Completed"
    details = {"message": message} if message else {}
    return {"terminated": {"exitCode": code, "reason": reason, "startedAt": now, "finishedAt": now, **details}}


def _present(pod: Pod, given: Json, now: str) -> Json:
    """Status of the Pod's current container: it waits for the Pod's sandbox, fails again and again, or runs."""
    if not pod.started and not pod.ready and pod.message:
        return _container(
            given, WAITING_FOR_INIT if pod.workload.init else {"waiting": {"reason": "ContainerCreating"}}
        )
    if pod.failed:
        again = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}}
        return {**_container(given, again, restarts=pod.restarts), "lastState": _terminated(now, 1, pod.message)}
    ready = pod.ready and pod.at >= len(pod.workload.init)
    return _container(given, {"running": {"startedAt": now}}, ready=ready, started=ready)


def _sidecar(pod: Pod, given: Json, now: str) -> Json:
    if pod.sidecar_fault and given["name"] == PEERMEM:
        again = {"waiting": {"reason": "CrashLoopBackOff", "message": "back-off restarting failed container"}}
        return {**_container(given, again, restarts=1), "lastState": _terminated(now, 1, pod.sidecar_fault)}
    return _container(given, {"running": {"startedAt": now}}, ready=True, started=True)


def _condition(kind: str, holds: bool, now: str, reason: str = "", message: str = "") -> Json:
    details = {} if holds else {"reason": reason, "message": message}
    return {"type": kind, "status": "True" if holds else "False", "lastTransitionTime": now, **details}


def status(pod: Pod, live: Json, now: str) -> Json:
    """`status` of a Pod, for a strategic merge patch of the live Pod. The scheduler's conditions are kept."""
    init: list[Json] = at(live, "spec.initContainers", [])
    main: list[Json] = at(live, "spec.containers", [])
    initialized = pod.at >= len(init)
    init_states = [
        _container(each, _terminated(now), ready=True)
        if index < pod.at
        else _present(pod, each, now)
        if index == pod.at
        else _container(each, WAITING_FOR_INIT)
        for index, each in enumerate(init)
    ]
    states = [
        _container(each, WAITING_FOR_INIT)
        if not initialized
        else _present(pod, each, now)
        if index == 0
        else _sidecar(pod, each, now)
        for index, each in enumerate(main)
    ]
    missing = [each["name"] for each in init_states if not each["ready"]]
    unready = [each["name"] for each in states if not each["ready"]]
    ready = initialized and pod.is_ready
    address = str(PODS[zlib.crc32(str(at(live, "metadata.uid")).encode()) % (PODS.num_addresses - 2) + 1])
    incomplete = f"containers with incomplete status: {missing}"
    text, not_ready = f"containers with unready status: {unready}", "ContainersNotReady"
    return {
        "phase": "Running" if initialized and (ready or pod.started) else "Pending",
        "startTime": at(live, "status.startTime") or now,
        "conditions": [
            _condition(
                "Initialized",
                initialized,
                now,
                "ContainersNotInitialized",
                incomplete,
            ),
            _condition("ContainersReady", ready, now, not_ready, text),
            _condition("Ready", ready, now, not_ready, text),
        ],
        "initContainerStatuses": init_states,
        "containerStatuses": states,
        "podIP": address,
        "podIPs": [{"ip": address}],
    }


def key(pod: Pod) -> tuple[Any, ...]:
    """The values that a Pod's status depends on: equal keys mean equal statuses."""
    return (pod.at, pod.started, pod.restarts, pod.ready, pod.message, pod.sidecar_fault)


def event(pod: Pod, live: Json, now: str) -> Json:
    """The Event that tells a user why a Pod is not ready: the failure of the Pod's sandbox, or the last log line of a
    container.

    A real kubelet writes an Event about the sandbox, too. The log line becomes an Event because logs of simulated
    containers cannot be read.
    """
    sandbox = not pod.started
    reason = "FailedCreatePodSandBox" if sandbox else "SimulatedLog"
    metadata: Json = live["metadata"]
    container = PEERMEM if pod.ready and pod.sidecar_fault else pod.container
    where = f"spec.{'initContainers' if pod.at < len(pod.workload.init) else 'containers'}{{{container}}}"
    return {
        "apiVersion": "v1",
        "kind": "Event",
        "metadata": {
            "name": f"{metadata['name']}.{zlib.crc32(f'{reason} {container} {pod.fault}'.encode()):08x}",
            "namespace": metadata["namespace"],
        },
        "involvedObject": {
            "apiVersion": "v1",
            "kind": "Pod",
            "name": metadata["name"],
            "namespace": metadata["namespace"],
            "uid": metadata["uid"],
            "fieldPath": where,
        },
        "type": "Warning" if sandbox or pod.failed or pod.sidecar_fault else "Normal",
        "reason": reason,
        "message": pod.fault,
        "source": {"component": "kubelet", "host": str(at(live, "spec.nodeName"))},
        "reportingComponent": "kubelet",
        "reportingInstance": str(at(live, "spec.nodeName")),
        "firstTimestamp": now,
        "lastTimestamp": now,
        "count": 1,
    }


def refused(gpus: int) -> Json:
    """The status of a Pod that the kubelet does not admit because the node offers fewer GPUs than the Pod requests."""
    problem = f"Requested: {gpus}, Available: 0, which is unexpected"
    return {
        "phase": "Failed",
        "reason": "UnexpectedAdmissionError",
        "message": "Pod was rejected: Allocate failed due to requested number of devices unavailable for"
        f" nvidia.com/gpu. {problem}",
    }
