"""Checks of the whole workflow file: tokens, names, order, ignored keys, timeouts."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from physical_ai.findings import Severity
from workbench.osmo.choices import ExitAction
from workbench.osmo.lint import rules_file
from workbench.osmo.lint.context import NEXT
from workbench.osmo.lint.view import WORKFLOW, TaskView, View
from workbench.osmo.names import object_name
from workbench.osmo.shapes import a_list, a_map
from workbench.osmo.units import duration
from workbench.osmo.workflow.schema import upstream
from workbench.osmo.workflow.spec_data import TaskInputOutput, dataset_name

_TOKEN = re.compile(r"\{\{ *(uuid|workflow_id|output|input:[^}]+?|host:[^}]+?) *\}\}")


def check(view: View, raw: Mapping[str, Any]) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow. `raw`: the parsed file."""
    _names(view)
    _inputs(view)
    _ignored_keys(view, raw)
    _timeouts(view, raw)
    for task in view.tasks:
        _datasets(view, task)
        _tokens(view, task)
        _exit_actions(view, task)


def _datasets(view: View, task: TaskView) -> None:
    severity = Severity.ERROR if view.context.osmo_version == NEXT else None
    for place, items in (("inputs", task.spec.inputs), ("outputs", task.spec.outputs)):
        for index, item in enumerate(items):
            if (name := dataset_name(item)) is not None:
                problem = f"'{task.name}' uses the dataset '{name}': datasets are gone in OSMO {NEXT}"
                view.source.add(rules_file.NEXT_RELEASE, (*task.path, place, index), problem, severity=severity)


def _names(view: View) -> None:
    longest = view.context.config.workflow.workflow_info.max_name_length
    if len(view.spec.name) > longest:
        view.add(
            rules_file.NAME_LENGTH, (*WORKFLOW, "name"), f"the workflow's name has {len(view.spec.name)} characters"
        )
    for index, group in enumerate(view.spec.groups):
        if len(group.name) > longest:
            path = (*WORKFLOW, "groups", index, "name")
            view.add(rules_file.NAME_LENGTH, path, f"the group's name has {len(group.name)} characters")
    taken = {object_name(task.name): task.name for task in view.tasks}
    for task in view.tasks:
        allowed = longest if task.group else longest - len("-group")
        if len(task.name) > allowed:
            problem = f"the task's name has {len(task.name)} characters, {allowed} are allowed"
            view.add(rules_file.NAME_LENGTH, (*task.path, "name"), problem)
        clash = taken.get(object_name(f"{task.name}-group"))
        if task.group is None and clash is not None:
            problem = f"the task '{clash}' has the name of the group of '{task.name}'"
            view.add(rules_file.NAME_CLASH, (*task.path, "name"), problem)


def _inputs(view: View) -> None:
    """Reports inputs from tasks that do not run before the task that needs them.

    OSMO reads the groups of the file first, and then the tasks outside of groups, each as a group of its own.
    """
    grouped = [task for task in view.tasks if task.group]
    alone = [task for task in view.tasks if not task.group]
    home = {task.name: (task.group.name if task.group else f"{task.name}-group") for task in view.tasks}
    done: set[str] = set()
    waiting: set[str] = set()
    current = ""
    for task in [*grouped, *alone]:
        group = home[task.name]
        if group != current:
            done |= waiting
            waiting, current = {group}, group
        for index, item in enumerate(task.spec.inputs):
            source = upstream(item)
            if source is None:
                continue
            path = (*task.path, "inputs", index, "task")
            if source not in home:
                known = ", ".join(name for name in home if name != task.name) or "no other"
                view.add(rules_file.TASK_INPUT, path, f"task '{source}' does not exist", f"Tasks: {known}.")
            elif home[source] == group:
                view.add(rules_file.TASK_INPUT, path, f"'{source}' runs at the same time as '{task.name}'")
            elif home[source] not in done:
                view.add(rules_file.TASK_INPUT, path, f"'{source}' comes after '{task.name}' in the file")


def _ignored_keys(view: View, raw: Mapping[str, Any]) -> None:
    workflow = a_map(raw.get("workflow"))
    for key in ("pool", "backend"):
        if workflow.get(key):
            view.add(rules_file.KEY_IGNORED, (*WORKFLOW, key), f"'{key}' is ignored")
    for task in view.tasks:
        for key in sorted(task.spec.model_fields_set & {"resources", "backend"}):
            view.add(rules_file.KEY_IGNORED, (*task.path, key), f"'{key}' of the task is ignored")


def _tokens(view: View, task: TaskView) -> None:
    """Reports invalid special tokens, such as {{input:…}}, in all texts of the task."""
    inputs = {str(index) for index in range(len(task.spec.inputs))}
    for item in task.spec.inputs:
        if isinstance(item, TaskInputOutput):
            first, _, second = item.task.partition(":")
            inputs.add(second or first)
    hosts = {other.name for other in task.group.tasks} if task.group else {task.name}
    for path, text in texts(task.spec.model_dump(mode="json"), task.path):
        for token in _TOKEN.findall(text):
            kind, _, name = token.partition(":")
            if kind == "input" and name not in inputs:
                known = ", ".join(sorted(inputs)) or "none"
                view.add(
                    rules_file.SPECIAL_TOKEN, path, f"{{{{{token}}}}} does not name an input of '{task.name}': {known}"
                )
            elif kind == "host" and name not in hosts:
                known = ", ".join(sorted(hosts))
                view.add(rules_file.SPECIAL_TOKEN, path, f"{{{{{token}}}}} does not name a task of the group: {known}")
            elif kind == "uuid":
                view.add(rules_file.SPECIAL_TOKEN, path, "{{uuid}} is never replaced")


def texts(value: Any, path: tuple[str | int, ...]) -> Iterable[tuple[tuple[str | int, ...], str]]:
    """All strings in a value of maps and lists, each with its path. `path`: path of the value itself."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, dict):
        for key, item in a_map(value).items():
            yield from texts(item, (*path, key))
    elif isinstance(value, list):
        for index, item in enumerate(a_list(value)):
            yield from texts(item, (*path, index))


def _timeouts(view: View, raw: Mapping[str, Any]) -> None:
    given, config, pool = view.spec.timeout, view.context.config.workflow, view.pool
    timeout_path = (*WORKFLOW, "timeout")
    uses_gpus = any(task.on_gpu for task in view.tasks)
    if given.exec_timeout is None and uses_gpus:
        default = pool.default_exec_timeout or config.default_exec_timeout
        problem = f"exec_timeout is not set: the workflow may keep its GPUs for {default}"
        where = timeout_path if "timeout" in a_map(raw.get("workflow")) else (*WORKFLOW, "name")
        view.add(rules_file.EXEC_TIMEOUT, where, problem)
    limits = {
        "exec_timeout": (given.exec_timeout, pool.max_exec_timeout or config.max_exec_timeout),
        "queue_timeout": (given.queue_timeout, pool.max_queue_timeout or config.max_queue_timeout),
    }
    for key, (value, most) in limits.items():
        if value is None:
            continue
        if value.total_seconds() <= 0:
            view.add(rules_file.TIMEOUT_LIMIT, (*timeout_path, key), f"{key} must be above zero")
            continue
        try:
            longest = duration(most)
        except ValueError as error:
            view.add(rules_file.REFUSED, (*timeout_path, key), f"the service's maximum can't be read: {error}")
            continue
        if value > longest:
            view.add(
                rules_file.TIMEOUT_LIMIT,
                (*timeout_path, key),
                f"{key} is above the maximum of {most}, and reduced to it",
                f"At most {most}.",
            )


def _exit_actions(view: View, task: TaskView) -> None:
    for action, codes in task.spec.exitActions.items():
        path = (*task.path, "exitActions", action)
        for part in codes.split(","):
            first, dash, last = (bound.lstrip("0") or bound[-1:] for bound in part.partition("-"))
            if dash and (len(first), first) > (len(last), last):
                view.add(rules_file.EXIT_ACTIONS, path, f"{part} never matches", f"Write {last}-{first}.")
        if action.upper() == ExitAction.RESCHEDULE.value and view.context.config.workflow.max_retry_per_task < 1:
            problem = "RESCHEDULE has no effect: the service allows no retries"
            view.add(rules_file.EXIT_ACTIONS, path, problem)
