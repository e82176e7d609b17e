"""VM sizes of Azure with GPUs that the catalogue leaves out, and why."""

from __future__ import annotations

import re

_OTHERS = (
    (r"Standard_NC\d+as_T4_v3", "T4 GPUs (NCasT4_v3) are not supported"),
    (r"Standard_ND96asr_(?:A100_)?v4", "A100 GPUs of 40 GB with InfiniBand (NDasrA100_v4) are not supported"),
    (r"Standard_ND96amsr_A100_v4", "A100 GPUs of 80 GB with InfiniBand (NDm_A100_v4) are not supported"),
    (
        r"Standard_ND128isr_(?:NDR_)?GB[23]00_v6",
        "GB200 and GB300 are not supported: nodes with Arm CPUs, and NVLink between nodes",
    ),
    (r"Standard_NC\d+r?s?_v[23]|Standard_ND40rs_v2|Standard_NV\d+s?_v[23]", "GPUs before Ampere are not supported"),
    (r"Standard_NV\d+as_v4|Standard_NG\d+.*_v1|Standard_NV\d+.*_V710_v5", "AMD's GPUs for graphics are not supported"),
    (r"Standard_NP\d+s", "FPGAs are not supported"),
    (r"Standard_NCC\d+.*", "Confidential GPUs are not supported"),
)
"""Patterns of the names of VM sizes that the catalogue leaves out, each with the reason.

Source: Azure's documentation of sizes, GPU-accelerated families (learn.microsoft.com/azure/virtual-machines/sizes).
"""
OTHER_GPUS = frozenset(
    {
        *(
            "B200",
            "B300",
            "GB200",
            "GB300",
            "L4",
            "L40S",
            "M60",
            "MI325X",
            "MI355X",
            "P40",
            "P100",
            "T4",
            "V100",
            "V620",
        ),
        "V710",
    }
)
"""GPUs of which the catalogue has no size: a name with one of them is not treated as a misspelling."""
_GPU = re.compile(r"_(?P<gpu>[A-Z]+\d+[A-Z0-9]*)_v\d+$", re.IGNORECASE)


def why_not(name: str) -> str | None:
    """Reason why the catalogue leaves out a VM size of Azure; None for a name that may be a misspelling."""
    return next((f"{why}." for pattern, why in _OTHERS if re.fullmatch(pattern, name, re.IGNORECASE)), None)


def gpu_of(name: str) -> str | None:
    """GPU in a size's name: H100 for Standard_NC40ads_H100_v5."""
    match = _GPU.search(name)
    return match["gpu"].upper() if match is not None else None
