"""`nvidia-smi -q`, followed by /proc/driver/nvidia/version.

Indented `Key : Value` lines below section lines; a GPU begins with `GPU <PCI address>` (nvidia-smi(1)).
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from physical_ai.health.acceptance.outputs.unrecognised import Unrecognised, last_line

_GPU = re.compile(r"^GPU ([0-9A-Fa-f]{8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.\d)\s*$", re.MULTILINE)


@dataclass(frozen=True)
class SmiGpu:
    """One GPU as nvidia-smi shows it. Empty text: the line is missing or N/A."""

    address: str
    product: str
    uuid: str
    persistence: str
    """`Enabled` or `Disabled`."""
    mig: str
    """Current MIG mode: `Enabled` or `Disabled`."""
    licence: str
    """`Licensed`, `Unlicensed`, with what follows in brackets cut off."""
    recovery: str
    """What the driver asks for: `None`, `Reset`, `Reboot`, `Drain P2P`, `Drain and Reset`."""
    remap_failed: str
    remap_pending: str
    """`Yes` or `No`."""
    unrepairable: str
    """Memory that can't be repaired: `Yes` or `No`."""
    threshold_exceeded: str
    """More uncorrectable errors of SRAM than a GPU may have in its life: `Yes` or `No`."""
    repairs_pending: Sequence[str]
    """Repairs that the next start makes: `Channel`, `TPC`."""
    uncorrectable: int
    """Uncorrectable ECC errors of DRAM and SRAM since the driver was loaded."""


@dataclass(frozen=True)
class Smi:
    driver: str
    gpus: Sequence[SmiGpu]
    modules: Literal["open", "proprietary"]
    """Flavour of the kernel modules."""


def read_smi(text: str) -> Smi:
    """What nvidia-smi and the driver's version file say.

    Raises:
        Unrecognised: there is no report, not as many GPUs as it announces, or no version file after it, which shows
            that the report is complete.
    """
    version = re.search(r"^Driver Version\s*:\s*(\d+(?:\.\d+)+)\s*$", text, re.MULTILINE)
    attached = re.search(r"^Attached GPUs\s*:\s*(\d+)\s*$", text, re.MULTILINE)
    starts = list(_GPU.finditer(text))
    modules = re.search(r"^NVRM version:(.*)$", text, re.MULTILINE)
    if version is None or attached is None or int(attached[1]) != len(starts) or not starts or modules is None:
        raise Unrecognised(f"nvidia-smi printed no complete report: {last_line(text)}")
    ends = [start.start() for start in starts[1:]] + [len(text)]
    gpus = [_gpu(start[1], text[start.end() : end]) for start, end in zip(starts, ends, strict=True)]
    return Smi(version[1], gpus, "open" if "Open Kernel Module" in modules[1] else "proprietary")


def _gpu(address: str, report: str) -> SmiGpu:
    mig = _section(report, "MIG Mode")
    rows = _section(report, "Remapped Rows")
    ecc = _section(report, "ECC Errors")
    volatile = _section(ecc, "Volatile")
    return SmiGpu(
        address=address,
        product=_value(report, "Product Name"),
        uuid=_value(report, "GPU UUID"),
        persistence=_value(report, "Persistence Mode"),
        mig=_value(mig, "Current"),
        licence=_value(report, "License Status").partition(" (")[0],
        recovery=_value(report, "GPU Recovery Action"),
        remap_failed=_value(rows, "Remapping Failure Occurred"),
        remap_pending=_value(rows, "Pending"),
        unrepairable=_value(ecc, "Unrepairable Memory"),
        threshold_exceeded=_value(ecc, "SRAM Threshold Exceeded"),
        repairs_pending=[unit for unit in ("Channel", "TPC") if _value(ecc, f"{unit} Repair Pending") == "Yes"],
        uncorrectable=sum(
            int(count)
            for count in re.findall(r"^\s*\w+ Uncorrectable(?: \w+)?\s*:\s*(\d+)\s*$", volatile, re.MULTILINE)
        ),
    )


def _value(report: str, key: str) -> str:
    found = re.search(rf"^\s*{re.escape(key)}\s*:\s*(.*?)\s*$", report, re.MULTILINE)
    return "" if found is None or found[1] in ("N/A", "[N/A]") else found[1]


def _section(report: str, name: str) -> str:
    """The lines below a section's line that are indented further than it."""
    start = re.search(rf"^(\s*){re.escape(name)}\s*$", report, re.MULTILINE)
    if start is None:
        return ""
    depth = len(start[1].lstrip("\n"))
    kept: list[str] = []
    for line in report[start.end() :].splitlines()[1:]:
        if line.strip() and len(line) - len(line.lstrip()) <= depth:
            break
        kept.append(line)
    return "\n".join(kept)
