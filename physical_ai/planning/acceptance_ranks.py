"""Job of a check over several nodes: one Pod on each, with the node's adapters, and one rank for each GPU.

`agents/nccl_ranks/start.sh` starts the ranks over ssh, with a key that only this Job's Pods have: the cluster needs no
MPI controller.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from physical_ai.catalog.acceptance import CHECK_LABEL, Check
from physical_ai.catalog.nccl_topology import topology
from physical_ai.planning.acceptance import NAMESPACE, job_spec, pod_spec
from physical_ai.planning.nccl_topology import nccl_environment
from physical_ai.repository import AGENTS
from physical_ai.settings.facts.fabric import rdma_request
from physical_ai.settings.facts.pools import gpus_per_node
from physical_ai.settings.models.node_pools import Pool
from physical_ai.settings.models.tree import Settings

PROGRAM = AGENTS / "nccl_ranks"
FILES, KEYS = "/etc/nccl-ranks/files", "/etc/nccl-ranks/key"
"""Folders in a Pod of the check: of the program, and of the SSH key. ssh_config and sshd_config contain the path of the
key's folder.
"""
HOSTS = "RANKS_HOSTS"
JOB_LABEL = "batch.kubernetes.io/job-name"
MEMORY = "16Gi"
_SAID = {"NCCL_DEBUG": "INFO", "NCCL_DEBUG_SUBSYS": "INIT,NET"}
"""Environment variables with which NCCL reports the network that it uses. `physai lint` advises against them in
tasks.
"""


@dataclass(frozen=True)
class Key:
    """SSH key of one run, in OpenSSH's formats. Every Pod has it, both as host key and as client key."""

    private: str
    public: str


def ranks_job(
    settings: Settings,
    check: Check,
    pool: Pool,
    image: str,
    *,
    name: str,
    nodes: Sequence[str],
    labels: Mapping[str, str],
) -> dict[str, Any]:
    """Job of a check over several nodes. Its Pods tolerate every taint, like the Pods of `node_job`."""
    spec = pod_spec(check, pool, image, tolerations=[{"operator": "Exists"}])
    container = spec["containers"][0]
    adapters = rdma_request(settings, pool, gpus_per_node(pool))
    for kind in ("requests", "limits"):
        container["resources"][kind] = {**container["resources"][kind], **adapters}
    environment, folder = nccl_environment(pool)
    given = {
        **environment,
        **_SAID,
        HOSTS: " ".join(f"{name}-{index}.{name}" for index in range(len(nodes))),
        "RANKS_GPUS": str(gpus_per_node(pool)),
        "RANKS_FOLDER": FILES,
    }
    container["env"] += [{"name": key, "value": value} for key, value in given.items()]
    container["command"] = ["sh", f"{FILES}/start.sh", *check.command]
    # An adapter reads and writes locked memory; without this capability a container may lock 64 KiB.
    container["securityContext"]["capabilities"] = {"add": ["IPC_LOCK"]}
    spec["volumes"], container["volumeMounts"] = _volumes(pool, name, folder)
    spec |= {"subdomain": name, "affinity": _on(nodes)}
    count = len(nodes)
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {"name": name, "namespace": NAMESPACE, "labels": {**labels, CHECK_LABEL: check.name}},
        "spec": {
            **job_spec(check, spec, labels),
            "completionMode": "Indexed",
            "completions": count,
            "parallelism": count,
            # The other Pods serve the first one, and do not end by themselves.
            "successPolicy": {"rules": [{"succeededIndexes": "0"}]},
        },
    }


def ranks_objects(pool: Pool, name: str, key: Key) -> list[dict[str, Any]]:
    """Objects that the Job's Pods need: their SSH key, their program, a Service for their DNS names, and a policy that
    denies access from other Pods.
    """
    files = {path.name: path.read_text(encoding="utf-8") for path in sorted(PROGRAM.iterdir()) if path.is_file()}
    known = topology(pool.sku)
    if known is not None:
        files[known.file] = known.xml()
    secret = {
        "key": key.private,
        "authorized_keys": f"{key.public}\n",
        "known_hosts": f"* {key.public}\n",
    }
    metadata = {"name": name, "namespace": NAMESPACE}
    mine = {JOB_LABEL: name}
    each_other = [{"podSelector": {"matchLabels": mine}}]
    names = [{"port": 53, "protocol": protocol} for protocol in ("UDP", "TCP")]
    return [
        {"apiVersion": "v1", "kind": "Secret", "metadata": metadata, "type": "Opaque", "stringData": secret},
        {"apiVersion": "v1", "kind": "ConfigMap", "metadata": metadata, "data": files},
        {
            "apiVersion": "v1",
            "kind": "Service",
            "metadata": metadata,
            "spec": {"clusterIP": "None", "publishNotReadyAddresses": True, "selector": mine},
        },
        {
            "apiVersion": "networking.k8s.io/v1",
            "kind": "NetworkPolicy",
            "metadata": metadata,
            "spec": {
                "podSelector": {"matchLabels": mine},
                "policyTypes": ["Ingress", "Egress"],
                "ingress": [{"from": each_other}],
                "egress": [{"to": each_other}, {"ports": names}],
            },
        },
    ]


def _volumes(pool: Pool, name: str, folder: str | None) -> tuple[list[dict[str, Any]], list[dict[str, Any]]]:
    volumes: list[dict[str, Any]] = [
        {"name": "files", "configMap": {"name": name}},
        {"name": "key", "secret": {"secretName": name, "defaultMode": 0o400}},
        {"name": "shm", "emptyDir": {"medium": "Memory", "sizeLimit": MEMORY}},
    ]
    mounts: list[dict[str, Any]] = [
        {"name": "files", "mountPath": FILES, "readOnly": True},
        {"name": "key", "mountPath": KEYS, "readOnly": True},
        {"name": "shm", "mountPath": "/dev/shm"},  # noqa: S108 - shared memory between the ranks of a Pod
    ]
    known = topology(pool.sku)
    if folder is not None and known is not None:
        item = {"key": known.file, "path": known.file}
        volumes.append({"name": "topology", "configMap": {"name": name, "items": [item]}})
        mounts.append({"name": "topology", "mountPath": folder, "readOnly": True})
    return volumes, mounts


def _on(nodes: Sequence[str]) -> dict[str, Any]:
    """Affinity to these nodes. No node gets two Pods, because each Pod takes all GPUs of its node."""
    terms = [{"matchFields": [{"key": "metadata.name", "operator": "In", "values": [each]}]} for each in nodes]
    return {"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": terms}}}
