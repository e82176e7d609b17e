"""Check of untrusted files in a separate process with limits, because such a file may take hours or crash the
process.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import Any

from physical_ai.findings import Severity
from physical_ai.untrusted import files, process
from workbench.osmo.lint.context import Context
from workbench.osmo.lint.finding import WorkflowFinding
from workbench.osmo.lint.run import Checked, check_text, unchecked
from workbench.osmo.workflow.sandbox import prepare

LIMIT = process.Limit(seconds=1.0, memory=512 * 1024 * 1024, patience=60)
"""Limits for the check of one file. The largest sample files need a fiftieth of this time."""
STOPPED = f"the check of this file needs more than {LIMIT.seconds:g} s, or {LIMIT.memory >> 20} MiB of memory"


def check_files(paths: Mapping[Path, Path], context: Context, *, complete: bool = False) -> list[Checked]:
    """Checks untrusted files in limited processes. `paths` maps each file to the folder that must contain it.

    Args:
        complete: True to also return the submission and the objects that OSMO would create. The limited process can
            only return findings, so a file that it has accepted is checked again in this process.
    """
    found: dict[Path, Checked] = {}
    texts: dict[Path, str] = {}
    for path, within in paths.items():
        try:
            texts[path] = files.read_text(path, within=within)
        except files.Unreadable as problem:
            found[path] = unchecked(str(path), str(problem))
    prepare()
    works = [partial(_answer, text, path, context) for path, text in texts.items()]
    for (path, text), answer in zip(texts.items(), process.run_each(works, LIMIT), strict=True):
        if isinstance(answer, process.Stopped):
            found[path] = unchecked(str(path), STOPPED)
        elif complete and answer["accepted"]:
            found[path] = check_text(text, str(path), context, path.parent)
        else:
            found[path] = Checked(str(path), answer["kind"], [_finding(item) for item in answer["findings"]])
    return [found[path] for path in paths]


def failure(work: Callable[[], object]) -> str | None:
    """Runs the function `work` within LIMIT, because it reads a file of unknown origin. Returns the reason why it
    failed; None if it succeeded.
    """
    try:
        return process.run(partial(_message, work), LIMIT)
    except process.Stopped:
        return STOPPED


def _message(work: Callable[[], object]) -> str | None:
    try:
        work()
    except Exception as error:
        return _summary(error)
    return None


def _summary(error: Exception) -> str:
    message = getattr(error, "message", None)
    return str(message) if message else f"{error} ({type(error).__name__})".strip()


def _answer(text: str, path: Path, context: Context) -> dict[str, Any]:
    try:
        checked = check_text(text, str(path), context, path.parent)
    except Exception as error:
        checked = unchecked(str(path), f"the check of this file failed: {_summary(error)}")
    return {
        "kind": checked.kind,
        "accepted": checked.submission is not None,
        "findings": [asdict(finding) for finding in checked.findings],
    }


def _finding(data: dict[str, Any]) -> WorkflowFinding:
    data["severity"] = Severity(data["severity"])
    return WorkflowFinding(**data)
