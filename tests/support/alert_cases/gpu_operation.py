"""Cases of alerts about the operation of GPUs: heat, power, links, memory in use and idle GPUs."""

from __future__ import annotations

from tests.support.alert_cases.case import AT_H100, Case, gauge
from tests.support.alert_series import RTX, always, busy, dcgm, rising, then

WIDTH, MOST = dcgm("DCGM_FI_DEV_PCIE_LINK_WIDTH"), {dcgm("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH"): always(16)}
GEN, NEWEST = dcgm("DCGM_FI_DEV_PCIE_LINK_GEN"), {dcgm("DCGM_FI_DEV_PCIE_MAX_LINK_GEN"): always(5)}


def _memory(used: int) -> dict[str, str]:
    return {dcgm("DCGM_FI_DEV_FB_USED"): always(used), dcgm("DCGM_FI_DEV_FB_FREE"): always(100 - used)}


CASES = (
    Case("GPUThermalThrottling", 30, {dcgm("DCGM_FI_DEV_THERMAL_VIOLATION"): rising(6e9)}, labels=AT_H100),
    Case("GPUThermalThrottling", 60, {dcgm("DCGM_FI_DEV_THERMAL_VIOLATION"): rising(6e8)}),
    Case("GPUTooHot", 25, gauge("DCGM_FI_DEV_GPU_TEMP", 88), labels=AT_H100),
    Case("GPUTooHot", 60, gauge("DCGM_FI_DEV_GPU_TEMP", 87)),
    Case("GPUPowerCapped", 60, {dcgm("DCGM_FI_DEV_POWER_VIOLATION"): rising(36e9)}, labels=AT_H100),
    Case("GPUPowerCapped", 60, {dcgm("DCGM_FI_DEV_POWER_VIOLATION"): rising(6e9)}),
    Case("GPUPcieReplays", 60, {dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"): rising(120)}, labels=AT_H100),
    Case("GPUPcieReplays", 60, {dcgm("DCGM_FI_DEV_PCIE_REPLAY_COUNTER"): rising(6)}),
    Case(
        "GPUAllocatedButIdle",
        100,
        {busy("DCGM_FI_PROF_GR_ENGINE_ACTIVE"): then(0.9, 10, 0), busy("DCGM_FI_DEV_GPU_UTIL"): then(95, 10, 0)},
        labels={**AT_H100, "exported_pod": "train", "owner": "job"},
    ),
    Case(  # a GPU that is idle because nothing holds it
        "GPUAllocatedButIdle",
        100,
        {dcgm("DCGM_FI_PROF_GR_ENGINE_ACTIVE", RTX): always(0)},
    ),
    Case(  # a GPU of which only the utilization is known
        "GPUAllocatedButIdle",
        100,
        without=("DCGM_FI_PROF_GR_ENGINE_ACTIVE",),
    ),
    Case("GPUMemoryTooHot", 30, {dcgm("DCGM_FI_DEV_MEMORY_TEMP"): then(60, 10, 96)}, labels=AT_H100),
    Case("GPUMemoryTooHot", 60, {dcgm("DCGM_FI_DEV_MEMORY_TEMP"): always(95)}),
    Case(
        "GPUMemoryTooHot",
        60,
        {dcgm("DCGM_FI_DEV_MEMORY_TEMP"): then(60, 10, 96), dcgm("DCGM_FI_DEV_GPU_TEMP"): then(60, 10, 90)},
    ),
    Case("GPUPcieLinkNarrow", 45, {WIDTH: then(16, 10, 8), **MOST}, labels=AT_H100),
    Case("GPUPcieLinkNarrow", 60, {WIDTH: always(16), **MOST}),
    Case("GPUPcieLinkSlow", 100, {GEN: then(5, 10, 3), **NEWEST}, labels=AT_H100),
    # An idle GPU saves power.
    Case("GPUPcieLinkSlow", 100, {GEN: always(1), **NEWEST, busy("DCGM_FI_DEV_GPU_UTIL"): always(0)}),
    *(
        Case("GPUNVLinkErrors", 60, {dcgm(f"DCGM_FI_DEV_NVLINK_{kind}_COUNT_TOTAL"): rising(rate)}, labels=AT_H100)
        for kind, rate in (("REPLAY_ERROR", 1), ("CRC_DATA_ERROR", 1), ("CRC_FLIT_ERROR", 60), ("RECOVERY_ERROR", 0.1))
    ),
    Case("GPUNVLinkErrors", 100, {dcgm("DCGM_FI_DEV_NVLINK_REPLAY_ERROR_COUNT_TOTAL"): rising(0.1)}),
    Case("GPUNVLinkErrors", 100, {dcgm("DCGM_FI_DEV_NVLINK_CRC_FLIT_ERROR_COUNT_TOTAL"): rising(1)}),
    Case("GPUMemoryNearlyFull", 45, _memory(98), labels=AT_H100),
    Case("GPUMemoryNearlyFull", 45, _memory(90)),
)
