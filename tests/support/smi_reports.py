"""Reports of nvidia-smi, as drivers and GPUs of several kinds print them, written by this project.

The facts come from recorded reports of drivers 530 to 610: the project's own (H100, H200, 580), and captures that
others have published (utkuozdemir/nvidia_gpu_exporter internal/captures; notes and issues about A100 555, A10 550, H100
545, vGPU 535). Lines that the project does not read are left out.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

MODULES = "NVRM version: NVIDIA UNIX Open Kernel Module for x86_64  {driver}  Release Build\n"
Lines = dict[str, Any]
"""Section of a report: its lines by name. A value may be another section, or a list of sections of the same name."""


def whole_gpu(**changes: Any) -> Lines:
    """Section of an H100 with a driver of branch 580 or newer; A100, H200, B200 and GB200 have the same lines."""
    volatile = {
        "SRAM Correctable": "0",
        "SRAM Uncorrectable Parity": "0",
        "SRAM Uncorrectable SEC-DED": "0",
        "DRAM Correctable": "0",
        "DRAM Uncorrectable": "0",
    }
    return {
        "Product Name": "NVIDIA H100 80GB HBM3",
        "Persistence Mode": "Enabled",
        "MIG Mode": {"Current": "Disabled", "Pending": "Disabled"},
        "GPU UUID": "GPU-00000000-1111-2222-3333-444444444444",
        "GPU Recovery Action": "None",
        "ECC Mode": {"Current": "Enabled", "Pending": "Enabled"},
        "ECC Errors": {
            "Volatile": volatile,
            "Aggregate": {**volatile, "SRAM Threshold Exceeded": "No"},
            "Channel Repair Pending": "No",
            "TPC Repair Pending": "No",
            "Unrepairable Memory": "No",
        },
        "Retired Pages": {"Single Bit ECC": "N/A", "Double Bit ECC": "N/A", "Pending Page Blacklist": "N/A"},
        "Remapped Rows": {"Correctable Error": "0", "Pending": "No", "Remapping Failure Occurred": "No"},
        "Processes": "None",
        **changes,
    }


def mig_gpu(devices: int = 2, **changes: Any) -> Lines:
    """Section of a GPU in MIG mode. Each MIG device has its own ECC section, which comes before that of the GPU."""
    device = {"Index": "0", "ECC Errors": {"Volatile": {"SRAM Uncorrectable": "0"}}}
    own = whole_gpu(**{"MIG Mode": {"Current": "Enabled", "Pending": "Enabled"}, "Remapped Rows": "N/A"})
    ahead = {key: own.pop(key) for key in ("Product Name", "Persistence Mode", "MIG Mode")}
    return {**ahead, "MIG Device": [device] * devices, **own, **changes}


def older_gpu(**changes: Any) -> Lines:
    """Section of a GPU with a driver before branch 570: the need for a reset is in another section, and SRAM has one
    count of uncorrectable errors.
    """
    counts = {"SRAM Correctable": "0", "SRAM Uncorrectable": "0", "DRAM Correctable": "0", "DRAM Uncorrectable": "0"}
    own = whole_gpu(**{"ECC Errors": {"Volatile": counts, "Aggregate": counts}})
    del own["GPU Recovery Action"]
    return {**own, "GPU Reset Status": {"Reset Required": "No", "Drain and Reset Recommended": "No"}, **changes}


def volta_gpu(**changes: Any) -> Lines:
    """Section of a GPU before Ampere, which retires pages and does not remap rows, and before Turing, which counts
    errors by bits.
    """
    bits = {"Device Memory": "0", "Register File": "0", "CBU": "N/A", "Total": "0"}
    counts = {"Single Bit": bits, "Double Bit": bits}
    own = older_gpu(**{"ECC Errors": {"Volatile": counts, "Aggregate": counts}, "Remapped Rows": "N/A"})
    pages = {"Single Bit ECC": "0", "Double Bit ECC": "0", "Pending Page Blacklist": "No"}
    return {**own, "MIG Mode": {"Current": "N/A", "Pending": "N/A"}, "Retired Pages": pages, **changes}


def vgpu(licence: str = "Licensed (Expiry: 2027-1-31 11:32:22 GMT)", **changes: Any) -> Lines:
    """Section of a vGPU guest: it has a licence, and nothing is known about its memory."""
    none = dict.fromkeys(("SRAM Correctable", "SRAM Uncorrectable", "DRAM Correctable", "DRAM Uncorrectable"), "N/A")
    return whole_gpu(
        **{
            "GPU Recovery Action": "N/A",
            "vGPU Software Licensed Product": {
                "Product Name": "NVIDIA RTX Virtual Workstation",
                "License Status": licence,
            },
            "ECC Errors": {"Volatile": none, "Aggregate": none},
            "Remapped Rows": "N/A",
            **changes,
        }
    )


@dataclass(frozen=True)
class Printed:
    """Report that nvidia-smi might print."""

    gpus: Sequence[Lines] = field(default_factory=lambda: (whole_gpu(),))
    driver: str = "580.159.04"
    head: Mapping[str, str] = field(default_factory=dict[str, str])
    after: str = MODULES

    @property
    def text(self) -> str:
        head = {
            "Driver Version": self.driver,
            "CUDA Version": "13.0",
            "Attached GPUs": str(len(self.gpus)),
            **self.head,
        }
        lines = ["", "==============NVSMI LOG==============", "", *_lines(head, 0)]
        for number, gpu in enumerate(self.gpus, 1):
            lines += [f"GPU 0000000{number}:00:00.0", *_lines(gpu, 1)]
        return "\n".join([*lines, "", self.after.format(driver=self.driver.split()[0])])


def _lines(section: Mapping[str, Any], depth: int) -> list[str]:
    lines: list[str] = []
    for label, value in section.items():
        name = "    " * depth + label
        for each in value if isinstance(value, list) else [value]:
            lines += [f"{name:<54} : {each}"] if isinstance(each, str) else [name, *_lines(each, depth + 1)]
    return lines


def changed(gpu: Lines, path: Sequence[str], value: Any) -> Lines:
    """Copy of a GPU's section with another value at a path; None removes the line."""
    first, *rest = path
    copy = dict(gpu)
    if rest:
        copy[first] = changed(gpu[first], rest, value)
    elif value is None:
        del copy[first]
    else:
        copy[first] = value
    return copy
