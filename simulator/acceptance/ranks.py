"""An all-reduce over the Pods of one Job, as `agents/nccl_ranks/start.sh` starts it. Pure functions over Pods and their
machines.

NCCL uses InfiniBand if each Pod was given adapters and may lock memory for them, and all nodes are in one pool, which
is one placement group; otherwise it uses TCP or fails, as the real NCCL does.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from simulator.acceptance.machine import Machine
from simulator.acceptance.programs import Result, all_reduce_table
from simulator.cluster.objects import Json, at, labels, name

HOSTS = "RANKS_HOSTS"
INDEX = "batch.kubernetes.io/job-completion-index"
RESOURCE_PREFIX = "rdma"
SHARED_RESOURCE = f"{RESOURCE_PREFIX}/shared_ib"
"""Resource of Azure/aks-rdma-infiniband that gives a Pod all InfiniBand adapters of its node. Of any other resource
with the same prefix, a Pod gets as many adapters as it requests.
"""
TCP = 6.8
"""Bus bandwidth in GB/s over the nodes' Ethernet; invented, without a source."""
PAIRS = {"Standard_ND96isr_H100_v5": 157.0, "Standard_ND96isr_H200_v5": 482.9}
"""Bus bandwidth in GB/s between two nodes over InfiniBand, by VM size: NVIDIA/aicr#1699; edwardsp/azcluster,
walk-through on AKS. NCCL reaches this bandwidth with the topology file of the VM size, which Azure's HPC images have
(NVIDIA/aicr#676).
"""
UNKNOWN = 120.0
"""Bus bandwidth in GB/s over InfiniBand for other VM sizes and other numbers of nodes; invented, without a source."""
FAILED = 3
"""Exit code of nccl-tests after an error of NCCL."""


@dataclass(frozen=True)
class Rank:
    """One Pod of the all-reduce, and the node that it runs on."""

    pod: Json
    node: Json
    machine: Machine

    @property
    def container(self) -> Json:
        return self.pod["spec"]["containers"][0]

    @property
    def environment(self) -> dict[str, str]:
        given: list[Json] = at(self.container, "env", [])
        return {each["name"]: str(each.get("value", "")) for each in given}

    @property
    def adapters(self) -> int:
        """Number of adapters that the container sees and whose ports are active."""
        limits: Mapping[str, str] = at(self.container, "resources.limits", {})
        there = self.machine.state.hardware.adapters - len({"adapter-missing", "port-down"} & self.machine.defects)
        asked = {key: int(count) for key, count in limits.items() if key.startswith(f"{RESOURCE_PREFIX}/")}
        given = there if SHARED_RESOURCE in asked else min(there, sum(asked.values()))
        return max(0, given)

    @property
    def may_lock(self) -> bool:
        added: list[str] = at(self.container, "securityContext.capabilities.add", [])
        return "IPC_LOCK" in added or bool(at(self.container, "securityContext.privileged"))


def is_rank(pod: Mapping[str, Any]) -> bool:
    """True for a rank: one of several Pods that run one program together."""
    return any(each["name"] == HOSTS for each in at(pod, "spec.containers", [{}])[0].get("env", ()))


def hosts_of(pod: Mapping[str, Any]) -> list[str]:
    """Host names by which the ranks reach each other."""
    found = next(each for each in pod["spec"]["containers"][0]["env"] if each["name"] == HOSTS)
    return str(found["value"]).split()


def host_of(pod: Mapping[str, Any]) -> str:
    """The Pod's own name in DNS, within its namespace."""
    job, index = labels(pod).get("job-name", ""), labels(pod).get(INDEX, "")
    return f"{at(pod, 'spec.hostname', f'{job}-{index}')}.{at(pod, 'spec.subdomain', '')}"


def run_ranks(ranks: Sequence[Rank]) -> Result:
    """Exit code and log of the first rank's container."""
    code, text = _run(ranks)
    return (code, text[: len(text) // 2]) if "garbled" in ranks[0].machine.defects else (code, text)


def _run(ranks: Sequence[Rank]) -> Result:
    devices = [(name(each.pod), each.machine.product, gpu) for each in ranks for gpu in each.machine.gpus]
    broken = next((each.machine.cuda_error for each in ranks if each.machine.cuda_error), "")
    if broken:
        return FAILED, f"{name(ranks[0].pod)}: Test CUDA failure common.cu:1021 '{broken}'\n"
    wrong = 8 if any("wrong-results" in each.machine.defects for each in ranks) else 0
    disabled = any(each.environment.get("NCCL_IB_DISABLE") == "1" for each in ranks)
    if disabled or not all(each.adapters for each in ranks):
        code, table = all_reduce_table(devices, TCP, wrong)
        return code, _said(ranks, _socket) + table
    if not all(each.may_lock for each in ranks):
        text = "Call to ibv_reg_mr failed with error Cannot allocate memory"
        return FAILED, _said(ranks, _infiniband) + _warning(ranks[0], text)
    if len({labels(each.node).get("agentpool") for each in ranks}) > 1:
        text = "Got completion from peer with status=IBV_WC_RETRY_EXC_ERR(12) opcode=IBV_WC_RDMA_WRITE(1)"
        return FAILED, _said(ranks, _infiniband) + _warning(ranks[0], text)
    code, table = all_reduce_table(devices, _bus(ranks), wrong)
    return code, _said(ranks, _infiniband) + table


def _bus(ranks: Sequence[Rank]) -> float:
    """Bus bandwidth in GB/s: the value for the VM size and number of nodes, reduced by the worst defect of any node."""
    size = ranks[0].machine.size.name
    bus = PAIRS.get(size, UNKNOWN) if len(ranks) == 2 else UNKNOWN
    parts = [1.0]
    for each in ranks:
        parts.append(each.adapters / max(1, each.machine.state.hardware.adapters))
        if size in PAIRS and "NCCL_TOPO_FILE" not in each.environment:
            parts.append(0.6)
        parts += [1 / 3] if "slow-fabric" in each.machine.defects else []
        parts += [0.4] if "no-peermem" in each.machine.defects else []
    return bus * min(parts)


def _said(ranks: Sequence[Rank], words: Callable[[Rank], list[str]]) -> str:
    """Log lines of all ranks that NCCL prints with NCCL_DEBUG=INFO; empty without this setting. `words` returns the
    lines of one rank.
    """
    if ranks[0].environment.get("NCCL_DEBUG") not in ("INFO", "TRACE"):
        return ""
    return "".join(f"{line}\n" for each in ranks for line in words(each))


def _infiniband(rank: Rank) -> list[str]:
    start = f"{name(rank.pod)}:41:57 [0] NCCL INFO"
    adapters = " ".join(f"[{number}]mlx5_{number}:1/IB" for number in range(rank.adapters))
    direct = "" if "no-peermem" in rank.machine.defects else "/GDRDMA"
    return [
        f"{start} NET/IB : Using {adapters} [RO]; OOB eth0:10.0.0.4<0>",
        f"{start} Assigned NET plugin IB to comm",
        f"{start} Using network IB",
        *(
            f"{start} Channel {number:02}/0 : 0[0] -> 8[0] [send] via NET/IB/{number}{direct}"
            for number in range(rank.adapters)
        ),
    ]


def _socket(rank: Rank) -> list[str]:
    start = f"{name(rank.pod)}:41:57 [0] NCCL INFO"
    return [
        f"{start} NET/IB : No device found.",
        f"{start} NET/Socket : Using [0]eth0:10.0.0.4<0>",
        f"{start} Assigned NET plugin Socket to comm",
        f"{start} Using network Socket",
        f"{start} Channel 00/0 : 0[0] -> 8[0] [send] via NET/Socket/0",
    ]


def _warning(rank: Rank, text: str) -> str:
    host = name(rank.pod)
    return f"{host}:41:57 [0] NCCL WARN {text}\n{host}: Test NCCL failure common.cu:1021 'unhandled system error'\n"
