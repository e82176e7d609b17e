"""Findings about values that OSMO's schema refuses. The values are replaced by placeholders, so that the rest of the
file can be checked.
"""

from __future__ import annotations

import copy
import re
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import takewhile
from typing import Any, cast

from pydantic import BaseModel

from physical_ai.catalog import nearest
from workbench.osmo import units
from workbench.osmo.lint import rules_file, rules_task
from workbench.osmo.lint.context import NEXT
from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.source import Source
from workbench.osmo.names import NAME
from workbench.osmo.refusal import Problem, Refusal
from workbench.osmo.shapes import a_list, a_map
from workbench.osmo.workflow import schema
from workbench.osmo.workflow.spec_data import CheckpointSpec, File

_ROUNDS = 4
_FEWEST_BYTES = 1 << 20
"""Smallest amount without a unit that is accepted as a number of bytes. A smaller number probably lacks its unit."""
_FORMS = (
    "TaskInputOutput",
    "DatasetInputOutput",
    "URLInputOutput",
    "UpdateDatasetOutput",
    "str",
    "dict[str,str]",
)
"""Type names that Pydantic inserts into the path of an error if a value may have one of several types."""
_FORMS_TEXT = (
    "one of {task: NAME}, {url: s3://…} and {dataset: {name: BUCKET/NAME}}, for outputs also {update_dataset: …}"
)
_OTHER_NAMES = {
    "env": "environment",
    "gpus": "gpu",
    "cpus": "cpu",
    "mem": "memory",
    "disk": "storage",
    "volumes": "volumeMounts",
    "resources": "resource",
}
"""OSMO's key for each name that other systems use for the same setting."""
_OF_NEXT: tuple[Path, ...] = (("workflow", "labels"),)
"""Paths of keys that OSMO's next release adds (NVIDIA/OSMO main, 2026-08-20, src/utils/job/workflow.py)."""
_SAMPLES: dict[str, Any] = {
    "name": "unnamed",
    "image": "image:1",
    "command": ["true"],
    "contents": "",
    "path": "/unnamed",
}


@dataclass(frozen=True)
class Repaired:
    """A workflow whose invalid values were replaced by placeholders, and the placeholders' paths."""

    spec: schema.WorkflowSpec
    placeholders: frozenset[Path]


def repaired(document: Mapping[str, Any], source: Source) -> Repaired | None:
    """The workflow with invalid values replaced; None if that is not possible. Adds the findings to `source`."""
    data = copy.deepcopy(dict(document))
    placeholders: set[Path] = set()
    _amounts(data, source, placeholders)
    _group_names(data, source, placeholders)
    for attempt in range(_ROUNDS):
        try:
            return Repaired(schema.parse(data), frozenset(placeholders))
        except Refusal as refusal:
            if not refusal.problems:
                source.add(rules_file.SCHEMA, ("workflow",), refusal.message)
                return None
            if attempt == 0 or not placeholders:
                _report(refusal, source)
            paths = [_path(problem) for problem in refusal.problems]
            if ("workflow",) in paths:
                return None
            for path, problem in zip(paths, refusal.problems, strict=True):
                placeholders.add(path)
                _replace(data, path, problem.kind)
    return None


_SHARE = (
    "gpu: 1. For several tasks on one GPU, set the pool's sharing (timeSlicing, mps or mig; docs/gpu-stack.md), and"
    " request 1 of its shares."
)


def _path(problem: Problem) -> Path:
    """Path in the workflow file of the value that an error is about: Pydantic's path up to the first type name of
    `_FORMS`.
    """
    return tuple(takewhile(lambda step: step not in _FORMS, problem.steps))


def _report(refusal: Refusal, source: Source) -> None:
    for problem in refusal.problems:
        path, kind = _path(problem), problem.kind
        if path != problem.steps:
            what = "input or output" if isinstance(path[-1], int) else "value"
            source.add(rules_file.SCHEMA, path, f"{_shown(path)} is not a valid {what}", f"Write {_FORMS_TEXT}.")
            continue
        name = str(path[-1])
        if kind == "extra_forbidden" and path in _OF_NEXT:
            fix = f"Remove it, or check for that release: --osmo-version {NEXT}."
            source.add(rules_file.SCHEMA, path, f"'{name}' is of OSMO {NEXT}, which is not the one checked for", fix)
        elif kind == "extra_forbidden":
            known = _known(path)
            near = (
                _OTHER_NAMES.get(name) if _OTHER_NAMES.get(name) in known else nearest(name, known) if known else None
            )
            fix = f"Did you mean '{near}'?" if near else f"Known: {', '.join(known)}." if known else None
            source.add(rules_file.SCHEMA, path, f"'{name}' is not a key of {_shown(path[:-1])}", fix)
        elif kind == "missing":
            source.add(rules_file.SCHEMA, path, f"{_shown(path[:-1])} has no '{name}'", f"Add {name}.")
        elif kind == "string_pattern_mismatch" and name in ("name", "task"):
            message = "a name starts with a letter, has letters, digits, - and _, and ends with neither"
            source.add(rules_file.SCHEMA, path, f"{_shown(path)}: {message}", "Example: train-h100.")
        elif name == "gpu" and kind in ("int_from_float", "int_parsing"):
            message = "GPUs are whole numbers: Kubernetes does not assign fractions"
            source.add(rules_file.SCHEMA, path, f"{_shown(path)}: {message}", _SHARE)
        else:
            source.add(rules_file.SCHEMA, path, f"{_shown(path)}: {problem.message}")


def _shown(path: Path) -> str:
    text = "".join(f"[{step}]" if isinstance(step, int) else f".{step}" for step in path)
    return text.lstrip(".") or "the file"


def _known(path: Path) -> list[str]:
    """Keys that OSMO's schema allows in the map in which the last key of `path` is."""
    model: type[BaseModel] | None = None
    match path[1:-1]:
        case ():
            model = schema.WorkflowSpec
        case ("timeout",):
            model = schema.TimeoutSpec
        case ("resources", _):
            model = schema.ResourceSpec
        case ("groups", int()):
            model = schema.TaskGroupSpec
        case ("tasks", int()) | ("groups", int(), "tasks", int()):
            model = schema.TaskSpec
        case (*_, "files", int()):
            model = File
        case (*_, "checkpoint", int()):
            model = CheckpointSpec
        case _:
            return []
    return list(model.model_fields)


def _replace(data: dict[str, Any], path: Path, kind: str) -> None:
    """Removes an invalid value, or replaces it with a placeholder if a value is required."""
    holder: Any = data
    for step in path[:-1]:
        below = _item(holder, step)
        if below is None:
            return
        holder = below
    key = path[-1]
    if isinstance(holder, dict):
        target = cast("dict[Any, Any]", holder)
        written = key if key in target else next((item for item in target if str(item) == str(key)), key)
        target.pop(written, None)
        if kind != "extra_forbidden" and str(key) in _SAMPLES and len(path) > 2:
            sample = _SAMPLES[str(key)]
            target[key] = f"{sample}{_number(path)}" if key in ("name", "path") else copy.deepcopy(sample)
    elif isinstance(holder, list) and isinstance(key, int) and key < len(a_list(holder)):
        # A list keeps its length, so that the paths of the other items stay valid.
        a_list(holder)[key] = _stand_in(path)


def _number(path: Path) -> str:
    """The indexes in a path, joined with hyphens. They make the name of a placeholder unique."""
    return "-".join(str(step) for step in path if isinstance(step, int))


def _item(holder: Any, step: str | int) -> Any:
    if isinstance(holder, dict):
        found = cast("dict[Any, Any]", holder)
        return found.get(step, found.get(str(step)))
    items = a_list(holder)
    return items[step] if isinstance(step, int) and step < len(items) else None


def _stand_in(path: Path) -> Any:
    match path[-2:]:
        case ("inputs" | "outputs", int()):
            return {"url": "s3://unknown/unknown"}
        case ("tasks", int()):
            return {"name": f"unnamed{_number(path)}", "image": "image:1", "command": ["true"]}
        case ("files", int()):
            return {"path": f"/unnamed{_number(path)}", "contents": ""}
        case _:
            return "unknown"


def _amounts(data: dict[str, Any], source: Source, placeholders: set[Path]) -> None:
    """Reports invalid amounts of memory and storage. OSMO's schema reports them without a path."""
    for name, resource in a_map(a_map(data.get("workflow")).get("resources")).items():
        for key in ("memory", "storage"):
            value = a_map(resource).get(key)
            if value is None or isinstance(value, bool | dict | list):
                continue
            try:
                stored = units.stored_amount(str(value), key)
                if str(value).isdigit() and 0 < units.convert(stored, "B") < _FEWEST_BYTES:
                    problem = f"{key}: {value} has no unit, so it is {value} bytes"
                    source.add(rules_task.AMOUNT_UNIT, ("workflow", "resources", name, key), problem, f"{value}Gi")
            except Refusal as refusal:
                path: Path = ("workflow", "resources", name, key)
                source.add(rules_task.AMOUNT_UNIT, path, refusal.message)
                placeholders.add(path)
                resource.pop(key)


def _group_names(data: dict[str, Any], source: Source, placeholders: set[Path]) -> None:
    """Reports invalid names of groups. They are checked first, because OSMO's schema crashes on them."""

    for index, group in enumerate(a_list(a_map(data.get("workflow")).get("groups"))):
        name = a_map(group).get("name")
        if isinstance(group, dict) and not (isinstance(name, str) and re.fullmatch(NAME, name)):
            path: Path = ("workflow", "groups", index, "name")
            source.add(rules_file.SCHEMA, path, f"{_shown(path)}: {name!r} is not a valid name", "Example: train-h100.")
            placeholders.add(path)
            group["name"] = f"unnamed-group{index}"
