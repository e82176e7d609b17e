"""Judgement of measured bandwidths: each is compared with the floor of the VM size and with the node's own first run.
Pure functions.

The name of a figure includes its setup, so that figures of different setups are never compared.
"""

from __future__ import annotations

from collections.abc import Mapping

from physical_ai.catalog.acceptance import Floor
from physical_ai.planning.acceptance import PEERS
from workbench.health.acceptance.outputs.bandwidth import read_nvbandwidth
from workbench.health.acceptance.outputs.nccl import read_nccl
from workbench.health.acceptance.outputs.unrecognised import Unrecognised
from workbench.health.acceptance.record import CheckResult

PART_OF_BASELINE = 0.9
"""Least accepted share of the figure from the node's first run. A node with a lower figure fails."""
_TO_DEVICE, _TO_HOST = "host_to_device_memcpy_ce", "device_to_host_memcpy_ce"
_WORDS = {
    _TO_DEVICE: "host to GPU",
    _TO_HOST: "GPU to host",
    PEERS: "GPU to GPU",
}


def judge_bandwidth(name: str, log: str, gpus: int, floor: Floor | None, baseline: Mapping[str, float]) -> CheckResult:
    """The result of a bandwidth test, from the slowest GPU, or pair of GPUs, in each direction.

    Raises:
        Unrecognised: the log is not a complete output, or is about another number of GPUs.
    """
    tests = (_TO_DEVICE, _TO_HOST, *((PEERS,) if gpus > 1 else ()))
    found = read_nvbandwidth(log, tests)
    if any(len(found[test]) != gpus for test in (_TO_DEVICE, _TO_HOST)):
        raise Unrecognised(f"nvbandwidth measured {len(found[_TO_DEVICE])} GPUs, and the size has {gpus}")
    measured = {f"{test}_gb_s": min(found[test]) for test in tests}
    least = {f"{test}_gb_s": floor.peer if test == PEERS else floor.host_device for test in tests} if floor else {}
    words = {f"{test}_gb_s": _WORDS[test] for test in tests}
    return compared(name, measured, least, baseline, words)


def judge_nccl(name: str, log: str, gpus: int, floor: Floor | None, baseline: Mapping[str, float]) -> CheckResult:
    """The result of an all-reduce test, from its average bus bandwidth. The test fails if any value was computed
    wrongly.

    Raises:
        Unrecognised: the log is not a complete output, or is about another number of GPUs.
    """
    found = read_nccl(log)
    if found.ranks != gpus:
        raise Unrecognised(f"all_reduce_perf ran on {found.ranks} GPUs, and the size has {gpus}")
    if found.wrong:
        return CheckResult(
            name, "failed", f"{found.wrong} results of the all-reduce were wrong: memory or a link is bad"
        )
    setup = floor.nccl.bytes if floor is not None and floor.nccl is not None else "8..8G"
    figure = f"all_reduce_{gpus}_gpus_{setup}_bus_gb_s"
    least = {figure: floor.nccl.bus_gb_s} if floor is not None and floor.nccl is not None else {}
    return compared(name, {figure: found.bus_gb_s}, least, baseline, {figure: f"all-reduce over {gpus} GPUs"})


def compared(
    name: str,
    measured: Mapping[str, float],
    floors: Mapping[str, float | None],
    baseline: Mapping[str, float],
    words: Mapping[str, str],
) -> CheckResult:
    """The result of comparing measured figures with their floors and with the node's first run.

    The keys of each map are names of figures. `words` has a description of each figure for the message.
    """
    slow: list[str] = []
    for figure, value in measured.items():
        floor, first = floors.get(figure), baseline.get(figure)
        if floor is not None and value < floor:
            slow.append(f"{words[figure]} reaches {value:g} GB/s, and the size's floor is {floor:g}")
        elif first is not None and value < PART_OF_BASELINE * first:
            slow.append(f"{words[figure]} reaches {value:g} GB/s, {value / first:.0%} of the node's first {first:g}")
    if slow:
        return CheckResult(name, "failed", "; ".join(slow), dict(measured))
    text = ", ".join(f"{words[figure]} {value:g} GB/s" for figure, value in measured.items())
    unbound = not any(floors.get(figure) for figure in measured) and not baseline
    note = "; no floor is known for the size, so this is the node's baseline" if unbound else ""
    return CheckResult(name, "passed", f"{text}{note}", dict(measured))
