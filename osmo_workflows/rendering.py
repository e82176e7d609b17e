"""From a workflow file's text to YAML: sections, default values, Jinja with the user's variables, special tokens."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from osmo_workflows import marks, sandbox
from osmo_workflows.refusal import Refusal

_SECTION = re.compile(r"^([a-zA-Z][a-zA-Z0-9_-]*):", re.MULTILINE)
_SPECIAL = re.compile(r"\{\{(uuid|workflow_id|output|input:[^}]+|host:[^}]+)\}\}")
SECTIONS = ("version", "workflow", "default-values")
LOADER: type[Any] = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
"""The same as OSMO's, in C where PyYAML was built with it: long files take a moment instead of seconds."""


@dataclass(frozen=True)
class Variables:
    """What is given on the command line of `osmo workflow submit`."""

    set: Sequence[str] = ()
    """`name=value`, numbers as numbers."""
    set_string: Sequence[str] = ()
    """`name=value`, as text."""
    environment: Sequence[str] = ()
    """`NAME=value` over every task's environment (`--set-env`)."""


@dataclass(frozen=True)
class Section:
    """A top-level section: its text, with the key, and the line of the file it starts on, from 0."""

    text: str
    line: int


@dataclass(frozen=True)
class Rendered:
    """The workflow section after rendering."""

    text: str
    lines: tuple[int, ...] = field(repr=False)
    """For each line of `text` the line of the file it came from, from 0."""


def is_templated(text: str) -> bool:
    """Whether OSMO's command line has a file rendered before it reads it; it overlooks one with `{% %}` alone."""
    return any(sign in text for sign in ("{%%", "{{", "{#", "default-values"))


def sections(text: str) -> dict[str, Section]:
    """The file's top-level sections; what stands before the first is dropped.

    Raises Refusal: a key that OSMO does not know, one twice, or no `workflow`.
    """
    starts = list(_SECTION.finditer(text))
    found: dict[str, Section] = {}
    for index, start in enumerate(starts):
        key, end = start[1], starts[index + 1].start() if index + 1 < len(starts) else len(text)
        line = text.count("\n", 0, start.start())
        if key not in SECTIONS:
            raise Refusal("OSMOUserError", f"unknown top-level key '{key}' in line {line + 1}", stage="template")
        if key in found:
            raise Refusal("OSMOUserError", f"top-level key '{key}' twice, again in line {line + 1}", stage="template")
        found[key] = Section(text[start.start() : end], line)
    if "workflow" not in found:
        raise Refusal("OSMOUserError", "no section 'workflow:' at the start of a line", stage="template")
    return found


def variables(parts: Mapping[str, Section], given: Variables) -> dict[str, Any]:
    """Names that templates may use: default values, and what the command line sets over them. Raises Refusal."""
    values: Any = {}
    if "default-values" in parts:
        try:
            values = yaml.load(parts["default-values"].text, LOADER)["default-values"] or {}  # noqa: S506 - a safe one
        except yaml.YAMLError as error:
            raise Refusal("YAMLError", f"default-values: {error}", stage="template") from None
    if not isinstance(values, dict):
        raise Refusal("OSMOUsageError", "default-values is no map of names and values", stage="template")
    result = cast("dict[str, Any]", values)
    for assignment in given.set:
        name, value = _assignment(assignment)
        result[name] = _number(value)
    for assignment in given.set_string:
        name, value = _assignment(assignment)
        result[name] = value
    return result


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Refusal("OSMOUsageError", f"'{text}' is no assignment: write name=value", stage="template")
    return name, value


def _number(text: str) -> int | float | str:
    """A number as Python reads one (1_000, nan), everything else as text: `false` is text, and true in a condition."""
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def render(text: str, given: Variables, limit: sandbox.Limit = sandbox.OSMO) -> Rendered:
    """The file's workflow section with Jinja applied. Raises Refusal with stage `template`."""
    parts = sections(text)
    workflow = parts["workflow"]
    values = variables(parts, given)
    template = workflow.text
    # Special tokens pass through Jinja under a name that OSMO makes of them; inside {% raw %} that name is left.
    for token in dict.fromkeys(_SPECIAL.findall(template)):
        stand_in = f"hash{int(hashlib.md5(token.encode(), usedforsecurity=False).hexdigest(), 16)}"
        values[stand_in] = f"{{{{{token}}}}}"
        template = template.replace(f"{{{{{token}}}}}", f"{{{{{stand_in}}}}}")
    try:
        plain, marked = sandbox.render(template, values, limit)
    except Refusal as refusal:
        raise refusal.at("template") from None
    return Rendered(plain, marks.line_map(plain, marked, workflow.line))


def load_yaml(rendered: str) -> Mapping[str, Any]:
    """The rendered section as data. Raises Refusal with stage `yaml`."""
    try:
        document = yaml.load(rendered, LOADER)  # noqa: S506 - a safe one
    except (yaml.YAMLError, ValueError) as error:
        raise Refusal("OSMOUsageError", f"the rendered workflow is not YAML: {error}", stage="yaml") from None
    except RecursionError:
        raise Refusal("OSMOUsageError", "the rendered workflow is nested too deeply", stage="yaml") from None
    workflow = cast("dict[str, Any]", document).get("workflow") if isinstance(document, dict) else None
    if not isinstance(workflow, dict):
        raise Refusal("AttributeError", "'workflow' is no map", stage="yaml")
    return {"workflow": workflow}
