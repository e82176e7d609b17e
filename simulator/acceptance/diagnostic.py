"""Output of `dcgmi diag -j` on a simulated node, in the JSON format of DCGM 4."""

from __future__ import annotations

import json
import re
from typing import Any

from simulator.acceptance.machine import Machine

TESTS = {
    1: ("software",),
    2: ("memory", "pcie"),
    3: ("memory_bandwidth", "diagnostic", "targeted_stress", "targeted_power"),
}
"""Diagnostic level (`-r`) → tests that the level runs in addition to those of the lower levels."""
CATEGORIES = {"software": "Deployment", "pcie": "Integration", "memory": "Hardware", "diagnostic": "Hardware"}
FAILED = 226
"""Exit code of dcgmi after a test that failed, as seen with DCGM 4."""


def dcgmi(machine: Machine, command: str) -> tuple[int, str]:
    match = re.search(r"-r (\d)", command)
    level = int(match[1]) if match else 1
    if machine.state.hardware.vgpu:
        return 253, "Error: Unable to run diagnostic on unsupported GPU 0.\n"
    if machine.cuda_error:
        return 255, f"Error: Unable to complete diagnostic for group 2147483647. Return: (-29) {machine.cuda_error}\n"
    names = [name for step, added in TESTS.items() if step <= level for name in added]
    tests = {name: [_result(machine, name, gpu) for gpu in machine.gpus] for name in names}
    categories: dict[str, list[dict[str, Any]]] = {}
    for name, results in tests.items():
        status = "Fail" if any(each["status"] == "Fail" for each in results) else "Pass"
        entry = {"name": name, "results": results, "test_summary": {"status": status}}
        categories.setdefault(CATEGORIES.get(name, "Stress"), []).append(entry)
    document = {
        "DCGM Diagnostic": {
            "test_categories": [{"category": key, "tests": value} for key, value in categories.items()]
        },
        "metadata": {"Driver Version Detected": machine.driver, "version": "4.6.0"},
    }
    failed = any(each["status"] == "Fail" for results in tests.values() for each in results)
    return FAILED if failed else 0, f"{json.dumps(document, indent=2)}\n"


def _result(machine: Machine, test: str, gpu: int) -> dict[str, Any]:
    result: dict[str, Any] = {"entity_group": "GPU", "entity_group_id": 1, "entity_id": gpu, "status": "Pass"}
    warning = _fault(machine, test, gpu)
    if warning:
        result |= {"status": "Fail", "warnings": [{"warning": warning, "error_id": 1, "error_severity": 5}]}
    return result


def _fault(machine: Machine, test: str, gpu: int) -> str:
    """Reason why the `dcgmi diag` test `test` fails on a GPU; empty if it passes."""
    if test == "software" and machine.field(gpu, "DCGM_FI_DEV_ROW_REMAP_FAILURE"):
        return f"GPU {gpu} had uncorrectable memory errors and row remapping failed."
    if test == "software" and machine.field(gpu, "DCGM_FI_DEV_ROW_REMAP_PENDING"):
        return f"GPU {gpu} had uncorrectable memory errors and {1} row remapping is pending."
    if test == "memory" and machine.field(gpu, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"):
        return f"A DBE occurred on GPU {gpu}."
    if test == "pcie" and (machine.rate(gpu, "DCGM_FI_DEV_PCIE_REPLAY_COUNTER") or "slow-link" in machine.defects):
        return f"Detected PCIe replays on GPU {gpu} above the threshold."
    hot = machine.field(gpu, "DCGM_FI_DEV_GPU_TEMP")
    if test in ("targeted_stress", "diagnostic") and hot:
        return f"Temperature {hot:.0f} of GPU {gpu} exceeded user-specified maximum allowed temperature."
    return ""
