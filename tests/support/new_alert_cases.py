"""Cases in which alerts about links, memory, MIG and unclear Xids fire or nearly fire."""

from __future__ import annotations

from tests.support.alert_cases import AT_H100, Case
from tests.support.alert_series import H100, MINUTES, always, busy, dcgm, of, rising, then

WIDTH, MOST = dcgm("DCGM_FI_DEV_PCIE_LINK_WIDTH"), {dcgm("DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH"): always(16)}
GEN, NEWEST = dcgm("DCGM_FI_DEV_PCIE_LINK_GEN"), {dcgm("DCGM_FI_DEV_PCIE_MAX_LINK_GEN"): always(5)}
MIG = of("kube_node_labels", "mig-1", label_agentpool="sliced", label_nvidia_com_mig_config_state="STATE")
XID = "DCGM_EXP_XID_ERRORS_COUNT"


def _xid(code: int) -> dict[str, str]:
    return {dcgm(XID, xid=str(code)): f"_x9 1x5 0x{MINUTES}"}


def _health(value: int, watch: str, code: str, node: str = H100) -> dict[str, str]:
    return {dcgm("DCGM_EXP_GPU_HEALTH_STATUS", node, health_watch=watch, health_error_code=code): then(0, 10, value)}


def _memory(used: int) -> dict[str, str]:
    return {dcgm("DCGM_FI_DEV_FB_USED"): always(used), dcgm("DCGM_FI_DEV_FB_FREE"): always(100 - used)}


UNCLEAR = tuple(
    Case("GPUXidUnclear", 14, _xid(code), labels={**AT_H100, "xid": str(code)})
    for code in (61, 65, 142, 144, 154, 159, 167, 169, 173, 199)
)
NEW_CASES = (
    *UNCLEAR,
    *(Case("GPUXidUnclear", 14, _xid(code)) for code in (31, 48, 63, 147, 172)),
    # No alert for Xids of a user's program, which DCGM remembers for ever, or for links that a PCIe board does not
    # have.
    *(
        Case("GPUHealthWarning", 60, _health(10, watch, "DCGM_FR_XID_ERROR"))
        for watch in ("MEM", "PCIE", "POWER", "NVLINK", "ALL")
    ),
    Case("GPUHealthWarning", 60, _health(10, "ALL", "DCGM_FR_CONTAINED_ERROR")),
    Case("GPUHealthWarning", 60, _health(10, "INFOROM", "DCGM_FR_CORRUPT_INFOROM"), labels=AT_H100),
    Case("GPUHealthFailure", 60, _health(20, "ALL", "DCGM_FR_XID_ERROR")),
    Case("GPUHealthFailure", 60, _health(20, "NVLINK", "DCGM_FR_NVLINK_DOWN")),
    Case("GPUHealthFailure", 60, _health(20, "NVLINK", "DCGM_FR_IMEX_UNHEALTHY")),
    Case("GPUHealthFailure", 30, _health(20, "NVLINK", "DCGM_FR_NVLINK_DOWN", "b200-1"), labels={"node": "b200-1"}),
    Case("GPUHealthFailure", 60, _health(20, "NVLINK", "DCGM_FR_IMEX_UNHEALTHY", "b200-1")),
    Case("GPUHealthFailure", 30, _health(20, "MEM", "DCGM_FR_A_CODE_OF_TOMORROW"), labels=AT_H100),
    Case("GPUSramThresholdExceeded", 15, {dcgm("DCGM_FI_DEV_THRESHOLD_SRM"): then(0, 10, 1)}, labels=AT_H100),
    Case("GPUSramThresholdExceeded", 60, {dcgm("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"): then(0, 10, 1)}),
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
    Case("GPUMigConfigFailed", 25, {MIG.replace("STATE", "failed"): f"_x9 1x{MINUTES}"}, labels={"node": "mig-1"}),
    Case("GPUMigConfigFailed", 60, {MIG.replace("STATE", "pending"): always(1)}),
)
