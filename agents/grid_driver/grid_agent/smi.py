"""What nvidia-smi and modinfo print -> facts. Pure."""

from __future__ import annotations

import re
from typing import Literal

from grid_agent.facts import Module, Smi
from grid_agent.shell import Result

VERSION = re.compile(r"\d{3}\.\d+(?:\.\d+)?")


def smi_from(query: Result, listing: Result) -> Smi:
    """`nvidia-smi -q` and `nvidia-smi -L`, of an executable that exists."""
    version = _value(query.out, "Driver Version")
    if not query.ok or not version:
        return Smi(found=True, error=query.complaint)
    mig = _value(query.out.partition("MIG Mode")[2], "Current").lower()
    licences = re.findall(r"License Status\s*:\s*(\w+)", query.out)
    if not licences:
        licence: Literal["licensed", "unlicensed", "unknown"] = "unknown"
    else:
        licence = "licensed" if all(each == "Licensed" for each in licences) else "unlicensed"
    return Smi(
        found=True,
        ran=True,
        version=version,
        devices=len(re.findall(r"^GPU \d+:", listing.out, re.MULTILINE)),
        mig="enabled" if mig == "enabled" else "disabled" if mig == "disabled" else "",
        mig_devices=len(re.findall(r"^\s+MIG ", listing.out, re.MULTILINE)),
        licence=licence,
    )


def module_from(modinfo: Result) -> Module | None:
    """`modinfo -k KERNEL nvidia`; None where there is no such module."""
    return Module(_value(modinfo.out, "version"), flavour_of(_value(modinfo.out, "license"))) if modinfo.ok else None


def flavour_of(licence: str) -> Literal["open", "proprietary", ""]:
    if not licence:
        return ""
    return "open" if "MIT" in licence else "proprietary"


def loaded_flavour(nvrm: str | None) -> Literal["open", "proprietary", ""]:
    """From /proc/driver/nvidia/version."""
    if not nvrm:
        return ""
    return "open" if "Open Kernel Module" in nvrm else "proprietary"


def _value(text: str, key: str) -> str:
    found = re.search(rf"^\s*{key}\s*:\s*(.*?)\s*$", text, re.MULTILINE)
    return found[1] if found else ""
