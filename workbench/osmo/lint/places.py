"""Search for the field of a workflow that caused a refusal, by the words of OSMO's error message."""

from __future__ import annotations

import re

from workbench.osmo.lint.finding import Path
from workbench.osmo.lint.view import WORKFLOW, View

_QUOTED = re.compile(r"'([^']+)'|the mount (\S+)")
_WORDS = {
    "privileged": ("privileged",),
    "hostNetwork": ("hostNetwork",),
    "cacheSize": ("cacheSize",),
    "mount": ("volumeMounts",),
    "topology": ("resources",),
    "exec_timeout": ("timeout", "exec_timeout"),
    "queue_timeout": ("timeout", "queue_timeout"),
    "tasks": ("tasks",),
}
"""Path of a field below the task or workflow, by a word that occurs in OSMO's messages about this field."""


def refused_at(message: str, view: View) -> Path:
    """Path in the workflow at which a refusal is reported. These fields are tried in this order: the field whose name
    or value the message quotes; the field in `_WORDS` for a word of the message; the task, resource or group that the
    message begins with; the workflow's name.

    A quoted value is first searched for in the task, resource or group with which the message begins, then in the whole
    workflow.
    """
    base = _owner(message, view)
    quoted = [first or second for first, second in _QUOTED.findall(message)]
    for root in dict.fromkeys((base, WORKFLOW)):
        for text in quoted:
            if text != "workflow" and (path := view.source.field_of(root, text)) and path != root:
                return path
    for word, field in _WORDS.items():
        if word in message and view.source.has((*base, *field)):
            return (*base, *field)
    return base if base != WORKFLOW else (*WORKFLOW, "name")


def _owner(message: str, view: View) -> Path:
    """Path of the task, group or resource whose name a message begins with; else the path of the workflow."""
    name = message.removeprefix("OSMO would crash here: ").partition(":")[0]
    name = name.removeprefix("Assertion failed for task ").partition(" requests ")[0]
    for task in view.tasks:
        if name == task.name or (task.group is None and name == f"{task.name}-group"):
            return task.path
    for index, group in enumerate(view.spec.groups):
        if name == group.name:
            return (*WORKFLOW, "groups", index)
    found = re.match(r"resource '(.+?)'", name)
    return (*WORKFLOW, "resources", found[1]) if found and found[1] in view.spec.resources else WORKFLOW
