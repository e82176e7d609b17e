"""Simulated Pods of the deployed program that records machines. Its code reads files of a simulated machine.

The code that reads files and builds documents is the deployed code; the files and the output of nvidia-smi are
simulated. The deployed program's main loop and requests do not run: the simulator writes the ConfigMap that the program
would write.
"""

from __future__ import annotations

import csv
import hashlib
import importlib
import io
import json
import logging
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from simulator.cluster.names import PHYSICAL_HOST
from simulator.cluster.objects import (
    Json,
    annotations_of,
    at,
    by_name,
    is_terminating,
    labels,
    name,
    timestamp,
)
from simulator.faults.defects import defects_of
from simulator.gpu.containers import pod_version
from simulator.gpu.hardware import card_digest
from simulator.gpu.live.cluster import Cluster
from simulator.gpu.live.grid_program import DeployedFiles, ProgramFault, files_of
from simulator.gpu.live.kubelets import Kubelets
from simulator.gpu.node_state import TOOLKIT_READY, NodeState
from simulator.kubernetes.client import MERGE_PATCH, ApiError

log = logging.getLogger("gpu-stack")
PACKAGE = "gpu_evidence"
COMPONENT = ("app.kubernetes.io/component", "gpu-evidence")
MODES = {"gpu-evidence-machine": "machine", "gpu-evidence-gpus": "gpus"}
NAME = "app.kubernetes.io/name"
LOST_XID = 79


@dataclass(frozen=True)
class Program:
    """Modules of the deployed program: `collect` reads a machine's files, `record` builds documents and the ConfigMap
    from them.
    """

    collect: Any
    record: Any


class EvidencePods:
    """Pods, on all nodes, of the program that records machines."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster
        self._programs: dict[str, Program | str] = {}
        """Programs by digest of their files. A text in place of a program is the reason why the files
        cannot be loaded.
        """
        self._recorded: dict[str, tuple[Any, ...]] = {}
        """Inputs from which the last record of each Pod was made, by Pod uid."""

    def run(self, kubelets: Kubelets) -> None:
        """Runs one round. Each Pod records its machine when the Pod starts, and again after the machine or the node has
        changed.
        """
        pods = [
            pod
            for pod in self._cluster.all("Pod")
            if labels(pod).get(NAME) in MODES and at(pod, "status.phase") == "Running" and not is_terminating(pod)
        ]
        if not pods:
            self._recorded = {}
            return
        nodes, config_maps = by_name(self._cluster.nodes), by_name(self._cluster.all("ConfigMap"))
        self._recorded = {key: value for key, value in self._recorded.items() if key in {_uid(pod) for pod in pods}}
        for pod in pods:
            node = nodes.get(str(at(pod, "spec.nodeName", "")))
            kubelet = kubelets.of(name(node)) if node is not None else None
            if node is None or kubelet is None:
                continue
            mode = MODES[labels(pod)[NAME]]
            # Without the toolkit there is no runtime of this name, and the Pod waits.
            if mode == "gpus" and TOOLKIT_READY not in kubelet.state.files:
                continue
            seen = (
                at(node, "status.nodeInfo.bootID"),
                _driver(kubelet.state),
                _present(kubelet.state),
                _ports(node, kubelet.state),
            )
            if self._recorded.get(_uid(pod)) != seen:
                try:
                    self._record(self._program(pod, config_maps), mode, pod, node, kubelet.state)
                except ProgramFault as fault:
                    log.warning("%s: %s", name(pod), fault)
                # Stored only after the write succeeded: a record that the API server refuses is
                # written again in the next round.
                self._recorded[_uid(pod)] = seen

    def _program(self, pod: Json, config_maps: Mapping[str, Json]) -> Program:
        mounted = files_of(pod, config_maps)
        # Pods of an earlier deployment have no folder of the package.
        files = {path if "/" in path else f"{PACKAGE}/{path}": text for path, text in mounted.items()}
        digest = hashlib.sha256(repr(sorted(files.items())).encode()).hexdigest()[:16]
        if digest not in self._programs:
            self._programs[digest] = _loaded(DeployedFiles(f"deployed_{PACKAGE}_{digest}", files, PACKAGE))
        found = self._programs[digest]
        if isinstance(found, Program):
            return found
        raise ProgramFault(found)

    def _record(self, program: Program, mode: str, pod: Json, node: Json, state: NodeState) -> None:
        namespace, now = str(at(pod, "metadata.namespace")), timestamp()
        with tempfile.TemporaryDirectory() as folder:
            root = Path(folder)
            write_machine(root, node, state)
            found = program.collect.machine(root, root / "kvp")
        given = program.record.name(name(node), found["vmUniqueId"])
        path = f"/api/v1/namespaces/{namespace}/configmaps"
        held = self._held(f"{path}/{given}")
        if mode == "machine":
            facts = program.record.node_facts(dict(node))
            documents = program.record.machine_documents(held, facts, found, now)
        else:
            asked = {"gpus": program.collect.gpus(_smi(node, state))}
            documents = program.record.gpu_documents(held, found, asked, now)
        change = program.record.patch(name(node), documents, now)
        try:
            self._cluster.client.patch(f"{path}/{given}", change, MERGE_PATCH)
        except ApiError as refusal:
            if refusal.code != 404:
                raise
            self._cluster.client.request("POST", path, program.record.config_map(namespace, given, change))

    def _held(self, path: str) -> dict[str, Any]:
        """The documents in the ConfigMap at `path`; empty if the ConfigMap does not exist."""
        try:
            data: Mapping[str, str] = at(self._cluster.client.get(path), "data", {})
        except ApiError as refusal:
            if refusal.code != 404:
                raise
            return {}
        return {key: json.loads(text) for key, text in data.items()}


def _loaded(files: DeployedFiles) -> Program | str:
    sys.meta_path.append(files)
    try:
        modules = [importlib.import_module(f"{files.package}.{each}") for each in ("collect", "record")]
        return Program(*modules)
    except Exception as fault:  # anything that a file may raise on import
        return f"the program does not start: {type(fault).__name__}: {fault}"


def _uid(pod: Json) -> str:
    return str(at(pod, "metadata.uid"))


def _driver(state: NodeState) -> str:
    return state.host.driver or pod_version(state)


def _present(state: NodeState) -> tuple[int, ...]:
    """Numbers of the GPUs on the PCI bus, without those that have fallen off the bus."""
    gone = {
        gpu for gpu in range(state.hardware.gpus) for effect, _ in state.faults.of_gpu(gpu) if effect.xid == LOST_XID
    }
    return tuple(gpu for gpu in range(state.hardware.gpus) if gpu not in gone)


def _ports(node: Json, state: NodeState) -> tuple[str, ...]:
    """State of each InfiniBand port in sysfs format."""
    defects = defects_of(node)
    count = state.hardware.adapters - ("adapter-missing" in defects)
    return tuple("1: DOWN" if number == 0 and "port-down" in defects else "4: ACTIVE" for number in range(count))


def write_machine(root: Path, node: Json, state: NodeState) -> None:
    """Writes the machine's files that the program reads, below `root`. The file `kvp` there holds the values of the
    hypervisor.
    """
    info: Mapping[str, str] = at(node, "status.nodeInfo", {})
    files = {
        "sys/class/dmi/id/product_uuid": info.get("systemUUID", "").upper(),
        "proc/sys/kernel/random/boot_id": info.get("bootID", ""),
        "proc/sys/kernel/osrelease": info.get("kernelVersion", ""),
    }
    driver = _driver(state)
    if driver:
        files["proc/driver/nvidia/version"] = (
            f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {driver}  Release Build  (simulated)"
        )
    for gpu in _present(state):
        device = f"sys/bus/pci/devices/{_address(gpu)}"
        files |= {f"{device}/vendor": "0x10de", f"{device}/device": f"0x{state.hardware.pci_device}"}
        files[f"{device}/class"] = f"0x{state.hardware.pci_class}00"
        if driver:
            lines = {
                "Model": _product(state),
                "GPU UUID": f"GPU-{card_digest(name(node), gpu)}",
                "Video BIOS": "??.??.??.??.??" if state.hardware.vgpu else "96.00.99.00.01",
                "GPU Firmware": driver,
            }
            text = "".join(f"{key}: \t {value}\n" for key, value in lines.items())
            files[f"proc/driver/nvidia/gpus/{_address(gpu)}/information"] = text
    for number, port_state in enumerate(_ports(node, state)):
        port = f"sys/class/infiniband/mlx5_{number}/ports/1"
        files |= {
            f"{port}/link_layer": "InfiniBand",
            f"{port}/state": port_state,
            f"{port}/rate": "400 Gb/sec (4X NDR)",
        }
    for path, text in files.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(f"{text}\n", encoding="utf-8")
    told = {"PhysicalHostName": annotations_of(node).get(PHYSICAL_HOST, ""), "VirtualMachineName": name(node)}
    (root / "kvp").write_bytes(
        b"".join(
            key.encode().ljust(512, b"\0") + value.encode().ljust(2048, b"\0") for key, value in told.items() if value
        )
    )


def _smi(node: Json, state: NodeState) -> str:
    """Output of nvidia-smi for the program's query, one line for each GPU. A vGPU has no serial number."""
    text = io.StringIO()
    for index, gpu in enumerate(_present(state)):
        vgpu = state.hardware.vgpu
        card = hashlib.sha256(f"{annotations_of(node).get(PHYSICAL_HOST)}/{gpu}".encode()).hexdigest()
        row = (
            str(index),
            f"GPU-{card_digest(name(node), gpu)}",
            "[N/A]" if vgpu else str(10**12 + int(card, 16) % 10**12),
            _product(state),
            "[N/A]" if vgpu else "96.00.99.00.01",
            f"0000{_address(gpu)}".upper(),
            "[N/A]" if vgpu else "1010.0210.00.02",
            _driver(state),
        )
        csv.writer(text).writerow(row)
    return text.getvalue()


def _product(state: NodeState) -> str:
    """The GPU's product name as the driver reports it: `NVIDIA H100 NVL`."""
    return state.hardware.product.replace("-", " ")


def _address(gpu: int) -> str:
    """PCI address of a GPU. On Azure, the guest sees each GPU in a PCI domain of its own."""
    return f"{gpu + 1:04x}:00:00.0"
