"""Checks of NCCL variables that GPU tasks set in their environment, arguments or files."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping

from physical_ai.catalog import nccl
from workbench.osmo.lint import rules_nccl
from workbench.osmo.lint.finding import Path, Rule
from workbench.osmo.lint.view import TaskView, View

_RULES: Mapping[nccl.Problem, Rule] = {
    "automatic": rules_nccl.NCCL_AUTOMATIC,
    "debugging": rules_nccl.NCCL_DEBUGGING,
    "fabric": rules_nccl.NCCL_FABRIC,
    "interface": rules_nccl.NCCL_INTERFACE,
}
_ASSIGNED = re.compile(r"\b((?:NCCL|SHARP)_[A-Z0-9_]+)=[\"']?([^\s\"';\\&|]*)")
"""Assignment of an NCCL or SHARP variable in a shell command, also as `-x NAME=value` of mpirun."""
_INTERFACE = "eth0"


def check(view: View) -> None:
    """Adds the findings of all checks in this module to the findings about the workflow."""
    for task in view.tasks:
        if task.on_gpu:
            for name, value, path in _set_by(view, task):
                _variable(view, task, name, value, path)


def _set_by(view: View, task: TaskView) -> Iterator[tuple[str, str, Path]]:
    """Name, value and path of each variable that a task sets. If one text sets a variable several times, the last value
    counts.
    """
    for name, value in view.environment(task).items():
        yield name, value, (*task.path, "environment", name)
    texts = [(("args", index), text) for index, text in enumerate(task.spec.args)]
    texts += [(("files", index, "contents"), file.contents) for index, file in enumerate(task.spec.files)]
    for step, text in texts:
        for name, value in dict(_ASSIGNED.findall(text)).items():
            yield name, value, (*task.path, *step)


def _variable(view: View, task: TaskView, name: str, value: str, path: Path) -> None:
    known = nccl.variable(name)
    if known is None or value in known.accepted:
        return
    if known.problem == "interface" and _is_selected(value):
        return
    kind = view.context.nccl.get(task.platform_name)
    if known.problem == "fabric" and kind in (None, "infiniband"):
        return
    since = f" (since NCCL {known.since})" if known.since else ""
    view.add(_RULES[known.problem], path, f"'{task.name}' sets {name}={value}. {known.reason}{since}")


def _is_selected(value: str) -> bool:
    """True if a value of NCCL_SOCKET_IFNAME selects a Pod's network interface.

    The value is a list of prefixes of names, or, after `=`, of exact names.
    """
    if value.startswith("^"):
        return True
    exact, names = value.startswith("="), value.lstrip("=").split(",")
    return any(name == _INTERFACE if exact else bool(name) and _INTERFACE.startswith(name) for name in names)
