"""Check of one file with all rules: its kind, its findings, and the objects that OSMO would create."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path as FilePath
from typing import Any

import yaml
from yaml.reader import ReaderError

from physical_ai.untrusted import documents
from physical_ai.untrusted.syntax_errors import meaning
from workbench.osmo.lint import (
    checks_checkpoint,
    checks_config,
    checks_container,
    checks_file,
    checks_nccl,
    checks_pod,
    checks_resources,
    local_files,
    places,
    rules_file,
)
from workbench.osmo.lint.context import NEXT, Context
from workbench.osmo.lint.finding import WorkflowFinding
from workbench.osmo.lint.labels import refused_labels
from workbench.osmo.lint.repair import repaired
from workbench.osmo.lint.source import Source
from workbench.osmo.lint.view import View
from workbench.osmo.pods import objects
from workbench.osmo.pods.objects import GroupObjects
from workbench.osmo.refusal import Refusal
from workbench.osmo.shapes import a_list, a_map
from workbench.osmo.workflow import rendering
from workbench.osmo.workflow.schema import parse
from workbench.osmo.workflow.submission import Submission, accepted, limit_of

_START = (1, 1)
MOST_FINDINGS = 200
"""Largest number of findings about one file. Nobody reads more, and they may take minutes to print."""


@dataclass
class Checked:
    """Result of the check of one file: its findings and, for a valid workflow, what OSMO would create."""

    file: str
    kind: str
    """Kind of the file: `workflow` or `values`."""
    findings: list[WorkflowFinding]
    objects: list[GroupObjects] = field(default_factory=list[GroupObjects])
    """Objects that OSMO would create for a valid workflow; else empty."""
    submission: Submission | None = None
    """The workflow as OSMO accepts it; None if it is not valid."""


def check_text(text: str, file: str, context: Context, folder: FilePath | None = None) -> Checked:
    """Checks a workflow file, or values of OSMO's chart `service`, with all rules.

    `folder` contains the files that the workflow names by `localpath`.
    """
    source = Source(file, text)
    if _is_values(text):
        _values(source)
        return Checked(file, "values", _sorted(source))
    submission, made = _workflow(source, context, folder)
    return Checked(file, "workflow", _sorted(source), made, submission)


def unchecked(file: str, problem: str) -> Checked:
    """The result for a file that can't be read, or whose check was stopped."""
    source = Source(file, "")
    source.add(rules_file.FILE_LIMITS, _START, problem)
    return Checked(file, "workflow", source.findings)


def _sorted(source: Source) -> list[WorkflowFinding]:
    """The findings in the order of the file. If there are too many, warnings are left out first."""
    found = source.findings
    if len(found) > MOST_FINDINGS:
        left_out = len(found) - MOST_FINDINGS
        found = sorted(found, key=lambda item: -item.severity.rank)[:MOST_FINDINGS]
        worst = found[0].severity
        source.findings = []
        source.add(rules_file.FILE_LIMITS, _START, f"{left_out} more findings are left out")
        found += [replace(each, severity=worst) for each in source.findings]
    return sorted(found, key=lambda item: (item.line, item.column, item.rule))


def _is_values(text: str) -> bool:
    """True for a file with chart values: it has the key `services`, and no `workflow`."""
    return text.startswith("services:") or ("\nservices:" in text and "\nworkflow:" not in f"\n{text}")


def _values(source: Source) -> None:
    source.composed(source.text, tuple(range(source.text.count("\n") + 1)))
    try:
        document = documents.load(source.text)
    except yaml.YAMLError as error:
        _not_yaml(source, error)
        return
    checks_config.check(a_map(document), source)


_Result = tuple[Submission | None, list[GroupObjects]]
_NOTHING: _Result = (None, [])


def _workflow(source: Source, context: Context, folder: FilePath | None) -> _Result:
    rendered = _rendered(source, context)
    if rendered is None:
        return _NOTHING
    source.composed(rendered.text, rendered.lines)
    try:
        documents.load_for_python(rendered.text)
        document = rendering.load_yaml(rendered.text)
    except yaml.YAMLError as error:
        _not_yaml(source, error)
        return _NOTHING
    except Refusal as refusal:
        source.add(rules_file.YAML_SYNTAX, source.in_file(0, 0), refusal.message)
        return _NOTHING
    for key, place in source.duplicates():
        source.add(rules_file.YAML_DUPLICATE, place, f"'{key}' is a duplicate key; the last value is used")
    _version(source)
    document = _with_contents(document, source, folder, context.root)
    if context.osmo_version == NEXT:
        # Labels are a field of OSMO 6.4 (NVIDIA/OSMO main, 2026-08-20, src/utils/job/workflow.py); a pool's own policy
        # is not checked.
        labels = document["workflow"].pop("labels", {})
        for below, problem, fix in refused_labels(labels):
            source.add(rules_file.SCHEMA, ("workflow", "labels", *below), problem, fix)
    try:
        pool = context.config.pool(context.pool)
    except Refusal as refusal:
        source.add(rules_file.REFUSED, _START, refusal.message)
        return _NOTHING
    workflow = repaired(document, source)
    if workflow is None:
        return _NOTHING
    view = View(source, context, pool, workflow.spec, workflow.placeholders)
    checks_file.check(view, document)
    checks_resources.check(view)
    checks_container.check(view)
    checks_nccl.check(view)
    checks_checkpoint.check(view)
    return _NOTHING if workflow.placeholders else _objects(view, document)


def _missing_workflow(text: str) -> str | None:
    """Advice for a file without a `workflow` section; None if the general advice of the rule applies."""
    if rendering.has_workflow(text):
        return None
    return "Write `workflow:` at the start of a line, and the keys of the workflow below it, indented."


def _rendered(source: Source, context: Context) -> rendering.Rendered | None:
    text = source.text
    try:
        parts = rendering.sections(text)
        if "{%" in text and not rendering.is_templated(text):
            line = text[: text.index("{%")].count("\n") + 1
            source.add(
                rules_file.TEMPLATE_UNSEEN, (line, 1), "the command line does not recognize this file as a template"
            )
    except Refusal as refusal:
        source.add(rules_file.FILE_SECTIONS, (refusal.line or 1, 1), refusal.message, _missing_workflow(text))
        return None
    try:
        return rendering.render(text, context.variables, limit_of(context.config))
    except Refusal as refusal:
        start = parts["workflow"].line
        if refusal.undefined:
            _undefined(source, refusal.undefined, start)
            return None
        line = start + (refusal.line or 1)
        if "default-values" in parts and refusal.line is None and "default-values" in refusal.message:
            line = parts["default-values"].line + 1
        source.add(rules_file.TEMPLATE_ERROR, (line, refusal.column or 1), refusal.message)
        return None


def _undefined(source: Source, names: Mapping[str, int], start: int) -> None:
    """Adds a finding for every undefined name that the template reads. OSMO itself stops at the first one."""
    every = " ".join(f"--set {name}=VALUE" for name in names)
    for number, (name, line) in enumerate(names.items()):
        fix = f"--set {name}=VALUE, or {name} under default-values; {{% raw %}} … {{% endraw %}} around what is text."
        if number == 0 and len(names) > 1:
            fix = f"{every}, or the names under default-values; {{% raw %}} … {{% endraw %}} around what is text."
        problem = f"'{name}' is undefined: it is not in default-values, and not set"
        source.add(rules_file.TEMPLATE_ERROR, (start + line, 1), problem, fix)


def _not_yaml(source: Source, error: yaml.YAMLError) -> None:
    place: tuple[int, int] = source.in_file(0, 0)
    mark = (error.problem_mark or error.context_mark) if isinstance(error, yaml.MarkedYAMLError) else None
    if mark is not None:
        place = source.in_file(mark.line, mark.column)
    elif isinstance(error, ReaderError):
        before = source.rendered[: error.position]
        place = source.in_file(before.count("\n"), len(before) - before.rfind("\n") - 1)
    rule = rules_file.FILE_LIMITS if isinstance(error, documents.LimitExceeded) else rules_file.YAML_SYNTAX
    source.add(rule, place, meaning(error))


def _version(source: Source) -> None:
    section = rendering.sections(source.text).get("version")
    if section is None:
        return
    try:
        value = a_map(documents.load_for_python(section.text)).get("version")
    except yaml.YAMLError:
        value = section.text.partition(":")[2].strip()
    if isinstance(value, bool) or str(value) not in ("2", "2.0"):
        source.add(rules_file.FILE_VERSION, (section.line + 1, 1), f"version '{value}' is read as 2")


def _with_contents(
    document: Mapping[str, Any], source: Source, folder: FilePath | None, root: FilePath | None
) -> dict[str, Any]:
    """The document with the contents of the files that it names by `localpath`, as OSMO's command line sends it."""
    workflow = dict(a_map(document.get("workflow")))
    holders: list[tuple[tuple[str | int, ...], list[Any]]] = [(("workflow", "tasks"), a_list(workflow.get("tasks")))]
    for index, group in enumerate(a_list(workflow.get("groups"))):
        holders.append((("workflow", "groups", index, "tasks"), a_list(a_map(group).get("tasks"))))
    for path, tasks in holders:
        for number, task in enumerate(tasks):
            for place, file in enumerate(a_list(a_map(task).get("files"))):
                local = a_map(file).get("localpath")
                if isinstance(local, str) and "contents" not in file:
                    file_path = (*path, number, "files", place, "localpath")
                    file.pop("localpath")
                    file["contents"] = local_files.content(local, source, file_path, folder, root)
    return {"workflow": workflow}


def _objects(view: View, document: Mapping[str, Any]) -> _Result:
    """The submission and the objects that OSMO would create for it. If OSMO refuses the workflow, an empty result; the
    refusal becomes a finding if no rule has reported an error.
    """
    errors = [item for item in view.source.findings if item.is_error]
    try:
        given = view.context.variables
        groups = accepted(parse(document), view.context.config, view.pool, given.environment, given.priority)
        submission = Submission(view.spec, groups, view.pool, given.priority)
        made = objects.make_all(submission, view.context.config, objects.generated_run(submission))
    except Refusal as refusal:
        if not errors:
            view.source.add(rules_file.REFUSED, places.refused_at(refusal.message, view), refusal.message)
        return _NOTHING
    checks_pod.check(view, made)
    return submission, made
