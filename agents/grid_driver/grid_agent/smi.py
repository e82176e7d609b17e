"""What nvidia-smi and modinfo print -> facts. Pure."""

from __future__ import annotations

import re
from typing import Literal

from grid_agent.facts import Module, Smi
from grid_agent.shell import NOT_FOUND, TIMED_OUT, Result

VERSION = re.compile(r"\d{3}\.\d+(?:\.\d+)?")
TROUBLE = re.compile(
    r"(?i)\b(fail(ed|ure)?|unable|couldn't|can't|mismatch|corrupt(ed)?|lost|no devices|unknown error)\b"
)
EXIT_CODES = {
    8: "a GPU's external power cables are not attached",
    10: "the kernel found an interrupt problem with a GPU",
    14: "a GPU's infoROM is corrupted",
    15: "a GPU has fallen off the bus or is otherwise inaccessible",
}
"""Of nvidia-smi, with which it may print its report as if nothing were wrong (nvidia-smi(1), RETURN VALUE)."""
RECOVERY = ("Reboot", "Reset", "Drain and Reset")
"""GPU recovery actions (NVML, nvmlDeviceGpuRecoveryAction_t) of a GPU that can't run anything, the worst first."""


def smi_from(query: Result, listing: Result) -> Smi:
    """`nvidia-smi -q` and `nvidia-smi -L`, of an executable that exists."""
    version = _value(query.out, "Driver Version")
    if not query.ok or not version:
        return Smi(found=True, error=complaint(query))
    if not listing.ok:
        return Smi(found=True, error=f"-L: {complaint(listing)}")
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
        persistence=_value(query.out, "Persistence Mode").lower() != "disabled",
        recovery=_worst(re.findall(r"^\s*GPU Recovery Action\s*:\s*(.*?)\s*$", query.out, re.MULTILINE)),
    )


def complaint(result: Result) -> str:
    """Why nvidia-smi failed. It may print its whole report all the same, so its first line says little."""
    if result.code in (TIMED_OUT, NOT_FOUND) or result.ok:
        return result.complaint
    lines = [line.strip() for line in (result.err + "\n" + result.out).splitlines()]
    telling = next((line for line in lines if TROUBLE.search(line)), "")
    known = EXIT_CODES.get(result.code, "")
    if telling and not known:
        return telling[:300]
    return ": ".join(part for part in (f"exit code {result.code}", known, telling[:300]) if part)


def _worst(actions: list[str]) -> str:
    """The recovery action of the GPU that needs most; empty where no GPU needs one."""
    return next((action for action in RECOVERY if action in actions), "")


def registry_from(params: str) -> dict[str, str]:
    """/proc/driver/nvidia/params, `Name: value` a line, as module parameters of nvidia."""
    lines = (line.partition(":") for line in params.splitlines())
    return {f"NVreg_{name.strip()}": value.strip().strip('"') for name, colon, value in lines if colon}


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
