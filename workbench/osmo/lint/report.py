"""Output of findings as text, as JSON data, and as annotations in GitHub Actions."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any, cast

from physical_ai.findings import Severity, counted
from physical_ai.untrusted.text import printable
from workbench.osmo.lint.finding import WorkflowFinding
from workbench.osmo.lint.run import Checked


def text(finding: WorkflowFinding) -> str:
    """A finding in three lines: location, rule and problem; reason; fix."""
    head = f"{finding.file}:{finding.line}:{finding.column}: {finding.severity} {finding.rule}: {finding.problem}"
    return f"{head}\n  {finding.reason}\n  {finding.fix}"


def summary(checked: Sequence[Checked], name: str) -> str:
    """Text with the number of files and of findings."""
    files = f"{len(checked)} {'file' if len(checked) == 1 else 'files'} checked against {name}"
    findings = [finding for one in checked for finding in one.findings]
    return f"{files}: {counted(findings, (Severity.ERROR, Severity.WARNING))}"


def document(checked: Sequence[Checked], name: str, pool: str, *, kinds: Sequence[str] | None) -> dict[str, Any]:
    """The results as JSON data with stable keys. `kinds`: kinds of Kubernetes objects to include; None for all."""
    files: list[dict[str, Any]] = []
    for one in checked:
        item: dict[str, Any] = {"file": one.file, "kind": one.kind, "findings": [f.document() for f in one.findings]}
        if kinds != ():
            item["groups"] = [{"group": group.group, "objects": as_json(group.of(kinds))} for group in one.objects]
        files.append(item)
    return {"context": name, "pool": pool, "files": files}


def as_json(value: Any) -> Any:
    """A value in JSON's types. Keys of templates can be numbers and dates, and values can be dates, bytes and sets."""
    if isinstance(value, dict):
        return {str(key): as_json(item) for key, item in cast("dict[Any, Any]", value).items()}
    if isinstance(value, list | tuple | set):
        return [as_json(item) for item in cast("Iterable[Any]", value)]
    if value is None or isinstance(value, str | int) or (isinstance(value, float) and math.isfinite(value)):
        return value
    return str(value)


def github(finding: WorkflowFinding) -> str:
    """A workflow command of GitHub Actions that shows the finding at its line of the file."""
    title = _property(f"{finding.rule}: {finding.title}")
    place = f"file={_property(finding.file)},line={finding.line},col={finding.column},title={title}"
    return f"::{finding.severity} {place}::{_data(f'{finding.problem}. {finding.reason} {finding.fix}')}"


def _data(value: str) -> str:
    value = "\n".join(printable(line) for line in value.split("\n"))
    return value.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _property(value: str) -> str:
    return _data(value).replace(":", "%3A").replace(",", "%2C")
