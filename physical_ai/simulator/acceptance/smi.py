"""`nvidia-smi -q` and /proc/driver/nvidia/version of a simulated node: the lines that matter, in their places."""

from __future__ import annotations

from physical_ai.simulator.acceptance.machine import Machine

RECOVERY = {0: "None", 1: "Reset", 2: "Reboot", 3: "Drain P2P", 4: "Drain and Reset"}
"""By the value of DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION."""
LOST = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."


def nvidia_smi(machine: Machine, _: str) -> tuple[int, str]:
    if machine.state.faults.driver_lost:
        return 9, f"{LOST}\n"
    lines = [
        "",
        "==============NVSMI LOG==============",
        "",
        f"{'Driver Version':<50} : {machine.driver}",
        f"{'Attached GPUs':<50} : {len(machine.gpus)}",
    ]
    for place, gpu in enumerate(machine.gpus):
        lines += [f"GPU {place + 1:08X}:00:00.0", *_gpu(machine, gpu)]
    # The model builds the open modules everywhere.
    version = f"NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {machine.driver}  Release Build"
    return 0, "\n".join([*lines, "", version, "GCC version:  gcc version 13.3.0", ""])


def _gpu(machine: Machine, gpu: int) -> list[str]:
    mig = "Disabled" if "mig-off" in machine.defects or machine.state.hardware.mig[gpu] is None else "Enabled"
    recovery = RECOVERY.get(round(machine.field(gpu, "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION")), "None")
    lines = [
        _line("Product Name", machine.product),
        _line("Persistence Mode", "Disabled" if "no-persistence" in machine.defects else "Enabled"),
        "    MIG Mode",
        _line("    Current", mig),
        _line("    Pending", mig),
    ]
    if machine.state.hardware.vgpu:
        unlicensed = machine.state.faults.unlicensed
        status = "Unlicensed (Restricted)" if unlicensed else "Licensed (Expiry: 2027-1-1 0:0:0 GMT)"
        lines += [
            "    vGPU Software Licensed Product",
            _line("    Product Name", "NVIDIA RTX Virtual Workstation"),
            _line("    License Status", status),
        ]
    errors = round(machine.field(gpu, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL"))
    return [
        *lines,
        _line("GPU Recovery Action", recovery),
        "    ECC Errors",
        "        Volatile",
        _line("        SRAM Correctable", "0"),
        _line("        SRAM Uncorrectable Parity", "0"),
        _line("        DRAM Correctable", "0"),
        _line("        DRAM Uncorrectable", str(errors)),
        "        Aggregate",
        _line("        DRAM Uncorrectable", str(errors)),
        _line("        SRAM Threshold Exceeded", "No"),
        *(_line(f"    {key}", "No") for key in ("Channel Repair Pending", "TPC Repair Pending", "Unrepairable Memory")),
        "    Remapped Rows",
        _line("    Pending", _yes(machine.field(gpu, "DCGM_FI_DEV_ROW_REMAP_PENDING"))),
        _line("    Remapping Failure Occurred", _yes(machine.field(gpu, "DCGM_FI_DEV_ROW_REMAP_FAILURE"))),
    ]


def _line(key: str, value: str) -> str:
    return f"{f'    {key}':<50} : {value}"


def _yes(value: float) -> str:
    return "Yes" if value else "No"
