"""Rendering of a workflow file to YAML: its sections, default values, Jinja with the user's variables,
special tokens.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, cast

import yaml

from physical_ai.untrusted import documents
from physical_ai.untrusted.syntax_errors import meaning
from workbench.osmo.choices import NORMAL
from workbench.osmo.refusal import Refusal, crash
from workbench.osmo.workflow import line_marks, sandbox

_SECTION = re.compile(r"^([a-zA-Z][a-zA-Z0-9_-]*):", re.MULTILINE)
_SPECIAL = re.compile(r"\{\{(uuid|workflow_id|output|(?:input|host):.+)\Z", re.DOTALL)
"""Special token, such as `{{input:…`, at the end of a text. The text ends just before the token's `}}`."""
SECTIONS = ("version", "workflow", "default-values")


@dataclass(frozen=True)
class Variables:
    """Values of options on the command line of `osmo workflow submit`."""

    set: Sequence[str] = ()
    """Values of `--set`, as `name=value`. Numbers become numbers."""
    set_string: Sequence[str] = ()
    """Values of `--set-string`, as `name=value`. Numbers stay texts."""
    environment: Sequence[str] = ()
    """Values of `--set-env`, as `NAME=value`, which override the environment of every task."""
    priority: str = NORMAL


@dataclass(frozen=True)
class Section:
    """A top-level section of a workflow file. `text` includes the section's key; `line` is the first line in the file,
    from 0.
    """

    text: str
    line: int


@dataclass(frozen=True)
class Rendered:
    """The workflow section of a file after rendering."""

    text: str
    lines: tuple[int, ...] = field(repr=False)
    """Line number in the file, from 0, of each line of `text`."""


def is_templated(text: str) -> bool:
    """True if OSMO's command line renders the file with Jinja before it reads the file. A file whose only sign of Jinja
    is `{%` is not rendered.
    """
    return any(sign in text for sign in ("{%%", "{{", "{#", "default-values"))


def has_workflow(text: str) -> bool:
    """True if the file has a section `workflow`."""
    return any(start[1] == "workflow" for start in _SECTION.finditer(text))


def sections(text: str) -> dict[str, Section]:
    """The file's top-level sections by key. Text before the first section is ignored.

    Raises Refusal for an unknown key, a duplicate key, or a missing `workflow`.
    """
    starts = list(_SECTION.finditer(text))
    found: dict[str, Section] = {}
    for index, start in enumerate(starts):
        key, end = start[1], starts[index + 1].start() if index + 1 < len(starts) else len(text)
        line = text.count("\n", 0, start.start())
        if key not in SECTIONS:
            raise Refusal("OSMOUserError", f"unknown top-level key '{key}' in line {line + 1}", line=line + 1)
        if key in found:
            raise Refusal("OSMOUserError", f"duplicate top-level key '{key}' in line {line + 1}", line=line + 1)
        found[key] = Section(text[start.start() : end], line)
    if "workflow" not in found:
        raise Refusal("OSMOUserError", "no section 'workflow:' at the start of a line")
    return found


def variables(parts: Mapping[str, Section], given: Variables, tokens: Sequence[str] = ()) -> dict[str, Any]:
    """Variables that a template may read: default values, values from the command line, and placeholders for `tokens`.

    Raises Refusal for an invalid assignment or default.
    """
    values = _defaults(parts)
    pairs: list[tuple[str, Any]] = [(name, _number(value)) for name, value in map(_assignment, given.set)]
    pairs += map(_assignment, given.set_string)
    pairs += [(stand_in(token), f"{{{{{token}}}}}") for token in tokens]
    if not isinstance(values, dict):
        if pairs:
            raise Refusal("OSMOUsageError", "default-values is not a map of names and values")
        try:
            values = dict(values)
        except (TypeError, ValueError) as error:
            raise Refusal("OSMOUsageError", f"default-values is not a map: {error}") from None
    result = cast("dict[str, Any]", values)
    result.update(pairs)
    return result


def _defaults(parts: Mapping[str, Section]) -> Any:
    if "default-values" not in parts:
        return {}
    try:
        document = documents.load_for_python(parts["default-values"].text)
    except yaml.YAMLError as error:
        raise Refusal("OSMOUsageError", f"default-values is not YAML: {meaning(error)}") from None
    if not isinstance(document, dict) or "default-values" not in document:
        raise Refusal("OSMOUsageError", "default-values: a space is missing after the colon")
    return cast("dict[str, Any]", document)["default-values"] or {}


def stand_in(token: str) -> str:
    """Name of the variable that replaces a special token while Jinja renders."""
    return f"hash{int(hashlib.md5(token.encode(), usedforsecurity=False).hexdigest(), 16)}"


def _assignment(text: str) -> tuple[str, str]:
    name, equals, value = text.partition("=")
    if not equals:
        raise Refusal("OSMOUsageError", f"'{text}' is not an assignment: write name=value")
    return name, value


def _number(text: str) -> int | float | str:
    """The number in a text, in every form that Python reads (1_000, nan); the text itself if it is not a number.

    Therefore `--set x=false` gives the text `false`, which counts as true in a condition of a template.
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text


def render(text: str, given: Variables, limit: sandbox.Limit = sandbox.OSMO) -> Rendered:
    """The rendered workflow section of a file. Raises Refusal if OSMO would not render it."""
    parts = sections(text)
    workflow = parts["workflow"]
    # Inside {% raw %} the token's placeholder name remains.
    template, tokens = _with_stand_ins(workflow.text)
    try:
        plain, marked = sandbox.render(template, variables(parts, given, tokens), limit)
    except Refusal as refusal:
        if refusal.line and refusal.column:
            refusal.column = _written_column(template.split("\n")[refusal.line - 1], refusal.column, tokens)
        raise
    return Rendered(plain, line_marks.line_map(plain, marked, workflow.line))


def _written_column(line: str, column: int, tokens: Sequence[str]) -> int:
    """Column in the workflow file for `column` of `line`, in which placeholders replace special tokens."""
    before = line[: column - 1]
    return column - sum(before.count(stand_in(token)) * (len(stand_in(token)) - len(token)) for token in tokens)


def _with_stand_ins(text: str) -> tuple[str, list[str]]:
    """The template with placeholders in place of special tokens, and the tokens.

    The time is linear in the length of the template, even if a token never ends.
    """
    parts = text.split("}")
    tokens: dict[str, None] = {}
    for index, part in enumerate(parts[:-2]):
        # `}}` follows where the next part is empty.
        found = _SPECIAL.search(part) if not parts[index + 1] else None
        if found is not None:
            tokens[found[1]] = None
            parts[index] = f"{part[: found.start()]}{{{{{stand_in(found[1])}"
    return "}".join(parts), list(tokens)


def load_yaml(rendered: str) -> Mapping[str, Any]:
    """The rendered section as data. Raises Refusal if it is not YAML, or `workflow` is not a map."""
    try:
        document = documents.load_for_python(rendered)
    except yaml.YAMLError as error:
        raise Refusal("OSMOUsageError", f"the rendered workflow is not YAML: {meaning(error)}") from None
    workflow = cast("dict[str, Any]", document).get("workflow") if isinstance(document, dict) else None
    if not isinstance(workflow, dict):
        raise crash("'workflow' is not a map")
    return {"workflow": workflow}
