"""What nvidia-smi and modinfo print -> facts. Pure."""

from __future__ import annotations

import re
from typing import Literal

from grid_agent.facts import Module, Smi
from grid_agent.report.plain import plain
from grid_agent.report.reading import EXIT_CODES, TROUBLE, read_report
from grid_agent.report.tree import Unreadable
from grid_agent.shell import NOT_FOUND, TIMED_OUT, TOO_MUCH, Result

VERSION = re.compile(r"\d{3}\.\d+(?:\.\d+)?")


def smi_from(query: Result, listing: Result) -> Smi:
    """`nvidia-smi -q -x`, or `-q`, and `nvidia-smi -L`, of an executable that exists."""
    if not query.ok:
        return Smi(found=True, error=complaint(query))
    try:
        report = read_report(query.out)
    except Unreadable as problem:
        said = complaint(query)
        return Smi(found=True, error=said if not query.out.strip() else f"no report can be read ({problem}): {said}")
    if not report.driver:
        return Smi(found=True, error=report.problems[0])
    if not listing.ok:
        return Smi(found=True, error=f"-L: {complaint(listing)}")
    modes = {gpu.mig for gpu in report.gpus}
    licences = [gpu.licence for gpu in report.gpus if gpu.licence]
    licensed = "licensed" if all(each == "Licensed" for each in licences) else "unlicensed"
    return Smi(
        found=True,
        ran=not report.problems,
        error=report.problems[0] if report.problems else "",
        version=report.driver,
        devices=len(re.findall(r"^GPU \d+:", listing.out, re.MULTILINE)),
        mig="enabled" if "Enabled" in modes else "disabled" if "Disabled" in modes else "",
        mig_devices=len(re.findall(r"^\s+MIG ", listing.out, re.MULTILINE)),
        licence=licensed if licences else "unknown",
        persistence=all(gpu.persistence != "Disabled" for gpu in report.gpus),
        recovery=_worst([gpu.needs for gpu in report.gpus]),
    )


def complaint(result: Result) -> str:
    """Why nvidia-smi failed. It may print its whole report all the same, so its first line says little."""
    if result.code in (TIMED_OUT, TOO_MUCH, NOT_FOUND) or result.ok:
        return result.complaint
    lines = (plain(line) for line in (result.err + "\n" + result.out).splitlines())
    telling = next((line for line in lines if TROUBLE.search(line)), "")
    known = EXIT_CODES.get(result.code, "")
    if telling and not known:
        return telling
    return ": ".join(part for part in (f"exit code {result.code}", known, telling) if part)


def _worst(needs: list[str]) -> str:
    """What the GPU that needs most needs; empty where no GPU needs anything. After a reboot nothing else is needed."""
    there = sorted(filter(None, needs), key=lambda need: "reboot" not in need.lower())
    return there[0] if there else ""


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
