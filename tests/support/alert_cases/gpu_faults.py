"""Cases of alerts about faults of GPUs: Xids, memory errors and the health that DCGM judges."""

from __future__ import annotations

from tests.support.alert_cases.case import AT_H100, AT_RTX, Case, gauge
from tests.support.alert_series import H100, MINUTES, RTX, dcgm, rising, then


def _xid(code: int, node: str = H100) -> dict[str, str]:
    return {dcgm("DCGM_EXP_XID_ERRORS_COUNT", node, xid=str(code)): f"_x9 1x5 0x{MINUTES}"}


def _health(value: int, watch: str, code: str, node: str = H100) -> dict[str, str]:
    return {dcgm("DCGM_EXP_GPU_HEALTH_STATUS", node, health_watch=watch, health_error_code=code): then(0, 10, value)}


UNCLEAR = tuple(
    Case("GPUXidUnclear", 14, _xid(code), labels={**AT_H100, "xid": str(code)})
    for code in (61, 65, 142, 144, 154, 159, 167, 169, 173, 199)
)
CASES = (
    Case("GPUXidNodeFault", 14, _xid(48), labels={**AT_H100, "xid": "48", "severity": "critical"}),
    Case("GPUXidNodeFault", 22, _xid(79, RTX), labels={**AT_RTX, "xid": "79"}),
    Case("GPUXidNodeFault", 14, _xid(31)),
    Case("GPUXidNodeFault", 45, _xid(48)),
    Case("GPUXidJobError", 14, _xid(31), labels={**AT_H100, "xid": "31", "owner": "job", "severity": "info"}),
    Case("GPUXidJobError", 14, _xid(48)),
    Case("GPUXidInformation", 14, _xid(63), labels={**AT_H100, "xid": "63", "severity": "info"}),
    Case("GPUXidInformation", 14, _xid(64)),
    Case("GPURecoveryActionRequired", 15, gauge("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 2), labels=AT_H100),
    Case("GPURecoveryActionRequired", 11, gauge("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 2)),
    Case("GPUUncorrectableECC", 15, gauge("DCGM_FI_DEV_ECC_DBE_VOL_TOTAL", 1), labels=AT_H100),
    Case("GPUUncorrectableECC", 60, gauge("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", 1)),
    Case("GPUCorrectableECCRate", 90, {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"): rising(5)}, labels=AT_H100),
    Case("GPUCorrectableECCRate", 90, {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL"): rising(1)}),
    Case(  # each instance has the count of its GPU
        "GPUCorrectableECCRate",
        90,
        {dcgm("DCGM_FI_DEV_ECC_SBE_VOL_TOTAL", GPU_I_ID=instance): rising(1) for instance in "12"},
    ),
    Case("GPURowRemapFailed", 11, gauge("DCGM_FI_DEV_ROW_REMAP_FAILURE", 1), labels={**AT_H100, "owner": "azure"}),
    Case("GPURowRemapFailed", 60, gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1)),
    Case(
        "GPURowRemapPending", 75, gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1), labels={**AT_H100, "severity": "warning"}
    ),
    Case("GPURowRemapPending", 60, gauge("DCGM_FI_DEV_ROW_REMAP_PENDING", 1)),
    Case("GPUHealthFailure", 20, gauge("DCGM_EXP_GPU_HEALTH_STATUS", 20, health_watch="ALL"), labels=AT_H100),
    Case("GPUHealthFailure", 60, gauge("DCGM_EXP_GPU_HEALTH_STATUS", 10, health_watch="ALL")),
    Case("GPUHealthWarning", 30, gauge("DCGM_EXP_GPU_HEALTH_STATUS", 10, health_watch="ALL"), labels=AT_H100),
    Case("GPUHealthWarning", 60, gauge("DCGM_EXP_GPU_HEALTH_STATUS", 20, health_watch="ALL")),
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
)
