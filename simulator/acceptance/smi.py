"""Simulated output of `nvidia-smi -q` as text or (`-x`) as XML, and content of /proc/driver/nvidia/version.

The output has only the lines that checks read, at the positions where the real program prints them.
"""

from __future__ import annotations

from collections.abc import Sequence
from xml.sax.saxutils import escape, quoteattr

from simulator.acceptance.machine import Machine

RECOVERY = {0: "None", 1: "Reset", 2: "Reboot", 3: "Drain P2P", 4: "Drain and Reset"}
"""Recovery action by the value of DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION."""
LOST = "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver."
Entry = tuple[str, str, "str | Sequence[Entry]"]
"""One entry of the report: its name in the text, its XML element, and its value or the entries below it."""


def nvidia_smi(machine: Machine, command: str) -> tuple[int, str]:
    if machine.state.faults.driver_lost:
        return 9, f"{LOST}\n"
    reports = [(f"{place + 1:08X}:00:00.0", _gpu(machine, gpu)) for place, gpu in enumerate(machine.gpus)]
    head: list[Entry] = [
        ("Driver Version", "driver_version", machine.driver),
        ("Attached GPUs", "attached_gpus", str(len(machine.gpus))),
    ]
    lines = _xml(head, reports) if " -x" in command else _text(head, reports)
    kind = "x86_64 Kernel Module" if machine.has_closed_modules else "Open Kernel Module for x86_64"
    version = f"NVRM version: NVIDIA UNIX {kind}  {machine.driver}  Release Build"
    return 0, "\n".join([*lines, "", version, "GCC version:  gcc version 13.3.0", ""])


def _gpu(machine: Machine, gpu: int) -> list[Entry]:
    mig = "Disabled" if "mig-off" in machine.defects or machine.state.hardware.mig[gpu] is None else "Enabled"
    recovery = RECOVERY.get(round(machine.field(gpu, "DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION")), "None")
    persistence = "Disabled" if "no-persistence" in machine.defects else "Enabled"
    return [
        ("Product Name", "product_name", machine.product),
        ("Persistence Mode", "persistence_mode", persistence),
        ("MIG Mode", "mig_mode", [("Current", "current_mig", mig), ("Pending", "pending_mig", mig)]),
        *_licence(machine),
        ("GPU Recovery Action", "gpu_recovery_action", recovery),
        ("ECC Errors", "ecc_errors", _errors(round(machine.field(gpu, "DCGM_FI_DEV_ECC_DBE_VOL_TOTAL")))),
        ("Remapped Rows", "remapped_rows", _remaps(machine, gpu)),
    ]


def _licence(machine: Machine) -> list[Entry]:
    if not machine.state.hardware.vgpu:
        return []
    unlicensed = machine.state.faults.unlicensed
    status = "Unlicensed (Restricted)" if unlicensed else "Licensed (Expiry: 2027-1-1 0:0:0 GMT)"
    product: Entry = ("Product Name", "licensed_product_name", "NVIDIA RTX Virtual Workstation")
    section = "vGPU Software Licensed Product", "vgpu_software_licensed_product"
    return [(*section, [product, ("License Status", "license_status", status)])]


def _errors(uncorrectable: int) -> list[Entry]:
    volatile: list[Entry] = [
        ("SRAM Correctable", "sram_correctable", "0"),
        ("SRAM Uncorrectable Parity", "sram_uncorrectable_parity", "0"),
        ("SRAM Uncorrectable SEC-DED", "sram_uncorrectable_secded", "0"),
        ("DRAM Correctable", "dram_correctable", "0"),
        ("DRAM Uncorrectable", "dram_uncorrectable", str(uncorrectable)),
    ]
    return [
        ("Volatile", "volatile", volatile),
        ("Aggregate", "aggregate", [*volatile, ("SRAM Threshold Exceeded", "sram_threshold_exceeded", "No")]),
        ("Channel Repair Pending", "channel_repair_pending", "No"),
        ("TPC Repair Pending", "tpc_repair_pending", "No"),
        ("Unrepairable Memory", "unrepairable_memory", "No"),
    ]


def _remaps(machine: Machine, gpu: int) -> list[Entry]:
    pending, failed = (machine.field(gpu, f"DCGM_FI_DEV_ROW_REMAP_{name}") for name in ("PENDING", "FAILURE"))
    return [
        ("Pending", "remapped_row_pending", "Yes" if pending else "No"),
        ("Remapping Failure Occurred", "remapped_row_failure", "Yes" if failed else "No"),
    ]


def _text(head: Sequence[Entry], reports: Sequence[tuple[str, Sequence[Entry]]]) -> list[str]:
    lines = ["", "==============NVSMI LOG==============", "", *_lines(head, 0)]
    for address, entries in reports:
        lines += [f"GPU {address}", *_lines(entries, 1)]
    return lines


def _lines(entries: Sequence[Entry], depth: int) -> list[str]:
    lines: list[str] = []
    for label, _, value in entries:
        name = f"{'    ' * depth}{label}"
        lines += [f"{name:<50} : {value}"] if isinstance(value, str) else [name, *_lines(value, depth + 1)]
    return lines


def _xml(head: Sequence[Entry], reports: Sequence[tuple[str, Sequence[Entry]]]) -> list[str]:
    lines = ['<?xml version="1.0" ?>', '<!DOCTYPE nvidia_smi_log SYSTEM "nvsmi_device_v13.dtd">', "<nvidia_smi_log>"]
    lines += _elements(head, 1)
    for address, entries in reports:
        lines += [f"\t<gpu id={quoteattr(address)}>", *_elements(entries, 2), "\t</gpu>"]
    return [*lines, "</nvidia_smi_log>"]


def _elements(entries: Sequence[Entry], depth: int) -> list[str]:
    lines: list[str] = []
    for _, tag, value in entries:
        tabs = "\t" * depth
        if isinstance(value, str):
            lines.append(f"{tabs}<{tag}>{escape(value)}</{tag}>")
        else:
            lines += [f"{tabs}<{tag}>", *_elements(value, depth + 1), f"{tabs}</{tag}>"]
    return lines
