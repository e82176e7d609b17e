"""Judgement of an all-reduce over all GPUs of several nodes with InfiniBand, by the published figure for their size.

Pure functions.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from physical_ai.catalog.acceptance import Check
from physical_ai.catalog.nccl import NcclFigure
from workbench.health.acceptance.judging import JobOutcome, ended_well
from workbench.health.acceptance.judging_figures import compared
from workbench.health.acceptance.outputs.nccl import Nccl, read_nccl
from workbench.health.acceptance.outputs.transport import SOCKET, Transport, read_transport
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.record import CheckResult


@dataclass(frozen=True)
class MultiNodeSetup:
    """Description of a run over several nodes of one pool, with the published figure for the result."""

    size: str
    nodes: int
    gpus: int
    """Number of GPUs in each node."""
    adapters: int
    """Number of InfiniBand adapters in each node."""
    figure: NcclFigure | None
    """Published figure for this setup; None if no source has one."""
    baseline: Mapping[str, float] = field(default_factory=dict[str, float])


def judge_ranks(check: Check, ran: JobOutcome, given: MultiNodeSetup) -> CheckResult:
    """The result of a run over several nodes.

    NCCL's report about its network is checked first, because a bandwidth over TCP says nothing about the adapters.
    """
    if ran.exit_code is None:
        return CheckResult(check.name, "no-verdict", ran.problem or "the container did not end")
    said = read_transport(ran.log)
    try:
        return ended_well(_judged(check.name, ran, given, said), ran)
    except Unrecognised as problem:
        ended = f" (exit code {ran.exit_code})" if ran.exit_code else ""
        return CheckResult(check.name, "no-verdict", f"{problem}{ended}")


def _judged(name: str, ran: JobOutcome, given: MultiNodeSetup, said: Transport) -> CheckResult:
    if said.locked:
        problem = "an adapter was refused memory: the container may not lock it, and lacks the capability IPC_LOCK"
        return CheckResult(name, "failed", problem)
    if SOCKET in said.networks:
        return CheckResult(name, "failed", f"NCCL used TCP over Ethernet instead of InfiniBand{_reached(ran.log)}")
    found = read_nccl(ran.log)
    if found.ranks != given.nodes * given.gpus:
        wanted = f"{given.nodes} nodes of this size have {given.nodes * given.gpus}"
        raise Unrecognised(f"all_reduce_perf ran on {found.ranks} GPUs, and {wanted}")
    if not said.networks:
        raise Unrecognised("NCCL did not say which network it used, so the figure cannot be assigned to a setup")
    if found.wrong:
        problem = f"{found.wrong} results of the all-reduce were wrong: memory or a link is bad"
        return CheckResult(name, "failed", problem)
    if problem := _lacking(given, said):
        return CheckResult(name, "failed", f"{problem}; the all-reduce reached {found.bus_gb_s:g} GB/s")
    return _beside_figure(name, found, given)


def _reached(log: str) -> str:
    """Last part of the message that NCCL did not use InfiniBand: the probable cause and, if the log has a complete
    table, the bandwidth over the other network.
    """
    cause = "the Pods see no adapter, or a variable prevents NCCL from using it"
    try:
        return f", and reached {read_nccl(log).bus_gb_s:g} GB/s: {cause}"
    except Unrecognised:
        return f": {cause}"


def _lacking(given: MultiNodeSetup, said: Transport) -> str:
    """Problem of the network, such as a missing adapter, that fails the check at any bandwidth; empty if there is
    none.
    """
    fewer = {host: count for host, count in said.adapters.items() if count < given.adapters}
    if fewer:
        hosts = ", ".join(f"{count} on {host}" for host, count in sorted(fewer.items()))
        return f"NCCL uses fewer adapters than the {given.adapters} of the size: {hosts}"
    if said.direct is False:
        return "adapters do not reach the GPUs' memory (no GDRDMA): nvidia-peermem is not loaded"
    return ""


def _beside_figure(name: str, found: Nccl, given: MultiNodeSetup) -> CheckResult:
    known = given.figure
    bytes_each = known.bytes if known is not None else "16G"
    key = f"all_reduce_{given.nodes}_nodes_{given.nodes * given.gpus}_gpus_{bytes_each}_bus_gb_s"
    words = {key: f"all-reduce over {given.nodes} nodes"}
    result = compared(name, {key: found.bus_gb_s}, {key: known.least if known else None}, given.baseline, words)
    if result.verdict != "passed" or known is None:
        return result
    return CheckResult(
        name, "passed", f"{result.message} ({known.measured:g} were measured elsewhere)", dict(result.measured)
    )
