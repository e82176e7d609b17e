"""Conversion of a script of unknown origin in a separate process, whose time and memory are limited as they are for the
check of a workflow.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from typing import Any

from physical_ai.findings import Finding, Severity
from physical_ai.untrusted import process
from workbench.osmo.lint.isolated import LIMIT
from workbench.osmo.sbatch.convert import convert
from workbench.osmo.sbatch.platform import Platform
from workbench.osmo.sbatch.report import MANUAL, SCRIPT
from workbench.osmo.sbatch.writing import text as as_text

STOPPED = f"the conversion needs more than {LIMIT.seconds:g} s, or {LIMIT.memory >> 20} MiB of memory"
SMALLER = "Put what is large into the image, and call it from the script."


@dataclass(frozen=True)
class Result:
    """Result of a conversion: the workflow as data and as YAML text. Both are None if something cannot be converted."""

    workflow: Mapping[str, Any] | None
    written: str | None
    findings: Sequence[Finding]


def convert_script(text: str, file: str, known: Sequence[Platform], platform: str | None, image: str | None) -> Result:
    """Converts a script in a separate process with limits. If the process reaches a limit, the result is a refusal."""
    try:
        answer = process.run(partial(_answer, text, file, known, platform, image), LIMIT)
    except process.Stopped:
        return _failed(file, STOPPED)
    if answer["failed"] is not None:
        return _failed(file, f"the conversion failed: {answer['failed']}")
    return Result(answer["workflow"], answer["written"], [_finding(each) for each in answer["findings"]])


def _answer(text: str, file: str, known: Sequence[Platform], platform: str | None, image: str | None) -> dict[str, Any]:
    try:
        found = convert(text, file, known, platform=platform, image=image)
        written = as_text(found.workflow, file) if found.workflow is not None else None
    except Exception as error:
        # Any error in reading a script of unknown origin is reported as a refusal of the script.
        return {"failed": f"{error} ({type(error).__name__})".strip()}
    findings = [asdict(each) for each in found.findings]
    return {"failed": None, "workflow": found.workflow, "written": written, "findings": findings}


def _failed(file: str, problem: str) -> Result:
    return Result(None, None, [Finding(Severity.ERROR, SCRIPT, f"{file}:1", problem, SMALLER, MANUAL)])


def _finding(data: dict[str, Any]) -> Finding:
    data["severity"] = Severity(data["severity"])
    return Finding(**data)
