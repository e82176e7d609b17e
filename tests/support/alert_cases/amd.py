"""Cases of alerts about AMD's GPUs."""

from __future__ import annotations

from tests.support.alert_cases.case import Case
from tests.support.alert_series import MI300X, always, amd, joined, of, rising, then

AT = {"node": MI300X}
ALLOCATABLE = of("kube_node_status_allocatable", MI300X, resource="amd_com_gpu", unit="integer")
SAMPLES = {amd("violation_current_accumulated_counter"): rising(60000)}
HOT, BOARD = amd("violation_hbm_thermal_residency_accumulated"), amd("violation_processor_hot_residency_accumulated")
CASES = (
    Case(
        "AMDGPUUncorrectableErrors",
        12,
        {amd("ecc_uncorrect_total"): then(0, 10, 2)},
        labels={**AT, "gpu_id": "0", "severity": "critical"},
    ),
    Case("AMDGPUUncorrectableErrors", 60, {amd("ecc_correct_total"): rising(1)}),
    Case("AMDGPUUnhealthy", 16, {ALLOCATABLE: then(8, 10, 7)}, labels=AT),
    Case("AMDGPUUnhealthy", 16, {amd("health"): then(1, 10, 0)}, labels=AT),
    Case("AMDGPUUnhealthy", 12, {amd("health"): then(1, 10, 0)}),
    Case("AMDGPUTooHot", 21, {amd("junction_temperature"): then(60, 10, 96)}, labels={**AT, "gpu_id": "0"}),
    Case("AMDGPUTooHot", 60, {amd("junction_temperature"): always(95)}),
    Case("AMDGPUThrottled", 60, {**SAMPLES, HOT: rising(9000)}, labels={**AT, "gpu_id": "0", "cause": "memory"}),
    # Each cause is compared with the threshold alone; only both together exceed it.
    Case("AMDGPUThrottled", 60, {**SAMPLES, HOT: rising(4000), BOARD: rising(4000)}),
    Case("AMDGPUTelemetryAbsent", 60, without=("amd_gpu_",), labels=AT),
    Case("AMDGPUTelemetryAbsent", 15, without=("amd_gpu_",)),
    # Alerts about NVIDIA's GPUs do not fire for series about AMD's.
    Case("GPUAllocatableBelowCapacity", 60, {ALLOCATABLE: always(7)}),
    Case("GPUTelemetryAbsent", 60, {name: always(value) for name, value in joined("gpu-node-08", "mi300x")}),
)
