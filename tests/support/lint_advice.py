"""Applies the advice of a lint finding as a person who follows it to the letter would."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from copy import deepcopy
from typing import Any

import yaml

from workbench.osmo.lint.finding import WorkflowFinding

Document = dict[str, Any]
Edit = Callable[[Document, WorkflowFinding], None]
PLACES = {
    "FOLDER": "/checkpoints",
    "ACCOUNT": "lake",
    "CONTAINER": "runs",
    "PATH": "one",
    "TASK": "train",
    "NAME": "hf",
}
"""Values that a reader writes in place of the capital words of an advice."""
_FRAGMENT = re.compile(r"^([A-Za-z_]+): *(\{.*\}|\[.*\]|[^\s;,.]+)")
_SUGGESTED = re.compile(r"^(?:Did you mean|Resources:|Write|At most|Example:|More than) '?([^\s'?]+?)'?[.?](?:\s|$)")


class NotApplicable(AssertionError):
    """Advice without a part that a program can apply."""


def applied(text: str, finding: WorkflowFinding, edit: Edit) -> str:
    document = deepcopy(yaml.safe_load(text))
    edit(document, finding)
    return yaml.safe_dump(document, sort_keys=False)


def remove(document: Document, finding: WorkflowFinding) -> None:
    """Removes the value at the finding, and then each list or map that is empty without it."""
    steps = _steps(finding)
    while steps:
        holder = _at(document, steps[:-1])
        del holder[steps[-1]]
        if holder:
            return
        steps = steps[:-1]


def rename(document: Document, finding: WorkflowFinding) -> None:
    """Renames the key at the finding to the suggested name."""
    steps = _steps(finding)
    holder = _at(document, steps[:-1])
    holder[_suggested(finding)] = holder.pop(steps[-1])


def write(document: Document, finding: WorkflowFinding) -> None:
    """Writes the suggested value at the finding."""
    steps = _steps(finding)
    value = yaml.safe_load(_suggested(finding))
    # An advice that begins with "More than" asks for a larger amount, so one unit more is written.
    above = re.fullmatch(r"(\d+)(\w+)", str(value)) if (finding.fix or "").startswith("More than") else None
    _at(document, steps[:-1])[steps[-1]] = f"{int(above[1]) + 1}{above[2]}" if above else value


def merge(document: Document, finding: WorkflowFinding) -> None:
    """Writes the advice's `key: value` at the finding: into its map, beside it, or in place of the same key."""
    key, value = _fragment(finding)
    steps = _steps(finding)
    if key in steps:
        steps = steps[: steps.index(key)]
    holder = _at(document, steps)
    while not isinstance(holder, dict):
        steps = steps[:-1]
        holder = _at(document, steps)
    there = holder.get(key)
    holder[key] = {**there, **value} if isinstance(there, dict) and isinstance(value, dict) else value


def take_out(document: Document, finding: WorkflowFinding) -> None:
    """Moves a variable from the environment into the credentials that the advice names."""
    remove(document, finding)
    task = ".".join(finding.where.split(".")[:3])
    key, value = _fragment(finding)
    _at(document, _parts(task))[key] = value


def _fragment(finding: WorkflowFinding) -> tuple[str, Any]:
    match = _FRAGMENT.match(finding.fix or "")
    if match is None:
        raise NotApplicable(finding.fix)
    text = match[2]
    for word, value in PLACES.items():
        text = re.sub(rf"\b{word}\b", value, text)
    return match[1], yaml.safe_load(text)


def _suggested(finding: WorkflowFinding) -> str:
    match = _SUGGESTED.match(finding.fix or "")
    if match is None:
        raise NotApplicable(finding.fix)
    return match[1]


def _steps(finding: WorkflowFinding) -> list[str | int]:
    return _parts(finding.where)


def _parts(where: str) -> list[str | int]:
    return [int(step) if step.isdigit() else step for step in where.split(".")] if where else []


def _at(document: Any, steps: list[str | int]) -> Any:
    for step in steps:
        document = document[step]
    return document


EDITS: Mapping[str, Edit] = {
    "spot-checkpoint": merge,
    "spot-frequency": merge,
    "file-version": merge,
    "schema": rename,
    "key-ignored": remove,
    "exec-timeout": merge,
    "timeout-limit": write,
    "exit-actions": write,
    "resource-unknown": write,
    "platform-unknown": write,
    "gpu-explicit": merge,
    "gpu-limit": merge,
    "gpu-on-cpu": merge,
    "node-limit": merge,
    "shared-memory": write,
    "amount-unit": write,
    "node-exclusion": remove,
    "topology": lambda document, finding: _at(document, ["workflow", "resources", "default"]).pop("topology"),
    "gpu-capabilities": merge,
    "gpu-visible-devices": remove,
    "isaac-eula": merge,
    "privileged": remove,
    "credential-plain": take_out,
    "nccl-automatic": remove,
    "nccl-debugging": remove,
    "nccl-fabric": remove,
    "nccl-interface": lambda document, finding: _at(document, _steps(finding)[:-1]).update([_fragment(finding)]),
    "config-default-platform": write,
    "config-chart-platform": lambda document, finding: _at(document, _steps(finding)).update({"default": None}),
}
"""Edit that applies an advice, by the lint's rule."""
BY_HAND: Mapping[str, str] = {
    "checkpoint-place": "which task writes where is the author's choice",
    "blob-credential": "the role is assigned outside of the file",
    "file-limits": "the file is no document",
    "file-sections": "whether the key belongs to the workflow is the author's knowledge",
    "template-error": "the value of the variable is the author's",
    "template-unseen": "the defaults are the author's",
    "special-token": "which input is meant is the author's knowledge",
    "yaml-syntax": "the file is no document",
    "yaml-duplicate": "which of the two is meant is the author's knowledge",
    "file-content": "the file is elsewhere or not there",
    "name-length": "the name is the author's",
    "name-clash": "the name is the author's",
    "task-input": "the order or the name may be wrong",
    "next-release": "where the data is to be is the author's choice",
    "refused": "OSMO's own message says what it refuses",
    "config-loads": "the key may be superfluous or misspelt",
    "config-name": "names are in lists of several",
    "config-reads": "OSMO's own message says what it cannot read",
    "config-submits": "template, validation and variable may each be wrong",
    "config-gpu-default": "pool and platform are changed together",
    "config-node-check": "the amount of a node is not in the file",
    "config-toleration": "which template keeps it is the author's choice",
    "config-capabilities": "the template is elsewhere in the file",
    "gang-limit": "fewer tasks, or another stack",
    "cache-size": "the amount is the author's",
    "isaac-vgpu": "the image is the author's",
    "isaac-close": "the change is in a program",
    "image-reference": "the image is the author's",
    "image-latest": "the version is the author's",
    "image-digest": "the digest is in the registry",
    "credential-form": "credential and folder are the author's",
    "env-two-sources": "which of the two is meant is the author's knowledge",
    "env-twice": "which of the two is meant is the author's knowledge",
    "pod-invalid": "the API server's own message says what it refuses",
}
"""Reason for which a program cannot follow a rule's advice, by the lint's rule."""
